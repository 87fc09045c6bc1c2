/* rank.c - fuzz target: trees that are accepted judge nests with numbers, and their walk ends at a leaf */
#include "fuzz.h"
#include "loop/search/rank.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void body(const uint8_t *data, size_t n)
{
    sexpr *r = sexp_open_text((const char *)data, n, "in", SEXP_CORE);
    struct rank k = rank_from(sexp_only(r));
    struct seen_nest s = { .seconds = 1 };
    double first = rank_slowdown(&k, &s, 1);
    for (int j = 0; j < NEST_FEATURES; j++) s.f[j] = j % 2 ? 1e30 : -1e30;
    double second = rank_slowdown(&k, &s, 0.5);
    fuzz_check(isfinite(first) && isfinite(second), "a slow-down is a number");
    rank_free(&k);
    sexp_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(body, data, n);
    return 0;
}
