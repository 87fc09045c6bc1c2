/* wrap.c - see wrap.h */
#include "prof/guest/wrap.h"
#include "prof/guest/rec.h"
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* ---- pointer -> id */

struct entry { const void *key; uint32_t id; vectorcallfunc original; };
static struct entry *table;
static size_t table_size, table_used;

static struct entry *find(const void *key)
{
    size_t i = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20 & (table_size - 1);
    while (table[i].key && table[i].key != key) i = (i + 1) & (table_size - 1);
    return &table[i];
}

static struct entry *known(const void *key)
{
    struct entry *e = table_size ? find(key) : NULL;
    return e && e->key ? e : NULL;
}

static struct entry *add(const void *key, uint32_t id)
{
    if (table_used * 2 >= table_size) {
        struct entry *old = table;
        size_t n = table_size;
        table_size = n ? n * 2 : 1024;
        table = PyMem_RawCalloc(table_size, sizeof *table);
        if (!table) Py_FatalError("millrace recorder: out of memory");
        for (size_t i = 0; i < n; i++) if (old[i].key) *find(old[i].key) = old[i];
        PyMem_RawFree(old);
    }
    struct entry *e = find(key);
    if (!e->key) table_used++;
    e->key = key;
    e->id = id;
    return e;
}

uint32_t wrap_id(const void *key)
{
    const struct entry *e = known(key);
    return e ? e->id : 0;
}

void wrap_add(const void *key, uint32_t id)
{
    add(key, id);
}

const char *text_of(PyObject *o, const char *otherwise)
{
    const char *s = o && PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : NULL;
    if (!s) PyErr_Clear();
    return s ? s : otherwise;
}

static bool is_python(const char *category)
{
    return strcmp(category, "Python") == 0;
}

/* ---- wrapper objects */

static PyObject *wrapper_call(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
    wrapper *w = (wrapper *)self;
    bool record = rec_on;
    if (record) rec_put(w->begin, w->id, HOOK_WRAP);
    PyObject *r =
        w->target_call ? w->target_call(w->target, args, n, names) : PyObject_Vectorcall(w->target, args, n, names);
    if (record) {
        uint64_t t = rec_now();
        rec_put_at(r || w->end == LOG_PYTHON_END ? w->end : LOG_EXCEPTION, w->id, HOOK_WRAP, t);
    }
    return r;
}

static void wrapper_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(((wrapper *)self)->target);
    PyObject_GC_Del(self);
}

static int wrapper_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((wrapper *)self)->target);
    return 0;
}

static PyObject *wrapper_getattr(PyObject *self, PyObject *name)
{
    PyObject *target = ((wrapper *)self)->target;
    const char *s = text_of(name, "");
    if (strcmp(s, "__wrapped__") == 0 || strcmp(s, "_as_parameter_") == 0) return Py_NewRef(target);
    if (strcmp(s, "__reduce__") == 0 || strcmp(s, "__reduce_ex__") == 0) return PyObject_GenericGetAttr(self, name);
    return PyObject_GetAttr(target, name);               /* __class__ too: isinstance answers as for the target */
}

static int wrapper_setattr(PyObject *self, PyObject *name, PyObject *value)
{
    return PyObject_SetAttr(((wrapper *)self)->target, name, value);
}

static PyObject *wrapper_get(PyObject *self, PyObject *object, PyObject *Py_UNUSED(type))
{
    PyObject *target = ((wrapper *)self)->target;
    if (!object || object == Py_None || !(PyFunction_Check(target) || Py_TYPE(target) == &PyMethodDescr_Type))
        return Py_NewRef(self);
    return PyMethod_New(self, object);
}

static PyObject *wrapper_repr(PyObject *self)
{
    return PyObject_Repr(((wrapper *)self)->target);
}

static Py_hash_t wrapper_hash(PyObject *self)
{
    return PyObject_Hash(((wrapper *)self)->target);
}

static PyObject *unwrapped(PyObject *o)
{
    return Py_IS_TYPE(o, &wrapper_type) ? ((wrapper *)o)->target : o;
}

static PyObject *wrapper_compare(PyObject *a, PyObject *b, int op)
{
    return PyObject_RichCompare(unwrapped(a), unwrapped(b), op);
}

static PyObject *wrapper_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;                                        /* pickled as the target: by its name */
    return PyObject_GetAttrString(((wrapper *)self)->target, "__qualname__");
}

static PyMethodDef wrapper_methods[] = {
    { "__reduce__", wrapper_reduce, METH_NOARGS, NULL },
    { "__reduce_ex__", wrapper_reduce, METH_O, NULL },
    { 0 } };

