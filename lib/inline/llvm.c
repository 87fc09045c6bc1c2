/* llvm.c - see llvm.h.  Command lines and formats were tried on LLVM 14, 16 and 19. */
#include "inline/llvm.h"
#include "base/message.h"
#include "base/num.h"
#include "measure/child.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* generous for any C program, small enough that a run-away inliner does not take the machine along */
static const struct limits compile_limits = { .cpu_seconds = 300, .wall_seconds = 900, .memory_bytes = 6000000000u };

struct args { char *v[256]; size_t n; };

static void arg(struct args *a, const char *s)
{
    if (a->n + 1 >= sizeof a->v / sizeof *a->v) die("more than %zu arguments for the compiler", a->n);
    a->v[a->n++] = (char *)(uintptr_t)s;                 /* execvp takes char *const * but changes nothing */
    a->v[a->n] = NULL;
}

static void args(struct args *a, char *const *more)
{
    for (; more && *more; more++) arg(a, *more);
}

static char *in_path(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *p = path ? path : "/usr/bin"; *p;) {
        size_t n = strcspn(p, ":");
        char *full = xformat("%.*s/%s", (int)n, p, name);
        if (access(full, X_OK) == 0) return full;
        free(full);
        p += n + (p[n] == ':');
    }
    return NULL;
}

struct llvm *llvm_find(int version, const char **why)
{
    static char sentence[128];
    for (int v = version ? version : 14; v <= (version ? version : 19); v++) {
        struct llvm l = { .version = v };
        char *name = xformat("clang-%d", v);
        l.clang = in_path(name);
        free(name);
        l.opt = in_path(name = xformat("opt-%d", v));
        free(name);
        l.link = in_path(name = xformat("llvm-link-%d", v));
        free(name);
        if (l.clang && l.opt && l.link) {
            struct llvm *found = xmalloc(1, sizeof *found);
            *found = l;
            return found;
        }
    }
    if (version)
        snprintf(sentence, sizeof sentence, "clang-%d, opt-%d or llvm-link-%d not found (apt install clang-%d llvm-%d)",
                 version, version, version, version, version);
    else
        snprintf(sentence, sizeof sentence,
                 "no clang-14 .. clang-19 with its opt and llvm-link found (apt install clang-14 llvm-14)");
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
    p = find(p, e, "remark: ");
    if (!p) return false;
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
        if (!between(&p, e, "(cost=never): ", " [-R", &r->reason)) r->reason = (str){ "", 0 };
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

void remarks_free(struct remarks *r)
{
    free(r->v);
    arena_free(&r->text);
    *r = (struct remarks){ 0 };
}

/* ---- running the compiler */

/* An anonymous file, reachable by name while it is open: nothing to clean up after a kill. */
struct memory_file { int fd; char name[40]; };

static struct memory_file memory_file(const char *label)
{
    struct memory_file f;
    f.fd = memfd_create(label, MFD_CLOEXEC);
    if (f.fd < 0) die_errno("memfd");
    snprintf(f.name, sizeof f.name, "/proc/%ld/fd/%d", (long)getpid(), f.fd);
    return f;
}

static char *read_fd(int fd, size_t *n)
{
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0) die_errno("memfd");
    char *s = xmalloc((size_t)size + 1, 1);
    *n = 0;
    while (*n < (size_t)size) {
        ssize_t k = pread(fd, s + *n, (size_t)size - *n, (off_t)*n);
        if (k <= 0) break;
        *n += (size_t)k;
    }
    s[*n] = 0;
    return s;
}

/* one line that explains a failure: the first that says error, else the last */
static const char *explain(const char *tool, const struct ran *ran, const char *text)
{
    static char sentence[512];
    const char *line = strstr(text, "error: ");
    const char *base = strrchr(tool, '/');
    base = base ? base + 1 : tool;
    if (ran->how == RAN_NOT_STARTED) snprintf(sentence, sizeof sentence, "%s: %s", base, strerror(ran->error));
    else if (ran->how == RAN_EXIT) {
        if (!line) line = text;
        snprintf(sentence, sizeof sentence, "%s exit %d: %.*s", base, ran->code, (int)strcspn(line, "\n"), line);
    } else if (ran->how == RAN_SIGNAL) snprintf(sentence, sizeof sentence, "%s: signal %d", base, ran->signal);
    else snprintf(sentence, sizeof sentence, "%s: %s", base, ran_word(ran));
    return sentence;
}

