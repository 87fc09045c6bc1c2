/* frames.c - see frames.h */
#include "prof/guest/frames.h"
#include "prof/guest/ops.h"
#include "prof/guest/rec.h"
#include "prof/guest/see.h"
#include <pthread.h>
#include <sys/resource.h>
#if PY_VERSION_HEX >= 0x030b0000
#define Py_BUILD_CORE 1
#undef _PyGC_FINALIZED                                   /* 3.12's own headers do not agree */
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
typedef struct _PyInterpreterFrame frame;
#else
#include <frameobject.h>
typedef PyFrameObject frame;
#endif

static bool tree, mind;
static uint32_t (*id_of_code)(PyCodeObject *);
static int deep;                                         /* threads that are too deep for the hook */
static __thread uintptr_t lowest;                        /* address on this thread's stack; below it the hook rests */

static __thread bool own;

static PyObject *evaluate(PyThreadState *, frame *, int);

static void set_hook(bool on)
{
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), on ? evaluate : _PyEval_EvalFrameDefault);
}

static PyCodeObject *code_of(const frame *f)
{
#if PY_VERSION_HEX >= 0x030d0000
    return (PyCodeObject *)f->f_executable;
#else
    return f->f_code;
#endif
}

/* from 3.11 on a generator's function is evaluated once to make the generator: nothing of it runs */
static bool makes_generator(const frame *f)
{
#if PY_VERSION_HEX >= 0x030b0000
    return code_of(f)->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)
           && f->owner != FRAME_OWNED_BY_GENERATOR;
#else
    (void)f;
    return false;
#endif
}

/* half of the stack, from where this thread was first seen on it */
static __attribute__((noinline)) void find_lowest(uintptr_t here)
{
    size_t size = 0;
    struct rlimit limit;
    pthread_attr_t attributes;
    if (getpid() == gettid()) {
        bool known = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
        size = known ? limit.rlim_cur : (size_t)8 << 20;
    } else if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &size);
        pthread_attr_destroy(&attributes);
    }
    lowest = size / 2 < here ? here - size / 2 : 1;
}

static bool too_deep(const PyThreadState *t, uintptr_t here)
{
    if (!lowest) find_lowest(here);
    (void)t;
#if PY_VERSION_HEX >= 0x030c0000
    if (t->c_recursion_remaining < 200) return true;
#endif
    /* far below is another stack, of which nothing is known */
    return here < lowest && lowest - here < (uintptr_t)1 << 30;
}

static PyObject *rest(PyThreadState *t, frame *f, int throwing)
{
    if (!deep++) set_hook(false);
    PyObject *r = _PyEval_EvalFrameDefault(t, f, throwing);
    if (!--deep && (tree || mind)) set_hook(true);
    return r;
}

static PyObject *evaluate_minding(PyThreadState *t, frame *f, int throwing)
{
#if PY_VERSION_HEX < 0x030b0000
    PyObject *g = f->f_gen;                              /* borrowed */
    size_t outside = g ? ops_resume(g) : 0;
    PyObject *r = _PyEval_EvalFrameDefault(t, f, throwing);
    if (g) ops_left(r ? g : NULL, outside);
    return r;
#else
    return _PyEval_EvalFrameDefault(t, f, throwing);
#endif
}

static PyObject *evaluate(PyThreadState *t, frame *f, int throwing)
{
    void *sp = see_thread.sp;
    bool from_c = sp && sp > (void *)&sp;
    if (!rec_on || own || (!tree && !from_c)) return evaluate_minding(t, f, throwing);
    if (tree && makes_generator(f)) return _PyEval_EvalFrameDefault(t, f, throwing);
    if (tree && too_deep(t, (uintptr_t)&sp)) return rest(t, f, throwing);
    if (from_c) see_turn();
    uint32_t call = see_thread.id, id = tree ? id_of_code(code_of(f)) : 0;
    uint64_t now = rec_now();
    if (sp && !from_c) {                                 /* left by a jump */
        rec_put_at(LOG_EXCEPTION, call, HOOK_PATCH, now);
        sp = NULL;
    }
    if (!rec_thread.in_base && tree) {
        rec_thread.in_base = true;
        rec_ready();
        rec_put(LOG_PYTHON, 0, HOOK_NONE);
        now = rec_now();                                 /* it begins later than it was asked for, see rec_clock */
    }
    enum log_hook hook = tree ? HOOK_TREE : HOOK_NONE;
    rec_put_at(LOG_PYTHON, id, hook, now);
    see_thread.sp = NULL;
    PyObject *r = evaluate_minding(t, f, throwing);
    now = rec_now();
    if (see_thread.sp && see_thread.id) rec_put_at(LOG_EXCEPTION, see_thread.id, HOOK_PATCH, now);
    see_thread.sp = sp;
    see_thread.id = call;
    see_thread.f = NULL;
    if (rec_on) rec_put_at(LOG_PYTHON_END, id, hook, now);
    return r;
}

void frames_tree(bool on, uint32_t (*id_of)(PyCodeObject *))
{
    id_of_code = id_of;
    tree = on;
    set_hook((tree || mind) && !deep);
}

void frames_mind(bool on)
{
    mind = on && PY_VERSION_HEX < 0x030b0000;
    if (mind || !on) set_hook((tree || mind) && !deep);
}

void frames_own(bool on)
{
    own = on && tree;
}

void frames_plain_calls(void)
{
#if PY_VERSION_HEX >= 0x030b0000
    /* only what really holds them is changed: another layout of the interpreter's state is left alone */
    struct callable_cache *c = &PyInterpreterState_Get()->callable_cache;
    PyObject *b = PyEval_GetBuiltins(), *append = item_of_type(&PyList_Type, "append");
    if (!b || c->len != PyDict_GetItemString(b, "len") || c->isinstance != PyDict_GetItemString(b, "isinstance")
        || c->list_append != append) return;
    c->len = c->isinstance = c->list_append = NULL;
#endif
}
