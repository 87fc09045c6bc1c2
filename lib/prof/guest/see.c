/* see.c - see see.h */
#include "prof/guest/see.h"
#include "base/compare.h"
#include "prof/guest/got.h"
#include "prof/guest/hide.h"
#include "prof/guest/links.h"
#include "prof/guest/rec.h"
#include <dlfcn.h>
#include <link.h>
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

enum { FUNCTIONS = 65536, STUB = 16, RANGES = 4096, SAMPLES = 1 << 18 };
enum { INTERPRETER, LIBC, EXTENSION, UNKNOWN };

/* 64 bytes, the first and `left` known to the assembly.  left: so many of the next calls are only counted, of `drawn`
 * when they were last told; since: when the first of `seen` short calls in a row began, `need` of which make it hot */
struct function {
    void *real;
    const char *owner, *name;
    uint32_t id;
    uint8_t category;
    bool is_hot;
    uint16_t hot;                                        /* its place in the table, for good; 0: none yet */
    int32_t left, drawn;
    uint64_t since;
    uint32_t seen, need, unused[2];
};
_Static_assert(sizeof(struct function) == 64 && offsetof(struct function, left) == 32, "as see_common has it");
_Static_assert(offsetof(struct see_thread, f) == 16, "as see_common has it");
struct range { uintptr_t from, to; int kind; bool standard; char name[64]; };   /* standard: Python's own library */

#define HIDDEN __attribute__((visibility("hidden")))
__thread struct see_thread see_thread;
HIDDEN struct function see_function[FUNCTIONS];
extern const unsigned char see_stubs[] HIDDEN;
HIDDEN void see_enter(struct function *, void *sp) __attribute__((used));
HIDDEN void see_leave(void) __attribute__((used));

static uint32_t nfunction = 1;
static uint32_t skip_after, called[FUNCTIONS], skipped[FUNCTIONS];   /* skipped: those that the log has not yet */
enum { SKIPPED_AT_ONCE = 10 };                           /* log2 of the calls that one record counts */

/* What is called often and is short: calls are counted, and BURSTs of them timed, of all such functions in turn. */
enum { HOT = 256, WINDOW = 256, BURST = 64, WARM = 32, LEAST = 64, MOST = 32768, NEVER = UINT32_MAX };
static struct hot {
    struct function *f;
    uint32_t timed, want, drew;                          /* calls to be counted between bursts; as many were drawn */
    uint16_t told;                                       /* what a call costs, 1/32 ns, as the log has it */
    uint64_t ticks, at, sampled, counted;                /* of the timed; samples' ns; calls counted meanwhile */
} hot[HOT];
static uint32_t nhot = 1;
static uint64_t hot_gap, short_ticks, long_ticks, stretch_ticks, burst_end;   /* hot_gap 0: each call has a record */
static double clock_ticks;                               /* what timing one costs within it */
static uint64_t period, base_period;                     /* ns between samples, and as asked for */
static uint32_t shared[2 * FUNCTIONS];                   /* stubs of slots by the original's address, open addressing */
static __thread bool for_own;                                /* the recorder works for itself: no samples */
static bool timing;                                      /* some thread has one */
static __thread bool timed;                              /* this thread has a timer of the judge's */
static const char *category[64];
static int ncategory;
static struct range range[RANGES];
static int nrange;

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
    "  movq $0, %fs:(%r10)\n"
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
static __attribute__((noinline)) void name_function(struct function *f)
{
    f->id = rec_name("c", category[f->category], f->owner, f->name);
    f->need = hot_gap && !skip_after && strcmp(category[f->category], "Waiting") != 0 ? WINDOW : NEVER;
}

