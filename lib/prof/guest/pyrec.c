/* pyrec.c - the CPython side of the recorder: wrappers, patched builtins, ctypes, the call tree, operations and phases.
 *
 * CPython 3.9 to 3.13, see versions.h.  All tables are guarded by the interpreter's lock.  What is patched in place
 * keeps its identity, so copies taken earlier (`from m import f`) are recorded too:
 *  - a builtin function gets a copy of its PyMethodDef whose flags no specialised instruction of the interpreter knows,
 * and
 *    our vectorcall; its own vectorcall still reads the function pointer from the copy;
 *  - an object with a vectorcall slot of its own (numpy's ufuncs) gets ours in that slot;
 *  - ctypes' function type gets our tp_call, which knows the C function by its address.
 * Any other callable is replaced by a wrapper object that passes attributes through. */
#include "prof/guest/frames.h"
#include "prof/guest/lock.h"
#include "prof/guest/ops.h"
#include "prof/guest/rec.h"
#include "prof/guest/see.h"
#include <dlfcn.h>
#include <stddef.h>
#include <structmember.h>

static bool tree;                                        /* the call tree is recorded */
static bool in_base;                                     /* between enable and disable */
static uint32_t max_passes;                              /* recording ends with this one, for good; 0: it does not */
static bool over;

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

static const char *text_of(PyObject *o, const char *otherwise)
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

typedef struct {
    PyObject_HEAD
    PyObject *target;
    vectorcallfunc call, target_call;
    uint32_t id;
    uint16_t begin, end;                                 /* events: a C function or a Python one */
} wrapper;

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

static PyObject *wrapper_get(PyObject *self, PyObject *object, PyObject *type)
{
    PyObject *target = ((wrapper *)self)->target;
    (void)type;
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

static PyTypeObject wrapper_type;

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
    PyObject *name = PyObject_GetAttrString(((wrapper *)self)->target, "__name__");
    PyObject *module = PyObject_GetAttrString(((wrapper *)self)->target, "__module__");
    PyObject *importlib = PyImport_ImportModule("importlib"),
             *import = importlib ? PyObject_GetAttrString(importlib, "import_module") : NULL;
    PyObject *builtins = PyEval_GetBuiltins(), *getattr = builtins ? PyDict_GetItemString(builtins, "getattr") : NULL,
             *r = NULL;
    if (name && module && import && getattr) {
        PyObject *m = PyObject_CallOneArg(import, module);
        if (m) r = Py_BuildValue("O(NO)", getattr, m, name);
    }
    Py_XDECREF(name);
    Py_XDECREF(module);
    Py_XDECREF(importlib);
    Py_XDECREF(import);
    return r;
}

static PyMethodDef wrapper_methods[] = {
    { "__reduce__", wrapper_reduce, METH_NOARGS, NULL },
    { "__reduce_ex__", wrapper_reduce, METH_O, NULL },
    { 0 } };

