/* lto.c - see lto.h.  Command lines were tried with clang and lld 14, 16 and 19. */
#include "inline/lto.h"
#include "inline/ir.h"
#include "inline/profile.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/out.h"
#include "table/csvio.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *lto_profile_path(const char *work, const char *profile)
{
    return !profile || strcmp(profile, "none") == 0 ? NULL : xformat("%s/%s.profdata", work, profile);
}

static void each(struct args *a, const char *const *v)
{
    for (; *v; v++) arg(a, *v);
}

static bool cold_small;

void lto_cold_small(bool on)
{
    cold_small = on;
}

void lto_cold_words(struct args *a, bool link)
{
    if (!link) arg(a, "-mllvm");
    arg(a, link ? "-Wl,-mllvm,-pgso-lwss-only=false" : "-pgso-lwss-only=false");
}

void lto_compile_words(struct args *a, const char *level, const char *profile, const char *data)
{
    static const char *const fixed[] = { "-flto", "-gdwarf-4", "-gline-tables-only", "-fdebug-info-for-profiling",
                                         NULL };
    arg(a, level);
    each(a, fixed);
    if (data) profile_use_words(a, profile, data);
    if (data && cold_small) lto_cold_words(a, false);
}

void lto_link_words(struct args *a, const struct llvm *l, const char *level)
{
    bool size = strcmp(level, "-Os") == 0 || strcmp(level, "-Oz") == 0; /* the objects say so, the linker has no such */
    arg(a, size ? "-O2" : level);
    arg(a, "-flto");
    arg(a, "-no-pie");
    arg(a, "-fuse-ld=lld");
    arg(a, xformat("--ld-path=%s", l->lld));
    if (cold_small) lto_cold_words(a, true);
}

void lto_replay_words(struct args *a, const char *file, bool open, bool link)
{
    const char *option[] = { xformat("-cgscc-inline-replay=%s", file), "-cgscc-inline-replay-scope=Module",
                             open ? "-cgscc-inline-replay-fallback=Original"
                                  : "-cgscc-inline-replay-fallback=NeverInline" };
    for (size_t i = 0; i < 3; i++) {
        if (!link) arg(a, "-mllvm");
        arg(a, link ? xformat("-Wl,-mllvm,%s", option[i]) : option[i]);
    }
}

static void replay_line(struct buf *b, const struct live_site *s)
{
    str chain = site_bare(s->site.chain);
    buf_format(b, ": '%.*s' %s into 'x' at callsite %.*s\n", (int)s->site.callee.n, s->site.callee.s,
               s->inlined ? "inlined" : "will not be inlined", (int)chain.n, chain.s);
}

void lto_replay_text(struct buf *b, const struct live *l, const char *stage, bool open)
{
    for (size_t i = 0; i < l->n; i++)
        if ((l->v[i].inlined || open) && str_is(site_stage(l->v[i].site.chain), stage)) replay_line(b, &l->v[i]);
}

/* ---- which functions have a body in which unit, and which calls must not stay calls */

struct defines {
    struct intern *unit;                                 /* of each, its functions */
    struct live must;                                    /* calls that are inlined whatever is decided */
    size_t n;
};

/* Names of the functions whose body is there for inlining alone (C99 `inline` without `extern`): LLVM's
 * available_externally. */
static void find_inline_only(const char *text, struct intern *names)
{
    static const char word[] = "define available_externally ";
    FILE *f = fopen(text, "r");
    char *line = NULL;
    size_t cap = 0;
    if (!f) die_errno("%s", text);
    for (ssize_t n; (n = text_line(f, text, &line, &cap)) > 0;) {
        if (strncmp(line, word, sizeof word - 1) != 0) continue;
        const char *at = strchr(line, '@'), *end = at ? strchr(at, '(') : NULL;
        if (end && at[1] != '"') intern(names, (str){ at + 1, (size_t)(end - at - 1) });
    }
    fclose(f);
    free(line);
}

/* defines.csv, and must.csv: when the program has no other body of such a function, a call of it that stays would not
 * link; it is inlined where it stands in the source, so no copy of it comes up later */
