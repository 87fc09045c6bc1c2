#include "loop/code/peer.h"
#include "base/checked.h"
#include "base/message.h"
#include "base/out.h"
#include "loop/code/native.h"
#include "measure/clock.h"
#include "peer/sources.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PEERS = 20, WARM_RUNS = 16 };
static const double CAP_SECONDS = 20e-3, PATIENCE = 0.5;         /* of one turn; with pace */
const char peer_names[] = "ours|ours-any|ours-gcc|ours-clang|openblas|openblas-core|blis|blis-core|onednn|onednn-any|"
                          "libxsmm|numpy|gcc|clang";

#define GCC "gcc -O2 -march=native"
#define PLAIN "-O3 -march=native -ffast-math"
static const struct peer {
    const char *name, *source, *compile, *libs, *env, *package;
    bool each;                                           /* compiled for each problem */
} known[] = {
    { "ours", NULL, NULL, NULL, NULL, NULL, false },
    { "ours-any", NULL, NULL, NULL, NULL, NULL, false },
    { "ours-gcc", NULL, "gcc", NULL, NULL, "gcc", false },       /* the C text of ours */
    { "ours-clang", NULL, "clang", NULL, NULL, "clang", false },
    { "openblas", "openblas.c", GCC " -DLIBRARY='\"libopenblas.so.0\"'", "-ldl", NULL, "libopenblas0-pthread", false },
    { "openblas-core", "openblas.c", GCC " -DLIBRARY='\"libopenblas.so.0\"'", "-ldl", "OPENBLAS_CORETYPE",
      "libopenblas0-pthread", false },
    { "blis", "openblas.c", GCC " -DLIBRARY='\"libblis.so.4\"'", "-ldl", NULL, "libblis4-openmp", false },
    { "blis-core", "openblas.c", GCC " -DLIBRARY='\"libblis.so.4\"'", "-ldl", "BLIS_ARCH_TYPE", "libblis4-openmp",
      false },
    { "onednn", "onednn.c", GCC, "-ldnnl", NULL, "libdnnl-dev", false },
    { "onednn-any", "onednn.c", GCC " -DANY", "-ldnnl", NULL, "libdnnl-dev", false },
    { "libxsmm", "libxsmm.c", GCC, "-lxsmm -lxsmmnoblas -lpthread -ldl -lm", NULL, "libxsmm-dev", false },
    { "numpy", "peer_numpy.py", NULL, NULL, NULL, "python3-numpy", false },
    { "gcc", "plain.c", "gcc " PLAIN, "", NULL, "gcc", true },
    { "clang", "plain.c", "clang " PLAIN, "", NULL, "clang", true },
};

struct worker {
    const struct peer *peer;
    char *so;
    const char *missing;
    pid_t pid;
    int to, from;
    bool ready;
    struct native text;
};
struct peers {
    struct worker w[MAX_PEERS];
    struct peer_result result[MAX_PEERS];
    int n, rounds, runs;
    char *dir, reason[MAX_PEERS][128];
    struct evaluator v, any;                             /* any: with operands in the nest's own layout */
};

typedef void *open_fn(const char *kind, const long *size, const char **why);
typedef void run_fn(void *, float *c, const float *a, const float *b);
typedef void finish_fn(void *);
typedef void extra_fn(void *, const float *, const float *);

/* a shell runs it in a folder, where its temporary files go too; its messages go nowhere.  The folder's name, which is
 * the user's, is no part of the line, which is freed.  Did it succeed? */
static bool command(const char *folder, char *line)
{
    pid_t pid = fork();
    if (pid < 0) die_errno("cannot start a process");
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        if (chdir(folder) != 0) _exit(127);
        setenv("TMPDIR", ".", 1);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0) {}
    free(line);
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool compile(struct peers *s, int i, const char *defines)
{
    struct worker *w = &s->w[i];
    free(w->so);
    w->so = xformat("%s/%d.so", s->dir, i);
    return command(s->dir, xformat("%s %s -fPIC -shared -o %d.so %s %s", w->peer->compile, defines, i, w->peer->source,
                                   w->peer->libs));
}

