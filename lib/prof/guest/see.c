/* see.c - see see.h */
#include "prof/guest/see.h"
#include "base/compare.h"
#include "prof/guest/got.h"
#include "prof/guest/hide.h"
#include "prof/guest/links.h"
#include "prof/guest/ranges.h"
#include "prof/guest/rec.h"
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined __x86_64__

enum { SAMPLES = 1 << 18 };
_Static_assert(sizeof(struct seen) == 64 && offsetof(struct seen, left) == 32, "as see_common has it");
_Static_assert(offsetof(struct see_thread, id) == 8 && offsetof(struct see_thread, f) == 16, "as see_common has it");

__thread struct see_thread see_thread;
struct seen see_function[FUNCTIONS];
uint32_t see_functions = 1;
const char *see_category[64];
HIDDEN void see_enter(struct seen *, void *sp) __attribute__((used));
HIDDEN void see_leave(void) __attribute__((used));

static uint32_t skip_after, called[FUNCTIONS], skipped[FUNCTIONS];   /* skipped: those that the log has not yet */
enum { SKIPPED_AT_ONCE = 10 };                           /* log2 of the calls that one record counts */

/* What is called often and is short: calls are counted, and BURSTs of them timed, of all such functions in turn. */
enum { HOT = 256, WINDOW = 256, BURST = 64, WARM = 32, LEAST = 64, MOST = 32768 };
enum { NEVER = UINT32_MAX };
static struct hot {
    struct seen *f;
    uint32_t timed, want, drew;                          /* calls to be counted between bursts; as many were drawn */
    uint16_t told;                                       /* what a call costs, 1/32 ns, as the log has it */
    uint64_t ticks, at, sampled, counted;                /* of the timed; samples' ns; calls counted meanwhile */
    uint64_t odd;                                        /* ticks of timed calls that were better not counted */
} hot[HOT];
static uint32_t nhot = 1;
static uint64_t hot_gap, short_ticks, long_ticks, stretch_ticks, burst_end;   /* hot_gap 0: each call has a record */
static double clock_ticks;                               /* what timing one costs within it */
static uint64_t period, base_period;                     /* ns between samples, and as asked for */
static __thread bool for_own;                                /* the recorder works for itself: no samples */
static bool timing;                                      /* some thread has one */
static volatile bool telling;                            /* counts change */
static __thread bool timed;                              /* this thread has a timer of the judge's */

__asm__(
    ".text\n.globl see_stubs\n.hidden see_stubs\n.p2align 4\n"
    "see_stubs:\n.set see_offset, 0\n.rept 65536\n"      /* FUNCTIONS */
    ".p2align 4\n  leaq see_function+see_offset(%rip), %r11\n  jmp see_common\n"
    ".set see_offset, see_offset + 64\n.endr\n"
    ".p2align 4\n.type see_common, @function\nsee_common:\n.cfi_startproc\n"
    "  movq see_thread@gottpoff(%rip), %r10\n"
    "  cmpq $0, %fs:(%r10)\n  jne 2f\n"
    "  subl $1, 32(%r11)\n  js 4f\n"
    "  movq %rsp, %fs:(%r10)\n  movq %r11, %fs:16(%r10)\n"   /* only counted: no clock is read */
    "  pushq %r10\n.cfi_adjust_cfa_offset 8\n"
    "  call *(%r11)\n"
    "  popq %r10\n.cfi_adjust_cfa_offset -8\n"
    "  cmpl $0, %fs:8(%r10)\n  jne 5f\n"               /* meanwhile a record, see see_turn */
    "  movq $0, %fs:(%r10)\n"
    "  ret\n"
    "5: pushq %rax\n.cfi_adjust_cfa_offset 8\n"
    "  call see_leave\n"
    "  popq %rax\n.cfi_adjust_cfa_offset -8\n"
    "  ret\n"
    "2: cmpq %rsp, %fs:(%r10)\n  ja 1f\n"                /* C calls C */
    "  movq rec_on@GOTPCREL(%rip), %rax\n  cmpb $0, (%rax)\n  jne 3f\n"
    "1: jmp *(%r11)\n"
    "4: movq rec_on@GOTPCREL(%rip), %rax\n  cmpb $0, (%rax)\n  jne 3f\n"
    "  addl $1, 32(%r11)\n  jmp *(%r11)\n"
    "3: subq $56, %rsp\n.cfi_adjust_cfa_offset 56\n"
    "  movq %rdi, (%rsp)\n  movq %rsi, 8(%rsp)\n  movq %rdx, 16(%rsp)\n  movq %rcx, 24(%rsp)\n"
    "  movq %r8, 32(%rsp)\n  movq %r9, 40(%rsp)\n  movq %r11, 48(%rsp)\n"
    "  movq %r11, %rdi\n  leaq 56(%rsp), %rsi\n  call see_enter\n"
    "  movq (%rsp), %rdi\n  movq 8(%rsp), %rsi\n  movq 16(%rsp), %rdx\n  movq 24(%rsp), %rcx\n"
    "  movq 32(%rsp), %r8\n  movq 40(%rsp), %r9\n  movq 48(%rsp), %r11\n"
    "  call *(%r11)\n"
    "  movq %rax, (%rsp)\n  call see_leave\n  movq (%rsp), %rax\n"
    "  addq $56, %rsp\n.cfi_adjust_cfa_offset -56\n"
    "  ret\n.cfi_endproc\n.size see_common, .-see_common\n");

