#include "loop/code/evaluate.h"
#include "base/message.h"
#include "base/num.h"
#include "measure/clock.h"
#include "measure/stats.h"
#include "table/csvio.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RUNS = 64 };
static const double PATIENCE = 2;                        /* with pace: seconds, and as many as a problem ran */
static const char columns[] = "key,machine,isa,encoder,problem,tree,seconds,median_seconds,runs,load";

static uint64_t key_of(const struct evaluator *v, const char *problem, const char *tree)
{
    uint64_t h = hash_bytes(problem, strlen(problem), ENCODER_VERSION);
    h = hash_bytes(tree, strlen(tree), h);
    h = hash_bytes(v->machine, strlen(v->machine), h ^ (uint64_t)v->isa ^ (v->prepared ? 16 : 0));
    return h ? h : 1;
}

static struct entry *find(struct evaluator *v, uint64_t key)
{
    if (v->used * 2 >= v->nslot) {
        struct entry *old = v->slot;
        size_t n = v->nslot;
        v->nslot = n ? n * 2 : 1024;
        v->slot = xcalloc(v->nslot, sizeof *v->slot);
        for (size_t i = 0; i < n; i++)
            if (old[i].key) *find(v, old[i].key) = old[i];
        free(old);
    }
    size_t i = key & (v->nslot - 1);
    while (v->slot[i].key && v->slot[i].key != key) i = (i + 1) & (v->nslot - 1);
    return &v->slot[i];
}

static void remember(struct evaluator *v, uint64_t key, struct result r)
{
    struct entry *e = find(v, key);
    if (!e->key) v->used++;
    *e = (struct entry){ key, r.seconds, r.median_seconds, r.runs };
}

/* nothing is appended to, or cut from, a file that is not ours */
static void check_store(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f && errno != ENOENT) die_errno("%s", path);
    if (!f) return;
    char head[sizeof columns + 1] = "";
    size_t n = fread(head, 1, sizeof columns, f);
    if (ferror(f)) die_errno("%s", path);                /* not the empty file that it looks like */
    fclose(f);
    if (n && (n < sizeof columns || memcmp(head, columns, sizeof columns - 1) || head[sizeof columns - 1] != '\n'))
        die_at(path, 1, "not a store of measured nests: its header is not '%s'", columns);
}

void evaluator_recall(struct evaluator *v, const char *path)
{
    check_store(path);
    csv *t = csv_open(path);
    int key = csv_need(t, "key"), seconds = csv_need(t, "seconds"), median = csv_need(t, "median_seconds");
    int runs = csv_need(t, "runs");
    while (csv_next(t)) {
        str s = csv_str(t, key);
        uint64_t k = 0;
        for (size_t i = 0; i < s.n; i++) {
            static const char digits[] = "0123456789abcdef";
            const char *d = memchr(digits, s.s[i], 16);
            if (!d || s.n != 16) csv_die(t, key, "16 hexadecimal digits");
            k = k << 4 | (uint64_t)(d - digits);
        }
        if (!k) csv_die(t, key, "a key other than 0");
        double sec = csv_num(t, seconds);
        if (!(sec > 0)) csv_die(t, seconds, "a positive number");
        const struct result r = { .seconds = sec, .median_seconds = csv_num(t, median), .runs = (int)csv_int(t, runs) };
        remember(v, k, r);
    }
    csv_close(t);
}

void evaluator_open(struct evaluator *v, enum isa isa, const char *store_path)
{
    *v = (struct evaluator){
        .isa = isa == ISAS ? isa_best() : isa, .each = isa == ISAS,
        .check = true, .min_runs = 4, .max_runs = 32, .cap_seconds = 2e-3, .early_ratio = 4
    };
    machine_name(v->machine);
    if (!store_path) return;
    measure_lock();                                      /* one process at a time may write the header */
    check_store(store_path);
    v->store = csvw_append(store_path, columns);
    csvw_flush(v->store);
    evaluator_recall(v, store_path);
    measure_unlock();
}

/* a small integer as an element of tensor t; in a group it is there several times, with another sign */
static float small(enum problem_type type, int t, int n)
{
    union { float f; uint32_t u; } x = { (float)n }, y = { (float)-n };
    if (type == TYPE_BF16) x.u = x.u >> 16 | (y.u & 0xffff0000);
    if (type == TYPE_U8S8) x.u = t == TENSOR_A ? (uint32_t)(n + 3) * 0x01030201u : (uint32_t)(n & 127) | 0x7f80fb00u;
    return x.f;
}

