/* runs.c - fuzz target: a table of runs is refused with a message, or compared with point and interval in order. */
#include "fuzz.h"
#include "measure/runs.h"
#include "measure/stats.h"
#include <math.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_and_compare(const uint8_t *data, size_t n)
{
    char path[64], *paths[] = { path, NULL };
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data + 1, n - 1));
    struct runs *r = runs_read(
        paths, &(struct runs_options){ .metric = data[0] & 1 ? NULL : "cpu", .skip_incomplete = data[0] & 2 });
    for (size_t b = 0; b < r->benchmark.n; b++)
        for (size_t l = 0; l < r->label.n && l < 8; l++) {
            struct pairs p = runs_pairs(r, &r->main[b], 0, l);
            fuzz_check(p.n + p.errors <= r->main[b].rounds, "more pairs than rounds");
            struct paired q = paired_compare(p.d, p.lower, p.upper, p.n, 0.95, data[0] & 4);
            fuzz_check(!p.n || (q.log_ratio.lower <= q.log_ratio.point && q.log_ratio.point <= q.log_ratio.upper),
                       "a point outside of its interval");
            fuzz_check(q.p_value >= 0 && q.p_value <= 1, "a p-value outside of 0 .. 1");
            pairs_free(&p);
        }
    runs_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n > 1) fuzz_run(read_and_compare, data, n);
    return 0;
}