struct peers *peers_open(const char *const *names, int n, int rounds, int runs, enum isa isa)
{
    struct peers *s = xcalloc(1, sizeof *s);
    s->rounds = rounds;
    s->runs = runs;
    s->dir = out_scratch("peer");
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++) {
        char *path = xformat("%s/%s", s->dir, sources[k].name);
        FILE *f = fopen(path, "w");
        if (!f || fputs(sources[k].text, f) < 0 || fclose(f)) die_errno("%s", path);
        free(path);
    }
    for (int i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (!strcmp(names[i], known[k].name)) s->w[s->n].peer = &known[k];
        if (!s->w[s->n].peer) die("unknown peer '%s'; known: %s", names[i], peer_names);
        if (s->n == MAX_PEERS - 1) die("more than %d peers", MAX_PEERS - 1);
        struct worker *w = &s->w[s->n];
        bool good = true;
        if (w->peer->compile && !w->peer->source) good = command(s->dir, xformat("command -v %s", w->peer->compile));
        else if (w->peer->compile) good = compile(s, s->n, w->peer->each ? "-DM=8 -DN=8 -DK=8 -DTA=0 -DTB=0" : "");
        else if (w->peer->source) good = command(s->dir, xstrdup("/usr/bin/python3 -c 'import numpy'"));
        if (!good) w->missing = w->peer->package;
        s->n++;
    }
    evaluator_open(&s->v, isa, NULL);
    evaluator_open(&s->any, isa, NULL);
    s->any.prepared = true;
    cpu_set_t here;                                      /* one core may be faster than another for seconds */
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    sched_setaffinity(0, sizeof here, &here);            /* where that is not allowed it is as without */
    return s;
}

const char *peer_missing(const struct peers *s, int i)
{
    return s->w[i].missing;
}

static void set_environment(const struct peer *p)
{
    bool wide = isa_here(ISA_AVX512);
    static const char *const single[] = { "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                          "HL_NUM_THREADS", "MKL_NUM_THREADS" };
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) setenv(single[i], "1", 1);
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("BLIS_ARCH_TYPE");
    if (!p->env) return;
    if (!strcmp(p->env, "BLIS_ARCH_TYPE")) setenv(p->env, wide ? "skx" : "haswell", 1);
    else setenv(p->env, wide ? "SKYLAKEX" : "HASWELL", 1);
}

static bool equal(const struct problem *p, const float *got, const float *want, int64_t n)
{
    const bool sums = p->type == TYPE_U8S8 && !p->then[0], cast = problem_cast(p);
    const int32_t *sum = (const int32_t *)(const void *)got, *exact = (const int32_t *)(const void *)want;
    const double *d = (const double *)(const void *)got, *e = (const double *)(const void *)want;
    const double share = p->type == TYPE_F64 ? 1e-12 : p->pair && p->store == STORE_BF16 ? 0.03 : 1e-4;
    if (sums && !p->sign) return !memcmp(got, want, (size_t)n * sizeof *got);
    for (int64_t i = 0; i < n; i++) {
        float x[2] = { got[i], want[i] };
        for (int j = 0; j < 2 && cast; j++)
            carry_widen(problem_then(p, THEN_CAST_F16) ? CARRY_HALVES_F16 : CARRY_HALVES_BF16,
                        (const char *)(j ? want : got) + 2 * i, &x[j], 1);
        const double g = sums ? sum[i] : p->type == TYPE_F64 ? d[i] : x[0];
        const double w = sums ? exact[i] : p->type == TYPE_F64 ? e[i] : x[1], size = fabs(w);
        /* signed sums of oneDNN go through floats, scores of attention of bf16 are that; rounded: a step of 8 bits */
        const double most = sums ? floor(size / (1 << 23)) : cast ? 1e-4 + size / 64 : share * (1 + size);
        if (!(fabs(g - w) <= most)) return false;
    }
    return true;
}

static void say(int fd, const char *s)
{
    if (!write_all(fd, s, strlen(s))) _exit(1);
}

/* the least seconds of a turn's runs: of ours and of peers when the core has the same pace */
static double least_run(struct pace *pace, double (*once)(void *), void *of, long runs)
{
    double best = INFINITY, total;
    pace->left = PATIENCE;
    do {
        total = 0;
        for (long i = 0; i < runs && total < CAP_SECONDS; i++) {
            double d = once(of);
            total += d;
            best = fmin(best, d);
        }
    } while (pace_again(pace, total));
    return best;
}

/* Before the clock starts: until a run needs no new page.  Our first one copies those that peers have, too; oneDNN maps
 * its buffers anew in the first six to eight, which take twice as long ((mm 1500 1536 384), 722 pages) */