static __attribute__((noinline)) bool skip(const struct function *f, uint64_t t)
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
    short_ticks = (uint64_t)(1000 / tick);
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
    for (uint32_t i = 1; i < nhot; i++) {
        struct hot *h = &hot[i];
        struct function *f = h->f;
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

/* from now on each call has a record, until `need` in a row were short */
static void cool(struct function *f, uint64_t t, uint32_t need)
{
    if (f->is_hot) tell_counted(t, false);
    f->is_hot = false;
    f->left = f->drawn = 0;
    f->seen = 0;
    f->need = need;
}

/* it waits, or Python is called: that is never only counted */
void see_never(void)
{
    struct function *f = see_thread.f;
    if (f && f->need != NEVER) cool(f, rec_now(), NEVER);
    see_thread.since = 0;
}

static void set_period(uint64_t ns);

static __attribute__((noinline)) void heat(struct function *f, uint64_t t)
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

/* A call that ended had a record. */
static inline void ended(struct function *f, uint64_t t)
{
    if (f->need == NEVER) return;
    if (t - see_thread.since > short_ticks) f->seen = 0;
    else {
        if (!f->seen++) f->since = see_thread.since;
        if (f->seen < f->need) return;
        if (t - f->since <= f->seen * hot_gap) heat(f, t);
        f->seen = 0;
    }
}

/* A hot function is called and not just counted by the assembly: a burst goes on, or may begin as its count ran out. */
static __attribute__((noinline)) void hot_call(struct function *f, uint64_t t)
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
        if (t - rec_thread.last > rec_gap) rec_clock(t);
        see_thread.burst = BURST;
        see_thread.since = 0;                            /* that took a while, and the processor has forgotten much */
        return;
    }
    see_thread.burst--;
}

static __attribute__((noinline)) void hot_ended(struct function *f, uint64_t t)
{
    uint64_t since = see_thread.since;
    see_thread.since = 0;
    if (!see_thread.burst) burst_end = t;
    if (t - since > long_ticks) {
        struct timespec c;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &c);
        double cpu = (double)((uint64_t)c.tv_sec * 1000000000 + (uint64_t)c.tv_nsec - rec_thread.cpu);
        if ((double)(since - rec_thread.clocked) * rec_tick_ns() + 10000 > cpu) return;   /* it was preempted */
        /* a record after all */
        f->left++;
        cool(f, since, f->need < NEVER / 2 ? f->need * 2 : NEVER);
        rec_thread.last = since;
        rec_put_at(LOG_CALL, f->id, HOOK_PATCH, since);
        rec_put_at(LOG_RETURN, f->id, HOOK_PATCH, t);
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
    for (uint32_t i = 1; skip_after && i < nfunction; i++)
        for (uint16_t k = 0; skipped[i]; skipped[i] >>= 1, k++)
            if (skipped[i] & 1) rec_put(LOG_SKIPPED, see_function[i].id, k);
}

void see_enter(struct function *f, void *sp)
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
        rec_thread.in_base = true;
        rec_ready();
        t = rec_now();
        rec_put_at(LOG_PYTHON, 0, HOOK_NONE, t);
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
    struct function *f = see_thread.f;
    see_thread.sp = NULL;
    see_thread.id = 0;
    if (in && id) {
        rec_put_at(LOG_RETURN, id, HOOK_PATCH, t);
        if (f) ended(f, t);
    } else if (in && f && f->is_hot) hot_ended(f, t);
    if (see_thread.burst) see_thread.sp = (void *)1;     /* below every stack: the next call is not just counted */
}

/* ---- Python entered from C: the C call is interrupted */

#define FROM_C(TYPE, CALL)                                                                                            \
    void *sp = see_thread.sp;                                                                                         \
    if (!sp || sp < (void *)&sp) return CALL;                                                                         \
    uint32_t id = see_thread.id;                                                                                      \
    if (id) rec_put(LOG_PYTHON, 0, HOOK_NONE);                                                                        \
    else see_never();                                                                                                 \
    see_thread.sp = NULL;                                                                                             \
    TYPE result = CALL;                                                                                               \
    see_thread.sp = sp;                                                                                               \
    see_thread.id = id;                                                                                               \
    see_thread.f = NULL;                                                                                              \
    if (id) rec_put(LOG_PYTHON_END, 0, HOOK_NONE);                                                                    \
    return result

