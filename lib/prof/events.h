/* events.h - rows of the events table: proc,tid,kind,cat,start_ns,end_ns,name,link,flag and what else there is.
 *
 * A row is a half-open interval [start, end) of one thread or GPU stream, integer ns on one clock.  Kinds: cat (a
 * category of code ran), gpu (a kernel or copy ran), ovh (the profiler itself), op (a user's operation), phase, proc,
 * link (cat post: who waits for `link` may go on from start on, of a timer from end on; cat take: a wait for it, which
 * ended with it; name says what it is, flag how much of it: bytes of a pipe, items of a queue), after (nothing ran:
 * what was launched on stream tid from end on began after all that had been launched on the stream
 * in `cat` before start, since the one waited for the other's event).
 * Link ties a GPU row to the call that launched it; flag is empty, open (never closed, ended at the thread's last time)
 * or est. A column `op`, made by prof-op, names the operation a row is charged to.  Times are within +-2^62 ns. */
#ifndef MILLRACE_EVENTS_H
#define MILLRACE_EVENTS_H
#include "prof/phrase.h"
#include "table/csvio.h"

enum event_kind {
    EVENT_CAT, EVENT_GPU, EVENT_OVH, EVENT_OP, EVENT_PHASE, EVENT_PROC, EVENT_AFTER, EVENT_LINK, EVENT_KINDS
};
extern const char *const event_kind_name[EVENT_KINDS];
#define EVENT_COLUMNS "proc,tid,kind,cat,start_ns,end_ns,name,link,flag"

struct event {
    str proc, tid, cat, name, link, flag, op;            /* op is empty where the table has no such column */
    int64_t start, end;
    enum event_kind kind;
};

struct span { int64_t start, end; };
int span_order(const void *, const void *);              /* by start, for qsort() */

/* Reader of a stream of rows, any order.  Strings borrow from the record.  Absent optional columns read as empty. */
struct events_in { csv *t; int proc, tid, kind, cat, start, end, name, link, flag, op; };
struct events_in events_open(char **paths);              /* NULL-terminated operands, none: stdin */
struct events_in events_of(csv *);                       /* columns of an open table */
bool events_next(struct events_in *, struct event *);    /* false at end; dies at file:line on a bad row */
str event_key(const struct event *);                     /* what the sweep counts: cat, or "ovh:" cat, or the name */

void events_put(csvw *, const struct event *);           /* EVENT_COLUMNS, the record is not ended */

/* Repairs are counted, never silent: rows with end <= start carry no time; an interval that outlives the one it began
 * in is cut at that one's end. */
struct repairs { uint64_t empty, reversed, misnested; size_t first_line; };
bool is_empty(int64_t start, int64_t end, struct repairs *, size_t line);   /* counts it */
void repairs_note(const struct repairs *);               /* warnings, unless --quiet */

/* All rows in memory, for filters that need a thread as a whole: 56 bytes a row and each distinct text once. */
struct row {
    int64_t start, end;
    uint32_t proc, tid, cat, name, link, flag, op;       /* numbers in text; text 0 is the empty one */
    uint32_t source;                                     /* number of the row in the input; its unknown columns */
    uint8_t kind;
};
struct rows { struct row *v; size_t n, cap; };
struct event_table {
    struct rows rows;
    struct intern text;
    bool has_op;
    int *extra_col, nextra;                              /* columns that are not ours, passed through */
    const char **extra_name;
    uint32_t *extra;                                     /* their texts, nextra a source row */
    size_t extra_cap;
    struct arena names;
};
void table_read(struct event_table *, char **paths);     /* all rows, in input order */
int table_extra(const struct event_table *, const char *name);   /* which of extra_name, -1: none */
bool is_activity(const struct row *);                    /* something ran, and took time: cat, gpu, op */
/* The same rows one by one, in the order of the input, in constant memory but for the distinct texts (those of links
 * only if links are wanted).  ordered_open reads the first rows; if they are out of order of start_ns, or few, or
 * `hold` is set, it reads all into the table and returns false.  A later row out of order dies at file:line.  extra:
 * texts of the row's unknown columns. */
struct ordered {
    struct events_in in;
    struct event_table *t;
    struct row last, before;
    uint32_t *extra;
    size_t at;
    bool links;
};
bool ordered_open(struct ordered *, struct event_table *, char **paths, bool hold, bool links);
bool ordered_next(struct ordered *, struct row *, const uint32_t **extra);   /* false at the end, which closes it */
/* Writer of rows of such a table with their unknown columns: the header, then row by row.  op: with that column. */
struct rows_out { csvw *w; const struct event_table *t; bool op; struct phrases left, right; };   /* of the times */
void rows_out_begin(struct rows_out *, csvw *, const struct event_table *, bool op);
void rows_out_put(struct rows_out *, const struct row *, const uint32_t *extra);
void rows_out_end(struct rows_out *);                    /* the csvw stays open */
/* by proc, tid (of first appearance), start, longest first, stable */
void table_sort_threads(struct event_table *);
void rows_add(struct rows *, const struct row *);
/* rows made from those of the table, by start, to stdout; op: with that column.  EXIT_OK, or dies */
int table_write(const struct event_table *, struct rows *, bool op);
/* Properly nested intervals of one thread as disjoint pieces of the innermost one: that which covers t with the
 * latest start, then the shorter one, then the later in the input.  One that outlives its parent is cut at the
 * parent's end and counted, unless repairs is NULL. */
struct event_piece { int64_t start, end; const struct row *of; };
/* zero-initialise; reused */
struct pieces { struct event_piece *v; size_t n, cap; struct nest_level *stack; size_t depth_cap; };

/* Rows sorted as by table_sort_threads, all of one thread; only those of one kind with a length are considered.  Pieces
 * come in order of time; what touches and belongs to the same row is one piece. */
void nest_flatten(struct pieces *, const struct row *, size_t n, enum event_kind, struct repairs *);

/* Ranges of rows with the same proc and tid: [*begin, *end) after *end; false when there is none left. */
bool next_thread(const struct rows *, size_t *begin, size_t *end);
#endif
