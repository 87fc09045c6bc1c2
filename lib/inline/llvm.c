/* llvm.c - see llvm.h.  Command lines and formats were tried on LLVM 14, 16 and 19. */
#include "inline/llvm.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/num.h"
#include "inline/tool.h"
#include "measure/count.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* a program of LLVM's with its version in its name, or NULL */
static char *versioned(const char *tool, int version)
{
    char *name = xformat("%s-%d", tool, version), *path = program_path(name);
    free(name);
    return path;
}

/* which of them `clang` is, by where its links lead; 0: none */
static int version_of_default(void)
{
    char *clang = program_path("clang"), *real = clang ? realpath(clang, NULL) : NULL;
    int found = 0;
    for (int v = LLVM_FIRST; real && v <= LLVM_LAST && !found; v++) {
        char *path = versioned("clang", v), *its = path ? realpath(path, NULL) : NULL;
        if (its && strcmp(its, real) == 0) found = v;
        free_all(path, its);
    }
    free_all(clang, real);
    return found;
}

static struct llvm *find_version(int v)
{
    struct llvm l = { .version = v, .clang = versioned("clang", v), .opt = versioned("opt", v),
                      .link = versioned("llvm-link", v), .lld = versioned("ld.lld", v) };
    if (!l.clang || !l.opt || !l.link) {
        free_all(l.clang, l.opt, l.link, l.lld);
        return NULL;
    }
    struct llvm *found = xmalloc(1, sizeof *found);
    *found = l;
    return found;
}

const char *lld_missing(const struct llvm *l)
{
    static char sentence[80];
    snprintf(sentence, sizeof sentence, "no ld.lld-%d found (apt install lld-%d)", l->version, l->version);
    return l->lld ? NULL : sentence;
}

struct llvm *llvm_find(int version, const char **why)
{
    static char sentence[160];
    struct llvm *found = find_version(version ? version : version_of_default());
    for (int v = LLVM_FIRST; !version && !found && v <= LLVM_LAST; v++) found = find_version(v);
    if (found) return found;
    if (version)
        snprintf(sentence, sizeof sentence, "clang-%d, opt-%d or llvm-link-%d not found (apt install clang-%d llvm-%d)",
                 version, version, version, version, version);
    else
        snprintf(sentence, sizeof sentence,
                 "no clang-%d .. clang-%d with its opt and llvm-link found (apt install clang llvm)", LLVM_FIRST,
                 LLVM_LAST);
    *why = sentence;
    return NULL;
}

/* ---- remarks */

static const char *find(const char *p, const char *e, const char *word)
{
    return p ? memmem(p, (size_t)(e - p), word, strlen(word)) : NULL;
}

/* the text between `before` and `after`; p moves behind it; false when not there */
static bool between(const char **p, const char *e, const char *before, const char *after, str *s)
{
    const char *b = find(*p, e, before);
    if (!b) return false;
    b += strlen(before);
    const char *a = find(b, e, after);
    if (!a) return false;
    *s = (str){ b, (size_t)(a - b) };
    *p = a;
    return true;
}

static double number_after(const char *p, const char *e, const char *key)
{
    const char *q = find(p, e, key);
    if (!q) return NAN;
    q += strlen(key);
    size_t n = 0;
    while (q + n < e && q[n] != ',' && q[n] != ')') n++;
    double v;
    return num_parse(q, n, &v) ? v : NAN;
}

static bool parse_remark(const char *p, const char *e, struct remark *r)
{
    *r = (struct remark){ .kind = OTHER, .cost = NAN, .threshold = NAN };
    if (find(p, e, "remark: ")) p = find(p, e, "remark: ");      /* the linker's have no such word */
    const char *yes = find(p, e, "' inlined into '"), *no = find(p, e, "' not inlined into '");
    if (!yes && !no) return false;
    const char *open = find(p, e, ": '");                /* FILE:LINE:COLUMN: 'callee' */
    if (!open || open > (yes ? yes : no)) return false;
    const char *column = memrchr(p, ':', (size_t)(open - p));
    const char *line = column ? memrchr(p, ':', (size_t)(column - p)) : NULL;
    if (line) {
        r->line = (uint32_t)strtoul(line + 1, NULL, 10);
        r->column = (uint32_t)strtoul(column + 1, NULL, 10);
    }
    p = open + 2;
    if (!between(&p, e, "'", "'", &r->callee)) return false;
    p++;
    if (!between(&p, e, "into '", "'", &r->caller)) return false;
    r->cost = number_after(p, e, "cost=");
    r->threshold = number_after(p, e, "threshold=");
    if (yes) {
        r->kind = INLINED;
        r->forced = find(p, e, "always inline attribute") || find(p, e, "previously inlined");
        return between(&p, e, "at callsite ", ";", &r->chain);
    }
    if (find(p, e, "too costly to inline")) r->kind = TOO_COSTLY;
    else if (find(p, e, "never be inlined")) {
        r->kind = NEVER;
        const char *why = find(p, e, "(cost=never): "), *tag = find(p, e, " [-R");
        if (why) why += strlen("(cost=never): ");
        r->reason = why ? (str){ why, (size_t)((tag ? tag : e) - why) } : (str){ "", 0 };
    }
    return true;
}