static float *numbers(enum problem_type type, enum problem_store store, int stored, int t, int64_t n)
{
    size_t bytes = type == TYPE_F64 ? sizeof(double) : sizeof(float);
    float *x = aligned_alloc(64, ((size_t)n * bytes + 127) & ~(size_t)63);
    double *doubles = (double *)(void *)x;
    if (!x) die("out of memory");
    struct rng r = rng_for(1, str_of("operands"));
    for (int64_t i = 0; i < n; i += 16)
        for (uint64_t bits = rng_u64(&r), j = 0; j < 16 && i + (int64_t)j < n; j++, bits >>= 4)
            if (type == TYPE_F64) doubles[i + (int64_t)j] = (int)(bits & 7) - 3;
            else x[i + (int64_t)j] = small(type, t, (int)(bits & 7) - 3);
    for (int64_t i = 0; i < n && store >= STORE_F16; i++) {              /* as they are stored, where they are */
        uint16_t half = carry_narrow((enum carry_store)store, x[i]);
        memcpy((char *)x + stored * i, &half, (size_t)stored);
    }
    return x;
}

void evaluator_problem(struct evaluator *v, const struct problem *p)
{
    for (int i = 0; i < 3; i++) {
        free_all(v->x[i], v->more[i]);
        v->x[i] = v->more[i] = NULL;
    }
    free_all(v->want, v->within);
    v->want = v->within = NULL;
    v->p = p;
    if (p && v->each) v->isa = isa_for(p);
    v->pace.slow = v->model ? NULL : v->isa == ISA_AMX ? machine_tiles_slow : machine_vectors_slow;
    v->best_seconds = INFINITY;
    v->pace.left = PATIENCE;
}

void evaluator_operands(struct evaluator *v)
{
    const bool fresh = !v->x[TENSOR_B];
    for (int t = 0; t < 3 && !v->x[t]; t++)              /* signed bytes in A are as those in B */
        v->x[t] = numbers(v->p->type, t == TENSOR_C ? STORE_FLOATS : v->p->store, problem_bytes(v->p, t),
                          v->p->sign && !t ? TENSOR_B : t, v->p->elements[t]);
    struct rng bits = rng_for(2, str_of("bits"));        /* the same every time */
    for (int64_t i = 0; fresh && v->p->q4 && i < v->p->elements[TENSOR_B] - v->p->scales; i++)
        ((uint32_t *)(void *)v->x[TENSOR_B])[i] = (uint32_t)rng_u64(&bits);
    if (v->p->then[0] && !v->more[0]) {
        enum problem_type type = v->p->type == TYPE_F64 ? TYPE_F64 : TYPE_F32;
        v->more[0] = numbers(type, STORE_FLOATS, 0, TENSOR_B, v->p->bias * v->p->biases);
        v->more[1] = numbers(type, STORE_FLOATS, 0, TENSOR_B, v->p->elements[TENSOR_C]);
    }
    if (v->p->pair && !v->more[2])
        v->more[2] = numbers(TYPE_F32, v->p->store, problem_bytes(v->p, TENSOR_V), TENSOR_B, v->p->elements[TENSOR_V]);
    v->kernel.extra = (struct carry_extra){ v->more[0], v->more[1], v->more[2] };
    if (!v->check || v->want) return;
    v->want = xmalloc((size_t)v->p->elements[TENSOR_C], (size_t)v->p->bytes);
    v->within = xmalloc((size_t)v->p->elements[TENSOR_C], sizeof *v->within);
    problem_reference(v->p, v->want, v->within, v->x[TENSOR_A], v->x[TENSOR_B], v->kernel.extra);
}

/* By the wall clock: the CPU time of a thread leaves preemption out, but on a virtual machine with stolen time it was
 * seen to be a third too short, which put results above the peak. */
double evaluator_once(struct evaluator *v)
{
    int64_t t = now_ns();
    (v->prepared ? kernel_body : kernel_run)(&v->kernel, v->x[TENSOR_C], v->x[TENSOR_A], v->x[TENSOR_B]);
    return (double)(now_ns() - t) * 1e-9;
}

/* of this thread: what a busy machine keeps it from takes none of a nest's runs */
static double used_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A few runs after one that took `first`; their seconds into s, of all as the result.  The system is not asked between
 * them before it matters: where it has page tables of its own each run would begin without translations at hand, and
 * what reads many pages would look half as fast as it is. */
static double time_runs(struct evaluator *v, double *s, int *n, int least, int most, double first)
{
    double total = first, wall = first;
    const double began = used_seconds() - first;
    for (*n = 0; *n < most && (total < v->cap_seconds || (*n < least && total < 10 * v->cap_seconds));
         total = wall < v->cap_seconds ? wall : used_seconds() - began)
        wall += s[(*n)++] = evaluator_once(v);
    return total;
}