#if PY_VERSION_HEX >= 0x030b0000                        /* before, see frames.h */
static iternextfunc generator_next;

static PyObject *function_call(PyObject *f, PyObject *args, PyObject *kw)
{
    FROM_C(PyObject *, PyVectorcall_Call(f, args, kw));
}

static PyObject *next_of_generator(PyObject *g)
{
    FROM_C(PyObject *, generator_next(g));
}

static sendfunc generator_send, coroutine_send;

static PySendResult send_to_generator(PyObject *g, PyObject *v, PyObject **out)
{
    FROM_C(PySendResult, generator_send(g, v, out));
}

static PySendResult send_to_coroutine(PyObject *g, PyObject *v, PyObject **out)
{
    FROM_C(PySendResult, coroutine_send(g, v, out));
}

static void hook_send(bool on)
{
    PyAsyncMethods *generator = PyGen_Type.tp_as_async, *coroutine = PyCoro_Type.tp_as_async;
    if (!generator_send) {
        generator_send = generator->am_send;
        coroutine_send = coroutine->am_send;
    }
    generator->am_send = on ? send_to_generator : generator_send;
    coroutine->am_send = on ? send_to_coroutine : coroutine_send;
}
#endif

void see_forked(void)
{
    if (skip_after) memset(skipped, 0, nfunction * sizeof *skipped);   /* the parent's; pages that nobody has stay so */
    see_forget();
    see_thread.sp = NULL;
    see_thread.burst = 0;
    timed = timing = false;                              /* timers are the parent's */
}

void see_python_from_c(bool on)
{
#if PY_VERSION_HEX >= 0x030b0000
    if (!generator_next) generator_next = PyGen_Type.tp_iternext;
    if (on) PyFunction_Type.tp_flags &= ~Py_TPFLAGS_HAVE_VECTORCALL;
    else PyFunction_Type.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyFunction_Type.tp_call = on ? function_call : PyVectorcall_Call;
    PyGen_Type.tp_iternext = on ? next_of_generator : generator_next;
    hook_send(on);
    PyType_Modified(&PyFunction_Type);
#else
    (void)on;                                            /* frames are minded, see frames.h */
#endif
}

/* ---- what lies where */

static int each_object(struct dl_phdr_info *o, size_t size, void *unused)
{
    const char *base = strrchr(o->dlpi_name, '/'), *name = base ? base + 1 : o->dlpi_name;
    static const char *const libc[] = { "libc.", "libm.", "ld-", "linux-vdso", "libpthread", "_millrace",
                                        "libmillrace" };
    (void)size;
    (void)unused;
    for (int i = 0; i < o->dlpi_phnum && nrange < RANGES; i++) {
        if (o->dlpi_phdr[i].p_type != PT_LOAD || !(o->dlpi_phdr[i].p_flags & PF_X)) continue;
        struct range *r = &range[nrange++];
        r->from = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
        r->to = r->from + o->dlpi_phdr[i].p_memsz;
        r->kind = *o->dlpi_name ? EXTENSION : INTERPRETER;
        for (size_t k = 0; k < sizeof libc / sizeof *libc; k++)
            if (strncmp(name, libc[k], strlen(libc[k])) == 0) r->kind = LIBC;
        r->standard = strstr(o->dlpi_name, "/lib-dynload/") != NULL;
        snprintf(r->name, sizeof r->name, "%s", *name ? name : "python");
    }
    return 0;
}

static int by_from(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return ORDER(x->from, y->from);
}

static const struct range *range_of(uintptr_t a)
{
    int low = 0, high = nrange;
    while (low < high) {
        int middle = (low + high) / 2;
        if (range[middle].to <= a) low = middle + 1;
        else high = middle;
    }
    return low < nrange && a >= range[low].from ? &range[low] : NULL;
}

static void find_ranges(void)
{
    nrange = 0;
    dl_iterate_phdr(each_object, NULL);
    qsort(range, (size_t)nrange, sizeof *range, by_from);
    uintptr_t inside = (uintptr_t)dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");   /* libpython, if it is shared */
    const struct range *home = range_of(inside);
    for (int i = 0; home && i < nrange; i++) if (strcmp(range[i].name, home->name) == 0) range[i].kind = INTERPRETER;
}

