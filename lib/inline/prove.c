/* prove.c - see prove.h */
#include "inline/prove.h"
#include "base/message.h"
#include "base/rng.h"
#include "inline/descend.h"
#include "measure/clock.h"
#include "table/csvio.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* awake beyond this share of the functions, a build of all of them costs little more and is exact */
static const double nearly_all = 0.7;

struct module {
    const struct prove *p;
    struct worker *w;
    struct proved *to;
    const struct call_row **row;                         /* of each of the worker's calls; NULL: none */
    struct optimal_call *call;                           /* those with a choice */
    uint32_t *number;                                    /* of each of them: its place in the worker's calls */
    size_t ncalls;
    uint32_t *first;                                     /* of each of the worker's: that of its key which decides */
    bool *stays, *restless;                              /* restless: came out otherwise asleep, or a part of it did */
    bool *loose;                                         /* holds, or can come to hold, code of a circle of calls */
    unsigned char *all, *awake;
    double *bytes, *again;
    csvw *log;
    const char *failed;
};

size_t prove_modules(const struct work *w)
{
    return w->scope == SCOPE_FILE ? w->program->nunits : 1;
}

bool prove_wanted(const struct work *w, size_t k, const char *source)
{
    if (!source) return true;
    if (w->scope != SCOPE_FILE) return false;
    const char *path = w->program->unit[k].source;
    size_t n = strlen(path), end = strlen(source);
    return n >= end && strcmp(path + n - end, source) == 0 && (n == end || path[n - end - 1] == '/');
}

void prove_need(const struct work *w, const char *source)
{
    for (size_t k = 0; k < prove_modules(w); k++) if (prove_wanted(w, k, source)) return;
    die("%s: no source of %s ends so", source, w->program->name);
}

static struct worker *prove_open(const struct prove *p, size_t k, const char *level, bool debug, const char **why)
{
    const struct work *of = p->work;
    char *path = of->scope == SCOPE_FILE ? clang_unit(of->path, level, k) : clang_module(of->path, level);
    struct worker *w = worker_open(path, of->llvm ? of->llvm->version : 0, level, debug, why);
    free(path);
    return w;
}

/* the rows of calls.csv that are module k's: the first, and how many */
static size_t rows_of(const struct prove *p, size_t k, size_t *n, const char **why)
{
    static size_t *count, counted, cap;
    static const struct work *of;
    if (of != p->work) counted = 0;
    of = p->work;
    count = grow(count, k + 1, &cap, sizeof *count);
    for (; counted <= k; counted++) {
        struct worker *w = prove_open(p, counted, "-O2", true, why);
        if (!w) return 0;
        count[counted] = w->ncalls;
        worker_close(w);
    }
    size_t first = 0;
    for (size_t i = 0; i < k; i++) first += count[i];
    *n = count[k];
    *why = first + *n > p->work->ncalls ? "calls.csv has too few rows" : NULL;
    return first;
}

/* ---- the cost of functions */

static void wake(const struct module *m, const unsigned char *wanted, const unsigned char *all)
{
    const struct worker *w = m->w;
    memcpy(m->awake, wanted, w->nfunctions);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < w->ncalls; i++)
            if (all[i] && m->awake[w->call[i].caller] && !m->awake[w->call[i].callee])
                m->awake[w->call[i].callee] = 1, more = true;
    }
}

/* what the choices say is said of the others of their keys, too */
static void follow(const struct module *m)
{
    for (size_t i = 0; i < m->w->ncalls; i++) m->all[i] = m->all[m->first[i]];
}

/* decisions of calls with a choice as those of all calls; the source's own always_inline is LLVM's to do */
static void spread(const struct module *m, const unsigned char *inlined)
{
    memset(m->all, 0, m->w->ncalls);
    for (size_t i = 0; i < m->ncalls; i++) m->all[m->number[i]] = inlined[i];
    follow(m);
}

static void compare(struct module *m, const unsigned char *wanted)
{
    for (size_t f = 0; f < m->w->nfunctions; f++) {
        if (!wanted[f]) continue;
        m->to->compared++;
        if (m->again[f] == m->bytes[f]) continue;
        m->to->unequal++;
        m->restless[f] = true;
    }
    memcpy(m->bytes, m->again, m->w->nfunctions * sizeof *m->bytes);
}