void remarks_parse(struct remarks *r, const char *text, size_t n)
{
    for (const char *p = text, *end = text + n; p < end;) {
        const char *e = memchr(p, '\n', (size_t)(end - p));
        if (!e) e = end;
        struct remark one;
        if (parse_remark(p, e, &one)) {
            str *part[] = { &one.callee, &one.caller, &one.chain, &one.reason };
            for (size_t i = 0; i < 4; i++) part[i]->s = arena_copy(&r->text, part[i]->s, part[i]->n);
            r->v = grow(r->v, r->n + 1, &r->cap, sizeof *r->v);
            r->v[r->n++] = one;
        }
        p = e + 1;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct remark *x = a, *y = b;
    return str_cmp(x->callee, y->callee) ?: str_cmp(x->caller, y->caller) ?: ORDER(x->line, y->line) ?:
           ORDER(x->column, y->column);
}

void remarks_sort(struct remarks *r)
{
    if (r->n) qsort(r->v, r->n, sizeof *r->v, by_place);
}

const struct remark *remark_at(const struct remarks *r, str callee, str caller, uint32_t line, uint32_t column)
{
    struct remark place = { .callee = callee, .caller = caller, .line = line, .column = column };
    return r->n ? bsearch(&place, r->v, r->n, sizeof *r->v, by_place) : NULL;
}

void remarks_free(struct remarks *r)
{
    free(r->v);
    arena_free(&r->text);
    *r = (struct remarks){ 0 };
}

/* ---- running the compiler */

static const char *compile_unoptimised(const struct llvm *l, const char *source, char *const *flags,
                                       const char *directory, bool preprocessed, const char *out)
{
    /* -O2 is needed here already: without it functions are marked noinline optnone */
    static const char *const fixed[] = { "-w",
                                         "-O2",
                                         "-gdwarf-4",
                                         "-gline-tables-only",
                                         "-fdebug-info-for-profiling",
                                         "-fno-crash-diagnostics",
                                         "-Xclang",
                                         "-disable-llvm-passes",
                                         "-emit-llvm",
                                         "-c" };
    struct args b = { 0 };
    arg(&b, l->clang);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) arg(&b, fixed[i]);
    for (char *const *f = flags; f && *f; f++)           /* of code generation: others were the preprocessor's */
        if (preprocessed && flag_has_value(*f) && f[1]) f++;
        else if (!preprocessed || flag_of_language(*f) || strncmp(*f, "-O", 2) == 0) arg(&b, *f);
    arg(&b, source);
    arg(&b, "-o");
    arg(&b, out);
    return tool_run(&b, directory, NULL, NULL);
}

const char *llvm_compile(const struct llvm *l, const char *source, char *const *flags, const char *directory,
                         bool preprocess, const char *out)
{
    if (!preprocess) return compile_unoptimised(l, source, flags, directory, false, out);
    char *text = xformat("%s.%s", out, source_is_cxx(source) ? "ii" : "i");
    struct args a = { 0 };
    arg(&a, l->clang);
    arg(&a, "-w");
    args(&a, flags);
    arg(&a, "-E");
    arg(&a, source);
    arg(&a, "-o");
    arg(&a, text);
    const char *why = tool_run(&a, directory, NULL, NULL);
    if (!why) why = compile_unoptimised(l, text, flags, directory, true, out);
    unlink(text);
    free(text);
    return why;
}

