/* work.c - see work.h */
#include "inline/work.h"
#include "base/message.h"
#include "table/csvio.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const levels[] = { "-O2", "-Os",
                                      "-Oz" }; /* modules made, whose attributes differ; -O3 shares that of -O2 */

static char *module_path(const char *work, const char *level)
{
    return xformat("%s/module%s.bc", work, strcmp(level, "-Os") == 0 || strcmp(level, "-Oz") == 0 ? level : "");
}

static void compile_all(const char *path, const struct program *p, const struct llvm *l, const char *level)
{
    size_t n = 0, nflags = 0;
    while (p->sources[n]) n++;
    while (p->flags && p->flags[nflags]) nflags++;
    char **module = xcalloc(n + 1, sizeof *module), **flags = xcalloc(nflags + 2, sizeof *flags);
    for (size_t i = 0; i < nflags; i++) flags[i] = p->flags[i];
    flags[nflags] = xstrdup(level);                      /* last: it wins over the program's own level */
    char *absolute = realpath(path, NULL);
    for (size_t i = 0; i < n; i++) {
        module[i] = xformat("%s/%zu.bc", absolute, i);
        const char *why = llvm_compile(l, p->sources[i], flags, p->directory, module[i]);
        if (why) die("%s: %s: %s", p->name, p->sources[i], why);
    }
    char *out = module_path(absolute, level);
    const char *why = llvm_merge(l, module, out);
    if (why) die("%s: %s", p->name, why);
    for (size_t i = 0; i < n; i++) unlink(module[i]);
}

/* the callees that the compiler, asked about every call, says can never be inlined */
static void find_never(const char *path, const struct program *p, const struct llvm *l)
{
    char *module = module_path(path, "-O2"), *out = xformat("%s/never.ll", path),
         *table = xformat("%s/never.csv", path);
    struct llvm_build b = { .module = module, .level = "-O2", .original = true, .out = out, .text = true };
    struct remarks r = { 0 };
    const char *why = llvm_build(l, &b, &r);
    if (why) die("%s: %s", p->name, why);
    unlink(out);
    struct intern seen = { 0 };
    csvw *w = csvw_open(table);
    csvw_names(w, "callee,reason");
    csvw_end(w);
    for (size_t i = 0; i < r.n; i++) {
        size_t before = seen.n;
        if (r.v[i].kind != NEVER || intern(&seen, r.v[i].callee) < before) continue;
        csvw_str(w, r.v[i].callee);
        csvw_str(w, r.v[i].reason);
        csvw_end(w);
    }
    csvw_close(w);
    intern_free(&seen);
    remarks_free(&r);
}

static void write_words(struct buf *b, char **v)
{
    for (; v && *v; v++) buf_format(b, "%s%s", b->n ? " " : "", *v);
}

void work_make(const char *path, const struct program *p, const struct llvm *l)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) die_errno("%s", path);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) compile_all(path, p, l, levels[i]);
    find_never(path, p, l);
    struct buf build = { 0 };
    write_words(&build, p->sources);
    write_words(&build, p->flags);
    write_words(&build, p->libraries);
    csvw *w = csvw_open(xformat("%s/program.csv", path));    /* last: with it the directory is complete */
    csvw_names(w, "name,set,package,build,search,confirm,directory,clang");
    csvw_end(w);
    csvw_cstr(w, p->name);
    csvw_cstr(w, p->set);
    csvw_cstr(w, p->package);
    csvw_cstr(w, build.s);
    csvw_cstr(w, p->search);
    csvw_cstr(w, p->confirm);
    csvw_cstr(w, p->directory);
    csvw_int(w, l->version);
    csvw_end(w);
    csvw_close(w);
}

struct work *work_open(const char *path)
{
    struct work *w = xcalloc(1, sizeof *w);
    w->path = xstrdup(path);
    char *table = xformat("%s/program.csv", path);
    if (access(table, R_OK) != 0) die_errno("%s (made by inline-module)", table);
    static struct arena text;
    csv *t = csv_open(table);
    int name = csv_need(t, "name"), directory = csv_need(t, "directory"), clang = csv_need(t, "clang");
    if (!csv_next(t)) die_at(table, 2, "no row");
    const char *n = csv_cstr(t, name, &text), *d = csv_cstr(t, directory, &text);
    int version = (int)csv_int(t, clang);
    csv_close(t);
    w->program = program_of_table(table, n, d);
    const char *why;
    w->llvm = llvm_find(version, &why);
    if (!w->llvm) die("%s", why);
    snprintf(w->compiler, sizeof w->compiler, "clang-%d", version);
    char *never = xformat("%s/never.csv", path);
    t = csv_open(never);
    for (int c = csv_need(t, "callee"); csv_next(t);) intern(&w->never, csv_str(t, c));
    csv_close(t);
    return w;
}

const char *work_module(const struct work *w, const char *level)
{
    return module_path(w->path, level);
}

const char *work_illegal(const struct work *w, str callee, str chain)
{
    if (!live_stable(chain)) return "merged location";
    if (live_recursive(callee, chain)) return "recursive";
    if (intern_find(&w->never, callee) >= 0) return "never inlinable";
    return NULL;
}

bool work_legal(const struct work *w, str callee, str chain)
{
    return !work_illegal(w, callee, chain);
}

void work_only_legal(const struct work *w, const struct live *wanted, struct live *legal)
{
    live_clear(legal);
    for (size_t i = 0; i < wanted->n; i++) {
        const struct live_site *s = &wanted->v[i];
        if (!s->inlined || work_legal(w, s->callee, s->chain)) live_add(legal, s->callee, s->chain, s->inlined);
    }
    live_sort(legal);
}

/* The middle end runs once: its result is both read for the calls left and turned into the executable. */
static const char *build_and_read(const struct work *w, struct llvm_build *b, const char *exe, struct remarks *r,
                                  struct ir_module *m)
{
    char *bitcode = xformat("%s/.build.%ld.bc", w->path, (long)getpid());
    char *text = xformat("%s/.build.%ld.ll", w->path, (long)getpid());
    b->bitcode = true;
    b->out = bitcode;
    const char *why = llvm_build(w->llvm, b, r);
    if (!why) why = llvm_text(w->llvm, bitcode, NULL, text);
    if (!why) ir_read(m, text);
    struct llvm_build code = { .module = bitcode, .level = b->level, .optimised = true, .out = exe,
                               .libraries = b->libraries };
    if (!why && exe) why = llvm_build(w->llvm, &code, NULL);
    unlink(bitcode);
    unlink(text);
    free(bitcode);
    free(text);
    return why;
}

const char *work_build(const struct work *w, const char *level, const struct live *wanted, const char *threshold,
                       const char *exe, bool sites, struct live *did)
{
    struct call_list calls = { 0 };
    if (wanted) calls = live_calls(wanted);
    struct llvm_build b = { .module = work_module(w, level), .level = level, .original = !wanted, .calls = calls,
                            .threshold = threshold, .out = exe, .libraries = w->program->libraries };
    struct remarks r = { 0 };
    struct ir_module m = { 0 };
    const char *why = sites || !exe ? build_and_read(w, &b, exe, &r, &m) : llvm_build(w->llvm, &b, &r);
    if (!why && did) live_of_build(did, &r, &m);
    ir_free(&m);
    remarks_free(&r);
    free((void *)(uintptr_t)calls.callee);
    free((void *)(uintptr_t)calls.chain);
    return why;
}
