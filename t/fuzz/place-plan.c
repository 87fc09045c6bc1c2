/* place-plan.c - fuzz target: profiles and plans for a small graph.  The first byte says which of the two is random;
 * a profile that is accepted makes a plan that the checker accepts, a plan that is accepted can be checked. */
#include "fuzz.h"
#include "place/layout.h"
#include "place/verify.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char graph_text[] =
    "(graph (name g) (batch 1) (tensor 0 x arg 400 f32 (100)) (tensor 1 a inter 80000 f32 (20000))"
    "(tensor 2 b inter 80000 f32 (20000)) (tensor 3 c inter 400 f32 (100)) (tensor 4 y arg 4 f32 ())"
    "(node 0 p A (in 0) (out 1)) (node 1 q A (in 1) (out 2 3)) (node 2 r A (in 1 2 3) (out 4)))";
static const char profile_text[] =
    "key,op,shapes,in_tiers,out_tiers,mode,staging_bytes,time_seconds,kind\n"
    "A 100>20000,A,,D,D,direct,0,1,real\nA 100>20000,A,,D,P,staged,4096,2,real\n"
    "A 20000>20000;100,A,,D,DD,direct,0,1,real\nA 20000>20000;100,A,,P,DD,direct,0,2,real\n"
    "A 20000>20000;100,A,,D,PD,direct,0,3,real\nA 20000;20000;100>1,A,,DDD,D,direct,0,1,real\n"
    "A 20000;20000;100>1,A,,PDD,D,direct,0,2,real\nA 20000;20000;100>1,A,,DPD,D,direct,0,2,real\n"
    "Move 65536,Move,,P,D,direct,0,0.1,real\nMove 65536,Move,,D,P,direct,0,0.1,real\n";

static int faults;

static const char *as_file(int slot, const char *s, size_t n)
{
    static char path[8][64];
    int fd = fuzz_reuse(slot);
    if (n > 0 && write(fd, s, n) != (ssize_t)n) return "/dev/null";
    lseek(fd, 0, SEEK_SET);
    snprintf(path[slot], sizeof path[slot], "/proc/self/fd/%d", fd);
    return path[slot];
}

static void count(void *context, const char *what)
{
    (void)context;
    faults += what[0] != '\0';
}

static void with_profile(const uint8_t *data, size_t n)
{
    struct graph *g = graph_read(as_file(0, graph_text, sizeof graph_text - 1));
    struct profile *p = profile_read(as_file(1, (const char *)data, n));
    struct effort effort = { 20, 5, 1, 0 };
    struct plan *plan = make_plan(g, p, FORM_SYNC, 120000, &effort);
    faults = verify_plan(g, p, plan, count, NULL);
}

static void with_plan(const uint8_t *data, size_t n)
{
    struct graph *g = graph_read(as_file(0, graph_text, sizeof graph_text - 1));
    struct profile *p = profile_read(as_file(1, profile_text, sizeof profile_text - 1));
    struct plan *plan = plan_read(as_file(2, (const char *)data, n), g);
    verify_plan(g, p, plan, count, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0) return 0;
    if (*data % 2 == 0) {
        faults = 0;
        if (fuzz_run(with_profile, data + 1, n - 1)) fuzz_check(faults == 0, "the checker rejects the solver's plan");
    } else fuzz_run(with_plan, data + 1, n - 1);
    return 0;
}
