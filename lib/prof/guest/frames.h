/* frames.h - every frame of Python that the interpreter evaluates, through the hook of PEP 523.
 *
 * For the call tree on every version: no frame object is made and no instruction is traced, so it costs less than the
 * profile function of the C API.  Before CPython 3.11 also for what is otherwise noticed in slots, see see.h and ops.h,
 * since there the evaluator itself asks for those slots.
 * Frames that Python calls from Python nest on the C stack while the hook is there (from 3.11 on they would not): where
 * a recursion has used half of that, it is taken away until that frame returns, which is charged with all below. */
#ifndef MILLRACE_FRAMES_H
#define MILLRACE_FRAMES_H
#include "prof/guest/versions.h"
#include <stdbool.h>
#include <stdint.h>

/* tree: every frame is recorded, under the id that id_of gives to its code.  Off: none. */
void frames_tree(bool on, uint32_t (*id_of)(PyCodeObject *));
/* C that calls Python is interrupted, and operations follow generators: wanted before 3.11, else nothing */
void frames_mind(bool on);
void frames_own(bool);                                   /* what this thread runs now is not the program's */
/* len, isinstance and list.append are called like others, not by instructions that know them */
void frames_plain_calls(void);
#endif