static const char *write_defines(const struct llvm *l, const char *work, const struct program *p)
{
    char *path = xformat("%s/defines.csv", work);
    char *text = out_own(work, "defines.ll");
    char *must = xformat("%s/must.csv", work), *never = xformat("%s/never.csv", work);
    struct intern inline_only = { 0 }, real = { 0 };
    struct live calls = { 0 };
    const char *why = NULL;
    csvw *w = csvw_open(path);
    csvw_names(w, "unit,function,line");
    csvw_end(w);
    for (size_t k = 0; k < p->nunits && !why; k++) {
        char *module = xformat("%s/unit%zu.bc", work, k);
        struct ir_module m;
        struct intern here = { 0 };
        why = llvm_text(l, module, "function(add-discriminators)", text);  /* as the compile stage does first */
        if (!why) {
            ir_read(&m, text);
            find_inline_only(text, &here);
            for (size_t i = 0; i < m.nfunctions; i++) {
                if (!m.function[i].defined) continue;
                csvw_int(w, (int64_t)k);
                csvw_str(w, m.function[i].name);
                csvw_int(w, m.function[i].line);
                csvw_end(w);
                intern(intern_find(&here, m.function[i].name) >= 0 ? &inline_only : &real, m.function[i].name);
            }
            for (size_t i = 0; i < m.ncalls; i++)
                if (m.call[i].chain.n)
                    live_add(&calls, (struct site){ m.function[m.call[i].callee].name, m.call[i].chain }, true);
            ir_free(&m);
        }
        intern_free(&here);
        free(module);
    }
    csvw_close(w);
    unlink(text);
    live_sort(&calls);
    w = csvw_open(must);
    csvw_names(w, "callee,chain");
    csvw_end(w);
    for (size_t i = 0; i < calls.n; i++) {
        str callee = calls.v[i].site.callee;
        if (intern_find(&inline_only, callee) < 0 || intern_find(&real, callee) >= 0) continue;
        csvw_str(w, calls.v[i].site.callee);
        csvw_str(w, calls.v[i].site.chain);
        csvw_end(w);
    }
    csvw_close(w);
    w = csvw_append(never, "callee,reason");
    for (size_t i = 0; i < inline_only.n; i++) {
        if (intern_find(&real, inline_only.name[i]) >= 0) continue;
        csvw_str(w, inline_only.name[i]);
        csvw_cstr(w, "no body but the one for inlining");
        csvw_end(w);
    }
    csvw_close(w);
    intern_free(&inline_only);
    intern_free(&real);
    live_free(&calls);
    free_all(text, path, must, never);
    return why;
}

static struct defines read_defines(const char *work, size_t nunits)
{
    char *path = xformat("%s/defines.csv", work), *must = xformat("%s/must.csv", work);
    struct defines d = { .unit = xcalloc(nunits, sizeof *d.unit), .n = nunits };
    csv *t = csv_open(path);
    int unit = csv_need(t, "unit"), function = csv_need(t, "function");
    while (csv_next(t)) {
        int64_t k = csv_int(t, unit);
        if (k < 0 || (size_t)k >= nunits) csv_die(t, unit, "the number of a unit");
        intern(&d.unit[k], csv_str(t, function));
    }
    csv_close(t);
    t = csv_open(must);
    int callee = csv_need(t, "callee"), chain = csv_need(t, "chain");
    while (csv_next(t)) live_add(&d.must, (struct site){ csv_str(t, callee), csv_str(t, chain) }, true);
    csv_close(t);
    free(path);
    free(must);
    return d;
}

static void free_defines(struct defines *d)
{
    for (size_t k = 0; k < d->n; k++) intern_free(&d->unit[k]);
    live_free(&d->must);
    free(d->unit);
}

/* ---- the compile stage */

/* the lines that concern unit k: calls that end up in one of its functions */
static struct buf unit_lines(const struct build *b, const struct defines *d, size_t k)
{
    struct buf lines = { 0 };
    if (!b->wanted) return lines;
    for (size_t i = 0; i < b->wanted->n; i++) {
        const struct live_site *s = &b->wanted->v[i];
        if ((s->inlined || b->open) && str_is(site_stage(s->site.chain), "compile") &&
            intern_find(&d->unit[k], site_outermost(s->site.chain)) >= 0)
            replay_line(&lines, s);
    }
    for (size_t i = 0; i < d->must.n; i++)               /* of two lines for one call the last holds */
        if (intern_find(&d->unit[k], site_outermost(d->must.v[i].site.chain)) >= 0) replay_line(&lines, &d->must.v[i]);
    return lines;
}

static void add_stage(struct live *did, str callee, str chain, bool inlined, const char *stage)
{
    char *staged = xformat("%.*s @ %s", (int)chain.n, chain.s, stage);
    live_add(did, (struct site){ callee, str_of(staged) }, inlined);
    free(staged);
}

