/* trees.c - fuzz target: the readers of s-expressions that have no target of their own; the first byte says which.
 * What they accept can be walked. */
#include "fuzz.h"
#include "base/mem.h"
#include "flambda/pairs.h"
#include "loop/search/policy.h"
#include "prof/cells.h"
#include "prof/correct.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
extern const size_t fuzz_prefix;
const size_t fuzz_prefix = 1;

enum { PAIRS, DUMP, CALIBRATION, POLICY, READERS };
static const char *const reader[READERS] = { "pairs", "dump", "calibration", "policy" };

static void pairs(const uint8_t *data, size_t n, bool dump)
{
    struct site_pairs p = { 0 };
    sexpr *r = sexp_open_text((const char *)data, n, "in", SEXP_CORE);
    for (const struct sexp *e; (e = sexp_next(r)); ) {
        if (dump) site_pairs_read_dump(&p, e, (str){ "p", 1 });
        else site_pairs_read(&p, e, (str){ "p", 1 });
    }
    sexp_close(r);
    size_t columns = p.numeric.n + p.flag.n;
    for (size_t i = 0; i < p.n; i++) {
        fuzz_check(p.pair[i].program < p.text.n && p.pair[i].site < p.text.n, "a text that is none");
        struct reward w = p.pair[i].reward;
        if (!isnan(w.immediate) && !isnan(w.no_inline)) fuzz_check(label_lasso(w) < LABELS, "no label");
    }
    if (!p.n || dump) return;
    struct preparation *q = xcalloc(columns + 1, sizeof *q);
    site_pairs_prepare(&p, q);
    for (size_t k = 0; k < columns; k++) fuzz_check(!q[k].kept || q[k].deviation > 0, "kept without a deviation");
}

static void body(const uint8_t *data, size_t n)
{
    static const char cells[] = "proc,phase,op,cats,total_ns\n1,,,Python,725399\n1,,f,CPU,22574\n1,,f,GPU+CPU,90\n";
    static const char hooks[] = "proc,phase,op,cats,hook,before,begun\n1,,,Python,c_wrap,3,5\n1,,f,CPU,op,1,9\n";
    char *paths[] = { fuzz_path(1, cells, sizeof cells - 1), NULL };
    switch (data[0] % READERS) {
    case PAIRS: case DUMP: pairs(data + 1, n - 1, data[0] % READERS == DUMP); break;
    case CALIBRATION: {
        struct cells c = { 0 };
        struct removed total;
        cells_read(&c, paths);
        const char *costs = fuzz_path(7, data + 1, n - 1), *counts = fuzz_path(2, hooks, sizeof hooks - 1);
        struct correction *v = correct_counted(&c, costs, counts, &total);
        for (size_t i = 0; i < c.n; i++) fuzz_check(v[i].corrected >= 0, "less than no time is left");
        break;
    }
    default: {
        struct policy p = policy_read(fuzz_path(7, data + 1, n - 1));
        fuzz_check(p.g.actions == p.can.nact && p.steps >= 1 && p.steps <= POLICY_STEPS, "a policy of something else");
    }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    return fuzz_readers(reader, READERS, body, data, n);
}
