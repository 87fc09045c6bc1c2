/* millrace_loop.h for programs that are not filters.  Inside, whoever meets bad input says so and exits; in the object
 * made of this file exit and write are renamed to the two functions below, so that the message becomes the error of the
 * call and the caller lives on.  What such a call had allocated is lost. */
#include "loop/millrace_loop.h"
#include "base/message.h"
#include "loop/code/image.h"
#include "loop/search/search.h"
#include "loop/search/takeaway.h"
#include "table/csvio.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Noreturn void millrace_loop_exit(int status);
ssize_t millrace_loop_write(int fd, const void *p, size_t n);

static const char columns[] = "machine,problem,tree";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread char error[512];
static jmp_buf way_out;
static bool inside;
static struct intern known;
static millrace_kernel **kernel;
static size_t room;

void millrace_loop_exit(int status)
{
    if (inside) longjmp(way_out, 1);
    _Exit(status);
}

ssize_t millrace_loop_write(int fd, const void *p, size_t n)
{
    if (fd != STDERR_FILENO || !inside) return syscall(SYS_write, fd, p, n);
    size_t keep = n < sizeof error ? n : sizeof error - 1;
    memcpy(error, p, keep);
    error[keep] = 0;
    if (keep && error[keep - 1] == '\n') error[keep - 1] = 0;
    return (ssize_t)n;
}

static bool recall(const char *cache, const char *machine, struct takeaway *x, enum isa isa)
{
    if (access(cache, F_OK)) return false;
    csv *t = csv_open(cache);
    int m = csv_need(t, "machine"), p = csv_need(t, "problem"), tree = csv_need(t, "tree");
    while (csv_next(t)) {
        if (!str_is(csv_str(t, m), machine) || !str_is(csv_str(t, p), x->p.text)) continue;
        nest_parse(&x->nest[isa], &x->p, csv_str(t, tree), 0, cache);
        x->have[isa] = true;
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
                            .actions = ((1u << ACT_COUNT) - 1) & ~(1u << ACT_PARALLEL) };
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

static millrace_kernel *make(const char *problem, const char *cache, int measure, bool any)
{
    struct takeaway *x = xcalloc(1, sizeof *x);
    problem_parse(&x->p, str_of(problem), "problem");
    if (!any && (x->p.type != TYPE_F32 || x->p.store)) die("%s is not of float: millrace_loop_any has it", problem);
    if (x->p.weights) die("%s: weights of this type are packed before, see loop-emit", problem);
    if (x->p.pair) die("%s: a second contraction needs a fourth tensor, see loop-emit", problem);
    if (x->p.then[0]) die("%s: (then ..) needs more arguments, see loop-emit", problem);
    uint32_t i = intern(&known, str_of(x->p.text));
    size_t had = room;
    kernel = grow(kernel, known.n, &room, sizeof *kernel);
    memset(kernel + had, 0, (room - had) * sizeof *kernel);
    if (kernel[i]) return kernel[i];
    enum isa isa = isa_here(ISA_AVX512) ? ISA_AVX512 : ISA_AVX2;
    if (measure > 0 && x->p.op == OP_FMA && isa_here(isa)) choose(x, isa, cache, measure);
    takeaway_complete(x, 1u << isa);
    struct image m;
    image_begin(&m);
    struct image_kernel q = { .name = "kernel", .p = &x->p };
    q.nest[isa] = &x->nest[isa];
    const char *why = image_add(&m, &q);
    if (why) die("%s: %s", problem, why);
    char *at = image_load(&m);
    if (!at) die("no memory for the code of %s", problem);
    kernel[i] = (millrace_kernel *)(uintptr_t)(at + image_find(&m, "kernel")->at);
    image_free(&m);
    free(x);
    return kernel[i];
}

static millrace_kernel *get(const char *problem, const char *cache, int measure, bool any)
{
    pthread_mutex_lock(&lock);
    millrace_kernel *f = NULL;
    error[0] = 0;
    prog = "millrace_loop";
    inside = true;
    if (!setjmp(way_out)) f = make(problem, cache, measure, any);
    inside = false;
    pthread_mutex_unlock(&lock);
    return f;
}

millrace_kernel *millrace_loop(const char *problem, const char *cache, int measure)
{
    return get(problem, cache, measure, false);
}

millrace_kernel_any *millrace_loop_any(const char *problem, const char *cache, int measure)
{
    return (millrace_kernel_any *)(uintptr_t)get(problem, cache, measure, true);
}

const char *millrace_loop_error(void)
{
    return error;
}
