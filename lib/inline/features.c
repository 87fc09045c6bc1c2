/* features.c - see features.h */
#include "inline/features.h"
#include "base/message.h"
#include "base/out.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const feature_name[FEATURES] = {
    "loop_depth",    "arguments",           "constants",     "local_arrays",    "cost",
    "last_call",     "callee_local",        "callee_uses",   "callee_blocks",   "callee_instructions",
    "callee_calls",  "callee_loads",        "callee_stores", "callee_branches", "callee_loops",
    "caller_blocks", "caller_instructions", "caller_uses",   "caller_calls",    "log_heat_ratio",
};

static const char simplify[] = "function(sroa,early-cse,simplifycfg,instcombine)";

static const struct ir_function *simplified_function(const struct ir_module *m, str name)
{
    long i = ir_find(m, name);
    return i < 0 ? NULL : &m->function[i];
}

/* LLVM's cost of every call, from the remarks of a build whose threshold nothing passes */
static void read_costs(const struct work *w, struct remarks *r)
{
    char *text = out_own(w->path, "cost.ll");
    struct llvm_build b = { .module = clang_module(w->path, "-O2"), .level = "-O2", .original = true,
                            .threshold = "-1000000", .full_cost = true, .out = text, .text = true };
    const char *why = llvm_build(w->llvm, &b, r);
    if (why) die("%s: %s", w->program->name, why);
    unlink(text);
    free(text);
}

static void fill(double *v, const struct ir_call *c, const struct ir_function *callee, const struct ir_function *caller,
                 double cost, double heat)
{
    double all[FEATURES] = { c->depth,
                             c->arguments,
                             c->constants,
                             c->allocas,
                             cost,
                             callee->local && callee->uses == 1,
                             callee->local,
                             callee->uses,
                             callee->blocks,
                             callee->instructions,
                             callee->calls,
                             callee->loads,
                             callee->stores,
                             callee->branches,
                             callee->loops,
                             caller->blocks,
                             caller->instructions,
                             caller->uses,
                             caller->calls,
                             heat };
    memcpy(v, all, sizeof all);
}

struct features *features_of(const struct work *w, bool count)
{
    struct features *f = xcalloc(1, sizeof *f);
    char *text = out_own(w->path, "features.ll");
    const char *why;
    if (count) f->heat = heat_count(w, &f->base);
    else {
        why = llvm_text(w->llvm, clang_module(w->path, "-O2"), NULL, text);
        if (why) die("%s: %s", w->program->name, why);
        ir_read(&f->base, text);
    }
    why = llvm_text(w->llvm, clang_module(w->path, "-O2"), simplify, text);
    if (why) die("%s: %s", w->program->name, why);
    struct ir_module m;
    ir_read(&m, text);
    unlink(text);
    free(text);
    struct remarks r = { 0 };
    read_costs(w, &r);
    remarks_sort(&r);
    struct buf b = { 0 };
    struct intern simple = { 0 };
    uint32_t *call = NULL;
    size_t cap = 0, capfirst = 0;
    for (size_t i = 0; i < m.ncalls; i++) {
        site_base_key(&b, (struct site){ m.function[m.call[i].callee].name, m.call[i].chain });
        size_t before = simple.n;
        uint32_t k = intern(&simple, (str){ b.s, b.n });
        call = grow(call, (size_t)k + 1, &cap, sizeof *call);
        if (k == before) call[k] = (uint32_t)i;
    }
    uint64_t hottest = 1;
    for (size_t i = 0; f->heat && i < f->base.ncalls; i++) if (f->heat[i] > hottest) hottest = f->heat[i];
    f->value = xmalloc(f->base.ncalls, sizeof *f->value);
    for (size_t i = 0; i < f->base.ncalls; i++) {
        const struct ir_call *c = &f->base.call[i];
        const struct ir_function *callee = &f->base.function[c->callee], *caller = &f->base.function[c->caller];
        site_base_key(&b, (struct site){ callee->name, c->chain });
        size_t before = f->key.n;
        uint32_t k = intern(&f->key, (str){ b.s, b.n });
        f->first = grow(f->first, (size_t)k + 1, &capfirst, sizeof *f->first);
        if (k == before) f->first[k] = (uint32_t)i;
        long s = intern_find(&simple, (str){ b.s, b.n });
        const struct remark *word = remark_at(&r, callee->name, caller->name, c->line, c->column);
        const struct ir_function *e = simplified_function(&m, callee->name), *o = simplified_function(&m, caller->name);
        fill(f->value[i], s < 0 ? c : &m.call[call[s]], e ? e : callee, o ? o : caller, word ? word->cost : NAN,
             f->heat ? log2((1 + (double)f->heat[i]) / (1 + (double)hottest)) : NAN);
    }
    free(b.s);
    free(call);
    intern_free(&simple);
    remarks_free(&r);
    ir_free(&m);
    return f;
}

long features_find(const struct features *f, str callee, str chain)
{
    long k = site_base_find(&f->key, (struct site){ callee, chain });
    return k < 0 ? -1 : (long)f->first[k];
}