/* the calls of a build, as remarks and the module that came out tell them, to a table */
static const char *write_done(const struct llvm *l, const char *work, const char *bitcode, const struct buf *remarks,
                              const char *table)
{
    char *text = out_own(work, "done.ll");
    struct remarks r = { 0 };
    struct ir_module m = { 0 };
    struct live did = { 0 };
    remarks_parse(&r, remarks->s, remarks->n);
    const char *why = llvm_text(l, bitcode, NULL, text);
    if (!why) ir_read(&m, text);
    live_of_build(&did, &r, &m);
    live_sort(&did);
    csvw *w = csvw_open(table);
    csvw_names(w, "callee,chain,inlined");
    csvw_end(w);
    for (size_t i = 0; i < did.n; i++) {
        csvw_str(w, did.v[i].site.callee);
        csvw_str(w, did.v[i].site.chain);
        csvw_cstr(w, did.v[i].inlined ? "yes" : "no");
        csvw_end(w);
    }
    csvw_close(w);
    unlink(text);
    free(text);
    ir_free(&m);
    remarks_free(&r);
    live_free(&did);
    return why;
}

static void read_done(const char *table, struct live *did, const char *stage)
{
    csv *t = csv_open(table);
    int callee = csv_need(t, "callee"), chain = csv_need(t, "chain"), inlined = csv_need(t, "inlined");
    while (csv_next(t))
        add_stage(did, csv_str(t, callee), csv_str(t, chain), str_is(csv_str(t, inlined), "yes"), stage);
    csv_close(t);
}

/* the words that make unit k an object, without its replay file */
static void unit_words(struct args *a, const struct llvm *l, const struct build *b, size_t k, char **data)
{
    *data = lto_profile_path(b->work, b->profile);
    arg(a, l->clang);
    arg(a, "-w");
    unit_flags(a, &b->program->unit[k]);
    lto_compile_words(a, b->level, b->profile, *data);
    if (b->threshold) {
        arg(a, "-mllvm");
        arg(a, xformat("-inline-threshold=%s", b->threshold));
    }
}

static const char *compile_unit(const struct llvm *l, const struct build *b, size_t k, const struct defines *defines,
                                char **object, char **table)
{
    static char sentence[600];
    struct buf lines = unit_lines(b, defines, k), remarks = { 0 };
    const struct unit *u = &b->program->unit[k];
    struct args a = { 0 };
    char *data;
    unit_words(&a, l, b, k, &data);
    uint64_t key = hash_bytes(lines.s ? lines.s : "", lines.n, b->wanted ? 1 + b->open : 0);
    for (size_t i = 0; i < a.n; i++) key = hash_bytes(a.v[i], strlen(a.v[i]), key);
    *object = xformat("%s/cache/%zu-%016llx.o", b->work, k, (unsigned long long)key);
    *table = xformat("%s/cache/%zu-%016llx.csv", b->work, k, (unsigned long long)key);
    if (access(*object, R_OK) == 0) {
        args_free(&a);
        free(lines.s);
        return NULL;
    }
    struct memory_file replay = memory_file("replay");
    memory_file_write(&replay, &lines);
    if (b->wanted) lto_replay_words(&a, replay.name, b->open, false);
    char *aside = out_own(b->work, "unit.o");
    static const char *const tail[] = { "-fno-crash-diagnostics", "-Rpass=inline", "-fno-caret-diagnostics", "-c",
                                        NULL };
    each(&a, tail);
    arg(&a, u->source);
    arg(&a, "-o");
    arg(&a, aside);
    const char *why = tool_run(&a, u->directory, &remarks, NULL);
    if (!why) why = write_done(l, b->work, aside, &remarks, *table);
    if (!why && rename(aside, *object) != 0) die_errno("%s", *object); /* last: the table is there when it is */
    if (why) {
        unlink(aside);
        snprintf(sentence, sizeof sentence, "%s: %s", u->source, why);
        why = sentence;
    }
    close(replay.fd);
    free(remarks.s);
    free(lines.s);
    free(aside);
    return why;
}

/* ---- the link stage */

static void unlink_temps(const char *exe)
{
    static const char *const made[] = { "0.0.preopt.bc",  "0.2.internalize.bc", "0.3.import.bc",
                                        "0.4.opt.bc",     "0.5.precodegen.bc",  "lto.o",
                                        "resolution.txt", "index.bc",           "index.dot",
                                        "0.lto.o",        "lto.0.4.opt.bc" };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        char *path = xformat("%s.%s", exe, made[i]);
        unlink(path);
        free(path);
    }
}

