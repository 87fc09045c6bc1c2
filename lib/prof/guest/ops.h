/* ops.h - operations of a thread that follow coroutines and generators: what one of them opened is closed while it is
 * suspended at an await or yield, and open again when it goes on, on whatever thread.
 *
 * Hooked are the slots that resume generators and coroutines, and their methods send, throw and close, from the first
 * operation on, or from where asyncio was loaded.  Asynchronous generators go with who awaits them.  Guarded by the
 * interpreter's lock. */
#ifndef MILLRACE_OPS_H
#define MILLRACE_OPS_H
#include "prof/guest/versions.h"
#include <stdbool.h>
#include <stdint.h>

bool ops_begin(uint32_t id);                             /* false with an exception set: out of memory */
void ops_end(uint32_t id);                               /* one that is not open here was closed with its generator */
size_t ops_resume(PyObject *generator);                  /* it goes on; returns what ops_left wants */
/* it is suspended: what it opened is not open meanwhile; NULL: it has ended */
void ops_left(PyObject *generator, size_t outside);
void ops_hook(void);                                     /* the slots were changed by others: stand before those */
void ops_begin_hook(void);                               /* coroutines are near: before the first operation */
#endif