static PyTypeObject wrapper_type = { PyVarObject_HEAD_INIT(NULL, 0).tp_name = "millrace.wrapper",
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

static PyObject *py_wrap(PyObject *self, PyObject *args)
{
    PyObject *target;
    const char *module, *name, *category;
    (void)self;
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

static bool is_patched(PyObject *f)
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

static PyObject *py_patch(PyObject *self, PyObject *args)
{
    PyObject *f;
    const char *module, *name, *category;
    (void)self;
    if (!PyArg_ParseTuple(args, "Osss", &f, &module, &name, &category)) return NULL;
    return PyBool_FromLong(PyCFunction_Check(f) ? patch_function(f, module, name, category)
                                                : patch_slot(f, module, name, category));
}

static PyObject *py_unpatch(PyObject *self, PyObject *f)
{
    (void)self;
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

static PyObject *py_ctypes(PyObject *self, PyObject *args)
{
    PyObject *type;
    const char *category;
    (void)self;
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

/* ---- the call tree */

static uint32_t code_id(PyCodeObject *code)
{
    const struct entry *e = known(code);
    if (e) return e->id;
    char place[1024];
    snprintf(place, sizeof place, "%s:%d", text_of(code->co_filename, "?"), code->co_firstlineno);
    return add(Py_NewRef((PyObject *)code), rec_name("py", "Python", place, text_of(code->co_qualname, "?")))->id;
}

static void set_tree(bool on)
{
    if (on) frames_plain_calls();
    frames_tree(on, code_id);
    tree = on;
}

/* ---- threads: their Python begins with the function that they are given, not with the first C that it calls */

static PyCFunction start_thread[2];                      /* start_new_thread; since 3.13 also start_joinable_thread */

static PyObject *thread_call(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
    if (rec_on) rec_ready();
    if (rec_on && !rec_thread.in_base) {
        rec_put(LOG_PYTHON, 0, HOOK_NONE);
        rec_thread.in_base = true;
    }
    return PyObject_Vectorcall(((wrapper *)self)->target, args, n, names);
}

static PyObject *new_wrapper(PyObject *target, vectorcallfunc call)
{
    wrapper *w = PyObject_GC_New(wrapper, &wrapper_type);
    if (!w) return NULL;
    w->target = Py_NewRef(target);
    w->call = call;
    w->target_call = PyVectorcall_Function(target);
    PyObject_GC_Track((PyObject *)w);
    return (PyObject *)w;
}

static PyObject *start(int which, PyObject *self, PyObject *args, PyObject *names)
{
    PyObject *const f = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0)
                      : names                  ? PyDict_GetItemString(names, "function")
                                               : NULL;
    PyObject *w = f && PyCallable_Check(f) ? new_wrapper(f, thread_call) : NULL, *ours = NULL, *r = NULL;
    if (w && PyTuple_GET_SIZE(args)) {
        ours = PyTuple_New(PyTuple_GET_SIZE(args));
        for (Py_ssize_t i = 0; ours && i < PyTuple_GET_SIZE(args); i++)
            PyTuple_SET_ITEM(ours, i, Py_NewRef(i ? PyTuple_GET_ITEM(args, i) : w));
    } else if (w) {
        names = PyDict_Copy(names);
        if (names) PyDict_SetItemString(names, "function", w);
    }
    PyErr_Clear();
    PyCFunctionWithKeywords original = (PyCFunctionWithKeywords)(void (*)(void))start_thread[which];
    r = which ? original(self, ours ? ours : args, names) : start_thread[which](self, ours ? ours : args);
    if (w && !ours) Py_XDECREF(names);
    Py_XDECREF(ours);
    Py_XDECREF(w);
    return r;
}

static PyObject *start_new(PyObject *self, PyObject *args)
{
    return start(0, self, args, NULL);
}

static PyObject *start_joinable(PyObject *self, PyObject *args, PyObject *names)
{
    return start(1, self, args, names);
}

static PyObject *py_hook_thread(PyObject *self, PyObject *f)
{
    (void)self;
    if (!PyCFunction_Check(f)) Py_RETURN_NONE;
    PyCFunctionObject *c = (PyCFunctionObject *)f;
    int flags = c->m_ml->ml_flags, which = flags & METH_KEYWORDS ? 1 : 0;
    if (start_thread[which] || !(flags & METH_VARARGS)) Py_RETURN_NONE;
    PyMethodDef *copy = PyMem_RawMalloc(sizeof *copy);
    if (!copy) return PyErr_NoMemory();
    *copy = *c->m_ml;
    start_thread[which] = copy->ml_meth;
    copy->ml_meth = which ? (PyCFunction)(void (*)(void))start_joinable : start_new;
    c->m_ml = copy;
    Py_RETURN_NONE;
}

/* ---- operations */

typedef struct { PyObject_HEAD uint32_t id; } operation;

static uint32_t named_id(const char *kind, PyObject *name)
{
    static PyObject *ids;
    if (!ids && !(ids = PyDict_New())) return 0;
    PyObject *key = PyUnicode_FromFormat("%s:%U", kind, name), *id = key ? PyDict_GetItemWithError(ids, key) : NULL;
    uint32_t n = id ? (uint32_t)PyLong_AsUnsignedLong(id) : 0;
    if (key && !id) {
        n = rec_name(kind, "", "", text_of(name, "?"));
        id = PyLong_FromUnsignedLong(n);
        if (id) PyDict_SetItem(ids, key, id);
        Py_XDECREF(id);
    }
    Py_XDECREF(key);
    return n;
}

static PyObject *operation_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *name;
    static PyObject *last_name;                          /* mostly the same few literals: compare pointers first */
    static uint32_t last_id;
    if (kw && PyDict_GET_SIZE(kw)) return PyErr_Format(PyExc_TypeError, "operation(name) takes no keywords");
    if (!PyArg_ParseTuple(args, "U", &name)) return NULL;
    if (name != last_name) {
        last_id = named_id("op", name);
        Py_XSETREF(last_name, Py_NewRef(name));
    }
    operation *o = (operation *)type->tp_alloc(type, 0);
    if (o) o->id = last_id;
    return (PyObject *)o;
}

static PyObject *operation_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    static bool minded;
    if (!minded) frames_mind(true);
    minded = true;
    return ops_begin(((operation *)self)->id) ? Py_NewRef(self) : NULL;
}

static PyObject *operation_exit(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)args;
    (void)n;
    ops_end(((operation *)self)->id);
    Py_RETURN_FALSE;
}

