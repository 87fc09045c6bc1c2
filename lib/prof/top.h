/* top.h - where the time of a run went: self and total time by function or operation, and by category. */
#ifndef MILLRACE_TOP_H
#define MILLRACE_TOP_H
#include "prof/events.h"

struct top_row {
    uint32_t name, cat;                                  /* numbers in the table's text */
    uint64_t calls;
    int64_t self, total;                                 /* ns; total counts a recursion once */
    int64_t unverified;                                  /* of self: flagged est or open, or of category Unseen */
};
struct top {
    struct top_row *v;                                   /* by self, largest first */
    size_t n;
    int64_t start, end;                                  /* of all rows */
    size_t processes, threads, streams;
};
/* Sorts the table.  by_op: by operation (op rows and the column op) instead of function; calls are then those of the
 * operation.  Rows may be nested or exclusive pieces (later ones flagged part, which are no calls).  A row without a
 * name counts as its category in parentheses. */
void top_of(struct top *, struct table *, bool by_op);
void top_print(const struct top *, const struct table *, size_t limit);   /* for people, to stdout */
int top_write(const struct top *, const struct table *, size_t limit);    /* CSV to stdout; EXIT_OK, or dies */
#endif