/* the name is given at the first call: most of what is patched is never called */
static __attribute__((noinline)) void name_function(struct seen *f)
{
    f->id = rec_name("c", see_category[f->category], f->owner, f->name);
    f->need = hot_gap && !skip_after && strcmp(see_category[f->category], "Waiting") != 0 ? WINDOW : NEVER;
}

static __attribute__((noinline)) bool skip(const struct seen *f, uint64_t t)
{
    size_t i = (size_t)(f - see_function);
    if (called[i] < skip_after) {
        called[i]++;
        return false;
    }
    if (++skipped[i] >> SKIPPED_AT_ONCE) {
        skipped[i] = 0;
        rec_put_at(LOG_SKIPPED, f->id, (enum log_hook)SKIPPED_AT_ONCE, t);   /* aux is a number here */
    }
    return true;
}

void see_skip_after(uint32_t calls)
{
    skip_after = calls;
}

/* ---- short calls of hot functions */

void see_each(bool on)
{
    double tick = rec_tick_ns();
    hot_gap = on ? 0 : (uint64_t)(10000 / tick);         /* 100 000 calls a second */
    short_ticks = (uint64_t)(2000 / tick);
    long_ticks = (uint64_t)(20000 / tick);
    stretch_ticks = (uint64_t)(1000000 / tick);
}

/* What one call costs, in ns: as bursts were timed, and as often as samples of the thread's CPU time found it running,
 * which know nothing of the clock's own cost.  The first counts as WEIGHT samples: the mean of a gamma distribution. */
static double cost_of(const struct hot *h)
{
    enum { WEIGHT = 25 };
    double ns = h->timed ? ((double)h->ticks / h->timed - clock_ticks) * rec_tick_ns() : 0;
    if (ns < 0.5) ns = 0.5;
    if (!h->counted) return ns;
    double weight = WEIGHT * (double)period, all = ns * (double)h->counted;
    return (weight + (double)h->sampled) / (weight / all + 1) / (double)h->counted;
}

/* Counts since they were told last belong to the time since this thread's last record; its CPU clock is read after. */
static void tell_counted(uint64_t t, bool end)
{
    uint64_t last = rec_thread.last;
    telling = true;
    for (uint32_t i = 1; i < nhot; i++) {
        struct hot *h = &hot[i];
        struct seen *f = h->f;
        uint32_t n = (uint32_t)(f->drawn - f->left);
        if (!n && !end) continue;
        f->drawn = f->left;
        rec_thread.last = t;
        if (timed) h->counted += n;
        double cost = cost_of(h) * 32;
        uint16_t c = cost > UINT16_MAX ? UINT16_MAX : (uint16_t)(cost + 0.5);
        if (h->timed && (abs(c - h->told) * 16 > h->told || (end && c != h->told))) {
            rec_put_at(LOG_COST, f->id, (enum log_hook)c, t);   /* aux is a number here, and below */
            h->told = c;
        }
        for (uint32_t k; n; n -= k) {
            k = n < UINT16_MAX ? n : UINT16_MAX;
            rec_put_at(LOG_COUNTED, f->id, (enum log_hook)k, t);
        }
    }
    telling = false;
    rec_thread.last = last;
}

