/* executed.c - see executed.h */
#include "inline/executed.h"
#include "base/message.h"
#include "base/out.h"
#include "base/rng.h"
#include "inline/descend.h"
#include "inline/parts.h"
#include "inline/verdicts.h"
#include "measure/clock.h"
#include "table/csvio.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_SECONDS = 60 };

/* one source: its functions and choices begin at these numbers of the program's */
struct source {
    struct worker *w;
    size_t function, choice, choices;
    uint32_t *number;                                    /* of each choice: its place in the worker's calls */
    const struct call_row **row;                         /* of each of the worker's calls; NULL: none */
    unsigned char *all, *built;                          /* decisions of all its calls; those of the object */
    char *object;
    bool there;
};
struct state {
    const struct prove *p;
    struct executed *to;
    struct source *source;
    size_t n, functions, choices;
    struct optimal_call *call;
    bool *idle, *stays, *closed;
    struct intern symbol;                                /* as the executable has it -> function */
    double *cost, *again;
    uint64_t output;
    char *folder, *exe;                                  /* what is built lies in a folder of its own */
};

/* ---- one build, run and counted */

static const char *count(struct state *s, double *cost, double *other)
{
    const struct program *p = s->p->work->program;
    struct parts parts = { .exact = true };
    uint64_t output = 0;
    double sum = 0;
    const char *why = NULL;
    for (size_t i = 0; i < p->nsearch && !why; i++) {
        const struct program_run *run = &p->search_run[i];
        struct blocks blocks;
        run->argv[0] = s->exe;
        struct child c = { .argv = run->argv, .directory = p->directory, .input = run->input, .cpu = -1,
                           .limits = { .wall_seconds = 4 * LIMIT_SECONDS, .cpu_seconds = LIMIT_SECONDS,
                                       .output_bytes = (uint64_t)1 << 31 } };
        struct counts n = count_blocks(&c, &blocks);
        parts_add_run(&parts, s->exe, &blocks);
        free(blocks.address);
        free(blocks.count);
        if (n.why || n.ran.how != RAN_EXIT) why = n.why ? n.why : ran_word(&n.ran);
        sum += n.value[COUNT_INSTRUCTIONS];
        uint64_t both[2] = { output, n.ran.output_hash + (uint64_t)n.ran.code };
        output = hash_bytes(both, sizeof both, 0);
    }
    memset(cost, 0, (s->functions + 1) * sizeof *cost);
    for (size_t k = 0; k < parts.name.n; k++) {
        long f = intern_find(&s->symbol, parts.name.name[k]);
        for (size_t run = 1; f >= 0 && run <= parts.runs; run++) {
            cost[f] += parts.cost[k][run];
            sum -= parts.cost[k][run];
        }
    }
    parts_free(&parts);
    *other = sum;
    if (!s->output) s->output = output;
    return why ? why : output != s->output ? "other output" : NULL;
}

/* inlined NULL: the heuristic decides, with this threshold or NULL */
static const char *build(struct state *s, const unsigned char *inlined, const char *threshold, double *cost)
{
    char **object = xcalloc(s->n + 1, sizeof *object);
    const char *why = NULL;
    double other = NAN;
    for (size_t k = 0; k < s->n && !why; k++) {
        struct source *m = &s->source[k];
        char *suffix = xformat(".%zu", k);
        double *bytes = xcalloc(m->w->nfunctions + 1, sizeof *bytes);
        object[k] = m->object;
        memset(m->all, 0, m->w->ncalls);
        for (size_t i = 0; inlined && i < m->choices; i++) m->all[m->number[i]] = inlined[m->choice + i];
        if (!m->there || !inlined || memcmp(m->all, m->built, m->w->ncalls) != 0) {
            why = worker_build(m->w, &(struct worker_order){ .inlined = inlined ? m->all : NULL, .suffix = suffix,
                                                             .threshold = threshold, .object = m->object },
                               &(struct worker_answer){ .bytes = bytes });
            memcpy(m->built, m->all, m->w->ncalls);
            m->there = inlined && !why;
        }
        free(bytes);
        free(suffix);
    }
    s->to->builds++;
    if (!why) why = llvm_plain(s->p->work->llvm, object, s->p->work->program->libraries, s->exe);
    if (!why) why = count(s, cost, &other);
    if (!why && inlined && isnan(s->to->other)) s->to->other = other;
    s->to->other_differs += !why && inlined && other != s->to->other;
    free(object);
    return why;
}