static PyMethodDef operation_methods[] = {
    { "__enter__", operation_enter, METH_NOARGS, NULL },
    { "__exit__", (PyCFunction)(void (*)(void))operation_exit, METH_FASTCALL, NULL },
    { 0 } };
static PyTypeObject operation_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "millrace.operation",
    .tp_basicsize = sizeof(operation),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = operation_new,
    .tp_methods = operation_methods,
    .tp_doc = "operation(name): `with operation(name):` names a piece of code; they nest"
};

/* ---- the rest */

static PyObject *py_start(PyObject *self, PyObject *args)
{
    const char *dir;
    int want_tree = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "s|p", &dir, &want_tree)) return NULL;
    if (!rec_start(dir)) return PyErr_Format(PyExc_OSError, "cannot record to %s", dir);
    lock_watch();
    rec_on = false;                                      /* until enable() */
    const char *passes = getenv("MILLRACE_PROF_MAX_PASSES"), *skip = getenv("MILLRACE_PROF_SKIP_AFTER");
    max_passes = passes ? (uint32_t)strtoul(passes, NULL, 10) : 0;
    see_skip_after(skip ? (uint32_t)strtoul(skip, NULL, 10) : 0);
    see_estimate(getenv("MILLRACE_PROF_ESTIMATE"));
    tree = want_tree;
    Py_RETURN_NONE;
}

static PyObject *py_filtered(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(lock_inherited());
}

static PyObject *py_enable(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    if (!rec_dir()) return PyErr_Format(PyExc_RuntimeError, "start(directory) comes first");
    if (!in_base && !over) {
        in_base = rec_on = rec_thread.in_base = true;
        rec_ready();
        rec_put(LOG_ON, 0, HOOK_NONE);
        rec_put(LOG_PYTHON, 0, HOOK_NONE);
        if (tree) set_tree(true);
    }
    Py_RETURN_NONE;
}

static PyObject *end_recording(bool start)
{
    if (in_base) {
        bool was = tree;
        if (was) set_tree(false);
        tree = was;
        see_tell_skipped();
        rec_put(LOG_PYTHON_END, 0, HOOK_NONE);
        rec_put(LOG_OFF, start, HOOK_NONE);
        rec_thread.in_base = false;
        rec_stop();
        in_base = false;
    }
    Py_RETURN_NONE;
}

static PyObject *py_disable(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return end_recording(false);
}

static PyObject *py_locked(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(rec_locked);
}

static PyObject *py_disable_start(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return end_recording(true);
}