static bool cost(void *closure, const unsigned char *inlined, const unsigned char *wanted, double *bytes)
{
    struct module *m = closure;
    struct worker_order o = { .inlined = m->all, .wanted = wanted };
    struct worker_answer a = { .bytes = m->bytes };
    size_t awake = 0, n = m->w->nfunctions;
    bool exact = m->to->builds++ == 0;                   /* the first tells sleepers what they are */
    spread(m, inlined);
    wake(m, wanted, m->all);
    for (size_t f = 0; f < n; f++) {
        awake += m->awake[f];
        exact |= wanted[f] && m->restless[f];
    }
    exact |= (double)awake > nearly_all * (double)n;
    o.awake = exact ? NULL : m->awake;
    const char *why = worker_build(m->w, &o, &a);
    m->to->whole += exact;
    if (!why && !exact && m->to->builds % m->p->check == 0) {
        o.awake = NULL;
        a.bytes = m->again;
        why = worker_build(m->w, &o, &a);
        m->to->whole++;
        if (!why) compare(m, wanted);
    }
    if (why) warn("%s: one set of decisions: %s", *m->to->module ? m->to->module : m->p->work->program->name, why);
    memcpy(bytes, m->bytes, n * sizeof *bytes);
    return !why;
}

/* ---- the log: columns module (hash of bitcode and level), function, calls (numbers, blanks between), bytes */

#define LOG_COLUMNS "module,function,calls,bytes"

static void learned(void *closure, uint32_t f, const uint32_t *call, size_t n, double bytes)
{
    struct module *m = closure;
    struct buf b = { 0 };
    if (!m->log) return;
    for (size_t i = 0; i < n; i++) buf_format(&b, "%s%u", i ? " " : "", call[i]);
    csvw_format(m->log, "%016llx", (unsigned long long)m->w->hash);
    csvw_int(m->log, f);
    csvw_str(m->log, (str){ b.s ? b.s : "", b.n });
    csvw_num(m->log, bytes);
    csvw_end(m->log);
    free(b.s);
}

static void read_log(const struct module *m, struct optimal *o)
{
    if (!m->p->store || access(m->p->store, R_OK) != 0) return;
    csv *t = csv_open(m->p->store);
    int module = csv_need(t, "module"), function = csv_need(t, "function"), calls = csv_need(t, "calls"),
        bytes = csv_need(t, "bytes");
    char *name = xformat("%016llx", (unsigned long long)m->w->hash);
    uint32_t *call = xmalloc(m->ncalls + 1, sizeof *call);
    while (csv_next(t)) {
        size_t n = 0;
        if (!str_is(csv_str(t, module), name)) continue;
        int64_t f = csv_int(t, function);
        if (f < 0 || (size_t)f >= m->w->nfunctions) csv_die(t, function, "the number of a function of this module");
        str s = csv_str(t, calls);
        for (size_t i = 0; i < s.n;) {
            size_t v = 0, from = i;
            for (; i < s.n && s.s[i] >= '0' && s.s[i] <= '9' && v < m->ncalls; i++) v = v * 10 + (size_t)(s.s[i] - '0');
            if (i == from || v >= m->ncalls || n >= m->ncalls || (i < s.n && s.s[i] != ' '))
                csv_die(t, calls, "numbers of calls of this module");
            call[n++] = (uint32_t)v;
            i += i < s.n;
        }
        optimal_know(o, (uint32_t)f, call, n, csv_num(t, bytes));
    }
    csv_close(t);
    free(call);
    free(name);
}

/* ---- what is decided */

/* The first call of each key: what is destroyed at the end of a block and where an exception leaves it has one key. */
static void find_first(const struct module *m)
{
    struct intern keys = { 0 };
    struct buf b = { 0 };
    uint32_t *call = xmalloc(m->w->ncalls + 1, sizeof *call);
    for (uint32_t i = 0; i < m->w->ncalls; i++) {
        const struct call_row *row = m->row[i];
        m->first[i] = i;
        if (!row) continue;
        b.n = 0;
        buf_format(&b, "%.*s %.*s", (int)row->callee.n, row->callee.s, (int)row->chain.n, row->chain.s);
        const size_t before = keys.n;
        const uint32_t k = intern(&keys, (str){ b.s, b.n });
        if (k == before) call[k] = i;
        m->first[i] = call[k];
    }
    intern_free(&keys);
    free_all(b.s, call);
}