static int kind_of(const void *p)
{
    const struct range *r = range_of((uintptr_t)p);
    return r ? r->kind : UNKNOWN;
}

static int count_objects(struct dl_phdr_info *info, size_t size, void *to)
{
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs)) *(unsigned long long *)to = info->dlpi_adds;
    return 1;
}

unsigned long long see_objects(void)
{
    unsigned long long n = 0;
    dl_iterate_phdr(count_objects, &n);
    return n;
}

/* ---- patching */

static const unsigned char *stub_of(uint32_t i)
{
    return see_stubs + (size_t)i * STUB;
}

bool see_is_stub(const void *p)
{
    return (const unsigned char *)p >= see_stubs && (const unsigned char *)p < stub_of(FUNCTIONS);
}

static uint8_t category_number(const char *name)
{
    for (int i = 0; i < ncategory; i++) if (strcmp(category[i], name) == 0) return (uint8_t)i;
    if (ncategory == (int)(sizeof category / sizeof *category)) return 0;
    category[ncategory] = strdup(name);
    return (uint8_t)ncategory++;
}

/* What is kept for ever, some MiB, is none of malloc's: the program's own pieces lie as they would. */
static void *keep(size_t n)
{
    enum { BLOCK = 1 << 20 };
    static char *block;
    static size_t used = BLOCK;
    n = (n + 15) & ~(size_t)15;
    if (n > BLOCK) return NULL;
    if (n > BLOCK - used) {
        void *p = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return NULL;
        block = p;
        used = 0;
    }
    used += n;
    return block + used - n;
}

/* mostly the owner is that of the function before */
static const char *keep_text(const char *s, const char **last)
{
    if (*last && strcmp(s, *last) == 0) return *last;
    size_t n = strlen(s) + 1;
    char *copy = keep(n);
    if (copy) *last = memcpy(copy, s, n);
    return copy;
}

/* One stub for each function; for a slot one for each original address, so that slots that were equal stay equal:
 * inheritance, tp_new's safety check and the slots of classes made later depend on it. */
static const void *stub_for(void *real, const char *owner, const char *name, uint8_t kind, bool slot)
{
    uint32_t *place = NULL;
    if (slot) {
        size_t i = (uintptr_t)real * 0x9e3779b97f4a7c15u >> 40 & (2 * FUNCTIONS - 1);
        while (shared[i] && see_function[shared[i]].real != real) i = (i + 1) & (2 * FUNCTIONS - 1);
        place = &shared[i];
        if (*place) return stub_of(*place);
    }
    static const char *last_owner, *last_name;
    const char *o = keep_text(owner, &last_owner), *n = keep_text(name, &last_name);
    if (nfunction == FUNCTIONS || !o || !n) return real;
    see_function[nfunction] = (struct function){ .real = real, .owner = o, .name = n, .category = kind };
    if (place) *place = nfunction;
    return stub_of(nfunction++);
}

/* what the interpreter puts in the slots of classes written in Python: it calls Python */
static const void *of_classes[128];
static size_t nof_classes;

static bool wanted(const void *p, bool any)
{
    for (size_t i = 0; any && i < nof_classes; i++) if (of_classes[i] == p) return false;
    int kind = p && !see_is_stub(p) ? kind_of(p) : UNKNOWN;
    return any ? kind != UNKNOWN && kind != LIBC : kind == EXTENSION;
}

struct patch { const char *owner; uint16_t category; bool any; int done; };