static bool cost(void *closure, const unsigned char *inlined, const unsigned char *wanted, double *to)
{
    (void)wanted;
    const char *why = build(closure, inlined, NULL, to);
    if (why) warn("one set of decisions: %s", why);
    return !why;
}

static double sum_of(const struct state *s, const double *v)
{
    double sum = 0;
    for (size_t f = 0; f < s->functions; f++) sum += v[f];
    return sum;
}

/* ---- are the tables right? */

static long compare(struct state *s, struct optimal *o, const unsigned char *inlined, bool mend, double *sum)
{
    long differ = 0;
    bool known = true;
    double told = 0;
    if ((s->to->why = build(s, inlined, NULL, s->again))) return 0;
    for (uint32_t f = 0; f < s->functions; f++) {
        double t = optimal_entry(o, f, inlined);
        known &= !isnan(t);
        if (!isnan(t)) {
            told += t;
            s->to->compared++;
            differ += t != s->again[f];
        }
        if (mend && t != s->again[f]) optimal_mend(o, f, inlined, s->again[f]);
    }
    s->to->unequal += differ;
    *sum = sum_of(s, s->again);
    if (!mend && known) {
        s->to->sums++;
        s->to->sums_unequal += told != *sum;
    }
    return differ;
}

static void search(struct state *s)
{
    struct executed *to = s->to;
    size_t m = s->choices;
    struct optimal_problem p = { .nfunctions = s->functions, .ncalls = m, .call = s->call, .stays = s->stays,
                                 .called = true, .idle = s->idle, .most = s->p->most, .builds = s->p->builds,
                                 .nodes = s->p->nodes, .cost = cost, .closure = s };
    struct optimal_answer a = { .inlined = xcalloc(m + 1, 1), .closed = s->closed };
    unsigned char *x = xmalloc(m + 1, 1);
    double sum;
    for (size_t f = 0; f < s->functions; f++) {
        s->idle[f] = s->cost[f] == 0;                    /* nothing was inlined: it is never executed */
        to->idle += s->idle[f];
    }
    struct optimal *o = optimal_new(&p);
    for (uint32_t f = 0; f < s->functions; f++) if (!s->idle[f]) optimal_know(o, f, NULL, 0, s->cost[f]);
    memset(x, 1, m);
    optimal_start(o, x);
    for (int round = 0; round < 4 && !to->why; round++) {
        optimal_solve(o, &a);
        if (!compare(s, o, a.inlined, true, &to->best)) break;
    }
    to->tables = optimal_cost(o, a.inlined);
    to->lower = fmin(a.lower, to->best);
    to->largest = a.largest;
    to->entries = a.entries;
    for (uint32_t f = 0; f < s->functions && !to->why; f++) {
        to->closed_functions += a.closed[f];
        if (a.closed[f]) to->closed += s->again[f];
    }
    for (size_t i = 0; i < m && !to->why; i++) {
        double cost = optimal_cost(o, a.inlined);
        to->call[i].inlined = a.inlined[i];
        a.inlined[i] ^= 1;
        to->call[i].gain = optimal_cost(o, a.inlined) - cost;
        a.inlined[i] ^= 1;
    }
    for (long i = 0; i < s->p->random && m && !to->why; i++) {
        char name[32];
        snprintf(name, sizeof name, "executed %ld", i);
        struct rng r = rng_for(s->p->seed, str_of(name));
        for (size_t c = 0; c < m; c++) x[c] = (unsigned char)rng_below(&r, 2);
        compare(s, o, x, false, &sum);
    }
    free(x);
    free(a.inlined);
    optimal_free(o);
}

