/* gcc.c - the adapter for gcc: decided by a plugin of ours (plugin/gcc.cc), whole programs by link-time optimisation.
 *
 * Laid out: gcc.so, the plugin compiled for this gcc; unitK.i, the preprocessed sources; objects for the link-time
 * optimiser, made when a level is first asked for.  Decided builds have early inlining off, since it acts before a
 * plugin can decide; the heuristic's executable has it on and is gcc's own, and what the heuristic is reported to do is
 * what it does with early inlining off, where every call comes before the inliner that reports. */
#include "inline/calls.h"
#include "inline/compiler.h"
#include "inline/tool.h"
#include "base/message.h"
#include "base/out.h"
#include "base/num.h"
#include "inline/gcc-plugin.h"
#include "table/csvio.h"
#include "measure/count.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 12, LAST = 15, FIELDS = 12 };

struct tools { char *gcc, *gxx; };

struct log_line { str f[FIELDS]; };
enum { CALLEE, CALLER, CHAIN, SOURCE, LINE, COLUMN, COPIES_IN, COPIES_LEFT, GROWTH, LIMIT, REASON, LEGAL };

static void code_flags(struct args *a, const struct unit *u, const char *level)
{
    for (char *const *f = u->flags; f && *f; f++)        /* the preprocessor has had its own */
        if (flag_of_language(*f)) arg(a, *f);
    arg(a, "-w");
    arg(a, level);
}

/* calls of one run of the plugin: f[...] point into text */
struct log { struct log_line *v; size_t n, cap; struct buf text; };

static void log_parse(struct log *l)
{
    for (char *p = l->text.s, *end = p + l->text.n; p < end;) {
        char *e = memchr(p, '\n', (size_t)(end - p));
        if (!e) break;
        struct log_line one;
        size_t k = 0;
        for (char *q = p; k < FIELDS; k++) {
            char *tab = memchr(q, '\t', (size_t)(e - q)), *stop = tab ? tab : e;
            one.f[k] = (str){ q, (size_t)(stop - q) };
            if (!tab) {
                k++;
                break;
            }
            q = tab + 1;
        }
        if (k == FIELDS) {
            l->v = grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
            l->v[l->n++] = one;
        }
        p = e + 1;
    }
}

static void log_free(struct log *l)
{
    free(l->v);
    free(l->text.s);
    *l = (struct log){ 0 };
}

static long field(const struct log_line *l, int k)
{
    int64_t v;
    return int_parse(l->f[k].s, l->f[k].n, &v) ? (long)v : 0;
}

static void log_to_live(const struct log *l, struct live *did)
{
    for (size_t i = 0; i < l->n; i++) {
        long inlined = field(&l->v[i], COPIES_IN), left = field(&l->v[i], COPIES_LEFT);
        if (!inlined && !left) continue;                 /* the code is gone */
        live_add(did, (struct site){ l->v[i].f[CALLEE], l->v[i].f[CHAIN] }, !left);
        if (left && inlined) {
            char why[160];
            str reason = l->v[i].f[REASON];
            snprintf(why, sizeof why, "inlined in %ld of %ld copies%s%.*s", inlined, inlined + left,
                     reason.n ? "; elsewhere: " : "", (int)reason.n, reason.s);
            live_reason(did, str_of(why));
        } else if (left) live_reason(did, l->v[i].f[REASON]);
    }
}

static void plugin_args(struct args *a, const struct build *b, struct memory_file *decide, struct memory_file *log)
{
    arg(a, xformat("-fplugin=%s/gcc.so", b->work));
    arg(a, xformat("-fplugin-arg-gcc-log=%s", log->name));
    if (b->wanted) arg(a, xformat("-fplugin-arg-gcc-decide=%s", decide->name));
}

static void params(struct args *a, const char *threshold)
{
    if (!threshold) return;
    arg(a, xformat("--param=max-inline-insns-auto=%s", threshold));
    arg(a, xformat("--param=max-inline-insns-single=%s", threshold));
}

static void late(struct args *a)
{
    arg(a, "-fno-early-inlining");
    arg(a, "-fno-indirect-inlining");                    /* calls that become direct are on no list */
}

/* unit K as an object for the link-time optimiser, from the store or now; decided: with early inlining off */
static const char *lto_object(const struct tools *t, const struct build *b, size_t k, bool decided, char **object)
{
    *object = xformat("%s/unit%zu%s%s%s%s.o", b->work, k, b->level, decided ? "-late" : "", b->threshold ? "-t" : "",
                      b->threshold ? b->threshold : "");
    if (access(*object, R_OK) == 0) return NULL;
    char *part = out_own(b->work, "unit.o"), *unit = xformat("%s/unit%zu.i", b->work, k);
    struct args a = { 0 };
    arg(&a, t->gcc);
    code_flags(&a, &b->program->unit[k], b->level);
    params(&a, b->threshold);
    arg(&a, "-g1");
    arg(&a, "-flto");
    if (decided) late(&a);
    arg(&a, "-c");
    arg(&a, unit);
    arg(&a, "-o");
    arg(&a, part);
    const char *why = tool_run(&a, NULL, NULL, NULL);
    if (!why && rename(part, *object) != 0) die_errno("%s", *object);
    if (why) unlink(part);
    free(part);
    free(unit);
    return why;
}