/* in_place: more lies behind it, which its maker looks for there */
static void patch_def(struct patch *p, PyMethodDef **at, const char *owner, bool in_place)
{
    void *real;
    memcpy(&real, &(*at)->ml_meth, sizeof real);
    /* whether a class has a __new__ of its own is asked by its address */
    if (!wanted(real, p->any) || strcmp((*at)->ml_name, "__new__") == 0) return;
    PyMethodDef *copy = in_place ? *at : keep(sizeof *copy);
    if (!copy) return;
    *copy = **at;
    char of[256];
    const char *name = copy->ml_name, *dot = strrchr(owner, '.');
    if (!*name && dot) {                                 /* the getter of a property */
        snprintf(of, sizeof of, "%.*s", (int)(dot - owner), owner);
        owner = of;
        name = dot + 1;
    }
    const void *stub = stub_for(real, owner, *name ? name : "(no name)", p->category, false);
    memcpy(&copy->ml_meth, &stub, sizeof stub);
    *at = copy;
    p->done++;
}

static void patch_getset(struct patch *p, PyGetSetDescrObject *g)
{
    void *get, *set;
    memcpy(&get, &g->d_getset->get, sizeof get);
    memcpy(&set, &g->d_getset->set, sizeof set);
    if (!wanted(get, p->any)) return;
    PyGetSetDef *copy = keep(sizeof *copy);
    if (!copy) return;
    *copy = *g->d_getset;
    const char *type = ((PyDescrObject *)g)->d_type->tp_name;
    const void *stub = stub_for(get, type, copy->name, p->category, false);
    memcpy(&copy->get, &stub, sizeof stub);
    if (wanted(set, p->any)) {
        stub = stub_for(set, type, copy->name, p->category, false);
        memcpy(&copy->set, &stub, sizeof stub);
    }
    g->d_getset = copy;
    p->done++;
}

static void patch_word(struct patch *p, void *word, const char *owner, const char *name, bool slot)
{
    void *real;
    memcpy(&real, word, sizeof real);
    if (!wanted(real, p->any)) return;
    const void *stub = stub_for(real, owner, name, p->category, slot);
    memcpy(word, &stub, sizeof stub);
    p->done++;
}

struct slot { size_t offset; const char *name; };
#define TYPE(S) { offsetof(PyTypeObject, tp_##S), #S }
#define NUMBER(S) { offsetof(PyNumberMethods, nb_##S), #S }
#define SEQUENCE(S) { offsetof(PySequenceMethods, sq_##S), #S }
#define MAPPING(S) { offsetof(PyMappingMethods, mp_##S), #S }
static const struct slot type_slot[] = { TYPE(call), TYPE(new), TYPE(init), TYPE(iter), TYPE(iternext),
                                         TYPE(richcompare), TYPE(hash), TYPE(str), TYPE(repr), TYPE(vectorcall) };
static const struct slot number_slot[] = {
    NUMBER(add), NUMBER(subtract), NUMBER(multiply), NUMBER(remainder), NUMBER(divmod), NUMBER(power), NUMBER(negative),
    NUMBER(positive), NUMBER(absolute), NUMBER(bool), NUMBER(invert), NUMBER(lshift), NUMBER(rshift), NUMBER(and),
    NUMBER(xor), NUMBER(or), NUMBER(int), NUMBER(float), NUMBER(inplace_add), NUMBER(inplace_subtract),
    NUMBER(inplace_multiply), NUMBER(inplace_remainder), NUMBER(inplace_power), NUMBER(inplace_lshift),
    NUMBER(inplace_rshift), NUMBER(inplace_and), NUMBER(inplace_xor), NUMBER(inplace_or), NUMBER(floor_divide),
    NUMBER(true_divide), NUMBER(inplace_floor_divide), NUMBER(inplace_true_divide), NUMBER(index),
    NUMBER(matrix_multiply), NUMBER(inplace_matrix_multiply)
};
static const struct slot sequence_slot[] = { SEQUENCE(length), SEQUENCE(concat), SEQUENCE(repeat), SEQUENCE(item),
                                             SEQUENCE(ass_item), SEQUENCE(contains), SEQUENCE(inplace_concat),
                                             SEQUENCE(inplace_repeat) };
static const struct slot mapping_slot[] = { MAPPING(length), MAPPING(subscript), MAPPING(ass_subscript) };