void see_forget(void)
{
    for (uint32_t i = 1; i < nhot; i++) {
        hot[i].f->drawn = hot[i].f->left;
        hot[i].told = 0;
    }
}

void see_tell_counted(void)
{
    if (nhot > 1 && rec_on && rec_thread.in_base) tell_counted(rec_now(), false);
}

static int32_t draw(uint32_t mean)
{
    static uint32_t x = 2463534242;                      /* Marsaglia's xorshift: no pattern of calls fits it */
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return (int32_t)((uint64_t)x * (2 * mean + 1) >> 32);
}

/* A timed call was better not counted.  Where such take most of the time, each call has a record from now on, until
 * twice as many were short.  The interrupts of a busy machine do not. */
static void odd(struct seen *f, uint64_t ticks)
{
    struct hot *h = &hot[f->hot];
    if ((h->odd += ticks) <= h->ticks) return;
    f->is_hot = false;
    f->left = f->drawn = 0;
    f->need = f->need < NEVER / 2 ? f->need * 2 : NEVER;
}

/* The running call, which was only counted, has a record from then on. */
static void turn(struct seen *f, uint64_t t)
{
    if (t < rec_thread.last) t = rec_thread.last;
    f->drawn--;
    tell_counted(t, false);
    if (see_thread.since) rec_thread.last = t;           /* the CPU clock was read in this burst */
    rec_put_at(LOG_CALL, f->id, HOOK_PATCH, t);
}

/* it waits, or Python is called: it is not judged by what it takes */
void see_turn(void)
{
    struct seen *f = see_thread.f;
    uint64_t t = rec_now(), since = see_thread.since;
    if (!see_thread.id && f && f->is_hot) {
        turn(f, since ? since : t);
        if (since && t - since > long_ticks) odd(f, t - since);
        see_thread.id = f->id;
    }
    see_thread.f = NULL;
    see_thread.since = 0;
}

static void set_period(uint64_t ns);

static __attribute__((noinline)) void heat(struct seen *f, uint64_t t)
{
    if (!f->hot && nhot == HOT) f->need = NEVER;
    if (f->need == NEVER) return;
    if (!f->hot) {
        f->hot = (uint16_t)nhot++;
        hot[f->hot].f = f;
    }
    struct hot *h = &hot[f->hot];
    h->want = LEAST;
    h->at = t;
    f->is_hot = true;
    h->drew = (uint32_t)(f->left = f->drawn = draw(LEAST));
    if (timing && period > 4000000) set_period(4000000);   /* of many systems the least there is */
}

/* What a call that is recorded took; of long ones what it was on the CPU for, at least, and 0 if that is not long. */
static inline uint64_t put_return(uint32_t id, uint64_t t)
{
    uint64_t cpu = rec_thread.cpu, clocked = rec_thread.clocked, since = see_thread.since;
    rec_put_at(LOG_RETURN, id, HOOK_PATCH, t);
    if (t - since <= long_ticks) return t - since;
    double ran = (double)(rec_thread.cpu - cpu) / rec_tick_ns() - (double)(since - clocked);
    return ran < (double)long_ticks ? 0 : (uint64_t)ran;
}

/* A call that had a record took so many ticks: of many the mean counts, since where programs wait for the processor
 * some are slow. */
