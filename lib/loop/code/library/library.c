/* millrace_loop.h for programs that are not filters.  Inside, whoever meets bad input says so and exits; here that is
 * caught (message.h) and becomes the error of the call.
 *
 * A problem is a struct that stays for good, found by the text as it was given: a table that is read without a lock,
 * since what is in it never moves or leaves, and a larger one takes its place whole.  Who makes a kernel holds the
 * problem's own lock; who measures, one more; who looks up, none. */
#include "loop/millrace_loop.h"
#include "base/checked.h"
#include "base/message.h"
#include "loop/code/image.h"
#include "loop/search/search.h"
#include "loop/search/takeaway.h"
#include "measure/clock.h"
#include "table/csvio.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct millrace_problem {
    struct problem p;
    const char *needs[2];                                /* why not millrace_loop, millrace_loop_any; or NULL */
    pthread_mutex_t making;
    _Atomic(millrace_call *) call;
    millrace_pack *pack;                                 /* set before call is, and not again */
    int64_t packed;
};

/* ---- the table ---- */

struct name { uint64_t hash; size_t n; millrace_problem *of; char text[]; };
struct table { size_t slots, used; _Atomic(struct name *) slot[]; };

static _Atomic(struct table *) table;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static __thread char error[sizeof ((struct message_catch *)0)->text];

static millrace_problem *find(const char *text, size_t n, uint64_t hash)
{
    struct table *t = atomic_load_explicit(&table, memory_order_acquire);
    for (size_t i = hash; t; i++) {
        const struct name *x = atomic_load_explicit(&t->slot[i & (t->slots - 1)], memory_order_acquire);
        if (!x) break;
        if (x->hash == hash && x->n == n && !memcmp(x->text, text, n)) return x->of;
    }
    return NULL;
}

static void put(struct table *t, struct name *x)
{
    size_t i = x->hash;
    while (atomic_load_explicit(&t->slot[i & (t->slots - 1)], memory_order_relaxed)) i++;
    atomic_store_explicit(&t->slot[i & (t->slots - 1)], x, memory_order_release);
    t->used++;
}

/* by whoever holds `writing`.  Tables that were too small stay for those who still read them: half as much in all. */
static void add(const char *text, size_t n, uint64_t hash, millrace_problem *of)
{
    struct table *t = table;
    if (!t || t->used * 2 >= t->slots) {
        const size_t slots = t ? t->slots * 2 : 256;
        struct table *more = xcalloc(1, size_add(sizeof *more, size_mul(slots, sizeof *more->slot)));
        more->slots = slots;
        for (size_t i = 0; t && i < t->slots; i++)
            if (t->slot[i]) put(more, t->slot[i]);
        atomic_store_explicit(&table, t = more, memory_order_release);
    }
    struct name *x = xmalloc(1, size_add(sizeof *x, n));
    *x = (struct name){ hash, n, of };
    memcpy(x->text, text, n);
    put(t, x);
}

/* ---- what may die ---- */

static void give_back(void *m) { pthread_mutex_unlock(m); }

static void hold(struct message_open *o, pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
    message_open(o, give_back, m);
}

static void drop(struct message_open *o)
{
    message_shut(o);
    give_back(o->what);
}

struct job { const char *text, *cache; int measure; millrace_problem *x; };

static bool caught(void (*f)(struct job *), struct job *j)
{
    struct message_catch c;
    c.text[0] = 0;
    if (setjmp(c.to)) {
        memcpy(error, c.text, sizeof error);
        return false;
    }
    message_catch = &c;
    f(j);
    message_catch = NULL;
    return true;
}

static const char *needs(const struct problem *p)
{
    if (p->weights) return "weights of this type are packed before, see millrace_loop_prepare";
    if (p->pair) return "a second contraction needs a fourth tensor, see millrace_loop_prepare";
    return p->then[0] ? "(then ..) needs more arguments, see millrace_loop_prepare" : NULL;
}

/* what a text means: known by another text, perhaps */
static void prepare(struct job *j)
{
    struct problem p;
    struct message_open o;
    const char *text = j->text;
    const size_t n = strlen(text);
    const uint64_t hash = hash_bytes(text, n, 0);
    problem_parse(&p, str_of(text), "problem");
    const size_t most = strlen(p.text);
    const uint64_t other = hash_bytes(p.text, most, 0);
    hold(&o, &writing);
    millrace_problem *x = find(p.text, most, other);
    if (!x) {
        x = xcalloc(1, sizeof *x);
        x->p = p;
        x->needs[0] = x->needs[1] = needs(&p);
        if (!x->needs[1] && (p.type != TYPE_F32 || p.store)) x->needs[0] = "not of float: millrace_loop_any has it";
        pthread_mutex_init(&x->making, NULL);
        add(p.text, most, other, x);
    }
    if (!find(text, n, hash)) add(text, n, hash, x);
    drop(&o);
    j->x = x;
}

