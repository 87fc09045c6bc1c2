/* audit.c - see audit.h */
#include "fit/audit.h"
#include "base/checked.h"
#include "fit/pca.h"
#include "fit/spread.h"
#include <math.h>
#include <stdlib.h>

static void audit_columns(const struct data *d, struct audit *a)
{
    size_t n = d->rows, cols = d->cols;
    double *z = xmalloc(size_mul(n, cols) + 1, sizeof *z);        /* column-major: standardised to unit length */
    a->constant = xcalloc(cols + 1, sizeof *a->constant);
    a->equal = xmalloc(cols + 1, sizeof *a->equal);
    a->collinear = xmalloc(cols + 1, sizeof *a->collinear);
    for (size_t j = 0; j < cols; j++) {
        struct spread s = spread_of(d->x + j, cols, NULL, n, 0);
        double *v = z + j * n;
        a->constant[j] = s.deviation == 0;
        for (size_t i = 0; i < n && !a->constant[j]; i++)
            v[i] = (d->x[i * cols + j] - s.shift - s.mean) / s.deviation / sqrt((double)n);
        a->equal[j] = a->collinear[j] = -1;
        for (size_t k = 0; k < j && !a->constant[j]; k++) {
            if (a->constant[k]) continue;
            double r = 0;
            bool same = true;
            for (size_t i = 0; i < n; i++) {
                r += v[i] * z[k * n + i];
                same = same && d->x[i * cols + j] == d->x[i * cols + k];
            }
            if (same && a->equal[j] < 0) a->equal[j] = (long)k;
            if (!same && fabs(r) > 1 - 1e-12 && a->collinear[j] < 0) a->collinear[j] = (long)k;
        }
    }
    free(z);
}

struct audit audit_data(const struct data *d)
{
    struct audit a = { 0 };
    struct intern vectors = { 0 };
    size_t classes = d->nclass ? (size_t)d->nclass : 1;
    double *row = xmalloc(d->cols + 1, sizeof *row);
    a.vector = xmalloc(d->rows + 1, sizeof *a.vector);
    for (size_t i = 0; i < d->rows; i++) {
        for (size_t j = 0; j < d->cols; j++) row[j] = d->x[i * d->cols + j] + 0.0;   /* -0 is 0 */
        a.vector[i] = intern(&vectors, (str){ (const char *)row, d->cols * sizeof *row });
    }
    a.distinct = vectors.n;
    size_t *count = xcalloc(size_mul(vectors.n + 1, classes), sizeof *count), *all = xcalloc(classes, sizeof *all);
    for (size_t i = 0; i < d->rows; i++) {
        size_t c = d->nclass ? (size_t)d->y[i] : 0;
        count[a.vector[i] * classes + c]++;
        all[c]++;
    }
    for (size_t v = 0; v < vectors.n; v++) {
        size_t top = 0, sum = 0;
        for (size_t c = 0; c < classes; c++) {
            size_t k = count[v * classes + c];
            sum += k;
            top = k > top ? k : top;
        }
        a.best += top;
        a.colliding += top < sum ? sum : 0;
    }
    for (size_t c = 0; c < classes; c++) a.majority = all[c] > a.majority ? all[c] : a.majority;
    audit_columns(d, &a);
    struct pca p = pca_fit(d->x, d->rows, d->cols, true);
    a.rank = p.rank;
    pca_free(&p);
    free(row);
    free(count);
    free(all);
    intern_free(&vectors);
    return a;
}