static void warm(double (*once)(void *), void *of)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &after);
    for (int i = 0; i < WARM_RUNS; i++) {
        before = after;
        once(of);
        getrusage(RUSAGE_SELF, &after);
        if (after.ru_minflt == before.ru_minflt) return;
    }
}

/* a turn of a peer.  One that has no sums of halves is given them as floats, each turn, as its user would do it */
struct turn { void *data; run_fn *run; struct carry_change flat[3]; const float *from[3]; float *to[3], *c; };

static double take_turn(void *of)
{
    const struct turn *t = of;
    int64_t from = now_ns();
    for (int i = 0; i < 3; i++)
        if (t->to[i]) carry_forth(&t->flat[i], t->from[i], t->to[i]);
    t->run(t->data, t->c, t->to[0] ? t->to[0] : t->from[0], t->to[1] ? t->to[1] : t->from[1]);
    return (double)(now_ns() - from) * 1e-9;
}

static struct turn turns(struct peers *s, const struct problem *p, bool widen)
{
    struct turn t = { .from = { s->v.x[TENSOR_A], s->v.x[TENSOR_B], s->v.more[2] }, .c = s->v.x[TENSOR_C] };
    for (int i = 0; i < 3 && widen; i++) {
        int64_t n = p->elements[i == 2 ? TENSOR_V : i];
        if (!n) continue;
        t.to[i] = aligned_alloc(64, ((size_t)n * 4 + 127) & ~(size_t)63);
        if (!t.to[i]) _exit(1);
        t.flat[i] = (struct carry_change){ .nvar = 1, .wide = s->v.isa != ISA_AVX2, .store = (int32_t)p->store,
                                           .size = { (int32_t)n }, .from = { 1 }, .to = { 1 } };
        carry_forth(&t.flat[i], t.from[i], t.to[i]);
    }
    return t;
}

/* the process of one peer: "run N" is answered by the least seconds of N runs */
static _Noreturn void serve(struct peers *s, struct worker *w, const struct problem *p, int in, int out)
{
    long size[16];
    const char *why = NULL;
    char line[256], name[sizeof p->kind + sizeof p->text];
    set_environment(w->peer);
    peer_sizes(p, size);
    if (w->peer->source && !w->peer->compile) {
        char *path = xformat("%s/%s", s->dir, w->peer->source);
        dup2(in, 0);
        dup2(out, 1);
        execl("/usr/bin/python3", "python3", path, (char *)NULL);
        _exit(127);
    }
    const char *then = strstr(p->text, p->type == TYPE_F64 || p->pair ? "(type " : "(then ");
    const char *kind = strncmp(w->peer->name, "onednn", 6) ? NULL : peer_windows(p, size);
    snprintf(name, sizeof name, "%s%s%s", kind ? kind : p->kind, then ? " " : "", then ? then : "");
    if (p->weights && p->group == 1) snprintf(name, sizeof name, "%s (weights packed)", p->kind);
    int null = open("/dev/null", O_WRONLY);              /* what they say while they compile */
    dup2(null, 2);
    void *lib = dlopen(w->so, RTLD_NOW | RTLD_LOCAL);
    static const char *const symbol[] = { "peer_open", "peer_run", "peer_prepare", "peer_finish", "peer_extra" };
    enum { OPEN, RUN, PREPARE, FINISH, EXTRA, SYMBOLS };
    union { void *at; open_fn *open; run_fn *run; finish_fn *finish; extra_fn *extra; } f[SYMBOLS] = { { NULL } };
    for (int i = 0; lib && i < SYMBOLS; i++) f[i].at = dlsym(lib, symbol[i]);
    void *data = f[OPEN].at && f[RUN].at ? f[OPEN].open(name, size, &why) : NULL;
    if (!data) {
        snprintf(line, sizeof line, "%s\n", why ? why : "it cannot be loaded");
        say(out, line);
        _exit(0);
    }
    float **x = s->v.x;
    bool has = p->pair && p->store == STORE_BF16;        /* oneDNN has attention of bf16, no other peer */
    struct turn t = turns(s, p, p->store >= STORE_F16 && !has);
    t.data = data;
    t.run = f[RUN].run;
    const float *const given[3] = { t.to[0] ? t.to[0] : t.from[0], t.to[1] ? t.to[1] : t.from[1],
                                 t.to[2] ? t.to[2] : t.from[2] };
    if (f[EXTRA].at) f[EXTRA].extra(data, p->pair ? given[2] : s->v.more[0], s->v.more[1]);
    memset(x[TENSOR_C], 0xff, (size_t)(p->elements[TENSOR_C] * p->bytes));
    if (f[PREPARE].at) f[PREPARE].run(data, x[TENSOR_C], given[0], given[1]);
    take_turn(&t);
    if (f[FINISH].at) f[FINISH].finish(data);
    const bool right = equal(p, x[TENSOR_C], s->v.want, p->elements[TENSOR_C]);
    if (right) warm(take_turn, &t);
    say(out, right ? "ok\n" : "its result is wrong\n");
    for (FILE *cmd = fdopen(in, "r"); cmd && fgets(line, sizeof line, cmd); ) {
        if (strncmp(line, "run ", 4)) break;
        snprintf(line, sizeof line, "%.9g\n", least_run(&s->v.pace, take_turn, &t, strtol(line + 4, NULL, 10)));
        say(out, line);
    }
    _exit(0);
}

