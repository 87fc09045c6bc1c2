/* within: what is next against a Gaussian process that solves the whole system afresh, and what may never be next */
#include "loop/search/within.h"
#include "base/rng.h"
#include "tap.h"
#include <math.h>

enum { N = 40, F = 5, STEPS = 30 };
static double x[N * F], prior[N], truth[N];

/* covariances of rows as they are given, scaled by their spread */
static void covariances(double s[N][N])
{
    double scale[F] = { 0 };
    int varied = 0;
    for (int j = 0; j < F; j++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < N; i++) sum += x[i * F + j], squares += x[i * F + j] * x[i * F + j];
        const double variance = squares / N - sum / N * (sum / N);
        if (variance > 1e-12) scale[j] = 1 / variance, varied++;
    }
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) {
            double d = 0;
            for (int j = 0; j < F; j++) d += scale[j] * pow(x[a * F + j] - x[b * F + j], 2) * 8 / varied;
            s[a][b] = 0.0144 * exp(-d / 4.5) + 0.0025 * exp(-d / 72);
        }
}

/* y = A^-1 b by elimination with pivots */
static void solve(int n, double a[STEPS][STEPS], const double *b, double *y)
{
    double m[STEPS][STEPS + 1];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) m[i][j] = a[i][j];
        m[i][n] = b[i];
    }
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k; i < n; i++)
            if (fabs(m[i][k]) > fabs(m[p][k])) p = i;
        for (int j = 0; j <= n; j++) {
            const double t = m[k][j];
            m[k][j] = m[p][j];
            m[p][j] = t;
        }
        for (int i = 0; i < n; i++)
            for (int j = n; i != k && j >= k; j--) m[i][j] -= m[i][k] / m[k][k] * m[k][j];
    }
    for (int k = 0; k < n; k++) y[k] = m[k][n] / m[k][k];
}

static int expected(double s[N][N], const int *got, int n)
{
    double a[STEPS][STEPS], r[STEPS], y[STEPS], best = INFINITY, offset = 0, most = -INFINITY;
    int next = -1;
    for (int k = 0; k < n; k++) best = fmin(best, truth[got[k]]);
    for (int k = 0; k < n; k++) r[k] = fmin(truth[got[k]], best + 1.5) - prior[got[k]], offset += r[k] / n;
    for (int k = 0; k < n; k++) r[k] -= offset;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i][j] = s[got[i]][got[j]] + (i == j) * 1e-4;
    solve(n, a, r, y);
    for (int i = 0; i < N; i++) {
        double c[STEPS], z[STEPS], mean = prior[i] + offset, variance = s[i][i];
        bool taken = false;
        for (int k = 0; k < n; k++) c[k] = s[i][got[k]], mean += c[k] * y[k], taken |= got[k] == i;
        solve(n, a, c, z);
        for (int k = 0; k < n; k++) variance -= c[k] * z[k];
        const double sd = sqrt(fmax(variance, 1e-9)), q = (best - mean) / sd;
        const double e = (best - mean) * .5 * (1 + erf(q / sqrt(2))) + sd * exp(-q * q / 2) / 2.506628274631;
        if (!taken && e > most) most = e, next = i;
    }
    return next;
}

int main(void)
{
    struct rng g = rng_for(3, str_of("within"));
    for (int i = 0; i < N * F; i++) x[i] = i % F == 4 ? 7 : 3 * rng_unit(&g);
    for (int i = 0; i < N; i++) {
        prior[i] = rng_unit(&g) / 4;
        truth[i] = -4 + prior[i] + sin(x[i * F]) / 5 + (i % 7 == 0) * 3;
    }
    static double s[N][N];
    covariances(s);
    struct within *w = within_new(x, prior, N, F);
    int got[STEPS], first = 0, agree = 0, low = 0;
    for (int i = 0; i < N; i++)
        if (prior[i] < prior[first]) first = i;
    for (int n = 0; n < STEPS; n++) {
        int want = !n ? first : n == 1 && first ? 0 : -1;
        if (n > 1 && n % 4 == 3) {
            for (low = 0, want = -1; want < 0; low++) {
                bool taken = false;
                for (int k = 0; k < n; k++) taken |= got[k] == low;
                if (!taken) want = low;
            }
        } else if (n > 1) {
            want = expected(s, got, n);
        }
        got[n] = (int)within_next(w);
        agree += got[n] == want;
        within_told(w, (size_t)got[n], truth[got[n]]);
    }
    ok(agree == STEPS, "all that is next is what the whole system says");
    within_free(w);

    for (int i = 0; i < N; i++) prior[i] = i % 2 ? INFINITY : prior[i];
    w = within_new(x, prior, N, F);
    int seen = 0, odd = 0;
    size_t next;
    while ((next = within_next(w)) < N) {
        seen++, odd += next % 2;
        within_told(w, next, seen % 3 ? truth[next] : NAN);
    }
    ok(seen == N / 2, "each once, those that cannot be never, nor are they after one that failed");
    ok(odd == 0, "none of those without a prediction");
    within_free(w);
    w = within_new(x, prior, 0, F);
    ok((int)within_next(w) == 0, "of nothing nothing is next");
    within_free(w);
    return done();
}