static size_t prove_choices(const struct module *m, const char **fixed)
{
    const struct worker *w = m->w;
    struct optimal_call *every = xmalloc(w->ncalls + 1, sizeof *every);
    bool *circle = xmalloc(w->ncalls + 1, sizeof *circle);
    size_t choices = 0;
    for (size_t i = 0; i < w->ncalls; i++) every[i] = (struct optimal_call){ w->call[i].caller, w->call[i].callee };
    optimal_circles(w->nfunctions, every, w->ncalls, circle);
    for (size_t f = 0; f < w->nfunctions; f++) m->stays[f] = !w->function[f].local || w->function[f].taken;
    for (size_t i = 0; i < w->ncalls; i++) {
        const char *why = w->function[every[i].callee].never, *caller = w->function[every[i].caller].never;
        if (!why && w->call[i].fixed) why = "noinline";
        if (!why && circle[i]) why = "recursive";
        if (!why && caller && strcmp(caller, "optnone") == 0) why = caller;
        const struct call_row *row = m->row[i];
        if (!why && row) why = work_illegal(m->p->work, row->callee, row->chain);    /* as inline-build has it */
        fixed[i] = why;
        if (why || fixed[m->first[i]]) m->first[i] = (uint32_t)i;
        if (why) {
            m->stays[every[i].callee] = true;
            continue;
        }
        if (m->first[i] != i) continue;
        m->call[choices] = every[i];
        m->number[choices++] = (uint32_t)i;
    }
    free(every);
    free(circle);
    return choices;
}

/* A circle of calls is inlined into its callers a copy at a time, and into itself: no table of calls of the source
 * knows what comes of that.  Functions on one, or that call themselves, and all that can come to hold their code. */
static void find_loose(struct module *m, const char *const *fixed)
{
    const struct worker *w = m->w;
    for (size_t f = 0; f < w->nfunctions; f++)
        m->loose[f] = w->function[f].never && strcmp(w->function[f].never, "recursive") == 0;
    for (size_t i = 0; i < w->ncalls; i++)
        if (fixed[i] && strcmp(fixed[i], "recursive") == 0) m->loose[w->call[i].callee] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < w->ncalls; i++) {
            const struct worker_call *c = &w->call[i];
            if (!m->loose[c->callee] || m->loose[c->caller]) continue;
            if (fixed[i] && strcmp(fixed[i], "noinline") == 0) continue;
            m->loose[c->caller] = more = true;
        }
    }
    for (size_t f = 0; f < w->nfunctions; f++) m->to->recursive += m->loose[f];
}

static void find_choices(struct module *m)
{
    size_t n = m->w->ncalls;
    const char **fixed = xcalloc(n + 1, sizeof *fixed);
    m->stays = xmalloc(m->w->nfunctions + 1, sizeof *m->stays);
    m->call = xmalloc(n + 1, sizeof *m->call);
    m->number = xmalloc(n + 1, sizeof *m->number);
    m->first = xmalloc(n + 1, sizeof *m->first);
    find_first(m);
    m->ncalls = prove_choices(m, fixed);
    for (size_t i = 0; i < n; i++) m->to->call[i].fixed = fixed[i];
    m->loose = xcalloc(m->w->nfunctions + 1, sizeof *m->loose);
    find_loose(m, fixed);
    free(fixed);
}

/* The rows of calls.csv are of -O2, whose headers may define functions that other levels only declare, but in the same
 * order: the n-th call of a pair is the n-th row of it. */
static const struct call_row **prove_rows(const struct prove *p, size_t k, const struct worker *w, const char **why)
{
    size_t n = 0, first = rows_of(p, k, &n, why), from = 0;
    const struct call_row **to = xcalloc(w->ncalls + 1, sizeof *to), *row = p->work->call + first;
    bool *used = xcalloc(n + 1, sizeof *used);
    for (size_t i = 0; i < w->ncalls && !*why; i++) {
        str callee = w->function[w->call[i].callee].name, caller = w->function[w->call[i].caller].name;
        for (size_t j = 0; j < n; j++) {
            size_t r = (from + j) % n;
            if (used[r] || !str_eq(row[r].callee, callee) || !str_eq(row[r].caller, caller)) continue;
            to[i] = &row[r];
            used[r] = true;
            from = r + 1;
            break;
        }
    }
    free(used);
    return to;
}

