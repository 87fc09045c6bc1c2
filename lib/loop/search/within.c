#include "loop/search/within.h"
#include "base/checked.h"
#include "base/mem.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double NEAR = 0.12, FAR = 0.05, LENGTH = 1.5, NOISE = 0.01, MOST = 1.5;
enum { LIKE = 8, TURN = 4, TOLD = 128 };                 /* features that count; whose turn; measured, at most */

struct within {
    size_t n, features, told, tried;
    double *x, *prior;                                   /* features in deviations of the problem's candidates */
    bool *taken;
    size_t place[TOLD];
    double time[TOLD];
    double *row[TOLD], corner[TOLD][TOLD];               /* L of what was told: covariance L L^T; L^-1 of it by all */
    double *spent;                                       /* of each variance, by what was told */
};

struct within *within_new(const double *x, const double *prior, size_t n, size_t features)
{
    struct within *w = xcalloc(1, sizeof *w);
    *w = (struct within){ .n = n, .features = features };
    w->x = xmalloc(size_mul(n, features) + 1, sizeof *w->x);
    w->prior = xmalloc(n + 1, sizeof *w->prior);
    w->taken = xcalloc(n + 1, sizeof *w->taken);
    w->spent = xcalloc(n + 1, sizeof *w->spent);
    memcpy(w->prior, prior, n * sizeof *prior);
    for (size_t i = 0; i < n; i++) w->taken[i] = !isfinite(prior[i]);
    double varied = 0;
    for (size_t j = 0; j < features; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < n; i++) mean += x[i * features + j] / (double)n;
        for (size_t i = 0; i < n; i++) square += pow(x[i * features + j] - mean, 2) / (double)n;
        const double deviation = sqrt(square);
        varied += deviation > 1e-9;
        for (size_t i = 0; i < n; i++) w->x[i * features + j] = deviation > 1e-9 ? x[i * features + j] / deviation : 0;
    }
    for (size_t i = 0; i < n * features; i++) w->x[i] *= sqrt(LIKE / fmax(1, varied));
    return w;
}

static double covariance(const struct within *w, size_t a, size_t b)
{
    double d = 0;
    for (size_t j = 0; j < w->features; j++) d += pow(w->x[a * w->features + j] - w->x[b * w->features + j], 2);
    return NEAR * NEAR * exp(-d / (2 * LENGTH * LENGTH)) + FAR * FAR * exp(-d / (32 * LENGTH * LENGTH));
}

static size_t least(const struct within *w, const double *value)
{
    size_t best = w->n;
    for (size_t i = 0; i < w->n; i++)
        if (!w->taken[i] && (best == w->n || value[i] < value[best])) best = i;
    return best;
}

static size_t lowest(const struct within *w)
{
    size_t i = 0;
    while (i < w->n && w->taken[i]) i++;
    return i;
}

size_t within_next(const struct within *w)
{
    if (!w->tried) return least(w, w->prior);
    if (w->tried == 1 && w->n && !w->taken[0]) return 0;
    if (w->tried % TURN == TURN - 1 || w->told == TOLD) return lowest(w);
    if (w->tried < 2 || !w->told) return least(w, w->prior);
    double best = INFINITY, offset = 0, r[TOLD];
    for (size_t k = 0; k < w->told; k++) best = fmin(best, w->time[k]);
    for (size_t k = 0; k < w->told; k++) {
        r[k] = fmin(w->time[k], best + MOST) - w->prior[w->place[k]];
        offset += r[k] / (double)w->told;
    }
    for (size_t k = 0; k < w->told; k++) {
        r[k] -= offset;
        for (size_t i = 0; i < k; i++) r[k] -= w->corner[k][i] * r[i];
        r[k] /= w->corner[k][k];
    }
    double *value = xmalloc(w->n + 1, sizeof *value);
    for (size_t i = 0; i < w->n; i++) {
        double mean = w->prior[i] + offset, sd = sqrt(fmax(1e-9, NEAR * NEAR + FAR * FAR - w->spent[i]));
        for (size_t k = 0; k < w->told; k++) mean += w->row[k][i] * r[k];
        const double z = (best - mean) / sd;
        value[i] = -((best - mean) * erfc(-z / M_SQRT2) / 2 + sd * exp(-z * z / 2) / sqrt(2 * M_PI));
    }
    const size_t next = least(w, value);
    free(value);
    return next;
}

void within_told(struct within *w, size_t place, double log_seconds)
{
    w->taken[place] = true;
    w->tried++;
    if (!isfinite(log_seconds) || w->told == TOLD) return;
    const size_t m = w->told++;
    w->place[m] = place;
    w->time[m] = log_seconds;
    w->row[m] = xmalloc(w->n + 1, sizeof *w->row[m]);
    double left = NEAR * NEAR + FAR * FAR + NOISE * NOISE;
    for (size_t k = 0; k < m; k++) {
        w->corner[m][k] = w->row[k][place];
        left -= pow(w->corner[m][k], 2);
    }
    w->corner[m][m] = sqrt(fmax(left, NOISE * NOISE / 2));
    for (size_t i = 0; i < w->n; i++) {
        double c = covariance(w, place, i);
        for (size_t k = 0; k < m; k++) c -= w->corner[m][k] * w->row[k][i];
        w->row[m][i] = c / w->corner[m][m];
        w->spent[i] += pow(w->row[m][i], 2);
    }
}

void within_free(struct within *w)
{
    if (!w) return;
    for (size_t k = 0; k < w->told; k++) free(w->row[k]);
    free_all(w->x, w->prior, w->taken, w->spent, w);
}
