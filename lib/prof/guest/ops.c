/* ops.c - see ops.h */
#include "prof/guest/ops.h"
#include "prof/guest/rec.h"
#include "prof/guest/see.h"

struct open_op { uint32_t id; bool recorded; const PyObject *generator; };   /* in which it was opened, or null */
/* low: what n was at its least since the generator that runs went on */
static __thread struct { struct open_op *v; size_t n, cap, low; } ops;

/* hook: HOOK_NONE where it goes on after it was suspended: no call by itself */
static bool push(uint32_t id, const PyObject *generator, enum log_hook hook)
{
    if (ops.n == ops.cap) {
        size_t cap = ops.cap ? 2 * ops.cap : 16;
        struct open_op *v = PyMem_RawRealloc(ops.v, cap * sizeof *v);
        if (!v) return false;
        ops.v = v;
        ops.cap = cap;
    }
    ops.v[ops.n++] = (struct open_op){ id, rec_on, generator };
    see_tell_counted();
    if (rec_on) rec_put(LOG_OP, id, hook);
    return true;
}

static void pop(void)
{
    const struct open_op *o = &ops.v[--ops.n];
    if (ops.n < ops.low) ops.low = ops.n;
    see_tell_counted();
    if (o->recorded && rec_on) rec_put(LOG_OP_END, o->id, HOOK_OP);
}

/* ---- what suspended generators hold: by their address, as long as a weak reference says that they live */

struct held { PyObject *generator, *weak; uint32_t *id; size_t n; };
static struct held *held;                                /* open addressing; generator NULL: free */
static size_t held_size, held_used;

static size_t slot_of(const PyObject *g)
{
    size_t i = ((uintptr_t)g >> 4) * 0x9e3779b97f4a7c15u >> 20 & (held_size - 1);
    while (held[i].generator && held[i].generator != g) i = (i + 1) & (held_size - 1);
    return i;
}

static void take_out(size_t i)
{
    PyMem_RawFree(held[i].id);
    Py_XDECREF(held[i].weak);
    held[i] = (struct held){ 0 };
    held_used--;
    for (size_t k = (i + 1) & (held_size - 1); held[k].generator; k = (k + 1) & (held_size - 1)) {
        struct held h = held[k];                         /* close the gap in the chain */
        held[k] = (struct held){ 0 };
        held[slot_of(h.generator)] = h;
    }
}

static bool make_room(void)
{
    if (held_used * 2 < held_size) return true;
    size_t n = held_size;
    struct held *old = held, *new = PyMem_RawCalloc(n ? 2 * n : 64, sizeof *new);
    if (!new) return false;
    held = new;
    held_size = n ? 2 * n : 64;
    for (size_t i = 0; i < n; i++) if (old[i].generator) held[slot_of(old[i].generator)] = old[i];
    PyMem_RawFree(old);
    return true;
}

static PyObject *gone(PyObject *Py_UNUSED(self), PyObject *weak)
{
    for (size_t i = 0; i < held_size; i++) {
        if (held[i].weak != weak) continue;
        take_out(i);
        break;
    }
    Py_RETURN_NONE;
}

/* what this generator had open is open again */
size_t ops_resume(PyObject *g)
{
    size_t outside = ops.low;
    ops.low = ops.n;
    if (!held_used) return outside;
    size_t i = slot_of(g);
    if (!held[i].generator) return outside;
    uint32_t *id = held[i].id;
    size_t n = held[i].n;
    held[i].id = NULL;
    take_out(i);
    for (size_t k = 0; k < n; k++) if (!push(id[k], g, HOOK_NONE)) break;
    PyMem_RawFree(id);
    return outside;
}

/* It is suspended: what is open above the least that was open since it went on is its own, even where it closed what
 * another had open. */
static void suspend(PyObject *g, size_t base)
{
    static PyMethodDef on_gone = { "gone", gone, METH_O, NULL };
    static PyObject *callback;
    if (ops.n <= base || !make_room()) return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (!callback) callback = PyCFunction_New(&on_gone, NULL);
    size_t n = ops.n - base;
    uint32_t *id = PyMem_RawMalloc(n * sizeof *id);
    PyObject *weak = id && callback ? PyWeakref_NewRef(g, callback) : NULL;
    if (weak) {
        for (size_t k = 0; k < n; k++) id[k] = ops.v[base + k].id;
        while (ops.n > base) pop();
        held[slot_of(g)] = (struct held){ g, weak, id, n };
        held_used++;
    } else PyMem_RawFree(id);                            /* without memory they stay open */
    PyErr_Restore(type, value, trace);
}