static const char *link_all(const struct tools *t, const struct build *b, char *const *object, bool decided,
                            const char *exe, struct memory_file *decide, struct memory_file *log)
{
    struct args a = { 0 };
    arg(&a, t->gcc);
    arg(&a, "-w");
    arg(&a, "-no-pie");
    arg(&a, b->level);
    if (b->scope != SCOPE_FILE) {
        arg(&a, "-flto");
        arg(&a, "-flto-partition=none");
        if (decided) late(&a);
        if (log) plugin_args(&a, b, decide, log);
    }
    args(&a, object);
    args(&a, b->program->libraries);
    arg(&a, "-o");
    arg(&a, exe);
    return tool_run(&a, NULL, NULL, NULL);
}

/* compile unit K for itself; without a log as gcc does by default */
static const char *object_alone(const struct tools *t, const struct build *b, size_t k, const char *object,
                                struct memory_file *decide, struct memory_file *log)
{
    char *unit = xformat("%s/unit%zu.i", b->work, k);
    struct args a = { 0 };
    arg(&a, t->gcc);
    code_flags(&a, &b->program->unit[k], b->level);
    params(&a, b->threshold);
    arg(&a, "-g1");
    if (log) {
        late(&a);
        plugin_args(&a, b, decide, log);
    }
    arg(&a, "-c");
    arg(&a, unit);
    arg(&a, "-o");
    arg(&a, object);
    const char *why = tool_run(&a, NULL, NULL, NULL);
    free(unit);
    return why;
}

/* Build to `exe`; with a plugin run (decided or only watched) when lines is not NULL. */
static const char *build(const struct tools *t, const struct build *b, const char *exe, struct log *lines)
{
    size_t n = b->program->nunits;
    char **object = xcalloc(n + 1, sizeof *object);
    struct memory_file decide = memory_file("decide"), log = memory_file("log");
    struct buf wanted = { 0 };
    for (size_t i = 0; b->wanted && i < b->wanted->n; i++) {
        const struct live_site *s = &b->wanted->v[i];
        if (!s->inlined) continue;
        site_add(&wanted, s->site);
        buf_char(&wanted, '\n');
    }
    memory_file_write(&decide, &wanted);
    free(wanted.s);
    const char *why = NULL;
    for (size_t k = 0; k < n && !why; k++) {
        if (b->scope != SCOPE_FILE) {
            why = lto_object(t, b, k, lines != NULL, &object[k]);
            continue;
        }
        object[k] = xformat("%s.%zu.o", exe, k);
        struct memory_file part = memory_file("part");
        why = object_alone(t, b, k, object[k], &decide, lines ? &part : NULL);
        struct buf text = memory_file_read(&part);
        if (lines) buf_add(&lines->text, text.s, text.n);
        free(text.s);
    }
    if (!why) why = link_all(t, b, object, lines != NULL, exe, &decide, lines ? &log : NULL);
    struct buf text = memory_file_read(&log);
    if (lines && b->scope != SCOPE_FILE) lines->text = text;
    else free(text.s);
    for (size_t k = 0; k < n; k++) {
        if (b->scope == SCOPE_FILE && object[k]) unlink(object[k]);
        free(object[k]);
    }
    free(object);
    close(decide.fd);
    if (lines) log_parse(lines);
    return why;
}

static const char *gcc_build(const struct compiler *c, const struct build *b, struct live *did)
{
    char *watched = out_own(b->work, "gcc");
    bool decided = b->wanted != NULL;
    struct log lines = { 0 };
    const char *why = build(c->tools, b, decided && b->exe ? b->exe : watched, &lines);
    if (!why && b->exe && !decided) why = build(c->tools, b, b->exe, NULL);
    if (!why && did) log_to_live(&lines, did);
    unlink(watched);
    free(watched);
    log_free(&lines);
    return why;
}

/* ---- laying out */