static const char *prove_heuristic(struct worker *debug, const char *threshold, const struct call_row *const *row,
                            unsigned char *inlined, double *text)
{
    struct buf b = { 0 };
    struct worker_answer a = { .bytes = xcalloc(debug->nfunctions + 1, sizeof *a.bytes) };
    struct remarks r = { 0 };
    const char *why = worker_build(debug, &(struct worker_order){ .remarks = &b, .threshold = threshold }, &a);
    *text = why ? NAN : a.text;
    if (!why) remarks_parse(&r, b.s, b.n);
    struct live did = { 0 };
    for (size_t i = 0; i < r.n; i++)
        if (r.v[i].kind == INLINED) live_add(&did, (struct site){ r.v[i].callee, r.v[i].chain }, true);
    live_sort(&did);
    for (size_t i = 0; i < debug->ncalls; i++)
        inlined[i] = row[i] && live_find(&did, (struct site){ row[i]->callee, row[i]->chain }) != NULL;
    live_free(&did);
    remarks_free(&r);
    free(b.s);
    free(a.bytes);
    return why;
}

/* which calls of the source LLVM's heuristic inlines where they stand, and how big it makes the module */
static const char *ask_heuristic(struct module *m, struct worker *debug, const char *threshold)
{
    unsigned char *inlined = xcalloc(debug->ncalls + 1, 1);
    const char *why = prove_heuristic(debug, threshold, m->row, inlined, &m->to->heuristic);
    for (size_t i = 0; i < m->w->ncalls; i++) m->to->call[i].by_default = inlined[i];
    free(inlined);
    return why;
}

/* ---- is it so?  Whole builds beside the tables */

static bool goes(const struct module *m, uint32_t f, const unsigned char *inlined)
{
    bool all = !m->stays[f];
    for (size_t i = 0; i < m->ncalls && all; i++) all = m->call[i].callee != f || inlined[i];
    return all;
}

/* what the tables say of f under these decisions, 0 where it is gone; nan: no entry */
static double told(const struct module *m, struct optimal *o, uint32_t f, const unsigned char *inlined)
{
    return goes(m, f, inlined) ? 0 : optimal_entry(o, f, inlined);
}

/* Build whole; count what differs in functions with an entry, and return it; with `mend` the tables learn it. */
static long build_whole(struct module *m, struct optimal *o, const unsigned char *inlined, bool mend, double *text)
{
    struct worker_answer a = { .bytes = m->bytes };
    long differ = 0;
    bool known = true;
    double sum = 0;
    spread(m, inlined);
    m->failed = worker_build(m->w, &(struct worker_order){ .inlined = m->all }, &a);
    m->to->builds++;
    m->to->whole++;
    if (m->failed) return 0;
    if (text) *text = a.text;
    for (uint32_t f = 0; f < m->w->nfunctions; f++) {
        double t = told(m, o, f, inlined);
        if (mend && t != a.bytes[f] && !goes(m, f, inlined)) optimal_mend(o, f, inlined, a.bytes[f]);
        if (isnan(t)) {
            known = false;
            continue;
        }
        sum += t;
        m->to->compared++;
        if (t == a.bytes[f]) continue;
        m->to->unequal++;
        differ++;
        m->restless[f] = true;
    }
    if (!mend && known) {
        m->to->sums++;
        m->to->sums_unequal += sum != a.text;
    }
    return differ;
}

static void check_random(struct module *m, struct optimal *o)
{
    unsigned char *x = xmalloc(m->ncalls + 1, 1);
    for (long i = 0; i < m->p->random && m->ncalls && !m->failed; i++) {
        char *name = xformat("%s %ld", m->to->module, i); /* not the hash: bitcode holds its folder's name */
        struct rng r = rng_for(m->p->seed, str_of(name));
        free(name);
        for (size_t c = 0; c < m->ncalls; c++) x[c] = (unsigned char)rng_below(&r, 2);
        build_whole(m, o, x, false, NULL);
    }
    free(x);
}

static void fill_calls(struct module *m, struct optimal *o, const struct optimal_answer *a)
{
    for (size_t i = 0; i < m->ncalls; i++) {
        struct prove_call *c = &m->to->call[m->number[i]];
        c->inlined = a->inlined[i];
        c->closed = a->closed[m->call[i].caller];
        a->inlined[i] ^= 1;
        c->gain = optimal_cost(o, a->inlined) - a->cost;
        a->inlined[i] ^= 1;
    }
    for (size_t i = 0; i < m->w->ncalls; i++) {
        struct prove_call *c = &m->to->call[i];
        const struct prove_call *first = &m->to->call[m->first[i]];
        c->inlined = first->inlined, c->closed = first->closed, c->gain = first->gain;
    }
    for (uint32_t f = 0; f < m->w->nfunctions; f++) {
        m->to->closed_functions += a->closed[f];
        if (a->closed[f]) m->to->closed_bytes += told(m, o, f, a->inlined);
    }
}