static inline void ended(struct seen *f, uint64_t ticks, uint64_t t)
{
    if (f->need == NEVER) return;
    if (!f->seen++) f->since = see_thread.since;
    f->ticks += ticks < long_ticks ? ticks : f->need * short_ticks;
    if (f->seen < f->need) return;
    if (f->ticks <= f->seen * short_ticks && t - f->since <= f->seen * hot_gap) heat(f, t);
    f->seen = 0;
    f->ticks = 0;
}

/* A hot function is called and not just counted by the assembly: a burst goes on, or may begin as its count ran out. */
static __attribute__((noinline)) void hot_call(struct seen *f, uint64_t t)
{
    struct hot *h = &hot[f->hot];
    if (see_thread.sp) f->left--;
    if (f->left < 0) {
        uint64_t want = h->drew * stretch_ticks / (t - h->at + 1);
        h->want = want < LEAST ? LEAST : want > MOST ? MOST : (uint32_t)want;
        h->at = t;
        h->drew = (uint32_t)draw(h->want) + 1;
        f->left += (int32_t)h->drew;
        f->drawn += (int32_t)h->drew;
    }
    if (!see_thread.burst) {
        if (t - burst_end < stretch_ticks) {
            see_thread.since = 0;
            return;
        }
        f->left++;                                       /* this one is told with the next */
        tell_counted(t, false);
        f->left--;
        if (t - rec_thread.last > rec_gap) rec_clock(t, false);
        see_thread.burst = BURST;
        see_thread.since = 0;                            /* that took a while, and the processor has forgotten much */
        return;
    }
    see_thread.burst--;
}

static __attribute__((noinline)) void hot_ended(struct seen *f, uint64_t t)
{
    uint64_t since = see_thread.since;
    if (!see_thread.burst) burst_end = t;
    if (t - since > long_ticks) {                        /* a record after all */
        turn(f, since);
        odd(f, put_return(f->id, t));
        return;
    }
    struct hot *h = &hot[f->hot];
    if (see_thread.burst >= WARM) return;                /* before, the processor predicted the long way badly */
    h->ticks += t - since;
    h->timed++;
}

void see_tell_skipped(void)
{
    if (nhot > 1) tell_counted(rec_now(), true);
    for (uint32_t i = 1; skip_after && i < see_functions; i++)
        for (uint16_t k = 0; skipped[i]; skipped[i] >>= 1, k++)
            if (skipped[i] & 1) rec_put(LOG_SKIPPED, see_function[i].id, k);
}

void see_enter(struct seen *f, void *sp)
{
    uint64_t t = rec_now();
    if (see_thread.sp && see_thread.id)                  /* left by a jump or an exception */
        rec_put_at(LOG_EXCEPTION, see_thread.id, HOOK_PATCH, t);
    if (!f->id) name_function(f);
    see_thread.f = f;
    see_thread.since = t;
    if (skip_after && skip(f, t)) {
        see_thread.since = 0;
        f->left = 0;
        see_thread.id = 0;
        see_thread.sp = sp;
        return;
    }
    if (!rec_thread.in_base) {                           /* a thread that Python's threading does not know */
        rec_ready();
        rec_thread.in_base = true;
        rec_put(LOG_PYTHON, 0, HOOK_NONE);
        t = rec_now();                                   /* it begins later than it was asked for, see rec_clock */
    }
    if (f->is_hot) {
        hot_call(f, t);
        see_thread.id = 0;
        see_thread.sp = sp;
        return;
    }
    f->left = 0;
    if (nhot > 1) tell_counted(t, false);
    see_thread.id = f->id;
    rec_put_at(LOG_CALL, f->id, HOOK_PATCH, t);
    see_thread.sp = sp;
}

void see_leave(void)
{
    bool in = see_thread.sp && (see_thread.id || see_thread.since) && rec_on;
    uint64_t t = in ? rec_now() : 0;
    uint32_t id = see_thread.id;
    struct seen *f = see_thread.f;
    see_thread.sp = NULL;
    see_thread.id = 0;
    if (in && id) {
        uint64_t ticks = put_return(id, t);
        if (f) ended(f, ticks, t);
    } else if (in && f && f->is_hot) hot_ended(f, t);
    see_thread.since = 0;
    if (see_thread.burst) see_thread.sp = (void *)1;     /* below every stack: the next call is not just counted */
}