static const char *link_units(const struct llvm *l, const struct build *b, char **object, const char *exe,
                              struct buf *remarks)
{
    struct memory_file replay = memory_file("replay");
    struct buf lines = { 0 };
    struct args a = { 0 };
    arg(&a, l->clang);
    lto_link_words(&a, l, b->level);
    units_link_words(&a, b->program, object, true);
    if (b->wanted) {
        lto_replay_text(&lines, b->wanted, "link", b->open);
        memory_file_write(&replay, &lines);
        lto_replay_words(&a, replay.name, b->open, true);
    }
    arg(&a, "-Wl,-mllvm,-pass-remarks=inline");
    if (!b->wanted) arg(&a, "-Wl,-mllvm,-pass-remarks-missed=inline");
    if (b->threshold) arg(&a, xformat("-Wl,-mllvm,-inline-threshold=%s", b->threshold));
    if (b->sites) arg(&a, "-Wl,-plugin-opt=save-temps");
    args(&a, b->program->libraries);
    arg(&a, "-o");
    arg(&a, exe);
    const char *why = tool_run(&a, NULL, NULL, remarks); /* lld writes remarks to standard output */
    close(replay.fd);
    free(lines.s);
    return why;
}

static const char *read_link(const struct llvm *l, const struct build *b, const char *exe, const struct buf *remarks,
                             struct live *did)
{
    const char *why = NULL;
    if (b->sites) {
        char *optimised = xformat("%s.0.4.opt.bc", exe), *table = xformat("%s.calls.csv", exe);
        why = write_done(l, b->work, optimised, remarks, table);
        if (!why) read_done(table, did, "link");
        unlink(table);
        free(table);
        free(optimised);
        return why;
    }
    struct remarks r = { 0 };
    remarks_parse(&r, remarks->s, remarks->n);
    for (size_t i = 0; i < r.n; i++)
        if (r.v[i].kind == INLINED) add_stage(did, r.v[i].callee, r.v[i].chain, true, "link");
    remarks_free(&r);
    return NULL;
}

static const char *build_all(const struct llvm *l, const struct build *b, struct live *did, struct buf *remarks)
{
    size_t n = b->program->nunits;
    char **object = xcalloc(n + 1, sizeof *object), **table = xcalloc(n + 1, sizeof *table);
    char *exe = b->exe ? xstrdup(b->exe) : out_own(b->work, "build");
    struct defines d = read_defines(b->work, n);
    const char *why = NULL;
    if (exe[0] != '/') {
        char *here = getcwd(NULL, 0);
        if (!here) die_errno("the current directory");
        exe = xformat("%s/%s", here, exe);
        free(here);
    }
    for (size_t k = 0; k < n && !why; k++) why = compile_unit(l, b, k, &d, &object[k], &table[k]);
    if (!why) why = link_units(l, b, object, exe, remarks);
    for (size_t k = 0; k < n && !why && did; k++) read_done(table[k], did, "compile");
    if (!why && did) why = read_link(l, b, exe, remarks, did);
    if (b->sites) unlink_temps(exe);
    if (!b->exe) unlink(exe);
    for (size_t k = 0; k < n; k++) {
        free(object[k]);
        free(table[k]);
    }
    free(object);
    free(table);
    free(exe);
    free_defines(&d);
    return why;
}

const char *lto_build(const struct llvm *l, const struct build *b, struct live *did)
{
    struct buf remarks = { 0 };
    const char *why = l->lld ? build_all(l, b, did, &remarks) : lld_missing(l);
    free(remarks.s);
    return why;
}

/* what the linker's inliner never inlines, beside what each source was asked about */
static void add_never(const char *work, const struct buf *remarks)
{
    char *path = xformat("%s/never.csv", work);
    struct remarks r = { 0 };
    struct intern seen = { 0 };
    remarks_parse(&r, remarks->s, remarks->n);
    csvw *w = csvw_append(path, "callee,reason");
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
    free(path);
}

static void empty(const char *directory)
{
    DIR *d = opendir(directory);
    if (!d) die_errno("%s", directory);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.' && unlinkat(dirfd(d), e->d_name, 0) != 0) die_errno("%s/%s", directory, e->d_name);
    closedir(d);
}

const char *lto_make(const struct llvm *l, const char *work, const struct program *p, const char *profile)
{
    if (!l->lld) return lld_missing(l);
    char *cache = xformat("%s/cache", work), *data = lto_profile_path(work, profile);
    if (mkdir(cache, 0777) != 0 && errno != EEXIST) die_errno("%s", cache);
    empty(cache); /* objects of sources as they were then */
    const char *why = write_defines(l, work, p);
    if (!why && data) why = profile_make(l, p, profile, data);
    if (!why) {
        struct build b = { .work = work, .program = p, .scope = SCOPE_LTO, .profile = profile, .level = "-O2" };
        struct buf remarks = { 0 };
        why = build_all(l, &b, NULL, &remarks);
        if (!why) add_never(work, &remarks);
        free(remarks.s);
    }
    free(cache);
    free(data);
    return why;
}
