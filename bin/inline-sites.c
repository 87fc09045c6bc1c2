/* inline-sites - the calls of a program about which an inliner decides
 *
 * Usage: inline-sites [--decisions=FILE] [--no-heat] WORK
 *
 * WORK is a directory made by inline-module.  Writes one row for each call
 * of a function with a body: those of the source, in module order, then the
 * copies that appear in other functions when the compiler's default (or the
 * decisions of FILE) inlines their callers, sorted.  Memory: all rows.
 *
 * Columns out: program, callee, caller (symbols), chain (the key:
 * function:line offset:column, innermost first, " @ " between levels of
 * inlining), file, line, column, level (of inlining around it), heat
 * (executions in the search runs, of all copies together), inlined (yes, no,
 * or empty where the build never met the call), legal (yes, no), reason (why
 * not), then the features: loop_depth, arguments, constants, local_arrays,
 * cost (LLVM's), last_call, callee_*, caller_* (sizes after simplification)
 * and log_heat_ratio (to the hottest call, logarithm to base 2).
 *
 * Examples:
 *   $ inline-sites work/bzip2 | csv-sort -k heat --numeric --reverse
 */
#include "base/filter.h"
#include "inline/features.h"
#include "table/csvio.h"
#include HELP
#include <math.h>

static bool no_heat;
static const char *out, *decisions, *level = "-O2";
static const struct opt options[] = {
    { 'd', "decisions", STR, &decisions, "FILE", "say what these do, not what the default does", 0, 0 },
    { 0, "level", WORD, &level, "-O2|-O3|-Os|-Oz", "optimisation", 0, 0 },
    { 0, "no-heat", FLAG, &no_heat, NULL, "do not run the program; heat stays empty", 0, 0 },
    { 'o', "output", STR, &out, "FILE", "write here instead of standard output", 0, 0 },
    { 0 }
};

static long levels(str chain)
{
    long n = 0;
    for (size_t i = 0; i + 2 < chain.n; i++) n += chain.s[i] == ' ' && chain.s[i + 1] == '@' && chain.s[i + 2] == ' ';
    return n;
}

/* `base`: index of the call it is, or is a copy of; -1: not known */
static void row(csvw *w, const struct work *k, const struct features *f, const struct live_site *s, long base,
                const char *inlined)
{
    const struct ir_call *c = base < 0 ? NULL : &f->base.call[base];
    const char *why = work_illegal(k, s->callee, s->chain);
    csvw_cstr(w, k->program->name);
    csvw_str(w, s->callee);
    csvw_str(w, c ? f->base.function[c->caller].name : (str){ "", 0 });
    csvw_str(w, s->chain);
    csvw_str(w, c ? c->file : (str){ "", 0 });
    if (c) csvw_int(w, c->line), csvw_int(w, c->column);
    else csvw_empty(w), csvw_empty(w);
    csvw_int(w, levels(s->chain));
    if (c && f->heat) csvw_int(w, (int64_t)f->heat[base]);
    else csvw_empty(w);
    csvw_cstr(w, inlined);
    csvw_cstr(w, why ? "no" : "yes");
    csvw_cstr(w, why);
    for (int i = 0; i < FEATURES; i++) csvw_known(w, c ? f->value[base][i] : NAN);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one work directory expected");
    struct work *k = work_open(argv[i]);
    struct live wanted = { 0 }, legal = { 0 }, did = { 0 }, seen = { 0 };
    if (decisions) {
        live_read(&wanted, decisions);
        work_only_legal(k, &wanted, &legal);
    }
    const char *why = work_build(k, level, decisions ? &legal : NULL, NULL, NULL, true, &did);
    if (why) die("%s: %s", k->program->name, why);
    struct features *f = features_of(k, !no_heat);
    csvw *w = csvw_open(out);
    csvw_names(w, "program,callee,caller,chain,file,line,column,level,heat,inlined,legal,reason");
    for (int j = 0; j < FEATURES; j++) csvw_cstr(w, feature_name[j]);
    csvw_end(w);
    for (size_t j = 0; j < f->base.ncalls; j++) {
        const struct ir_call *c = &f->base.call[j];
        struct live_site s = { f->base.function[c->callee].name, c->chain, false };
        const struct live_site *d = live_find(&did, s.callee, s.chain);
        row(w, k, f, &s, (long)j, !d ? "" : d->inlined ? "yes" : "no");
        live_add(&seen, s.callee, s.chain, false);
    }
    live_sort(&seen);
    for (size_t j = 0; j < did.n; j++) {
        const struct live_site *s = &did.v[j];
        if (!live_find(&seen, s->callee, s->chain))
            row(w, k, f, s, features_find(f, s->callee, s->chain), s->inlined ? "yes" : "no");
    }
    return csvw_close(w);
}