void ops_left(PyObject *g, size_t outside)
{
    if (g) suspend(g, ops.low);
    if (outside < ops.low) ops.low = outside;
}

/* ---- hooks */

#if PY_VERSION_HEX < 0x030b0000                         /* frames are minded, see frames.h */
void ops_hook(void)
{
}
#define first_hook ops_hook
#else
static iternextfunc next;
static sendfunc send[2];                                 /* of generators and coroutines */

static PyObject *on_next(PyObject *g)
{
    size_t outside = ops_resume(g);
    PyObject *r = next(g);
    ops_left(r ? g : NULL, outside);
    return r;
}

static PySendResult on_send(sendfunc f, PyObject *g, PyObject *value, PyObject **result)
{
    size_t outside = ops_resume(g);
    PySendResult r = f(g, value, result);
    ops_left(r == PYGEN_NEXT ? g : NULL, outside);
    return r;
}

static PySendResult send_generator(PyObject *g, PyObject *value, PyObject **result)
{
    return on_send(send[0], g, value, result);
}

static PySendResult send_coroutine(PyObject *g, PyObject *value, PyObject **result)
{
    return on_send(send[1], g, value, result);
}

enum { KINDS = 2, METHODS = 3 };
static const char *const method_name[METHODS] = { "send", "throw", "close" };
static PyCFunction method[KINDS][METHODS];

/* send and close take one argument or none; throw takes an array of them */
#define METHOD(kind, number)                                                                                           \
    static PyObject *method_##kind##_##number(PyObject *g, PyObject *arg)                                              \
    {                                                                                                                  \
        size_t outside = ops_resume(g);                                                                                \
        PyObject *r = method[kind][number](g, arg);                                                                    \
        ops_left(r && number != 2 ? g : NULL, outside);                                                                \
        return r;                                                                                                      \
    }
METHOD(0, 0)
METHOD(1, 0)
METHOD(0, 2)
METHOD(1, 2)

static PyObject *throw_into(int kind, PyObject *g, PyObject *const *args, Py_ssize_t n)
{
    size_t outside = ops_resume(g);
    PyObject *r = ((_PyCFunctionFast)(void (*)(void))method[kind][1])(g, args, n);
    ops_left(r ? g : NULL, outside);
    return r;
}

static PyObject *throw_generator(PyObject *g, PyObject *const *args, Py_ssize_t n)
{
    return throw_into(0, g, args, n);
}

static PyObject *throw_coroutine(PyObject *g, PyObject *const *args, Py_ssize_t n)
{
    return throw_into(1, g, args, n);
}

static void hook_methods(void)
{
    static const PyCFunction ours[KINDS][METHODS] = {
        { method_0_0, (PyCFunction)(void (*)(void))throw_generator, method_0_2 },
        { method_1_0, (PyCFunction)(void (*)(void))throw_coroutine, method_1_2 } };
    PyTypeObject *const type[KINDS] = { &PyGen_Type, &PyCoro_Type };
    static const int flags[METHODS] = { METH_O, METH_FASTCALL, METH_NOARGS };
    for (int k = 0; k < KINDS; k++)
        for (int m = 0; m < METHODS; m++) {
            PyObject *d = item_of_type(type[k], method_name[m]);
            if (method[k][m] || !d || !Py_IS_TYPE(d, &PyMethodDescr_Type)) continue;
            PyMethodDef *def = ((PyMethodDescrObject *)d)->d_method;
            if ((def->ml_flags & ~METH_COEXIST) != flags[m]) continue;
            method[k][m] = def->ml_meth;
            def->ml_meth = ours[k][m];
        }
}

void ops_hook(void)
{
    if (!next) return;
    if (PyGen_Type.tp_iternext != on_next) next = PyGen_Type.tp_iternext;
    PyGen_Type.tp_iternext = on_next;
    PyAsyncMethods *generator = PyGen_Type.tp_as_async, *coroutine = PyCoro_Type.tp_as_async;
    if (generator->am_send != send_generator) send[0] = generator->am_send;
    if (coroutine->am_send != send_coroutine) send[1] = coroutine->am_send;
    generator->am_send = send_generator;
    coroutine->am_send = send_coroutine;
    hook_methods();
}

static void first_hook(void)
{
    next = PyGen_Type.tp_iternext;
    ops_hook();
}
#endif

