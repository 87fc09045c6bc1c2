/* prof-plant.c - programs in which a part really is made faster, with their events
 *
 * Usage: prof-plant SHAPE SEED PART SPEED > events.csv
 *
 * SHAPE: serial, queue, pool, gpu, pipe, lock.  Each runs iterations of random work, the same for a SEED, in which the
 * work called PART takes 1/SPEED of its time.  Rows of category Waiting carry the link of what they wait for.  What
 * the GPU's stand-in ran is what its thread measured.  PART "-" prints the names of the parts. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 20000, ITERATIONS = 12, WORKERS = 3 };
struct event { int64_t start, end; const char *kind, *cat, *name; char link[24]; };
struct thread { char name[16]; struct event *v; size_t n; uint64_t random; int proc; };
static const char *part;
static double speed;
static bool seen[8];
static size_t nthreads;
static const char *const names[] = { "load", "compute", "store", "kernel", "copy", "update" };

/* A program of one thread is told in its CPU time: what else the machine does is not its own. */
static int64_t now(void)
{
    struct timespec t;
    clock_gettime(nthreads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void put(struct thread *t, const char *kind, const char *cat, const char *name, int64_t start, const char *link)
{
    if (t->n == EVENTS) abort();
    struct event *e = &t->v[t->n++];
    *e = (struct event){ start, now(), kind, cat, name, "" };
    snprintf(e->link, sizeof e->link, "%s", link ? link : "");
}

static struct thread thread_new(const char *name, uint64_t seed, int proc)
{
    struct thread t = { .v = calloc(EVENTS, sizeof(struct event)), .proc = proc,
                        .random = seed * 2654435761u + 88172645463325252u };
    if (!t.v) abort();
    snprintf(t.name, sizeof t.name, "%s", name);
    return t;
}

static double draw(struct thread *t)                     /* xorshift, 0 .. 1 */
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return (double)(t->random >> 11) / 9007199254740992.0;
}

/* so long does this piece take, ns: around mean, a third up or down */
static int64_t length(struct thread *t, const char *name, double mean_us)
{
    double ns = mean_us * 1000 * (0.67 + 0.66 * draw(t));
    return (int64_t)(strcmp(name, part) == 0 ? ns / speed : ns);
}

static void spin(int64_t ns)
{
    for (int64_t end = now() + ns; now() < end;) continue;
}

/* Work that needs no core, as the GPU, a disk or another machine do it.  Where several threads work it is done so: else
 * what achieves more or less would be the load of the machine's cores, which a replay does not know. */
static void rest(int64_t ns)
{
    int64_t end = now() + ns;
    struct timespec t = { end / 1000000000, end % 1000000000 };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) continue;
}

static void work(struct thread *t, const char *cat, int name, double mean_us)
{
    int64_t start = now(), ns = length(t, names[name], mean_us);
    seen[name] = true;
    if (part[0] != '-') (nthreads > 1 ? rest : spin)(ns);
    put(t, "cat", cat, names[name], start, NULL);
}

/* ---- a counter that threads wait for; who raised it to a value is told by the link */

struct gate { pthread_mutex_t lock; pthread_cond_t changed; int value; const char *name; };
#define GATE(name) { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, name }

static void gate_raise(struct gate *g, struct thread *t)
{
    char link[24];
    int64_t start = now();
    pthread_mutex_lock(&g->lock);
    snprintf(link, sizeof link, "%s%d", g->name, ++g->value);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    put(t, "cat", "C", "put", start, link);
}

static void gate_wait(struct gate *g, struct thread *t, int value)
{
    char link[24];
    int64_t start = now();
    snprintf(link, sizeof link, "%s%d", g->name, value);
    pthread_mutex_lock(&g->lock);
    while (g->value < value) pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
    put(t, "cat", "Waiting", "get", start, link);
}

/* ---- shapes; means are drawn from the seed */

static double mean[4];
static struct thread threads[WORKERS + 2];

static void serial(void)
{
    struct thread *t = &threads[0];
    for (int i = 0; i < ITERATIONS; i++) {
        int64_t start = now();
        work(t, "Python", 0, mean[0]);
        work(t, "C", 1, mean[1]);
        work(t, "C", 2, mean[2]);
        put(t, "op", "", "step", start, NULL);
    }
}

static struct gate full = GATE("full"), room = GATE("room"), done_gate = GATE("done");