static struct result measure(struct evaluator *v, const struct nest *t, int min_runs, int max_runs, bool early)
{
    struct result r = { .seconds = INFINITY, .median_seconds = INFINITY };
    v->kernel.whole = v->prepared;
    r.why = kernel_encode(&v->kernel, v->p, t, v->isa);
    static int have = -1;                                /* asking a virtual machine takes long */
    int need = problem_needs(v->p, v->isa);
    if (have < 0) have = carry_cpu();
    if (!r.why && (have & need) != need)
        r.why = v->isa == ISA_AMX          ? "this machine has no AMX for this type"
                : v->p->type == TYPE_BF16 ? "this machine has no AVX512-BF16" : "this machine has no AVX512-VNNI";
    if (r.why) return r;
    evaluator_operands(v);
    size_t bytes = (size_t)(v->p->elements[TENSOR_C] * v->p->bytes);
    if (!v->hold) measure_lock();
    if (v->check) memset(v->x[TENSOR_C], 0xff, bytes);
    kernel_weights(&v->kernel, v->x[TENSOR_B]);
    if (v->prepared) kernel_prepare(&v->kernel, v->x[TENSOR_A], v->x[TENSOR_B]);
    double s[MAX_RUNS], began = used_seconds();
    s[0] = evaluator_once(v);
    double first = used_seconds() - began;
    if (v->prepared) kernel_finish(&v->kernel, v->x[TENSOR_C]);
    if (v->check && !problem_equal(v->p, v->x[TENSOR_C], v->want, v->within)) {
        struct buf b = { 0 };
        nest_print(&b, v->p, t);
        die("wrong code for %s: problem %s tree %s", isa_name[v->isa], v->p->text, b.s);
    }
    r.checked = v->check;
    if (early && s[0] > v->early_ratio * v->best_seconds && s[0] < v->cap_seconds) s[0] = evaluator_once(v);
    if (early && s[0] > v->early_ratio * v->best_seconds && !(v->pace.slow && v->pace.slow())) {
        r.runs = 1;
    } else {
        double total = time_runs(v, s, &r.runs, min_runs, max_runs, first);      /* without the check */
        v->pace.left += total;
        while (r.runs && pace_again(&v->pace, total)) total = time_runs(v, s, &r.runs, min_runs, max_runs, first);
        if (!r.runs) r.runs = 1;                         /* 20 ms and more: the first run has to do */
    }
    if (!v->hold) measure_unlock();
    r.median_seconds = median(s, (size_t)r.runs);
    r.seconds = quantile(s, (size_t)r.runs, 0);
    v->measured++;
    return r;
}

static void write_store(struct evaluator *v, uint64_t key, const char *tree, struct result r)
{
    double load = 0;
    if (getloadavg(&load, 1) < 1) load = NAN;
    csvw_format(v->store, "%016llx", (unsigned long long)key);
    csvw_cstr(v->store, v->machine);
    csvw_cstr(v->store, isa_name[v->isa]);
    csvw_int(v->store, ENCODER_VERSION);
    csvw_cstr(v->store, v->p->text);
    csvw_cstr(v->store, tree);
    csvw_num(v->store, r.seconds);
    csvw_num(v->store, r.median_seconds);
    csvw_int(v->store, r.runs);
    csvw_known(v->store, load);
    csvw_end(v->store);
}

static struct result finish_result(struct evaluator *v, struct result r)
{
    r.gflops = isfinite(r.seconds) ? problem_flops(v->p) / r.seconds * 1e-9 : 0;
    if (r.seconds < v->best_seconds) v->best_seconds = r.seconds;
    return r;
}

struct result evaluate(struct evaluator *v, const struct nest *t)
{
    if (v->watch) v->watch(v->watching, v, t);
    if (v->model) {
        struct result r = { .seconds = INFINITY, .median_seconds = INFINITY };
        r.why = model_seconds(&r.seconds, v->p, t, v->isa, v->prepared);
        r.median_seconds = r.seconds;
        return finish_result(v, r);
    }
    static struct buf b;
    b.n = 0;
    nest_print(&b, v->p, t);
    uint64_t key = key_of(v, v->p->text, b.s);
    struct entry *e = find(v, key);
    if (e->key) {
        struct result r = { .seconds = e->seconds, .median_seconds = e->median, .runs = e->runs,
                            .checked = isfinite(e->seconds) };
        if (!isfinite(r.seconds)) r.why = model_seconds(&(double){ 0 }, v->p, t, v->isa, v->prepared);
        return finish_result(v, r);
    }
    struct result r = measure(v, t, v->min_runs, v->max_runs, true);
    remember(v, key, r);
    if (v->store && !r.why) write_store(v, key, b.s, r);
    return finish_result(v, r);
}

struct result evaluate_again(struct evaluator *v, const struct nest *t, int least, int most, bool early)
{
    if (most > MAX_RUNS) most = MAX_RUNS;
    return finish_result(v, measure(v, t, least < most ? least : most, most, early));
}

void evaluator_close(struct evaluator *v)
{
    evaluator_problem(v, NULL);
    kernel_free(&v->kernel);
    if (v->store) csvw_close(v->store);
    free(v->slot);
    *v = (struct evaluator){ 0 };
}