static const char *compile_plugin(const struct tools *t, const char *work, int version)
{
    static char sentence[160];
    struct args a = { 0 };
    struct buf dir = { 0 };
    arg(&a, t->gcc);
    arg(&a, "-print-file-name=plugin");
    const char *why = tool_run(&a, NULL, NULL, &dir);
    while (dir.n && dir.s[dir.n - 1] == '\n') dir.n--;
    char *include = xformat("-I%.*s/include", (int)dir.n, dir.n ? dir.s : ""),
         *header = xformat("%s/gcc-plugin.h", include + 2);
    if (!why && (!t->gxx || access(header, R_OK) != 0)) {
        snprintf(sentence, sizeof sentence, "g++-%d or the plugin headers of gcc-%d not found "
                 "(apt install g++-%d gcc-%d-plugin-dev)", version, version, version, version);
        why = sentence;
    }
    if (!why) {
        struct memory_file source = memory_file("gcc.cc");
        struct buf text = { (char *)(uintptr_t)gcc_plugin_source, sizeof gcc_plugin_source - 1, 0 };
        memory_file_write(&source, &text);
        char *so = xformat("%s/gcc.so", work);
        struct args b = { 0 };
        static const char *const fixed[] = { "-w", "-O1", "-fPIC", "-shared", "-fno-rtti", "-x", "c++" };
        arg(&b, t->gxx);
        for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) arg(&b, fixed[i]);
        arg(&b, include);
        arg(&b, source.name);
        arg(&b, "-o");
        arg(&b, so);
        why = tool_run(&b, NULL, NULL, NULL);
        close(source.fd);
        free(so);
    }
    free(dir.s);
    free(include);
    free(header);
    return why;
}

static const char *preprocess(const struct tools *t, const char *work, const struct program *p)
{
    static char sentence[600];
    for (size_t k = 0; k < p->nunits; k++) {
        char *unit = xformat("%s/unit%zu.i", work, k);
        struct args a = { 0 };
        arg(&a, t->gcc);
        arg(&a, "-w");
        args(&a, p->unit[k].flags);
        arg(&a, "-O2"); /* headers look at __OPTIMIZE__, and a user builds so */
        arg(&a, "-E");
        arg(&a, p->unit[k].source);
        arg(&a, "-o");
        arg(&a, unit);
        const char *why = tool_run(&a, p->unit[k].directory, NULL, NULL);
        free(unit);
        if (!why) continue;
        snprintf(sentence, sizeof sentence, "%s: %s", p->unit[k].source, why);
        return sentence;
    }
    return NULL;
}

static void write_calls(const char *work, const struct log *l)
{
    struct call_tables t = call_tables_open(work);
    struct intern seen = { 0 };
    for (size_t i = 0; i < l->n; i++) {
        const str *f = l->v[i].f;
        for (int k = CALLEE; k <= COLUMN; k++) csvw_str(t.calls, f[k]);
        csvw_str(t.calls, f[GROWTH]);
        csvw_str(t.calls, f[LIMIT]);
        csvw_end(t.calls);
        size_t before = seen.n;
        if (field(&l->v[i], LEGAL) || intern(&seen, f[CALLEE]) < before) continue;
        csvw_str(t.never, f[CALLEE]);
        csvw_str(t.never, f[REASON]);
        csvw_end(t.never);
    }
    call_tables_close(&t);
    intern_free(&seen);
}

static const char *gcc_make(const struct compiler *c, const char *work, const struct program *p,
                            enum build_scope scope, const char *profile)
{
    const struct tools *t = c->tools;
    (void)profile;
    if (scope == SCOPE_LTO) return "gcc is decided about in one pass only: leave out --lto";
    const char *why = preprocess(t, work, p);
    if (!why) why = compile_plugin(t, work, c->version);
    struct build b = { .work = work, .program = p, .scope = scope, .level = "-O2" };
    char *exe = out_own(work, "gcc");
    struct log lines = { 0 };
    if (!why) why = build(t, &b, exe, &lines);
    if (!why) write_calls(work, &lines);
    unlink(exe);
    free(exe);
    log_free(&lines);
    return why;
}

struct compiler *gcc_find(int version, const char **why)
{
    static char sentence[128];
    for (int v = version ? version : FIRST; v <= (version ? version : LAST); v++) {
        char *gcc = xformat("gcc-%d", v), *gxx = xformat("g++-%d", v);
        struct tools *t = xcalloc(1, sizeof *t);
        t->gcc = program_path(gcc);
        t->gxx = program_path(gxx);
        free(gcc);
        free(gxx);
        if (!t->gcc) continue;
        struct compiler *c = xcalloc(1, sizeof *c);
        *c = (struct compiler){ .version = v, .tools = t, .make = gcc_make, .build = gcc_build };
        snprintf(c->name, sizeof c->name, "gcc-%d", v);
        return c;
    }
    if (version) snprintf(sentence, sizeof sentence, "gcc-%d not found (apt install gcc-%d)", version, version);
    else snprintf(sentence, sizeof sentence, "no gcc-%d .. gcc-%d found (apt install gcc-%d)", FIRST, LAST, FIRST);
    *why = sentence;
    return NULL;
}
