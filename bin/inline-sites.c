/* inline-sites - the calls of a program about which an inliner decides
 *
 * Usage: inline-sites [--no-heat] WORK
 *
 * WORK is a directory made by inline-module.  Writes one row for each call
 * of a function with a body: those of the source, then the copies that
 * appear in other functions when the compiler's default inlines their
 * callers.  Order: of the module, copies sorted.  Memory: all rows.
 *
 * Columns out: callee, caller (symbols), chain (the key: function:line
 * offset:column, innermost first, " @ " between levels of inlining), file,
 * line, column, level (levels of inlining around it), loop_depth, heat
 * (executions in the search runs, of all copies together), default (yes, no,
 * or empty where the default never met the call), cost, threshold (of the
 * default), legal (yes, no), reason (why not).
 *
 * Examples:
 *   $ inline-sites work/bzip2 | csv-sort -k heat --numeric --reverse
 */
#include "base/filter.h"
#include "inline/heat.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static bool no_heat;
static const char *out;
static const struct opt options[] = {
    { 'o', "output", STR, &out, "FILE", "write here instead of standard output", 0, 0 },
    { 0, "no-heat", FLAG, &no_heat, NULL, "do not run the program; heat stays empty", 0, 0 },
    { 0 }
};

/* the default's word about a call: by chain where it was inlined, by place where it was not */
static const struct remark *said(const struct remarks *r, str callee, str chain, str caller, uint32_t line, uint32_t column)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].kind == INLINED && str_eq(r->v[i].callee, callee) && str_eq(r->v[i].chain, chain)) return &r->v[i];
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].kind != INLINED && r->v[i].line == line && r->v[i].column == column && str_eq(r->v[i].callee, callee)
            && str_eq(r->v[i].caller, caller)) return &r->v[i];
    return NULL;
}

struct place { str caller, file; uint32_t line, column, level, depth; };

static void row(csvw *w, const struct work *k, str callee, str chain, const struct place *p, const uint64_t *heat, const struct remark *r)
{
    csvw_str(w, callee);
    csvw_str(w, p->caller);
    csvw_str(w, chain);
    csvw_str(w, p->file);
    csvw_int(w, p->line);
    csvw_int(w, p->column);
    csvw_int(w, p->level);
    csvw_int(w, p->depth);
    if (heat) csvw_int(w, (int64_t)*heat);
    else csvw_empty(w);
    csvw_cstr(w, !r ? "" : r->kind == INLINED ? "yes" : "no");
    if (r) csvw_known(w, r->cost), csvw_known(w, r->threshold);
    else csvw_empty(w), csvw_empty(w);
    const char *why = work_illegal(k, callee, chain);
    csvw_cstr(w, why ? "no" : "yes");
    csvw_cstr(w, why);
    csvw_end(w);
}

static void default_build(const struct work *k, struct remarks *r, struct ir_module *m)
{
    char *text = xformat("%s/.sites.%ld.ll", k->path, (long)getpid());
    struct llvm_build b = { .module = work_module(k, "-O2"), .level = "-O2", .original = true, .out = text, .text = true };
    const char *why = llvm_build(k->llvm, &b, r);
    if (why) die("%s: %s", k->program->name, why);
    ir_read(m, text);
    unlink(text);
    free(text);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one work directory expected");
    struct work *k = work_open(argv[i]);
    struct ir_module base, last;
    struct remarks r = { 0 };
    uint64_t *heat = NULL;
    if (no_heat) {
        char *text = xformat("%s/.base.%ld.ll", k->path, (long)getpid());
        const char *why = llvm_text(k->llvm, work_module(k, "-O2"), text);
        if (why) die("%s", why);
        ir_read(&base, text);
        unlink(text);
    } else heat = heat_count(k, &base);
    default_build(k, &r, &last);
    csvw *w = csvw_open(out);
    csvw_names(w, "callee,caller,chain,file,line,column,level,loop_depth,heat,default,cost,threshold,legal,reason");
    csvw_end(w);
    struct live seen = { 0 }, copies = { 0 };
    for (size_t j = 0; j < base.ncalls; j++) {
        const struct ir_call *c = &base.call[j];
        str callee = base.function[c->callee].name, caller = base.function[c->caller].name;
        struct place p = { caller, c->file, c->line, c->column, 0, c->depth };
        row(w, k, callee, c->chain, &p, heat ? &heat[j] : NULL, said(&r, callee, c->chain, caller, c->line, c->column));
        live_add(&seen, callee, c->chain, false);
    }
    live_sort(&seen);
    live_of_build(&copies, &r, &last);
    for (size_t j = 0; j < copies.n; j++) {
        const struct live_site *s = &copies.v[j];
        uint32_t level = 0;
        for (size_t b = 0; b + 2 < s->chain.n; b++) level += s->chain.s[b] == ' ' && s->chain.s[b + 1] == '@';
        if (level == 0 || live_find(&seen, s->callee, s->chain)) continue;
        struct remark not = { .kind = OTHER, .cost = NAN, .threshold = NAN };
        const struct remark *word = s->inlined ? said(&r, s->callee, s->chain, (str){ "", 0 }, 0, 0) : &not;
        struct place p = { word && s->inlined ? word->caller : (str){ "", 0 }, { "", 0 }, word ? word->line : 0, word ? word->column : 0, level, 0 };
        row(w, k, s->callee, s->chain, &p, NULL, word);
    }
    return csvw_close(w);
}
