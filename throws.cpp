#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>
static int cmp(const void *, const void *) { throw std::runtime_error("from a comparison"); }
int main()
{
    std::vector<int> v(3);
    for (int i = 0; i < 3; i++) try { if (i == 0) v.at(7) = 1; else if (i == 1) throw 5; else qsort(v.data(), 3, 4, cmp); }
        catch (const std::exception &e) { std::puts(e.what()); }
        catch (int x) { std::printf("%d\n", x); }
}