PyTypeObject wrapper_type = { PyVarObject_HEAD_INIT(NULL, 0).tp_name = "millrace.wrapper",
                                     .tp_basicsize = sizeof(wrapper),
                                     .tp_dealloc = wrapper_free,
                                     .tp_traverse = wrapper_traverse,
                                     .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
                                     .tp_vectorcall_offset = offsetof(wrapper, call),
                                     .tp_call = PyVectorcall_Call,
                                     .tp_getattro = wrapper_getattr,
                                     .tp_setattro = wrapper_setattr,
                                     .tp_descr_get = wrapper_get,
                                     .tp_repr = wrapper_repr,
                                     .tp_hash = wrapper_hash,
                                     .tp_richcompare = wrapper_compare,
                                     .tp_methods = wrapper_methods };

PyObject *new_wrapper(PyObject *target, vectorcallfunc call)
{
    wrapper *w = PyObject_GC_New(wrapper, &wrapper_type);
    if (!w) return NULL;
    w->target = Py_NewRef(target);
    w->call = call;
    w->target_call = PyVectorcall_Function(target);
    PyObject_GC_Track((PyObject *)w);
    return (PyObject *)w;
}

PyObject *py_wrap(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *target;
    const char *module, *name, *category;
    if (!PyArg_ParseTuple(args, "Osss", &target, &module, &name, &category)) return NULL;
    if (!PyCallable_Check(target)) return PyErr_Format(PyExc_TypeError, "%s is not callable", name);
    wrapper *w = PyObject_GC_New(wrapper, &wrapper_type);
    if (!w) return NULL;
    bool python = is_python(category);
    w->target = Py_NewRef(target);
    w->call = wrapper_call;
    w->target_call = PyVectorcall_Function(target);
    w->id = rec_name(python ? "py" : "c", category, module, name);
    w->begin = python ? LOG_PYTHON : LOG_CALL;
    w->end = python ? LOG_PYTHON_END : LOG_RETURN;
    PyObject_GC_Track((PyObject *)w);
    return (PyObject *)w;
}

/* ---- patched in place */

struct patched { PyMethodDef copy, *original; vectorcallfunc call; uint32_t id; };

static inline PyObject *finish_call(PyObject *r, bool record, uint32_t id, enum log_hook hook)
{
    if (record) {
        uint64_t t = rec_now();
        rec_put_at(r ? LOG_RETURN : LOG_EXCEPTION, id, hook, t);
    }
    return r;
}

static PyObject *patched_call(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
    struct patched *p =
        (struct patched *)(void *)((char *)((PyCFunctionObject *)self)->m_ml - offsetof(struct patched, copy));
    bool record = rec_on;
    if (record) rec_put(LOG_CALL, p->id, HOOK_PATCH);
    PyObject *r = p->call ? p->call(self, args, n, names)
                          : _PyObject_MakeTpCall(PyThreadState_Get(), self, args, PyVectorcall_NARGS(n), names);
    return finish_call(r, record, p->id, HOOK_PATCH);
}

static PyObject *slot_call(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
    const struct entry *e = find(self);
    uint32_t id = e->id;
    vectorcallfunc original = e->original;
    bool record = rec_on;
    if (record) rec_put(LOG_CALL, id, HOOK_PATCH);
    return finish_call(original(self, args, n, names), record, id, HOOK_PATCH);
}

bool is_patched(PyObject *f)
{
    return PyCFunction_Check(f) && ((PyCFunctionObject *)f)->vectorcall == patched_call;
}

/* True if f is now recorded.  One that calls by METH_VARARGS keeps its flags: no instruction is specialised for those.
 * Others get METH_KEYWORDS alone, for which neither the interpreter nor Cython (it calls METH_O and METH_NOARGS
 * functions without
 * looking at their vectorcall slot) has a short cut. */
static bool patch_function(PyObject *f, const char *module, const char *name, const char *category)
{
    PyCFunctionObject *c = (PyCFunctionObject *)f;
    if (is_patched(f)) return true;
    struct patched *p = PyMem_RawMalloc(sizeof *p);
    if (!p) return false;
    int flags = c->m_ml->ml_flags;
    *p = (struct patched){ .copy = *c->m_ml, .original = c->m_ml, .call = c->vectorcall };
    if (!(flags & METH_VARARGS))
        p->copy.ml_flags = METH_KEYWORDS | (flags & (METH_STATIC | METH_CLASS | METH_METHOD | METH_COEXIST));
    p->id = rec_name("c", category, module, name);
    c->m_ml = &p->copy;
    c->vectorcall = patched_call;
    return true;
}