static void *consumer(void *arg)
{
    struct thread *t = arg;
    for (int i = 0; i < ITERATIONS; i++) {
        gate_wait(&full, t, i + 1);
        work(t, "C", 1, mean[1]);
        work(t, "C", 2, mean[2]);
        gate_raise(&room, t);
    }
    gate_raise(&done_gate, t);
    return NULL;
}

static void queue(void)
{
    pthread_t id;
    struct thread *t = &threads[0];
    pthread_create(&id, NULL, consumer, &threads[1]);
    for (int i = 0; i < ITERATIONS; i++) {
        int64_t start = now();
        if (i >= 2) gate_wait(&room, t, i - 1);
        work(t, "Python", 0, mean[0]);
        gate_raise(&full, t);
        put(t, "op", "", "step", start, NULL);
    }
    gate_wait(&done_gate, t, 1);
    pthread_join(id, NULL);
}

static struct gate begin[WORKERS] = { GATE("b0."), GATE("b1."), GATE("b2.") };
static struct gate end[WORKERS] = { GATE("e0."), GATE("e1."), GATE("e2.") };

static void *pool_worker(void *arg)
{
    int k = *(const int *)arg;
    struct thread *t = &threads[k + 1];
    for (int i = 0; i < ITERATIONS; i++) {
        gate_wait(&begin[k], t, i + 1);
        work(t, "Device", k == 0 ? 1 : k == 1 ? 2 : 4, mean[k + 1]);
        gate_raise(&end[k], t);
    }
    return NULL;
}

static void pool(void)
{
    static const int number[WORKERS] = { 0, 1, 2 };
    pthread_t id[WORKERS];
    struct thread *t = &threads[0];
    for (int k = 0; k < WORKERS - 1; k++) pthread_create(&id[k], NULL, pool_worker, (void *)(uintptr_t)&number[k]);
    for (int i = 0; i < ITERATIONS; i++) {
        int64_t start = now();
        work(t, "Python", 0, mean[0]);
        for (int k = 0; k < WORKERS - 1; k++) gate_raise(&begin[k], t);
        for (int k = 0; k < WORKERS - 1; k++) gate_wait(&end[k], t, i + 1);
        work(t, "Python", 5, mean[3] / 2);
        put(t, "op", "", "step", start, NULL);
    }
    for (int k = 0; k < WORKERS - 1; k++) pthread_join(id[k], NULL);
}

enum { KERNELS = 3 };
static struct gate launched = GATE("l"), finished = GATE("f");

static void *device(void *arg)
{
    struct thread *t = arg;
    for (int i = 0; i < ITERATIONS * KERNELS; i++) {
        char link[24];
        pthread_mutex_lock(&launched.lock);
        while (launched.value < i + 1) pthread_cond_wait(&launched.changed, &launched.lock);
        pthread_mutex_unlock(&launched.lock);
        int64_t start = now();
        int name = i % KERNELS == KERNELS - 1 ? 4 : 3;
        seen[name] = true;
        int64_t ns = length(t, names[name], name == 3 ? mean[1] : mean[2] / 2);
        if (part[0] != '-') rest(ns);
        snprintf(link, sizeof link, "k%d", i + 1);
        put(t, "gpu", "GPU", names[name], start, link);
        pthread_mutex_lock(&finished.lock);
        finished.value++;
        pthread_cond_broadcast(&finished.changed);
        pthread_mutex_unlock(&finished.lock);
    }
    return NULL;
}

static void gpu(void)
{
    pthread_t id;
    struct thread *t = &threads[0];
    pthread_create(&id, NULL, device, &threads[1]);
    for (int i = 0; i < ITERATIONS; i++) {
        int64_t step = now();
        for (int k = 0; k < KERNELS; k++) {
            char link[24];
            work(t, "Python", 0, mean[0] / KERNELS);
            int64_t start = now();
            pthread_mutex_lock(&launched.lock);
            snprintf(link, sizeof link, "k%d", ++launched.value);
            pthread_cond_broadcast(&launched.changed);
            pthread_mutex_unlock(&launched.lock);
            put(t, "cat", "CUDA", "cudaLaunchKernel", start, link);
        }
        work(t, "C", 1, mean[3]);
        int64_t start = now();
        pthread_mutex_lock(&finished.lock);
        while (finished.value < (i + 1) * KERNELS) pthread_cond_wait(&finished.changed, &finished.lock);
        pthread_mutex_unlock(&finished.lock);
        put(t, "cat", "CUDA", "cudaDeviceSynchronize", start, NULL);
        work(t, "Python", 5, mean[0] / 3);
        put(t, "op", "", "step", step, NULL);
    }
    pthread_join(id, NULL);
}