static void search_all_sets(struct state *s)
{
    unsigned char *x = xcalloc(s->choices + 1, 1);
    s->to->exhaustive = INFINITY;
    for (bool more = true; more && !s->to->why;) {
        s->to->why = build(s, x, NULL, s->again);
        s->to->exhaustive = fmin(s->to->exhaustive, sum_of(s, s->again));
        size_t i = 0;
        while (i < s->choices && x[i]) x[i++] = 0;       /* the next number, in binary */
        more = i < s->choices;
        if (more) x[i] = 1;
    }
    free(x);
}

/* what the level's heuristic decides about each choice, copies apart as they are */
static const char *heuristic_of(struct state *s, unsigned char *inlined)
{
    const char *why = NULL;
    for (size_t k = 0; k < s->n && !why; k++) {
        const struct source *m = &s->source[k];
        double text;
        struct worker *debug = prove_open(s->p, k, s->p->level, true, &why);
        if (!why) why = prove_heuristic(debug, NULL, m->row, m->all, &text);
        for (size_t i = 0; i < m->choices; i++) inlined[m->choice + i] = m->all[m->number[i]];
        worker_close(debug);
    }
    return why;
}

static void descent(struct state *s, long builds)
{
    unsigned char *starts = xcalloc(s->choices + 1, 2), *x = xcalloc(s->choices + 1, 1);
    struct optimal_problem p = { .nfunctions = s->functions, .ncalls = s->choices, .call = s->call,
                                 .builds = builds, .cost = cost, .closure = s };
    s->to->why = heuristic_of(s, starts + s->choices);
    if (!s->to->why) s->to->chosen = fmin(s->to->heuristic, descend(&p, starts, 2, s->p->seed, x, &builds));
    free(starts);
    free(x);
}

static void verdicts(struct state *s, struct intern *yes)
{
    unsigned char *x = xcalloc(s->choices + 1, 1);
    for (size_t i = 0; i < s->choices; i++) x[i] = s->to->call[i].row && verdicts_yes(yes, s->to->call[i].row);
    s->to->why = build(s, x, NULL, s->again);
    s->to->chosen = sum_of(s, s->again);
    free(x);
}

/* ---- the program */

static void add_choices(struct state *s, size_t k, size_t *cap)
{
    struct source *m = &s->source[k];
    const struct worker *w = m->w;
    struct optimal_call *call = xmalloc(w->ncalls + 1, sizeof *call);
    bool *stays = xmalloc(w->nfunctions + 1, sizeof *stays);
    const char **fixed = xcalloc(w->ncalls + 1, sizeof *fixed);
    m->number = xmalloc(w->ncalls + 1, sizeof *m->number);
    m->row = prove_rows(s->p, k, w, &s->to->why);
    m->choice = s->choices;
    m->choices = prove_choices(w, call, m->number, stays, fixed);
    for (size_t i = 0; i < m->choices; i++) {
        s->call = grow(s->call, s->choices + 1, cap, sizeof *s->call);
        s->call[s->choices++] = (struct optimal_call){ call[i].caller + (uint32_t)m->function,
                                                       call[i].callee + (uint32_t)m->function };
    }
    free(call);
    free(stays);
    free(fixed);
}

static void open_sources(struct state *s)
{
    size_t cap = 0;
    s->n = prove_modules(s->p->work);
    s->source = xcalloc(s->n + 1, sizeof *s->source);
    for (size_t k = 0; k < s->n; k++) {
        struct source *m = &s->source[k];
        m->w = prove_open(s->p, k, s->p->level, false, &s->to->why);
        if (!m->w) return;
        m->function = s->functions;
        for (size_t f = 0; f < m->w->nfunctions; f++) {
            const struct worker_function *g = &m->w->function[f];
            char *name = g->local ? xformat("%.*s.%zu", (int)g->name.n, g->name.s, k)
                                  : xformat("%.*s", (int)g->name.n, g->name.s);
            size_t before = s->symbol.n;
            if (intern(&s->symbol, str_of(name)) != before) s->to->why = "two functions of one name";
            free(name);
        }
        s->functions += m->w->nfunctions;
        m->all = xcalloc(m->w->ncalls + 1, 1);
        m->built = xcalloc(m->w->ncalls + 1, 1);
        m->object = xformat("%s.%zu.o", s->exe, k);
        add_choices(s, k, &cap);
        s->to->calls += m->w->ncalls;
    }
    s->to->functions = s->functions;
    s->to->decided = s->choices;
}

