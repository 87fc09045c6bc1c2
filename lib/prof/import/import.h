/* import.h - foreign profiles as rows of the events table, one row at a time, in the order of the file.
 *
 * Memory does not grow with the file but where a format asks for it (open begins per thread, the marshal
 * references of
 * .prof; Kineto's and Nsight's rows are held by import_hold). Faults inside are repaired and counted; a
 * truncated file gives what it holds.  Times become integer ns. */
#ifndef MILLRACE_IMPORT_H
#define MILLRACE_IMPORT_H
#include "prof/events.h"

struct importer {
    void (*put)(void *closure, const struct event *);    /* the row; strings borrowed */
    void *closure;
    /* skipped: records of kinds that say nothing here */
    uint64_t rows, skipped, reversed, stray, unclosed, malformed;
    uint64_t disordered;                                 /* begins and ends that do not nest as the file has them */
    size_t malformed_at;                                 /* byte where the first of them ends, 0: not known */
    double unit_ns;                                      /* folded: ns of a count */
    /* .prof and pstats have totals of functions, no intervals: rows are laid out one after the other, and these tell
       the rest */
    uint64_t calls, primitive_calls;
    int64_t cumulative_ns;
    bool held;                                           /* rows are kept by import_hold: base_ns is added at the end */
    int64_t base_ns;
    char *fault;                                         /* "file:...: what", when the input ended badly; or NULL */
    bool truncated;                                      /* the fault is only that it ended too early */
};
enum import_format {
    FROM_CHROME, FROM_KINETO, FROM_NSYS, FROM_NVPROF, FROM_PROF, FROM_PSTATS, FROM_FOLDED, FROM_RLSCOPE, FROM_PERF,
    FROM_PPROF
};

/* Stacks with their time, one after the other; equal beginnings of neighbours are one row.  Frames are added to
 * the one that is put next; those from `inner` on were added innermost first. */
struct stack_level { uint32_t name; int64_t start; };
struct stacks {
    const char *proc, *cat;
    struct intern names;
    uint32_t *frame;
    struct stack_level *open;
    size_t n, cap, depth, open_cap;
    int64_t now;
};
void stacks_add(struct stacks *, str name);
void stacks_put(struct importer *, struct stacks *, size_t inner, double ns);
void stacks_end(struct importer *, struct stacks *);     /* frees what is in it */

/* Rows held until all are known, since the tools write the GPU's before the calls that launched them, under a process
 * of
 * their own (Kineto: the number of the device), and the file's base time behind them. */
void import_hold(struct event_table *, const struct event *);
/* base_ns added; a row of the GPU gets the process of the call with the same link, of several the last one that began
 * before it, of its own process if that has such calls; without one the file's only process, if it has but one.  A row
 * of kind after begins when the call of its link, which recorded the event, did.  Counts rows of the GPU left where the
 * tool put them. */
uint64_t import_own(struct event_table *, int64_t base_ns);
/* Of each thread, Python and C exclude each other, as in prof-log: of nested Python functions only the innermost runs,
 * a C call interrupts it and may be interrupted by Python in turn (later pieces are flagged part); C within C
 * stays. */
void import_exclude(struct event_table *, struct rows *out, struct repairs *);
const char *import_gpu_category(str name);               /* GPU, or Communication for NCCL's and RCCL's kernels */

void import_put(struct importer *, const struct event *);   /* counts, drops reversed rows */
void import_trace(struct importer *, const char *path, bool kineto);   /* Chrome JSON, .gz too */
void import_nsys(struct importer *, const char *path);   /* sqlite export */
void import_nvprof(struct importer *, const char *path); /* sqlite, or CSV of --csv */
void import_whole(struct importer *, enum import_format, const char *path);   /* marshal of cProfile, pprof's proto */
void import_rlscope(struct importer *, const char *path);   /* one .proto file, or a directory of them */

/* The same on bytes in memory, for the readers that are not streams (and for tests). */
void import_prof_bytes(struct importer *, const char *name, const unsigned char *p, size_t n);
void import_pprof_bytes(struct importer *, const char *name, const unsigned char *p, size_t n);
void import_rlscope_bytes(struct importer *, const char *name, const unsigned char *p, size_t n);
/* NULL line: the end */
void import_text_line(struct importer *, enum import_format, char *line, size_t n, void **state);
/* a file of lines, by the function above */
void import_lines(struct importer *, enum import_format, const char *path);
#endif