/* a run of ours, in this process: of the nest, or of its C text */
struct own { struct evaluator *v; const struct native *text; };

static double run_own(void *of)
{
    struct own *o = of;
    return o->text->run ? native_once(o->text, o->v) : evaluator_once(o->v);
}

/* the C text of ours, in this process */
static void start_text(struct peers *s, int i, const struct problem *p, const struct nest *tree)
{
    struct worker *w = &s->w[i];
    struct evaluator *v = &s->v;
    s->result[i].why = native_load(&w->text, p, tree, v->isa, w->peer->compile);
    if (s->result[i].why) return;
    memset(v->x[TENSOR_C], 0xff, (size_t)(p->elements[TENSOR_C] * p->bytes));
    native_once(&w->text, v);
    s->result[i].checked = problem_equal(p, v->x[TENSOR_C], v->want, v->within);
    if (!s->result[i].checked) s->result[i].why = "its result is wrong";
    if (!s->result[i].checked) native_unload(&w->text);
}

static bool answer(struct worker *w, char *line, size_t room)
{
    size_t n = 0;
    while (n + 1 < room && read(w->from, line + n, 1) == 1 && line[n] != '\n') n++;
    line[n] = 0;
    return n > 0;
}

/* why it has none of this problem; or NULL */
static const char *lacks(struct peers *s, int i, const struct problem *p)
{
    const struct worker *w = &s->w[i];
    const char *name = w->peer->name;
    if (w->missing) {
        snprintf(s->reason[i], sizeof s->reason[i], "not installed: %s", w->missing);
        return s->reason[i];
    }
    if (p->pair && (strcmp(name, "onednn") || strncmp(p->kind, "attn", 4)))
        return "two contractions are not written for it";
    if (p->store >= STORE_F16 && (p->then[0] || !w->peer->compile)) return "for halves it is not written";
    if (p->q4) return "weights of 4 bits are not written for it";
    if (p->then[0] && (strcmp(name, "onednn") || (p->group == 1 && strcmp(p->kind, "mm"))))
        return "nothing follows its sums";
    if (p->type == TYPE_F64 && strncmp(w->peer->source, "openblas", 8) && strncmp(w->peer->source, "libxsmm", 7))
        return "it has no products of doubles, or none is written";
    if (!w->peer->each) return NULL;
    long size[16];
    peer_sizes(p, size);
    char *defines = xformat("-DM=%ld -DN=%ld -DK=%ld -DTA=%d -DTB=%d", size[0], size[1], size[2],
                            !strcmp(p->kind, "mm_tn") || !strcmp(p->kind, "mm_tt"),
                            !strcmp(p->kind, "mm_nt") || !strcmp(p->kind, "mm_tt"));
    bool good = !strncmp(p->kind, "mm", 2) && p->type == TYPE_F32 && compile(s, i, defines);
    free(defines);
    return good ? NULL : "only products are written for it";
}