static void close_all(struct state *s)
{
    for (size_t k = 0; k < s->n; k++) {
        struct source *m = &s->source[k];
        if (m->object) unlink(m->object);
        worker_close(m->w);
        void *all[] = { m->row, m->number, m->all, m->built, m->object };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    }
    unlink(s->exe);
    rmdir(s->folder);
    void *all[] = { s->source, s->call, s->idle, s->stays, s->closed, s->cost, s->again, s->exe, s->folder };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    intern_free(&s->symbol);
}

/* nothing is inlined, and s->cost is what that costs */
static void list_calls(struct state *s)
{
    s->to->call = xcalloc(s->choices + 1, sizeof *s->to->call);
    for (size_t k = 0; k < s->n; k++)
        for (size_t i = 0; i < s->source[k].choices; i++) {
            size_t c = s->source[k].choice + i;
            s->to->call[c] = (struct executed_call){ .row = s->source[k].row[s->source[k].number[i]],
                                                     .caller = s->cost[s->call[c].caller],
                                                     .callee = s->cost[s->call[c].callee], .gain = NAN };
        }
}

void prove_executed(const struct prove *p, const struct executed_order *order, struct executed *to)
{
    double start = now_seconds();
    *to = (struct executed){ .none = NAN, .heuristic = NAN, .best = NAN, .tables = NAN, .lower = NAN, .chosen = NAN,
                             .other = NAN, .exhaustive = NAN };
    struct state s = { .p = p, .to = to, .folder = out_scratch_even("run") };
    s.exe = xformat("%s/run", s.folder);
    if (p->work->scope != SCOPE_FILE) to->why = "not laid out --per-file";
    else if (!p->work->program->nsearch) to->why = "no run to count";
    else open_sources(&s);
    if (!to->why) {
        unsigned char *nothing = xcalloc(s.choices + 1, 1);
        s.idle = xcalloc(s.functions + 1, sizeof *s.idle);
        s.closed = xcalloc(s.functions + 1, sizeof *s.closed);
        s.stays = xcalloc(s.functions + 1, sizeof *s.stays);
        s.cost = xcalloc(s.functions + 1, sizeof *s.cost);
        s.again = xcalloc(s.functions + 1, sizeof *s.again);
        to->why = build(&s, NULL, order->threshold, s.cost);
        to->heuristic = sum_of(&s, s.cost);
        if (!to->why) to->why = build(&s, nothing, NULL, s.cost);
        to->none = sum_of(&s, s.cost);
        to->sets = exp2((double)s.choices);
        list_calls(&s);
        if (order->search && !to->why) search(&s);
        if (!to->why && to->sets <= order->exhaustive) search_all_sets(&s);
        if (!to->why && order->verdicts) verdicts(&s, order->verdicts);
        if (!to->why && order->descent) descent(&s, order->descent);
        free(nothing);
    }
    if (to->why) to->why = xstrdup(to->why);
    close_all(&s);
    to->seconds = now_seconds() - start;
}

void executed_write_calls(const char *path, const char *program, const struct executed *e, bool searched)
{
    csvw *w = csvw_open(path);
    csvw_names(w, "program,callee,caller,chain,optimal,gain_instructions,"
                  "callee_run_instructions,caller_run_instructions");
    csvw_end(w);
    for (size_t i = 0; e->call && i < e->decided; i++) {
        const struct executed_call *c = &e->call[i];
        if (!c->row) continue;
        csvw_cstr(w, program);
        csvw_str(w, c->row->callee);
        csvw_str(w, c->row->caller);
        csvw_str(w, c->row->chain);
        csvw_cstr(w, !searched ? "" : c->inlined ? "yes" : "no");
        csvw_known(w, c->gain);
        csvw_num(w, c->callee);
        csvw_num(w, c->caller);
        csvw_end(w);
    }
    csvw_close(w);
}

void executed_free(struct executed *e)
{
    free(e->call);
    free((void *)(uintptr_t)e->why);
}
