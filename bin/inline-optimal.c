/* inline-optimal - the best decisions about inlining for size, with proof
 *
 * Usage: inline-optimal [--level=-Oz] [--store=FILE] [--decisions=FILE]
 *                       [--calls=FILE] WORK
 *
 * WORK is a directory made by inline-module; made --per-file, each source is
 * a module of its own and the program is their sum, else the whole program is
 * one.  For each module this looks for the decisions that give least machine
 * code, a decision for each call of the source, which holds for its copies
 * too.  What a function costs depends on what is inlined into it; all sets of
 * calls that can come to lie in it, if there are no more than --most, are
 * built, and then the least sum over all functions is proven.  Functions with
 * more sets stay open: their sets are searched one call at a time, and the
 * bound on them is zero.
 *
 * Columns out, a row a module and a last one, module (all): program, module,
 * level, functions, calls, decided (calls with a choice), closed_functions,
 * closed_ratio (share of the code of the best in them), largest (sets of one
 * function), entries (sets built), builds, whole (builds of the module all
 * awake), builds_per_second, seconds; bytes of machine code with none_bytes
 * (nothing inlined), heuristic_bytes (the compiler's), best_bytes (built),
 * table_bytes (the tables said so), lower_bytes (nothing is less),
 * gap_ratio (best over lower: no decisions are better by more), excess_ratio
 * (heuristic over best), estimate_bytes (the bound if in open functions each
 * call added what it adds alone); compared, unequal (functions built twice,
 * in other company, that came out otherwise), sums, sums_unequal (random
 * decisions whose sum the tables know), state, reason.
 *
 * FILE of --calls gets a row a call: program, module, callee, caller, chain,
 * choice (yes, or why not), optimal (yes, no), heuristic (yes, no), closed
 * (yes, no: is the caller's set proven), gain_bytes (what the other way would
 * add, where known), and the columns of inline-calls.  FILE of --decisions
 * is for inline-build and inline-emit.  FILE of --store is a log: a run that
 * was killed goes on.
 *
 * Exit 1 when a module could not be done; the others are.
 *
 * Examples:
 *   $ inline-module --per-file --out=w src && inline-optimal w | csv-show
 *   $ inline-optimal --most=1024 --store=log.csv --decisions=best.sexp w
 */
#include "base/filter.h"
#include "base/progress.h"
#include "inline/prove.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>

static enum level level = LEVEL_OZ;
static const char *store, *decisions, *calls, *out;
static long most = 256, builds = 4000, nodes = 20000, check = 16, chance = 2, seed = 1;
static const struct opt options[] = {
    { 0, "level", WORD, &level, LEVELS, "optimisation", 0, 0 },
    { 0, "most", INT, &most, "N", "sets of a function that are all built", 1, 1e7 },
    { 0, "builds", INT, &builds, "N", "budget of a module", 1, 1e9 },
    { 0, "nodes", INT, &nodes, "N", "decisions that the proof of a module may try", 1, 1e9 },
    { 0, "check", INT, &check, "N", "every so many builds one is done twice", 1, 1e9 },
    { 0, "chance", INT, &chance, "N", "random decisions that a module is checked by", 0, 1e6 },
    { 0, "store", STR, &store, "FILE", "a log of what was built", 0, 0 },
    { 0, "decisions", STR, &decisions, "FILE", "write the best here", 0, 0 },
    { 0, "calls", STR, &calls, "FILE", "write a row a call here", 0, 0 },
    { 'o', "output", STR, &out, "FILE", "write here instead of standard output", 0, 0 },
    { 's', "seed", INT, &seed, "N", "of the random decisions", 0, 0 },
    { 0 }
};

static void write_row(csvw *w, const struct work *k, const struct proved *p)
{
    csvw_cstr(w, k->program->name);
    csvw_cstr(w, p->module);
    csvw_cstr(w, level_name[level]);
    size_t counts[] = { p->functions, p->calls, p->decided, p->closed_functions };
    for (size_t i = 0; i < 4; i++) csvw_int(w, (int64_t)counts[i]);
    csvw_known(w, p->best > 0 ? p->closed_bytes / p->best : NAN);
    csvw_int(w, (int64_t)p->largest);
    csvw_int(w, (int64_t)p->entries);
    csvw_int(w, p->builds);
    csvw_int(w, p->whole);
    csvw_num(w, (double)p->builds / p->seconds);
    csvw_num(w, p->seconds);
    double bytes[] = { p->none, p->heuristic, p->best, p->tables, p->lower };
    for (size_t i = 0; i < 5; i++) csvw_num(w, bytes[i]);
    csvw_known(w, p->lower > 0 ? p->best / p->lower : NAN);
    csvw_known(w, p->best > 0 ? p->heuristic / p->best : NAN);
    csvw_num(w, p->estimate);
    long checks[] = { p->compared, p->unequal, p->sums, p->sums_unequal };
    for (size_t i = 0; i < 4; i++) csvw_int(w, checks[i]);
    csvw_cstr(w, p->why ? "failed" : "ok");
    csvw_cstr(w, p->why);
    csvw_end(w);
}