const char *llvm_merge(const struct llvm *l, char *const *modules, bool open, const char *out)
{
    char *all = xformat("%s%s", out, open ? "" : ".all");
    struct args a = { 0 };
    arg(&a, l->link);
    args(&a, modules);
    arg(&a, "-o");
    arg(&a, all);
    const char *why = tool_run(&a, NULL, NULL, NULL);
    if (!why && !open) {
        struct args b = { 0 };
        arg(&b, l->opt);
        arg(&b, "-passes=internalize");
        arg(&b, "-internalize-public-api-list=main");
        arg(&b, all);
        arg(&b, "-o");
        arg(&b, out);
        why = tool_run(&b, NULL, NULL, NULL);
    }
    if (!open) unlink(all);
    free(all);
    return why;
}

const char *llvm_text(const struct llvm *l, const char *module, const char *passes, const char *out)
{
    struct args a = { 0 };
    char *option = passes ? xformat("-passes=%s", passes) : NULL;
    arg(&a, l->opt);
    arg(&a, "-S");
    if (option) arg(&a, option);
    arg(&a, module);
    arg(&a, "-o");
    arg(&a, out);
    const char *why = tool_run(&a, NULL, NULL, NULL);
    free(option);
    return why;
}

const char *llvm_plain(const struct llvm *l, char *const *inputs, char *const *libraries, const char *out)
{
    struct args a = { 0 };
    arg(&a, l->clang);
    arg(&a, "-w");
    arg(&a, "-O1");
    arg(&a, "-no-pie");
    args(&a, inputs);
    args(&a, libraries);
    arg(&a, "-o");
    arg(&a, out);
    return tool_run(&a, NULL, NULL, NULL);
}

static void write_replay(struct memory_file *f, const struct call_list *c)
{
    struct buf b = { 0 };
    for (size_t i = 0; i < c->n; i++)
        buf_format(&b, ": '%.*s' inlined into 'x' at callsite %.*s\n", (int)c->callee[i].n, c->callee[i].s,
                   (int)c->chain[i].n, c->chain[i].s);
    memory_file_write(f, &b);
    free(b.s);
}

const char *llvm_build(const struct llvm *l, const struct llvm_build *b, struct remarks *remarks)
{
    struct args a = { 0 };
    arg(&a, l->clang);
    arg(&a, b->level);
    arg(&a, "-x");
    arg(&a, "ir");
    arg(&a, b->module);
    arg(&a, "-x");
    arg(&a, "none");
    arg(&a, "-w");
    arg(&a, "-fno-crash-diagnostics");
    arg(&a, "-Rpass=inline");
    arg(&a, "-fno-caret-diagnostics");
    if (b->fixed) arg(&a, "-fno-pie");
    if (b->optimised) {
        arg(&a, "-Xclang");
        arg(&a, "-disable-llvm-passes");
    }
    if (b->text || b->bitcode) {
        arg(&a, b->text ? "-S" : "-c");
        arg(&a, "-emit-llvm");
    } else if (b->object) {
        arg(&a, "-c");
    } else {
        arg(&a, "-no-pie");
        args(&a, b->libraries);
    }
    struct memory_file replay = { .fd = -1 };
    char *option = NULL;
    if (!b->optimised && b->original) {
        arg(&a, "-Rpass-missed=inline");
        if (b->full_cost) {
            arg(&a, "-mllvm");
            arg(&a, "-inline-cost-full");
        }
        if (b->threshold) {
            arg(&a, "-mllvm");
            arg(&a, option = xformat("-inline-threshold=%s", b->threshold));
        }
    } else if (!b->optimised) {
        replay = memory_file("replay");
        write_replay(&replay, &b->calls);
        arg(&a, "-mllvm");
        arg(&a, option = xformat("-cgscc-inline-replay=%s", replay.name));
        arg(&a, "-mllvm");
        arg(&a, "-cgscc-inline-replay-scope=Module");
        arg(&a, "-mllvm");
        arg(&a, "-cgscc-inline-replay-fallback=NeverInline");
    }
    arg(&a, "-o");
    arg(&a, b->out);
    struct buf text;
    const char *why = tool_run(&a, NULL, &text, NULL);
    if (remarks) remarks_parse(remarks, text.s, text.n);
    free(text.s);
    free(option);
    if (replay.fd >= 0) close(replay.fd);
    return why;
}