/* Is the call that this one is a copy of inlined, too?  Then it says nothing: an inliner that goes from the leaves up,
 * as the one that replays does, has no such copy; that of LLVM 19's attributes has. */
static bool only_copy(const struct remarks *r, const struct remark *of)
{
    const char *outermost = NULL;
    for (const char *at = of->chain.s, *end = at + of->chain.n;
         (at = memmem(at, (size_t)(end - at), " @ ", 3)); at += 3) outermost = at;
    for (size_t i = 0; outermost && i < r->n; i++)
        if (r->v[i].kind == INLINED && str_eq(r->v[i].callee, of->callee) &&
            str_eq(r->v[i].chain, (str){ of->chain.s, (size_t)(outermost - of->chain.s) })) return true;
    return false;
}

/* what the decisions in `inlined`, or the heuristic where it is NULL, inline, by the compiler's own word */
static const char *take_home(struct module *m, struct worker *debug, const unsigned char *inlined,
                             const char *threshold, struct live *did)
{
    struct buf text = { 0 };
    struct worker_answer b = { .bytes = m->again };
    struct remarks r = { 0 };
    struct worker_order o = { .inlined = inlined, .threshold = threshold, .remarks = &text };
    const char *why = worker_build(debug, &o, &b);
    if (!why) remarks_parse(&r, text.s, text.n);
    for (size_t i = 0; i < r.n; i++)
        if (r.v[i].kind == INLINED && !only_copy(&r, &r.v[i]))
            live_add(did, (struct site){ r.v[i].callee, r.v[i].chain }, true);
    remarks_free(&r);
    free(text.s);
    return why;
}

static void fill_features(struct module *m, const double *bytes)
{
    const struct worker *w = m->w;
    size_t n = w->nfunctions;
    double *in = xcalloc(n + 1, sizeof *in), *out = xcalloc(n + 1, sizeof *out);
    for (size_t i = 0; i < w->ncalls; i++) {
        in[w->call[i].callee]++;
        out[w->call[i].caller]++;
    }
    for (size_t i = 0; i < w->ncalls; i++) {
        const struct worker_call *c = &w->call[i];
        const struct worker_function *f = &w->function[c->callee];
        bool goes = f->local && !f->taken;
        double v[PROVE_FEATURES] = { m->to->call[i].by_default,
                                     bytes[c->callee],
                                     bytes[c->caller],
                                     in[c->callee],
                                     goes,
                                     goes && in[c->callee] == 1,
                                     c->arguments,
                                     c->constants,
                                     f->instructions,
                                     f->blocks,
                                     out[c->callee],
                                     out[c->caller],
                                     /* what the other calls cost if all were inlined, less the function that goes */
                                     bytes[c->callee] * (in[c->callee] - goes),
                                     out[c->callee] == 0 };
        memcpy(m->to->call[i].feature, v, sizeof v);
    }
    free(in);
    free(out);
}

