#include "place/gpu_rows.h"
#include "place/record.h"
#include "place/steps.h"
#include "base/checked.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>

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
    double best = INFINITY;
    for (int a = 0; a < gpu_op_algorithms(o); a++) {     /* a row each: a plan takes the fastest that it has room for */
        uint64_t need = gpu_op_workspace(o, a);
        if (need > s->workspace) continue;
        double took = gpu_probe(gpu, g, node, a, s->runs);
        best = fmin(best, took);
        profile_row(w, g, kernel, 0, a ? EXEC_STAGED : EXEC_DIRECT, need, took, s->runs, "cuda", kind_of(gpu));
        settings(w, s);
    }
    for (int k = 0; k < 32; k++) {
        uint32_t slow = kernel_movable(g, kernel, k);
        if (!slow) continue;
        profile_row(w, g, kernel, slow, EXEC_STREAMED, 0, best + NEVER_SECONDS, s->runs, "cuda", kind_of(gpu));
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

int gpu_steps(struct gpu *gpu, const struct graph *g, const struct plan *p, const struct gpu_setting *s,
              const char *kernels)
{
    struct gpu_engine *e = gpu_engine_open(gpu, g, p, s->managed, s->limit, s->seed);
    csvw *w = csvw_open("-");
    steps_names(w);
    char *tier = xformat("cuda:%d", s->device);
    struct step_row row = { .threads = 1, .fast = engine_most_used(g, p), .limit = p->limit,
                            .before = { NAN, NAN, NAN, NAN }, .isa = gpu_name(gpu), .tier = tier,
                            .method = s->managed ? "managed" : "pinned", .kind = kind_of(gpu), .machine = s->machine };
    double *seconds = xcalloc(size_mul((size_t)s->steps, (size_t)g->nnode) + 1, sizeof *seconds);
    for (row.step = 0; row.step < s->warm + s->steps; row.step++) {
        row.warm = row.step < s->warm;
        size_t counted = row.warm ? 0 : (size_t)(row.step - s->warm);
        row.ran = gpu_engine_step(e, seconds + counted * (size_t)g->nnode);
        steps_write(w, &row);
    }
    gpu_engine_close(e);
    if (kernels) record_kernels(kernels, g, p, seconds, s->steps);
    free(seconds);
    free(tier);
    return csvw_close(w);
}
