/* inline-sites - the calls of a program about which an inliner decides
 *
 * Usage: inline-sites [--decisions=FILE] [--no-heat] WORK
 *
 * WORK is a directory made by inline-module.  Writes one row for each call
 * of a function with a body (in the program, or in the same file where WORK
 * is compiled per file): those of the source, in its order, then the
 * copies that appear in other functions when the compiler's default (or the
 * decisions of FILE) inlines their callers, sorted.  Memory: all rows.
 *
 * Columns out: program, callee, caller (symbols), chain (the key:
 * function:line offset:column, innermost first, " @ " between levels of
 * inlining), file, line, column, level (of inlining around it), heat
 * (executions in the search runs, of all copies together), inlined (yes, no,
 * or empty where the build never met the call), legal (yes, no), reason (why
 * not), threshold (of the default's heuristic for this call), then the
 * features: loop_depth, arguments, constants, local_arrays, cost (the
 * compiler's), last_call, callee_*, caller_* (sizes after simplification)
 * and log_heat_ratio (to the hottest call, logarithm to base 2).  With gcc
 * only cost (growth in its own units) is known of these, and no heat.
 *
 * Examples:
 *   $ inline-sites work/bzip2 | csv-sort -k heat:nr
 */
#include "base/filter.h"
#include "inline/features.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool no_heat;
static const char *out, *decisions, *compiler;
static enum level level = LEVEL_O2;
static const struct opt options[] = {
    { 'd', "decisions", STR, &decisions, "FILE", "say what these do, not what the default does" },
    BUILD_OPTIONS(level, compiler),
    { 0, "no-heat", FLAG, &no_heat, NULL, "do not run the program; heat stays empty" },
    OUTPUT_OPTION(out),
    { 0 } };

/* the calls of the source, by what all copies of a call share */
static struct intern key;
static size_t *call_of;

static void index_calls(const struct work *k)
{
    struct buf b = { 0 };
    call_of = xmalloc(k->ncalls + 1, sizeof *call_of);
    for (size_t i = 0; i < k->ncalls; i++) {
        site_base_key(&b, (struct site){ k->call[i].callee, k->call[i].chain });
        size_t before = key.n;
        uint32_t n = intern(&key, (str){ b.s, b.n });
        if (n == before) call_of[n] = i;
    }
    free(b.s);
}

static const struct call_row *call_find(const struct work *k, str callee, str chain)
{
    long n = site_base_find(&key, (struct site){ callee, chain });
    return n < 0 ? NULL : &k->call[call_of[n]];
}

/* `c`: the call it is, or is a copy of; `base`: its place in the features; NULL, -1: not known */
static void row(csvw *w, const struct work *k, const struct features *f, str callee, str chain,
                const struct call_row *c, long base, const struct live_site *done)
{
    static str *step;
    static size_t cap;
    const char *why = work_illegal(k, callee, chain);
    csvw_cstr(w, k->program->name);
    csvw_str(w, callee);
    csvw_str(w, c ? c->caller : (str){ "", 0 });
    csvw_str(w, chain);
    csvw_str(w, c ? c->file : (str){ "", 0 });
    csvw_known(w, c ? c->line : NAN);
    csvw_known(w, c ? c->column : NAN);
    csvw_int(w, (int64_t)site_steps(chain, &step, &cap) - 1);
    csvw_known(w, base >= 0 && f->heat ? (double)f->heat[base] : NAN);
    csvw_cstr(w, !done ? "" : done->inlined ? "yes" : "no");
    csvw_cstr(w, why ? "no" : "yes");
    csvw_cstr(w, why);
    csvw_known(w, c ? c->threshold : NAN);
    for (int i = 0; i < FEATURES; i++) {
        double v = base >= 0 ? f->value[base][i] : NAN;
        if (!f && c && strcmp(feature_name[i], "cost") == 0) v = c->cost;
        csvw_known(w, v);
    }
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one work directory expected");
    struct work *k = work_open_for(argv[i], compiler);
    struct live wanted = { 0 }, legal = { 0 }, did = { 0 }, seen = { 0 };
    if (decisions) {
        live_read(&wanted, decisions);
        work_only_legal(k, &wanted, &legal);
    }
    const char *why = work_build(k, level_name[level], decisions ? &legal : NULL, NULL, NULL, true, &did);
    if (why) die("%s: %s", k->program->name, why);
    struct features *f = k->llvm ? features_of(k, !no_heat) : NULL;
    bool same_order = f && k->scope != SCOPE_FILE && f->base.ncalls == k->ncalls;
    index_calls(k);
    csvw *w = csvw_open(out);
    csvw_names(w, "program,callee,caller,chain,file,line,column,level,heat,inlined,legal,reason,threshold");
    for (int j = 0; j < FEATURES; j++) csvw_cstr(w, feature_name[j]);
    csvw_end(w);
    for (size_t j = 0; j < k->ncalls; j++) {
        const struct call_row *c = &k->call[j];
        long base = same_order ? (long)j : f ? features_find(f, c->callee, c->chain) : -1;
        row(w, k, f, c->callee, c->chain, c, base, live_find(&did, (struct site){ c->callee, c->chain }));
        live_add(&seen, (struct site){ c->callee, c->chain }, false);
    }
    live_sort(&seen);
    for (size_t j = 0; j < did.n; j++) {
        const struct live_site *s = &did.v[j];
        if (live_find(&seen, s->site)) continue;
        long base = f ? features_find(f, s->site.callee, s->site.chain) : -1;
        row(w, k, f, s->site.callee, s->site.chain, call_find(k, s->site.callee, s->site.chain), base, s);
    }
    return csvw_close(w);
}