static bool patch_slot(PyObject *f, const char *module, const char *name, const char *category)
{
    PyTypeObject *t = Py_TYPE(f);
    if (!PyType_HasFeature(t, Py_TPFLAGS_HAVE_VECTORCALL) || strcmp(t->tp_name, "numpy.ufunc") != 0) return false;
    vectorcallfunc *slot = (vectorcallfunc *)(void *)((char *)f + t->tp_vectorcall_offset);
    if (*slot == slot_call) return true;
    if (!*slot) return false;
    struct entry *e = add(Py_NewRef(f), rec_name("c", category, module, name));
    e->original = *slot;
    *slot = slot_call;
    return true;
}

PyObject *py_patch(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *f;
    const char *module, *name, *category;
    if (!PyArg_ParseTuple(args, "Osss", &f, &module, &name, &category)) return NULL;
    return PyBool_FromLong(PyCFunction_Check(f) ? patch_function(f, module, name, category)
                                                : patch_slot(f, module, name, category));
}

PyObject *py_unpatch(PyObject *Py_UNUSED(self), PyObject *f)
{
    if (is_patched(f)) {
        PyCFunctionObject *c = (PyCFunctionObject *)f;
        const struct patched *p = (struct patched *)(void *)((char *)c->m_ml - offsetof(struct patched, copy));
        c->m_ml = p->original;                           /* p stays: a call of it may be under way */
        c->vectorcall = p->call;
    } else if (known(f) && known(f)->original) {
        *(vectorcallfunc *)(void *)((char *)f + Py_TYPE(f)->tp_vectorcall_offset) = known(f)->original;
    } else Py_RETURN_FALSE;
    Py_RETURN_TRUE;
}

/* ---- ctypes */

static ternaryfunc ctypes_original;
static char ctypes_category[64] = "Backend";

static PyObject *ctypes_call(PyObject *self, PyObject *args, PyObject *kw)
{
    bool record = rec_on;
    uint32_t id = 0;
    if (record) {
        struct cdata { PyObject_HEAD void **address; } *c = (struct cdata *)(void *)self;   /* ctypes' own b_ptr */
        const void *function = c->address ? *c->address : NULL;
        const struct entry *e = known(function);
        if (e) id = e->id;
        else if (function) {
            PyObject *name = PyObject_GetAttrString(self, "__name__");
            Dl_info where;
            bool found = dladdr(function, &where) != 0;
            const char *file = found && where.dli_fname ? where.dli_fname : "", *base = strrchr(file, '/');
            id = rec_name("c", ctypes_category, base ? base + 1 : file,
                          text_of(name, found && where.dli_sname ? where.dli_sname : "?"));
            PyErr_Clear();
            Py_XDECREF(name);
            add(function, id);
        }
        rec_put(LOG_CALL, id, HOOK_CTYPES);
    }
    return finish_call(ctypes_original(self, args, kw), record, id, HOOK_CTYPES);
}

static int patch_call_slot(PyTypeObject *t)
{
    if (t->tp_call != ctypes_original) return 0;
    t->tp_call = ctypes_call;
    PyType_Modified(t);
    PyObject *sub = PyObject_CallMethod((PyObject *)t, "__subclasses__", NULL);
    if (!sub) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(sub); i++)
        if (patch_call_slot((PyTypeObject *)PyList_GET_ITEM(sub, i)) < 0) return -1;
    Py_DECREF(sub);
    return 0;
}

PyObject *py_ctypes(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *type;
    const char *category;
    if (!PyArg_ParseTuple(args, "O!s", &PyType_Type, &type, &category)) return NULL;
    snprintf(ctypes_category, sizeof ctypes_category, "%s", category);
    if (!ctypes_original) {
        ctypes_original = ((PyTypeObject *)type)->tp_call;
        /* classes made later, one for each library, take the slot from this descriptor */
        PyObject *call = item_of_type((PyTypeObject *)type, "__call__");
        if (call && Py_IS_TYPE(call, &PyWrapperDescr_Type)) {
            void *ours;
            ternaryfunc function = ctypes_call;
            memcpy(&ours, &function, sizeof ours);
            ((PyWrapperDescrObject *)call)->d_wrapped = ours;
        }
        if (patch_call_slot((PyTypeObject *)type) < 0) return NULL;
    }
    Py_RETURN_NONE;
}
