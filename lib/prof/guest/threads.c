/* threads.c - see threads.h */
#include "prof/guest/threads.h"
#include "prof/guest/links.h"
#include "prof/guest/ops.h"
#include "prof/guest/rec.h"
#include "prof/guest/see.h"
#include "prof/guest/wrap.h"
#include <string.h>
#include <time.h>

/* ---- threads: their Python begins with the function that they are given, not with the first C that it calls */

static PyCFunction start_thread[2];                      /* start_new_thread; since 3.13 also start_joinable_thread */

static PyObject *thread_call(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
    if (rec_on) rec_ready();
    if (rec_on && !rec_thread.in_base) {
        rec_put(LOG_PYTHON, 0, HOOK_NONE);
        rec_thread.in_base = true;
        links_take(LINK_THREAD, links_key((uintptr_t)self), 0, rec_now());
    }
    PyObject *r = PyObject_Vectorcall(((wrapper *)self)->target, args, n, names);
    see_tell_counted();
    return r;
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
    if (w) links_post(LINK_THREAD, links_key((uintptr_t)w), 0);
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

PyObject *py_hook_thread(PyObject *self, PyObject *f)
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

/* ---- queues and timers that are written in Python: a wrapper stands for a method of the class */

static PyObject *queue_put(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
    PyObject *r = PyObject_Vectorcall(((wrapper *)self)->target, args, n, names);
    if (!r || !PyVectorcall_NARGS(n)) return r;
    PyObject *most = PyObject_GetAttrString(args[0], "maxsize");
    bool bounded = most && PyLong_Check(most) && PyLong_AsLong(most) > 0;
    PyErr_Clear();
    Py_XDECREF(most);
    if (bounded) links_take(LINK_QUEUE, links_key((uintptr_t)args[0] + 1), 1, rec_now());   /* its free places */
    links_post(LINK_QUEUE, links_key((uintptr_t)args[0]), 1);
    return r;
}

static PyObject *queue_get(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
    PyObject *r = PyObject_Vectorcall(((wrapper *)self)->target, args, n, names);
    if (!r || !PyVectorcall_NARGS(n)) return r;
    links_take(LINK_QUEUE, links_key((uintptr_t)args[0]), 1, rec_now());
    links_post(LINK_QUEUE, links_key((uintptr_t)args[0] + 1), 1);
    return r;
}

/* call_at(loop, when, ..) of asyncio: the handle that it returns is due then */
static PyObject *timer_begin(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
    PyObject *r = PyObject_Vectorcall(((wrapper *)self)->target, args, n, names);
    double when = r && PyVectorcall_NARGS(n) > 1 ? PyFloat_AsDouble(args[1]) : 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double left = when - (double)now.tv_sec - (double)now.tv_nsec * 1e-9;
    if (PyErr_Occurred()) {
        if (r) PyErr_Clear();
    } else if (r && left > 0 && left < 1e9)
        links_post(LINK_TIMER, links_key((uintptr_t)r), (uint64_t)(left * 1e9));
    return r;
}

static PyObject *timer_run(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
    if (PyVectorcall_NARGS(n)) links_take(LINK_TIMER, links_key((uintptr_t)args[0]), 0, rec_now());
    return PyObject_Vectorcall(((wrapper *)self)->target, args, n, names);
}

PyObject *py_hook_link(PyObject *self, PyObject *args)
{
    static const struct { const char *name; vectorcallfunc call; } way[] = {
        { "queue_put", queue_put }, { "queue_get", queue_get }, { "timer_begin", timer_begin },
        { "timer_run", timer_run } };
    PyObject *class;
    const char *method, *how;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oss", &class, &method, &how)) return NULL;
    if (strcmp(how, "timer_begin") == 0) ops_begin_hook();   /* the coroutine that begins the first one runs already */
    PyObject *target = PyObject_GetAttrString(class, method);
    for (size_t i = 0; target && PyFunction_Check(target) && i < sizeof way / sizeof *way; i++) {
        if (strcmp(how, way[i].name) != 0) continue;
        PyObject *w = new_wrapper(target, way[i].call);
        if (w) PyObject_SetAttrString(class, method, w);
        Py_XDECREF(w);
    }
    Py_XDECREF(target);
    PyErr_Clear();
    Py_RETURN_NONE;
}
