/* Halide with an autoscheduler (-DSCHEDULER="Adams2019"), compiled just in time for the sizes at hand */
extern "C" {
#include "gemm.h"
}
#include <Halide.h>
using namespace Halide;

/* the shapes of a, b and c, fastest dimension first */
struct halide_product {
    gemm g;
    std::vector<int> shape[3];
    ImageParam in[2];
    Pipeline pipe;
};

static void describe(halide_product *p, Func out)
{
    const gemm &g = p->g;
    int k = (int)g.k;
    if (!g.conv) {
        Var x("x"), y("y"), z("z");
        RDom r(0, k);
        Func sum("sum");
        int m = (int)g.m, n = (int)g.n;
        p->shape[0] = {g.ta ? m : k, g.ta ? k : m};
        p->shape[1] = {g.tb ? k : n, g.tb ? n : k};
        p->shape[2] = {n, m};
        if (g.batch == 1) {
            sum(x, y) += (g.ta ? p->in[0](y, r) : p->in[0](r, y)) * (g.tb ? p->in[1](r, x) : p->in[1](x, r));
            out(x, y) = sum(x, y);
            return;
        }
        for (std::vector<int> &shape : p->shape) shape.push_back((int)g.batch);
        sum(x, y, z) += p->in[0](r, y, z) * p->in[1](x, r, z);
        out(x, y, z) = sum(x, y, z);
        return;
    }
    int c = (int)g.c, h = (int)g.h, w = (int)g.w, m = (int)g.mo, kh = (int)g.kh, kw = (int)g.kw, s = (int)g.s;
    int ho = (int)g.ho, wo = (int)g.wo, n = (int)g.nimg;
    Var x("x"), y("y"), f("f"), i("i");
    Func sum("sum"), a("a");
    int top = (int)g.pad[0], left = (int)g.pad[2];
    if (g.nhwc) a = BoundaryConditions::constant_exterior(p->in[0], 0.0f, {{0, c}, {0, w}, {0, h}, {0, n}});
    else a = BoundaryConditions::constant_exterior(p->in[0], 0.0f, {{0, w}, {0, h}, {0, c}, {0, n}});
    bool zeros = g.pad[0] || g.pad[1] || g.pad[2] || g.pad[3];
    auto in = [&](Expr i, Expr j, Expr k, Expr l) -> Expr { return zeros ? a(i, j, k, l) : p->in[0](i, j, k, l); };
    if (g.nhwc) {
        RDom r(0, c, 0, kw, 0, kh);
        p->shape[0] = {c, w, h, n}, p->shape[1] = {m, c, kw, kh}, p->shape[2] = {m, wo, ho, n};
        sum(f, x, y, i) += in(r.x, x * s + r.y - left, y * s + r.z - top, i) * p->in[1](f, r.x, r.y, r.z);
        out(f, x, y, i) = sum(f, x, y, i);
    } else {
        RDom r(0, kw, 0, kh, 0, c);
        p->shape[0] = {w, h, c, n}, p->shape[1] = {kw, kh, c, m}, p->shape[2] = {wo, ho, m, n};
        sum(x, y, f, i) += in(x * s + r.x - left, y * s + r.y - top, r.z, i) * p->in[1](r.x, r.y, r.z, f);
        out(x, y, f, i) = sum(x, y, f, i);
    }
}

/* dense, with exactly these extents; returns them as what to expect */
template <class T> static Region fix(T t, const std::vector<int> &shape)
{
    Region all;
    int step = 1;
    for (size_t d = 0; d < shape.size(); step *= shape[d++]) {
        t.dim((int)d).set_bounds(0, shape[d]).set_stride(step);
        all.push_back({0, shape[d]});
    }
    return all;
}

extern "C" void *peer_open(const char *kind, const long *size, const char **why)
{
    static bool loaded;
    halide_product *p = new halide_product;
    if (!gemm_init(&p->g, kind, size, why)) return nullptr;
    try {
        if (!loaded) load_plugin(PLUGIN);
        loaded = true;
        for (ImageParam &in : p->in) in = ImageParam(Float(32), p->g.conv ? 4 : p->g.batch > 1 ? 3 : 2);
        Func out("out");
        describe(p, out);
        for (int t = 0; t < 2; t++) p->in[t].set_estimates(fix(p->in[t], p->shape[t]));
        out.set_estimates(fix(out.output_buffer(), p->shape[2]));
        p->pipe = Pipeline(out);
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
    p->in[0].set(Buffer<float>(const_cast<float *>(a), p->shape[0]));
    p->in[1].set(Buffer<float>(const_cast<float *>(b), p->shape[1]));
    Buffer<float> out(c, p->shape[2]);
    p->pipe.realize(out);
}
