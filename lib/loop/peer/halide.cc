/* Halide with an autoscheduler (-DSCHEDULER="Adams2019"), compiled just in time for the sizes at hand */
extern "C" {
#include "gemm.h"
}
#include <Halide.h>
using namespace Halide;

struct halide_product { gemm g; Func out; ImageParam a{Float(32), 2}, b{Float(32), 2}; Pipeline pipe; };

extern "C" void *peer_open(const char *kind, const long *size, const char **why)
{
    static bool loaded;
    halide_product *p = new halide_product;
    if (!gemm_init(&p->g, kind, size, why)) return nullptr;
    if (p->g.conv || p->g.batch > 1 || p->g.ta || p->g.tb) {
        *why = "only plain halide_products are written for it";
        return nullptr;
    }
    int M = (int)p->g.m, N = (int)p->g.n, K = (int)p->g.k;
    try {
        if (!loaded) load_plugin("autoschedule_" PLUGIN);
        loaded = true;
        Var x("x"), y("y");
        RDom r(0, K);
        Func prod("prod");
        prod(x, y) += p->a(r, y) * p->b(x, r);
        p->out(x, y) = prod(x, y);
        p->a.dim(0).set_bounds(0, K).dim(1).set_bounds(0, M).set_stride(K);
        p->b.dim(0).set_bounds(0, N).dim(1).set_bounds(0, K).set_stride(N);
        p->out.output_buffer().dim(0).set_bounds(0, N).dim(1).set_bounds(0, M).set_stride(N);
        p->a.set_estimates({{0, K}, {0, M}});
        p->b.set_estimates({{0, N}, {0, K}});
        p->out.set_estimates({{0, N}, {0, M}});
        p->pipe = Pipeline(p->out);
        Target t = get_jit_target_from_environment();
        p->pipe.auto_schedule(SCHEDULER, t, MachineParams(1, 32 << 20, 40));
        p->pipe.compile_jit(t);
    } catch (Error &e) {
        *why = "Halide could not schedule it";
        return nullptr;
    }
    return p;
}

extern "C" void peer_run(void *data, float *c, const float *a, const float *b)
{
    halide_product *p = static_cast<halide_product *>(data);
    int M = (int)p->g.m, N = (int)p->g.n, K = (int)p->g.k;
    p->a.set(Buffer<float>(const_cast<float *>(a), K, M));
    p->b.set(Buffer<float>(const_cast<float *>(b), N, K));
    Buffer<float> out(c, N, M);
    p->pipe.realize(out);
}
