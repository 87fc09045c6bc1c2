/* jobs.h - work as a table of jobs, and the lines that come back from whoever did them, on whichever machine.
 *
 * A job is one command without a shell: it reads standard input or named files and writes its result to standard
 * output.  Columns of a table of jobs: job (a name, unique), command, and optionally input (a file for standard input)
 * or stdin (its text, on one line); others pass through.  An answer is one line, a row of
 *   job,task,status,seconds,machine,sum,output
 * task: hash of command, input and stdin, so that the answer to another question is not taken for this one; status: ok
 * or how the command ended (ran_word); machine: the fingerprint of bench-machine; output: what it wrote, with
 * backslash escapes so that it has no quote, comma or line end; sum: hash of all the others.  A line that was cut or
 * mixed with another on its way does not have its sum and is not an answer.  The log of answers is append-only, one
 * writer; the first ok answer to a job counts. */
#ifndef MILLRACE_JOBS_H
#define MILLRACE_JOBS_H
#include "base/str.h"
#include "table/table.h"

#define ANSWER_COLUMNS "job,task,status,seconds,machine,sum,output"

struct jobs {
    struct table table;                                  /* as read; a row is a job */
    int job, command, input, text, out;                  /* columns; the last three -1 where there are none */
    struct intern name;                                  /* a job's row by its name */
};
/* Dies at file:line on a name that is used twice or is no name, and on a command that would need a shell. */
struct jobs jobs_read(const char *path);
uint64_t jobs_task(const struct jobs *, size_t row);
/* How many of the left jobs, of n in all, the next batch takes when so many slots work: guided self-scheduling
 * (Polychronopoulos, Kuck 1987) with half a share at a time, not more than a quarter of the first share, so that not
 * much is lost with a machine, and not less than a 32nd. */
size_t jobs_batch(size_t left, size_t n, size_t slots);

struct answer { str job, status, machine, output; uint64_t task; double seconds; };   /* output: unescaped */
void answer_write(csvw *, const struct answer *);
/* One line without its end into *a, which borrows line and scratch; false when it is no answer. */
bool answer_parse(str line, struct answer *a, struct buf *scratch);

/* The log of answers, the first ok one of each task.  A log that is not there yet is empty; a torn last line is left
 * out, other damage is counted. */
struct answers {
    struct intern key;                                   /* job and task */
    struct answer *v;                                    /* of each key */
    size_t cap, n_broken;
    struct arena text;
};
struct answers answers_read(const char *path);
/* true when it is the first ok answer to its task; *differs when an earlier ok one said something else */
bool answers_add(struct answers *, const struct answer *, bool *differs);
const struct answer *answers_find(const struct answers *, str job, uint64_t task);       /* an ok one, or NULL */
#endif