/* in a child of fork: its Python time begins here */
static PyObject *py_forked(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    see_forked();
    if (in_base && rec_on) {
        rec_ready();
        rec_put(LOG_ON, 0, HOOK_NONE);
        if (!rec_thread.in_base) rec_put(LOG_PYTHON, 0, HOOK_NONE);
        rec_thread.in_base = true;
    }
    Py_RETURN_NONE;
}

static PyObject *py_phase(PyObject *self, PyObject *name)
{
    (void)self;
    if (!PyUnicode_Check(name)) return PyErr_Format(PyExc_TypeError, "a phase is named by a string");
    if (rec_on) rec_put(LOG_PHASE, named_id("phase", name), HOOK_NONE);
    Py_RETURN_NONE;
}

static PyObject *py_pass(PyObject *self, PyObject *unused)
{
    static uint32_t passes;
    if (rec_on) rec_put(LOG_PASS, ++passes, HOOK_NONE);
    if (!max_passes || passes < max_passes) Py_RETURN_NONE;
    over = true;
    return py_disable(self, unused);
}

static PyObject *py_progress(PyObject *self, PyObject *fraction)
{
    (void)self;
    double f = PyFloat_AsDouble(fraction);
    if (PyErr_Occurred()) return NULL;
    if (rec_on) rec_put(LOG_PROGRESS, f <= 0 ? 0 : f >= 1 ? 1000000 : (uint32_t)(f * 1e6), HOOK_NONE);
    Py_RETURN_NONE;
}

static PyObject *py_dropped(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyLong_FromUnsignedLongLong(rec_dropped());
}

/* the cost of one record, in a loop: seconds for n of them */
static PyObject *py_put_seconds(PyObject *self, PyObject *arg)
{
    (void)self;
    long n = PyLong_AsLong(arg);
    if (PyErr_Occurred()) return NULL;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long i = 0; i < n && rec_on; i++) rec_put(LOG_PROGRESS, 0, HOOK_NONE);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return PyFloat_FromDouble((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9);
}

/* ---- every entry into C */

static bool see_on;

static PyObject *py_see_begin(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(see_begin());
}

static PyObject *py_see(PyObject *self, PyObject *args)
{
    PyObject *o;
    const char *owner, *category;
    int any;
    (void)self;
    if (!PyArg_ParseTuple(args, "Ossp", &o, &owner, &category, &any)) return NULL;
    return PyLong_FromLong(is_patched(o) ? 0 : see_patch(o, owner, category, any));
}

/* those of many objects whose type is one of some, or has a name with this in it */
static PyObject *py_pick(PyObject *self, PyObject *args)
{
    enum { OTHERS = 1024 };
    const PyTypeObject *other[OTHERS] = { 0 };           /* lately seen, and not wanted */
    PyObject *all, *types, *list = PyList_New(0);
    const char *part;
    (void)self;
    if (!list || !PyArg_ParseTuple(args, "O!O!s", &PyList_Type, &all, &PyTuple_Type, &types, &part)) {
        Py_XDECREF(list);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all); i++) {
        PyObject *o = PyList_GET_ITEM(all, i);
        const PyTypeObject *t = Py_TYPE(o), **at = &other[((uintptr_t)t >> 4) % OTHERS];
        if (*at == t) continue;
        bool wanted = strstr(t->tp_name, part);
        for (Py_ssize_t k = 0; !wanted && k < PyTuple_GET_SIZE(types); k++)
            wanted = PyTuple_GET_ITEM(types, k) == (const PyObject *)(const void *)t;
        if (!wanted) *at = t;
        else if (PyList_Append(list, o) < 0) Py_CLEAR(list);
        if (!list) return NULL;
    }
    return list;
}

static PyObject *py_see_class(PyObject *self, PyObject *type)
{
    (void)self;
    if (!PyType_Check(type)) return PyErr_Format(PyExc_TypeError, "a class");
    see_class(type);
    Py_RETURN_NONE;
}

