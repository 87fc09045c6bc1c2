// prof-api.cc - operations of a C++ program: they end with their block, also by an exception; see t/prof-record.t
#include <millrace_prof.h>
#include <cstdio>
#include <stdexcept>

static std::uint32_t work;

static void one(bool fails)
{
    millrace::Operation operation(fails ? "fails" : "works");
    millrace_prof_begin(work);
    millrace_prof_end(work);
    if (fails) throw std::runtime_error("as asked");
}

int main()
{
    work = millrace_prof_id("Backend", "work");
    for (int i = 0; i < 3; i++) {
        millrace::Operation outer("outer");
        try {
            one(i == 1);
        } catch (const std::runtime_error &) {
            millrace_prof_begin(work);
            millrace_prof_end(work);
        }
    }
    std::puts("same");
}
