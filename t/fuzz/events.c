/* events.c - fuzz target: intervals, misnested, reversed, overlapping, against the sweep: totals are those of brute
 * force over a short stretch of time, and flattened operations never overlap. */
#include "fuzz.h"
#include "prof/sweep.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { T = 256 };
static uint32_t at[T][8];                                /* mask of 256 keys */

static void body(const uint8_t *data, size_t n)
{
    sweep *s = sweep_new(true);
    int64_t want = 0, got = 0;
    int last = 0;
    memset(at, 0, sizeof at);
    for (size_t i = 0; i + 3 <= n; i += 3) {
        int start = data[i], end = data[i + 1], key = data[i + 2];
        if (end <= start || start < last) continue;
        char name[8];
        int k = snprintf(name, sizeof name, "k%d", key);
        if (key & 1)
            fuzz_check(sweep_add(s, start, end, sweep_key(s, KEY_CAT, (str){ name, (size_t)k }), KEY_NONE),
                       "refused in order");
        else
            fuzz_check(sweep_add_op(s, start, end, sweep_key(s, KEY_OP, (str){ name, (size_t)k }), (uint32_t)key % 5),
                       "refused in order");
        last = start;
        if (key & 1) for (int t = start; t < end; t++) at[t][key / 32] |= 1u << key % 32;
    }
    sweep_finish(s);
    for (int t = 0; t < T; t++) for (int k = 0; k < 8; k++) if (at[t][k]) {
        want++;
        break;
    }
    const struct cell *c;
    const struct transition *x;
    for (size_t i = 0, cells = sweep_cells(s, &c); i < cells; i++) if (c[i].name[KEY_CAT][0]) got += c[i].total;
    fuzz_check(got == want, "the cells do not add up to the union of the categories");
    uint64_t in = 0, out = 0;
    for (size_t i = 0, changes = sweep_transitions(s, &x); i < changes; i++) {
        bool from = x[i].from[KEY_CAT][0] || x[i].from[KEY_OP][0], to = x[i].to[KEY_CAT][0] || x[i].to[KEY_OP][0];
        if (!from) in += x[i].count;
        if (!to) out += x[i].count;
    }
    fuzz_check(in == out, "what began did not end");
    sweep_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(body, data, n);
    return 0;
}
