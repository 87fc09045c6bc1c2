/* wrap.h - callables that are recorded, one by one: by rules, and what ctypes calls.
 *
 * All tables are guarded by the interpreter's lock.  What is patched in place
 * keeps its identity, so copies taken earlier (`from m import f`) are recorded too:
 *  - a builtin function gets a copy of its PyMethodDef whose flags no specialised instruction of the interpreter knows,
 *    and our vectorcall; its own vectorcall still reads the function pointer from the copy;
 *  - an object with a vectorcall slot of its own (numpy's ufuncs) gets ours in that slot;
 *  - ctypes' function type gets our tp_call, which knows the C function by its address.
 * Any other callable is replaced by a wrapper object that passes attributes through. */
#ifndef MILLRACE_WRAP_H
#define MILLRACE_WRAP_H
#include "prof/guest/versions.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    PyObject_HEAD
    PyObject *target;
    vectorcallfunc call, target_call;
    uint32_t id;
    uint16_t begin, end;                                 /* events: a C function or a Python one */
} wrapper;
extern PyTypeObject wrapper_type __attribute__((visibility("hidden")));
PyObject *new_wrapper(PyObject *target, vectorcallfunc call);   /* one that is called by `call`, and records nothing */
bool is_patched(PyObject *);
const char *text_of(PyObject *, const char *otherwise);

/* id of an object that lives for ever; 0: it has none yet */
uint32_t wrap_id(const void *key);
void wrap_add(const void *key, uint32_t id);

/* functions of the module, see there */
PyObject *py_wrap(PyObject *, PyObject *args);
PyObject *py_patch(PyObject *, PyObject *args);
PyObject *py_unpatch(PyObject *, PyObject *f);
PyObject *py_ctypes(PyObject *, PyObject *args);
#endif
