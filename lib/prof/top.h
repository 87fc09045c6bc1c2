/* top.h - where the time of a run went: self and total time by function or operation, and by category. */
#ifndef MILLRACE_TOP_H
#define MILLRACE_TOP_H
#include "prof/events.h"

struct top_row {
    uint32_t name, cat;                                  /* numbers in the table's text */
    uint64_t calls;
    int64_t self, total;                                 /* ns; total counts a recursion once */
    int64_t unverified;                                  /* of self: est, estimated, open; Unseen; by top_judge */
    uint64_t skipped, estimated;                         /* of the calls, those only counted; self has the latter's */
};
struct top {
    struct top_row *v;                                   /* by self, largest first */
    size_t n;
    int64_t start, end;                                  /* of all rows */
    int64_t removed;                                     /* what recording cost, taken out of self and total */
    size_t processes, threads, streams;
    uint64_t samples, out, seen, in_extensions, unclear; /* of the judge, see top_judge */
};

/* Rows are added in order of start, at least those of one thread; false: it was out of order, and nothing happened.
 * Memory: what is open at once, a row for each name.  by_op: by operation (op rows and the column op) instead of
 * function; calls are then those of the operation.  Rows may be nested or exclusive pieces (later ones flagged part,
 * which are no calls).  A row without a name counts as its category in parentheses.  Numbers of texts are the table's.
 * cost: of one call of this row, by a calibration: what it adds to itself and to what it interrupts; NULL: nothing. */
typedef struct top_builder top_builder;
struct top_cost { double inside, outside; };
/* Only what lies in this stretch, ns since the first row, which is that of the run; counts of the whole run are left
 * out. */
struct top_range { int64_t from, to; };
top_builder *top_begin(struct event_table *, bool by_op, const struct top_range *);
bool top_add(top_builder *, const struct row *, const struct top_cost *cost);
void top_end(top_builder *, struct top *);               /* frees the builder */

/* All rows of a table, which is sorted. */
void top_of(struct top *, struct event_table *, bool by_op, const struct top_range *);
void top_print(const struct top *, const struct event_table *, size_t limit);   /* an aligned table, to stdout */
int top_write(const struct top *, const struct event_table *, size_t limit);   /* CSV to stdout; EXIT_OK, or dies */

/* The samples of prof-record --judge, judge.*.csv in dir: how much of what counts as Python may be C that was not seen?
 * `out` samples were in no recorded call, of them `in_extensions - seen` in an extension, C for certain, and `unclear`
 * in libc, which both call.  The share of both, at the upper end of its 95 % interval (Wilson), is unverified of
 * what is Python's; so is the time of calls that were only counted, taken to be as long as those recorded. */
void top_judge(struct top *, const struct event_table *, const char *dir);
#endif
