/* see.h - every entry from Python into C, by generic trampolines: functions, methods, getters, slots, Cython, ufuncs.
 *
 * Where the interpreter keeps the address of a C function, a stub of ours is put: in a copy of the PyMethodDef or
 * PyGetSetDef (flags stay, so do specialised instructions, which read the address at run time), in the slots of types,
 * in wrapper descriptors, in the vectorcall word of an object.  All stubs lead to one piece of assembly.  No signature
 * or slot has arguments on the stack or in vector registers, so six registers are kept and a true call is made, through
 * which exceptions of C++ unwind.  The thread's state is one word, the stack pointer at which C was entered: C that
 * calls C goes straight on after one comparison, and longjmp heals by itself.  Python that C calls is noticed where it
 * must pass: the call slot of functions, for which their vectorcall flag is taken away (the evaluator never asks for
 * it), and the slots that resume generators and coroutines.
 *
 * Never touched: slots whose code lies in the interpreter itself, and those that are compared by address (traverse,
 * clear, free, alloc, finalize, getattro, setattro, descr_get, buffers; dealloc but in numpy and torch).
 * Method after an own study: 99.7 % of the time in extensions seen, 14 to 34 ns a call. */
#ifndef MILLRACE_SEE_H
#define MILLRACE_SEE_H
#include "prof/guest/versions.h"
#include <stdbool.h>
#include <stdint.h>

/* sp: the stack pointer at which C was entered, or null; id: of that call, 0: it has no record; f: what was called;
 * since: when, if it is timed; burst: so many more calls are */
struct see_thread { void *sp; uint32_t id, burst; struct seen *f; uint64_t since; };
extern __thread struct see_thread see_thread __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* What is recorded, which patch.c adds to; its stub, the i-th of STUB bytes each, leads to see_enter.
 * 64 bytes, the first and `left` known to the assembly.  left: so many of the next calls are only counted, of `drawn`
 * when they were last told; since: when the first of `seen` calls began, that took `ticks`: are `need` of them short,
 * the function is hot */
struct seen {
    void *real;
    const char *owner, *name;
    uint32_t id;
    uint8_t category;
    bool is_hot;
    uint16_t hot;                                        /* its place in the table, for good; 0: none yet */
    int32_t left, drawn;
    uint64_t since;
    uint32_t seen, need;
    uint64_t ticks;
};
enum { FUNCTIONS = 65536, STUB = 16 };
#define HIDDEN __attribute__((visibility("hidden")))
extern struct seen see_function[FUNCTIONS] HIDDEN;
extern const unsigned char see_stubs[] HIDDEN;
extern uint32_t see_functions HIDDEN;                    /* so many, from 1 */
extern const char *see_category[64] HIDDEN;

bool see_begin(void);                                    /* find out what lies where; false: not on this machine */
/* Record what an object leads to; owner names what has no name of its own, category is kept for ever.  any: code of the
 * interpreter's own modules too.  Returns the number of words changed. */
int see_patch(PyObject *, const char *owner, const char *category, bool any);
/* A class of Python with every special method: what its slots hold is never patched. */
void see_class(PyObject *);
bool see_is_stub(const void *address);
void see_python_from_c(bool on);
/* From so many calls of a function on, more are only counted: LOG_SKIPPED, up to 1023 of each by see_tell_skipped. */
void see_skip_after(uint32_t calls);
/* Of functions that are called more than 100 000 times a second and take less than 2 us, calls that do not wait nor
 * call Python are counted: LOG_COUNTED, told by see_tell_counted, before other records and once in a ms; LOG_COST is
 * what one takes.  on: each has a record, however short. */
void see_each(bool on);
void see_tell_counted(void);
void see_forget(void);                                   /* what was counted unrecorded, or in a parent */
void see_turn(void);                                     /* what runs now is not just counted: it calls Python */
void see_tell_skipped(void);
void see_forked(void);                                   /* in the child */
/* The judge: a signal every 1/hz seconds of the calling thread's CPU time notes where it is.  see_samples: a list of
 * (object, kind, in_c, count), kind 0 interpreter, 1 libc, 2 extension; in_c: inside a recorded call. */
bool see_sample(unsigned hz);
PyObject *see_samples(void);
void see_own(bool);                                      /* this thread works for the recorder: no samples meanwhile */
#endif