/* base: the same of the type that it inherits from; what a type of the interpreter has from there stays as it is */
static void patch_slots(struct patch *p, const PyTypeObject *t, void *suite, const void *base, const struct slot *slot,
                        size_t n)
{
    if (!suite || (p->any && suite == base)) return;
    for (size_t i = 0; i < n; i++) {
        char *word = (char *)suite + slot[i].offset;
        if (p->any && base && memcmp(word, (const char *)base + slot[i].offset, sizeof(void *)) == 0) continue;
        patch_word(p, word, t->tp_name, slot[i].name, true);
    }
}

#define COUNT(A) (sizeof(A) / sizeof *(A))
static void patch_type(struct patch *p, PyTypeObject *t)
{
    void *dealloc;
    memcpy(&dealloc, &t->tp_dealloc, sizeof dealloc);
    const struct range *r = range_of((uintptr_t)dealloc);
    /* freeing takes time there, and nobody compares it */
    if (r && (strstr(r->name, "_multiarray_umath") || strstr(r->name, "libtorch_python")))
        patch_word(p, &t->tp_dealloc, t->tp_name, "dealloc", true);
    /* Cython's generators name no module */
    if (!strchr(t->tp_name, '.') && r && r->kind == EXTENSION && !r->standard)
        p->category = category_number("Backend");
    const PyTypeObject *b = t->tp_base;
    patch_slots(p, t, t, b, type_slot, COUNT(type_slot));
    patch_slots(p, t, t->tp_as_number, b ? b->tp_as_number : NULL, number_slot, COUNT(number_slot));
    patch_slots(p, t, t->tp_as_sequence, b ? b->tp_as_sequence : NULL, sequence_slot, COUNT(sequence_slot));
    patch_slots(p, t, t->tp_as_mapping, b ? b->tp_as_mapping : NULL, mapping_slot, COUNT(mapping_slot));
}

static void note_slots(const void *suite, const struct slot *slot, size_t n)
{
    for (size_t i = 0; suite && i < n && nof_classes < COUNT(of_classes); i++) {
        const void *code;
        memcpy(&code, (const char *)suite + slot[i].offset, sizeof code);
        if (code) of_classes[nof_classes++] = code;
    }
}

void see_class(PyObject *o)
{
    const PyTypeObject *t = (const PyTypeObject *)(void *)o;
    note_slots(t, type_slot, COUNT(type_slot));
    note_slots(t->tp_as_number, number_slot, COUNT(number_slot));
    note_slots(t->tp_as_sequence, sequence_slot, COUNT(sequence_slot));
    note_slots(t->tp_as_mapping, mapping_slot, COUNT(mapping_slot));
}

static void patch_wrapper(struct patch *p, PyWrapperDescrObject *w)
{
    static const size_t never[] = { offsetof(PyTypeObject, tp_getattro), offsetof(PyTypeObject, tp_setattro),
                                    offsetof(PyTypeObject, tp_descr_get), offsetof(PyTypeObject, tp_descr_set),
                                    offsetof(PyTypeObject, tp_finalize), offsetof(PyTypeObject, tp_getattr),
                                    offsetof(PyTypeObject, tp_setattr) };
    for (size_t i = 0; i < COUNT(never); i++) if ((size_t)w->d_base->offset == never[i]) return;
    patch_word(p, &w->d_wrapped, ((PyDescrObject *)w)->d_type->tp_name, w->d_base->name, true);
}

static bool is_of_cffi(PyObject *f)
{
    PyObject *self = ((PyCFunctionObject *)(void *)f)->m_self;
    return PyCFunction_Check(f) && self && strcmp(Py_TYPE(self)->tp_name, "_cffi_backend.Lib") == 0;
}

