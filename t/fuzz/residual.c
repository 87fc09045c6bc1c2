/* residual.c - fuzz target: a residual that is accepted judges a nest with numbers and reads back equal */
#include "fuzz.h"
#include "loop/search/residual.h"
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void body(const uint8_t *data, size_t n)
{
    sexpr *r = sexp_open_text((const char *)data, n, "in", SEXP_CORE);
    struct residual k = residual_from(sexp_only(r));
    struct seen_nest s = { .seconds = 1 }, other = { .seconds = 2 };
    double member[RESIDUAL_MEMBERS];
    for (int j = 0; j < RESIDUAL_FEATURES; j++) other.f[j] = j;
    residual_predict(&k, &s, member);
    double gain = residual_gain(&k, &s, member, &s, true);
    residual_knows(&k, &other);
    fuzz_check(!(gain > 0) && !(gain < 0), "a nest gains nothing over itself");
    residual_gain(&k, &s, member, &other, false);
    residual_free(&k);
    sexp_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(body, data, n);
    return 0;
}