/* run a tool; its standard error goes to *errors when that is not NULL (caller frees) */
static const char *run_tool(struct args *a, const char *directory, char **errors, size_t *nerrors)
{
    struct memory_file err = memory_file("stderr");
    struct child c = { .argv = a->v, .directory = directory, .error = err.name, .limits = compile_limits, .cpu = -1 };
    struct ran ran = child_run(&c);
    size_t n;
    char *text = read_fd(err.fd, &n);
    close(err.fd);
    const char *why = ran.how == RAN_EXIT && ran.code == 0 ? NULL : explain(a->v[0], &ran, text);
    if (errors) {
        *errors = text;
        *nerrors = n;
    } else free(text);
    return why;
}

const char *llvm_compile(const struct llvm *l, const char *source, char *const *flags, const char *directory,
                         const char *out)
{
    /* Preprocessed text gives every call of a macro its own column, and discriminators tell calls of one line apart.
     * -O2 is needed here already: without it functions are marked noinline optnone. */
    char *text = xformat("%s.i", out);
    struct args a = { 0 };
    arg(&a, l->clang);
    arg(&a, "-w");
    args(&a, flags);
    arg(&a, "-E");
    arg(&a, source);
    arg(&a, "-o");
    arg(&a, text);
    const char *why = run_tool(&a, directory, NULL, NULL);
    if (!why) {
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
        arg(&b, text);
        arg(&b, "-o");
        arg(&b, out);
        for (char *const *f = flags; f && *f; f++)       /* code generation flags; the preprocessor has had its own */
            if (strncmp(*f, "-f", 2) == 0 || strncmp(*f, "-m", 2) == 0 || strncmp(*f, "-std", 4) == 0 ||
                strncmp(*f, "-O", 2) == 0)
                arg(&b, *f);
        why = run_tool(&b, directory, NULL, NULL);
    }
    unlink(text);
    free(text);
    return why;
}

const char *llvm_merge(const struct llvm *l, char *const *modules, const char *out)
{
    char *all = xformat("%s.all", out);
    struct args a = { 0 };
    arg(&a, l->link);
    args(&a, modules);
    arg(&a, "-o");
    arg(&a, all);
    const char *why = run_tool(&a, NULL, NULL, NULL);
    if (!why) {
        struct args b = { 0 };
        arg(&b, l->opt);
        arg(&b, "-passes=internalize");
        arg(&b, "-internalize-public-api-list=main");
        arg(&b, all);
        arg(&b, "-o");
        arg(&b, out);
        why = run_tool(&b, NULL, NULL, NULL);
    }
    unlink(all);
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
    const char *why = run_tool(&a, NULL, NULL, NULL);
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
    return run_tool(&a, NULL, NULL, NULL);
}

static void write_replay(int fd, const struct call_list *c)
{
    struct buf b = { 0 };
    for (size_t i = 0; i < c->n; i++)
        buf_format(&b, ": '%.*s' inlined into 'x' at callsite %.*s\n", (int)c->callee[i].n, c->callee[i].s,
                   (int)c->chain[i].n, c->chain[i].s);
    for (size_t done = 0; done < b.n;) {
        ssize_t k = write(fd, b.s + done, b.n - done);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) die_errno("replay file");
        done += (size_t)k;
    }
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
    if (b->text) {
        arg(&a, "-S");
        arg(&a, "-emit-llvm");
    } else {
        arg(&a, "-no-pie");
        args(&a, b->libraries);
    }
    struct memory_file replay = { .fd = -1 };
    char *option = NULL;
    if (b->original) {
        arg(&a, "-Rpass-missed=inline");
        if (b->full_cost) {
            arg(&a, "-mllvm");
            arg(&a, "-inline-cost-full");
        }
        if (b->threshold) {
            arg(&a, "-mllvm");
            arg(&a, option = xformat("-inline-threshold=%s", b->threshold));
        }
    } else {
        replay = memory_file("replay");
        write_replay(replay.fd, &b->calls);
        arg(&a, "-mllvm");
        arg(&a, option = xformat("-cgscc-inline-replay=%s", replay.name));
        arg(&a, "-mllvm");
        arg(&a, "-cgscc-inline-replay-scope=Module");
        arg(&a, "-mllvm");
        arg(&a, "-cgscc-inline-replay-fallback=NeverInline");
    }
    arg(&a, "-o");
    arg(&a, b->out);
    char *text;
    size_t n;
    const char *why = run_tool(&a, NULL, &text, &n);
    if (remarks) remarks_parse(remarks, text, n);
    free(text);
    free(option);
    if (replay.fd >= 0) close(replay.fd);
    return why;
}
