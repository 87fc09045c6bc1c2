/* lbfgs.c - see lbfgs.h */
#include "net/lbfgs.h"
#include "base/checked.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 10, TRIES = 40 };

struct search {
    size_t n;
    lbfgs_function *f;
    void *context;
    const double *x, *direction;
    double *point, *gradient;                            /* at the last step tried */
    long evaluations;
};

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static double largest(const double *a, size_t n)
{
    double top = 0;
    for (size_t i = 0; i < n; i++) top = fmax(top, fabs(a[i]));
    return top;
}

static double try_step(struct search *s, double step, double *slope)
{
    for (size_t i = 0; i < s->n; i++) s->point[i] = s->x[i] + step * s->direction[i];
    double value = s->f(s->context, s->point, s->gradient);
    s->evaluations++;
    *slope = dot(s->gradient, s->direction, s->n);
    return value;
}

/* A step that meets the strong Wolfe conditions, by bracketing and quadratic interpolation; the value there, or NAN. */
static double line_search(struct search *s, double value0, double slope0, double first)
{
    double low = 0, low_value = value0, low_slope = slope0, high = INFINITY, step = first;
    for (int t = 0; t < TRIES; t++) {
        double slope, value = try_step(s, step, &slope);
        if (!(value <= value0 + 1e-4 * step * slope0) || (low > 0 && value >= low_value)) {
            high = step;
        } else if (fabs(slope) <= -0.9 * slope0) {
            return value;
        } else {
            if (slope > 0) high = isinf(high) || slope * (high - low) >= 0 ? low : high;
            low = step;
            low_value = value;
            low_slope = slope;
            if (isinf(high)) {
                step *= 2;
                continue;
            }
        }
        /* the minimum of the parabola through low, kept inside the bracket */
        double width = high - low, guess = isfinite(value) && high == step
            ? low - low_slope * width * width / (2 * (value - low_value - low_slope * width)) : low + width / 2;
        double a = fmin(low + 0.1 * width, high - 0.1 * width), b = fmax(low + 0.1 * width, high - 0.1 * width);
        step = guess >= a && guess <= b ? guess : low + width / 2;
        if (fabs(width) <= 1e-16 * fabs(low)) break;
    }
    if (low <= 0) return NAN;
    double slope;
    return try_step(s, low, &slope);
}

/* direction = -H gradient by the two-loop recursion over `pairs` pairs, newest at (newest % PAIRS) */
static void two_loops(size_t n, const double *gradient, const double *dx, const double *dg, const double *rho,
                      int pairs, long newest, double *direction)
{
    double alpha[PAIRS];
    for (size_t i = 0; i < n; i++) direction[i] = -gradient[i];
    for (int k = 0; k < pairs; k++) {
        size_t at = (size_t)((newest - k) % PAIRS);
        alpha[k] = rho[at] * dot(dx + at * n, direction, n);
        for (size_t i = 0; i < n; i++) direction[i] -= alpha[k] * dg[at * n + i];
    }
    if (pairs) {
        size_t at = (size_t)(newest % PAIRS);
        double scale = 1 / (rho[at] * dot(dg + at * n, dg + at * n, n));
        for (size_t i = 0; i < n; i++) direction[i] *= scale;
    }
    for (int k = pairs - 1; k >= 0; k--) {
        size_t at = (size_t)((newest - k) % PAIRS);
        double beta = rho[at] * dot(dg + at * n, direction, n);
        for (size_t i = 0; i < n; i++) direction[i] += (alpha[k] - beta) * dx[at * n + i];
    }
}

struct lbfgs_report lbfgs(size_t n, double *x, lbfgs_function *f, void *context, long iterations, double tolerance)
{
    double *memory = xcalloc(size_mul(n, 2 * PAIRS + 4) + 1, sizeof *memory), rho[PAIRS];
    double *gradient = memory, *direction = gradient + n, *point = direction + n, *next = point + n;
    double *dx = next + n, *dg = dx + n * PAIRS;
    struct search s = {
        .n = n, .f = f, .context = context, .x = x, .direction = direction, .point = point, .gradient = next
    };
    struct lbfgs_report r = { .value = f(context, x, gradient), .evaluations = 1 };
    int pairs = 0;
    long newest = -1;
    for (r.gradient = largest(gradient, n); r.gradient > tolerance && r.iterations < iterations;
         r.gradient = largest(gradient, n)) {
        two_loops(n, gradient, dx, dg, rho, pairs, newest, direction);
        double slope = dot(gradient, direction, n);
        if (!(slope < 0)) {                              /* rounding has spoiled the memory: start over downhill */
            pairs = 0;
            for (size_t i = 0; i < n; i++) direction[i] = -gradient[i];
            slope = -dot(gradient, gradient, n);
        }
        double value = line_search(&s, r.value, slope, pairs ? 1 : fmin(1, 1 / sqrt(-slope)));
        if (!(value < r.value)) {
            if (!pairs) break;
            pairs = 0;
            continue;
        }
        size_t at = (size_t)(++newest % PAIRS);
        for (size_t i = 0; i < n; i++) {
            dx[at * n + i] = point[i] - x[i];
            dg[at * n + i] = next[i] - gradient[i];
        }
        double curvature = dot(dx + at * n, dg + at * n, n);
        if (curvature > 0) {
            rho[at] = 1 / curvature;
            if (pairs < PAIRS) pairs++;
        } else {
            pairs = 0;                                   /* noise: what the memory says cannot be trusted */
        }
        memcpy(x, point, n * sizeof *x);
        memcpy(gradient, next, n * sizeof *gradient);
        r.value = value;
        r.iterations++;
    }
    r.evaluations += s.evaluations;
    free(memory);
    return r;
}