/* ---- kernels ---- */

static pthread_mutex_t measuring = PTHREAD_MUTEX_INITIALIZER;        /* of files and of time */
static const char columns[] = "machine,problem,tree";

static bool recall(const char *cache, const char *machine, struct takeaway *x, enum isa isa)
{
    if (access(cache, F_OK)) return false;
    if (!access(cache, W_OK)) csvw_close(csvw_append(cache, columns));   /* cuts a row that a full disk tore */
    csv *t = csv_open(cache);
    int m = csv_need(t, "machine"), p = csv_need(t, "problem"), tree = csv_need(t, "tree");
    while (csv_next(t)) {
        if (!str_is(csv_str(t, m), machine) || !str_is(csv_str(t, p), x->p.text)) continue;
        nest_parse(&x->nest[isa], &x->p, csv_str(t, tree), 0, cache);
        x->have[isa] = !kernel_plan(&(struct kernel_plan){ 0 }, &x->p, &x->nest[isa], isa, false);
    }
    csv_close(t);
    return x->have[isa];
}

static void choose(struct takeaway *x, enum isa isa, const char *cache, int measure)
{
    struct evaluator v;
    evaluator_open(&v, isa, NULL);
    if (!cache || !recall(cache, v.machine, x, isa)) {
        struct search s = { .algo = "heuristic", .steps = 10, .seconds = 60, .measure = measure,
                            .actions = (1u << ACT_COUNT) - 1 };
        search_run(&s, &v, &x->p);
        x->nest[isa] = s.best;
        x->have[isa] = true;
        search_free(&s);
        if (cache) {
            struct buf b = { 0 };
            nest_print(&b, &x->p, &x->nest[isa]);
            csvw *w = csvw_append(cache, columns);
            csvw_cstr(w, v.machine);
            csvw_cstr(w, x->p.text);
            csvw_str(w, (str){ b.s, b.n });
            csvw_end(w);
            csvw_close(w);
            free(b.s);
        }
    }
    evaluator_close(&v);
}

/* by whoever holds x->making */
static void make(millrace_problem *x, const char *cache, int measure)
{
    struct takeaway t = { .p = x->p };
    const enum isa best = isa_for(&x->p), isa = x->p.group > 1 && best == ISA_AVX2 ? ISA_AVX512 : best;
    const bool runs = isa_here(isa) && !(problem_needs(&x->p, isa) & ~carry_cpu());
    if (measure > 0 && x->p.op == OP_FMA && runs) choose(&t, isa, cache, measure);
    takeaway_complete(&t, 1u << isa);
    struct image m;
    image_begin(&m);
    struct image_kernel q = { .name = "kernel", .p = &t.p };
    q.nest[isa] = &t.nest[isa];
    const char *why = image_add(&m, &q), *at = why ? NULL : image_load(&m);
    const struct image_symbol *call = image_find(&m, "kernel"), *pack = image_find(&m, "kernel_pack");
    const size_t call_at = call ? call->at : 0, pack_at = pack ? pack->at : 0;
    image_free(&m);
    if (why) die("%s: %s", x->p.text, why);
    if (!at) die("no memory for the code of %s", x->p.text);
    if (pack_at) x->pack = (millrace_pack *)(uintptr_t)(at + pack_at), x->packed = image_packed(&q) * x->p.group;
    atomic_store_explicit(&x->call, (millrace_call *)(uintptr_t)(at + call_at), memory_order_release);
}

/* ---- calls ---- */

static void give_time(void *unused) { (void)unused, measure_unlock(); }

static void work(struct job *j)
{
    static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
    struct message_open making, more, time;
    hold(&more, &reading);
    machine_here();                                      /* reads a file, the first time */
    drop(&more);
    hold(&making, &j->x->making);
    if (!atomic_load_explicit(&j->x->call, memory_order_acquire)) {
        if (j->measure > 0) hold(&more, &measuring), message_open(&time, give_time, NULL);
        make(j->x, j->cache, j->measure);
        if (j->measure > 0) message_shut(&time), drop(&more);
    }
    drop(&making);
}

