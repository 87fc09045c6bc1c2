/* Eigen: maps over the given arrays, compiled for this machine */
extern "C" {
#include "gemm.h"
}
#include <Eigen/Dense>
using M = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

extern "C" void *peer_open(const char *kind, const long *size, const char **why)
{
    gemm *g = new gemm;
    return gemm_init(g, kind, size, why) ? g : nullptr;
}

static void mul(int ta, int tb, long m, long n, long k, const float *a, long, const float *b, long, float *c, long)
{
    Eigen::Map<const M> A(a, ta ? k : m, ta ? m : k), B(b, tb ? n : k, tb ? k : n);
    Eigen::Map<M> C(c, m, n);
    if (ta && tb) C.noalias() = A.transpose() * B.transpose();
    else if (ta) C.noalias() = A.transpose() * B;
    else if (tb) C.noalias() = A * B.transpose();
    else C.noalias() = A * B;
}

extern "C" void peer_run(void *data, float *c, const float *a, const float *b)
{
    gemm *g = static_cast<gemm *>(data);
    GEMM_RUN(g, c, a, b, mul);
}