static void add(struct proved *sum, const struct proved *p)
{
    sum->functions += p->functions;
    sum->calls += p->calls;
    sum->decided += p->decided;
    sum->closed_functions += p->closed_functions;
    sum->entries += p->entries;
    if (p->largest > sum->largest) sum->largest = p->largest;
    double *to[] = { &sum->closed_bytes, &sum->none,  &sum->heuristic, &sum->best,
                     &sum->tables,       &sum->lower, &sum->estimate,  &sum->seconds };
    double from[] = { p->closed_bytes, p->none, p->heuristic, p->best, p->tables, p->lower, p->estimate, p->seconds };
    for (size_t i = 0; i < 8; i++) *to[i] += from[i];
    long *count[] = { &sum->builds, &sum->whole, &sum->compared, &sum->unequal, &sum->sums, &sum->sums_unequal };
    long more[] = { p->builds, p->whole, p->compared, p->unequal, p->sums, p->sums_unequal };
    for (size_t i = 0; i < 6; i++) *count[i] += more[i];
}

static void write_calls(csvw *w, const struct work *k, const struct proved *p)
{
    for (size_t i = 0; i < p->calls; i++) {
        const struct prove_call *c = &p->call[i];
        csvw_cstr(w, k->program->name);
        csvw_cstr(w, p->module);
        str none = { "", 0 };                            /* a call that -O2 does not have */
        csvw_str(w, c->row ? c->row->callee : none);
        csvw_str(w, c->row ? c->row->caller : none);
        csvw_str(w, c->row ? c->row->chain : none);
        csvw_cstr(w, c->fixed ? c->fixed : "yes");
        csvw_cstr(w, c->fixed ? "" : c->inlined ? "yes" : "no");
        csvw_cstr(w, c->by_default ? "yes" : "no");
        csvw_cstr(w, c->closed ? "yes" : "no");
        csvw_known(w, c->gain);
        for (size_t j = 0; j < PROVE_FEATURES; j++) csvw_num(w, c->feature[j]);
        csvw_end(w);
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one work directory expected");
    struct work *k = work_open(argv[i]);
    if (!k->llvm) die("%s: %s, and only clang's modules can be built in here", argv[i], k->compiler);
    struct prove p = { .work = k, .level = level_name[level], .store = store, .most = most, .builds = builds,
                       .nodes = nodes, .check = check, .random = chance, .seed = (uint64_t)seed };
    struct proved all = { .module = (char[]){ "(all)" } };
    struct live did = { 0 };
    csvw *w = csvw_open(out), *c = calls ? csvw_open(calls) : NULL;
    csvw_names(w, "program,module,level,functions,calls,decided,closed_functions,closed_ratio,largest,entries,builds,"
                  "whole,builds_per_second,seconds,none_bytes,heuristic_bytes,best_bytes,table_bytes,lower_bytes,"
                  "gap_ratio,excess_ratio,estimate_bytes,compared,unequal,sums,sums_unequal,state,reason");
    csvw_end(w);
    if (c) {
        csvw_names(c, "program,module,callee,caller,chain,choice,optimal,heuristic,closed,gain_bytes,"
                      PROVE_COLUMNS);
        csvw_end(c);
    }
    size_t n = prove_modules(k);
    progress_start("modules", (double)n);
    for (size_t j = 0; j < n; j++) {
        struct proved one;
        prove_module(&p, j, &one, decisions ? &did : NULL);
        write_row(w, k, &one);
        csvw_flush(w);
        if (one.why) {
            warn("%s: %s", one.module, one.why);
            all.why = "some modules failed";
        } else {
            if (c) write_calls(c, k, &one);
            add(&all, &one);
        }
        proved_free(&one);
        progress((double)(j + 1), "%ld builds", all.builds);
    }
    progress_end();
    write_row(w, k, &all);
    live_sort(&did);
    if (decisions) live_write(&did, decisions, k->program->name, k->compiler);
    if (c) csvw_close(c);
    int status = csvw_close(w);
    return all.why ? EXIT_FAIL : status;
}