/* ---- since 3.12 a loop resumes a generator without asking a slot: events of its code alone tell */

#if PY_VERSION_HEX >= 0x030c0000
enum { TOOLS = 6 };
static PyObject *set_local_events, *tool, *events;

static PyObject *generator_of_frame(void)
{
    PyFrameObject *f = PyEval_GetFrame();
    PyObject *g = f ? PyFrame_GetGenerator(f) : NULL;
    Py_XDECREF(g);                                       /* it runs, so it lives */
    return g;
}

static PyObject *on_resume(PyObject *Py_UNUSED(self), PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(n))
{
    PyObject *g = held_used ? generator_of_frame() : NULL;
    if (g) ops_left(NULL, ops_resume(g));
    Py_RETURN_NONE;
}

static PyObject *on_yield(PyObject *Py_UNUSED(self), PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(n))
{
    PyObject *g = ops.n ? generator_of_frame() : NULL;
    size_t base = 0;
    while (g && base < ops.n && ops.v[base].generator != g) base++;
    if (g) suspend(g, base);
    Py_RETURN_NONE;
}

/* sys.monitoring with a tool of ours, PY_RESUME and PY_YIELD; without a free one operations stay open over a yield */
static bool begin_monitoring(void)
{
    static PyMethodDef resumed = { "resumed", (PyCFunction)(void (*)(void))on_resume, METH_FASTCALL, NULL },
                       yielded = { "yielded", (PyCFunction)(void (*)(void))on_yield, METH_FASTCALL, NULL };
    PyObject *monitoring = PySys_GetObject("monitoring"), *r = NULL;
    for (int i = TOOLS - 1; monitoring && !r && i >= 0; i--) {
        r = PyObject_CallMethod(monitoring, "use_tool_id", "is", i, "millrace");
        if (r) tool = PyLong_FromLong(i);
        PyErr_Clear();
    }
    Py_XDECREF(r);
    if (!r) return false;
    PyObject *names = PyObject_GetAttrString(monitoring, "events"),
             *resume = names ? PyObject_GetAttrString(names, "PY_RESUME") : NULL,
             *yield = names ? PyObject_GetAttrString(names, "PY_YIELD") : NULL;
    static const char call[] = "register_callback";
    PyObject *a = PyObject_CallMethod(monitoring, call, "OON", tool, resume, PyCFunction_New(&resumed, NULL)),
             *b = PyObject_CallMethod(monitoring, call, "OON", tool, yield, PyCFunction_New(&yielded, NULL));
    events = a && b ? PyNumber_Or(resume, yield) : NULL;
    set_local_events = events ? PyObject_GetAttrString(monitoring, "set_local_events") : NULL;
    PyObject *const done[] = { names, resume, yield, a, b };
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) Py_XDECREF(done[i]);
    PyErr_Clear();
    return set_local_events;
}

/* the generator whose frame opens an operation; from then on its code tells when it is suspended and goes on */
static const PyObject *generator_here(void)
{
    static int able;                                     /* 0: not known yet */
    PyThreadState *t = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030d0000
    struct _PyInterpreterFrame *f = t->current_frame;
#else
    struct _PyInterpreterFrame *f = t->cframe->current_frame;
#endif
    PyCodeObject *code = f ? (PyCodeObject *)PyUnstable_InterpreterFrame_GetCode(f) : NULL;
    bool generator = code && PyCode_Check(code) && code->co_flags & CO_GENERATOR;
    PyObject *g = NULL;
    if (generator && !able) able = begin_monitoring() ? 1 : -1;
    if (generator && able > 0) {
        PyObject *r = PyObject_CallFunctionObjArgs(set_local_events, tool, code, events, NULL);
        if (r) g = generator_of_frame();
        Py_XDECREF(r);
        PyErr_Clear();
    }
    Py_XDECREF(code);
    return g;
}
#else
static const PyObject *generator_here(void) { return NULL; }
#endif

void ops_begin_hook(void)
{
    static bool hooked;
    if (!hooked) first_hook();
    hooked = true;
}

bool ops_begin(uint32_t id)
{
    ops_begin_hook();
    if (!push(id, generator_here(), HOOK_OP)) PyErr_NoMemory();
    return !PyErr_Occurred();
}

void ops_end(uint32_t id)
{
    for (size_t k = ops.n; k-- > 0;) {
        if (ops.v[k].id != id) continue;
        while (ops.n > k) pop();                         /* those within it were left without an end */
        break;
    }
}
