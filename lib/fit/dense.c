/* dense.c - see dense.h */
#include "fit/dense.h"
#include "base/message.h"
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>

void openblas_set_num_threads(int);                      /* its header does not go with GSL's */
void xerbla_(const char *routine, const int *parameter, size_t length);

/* in place of OpenBLAS's own, which writes to standard output and goes on */
void xerbla_(const char *routine, const int *parameter, size_t length)
{
    (void)length;
    die("numeric library: %.6s was called with a wrong parameter %d", routine, *parameter);
}

static void gsl_failed(const char *reason, const char *file, int line, int code)
{
    (void)file, (void)line;
    die("numeric library: %s (%s)", reason, gsl_strerror(code));
}

void dense_begin(void)
{
    gsl_set_error_handler(gsl_failed);
    openblas_set_num_threads(1);                         /* sums in another order, else, on each number of cores */
}

bool dense_cholesky(double *a, size_t n)
{
    dense_begin();
    if (!n) return true;                                 /* BLAS takes no empty matrix */
    gsl_matrix_view m = gsl_matrix_view_array(a, n, n);
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    int failed = gsl_linalg_cholesky_decomp1(&m.matrix);
    gsl_set_error_handler(old);
    return !failed;
}

void dense_cholesky_solve(const double *l, size_t n, double *x)
{
    if (!n) return;
    gsl_matrix_const_view m = gsl_matrix_const_view_array(l, n, n);
    gsl_vector_view v = gsl_vector_view_array(x, n);
    gsl_linalg_cholesky_svx(&m.matrix, &v.vector);
}

void dense_eigen(double *a, size_t n, double *value, double *vector)
{
    dense_begin();
    gsl_matrix_view m = gsl_matrix_view_array(a, n, n), v = gsl_matrix_view_array(vector, n, n);
    gsl_vector_view e = gsl_vector_view_array(value, n);
    gsl_eigen_symmv_workspace *w = gsl_eigen_symmv_alloc(n);
    gsl_eigen_symmv(&m.matrix, &e.vector, &v.matrix, w);
    gsl_eigen_symmv_free(w);
    gsl_eigen_symmv_sort(&e.vector, &v.matrix, GSL_EIGEN_SORT_VAL_DESC);
    for (size_t j = 0; j < n; j++) {
        size_t top = 0;
        for (size_t i = 1; i < n; i++)
            if (fabs(vector[i * n + j]) > fabs(vector[top * n + j]) * (1 + 1e-9)) top = i;
        if (vector[top * n + j] < 0)
            for (size_t i = 0; i < n; i++) vector[i * n + j] = -vector[i * n + j];
    }
}