void see_forked(void)
{
    if (skip_after) memset(skipped, 0, sizeof skipped);     /* the parent's; pages that nobody has stay so */
    see_forget();
    see_thread.sp = NULL;
    see_thread.burst = 0;
    timed = timing = false;                              /* timers are the parent's */
}

/* The interpreter waits for its lock, and for nothing else, by this function of libc. */
static int wait_for_gil(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    if (!rec_on) return pthread_cond_timedwait(c, m, until);
    uint64_t from = rec_now();
    int r = pthread_cond_timedwait(c, m, until);
    rec_thread.waited += rec_now() - from;
    if (r == 0 && rec_thread.waited > rec_gap) rec_put(LOG_TAKE, 0, (enum log_hook)LINK_GIL);   /* where it lies */
    return r;
}

/* The interpreter gives its lock up, and for nothing else calls this: what was counted is this thread's, and a function
 * that does so may wait. */
static int gives_up_gil(pthread_cond_t *c)
{
    if (rec_on && see_thread.sp > (void *)&c) see_turn();
    see_tell_counted();
    return pthread_cond_signal(c);
}

static void *nothing(void) { return NULL; }

/* What recording a call costs here: calls of nothing by a stub, whose records are thrown away, and without. */
static double pair_ns(void)
{
    enum { TRIES = 7, CALLS = 100 };
    static struct log_record scratch[2 * CALLS + 2];
    struct rec_thread keep = rec_thread;
    struct see_thread entered = see_thread;
    bool on = rec_on;
    uint64_t gap = rec_gap;
    uint64_t best[2] = { UINT64_MAX, UINT64_MAX };
    if (skip_after) return 0;
    see_function[0] = (struct seen){ .real = (void *)(uintptr_t)nothing, .owner = "", .name = "", .id = 1,
                                         .need = NEVER };
    void *(*volatile call[2])(void) = { nothing, (void *(*)(void))(uintptr_t)see_stubs };
    see_thread = (struct see_thread){ 0 };
    rec_on = true;
    rec_gap = UINT64_MAX;                                /* no clock is read, which would take room */
    for (int i = 0; i < 2 * TRIES; i++) {
        rec_thread.p = scratch;
        rec_thread.end = scratch + sizeof scratch / sizeof *scratch;
        rec_thread.in_base = true;
        uint64_t begin = rec_now();
        for (int k = 0; k < CALLS; k++) call[i & 1]();
        uint64_t took = rec_now() - begin;
        if (took < best[i & 1]) best[i & 1] = took;
    }
    for (int i = 0; i < TRIES; i++) {                    /* the same in a burst: what the clock costs within a call */
        hot[0].ticks = hot[0].timed = 0;
        rec_thread.p = scratch;
        see_function[0].left = 2 * CALLS;
        see_function[0].is_hot = true;
        see_thread.sp = (void *)1;
        see_thread.burst = WARM;
        for (int k = 0; k < WARM; k++) call[1]();
        double mean = (double)hot[0].ticks / WARM;
        if (!i || mean < clock_ticks) clock_ticks = mean;
    }
    rec_on = on;
    rec_gap = gap;
    rec_thread = keep;
    see_thread = entered;
    return best[1] > best[0] ? (double)(best[1] - best[0]) / CALLS * rec_tick_ns() : 0;
}

bool see_begin(void)
{
    static bool tried;
    ranges_find();
    hide_from_numpy();
    if (!tried) {
        rec_pair_ns = pair_ns();
        got_point(NULL, (uintptr_t)_PyEval_EvalFrameDefault, "pthread_cond_timedwait", (uintptr_t)wait_for_gil);
        got_point(NULL, (uintptr_t)_PyEval_EvalFrameDefault, "pthread_cond_signal", (uintptr_t)gives_up_gil);
    }
    tried = true;
    links_begin((uintptr_t)_PyEval_EvalFrameDefault);
    return true;
}

