/* ops.c - see ops.h */
#include "prof/record/ops.h"
#include "prof/record/rec.h"

struct open_op { uint32_t id; bool recorded; };
static __thread struct { struct open_op *v; size_t n, cap; } ops;

static bool push(uint32_t id)
{
    if (ops.n == ops.cap) {
        size_t cap = ops.cap ? 2 * ops.cap : 16;
        struct open_op *v = PyMem_RawRealloc(ops.v, cap * sizeof *v);
        if (!v) return false;
        ops.v = v;
        ops.cap = cap;
    }
    ops.v[ops.n++] = (struct open_op){ id, rec_on };
    if (rec_on) rec_put(LOG_OP, id, HOOK_OP);
    return true;
}

static void pop(void)
{
    const struct open_op *o = &ops.v[--ops.n];
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

static PyObject *gone(PyObject *self, PyObject *weak)
{
    (void)self;
    for (size_t i = 0; i < held_size; i++) {
        if (held[i].weak != weak) continue;
        take_out(i);
        break;
    }
    Py_RETURN_NONE;
}

/* what this generator had open is open again */
static size_t resume(PyObject *g)
{
    size_t base = ops.n;
    if (!held_used) return base;
    size_t i = slot_of(g);
    if (!held[i].generator) return base;
    uint32_t *id = held[i].id;
    size_t n = held[i].n;
    held[i].id = NULL;
    take_out(i);
    for (size_t k = 0; k < n; k++) if (!push(id[k])) break;
    PyMem_RawFree(id);
    return base;
}

/* it is suspended: what it opened is not open meanwhile.  Without memory it stays so. */
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
    } else PyMem_RawFree(id);
    PyErr_Restore(type, value, trace);
}

/* ---- hooks */

static iternextfunc next;
static sendfunc send[2];                                 /* of generators and coroutines */

static PyObject *on_next(PyObject *g)
{
    size_t base = resume(g);
    PyObject *r = next(g);
    if (r) suspend(g, base);
    return r;
}

static PySendResult on_send(sendfunc f, PyObject *g, PyObject *value, PyObject **result)
{
    size_t base = resume(g);
    PySendResult r = f(g, value, result);
    if (r == PYGEN_NEXT) suspend(g, base);
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
        size_t base = resume(g);                                                                                       \
        PyObject *r = method[kind][number](g, arg);                                                                    \
        if (r && number != 2) suspend(g, base);                                                                        \
        return r;                                                                                                      \
    }
METHOD(0, 0)
METHOD(1, 0)
METHOD(0, 2)
METHOD(1, 2)

static PyObject *throw_into(int kind, PyObject *g, PyObject *const *args, Py_ssize_t n)
{
    size_t base = resume(g);
    PyObject *r = ((_PyCFunctionFast)(void (*)(void))method[kind][1])(g, args, n);
    if (r) suspend(g, base);
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
            PyObject *d = PyDict_GetItemString(type[k]->tp_dict, method_name[m]);
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

bool ops_begin(uint32_t id)
{
    if (!next) {
        next = PyGen_Type.tp_iternext;
        ops_hook();
    }
    if (!push(id)) PyErr_NoMemory();
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
