/* versions.h - what CPython 3.9 to 3.13 name differently, under the names of the newest; included in place of Python.h.
 *
 * A build serves one minor version, and its file's name says which, so that no other interpreter loads it. */
#ifndef MILLRACE_VERSIONS_H
#define MILLRACE_VERSIONS_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if PY_VERSION_HEX < 0x03090000
#error "CPython 3.9 or later"
#endif
#ifdef Py_GIL_DISABLED
#error "the tables of the recorder are guarded by the interpreter's lock, which this Python has not"
#endif

#if PY_VERSION_HEX < 0x030a0000
static inline PyObject *Py_NewRef(PyObject *o)
{
    Py_INCREF(o);
    return o;
}
static inline int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *o)
{
    return PyModule_AddObject(module, name, Py_NewRef(o));   /* a failure ends the process's recording anyway */
}
#endif

#if PY_VERSION_HEX < 0x030b0000
#define co_qualname co_name
#endif

#if PY_VERSION_HEX >= 0x030d0000
PyAPI_FUNC(PyObject *) _PyObject_MakeTpCall(PyThreadState *, PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
#endif

/* what a class has under a name, borrowed; since 3.12 the classes of the interpreter have no dictionary of their own */
static inline PyObject *item_of_type(PyTypeObject *t, const char *name)
{
    PyObject *o = PyObject_GetAttrString((PyObject *)t, name);
    if (!o) PyErr_Clear();
    Py_XDECREF(o);
    return o;
}
#endif