/* ---- the judge */

static struct sample { uintptr_t pc; uint32_t in_c; } *sample;
static uint32_t nsample;
static __thread timer_t timer;
static timer_t made;                                     /* the one there is */

static void set_period(uint64_t ns)
{
    struct itimerspec every = { { 0, (long)ns }, { 0, (long)ns } };
    period = ns;
    if (!rec_locked) timer_settime(made, 0, &every, NULL);
}

static void on_timer(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *u = context;
    static uint64_t passed;
    (void)signal;
    if (!rec_on || for_own) return;
    uint64_t ns = (uint64_t)(info->si_overrun + 1) * period;
    void *sp = (void *)u->uc_mcontext.gregs[REG_RSP];
    bool in_c = see_thread.sp && see_thread.sp > sp;
    struct seen *f = see_thread.f;
    if (in_c && !see_thread.id && f && f->is_hot) {
        struct hot *h = &hot[f->hot];
        h->sampled += ns;
        if (!telling) {                                  /* it may have become slow: the next is timed */
            h->drew -= (uint32_t)f->left;
            f->drawn -= f->left;
            f->left = 0;
        }
    }
    if ((passed += ns) < base_period) return;            /* more often than asked for */
    passed %= base_period;
    uint32_t i = __atomic_fetch_add(&nsample, 1, __ATOMIC_RELAXED);
    if (i >= SAMPLES) return;
    sample[i] = (struct sample){ (uintptr_t)u->uc_mcontext.gregs[REG_RIP], in_c };
}

void see_own(bool on)
{
    for_own = on;
}

/* a handler returns by a system call */
static void stop_timers(void)
{
    if (timing) timer_delete(made);
    timing = false;
}

bool see_sample(unsigned hz)
{
    int number = SIGRTMAX - 3;                           /* nobody's, in all likelihood */
    if (timed && !rec_locked) timer_delete(timer);
    timed = timing = false;
    if (!hz || rec_locked) return true;
    if (!sample) {
        void *p = mmap(NULL, SAMPLES * sizeof *sample, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return false;
        sample = p;
        struct sigaction a = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
        sigaction(number, &a, NULL);
    }
    struct sigevent e = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number };
    e._sigev_un._tid = (int)syscall(SYS_gettid);
    rec_before_lock = stop_timers;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &e, &timer) != 0) return false;
    made = timer;
    timed = timing = true;
    base_period = 1000000000 / hz;
    set_period(nhot > 1 && base_period > 4000000 ? 4000000 : base_period);
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    const struct code_range *r = ranges_at(x->pc), *s = ranges_at(y->pc);
    if (r != s) return r > s ? 1 : -1;
    return ORDER(x->in_c, y->in_c);
}

PyObject *see_samples(void)
{
    PyObject *list = PyList_New(0);
    uint32_t n = nsample < SAMPLES ? nsample : SAMPLES;
    ranges_find();
    if (n) qsort(sample, n, sizeof *sample, by_place);
    for (uint32_t i = 0, k; list && i < n; i = k) {
        for (k = i; k < n && by_place(&sample[i], &sample[k]) == 0;) k++;
        const struct code_range *r = ranges_at(sample[i].pc);
        PyObject *row =
            Py_BuildValue("(siii)", r ? r->name : "?", r ? r->kind : LIBC, (int)sample[i].in_c, (int)(k - i));
        if (!row || PyList_Append(list, row) < 0) PyErr_Clear();
        Py_XDECREF(row);
    }
    nsample = 0;
    return list;
}

#else
__thread struct see_thread see_thread;
bool see_begin(void) { return false; }
void see_forked(void) { }
void see_skip_after(uint32_t calls) { (void)calls; }
void see_each(bool on) { (void)on; }
void see_turn(void) { }
void see_forget(void) { }
void see_tell_counted(void) { }
void see_tell_skipped(void) { }
bool see_sample(unsigned hz) { return !hz; }
void see_own(bool on) { (void)on; }
PyObject *see_samples(void) { return PyList_New(0); }
#endif