int see_patch(PyObject *o, const char *owner, const char *name, bool any)
{
    struct patch p = { .owner = owner, .category = category_number(name), .any = any };
    PyTypeObject *t = Py_TYPE(o);
    if (PyCFunction_Check(o) || strstr(t->tp_name, "cython_function_or_method"))   /* it begins with the same fields */
        patch_def(&p, &((PyCFunctionObject *)(void *)o)->m_ml, owner, is_of_cffi(o));
    else if (Py_IS_TYPE(o, &PyMethodDescr_Type) || Py_IS_TYPE(o, &PyClassMethodDescr_Type))
        patch_def(&p, &((PyMethodDescrObject *)(void *)o)->d_method, ((PyDescrObject *)(void *)o)->d_type->tp_name,
                  false);
    else if (Py_IS_TYPE(o, &PyGetSetDescr_Type)) patch_getset(&p, (PyGetSetDescrObject *)(void *)o);
    else if (Py_IS_TYPE(o, &PyWrapperDescr_Type)) patch_wrapper(&p, (PyWrapperDescrObject *)(void *)o);
    else if (PyType_Check(o)) patch_type(&p, (PyTypeObject *)(void *)o);
    else if (!PyFunction_Check(o) && !PyMethod_Check(o) && PyType_HasFeature(t, Py_TPFLAGS_HAVE_VECTORCALL)
             && t->tp_vectorcall_offset > 0
             && kind_of(*(void **)(void *)((char *)o + t->tp_vectorcall_offset)) == EXTENSION) {
        PyObject *own = PyObject_GetAttrString(o, "__name__");   /* ufuncs and the like, object by object */
        const char *s = own && PyUnicode_Check(own) ? PyUnicode_AsUTF8(own) : NULL;
        patch_word(&p, (char *)o + t->tp_vectorcall_offset, owner, s ? s : t->tp_name, false);
        if (p.done) Py_INCREF(o);
        PyErr_Clear();
        Py_XDECREF(own);
    }
    return p.done;
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
    if (rec_on && see_thread.sp > (void *)&c) see_never();
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
    uint64_t best[2] = { UINT64_MAX, UINT64_MAX };
    if (skip_after) return 0;
    see_function[0] = (struct function){ .real = (void *)(uintptr_t)nothing, .owner = "", .name = "", .id = 1,
                                         .need = NEVER };
    void *(*volatile call[2])(void) = { nothing, (void *(*)(void))(uintptr_t)stub_of(0) };
    see_thread = (struct see_thread){ 0 };
    rec_on = true;
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
    rec_thread = keep;
    see_thread = entered;
    return best[1] > best[0] ? (double)(best[1] - best[0]) / CALLS * rec_tick_ns() : 0;
}

bool see_begin(void)
{
    static bool tried;
    find_ranges();
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
    if (in_c && !see_thread.id && see_thread.f && see_thread.f->is_hot) hot[see_thread.f->hot].sampled += ns;
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
    const struct range *r = range_of(x->pc), *s = range_of(y->pc);
    if (r != s) return r > s ? 1 : -1;
    return ORDER(x->in_c, y->in_c);
}

PyObject *see_samples(void)
{
    PyObject *list = PyList_New(0);
    uint32_t n = nsample < SAMPLES ? nsample : SAMPLES;
    find_ranges();
    if (n) qsort(sample, n, sizeof *sample, by_place);
    for (uint32_t i = 0, k; list && i < n; i = k) {
        for (k = i; k < n && by_place(&sample[i], &sample[k]) == 0;) k++;
        const struct range *r = range_of(sample[i].pc);
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
int see_patch(PyObject *o, const char *owner, const char *name, bool any)
{
    (void)o;
    (void)owner;
    (void)name;
    (void)any;
    return 0;
}
bool see_is_stub(const void *p) { (void)p; return false; }
void see_python_from_c(bool on) { (void)on; }
void see_forked(void) { }
void see_skip_after(uint32_t calls) { (void)calls; }
void see_each(bool on) { (void)on; }
void see_never(void) { }
void see_forget(void) { }
void see_tell_counted(void) { }
void see_tell_skipped(void) { }
void see_class(PyObject *o) { (void)o; }
unsigned long long see_objects(void) { return 0; }
bool see_sample(unsigned hz) { return !hz; }
void see_own(bool on) { (void)on; }
PyObject *see_samples(void) { return PyList_New(0); }
#endif