static void solve(struct module *m, struct worker *debug, struct live *did)
{
    struct proved *to = m->to;
    struct optimal_problem p = { .nfunctions = m->w->nfunctions, .ncalls = m->ncalls, .call = m->call,
                                 .stays = m->stays, .loose = m->loose, .most = m->p->most, .builds = m->p->builds,
                                 .nodes = m->p->nodes, .cost = cost, .learned = learned, .closure = m };
    struct optimal *o = optimal_new(&p);
    struct optimal_answer a = { .inlined = xcalloc(m->ncalls + 1, 1),
                                .closed = xcalloc(m->w->nfunctions + 1, sizeof(bool)) };
    unsigned char *start = xcalloc(m->ncalls + 1, 1);
    read_log(m, o);
    build_whole(m, o, start, true, &to->none);           /* nothing inlined, which sleepers need too */
    for (size_t i = 0; i < m->ncalls; i++) start[i] = to->call[m->number[i]].by_default;
    optimal_start(o, start);
    if (m->p->store) m->log = csvw_append(m->p->store, LOG_COLUMNS);
    fill_features(m, m->bytes);
    unsigned char *least = xcalloc(m->ncalls + 1, 1);    /* of what was built; at first nothing is inlined */
    double bytes = to->none;
    for (int round = 0; round < 4 && !m->failed; round++) {
        optimal_solve(o, &a);
        const long differ = build_whole(m, o, a.inlined, true, &to->best);
        if (to->best <= bytes) memcpy(least, a.inlined, m->ncalls);
        bytes = fmin(bytes, to->best);
        if (!differ) break;
    }
    if (!m->failed && to->best > bytes) {                /* tables that do not settle end anywhere */
        memcpy(a.inlined, least, m->ncalls);
        build_whole(m, o, a.inlined, true, &to->best);
    }
    free(least);
    if (m->log) csvw_close(m->log);
    a.cost = optimal_cost(o, a.inlined);
    to->tables = a.cost;
    to->lower = fmin(a.lower, fmin(to->best, to->heuristic));    /* a compiler decides copies of a call apart */
    to->estimate = fmin(a.estimate, to->best);
    to->largest = a.largest;
    to->entries = a.entries;
    fill_calls(m, o, &a);
    check_random(m, o);
    spread(m, a.inlined);
    if (!m->failed && did) m->failed = take_home(m, debug, m->all, NULL, did);
    free(a.inlined);
    free(a.closed);
    free(start);
    optimal_free(o);
}

/* all that is known without a build; to->why where it is not */
static void begin(struct module *m, const struct prove *p, size_t k, struct proved *to)
{
    *to = (struct proved){ .module = xstrdup(p->work->scope == SCOPE_FILE ? p->work->program->unit[k].source : "") };
    *m = (struct module){ .p = p, .to = to, .w = prove_open(p, k, p->level, false, &to->why) };
    if (!m->w) return;
    size_t n = m->w->nfunctions;
    to->call = xcalloc(m->w->ncalls + 1, sizeof *to->call);
    m->row = prove_rows(p, k, m->w, &to->why);
    for (size_t i = 0; i < m->w->ncalls; i++) {
        to->call[i].gain = NAN;
        to->call[i].row = m->row[i];
    }
    find_choices(m);
    to->functions = n;
    to->calls = m->w->ncalls;
    to->decided = m->ncalls;
    m->restless = xcalloc(n + 1, sizeof *m->restless);
    m->all = xcalloc(m->w->ncalls + 1, 1);
    m->awake = xcalloc(n + 1, 1);
    m->bytes = xcalloc(n + 1, sizeof *m->bytes);
    m->again = xcalloc(n + 1, sizeof *m->again);
}

static void end(struct module *m)
{
    if (m->to->why) m->to->why = xstrdup(m->to->why);
    free_all(m->row, m->call, m->number, m->first, m->stays, m->restless, m->loose, m->all, m->awake, m->bytes,
             m->again);
    worker_close(m->w);
}

static const char *code_of(struct module *m, const char *threshold, bool heuristic, double *text)
{
    struct worker_answer a = { .bytes = m->bytes };
    struct worker_order o = { .inlined = heuristic ? NULL : m->all, .threshold = threshold };
    const char *why = worker_build(m->w, &o, &a);
    *text = why ? NAN : a.text;
    return why;
}

void prove_module(const struct prove *p, size_t k, struct proved *to, struct live *did)
{
    double start = now_seconds();
    struct module m;
    begin(&m, p, k, to);
    struct worker *debug = to->why ? NULL : prove_open(p, k, p->level, true, &to->why);
    if (!to->why) to->why = ask_heuristic(&m, debug, NULL);
    if (!to->why) {
        solve(&m, debug, did);
        to->why = m.failed;
    }
    worker_close(debug);
    end(&m);
    to->seconds = now_seconds() - start;
}

void prove_features(const struct prove *p, size_t k, const char *threshold, struct proved *to)
{
    struct module m;
    begin(&m, p, k, to);
    struct worker *debug = to->why ? NULL : prove_open(p, k, p->level, true, &to->why);
    if (!to->why) to->why = ask_heuristic(&m, debug, threshold);
    if (!to->why) to->why = code_of(&m, NULL, false, &to->none);
    if (!to->why) fill_features(&m, m.bytes);
    worker_close(debug);
    end(&m);
}

