/* tap.h - the words that C tests use: ok(condition, "sentence"), near(...), and done() at the end of main. */
#ifndef MILLRACE_TAP_H
#define MILLRACE_TAP_H
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;

#define ok(condition, name) tap_ok((condition), (name), __FILE__, __LINE__)
#define near(got, want, tolerance, name) tap_near((got), (want), (tolerance), (name), __FILE__, __LINE__)

static inline bool tap_ok(bool good, const char *name, const char *file, int line)
{
    printf("%sok %d - %s\n", good ? "" : "not ", ++tap_count, name);
    if (!good) tap_failed++, printf("# at %s:%d\n", file, line);
    return good;
}

/* relative to the larger of |want| and 1; a NaN fails */
static inline bool tap_near(double got, double want, double tolerance, const char *name, const char *file, int line)
{
    double scale = fabs(want) > 1 ? fabs(want) : 1;
    bool good = fabs(got - want) <= tolerance * scale;
    tap_ok(good, name, file, line);
    if (!good) printf("# got %.17g, want %.17g, tolerance %g\n", got, want, tolerance);
    return good;
}

static inline int done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed != 0;
}
#endif
