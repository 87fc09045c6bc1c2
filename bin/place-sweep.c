/* place-sweep - the slow-down of a training step over sizes of fast memory
 *
 * Usage: place-sweep --profile=FILE [--formulations=LIST] [--ratios=LIST]
 *                    [--target=X | --jobs-table] [GRAPH]
 *
 * Plans the step for every formulation and every ratio of slow to fast memory
 * (as a limit: place-plan --ratio looks for the limit whose plan reaches it),
 * from one profile, and says what it costs.  Columns out: network, batch,
 * formulation, ratio, limit_bytes, fast_ratio (of the peak), planned_seconds,
 * slowdown_ratio (over all tensors in fast memory), least_slowdown_ratio (no
 * plan of that formulation and size can be below it), moved_bytes (by copies,
 * both ways), kind.  A size below what single kernels need has empty fields,
 * and a line on stderr says what is needed.  --target=X keeps, of every
 * formulation, the least fast memory with a slow-down of at most X.
 * --jobs-table writes a table of jobs (see jobs-do) instead, one for each
 * cell, to share among machines.  Less effort goes into a plan than by
 * place-plan; --steps and --rounds.
 * Memory: graph and profile, for each of --jobs.
 *
 * Examples:
 *   $ place-sweep --profile=p.csv g.sexp | csv-show
 *   $ place-sweep --profile=p.csv --target=1.05 --formulations=async g.sexp
 */
#include "base/filter.h"
#include "base/str.h"
#include "measure/child.h"
#include "place/limit.h"
#include "place/sweep.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 1024 };
static const char *profile_path, *formulations = "static,sync,async",
                                 *ratios = "1:3,1:1,2:1,3:1,4:1,6:1,8:1,12:1,16:1,24:1";
static double target;
static bool table;
static long jobs = 1, seed = 1;
static struct effort effort = { 1000, 600, 1, 0 };
static const struct opt options[] = {
    KERNEL_TIMES(profile_path),
    { 'f', "formulations", STR, &formulations, "LIST", "what may be decided, see place-plan" },
    { 0, "ratios", STR, &ratios, "LIST", "slow to fast memory" },
    { 0, "target", NUM, &target, "X", "only the least memory with at most this slow-down", 1, 1e6 },
    { 0, "jobs-table", FLAG, &table, NULL, "write the jobs, do none" },
    EFFORT_OPTIONS(effort),
    { 'j', "jobs", INT, &jobs, "N", "plans made at the same time", 1, 256 },
    { 's', "seed", INT, &seed, "N", "of the search" },
    { 0 } };

static enum formulation formulation_of(const char *name)
{
    int f = 0;
    while (formulation_names[f] && strcmp(formulation_names[f], name) != 0) f++;
    if (!formulation_names[f] || f == FORM_SLOW || f == FORM_FAST)
        usage("--formulations: '%s' is none of static, sync, async, numa", name);
    return (enum formulation)f;
}

static int cells_of(const struct graph *g, struct sweep_cell *cell)
{
    int n = 0;
    char *forms = xstrdup(formulations), *save = NULL;
    for (char *f = strtok_r(forms, ",", &save); f; f = strtok_r(NULL, ",", &save)) {
        char *list = xstrdup(ratios), *at = NULL;
        for (char *r = strtok_r(list, ",", &at); r; r = strtok_r(NULL, ",", &at)) {
            double share = fast_share(r);
            if (!(share > 0 && share < 1)) usage("--ratios: '%s' leaves no choice", r);
            if (n == CELLS) usage("more than %d plans", CELLS);
            cell[n++] = (struct sweep_cell){ .form = formulation_of(f), .ratio = r,
                                             .limit = (uint64_t)((double)graph_peak(g) * share) };
        }
    }
    return n;
}

static void write_jobs(csvw *w, const struct sweep_cell *c, int n, const char *path)
{
    struct buf files[2] = { { 0 }, { 0 } };
    shell_quote(&files[0], profile_path);
    shell_quote(&files[1], path);
    csvw_names(w, "job,command");
    csvw_end(w);
    for (int i = 0; i < n; i++) {
        csvw_format(w, "%s/%s", formulation_names[c[i].form], c[i].ratio);
        csvw_format(w, "place-sweep --profile=%s --formulations=%s --ratios=%s --steps=%ld --rounds=%ld --seed=%ld %s",
                    files[0].s, formulation_names[c[i].form], c[i].ratio, effort.dual_steps, effort.search_rounds,
                    seed, files[1].s);
        csvw_end(w);
    }
}

static void write_row(csvw *w, const struct graph *g, const struct sweep_cell *c, double fast, const char *kind)
{
    csvw_cstr(w, g->name);
    csvw_int(w, g->batch);
    csvw_cstr(w, formulation_names[c->form]);
    csvw_cstr(w, c->ratio);
    csvw_int(w, (int64_t)c->limit);
    csvw_num(w, (double)c->limit / (double)graph_peak(g));
    csvw_known(w, c->planned ? c->objective : NAN);
    csvw_known(w, c->planned ? c->objective / fast : NAN);
    csvw_known(w, c->planned && c->form != FORM_NUMA ? fmax(1, c->bound / fast) : NAN);
    if (c->planned) csvw_int(w, (int64_t)c->moved);
    else csvw_empty(w);
    csvw_cstr(w, kind);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    static struct sweep_cell cell[CELLS], end[1] = { { .form = FORM_FAST, .ratio = "0:1" } };
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    if (!profile_path) usage("no profile given, see --profile");
    effort.seed = (uint64_t)seed;
    struct graph *g = graph_read(path);
    struct profile *profile = profile_read(profile_path);
    int n = cells_of(g, cell);
    csvw *w = csvw_open("-");
    if (table) {
        if (!strcmp(path, "-")) usage("--jobs-table: jobs need the graph in a file");
        write_jobs(w, cell, n, path);
        return csvw_close(w);
    }
    sweep_run(g, profile, &effort, end, 1, 1, true);
    sweep_run(g, profile, &effort, cell, n, (int)jobs, true);
    csvw_names(w, "network,batch,formulation,ratio,limit_bytes,fast_ratio,planned_seconds,slowdown_ratio,"
                  "least_slowdown_ratio,moved_bytes,kind");
    csvw_end(w);
    for (int i = 0; i < n; i++) {
        bool least = cell[i].planned && cell[i].objective <= target * end->objective;
        for (int k = 0; target > 0 && least && k < n; k++)
            least = cell[k].form != cell[i].form || !cell[k].planned || cell[k].limit >= cell[i].limit ||
                    cell[k].objective > target * end->objective;
        if (target <= 0 || least) write_row(w, g, &cell[i], end->objective, profile_kind(profile));
    }
    return csvw_close(w);
}
