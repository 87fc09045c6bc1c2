/* place-gpu - kernels of a training step timed on a GPU, or whole steps run
 *
 * Usage: place-gpu --profile [--device=N] [GRAPH]
 *        place-gpu --plan=FILE [--managed [--limit=BYTES]] [--steps=N]
 *                  [--device=N] [GRAPH]
 *
 * Fast memory is the GPU's, slow memory pinned memory of the host.  GRAPH is
 * one of place-net --study.  The driver (libcuda.so.1) is found when this runs;
 * no toolkit is needed.  Without a GPU: one line, exit 1.
 *
 * --profile: the times of all kernels as place-plan(1) reads them.  Operands
 * of kernels must be on the GPU (others: 1000 s).  A convolution's algorithm
 * with a workspace of up to --workspace bytes has a row of mode staged: a plan
 * takes the fastest that it has room for.  Columns: key, op, shapes, in_tiers,
 * out_tiers, mode, staging_bytes, time_seconds, runs, method (cuda), kind,
 * threads, tier, machine.
 * --plan: the step as planned; columns are those of place-run(1).  --managed:
 * everything in managed memory, which the driver moves; for a plan with
 * everything fast.  --limit leaves it as much of the GPU as other plans had,
 * the rest is taken away.  kind says `simulated` with a stand-in for the driver.
 * Memory: the graph; of the GPU what the plan asks for.
 *
 * Examples:
 *   $ place-gpu --profile g.sexp > p.csv
 *   $ place-gpu --plan=plan.sexp g.sexp > run.csv
 */
#include "base/filter.h"
#include "measure/clock.h"
#include "measure/machine.h"
#include "place/gpu.h"
#include "place/gpu_rows.h"
#include HELP

static const char *plan_path, *kernels_path;
static long device = 0, steps = 4, warm = 1, runs = 5, seed = 1;
static bool profile, managed;
static uint64_t workspace = (uint64_t)1 << 40, limit;
static const struct opt options[] = {
    { 0, "profile", FLAG, &profile, NULL, "time kernels and copies" },
    { 0, "plan", STR, &plan_path, "FILE", "run the step by this plan" },
    { 0, "managed", FLAG, &managed, NULL, "let the driver move everything" },
    { 0, "limit", SIZE, &limit, "BYTES", "of the GPU for intermediates, with --managed; 0: all" },
    { 0, "device", INT, &device, "N", "which GPU", 0, 1000 },
    { 0, "workspace", SIZE, &workspace, "BYTES", "algorithms that need more are not taken" },
    { 'n', "steps", INT, &steps, "N", "counted steps", 1, 1e6 },
    { 0, "warm", INT, &warm, "N", "steps before them", 0, 1e6 },
    { 0, "runs", INT, &runs, "N", "timed runs of a kernel", 1, 1000 },
    { 0, "kernels", STR, &kernels_path, "FILE", "write the time of every node here" },
    { 's', "seed", INT, &seed, "N", "of parameters and inputs" },
    { 0 } };

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    if (profile == (plan_path != NULL)) usage("one of --profile and --plan is needed");
    if (limit && !managed) usage("--limit is for --managed");
    struct graph *g = graph_read(path);
    struct plan *p = plan_path ? plan_read(plan_path, g) : NULL;
    for (int n = 0; n < g->nnode; n++) gpu_op_free(gpu_op_make(g, n));   /* unknown operators, before a GPU is asked */
    struct gpu *gpu = gpu_open((int)device);
    struct machine m = machine_read();
    struct gpu_setting s = { (int)device, steps, warm, runs, (uint64_t)seed, managed, limit, workspace, m.fingerprint };
    measure_lock();
    int status = profile ? gpu_profile(gpu, g, &s) : gpu_steps(gpu, g, p, &s, kernels_path);
    gpu_close(gpu);
    return status;
}
