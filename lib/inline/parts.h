/* parts.h - what each function of a built program costs: its bytes, and its own instructions in each run.
 *
 * With many calls decided differently at once, each in another function, the whole program's cost is one number but
 * every function's cost tells what its own call did: one build measures as many calls as there are functions that do
 * not meet.  Functions are the symbols of the executable; several of one name (static ones, which the linker numbers)
 * are one part.  Bytes are up to the next function, and EXISTS more for the unwinding tables of one that is there.
 * The file of parts, for the store: columns function, bytes, run1, run2, ... */
#ifndef MILLRACE_PARTS_H
#define MILLRACE_PARTS_H
#include "base/str.h"
#include "measure/count.h"

enum { PART_RUNS = 16, PART_EXISTS = 32 };

struct parts {
    struct intern name;
    double (*cost)[1 + PART_RUNS];                       /* of each: bytes, instructions in run 1, ... */
    size_t cap, runs;
    bool exact;                                          /* foo.1 and foo.2 are two parts, not copies of one */
};

void parts_of_program(struct parts *, const char *exe);  /* dies when the file is no ELF program */
void parts_add_run(struct parts *, const char *exe, const struct blocks *);
double parts_run(const struct parts *, size_t run);      /* instructions of all functions in that run, from 0 */
void parts_write(const struct parts *, const char *path);
bool parts_read(struct parts *, const char *path);       /* false: no such file */
const double *parts_find(const struct parts *, str function);        /* its costs; NULL: not there */
void parts_free(struct parts *);
#endif
