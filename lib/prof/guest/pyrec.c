/* pyrec.c - the CPython side of the recorder: the call tree, operations and phases, what follows imports and exits.
 *
 * CPython 3.9 to 3.13, see versions.h. */
#include "prof/guest/frames.h"
#include "prof/guest/links.h"
#include "prof/guest/lock.h"
#include "prof/guest/ops.h"
#include "prof/guest/ranges.h"
#include "prof/guest/rec.h"
#include "prof/guest/say.h"
#include "prof/guest/see.h"
#include "prof/guest/threads.h"
#include "prof/guest/wrap.h"

static bool tree;                                        /* the call tree is recorded */
static bool in_base;                                     /* between enable and disable */
static uint32_t max_passes;                              /* recording ends with this one, for good; 0: it does not */
static bool over;

/* ---- the call tree */

static uint32_t code_id(PyCodeObject *code)
{
    uint32_t id = wrap_id(code);
    if (id) return id;
    char place[1024];
    snprintf(place, sizeof place, "%s:%d", text_of(code->co_filename, "?"), code->co_firstlineno);
    id = rec_name("py", "Python", place, text_of(code->co_qualname, "?"));
    wrap_add(Py_NewRef((PyObject *)code), id);
    return id;
}

static void set_tree(bool on)
{
    if (on) frames_plain_calls();
    frames_tree(on, code_id);
    tree = on;
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

static PyObject *operation_enter(PyObject *self, PyObject *Py_UNUSED(unused))
{
    static bool minded;
    if (!minded) frames_mind(true);
    minded = true;
    return ops_begin(((operation *)self)->id) ? Py_NewRef(self) : NULL;
}

static PyObject *operation_exit(PyObject *self, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(n))
{
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

static PyObject *py_start(PyObject *Py_UNUSED(self), PyObject *args)
{
    const char *dir;
    int want_tree = 0;
    if (!PyArg_ParseTuple(args, "s|p", &dir, &want_tree)) return NULL;
    if (!rec_start(dir)) return PyErr_Format(PyExc_OSError, "cannot record to %s", dir);
    lock_watch();
    rec_on = false;                                      /* until enable() */
    const char *passes = getenv("MILLRACE_PROF_MAX_PASSES"), *skip = getenv("MILLRACE_PROF_SKIP_AFTER");
    max_passes = passes ? (uint32_t)strtoul(passes, NULL, 10) : 0;
    see_skip_after(skip ? (uint32_t)strtoul(skip, NULL, 10) : 0);
    see_each(want_tree || getenv("MILLRACE_PROF_EACH"));
    tree = want_tree;
    Py_RETURN_NONE;
}

static PyObject *py_filtered(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    return PyBool_FromLong(lock_inherited());
}

static PyObject *py_enable(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    if (!rec_dir()) return PyErr_Format(PyExc_RuntimeError, "start(directory) comes first");
    if (!in_base && !over) {
        see_forget();
        in_base = rec_on = true;
        rec_ready();
        rec_thread.in_base = true;
        rec_put(LOG_ON, 0, HOOK_NONE);
        rec_put(LOG_PYTHON, 0, HOOK_NONE);
        static bool started;
        if (!started) links_started();
        started = true;
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
        if (!start) links_exit();
        rec_put(LOG_PYTHON_END, 0, HOOK_NONE);
        rec_put(LOG_OFF, start, HOOK_NONE);
        rec_thread.in_base = false;
        rec_stop();
        in_base = false;
    }
    Py_RETURN_NONE;
}

static PyObject *py_disable(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    return end_recording(false);
}

static PyObject *py_locked(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    return PyBool_FromLong(rec_locked);
}

static PyObject *py_disable_start(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    return end_recording(true);
}

/* in a child of fork: its Python time begins here */
static PyObject *py_forked(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    see_forked();
    if (in_base && rec_on) {
        rec_ready();
        rec_put(LOG_ON, 0, HOOK_NONE);
        if (!rec_thread.in_base) rec_put(LOG_PYTHON, 0, HOOK_NONE);
        rec_thread.in_base = true;
        links_started();
    }
    Py_RETURN_NONE;
}

static PyObject *py_phase(PyObject *Py_UNUSED(self), PyObject *name)
{
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

static PyObject *py_progress(PyObject *Py_UNUSED(self), PyObject *fraction)
{
    double f = PyFloat_AsDouble(fraction);
    if (PyErr_Occurred()) return NULL;
    if (rec_on) rec_put(LOG_PROGRESS, f <= 0 ? 0 : f >= 1 ? 1000000 : (uint32_t)(f * 1e6), HOOK_NONE);
    Py_RETURN_NONE;
}

static PyObject *py_dropped(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    return PyLong_FromUnsignedLongLong(rec_dropped());
}

static PyObject *py_say(PyObject *Py_UNUSED(self), PyObject *line)
{
    const char *s = PyUnicode_Check(line) && say_for_all() ? PyUnicode_AsUTF8(line) : NULL;
    if (s) say(s);
    PyErr_Clear();
    Py_RETURN_NONE;
}

/* the cost of one record, in a loop: seconds for n of them */
static PyObject *py_put_seconds(PyObject *Py_UNUSED(self), PyObject *arg)
{
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

static PyObject *py_see_begin(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    return PyBool_FromLong(see_begin());
}

static PyObject *py_see(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *o;
    const char *owner, *category;
    int any;
    if (!PyArg_ParseTuple(args, "Ossp", &o, &owner, &category, &any)) return NULL;
    return PyLong_FromLong(is_patched(o) ? 0 : see_patch(o, owner, category, any));
}

/* those of many objects whose type is one of some, or has a name with this in it */
static PyObject *py_pick(PyObject *Py_UNUSED(self), PyObject *args)
{
    enum { OTHERS = 1024 };
    const PyTypeObject *other[OTHERS] = { 0 };           /* lately seen, and not wanted */
    PyObject *all, *types, *list = PyList_New(0);
    const char *part;
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

static PyObject *py_see_class(PyObject *Py_UNUSED(self), PyObject *type)
{
    if (!PyType_Check(type)) return PyErr_Format(PyExc_TypeError, "a class");
    see_class(type);
    Py_RETURN_NONE;
}

static PyObject *py_see_from_c(PyObject *Py_UNUSED(self), PyObject *on)
{
    see_on = true;
    see_python_from_c(PyObject_IsTrue(on) == 1);
    ops_hook();
    frames_mind(true);
    Py_RETURN_NONE;
}

static PyObject *find_and_load, *after_import;           /* importlib's own, and what follows it */

/* stands for importlib._bootstrap._find_and_load, which every import of a new module goes through */
static PyObject *py_import(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t n)
{
    static __thread int depth;
    static unsigned long long seen;
    static uint32_t id;
    if (!seen) seen = ranges_objects();
    depth++;
    PyObject *r = PyObject_Vectorcall(find_and_load, args, (size_t)n, NULL);
    depth--;
    if (!r || !see_on || !n || rec_locked) return r;
    unsigned long long now = ranges_objects();
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

static PyObject *py_hook_import(PyObject *Py_UNUSED(self), PyObject *args)
{
    static PyMethodDef method = { "_find_and_load", (PyCFunction)(void (*)(void))py_import, METH_FASTCALL, NULL };
    PyObject *bootstrap, *after;
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
        links_exit();
        rec_put(LOG_PYTHON_END, 0, HOOK_NONE);
        rec_put(LOG_OFF, 0, HOOK_NONE);
    }
    rec_finish();
    return ((_PyCFunctionFastWithKeywords)(void (*)(void))exit_now)(self, args, n, names);
}

static PyObject *py_hook_exit(PyObject *Py_UNUSED(self), PyObject *f)
{
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

static PyObject *py_sample(PyObject *Py_UNUSED(self), PyObject *hz)
{
    unsigned long n = PyLong_AsUnsignedLong(hz);
    if (PyErr_Occurred()) return NULL;
    return PyBool_FromLong(see_sample(n > 10000 ? 10000 : (unsigned)n));
}

static PyObject *py_samples(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
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
    { "hook_link", py_hook_link, METH_VARARGS, "hook_link(class, method, how): its calls are links" },
    { "forked", py_forked, METH_NOARGS, "after fork, in the child" },
    { "phase", py_phase, METH_O, "phase(name): the process is in this phase from here on" },
    { "end_pass", py_pass, METH_NOARGS, "a pass (training iteration) ends here" },
    { "progress", py_progress, METH_O, "progress(fraction): so much of the work is done" },
    { "dropped", py_dropped, METH_NOARGS, "number of records lost" },
    { "say", py_say, METH_O, "say(line): on stderr, by the program that prof-record became" },
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
