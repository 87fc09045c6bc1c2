/* clang.c - the adapter for clang: the program as LLVM modules, decided by a replay file (see llvm.h and compiler.h).
 *
 * Laid out: module.bc, the whole program, only main public; per file, unitK.bc for each source as well, which are then
 * what is built.  module-Os.bc, module-Oz.bc: the same compiled for size, since the functions' attributes differ;
 * -O3 shares the modules of -O2. */
#include "inline/calls.h"
#include "inline/compiler.h"
#include "inline/ir.h"
#include "inline/llvm.h"
#include "inline/lto.h"
#include "inline/tool.h"
#include "base/out.h"
#include "table/csvio.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *const levels[] = { "-O2", "-Os", "-Oz" };

static const char *suffix(const char *level)
{
    return strcmp(level, "-Os") == 0 || strcmp(level, "-Oz") == 0 ? level : "";
}

char *clang_module(const char *work, const char *level)
{
    return xformat("%s/module%s.bc", work, suffix(level));
}

char *clang_unit(const char *work, const char *level, size_t k)
{
    return xformat("%s/unit%zu%s.bc", work, k, suffix(level));
}

/* Is the linker, or who asks dlsym, to find more than main by its name? */
static bool names_symbols(char *const *libraries)
{
    static const char *const exact[] = { "-rdynamic", "-E", "-u", "-e", NULL };
    static const char *const with[] = { "wrap", "export-dynamic", "dynamic-list", "defsym", "undefined", "entry",
                                        "init", "fini" };
    bool any = false;
    for (char *const *w = libraries; w && *w; w++)
        for (const char *s = *w, *end; *s && !any; s = end + (*end == ',')) {       /* words of -Wl,A,B too */
            end = strchrnul(s, ',');
            char *word = xformat("%.*s", (int)(end - s), s), *name = word + strspn(word, "-");
            any = one_of(exact, word);
            for (size_t i = 0; i < sizeof with / sizeof *with && name > word; i++)
                any = any || strncmp(name, with[i], strlen(with[i])) == 0;
            free(word);
        }
    return any;
}

static const char *compile_all(const struct llvm *l, const char *work, const struct program *p, const char *level,
                               enum build_scope scope)
{
    static char sentence[600];
    size_t n = p->nunits;
    char **module = xcalloc(n + 1, sizeof *module);
    const char *why = NULL;
    for (size_t i = 0; i < n; i++) module[i] = clang_unit(work, level, i);
    for (size_t i = 0; i < n && !why; i++) {
        struct args flags = { 0 };
        if (scope == SCOPE_LTO) unit_flags(&flags, &p->unit[i]);
        else args(&flags, p->unit[i].flags);
        arg(&flags, level);                              /* last: it wins over the program's own level */
        why = llvm_compile(l, p->unit[i].source, flags.v, p->unit[i].directory,
                           scope != SCOPE_LTO, module[i]);
        args_free(&flags);
        if (why) {
            snprintf(sentence, sizeof sentence, "%s: %s", p->unit[i].source, why);
            why = sentence;
        }
    }
    char *out = clang_module(work, level);
    if (!why) why = llvm_merge(l, module, names_symbols(p->libraries), out);
    for (size_t i = 0; i < n; i++) {
        free(module[i]);
    }
    free(module);
    free(out);
    return why;
}

static void write_calls(csvw *w, const struct ir_module *m, const struct remarks *r)
{
    for (size_t i = 0; i < m->ncalls; i++) {
        const struct ir_call *c = &m->call[i];
        str callee = m->function[c->callee].name, caller = m->function[c->caller].name;
        const struct remark *word = remark_at(r, callee, caller, c->line, c->column);
        csvw_str(w, callee);
        csvw_str(w, caller);
        csvw_str(w, c->chain);
        csvw_str(w, c->file);
        csvw_int(w, c->line);
        csvw_int(w, c->column);
        csvw_known(w, word ? word->cost : NAN);
        csvw_known(w, word ? word->threshold : NAN);
        csvw_end(w);
    }
}

static void write_never(csvw *w, const struct remarks *r, struct intern *seen)
{
    for (size_t i = 0; i < r->n; i++) {
        size_t before = seen->n;
        if (r->v[i].kind != NEVER || intern(seen, r->v[i].callee) < before) continue;
        csvw_str(w, r->v[i].callee);
        csvw_str(w, r->v[i].reason);
        csvw_end(w);
    }
}

/* the calls of the source, and what the compiler, asked about every one of them, says */
static const char *find_calls(const struct llvm *l, const char *work, size_t units)
{
    char *text = out_own(work, "calls.ll");
    struct call_tables t = call_tables_open(work);
    struct intern seen = { 0 };
    const char *why = NULL;
    for (size_t k = 0; k < (units ? units : 1) && !why; k++) {
        char *module = units ? clang_unit(work, "-O2", k) : clang_module(work, "-O2");
        struct llvm_build b = { .module = module, .level = "-O2", .original = true, .out = text, .text = true };
        struct remarks r = { 0 };
        why = llvm_build(l, &b, &r);
        if (!why) why = llvm_text(l, module, NULL, text);
        if (!why) {
            struct ir_module m;
            ir_read(&m, text);
            write_never(t.never, &r, &seen);
            remarks_sort(&r);
            write_calls(t.calls, &m, &r);
            ir_free(&m);
        }
        remarks_free(&r);
        free(module);
    }
    call_tables_close(&t);
    unlink(text);
    free(text);
    intern_free(&seen);
    return why;
}

