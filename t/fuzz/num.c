/* num.c - fuzz target: numbers are read as strtod reads them and printed so that they read back equal. */
#include "base/num.h"
#include "fuzz.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char text[600], b[NUM_MAX];
    double v, back;
    int64_t i;
    uint64_t u;
    if (n < sizeof text) {
        char *end;
        if (n) memcpy(text, data, n);
        text[n] = 0;
        double want = strtod(text, &end);
        if (num_parse(text, n, &v)) fuzz_check(end == text + n && same(v, want), "num_parse and strtod differ");
        else if (n && n < 400 && strspn(text, "0123456789") == n) fuzz_check(0, "digits are no number?");
        if (int_parse(text, n, &i))
            fuzz_check(i == strtoll(text, NULL, 10) && int_print(b, i) <= n, "int_parse and strtoll differ");
        size_parse(text, n, &u);
    }
    if (n >= sizeof v) {
        memcpy(&v, data, sizeof v);
        size_t k = num_print(b, v);
        fuzz_check(k <= NUM_MAX && num_parse(b, k, &back) && same(back, v), "num_print does not read back equal");
    }
    return 0;
}