static PyObject *py_see_from_c(PyObject *self, PyObject *on)
{
    (void)self;
    see_on = true;
    see_python_from_c(PyObject_IsTrue(on) == 1);
    ops_hook();
    frames_mind(true);
    Py_RETURN_NONE;
}

static PyObject *find_and_load, *after_import;           /* importlib's own, and what follows it */

/* stands for importlib._bootstrap._find_and_load, which every import of a new module goes through */
static PyObject *py_import(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    static __thread int depth;
    static unsigned long long seen;
    static uint32_t id;
    (void)self;
    if (!seen) seen = see_objects();
    depth++;
    PyObject *r = PyObject_Vectorcall(find_and_load, args, (size_t)n, NULL);
    depth--;
    if (!r || !see_on || !n || rec_locked) return r;
    unsigned long long now = see_objects();
    static bool loaded;                                  /* since the last outermost import */
    bool fresh = now != seen;
    loaded |= fresh;
    seen = now;
    if (depth && !fresh) return r;
    /* within an import only that module, after it everything that is new */
    PyObject *changed = depth ? Py_NewRef(args[0]) : PyBool_FromLong(loaded);
    if (!depth) loaded = false;
    if (!id) id = rec_name("c", "Profiler", "millrace", "after an import");
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    if (rec_on) rec_put(LOG_CALL, id, HOOK_PATCH);
    void *sp = see_thread.sp;
    if (tree) see_thread.sp = (void *)&sp;               /* what we call ourselves is no part of the tree */
    frames_own(true);
    see_own(true);
    PyObject *done = PyObject_CallOneArg(after_import, changed);
    see_own(false);
    frames_own(false);
    if (tree) see_thread.sp = sp;
    if (rec_on) rec_put(LOG_RETURN, id, HOOK_PATCH);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    rec_own((uint64_t)((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec));
    if (!done) PyErr_Clear();
    Py_XDECREF(done);
    Py_DECREF(changed);
    return r;
}

static PyObject *py_hook_import(PyObject *self, PyObject *args)
{
    static PyMethodDef method = { "_find_and_load", (PyCFunction)(void (*)(void))py_import, METH_FASTCALL, NULL };
    PyObject *bootstrap, *after;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &bootstrap, &after)) return NULL;
    Py_XSETREF(after_import, Py_NewRef(after));
    if (find_and_load) Py_RETURN_NONE;
    find_and_load = PyObject_GetAttrString(bootstrap, "_find_and_load");
    PyObject *ours = find_and_load ? PyCFunction_New(&method, NULL) : NULL;
    if (!ours || PyObject_SetAttrString(bootstrap, "_find_and_load", ours) < 0) return NULL;
    Py_DECREF(ours);
    Py_RETURN_NONE;
}

/* os._exit runs nothing that was registered: end the log first */
static PyCFunction exit_now;

static PyObject *py_exit(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    if (in_base && rec_on) {
        see_tell_skipped();
        rec_put(LOG_PYTHON_END, 0, HOOK_NONE);
        rec_put(LOG_OFF, 0, HOOK_NONE);
    }
    rec_finish();
    return ((_PyCFunctionFastWithKeywords)(void (*)(void))exit_now)(self, args, n, names);
}

static PyObject *py_hook_exit(PyObject *self, PyObject *f)
{
    (void)self;
    if (exit_now || !PyCFunction_Check(f)) Py_RETURN_NONE;
    PyCFunctionObject *c = (PyCFunctionObject *)f;
    PyMethodDef *copy = PyMem_RawMalloc(sizeof *copy);
    if (!copy) return PyErr_NoMemory();
    *copy = *c->m_ml;
    if ((copy->ml_flags & ~METH_STATIC) != (METH_FASTCALL | METH_KEYWORDS)) Py_RETURN_NONE;
    exit_now = copy->ml_meth;
    copy->ml_meth = (PyCFunction)(void (*)(void))py_exit;
    c->m_ml = copy;
    Py_RETURN_NONE;
}

