/* threads.h - threads begin with the function that they are given; the links of threads, queues and timers. */
#ifndef MILLRACE_THREADS_H
#define MILLRACE_THREADS_H
#include "prof/guest/versions.h"

/* functions of the module, see there */
PyObject *py_hook_thread(PyObject *, PyObject *f);
PyObject *py_hook_link(PyObject *, PyObject *args);
#endif