static void start(struct peers *s, int i, const struct problem *p)
{
    struct worker *w = &s->w[i];
    int to[2], from[2];
    w->ready = false;
    s->result[i] = (struct peer_result){ .seconds = INFINITY, .why = lacks(s, i, p) };
    if (s->result[i].why) return;
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC)) die_errno("cannot make a pipe");
    w->pid = fork();
    if (w->pid < 0) die_errno("cannot start a process");
    if (w->pid == 0) {
        close(to[1]);
        close(from[0]);
        for (int k = 0; k < i; k++)                      /* or the ends of the pipes of others would stay open */
            if (s->w[k].pid > 0) close(s->w[k].to), close(s->w[k].from);
        serve(s, w, p, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    w->to = to[1];
    w->from = from[0];
    char line[128];
    if (w->peer->source && !w->peer->compile) {
        long size[16];
        int n = peer_sizes(p, size);
        dprintf(w->to, "%s", p->kind);
        for (int k = 0; k < n; k++) dprintf(w->to, " %ld", size[k]);
        dprintf(w->to, "\n");                            /* a general nest has no sizes */
    }
    bool said = answer(w, line, sizeof line);
    w->ready = said && !strcmp(line, "ok");
    if (w->ready) {
        s->result[i].checked = w->peer->compile;         /* NumPy has operands of its own */
        return;
    }
    snprintf(s->reason[i], sizeof s->reason[i], "%s", said ? line : "it crashed");
    s->result[i].why = s->reason[i];
}

static void stop(struct worker *w)
{
    if (w->pid <= 0) return;
    close(w->to);
    close(w->from);
    while (waitpid(w->pid, NULL, 0) < 0) {}
    w->pid = 0;
}

/* from the turns of each, the least of their runs */
static void compared(struct peers *s, double *turn)
{
    const double *of = NULL;
    const size_t rounds = (size_t)s->rounds;
    for (int i = 0; i < s->n; i++) {
        double *t = turn + (size_t)i * rounds;
        struct peer_result *r = &s->result[i];
        if (r->why) continue;
        if (!of) of = t;
        const double least = quantile(of, rounds, 0);
        for (size_t j = 0; j < rounds && of != t; j++) t[j] /= of[j];
        r->ratio = of == t ? (struct interval){ 1, 1, 1 } : median_interval(t, rounds, 0.95, NULL);
        r->seconds = least * r->ratio.point;
    }
}

const struct peer_result *peers_time(struct peers *s, const struct problem *p, const struct nest *tree)
{
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);      /* a peer may die; its row says so */
    evaluator_problem(&s->v, p);
    struct result first = evaluate_again(&s->v, tree, 1, 1, false);              /* makes the operands, checks ours */
    evaluator_problem(&s->any, p);
    for (int i = 0; i < s->n; i++)
        if (s->w[i].peer == &known[1]) evaluate_again(&s->any, tree, 1, 1, false);
    if (!s->v.x[0]) evaluator_operands(&s->v);
    measure_lock();
    for (int i = 0; i < s->n; i++) {
        if (s->w[i].peer->source) start(s, i, p);
        else s->result[i] = (struct peer_result){ .seconds = INFINITY, .checked = first.checked, .why = first.why };
        if (s->w[i].peer->compile && !s->w[i].peer->source && !first.why) start_text(s, i, p, tree);
    }
    double *turn = xmalloc(size_mul((size_t)s->n, (size_t)s->rounds), sizeof *turn);
    for (int r = 0; r < s->rounds; r++)
        for (int i = 0; i < s->n; i++) {
            struct worker *w = &s->w[i];
            double t = INFINITY;
            if (!w->peer->source && !s->result[i].why) {
                struct own own = { w->peer == &known[1] ? &s->any : &s->v, &w->text };
                if (!r) warm(run_own, &own);
                t = least_run(&s->v.pace, run_own, &own, s->runs);
            } else if (w->ready) {
                char line[128];
                w->ready = dprintf(w->to, "run %d\n", s->runs) > 0 && answer(w, line, sizeof line);
                if (w->ready) t = strtod(line, NULL);
                else s->result[i].why = "it crashed";
            }
            turn[i * s->rounds + r] = t;
        }
    compared(s, turn);
    free(turn);
    for (int i = 0; i < s->n; i++) {
        stop(&s->w[i]);
        native_unload(&s->w[i].text);
    }
    measure_unlock();
    signal(SIGPIPE, before);                             /* who reads our rows may go, too: quietly */
    return s->result;
}

void peers_close(struct peers *s)
{
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++) {
        char *path = xformat("%s/%s", s->dir, sources[k].name);
        unlink(path);
        free(path);
    }
    for (int i = 0; i < s->n; i++) {
        if (s->w[i].so) unlink(s->w[i].so);
        free(s->w[i].so);
    }
    rmdir(s->dir);
    free(s->dir);
    evaluator_close(&s->v);
    evaluator_close(&s->any);
    free(s);
}