static void write_rows(const struct thread *t)
{
    for (size_t i = 0; i < t->n; i++)
        printf("%d,%s,%s,%s,%" PRId64 ",%" PRId64 ",%s,%s,\n", t->proc, t->name, t->v[i].kind, t->v[i].cat,
               t->v[i].start, t->v[i].end, t->v[i].name, t->v[i].link);
}

static void talk(struct thread *t, int fd, bool send, const char *name, int i)
{
    char link[24], byte = 0;
    int64_t start = now();
    snprintf(link, sizeof link, "%s%d", name, i);
    if ((send ? write(fd, &byte, 1) : read(fd, &byte, 1)) != 1) abort();
    put(t, "cat", send ? "C" : "Waiting", send ? "write" : "read", start, link);
}

static void pipes(void)
{
    int to[2], back[2];
    if (pipe(to) != 0 || pipe(back) != 0) abort();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < ITERATIONS; i++) {
            talk(&threads[1], to[0], false, "request", i);
            work(&threads[1], "C", 1, mean[1]);
            talk(&threads[1], back[1], true, "reply", i);
        }
        if (part[0] != '-') write_rows(&threads[1]);
        fflush(stdout);
        _exit(0);
    }
    struct thread *t = &threads[0];
    for (int i = 0; i < ITERATIONS; i++) {
        int64_t start = now();
        work(t, "Python", 0, mean[0] / 2);
        talk(t, to[1], true, "request", i);
        work(t, "C", 2, mean[2]);
        talk(t, back[0], false, "reply", i);
        work(t, "Python", 5, mean[3] / 2);
        put(t, "op", "", "step", start, NULL);
    }
    waitpid(child, NULL, 0);
    nthreads = 1;
    seen[1] = true;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *locker(void *arg)
{
    struct thread *t = arg;
    for (int i = 0; i < ITERATIONS; i++) {
        char link[24];
        int64_t step = now();
        work(t, "Python", 0, mean[t == &threads[0] ? 0 : 3]);
        int64_t start = now();
        pthread_mutex_lock(&mutex);
        snprintf(link, sizeof link, "turn%d", turns);    /* of whom released it last */
        put(t, "cat", "Waiting", "acquire", start, link);
        work(t, "C", 1, mean[1]);
        start = now();
        snprintf(link, sizeof link, "turn%d", ++turns);
        pthread_mutex_unlock(&mutex);
        put(t, "cat", "C", "release", start, link);
        work(t, "C", 2, mean[2] / 2);
        put(t, "op", "", "step", step, NULL);
    }
    return NULL;
}

static void lock(void)
{
    pthread_t id;
    pthread_create(&id, NULL, locker, &threads[1]);
    locker(&threads[0]);
    pthread_join(id, NULL);
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*run)(void); const char *second; size_t threads; } shapes[] = {
        { "serial", serial, "", 1 }, { "queue", queue, "2", 2 }, { "pool", pool, "2", 3 },
        { "gpu", gpu, "d0.s0", 2 },  { "pipe", pipes, "2", 2 },  { "lock", lock, "2", 2 } };
    if (argc != 5) return 2;
    uint64_t seed = strtoull(argv[2], NULL, 10);
    part = argv[3];
    speed = strtod(argv[4], NULL);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        if (strcmp(shapes[s].name, argv[1]) != 0) continue;
        nthreads = shapes[s].threads;
        threads[0] = thread_new("1", seed * 7 + 1, 1);
        threads[1] = thread_new(shapes[s].second, seed * 7 + 2, shapes[s].run == pipes ? 2 : 1);
        threads[2] = thread_new("3", seed * 7 + 3, 1);
        for (int k = 0; k < 4; k++) mean[k] = 1500 + 5000 * draw(&threads[0]);
        puts("proc,tid,kind,cat,start_ns,end_ns,name,link,flag");
        shapes[s].run();
        if (part[0] != '-') for (size_t k = 0; k < nthreads; k++) write_rows(&threads[k]);
        for (size_t k = 0; part[0] == '-' && k < sizeof names / sizeof *names; k++) if (seen[k]) puts(names[k]);
        return ferror(stdout) || fflush(stdout) ? 1 : 0;
    }
    return 2;
}
