#include "place/gpu_rows.h"
#include "place/record.h"
#include "base/checked.h"
#include "base/mem.h"
#include "measure/machine.h"
#include "tensor/ops.h"
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

static const double NEVER_SECONDS = 1000;                /* of a kernel with an operand that is not on the GPU */

static const char *kind_of(const struct gpu *g) { return gpu_is_real(g) ? "real" : "simulated"; }

static void settings(csvw *w, const struct gpu_setting *s)
{
    char *tier = xformat("cuda:%d", s->device);
    csvw_int(w, 1);
    csvw_cstr(w, tier);
    csvw_cstr(w, s->machine);
    csvw_end(w);
    free(tier);
}

static void profile_kernel(csvw *w, struct gpu *gpu, const struct graph *g, int kernel, const struct gpu_setting *s)
{
    int node = g->kernel[kernel].node;
    struct gpu_op *o = gpu_op_make(g, node);
    char in[OP_OPERANDS + 1], out[OP_OPERANDS + 1];
    double best = INFINITY;
    profile_tiers(g, kernel, 0, in, out);
    for (int a = 0; a < gpu_op_algorithms(o); a++) {     /* a row each: a plan takes the fastest that it has room for */
        uint64_t need = gpu_op_workspace(o, a);
        if (need > s->workspace) continue;
        double took = gpu_probe(gpu, g, node, a, s->runs);
        best = fmin(best, took);
        profile_row(w, g, kernel, in, out, a ? EXEC_STAGED : EXEC_DIRECT, need, took, s->runs, "cuda", kind_of(gpu));
        settings(w, s);
    }
    int operands = g->node[node].nin + g->node[node].nout;
    for (int k = 0; k < operands; k++) {
        if (!(g->kernel[kernel].movable >> k & 1)) continue;
        profile_tiers(g, kernel, 1u << k, in, out);
        profile_row(w, g, kernel, in, out, EXEC_STREAMED, 0, best + NEVER_SECONDS, s->runs, "cuda", kind_of(gpu));
        settings(w, s);
    }
    gpu_op_free(o);
}

int gpu_profile(struct gpu *gpu, const struct graph *g, const struct gpu_setting *s)
{
    csvw *w = csvw_open("-");
    csvw_names(w, PROFILE_COLUMNS ",threads,tier,machine");
    csvw_end(w);
    for (int k = 0; k < g->nkernel; k++) profile_kernel(w, gpu, g, k, s);
    for (uint64_t bytes = 64 << 10; bytes <= 64 << 20; bytes *= 8) {
        for (int to_fast = 0; to_fast < 2; to_fast++) {
            double took = gpu_probe_move(gpu, bytes, to_fast, s->runs);
            profile_move_row(w, bytes, to_fast, took, s->runs, "cuda", kind_of(gpu));
            settings(w, s);
        }
    }
    return csvw_close(w);
}

static void step_row(csvw *w, const struct gpu *gpu, const struct graph *g, const struct plan *p,
                     const struct gpu_setting *s, long n, const struct step_result *t)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    csvw_int(w, n);
    csvw_int(w, n < s->warm);
    csvw_num(w, t->seconds);
    csvw_known(w, t->loss);
    csvw_num(w, t->kernel_seconds);
    csvw_num(w, t->move_seconds);
    csvw_known(w, t->delay_seconds);
    csvw_int(w, t->moves);
    csvw_int(w, (int64_t)t->read_bytes);
    csvw_int(w, (int64_t)t->written_bytes);
    csvw_int(w, (int64_t)t->fetched_bytes);
    csvw_int(w, (int64_t)t->evicted_bytes);
    csvw_int(w, (int64_t)engine_most_used(g, p));
    csvw_int(w, 0);
    csvw_int(w, (int64_t)p->limit);
    csvw_int(w, (int64_t)use.ru_maxrss * 1024);
    csvw_known(w, NAN);
    csvw_known(w, NAN);
    csvw_int(w, 1);
    csvw_cstr(w, gpu_name(gpu));
    char *tier = xformat("cuda:%d", s->device);
    csvw_cstr(w, tier);
    free(tier);
    csvw_cstr(w, s->managed ? "managed" : "pinned");
    csvw_cstr(w, kind_of(gpu));
    csvw_known(w, machine_load());
    csvw_cstr(w, s->machine);
    csvw_end(w);
}

int gpu_steps(struct gpu *gpu, const struct graph *g, const struct plan *p, const struct gpu_setting *s,
              const char *kernels)
{
    struct gpu_engine *e = gpu_engine_open(gpu, g, p, s->managed, s->limit, s->seed);
    csvw *w = csvw_open("-");
    csvw_names(w, "step,warm,seconds,loss,kernel_seconds,move_seconds,delay_seconds,moves,read_bytes,written_bytes,"
                  "fetched_bytes,evicted_bytes,fast_bytes,scratch_bytes,limit_bytes,resident_bytes,"
                  "read_bytes_per_second,write_bytes_per_second,threads,isa,tier,method,kind,load,machine");
    csvw_end(w);
    double *seconds = xcalloc(size_mul((size_t)s->steps, (size_t)g->nnode) + 1, sizeof *seconds);
    for (long n = 0; n < s->warm + s->steps; n++) {
        long counted = n < s->warm ? 0 : n - s->warm;
        struct step_result t = gpu_engine_step(e, seconds + (size_t)counted * (size_t)g->nnode);
        step_row(w, gpu, g, p, s, n, &t);
    }
    gpu_engine_close(e);
    if (kernels) record_kernels(kernels, g, p, seconds, s->steps);
    free(seconds);
    return csvw_close(w);
}
