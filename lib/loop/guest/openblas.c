/* OpenBLAS and BLIS by their C interface; -DLIBRARY="..." -DTHREADS="..." */
#include "gemm.h"
#include <dlfcn.h>

static void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
static void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
                     int);

void *peer_open(const char *kind, const long *size, const char **why)
{
    if (!sgemm) {
        void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
        void *f = lib ? dlsym(lib, "cblas_sgemm") : NULL, *d = lib ? dlsym(lib, "cblas_dgemm") : NULL;
        void (*threads)(int) = NULL;
        void *t = lib ? dlsym(lib, "openblas_set_num_threads") : NULL;
        if (!f || !d) return *why = LIBRARY " is not here", NULL;
        memcpy(&sgemm, &f, sizeof f);
        memcpy(&dgemm, &d, sizeof d);
        memcpy(&threads, &t, sizeof t);
        if (threads) threads(1);
    }
    struct gemm *g = malloc(sizeof *g);
    return gemm_init(g, kind, size, why) ? g : NULL;
}

static void mul(int ta, int tb, long m, long n, long k, const float *a, long lda, const float *b, long ldb, float *c,
                long ldc)
{
    sgemm(101, ta ? 112 : 111, tb ? 112 : 111, (int)m, (int)n, (int)k, 1, a, (int)lda, b, (int)ldb, 0, c, (int)ldc);
}

void peer_run(void *data, float *c, const float *a, const float *b)
{
    struct gemm *g = data;
    if (g->doubles) {
        const int ta = g->ta ? 112 : 111, tb = g->tb ? 112 : 111;
        dgemm(101, ta, tb, (int)g->m, (int)g->n, (int)g->k, 1, (const double *)(const void *)a,
              (int)(g->ta ? g->m : g->k), (const double *)(const void *)b, (int)(g->tb ? g->k : g->n), 0,
              (double *)(void *)c, (int)g->n);
        return;
    }
    GEMM_RUN(g, c, a, b, mul);
}