static millrace_call *get(const char *text, const char *cache, int measure, int which)
{
    const size_t n = strlen(text);
    struct job j = { text, cache, measure, find(text, n, hash_bytes(text, n, 0)) };
    error[0] = 0;
    if (!j.x && !caught(prepare, &j)) return NULL;
    if (j.x->needs[which]) {
        snprintf(error, sizeof error, "%s: %s", text, j.x->needs[which]);
        return NULL;
    }
    millrace_call *f = atomic_load_explicit(&j.x->call, memory_order_acquire);
    if (!f && caught(work, &j)) f = atomic_load_explicit(&j.x->call, memory_order_acquire);
    return f;
}

millrace_kernel *millrace_loop(const char *problem, const char *cache, int measure)
{
    return (millrace_kernel *)(uintptr_t)get(problem, cache, measure, 0);
}

millrace_kernel_any *millrace_loop_any(const char *problem, const char *cache, int measure)
{
    return (millrace_kernel_any *)(uintptr_t)get(problem, cache, measure, 1);
}

millrace_problem *millrace_loop_prepare(const char *problem)
{
    const size_t n = strlen(problem);
    struct job j = { .text = problem, .x = find(problem, n, hash_bytes(problem, n, 0)) };
    error[0] = 0;
    return j.x || caught(prepare, &j) ? j.x : NULL;
}

millrace_call *millrace_loop_get(millrace_problem *x)
{
    millrace_call *f = atomic_load_explicit(&x->call, memory_order_acquire);
    struct job j = { .x = x };
    error[0] = 0;
    if (f) return f;
    if (caught(work, &j)) f = atomic_load_explicit(&x->call, memory_order_acquire);
    return f;
}

millrace_pack *millrace_loop_pack(millrace_problem *x) { return millrace_loop_get(x) ? x->pack : NULL; }
int64_t millrace_loop_packed(millrace_problem *x) { return millrace_loop_get(x) ? x->packed : 0; }

const char *millrace_loop_error(void) { return error; }

/* ---- tuning ---- */

struct tuning { struct tuning *next; millrace_problem *x; int measure; char *cache; };
static pthread_mutex_t queueing = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static struct tuning *first, **last = &first;
static bool tuning;

/* what was there goes on working while this is made, unless weights are packed for it */
static void tune(struct job *j)
{
    struct message_open more, time;
    hold(&more, &measuring);
    message_open(&time, give_time, NULL);
    make(j->x, j->cache, j->measure);
    message_shut(&time);
    drop(&more);
}

static void *tune_all(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&queueing);
    for (struct tuning *t; (t = first); ) {
        struct job j = { .x = t->x, .cache = t->cache, .measure = t->measure };
        pthread_mutex_unlock(&queueing);
        if (t->x->p.weights) caught(work, &j);
        else if (millrace_loop_get(t->x)) caught(tune, &j);
        pthread_mutex_lock(&queueing);
        first = t->next;
        if (!first) last = &first;
        free_all(t->cache, t);
    }
    tuning = false;
    pthread_cond_broadcast(&finished);
    pthread_mutex_unlock(&queueing);
    return NULL;
}

int millrace_loop_tune(millrace_problem *x, const char *cache, int measure)
{
    pthread_t id;
    struct tuning *t = calloc(1, sizeof *t);
    char *copy = cache ? strdup(cache) : NULL;
    const bool used = x->p.weights && atomic_load_explicit(&x->call, memory_order_acquire);
    snprintf(error, sizeof error, "%s", used ? "weights are packed for the kernel that is in use" : "");
    if (used || !t || (cache && !copy)) {
        free_all(t, copy);
        return -1;
    }
    *t = (struct tuning){ NULL, x, measure, copy };
    pthread_mutex_lock(&queueing);
    *last = t;
    last = &t->next;
    if (!tuning && !pthread_create(&id, NULL, tune_all, NULL)) tuning = true, pthread_detach(id);
    const bool runs = tuning;
    if (!runs) first = NULL, last = &first, free_all(copy, t);
    pthread_mutex_unlock(&queueing);
    return runs ? 0 : -1;
}

void millrace_loop_wait(void)
{
    pthread_mutex_lock(&queueing);
    while (tuning) pthread_cond_wait(&finished, &queueing);
    pthread_mutex_unlock(&queueing);
}