static PyObject *py_sample(PyObject *self, PyObject *hz)
{
    (void)self;
    unsigned long n = PyLong_AsUnsignedLong(hz);
    if (PyErr_Occurred()) return NULL;
    return PyBool_FromLong(see_sample(n > 10000 ? 10000 : (unsigned)n));
}

static PyObject *py_samples(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return see_samples();
}

static PyMethodDef functions[] = {
    { "see_begin", py_see_begin, METH_NOARGS, "look where the loaded objects lie; False: not on this machine" },
    { "see", py_see, METH_VARARGS, "see(object, owner, category, any): record what it leads to; words changed" },
    { "pick", py_pick, METH_VARARGS, "pick(list, types, part): objects of a type of these, or named so" },
    { "see_class", py_see_class, METH_O, "see_class(class): what its slots hold is never recorded" },
    { "see_from_c", py_see_from_c, METH_O, "see_from_c(on): notice Python that C calls" },
    { "hook_import", py_hook_import, METH_VARARGS, "hook_import(bootstrap, after): after(changed) follows an import" },
    { "hook_exit", py_hook_exit, METH_O, "hook_exit(posix._exit): the log is complete before it" },
    { "sample", py_sample, METH_O, "sample(hz): note where this thread's CPU time is; 0: no more" },
    { "samples", py_samples, METH_NOARGS, "samples(): [(object, kind, in_c, count)]; emptied" },
    { "start", py_start, METH_VARARGS, "start(directory, tree=False): records go there after enable()" },
    { "filtered", py_filtered, METH_NOARGS, "filtered(): was a filter of system calls set since prof-record began?" },
    { "enable", py_enable, METH_NOARGS, "record from here on" },
    { "disable", py_disable, METH_NOARGS, "record no more" },
    { "locked", py_locked, METH_NOARGS, "the program has locked itself in: no system call of ours" },
    { "disable_start", py_disable_start, METH_NOARGS, "the same, and what was recorded until now is no iteration" },
    { "wrap", py_wrap, METH_VARARGS, "wrap(callable, module, name, category): a callable that is recorded" },
    { "patch", py_patch, METH_VARARGS,
      "patch(callable, module, name, category): record it in place; False if it cannot be" },
    { "unpatch", py_unpatch, METH_O, "undo patch" },
    { "hook_ctypes", py_ctypes, METH_VARARGS, "hook_ctypes(_ctypes.CFuncPtr, category): record all foreign functions" },
    { "hook_thread", py_hook_thread, METH_O,
      "hook_thread(_thread.start_new_thread): threads begin with their function" },
    { "forked", py_forked, METH_NOARGS, "after fork, in the child" },
    { "phase", py_phase, METH_O, "phase(name): the process is in this phase from here on" },
    { "end_pass", py_pass, METH_NOARGS, "a pass (training iteration) ends here" },
    { "progress", py_progress, METH_O, "progress(fraction): so much of the work is done" },
    { "dropped", py_dropped, METH_NOARGS, "number of records lost" },
    { "put_seconds", py_put_seconds, METH_O, "put_seconds(n): time that n records take" },
    { 0 }
};
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, .m_name = "_millrace", .m_size = -1,
                                     .m_methods = functions };

PyMODINIT_FUNC PyInit__millrace(void);
PyMODINIT_FUNC PyInit__millrace(void)
{
    if (strncmp(Py_GetVersion(), PY_VERSION, strcspn(PY_VERSION, ".") + 3) != 0)
        return PyErr_Format(PyExc_ImportError, "the recorder was built for Python %s", PY_VERSION);
    if (PyType_Ready(&wrapper_type) < 0 || PyType_Ready(&operation_type) < 0) return NULL;
    PyObject *m = PyModule_Create(&module);
    if (m && (PyModule_AddObjectRef(m, "operation", (PyObject *)&operation_type) < 0
              || PyModule_AddObjectRef(m, "wrapper", (PyObject *)&wrapper_type) < 0)) Py_CLEAR(m);
    return m;
}