void proved_free(struct proved *p)
{
    free(p->call);
    free(p->module);
    free((void *)(uintptr_t)p->why);
}

double prove_bytes(const struct prove *p, size_t k, bool (*yes)(void *, const struct call_row *), void *closure,
                   const char *threshold, struct live *did, const char **why)
{
    static char sentence[300];
    struct module m;
    struct proved to;
    double text = NAN;
    begin(&m, p, k, &to);
    if (!to.why) {
        for (size_t i = 0; yes && i < m.ncalls; i++) {
            const struct call_row *row = to.call[m.number[i]].row;
            m.all[m.number[i]] = row && yes(closure, row);
        }
        follow(&m);
        to.why = code_of(&m, threshold, !yes, &text);
    }
    if (!to.why && did) {
        struct worker *debug = prove_open(p, k, p->level, true, &to.why);
        if (debug) to.why = take_home(&m, debug, m.all, NULL, did);
        worker_close(debug);
    }
    end(&m);
    if (to.why) snprintf(sentence, sizeof sentence, "%s", to.why);
    *why = to.why ? sentence : NULL;
    proved_free(&to);
    return text;
}

static bool cost_awake(void *closure, const unsigned char *inlined, const unsigned char *wanted, double *bytes)
{
    struct module *m = closure;
    (void)wanted;
    spread(m, inlined);
    return !worker_build(m->w, &(struct worker_order){ .inlined = m->all }, &(struct worker_answer){ .bytes = bytes });
}

double prove_descent(const struct prove *p, size_t k, const char *const *threshold, size_t n, struct live *did,
                     long *builds, const char **why)
{
    static char sentence[300];
    struct module m;
    struct proved to;
    double best = NAN, heuristic;
    const char *from = NULL;
    bool compilers = false;
    *builds = 0;
    begin(&m, p, k, &to);
    struct worker *debug = to.why ? NULL : prove_open(p, k, p->level, true, &to.why);
    unsigned char *starts = xcalloc(n + 2, m.ncalls + 1), *x = xcalloc(m.ncalls + 1, 1);
    unsigned char *every = xcalloc(to.calls + 1, 1);
    for (size_t i = 0; i < n && !to.why; i++) {          /* the first start is none at all */
        to.why = prove_heuristic(debug, threshold[i], m.row, every, &heuristic);
        for (size_t c = 0; c < m.ncalls; c++) starts[(i + 1) * m.ncalls + c] = every[m.number[c]];
        compilers |= !i || heuristic < best;
        if (!i || heuristic < best) best = heuristic, from = threshold[i];
    }
    if (!to.why) {
        struct optimal_problem o = { .nfunctions = m.w->nfunctions, .ncalls = m.ncalls, .call = m.call,
                                     .builds = p->builds - (long)n, .cost = cost_awake, .closure = &m };
        double found = descend(&o, starts, n + 1, p->seed, x, builds);
        if (isnan(found)) to.why = "nothing could be built";
        if (isnan(best) || found < best) best = found, compilers = false;
        *builds += (long)n;
    }
    spread(&m, x);
    if (!to.why && did) to.why = take_home(&m, debug, compilers ? NULL : m.all, from, did);
    free(starts);
    free(x);
    free(every);
    worker_close(debug);
    end(&m);
    if (to.why) snprintf(sentence, sizeof sentence, "%s", to.why);
    *why = to.why ? sentence : NULL;
    proved_free(&to);
    return *why ? NAN : best;
}

double prove_exhaustive(const struct prove *p, size_t k, double *sets, const char **why)
{
    static char sentence[300];
    struct module m;
    struct proved to;
    double best = INFINITY, text;
    begin(&m, p, k, &to);
    unsigned char *x = xcalloc(m.ncalls + 1, 1);
    *sets = exp2((double)m.ncalls);
    bool more = !to.why && *sets <= (double)p->most;
    if (!more) best = NAN;
    while (more && !to.why) {
        spread(&m, x);
        to.why = code_of(&m, NULL, false, &text);
        if (text < best) best = text;
        size_t i = 0;
        while (i < m.ncalls && x[i]) x[i++] = 0;         /* the next number, in binary */
        more = i < m.ncalls;
        if (more) x[i] = 1;
    }
    free(x);
    end(&m);
    if (to.why) snprintf(sentence, sizeof sentence, "%s", to.why);
    *why = to.why ? sentence : NULL;
    proved_free(&to);
    return best;
}
