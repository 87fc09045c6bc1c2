/* hide.h - NumPy looks who called it before it reuses the memory of a temporary array; our frames must not be there.
 *
 * `a * b - c` writes its result over a * b if nobody but the interpreter can know of that array: NumPy asks backtrace()
 * whether all frames up to the evaluator's are the interpreter's or its own.  A trampoline between them would make it
 * allocate another array for each such expression, 1.4 times the page faults of a program.  So its call of backtrace
 * leads to one that leaves our frames out; that of every other object stays as it is. */
#ifndef MILLRACE_HIDE_H
#define MILLRACE_HIDE_H

void hide_from_numpy(void);                              /* in what has been loaded since the last time */
#endif