static const char *clang_make(const struct compiler *c, const char *work, const struct program *p,
                              enum build_scope scope, const char *profile)
{
    bool per_file = scope == SCOPE_FILE;
    const char *why = NULL;
    for (size_t i = 0; i < sizeof levels / sizeof *levels && !why; i++)
        why = compile_all(c->tools, work, p, levels[i], scope);
    if (!why) why = find_calls(c->tools, work, per_file ? p->nunits : 0);
    if (!why && scope == SCOPE_LTO) why = lto_make(c->tools, work, p, profile);
    for (size_t i = 0; i < sizeof levels / sizeof *levels && !per_file; i++)
        for (size_t k = 0; k < p->nunits; k++) {
            char *module = clang_unit(work, levels[i], k);
            unlink(module);
            free(module);
        }
    return why;
}

/* The middle end runs once: its result is both read for the calls left and turned into code. */
static const char *build_and_read(const struct llvm *l, const char *work, struct llvm_build *b, bool object,
                                  struct remarks *r, struct ir_module *m)
{
    const char *out = b->out;
    char *bitcode = out_own(work, "build.bc");
    char *text = out_own(work, "build.ll");
    b->bitcode = true;
    b->object = false;
    b->out = bitcode;
    const char *why = llvm_build(l, b, r);
    if (!why) why = llvm_text(l, bitcode, NULL, text);
    if (!why) ir_read(m, text);
    struct llvm_build code = { .module = bitcode, .level = b->level, .optimised = true, .object = object, .out = out,
                               .fixed = b->fixed, .libraries = b->libraries };
    if (!why && out) why = llvm_build(l, &code, NULL);
    unlink(bitcode);
    unlink(text);
    free(bitcode);
    free(text);
    return why;
}

/* do the flags of each of these units say -fno-pie?  A module says so by what it lacks, which clang does not look at */
static bool fixed_place(const struct unit *u, size_t n)
{
    bool all = true;
    for (size_t k = 0; k < n && all; k++) {
        all = false;
        for (char *const *f = u[k].flags; f && *f; f++)
            if (strcasecmp(*f, "-fno-pie") == 0 || strcasecmp(*f, "-fno-pic") == 0) all = true;
            else if (strcasecmp(*f, "-fpie") == 0 || strcasecmp(*f, "-fpic") == 0) all = false;
    }
    return all;
}

/* units: those of the module, n of them */
static const char *build_one(const struct llvm *l, const struct build *b, const char *module, const struct unit *units,
                             size_t n, const char *out, const struct call_list *calls, struct live *did)
{
    struct llvm_build one = { .module = module, .level = b->level, .original = !b->wanted, .calls = *calls,
                              .threshold = b->threshold, .out = out, .object = b->scope == SCOPE_FILE,
                              .fixed = fixed_place(units, n), .libraries = b->program->libraries };
    struct remarks r = { 0 };
    struct ir_module m = { 0 };
    const char *why =
        b->sites || !out ? build_and_read(l, b->work, &one, b->scope == SCOPE_FILE, &r, &m) : llvm_build(l, &one, &r);
    if (!why && did) live_of_build(did, &r, &m);
    ir_free(&m);
    remarks_free(&r);
    return why;
}

static const char *build_files(const struct llvm *l, const struct build *b, const struct call_list *calls,
                               struct live *did)
{
    size_t n = b->program->nunits;
    char **object = xcalloc(n + 1, sizeof *object);
    const char *why = NULL;
    for (size_t k = 0; k < n && !why; k++) {
        char *module = clang_unit(b->work, b->level, k);
        if (b->exe) object[k] = xformat("%s.%zu.o", b->exe, k);
        why = build_one(l, b, module, &b->program->unit[k], 1, object[k], calls, did);
        free(module);
    }
    if (!why && b->exe) why = llvm_plain(l, object, b->program->libraries, b->exe);
    for (size_t k = 0; k < n; k++) {
        if (object[k]) unlink(object[k]);
        free(object[k]);
    }
    free(object);
    return why;
}

static const char *clang_build(const struct compiler *c, const struct build *b, struct live *did)
{
    struct call_list calls = { 0 };
    if (b->scope == SCOPE_LTO) return lto_build(c->tools, b, did);
    if (b->wanted) calls = live_calls(b->wanted);
    char *module = clang_module(b->work, b->level);
    const struct program *p = b->program;
    const char *why = b->scope == SCOPE_FILE ? build_files(c->tools, b, &calls, did)
                                  : build_one(c->tools, b, module, p->unit, p->nunits, b->exe, &calls, did);
    free(module);
    free((void *)(uintptr_t)calls.callee);
    free((void *)(uintptr_t)calls.chain);
    return why;
}

struct compiler *clang_find(int version, const char **why)
{
    const struct llvm *l = llvm_find(version, why);
    if (!l) return NULL;
    struct compiler *c = xcalloc(1, sizeof *c);
    *c = (struct compiler){ .version = l->version, .contexts = true, .tools = l, .make = clang_make,
                            .build = clang_build };
    snprintf(c->name, sizeof c->name, "clang-%d", l->version);
    return c;
}

const struct llvm *compiler_llvm(const struct compiler *c)
{
    return c && c->make == clang_make ? c->tools : NULL;
}
