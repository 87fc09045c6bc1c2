/* place-offload - keep what a training step saves, send it away, or make it again
 *
 * Usage: place-offload [--limit=SIZE|N% | --ratio=R:1] --profile=FILE [GRAPH]
 *
 * For programs that run their own kernels, as PyTorch does (millrace_place):
 * decides about every tensor that the forward pass saves for the backward
 * pass: keep it; away: write it to slow memory while the forward pass goes on
 * and read it back before it is used; or again: run the group of modules that
 * makes it once more.  At no time do saved tensors take more than the limit.
 * GRAPH and the profile have the forms of place-plan(1); attributes of nodes
 * say which are backward (backward 1; without any, all after the loss), in
 * which group a forward node is (group K) and which enters one (enter K).
 *
 * Out: (offload (graph NAME) (limit_bytes N) (saved_bytes N) (most_bytes N)
 * (away_bytes N) (plain_seconds X) (objective_seconds X) (bound_seconds X)
 * (gap_ratio X) (tensor ID keep|away|again) .. (group K keep|again) ..).  The
 * objective is that of a simulation with one queue for writes and one for
 * reads; no plan with the same times, rates and groups is below the bound.
 * Memory: graph and profile.
 *
 * Examples:
 *   $ place-offload --limit=25% --profile=profile.csv graph.sexp
 */
#include "base/filter.h"
#include "base/out.h"
#include "place/limit.h"
#include "place/offload.h"
#include "tree/sexp.h"
#include HELP

static const char *profile_path;
static struct budget budget;
static long seed = 1;
static struct offload_effort effort = { 2000, 3000, 1 };
static const struct opt options[] = {
    { 0, "limit", STR, &budget.limit, "SIZE|N%", "memory for saved tensors: bytes, or a share of all that is saved" },
    { 0, "ratio", STR, &budget.ratio, "R:1", "the same as what is elsewhere to what is kept" },
    { 'p', "profile", STR, &profile_path, "FILE", "times of nodes and copies" },
    { 0, "steps", INT, &effort.steps, "N", "steps towards a better bound", 1, 1e7 },
    { 0, "rounds", INT, &effort.rounds, "N", "rounds of search for a better plan", 0, 1e7 },
    { 's', "seed", INT, &seed, "N", "of the search" },
    { 0 } };

static void write_plan(const struct graph *g, const struct offload *o, const struct offload_plan *p, double bytes)
{
    double away = 0;
    for (int i = 0; i < o->nsaved; i++)
        if (p->away[i]) away += o->saved[i].bytes;
    sexpw *w = sexpw_open("-");
    sexpw_begin(w, "offload");
    sexpw_pair_str(w, "graph", str_of(g->name));
    sexpw_pair(w, "limit_bytes", bytes);
    sexpw_pair(w, "saved_bytes", o->saved_bytes);
    sexpw_pair(w, "most_bytes", p->most);
    sexpw_pair(w, "away_bytes", away);
    sexpw_pair(w, "plain_seconds", o->plain_seconds);
    sexpw_pair(w, "objective_seconds", p->seconds);
    sexpw_pair(w, "bound_seconds", p->bound);
    sexpw_pair(w, "gap_ratio", (p->seconds - p->bound) / p->bound);
    for (int i = 0; i < o->nsaved; i++) {
        const struct saved *s = &o->saved[i];
        sexpw_line(w);
        sexpw_begin(w, "tensor");
        sexpw_int(w, s->tensor);
        sexpw_cstr(w, p->away[i] ? "away" : s->group >= 0 && p->again[s->group] ? "again" : "keep");
        sexpw_end(w);
    }
    for (int k = 0; k < o->ngroup; k++) {
        sexpw_line(w);
        sexpw_begin(w, "group");
        sexpw_int(w, o->group[k].id);
        sexpw_cstr(w, p->again[k] ? "again" : "keep");
        sexpw_end(w);
    }
    sexpw_end(w);
    sexpw_close(w);
}

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    if (!profile_path) usage("no profile given, see --profile");
    budget_parse(&budget);
    if (!budget.given) usage("how much memory? see --limit and --ratio");
    effort.seed = (uint64_t)seed;
    struct graph *g = graph_read(path);
    struct profile *profile = profile_read(profile_path);
    struct offload *o = offload_new(g, profile);
    double bytes = budget.share < 0 ? (double)budget.bytes : budget.share * o->saved_bytes;
    struct offload_plan *p = offload_plan_new(o);
    if (!offload_solve(o, bytes, &effort, p))
        die("%s: no plan keeps the limit of %.0f bytes; the least found takes %.0f", g->file, bytes, p->most);
    write_plan(g, o, p, bytes);
    offload_plan_free(p);
    offload_free(o);
    profile_free(profile);
    graph_free(g);
    return EXIT_OK;
}
