/* lib-say.c - comparisons as sentences: each verdict, each size of a change, by what was decided and not anew. */
#include "measure/say.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct runs runs = { .metric = "cpu" };
static char *said;

/* what is said of ratios of times, least, point and most */
static const char *say(enum verdict v, double lower, double point, double upper)
{
    struct compare_options o = { .base = 0, .confidence = 0.95 };
    struct comparison x = { .label = 1, .verdict = v };
    x.p.log_ratio = (struct interval){ .lower = log(lower), .point = log(point), .upper = log(upper) };
    x.p.n = 20;
    size_t n;
    free(said);
    said = NULL;
    FILE *f = open_memstream(&said, &n);
    comparison_say(f, &runs, &o, &x);
    fclose(f);
    return said;
}

static bool says(const char *want, enum verdict v, double lower, double point, double upper)
{
    bool same = strcmp(want, say(v, lower, point, upper)) == 0;
    if (!same) printf("# said: %s", said);
    return same;
}

int main(void)
{
    intern(&runs.label, str_of("old"));
    intern(&runs.label, str_of("new"));
    ok(says("new is faster than old: it takes 9 % less CPU time (6 to 13 % less, 95 % interval, 20 rounds)\n", FASTER,
            0.87, 0.91, 0.94), "faster");
    ok(says("new is slower than old: it takes 2.5 times the CPU time (50 % more to 3 times, 95 % interval, "
            "20 rounds)\n", SLOWER, 1.5, 2.5, 3), "slower, more than double");
    ok(says("new is as fast as old: it takes no more CPU time (1 % less to 1 % more, 95 % interval, 20 rounds)\n", SAME,
            0.99, 1, 1.01), "the same");
    ok(says("new may be faster or slower than old: it takes 3 % more CPU time (40 % less to any amount more, "
            "95 % interval, 20 rounds)\n", UNCLEAR, 0.6, 1.03, INFINITY), "unclear");
    intern(&runs.benchmark, str_of("sort"));
    runs.metric = "wall";
    ok(says("sort: new is faster than old: it takes 50 % less wall time (49.5 to 50.5 % less, 95 % interval, "
            "20 rounds)\n", FASTER, 0.495, 0.5, 0.505), "of a benchmark, by another time");
    ok(says("sort: new cannot be compared with old: a run failed, see above\n", INVALID, 1, 1, 1), "invalid");
    free(said);
    return done();
}
