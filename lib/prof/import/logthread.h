/* logthread.h - what the parts of the reader of logs share: processes, threads, and the rows that records become. */
#ifndef MILLRACE_LOGTHREAD_H
#define MILLRACE_LOGTHREAD_H
#include "prof/import/logfiles.h"
#include "prof/import/logread.h"

static const int64_t NONE = INT64_MIN;
struct log_meaning { uint32_t cat, name; };                  /* of an id; texts */
struct log_process {
    uint32_t pid, image, text;                           /* text: its proc column */
    struct log_meaning *id;
    size_t nid, id_cap;
    struct log_anchor first, last;
    double slope;                                        /* ns per tick */
    bool ticks;
    int64_t begin, end, on;                              /* first and last record, ns; on: when enabled, or INT64_MIN */
    int64_t pass_begin;
    uint32_t ons;
    char name[64];
    struct { int64_t t; uint32_t id; } *phase;
    size_t nphase, phase_cap;
    double pair_ns;                                      /* what recording a call cost */
    uint64_t *skipped, *counted;                         /* by id: calls that were only counted; NULL: none */
    struct { uint64_t t; double ns; } *cost;             /* by id: what one of the latter takes, as told last */
};
struct log_frame { uint64_t row; uint32_t id; uint16_t hook; bool python; };   /* row: of its present piece */
struct log_stack { struct log_frame *v; size_t n, cap; };
struct log_pending { struct log_row row; bool done; };
struct log_end { uint64_t row; int64_t end; uint32_t flag; };
struct log_thread {
    struct log_source from;
    struct log_process *process;
    uint32_t tid, first_tid;                             /* texts; first: the log's first thread */
    int64_t last;                                        /* time of the record before */
    struct log_stack calls, ops;
    struct log_pending *held;                                /* a ring of `room` rows, from `first` up to `next` */
    uint64_t first, next, room;
    struct log_end *late;                                    /* ends of rows that outlast `room` others */
    size_t nlate, late_cap, late_at;
    bool ended;
    int64_t *owed;                                       /* by id: time of counted calls, still to be placed; or NULL */
    uint32_t *due;                                       /* ids of which time is to be placed */
    size_t ndue, due_cap;
    int64_t cpu_at;                                      /* when the CPU clock was read last; NONE: not yet */
    int64_t gil;                                         /* of the time until now, waiting for the GIL */
    int64_t gap;                                         /* since then Python runs, its row not begun; or NONE */
    uint64_t taking, amount;                             /* row of a wait for a link, from 1; how much the next is of */
};
struct log_reader {
    struct intern text, asked;                           /* asked: patterns of --calls */
    struct log_counts *counts;
    const char *dir;
    bool nested, looking;                                /* looking: the first reading, nothing is given out */
    struct log_process *process;
    size_t nprocess, process_cap;
    struct log_thread *thread;
    size_t nthread, thread_cap;
    struct log_row *ready;                               /* rows that no thread brings, by start */
    size_t nready, ready_cap, ready_at;
    size_t *heap, nheap;                                 /* threads with a row at their front, by its start */
    double calibrated;                                   /* ns of a call by calibration.sexp; -1: there is none */
    uint32_t open_text, part_text, python_text, c_text, estimated_text, off_text, waiting_text, own_text, gil_text;
    bool warned;
    uint32_t *map;                                       /* numbers that the texts have elsewhere, see log_next_row */
    size_t nmap, map_cap;
};

uint32_t log_word(struct log_reader *, const char *);    /* the number of a text */
uint32_t log_number(struct log_reader *, uint64_t n);    /* of its digits */
struct log_meaning log_meaning_of(struct log_reader *, const struct log_process *, uint32_t id);
struct log_pending *log_held(struct log_thread *, uint64_t row);
/* rows that no thread brings: in the first reading */
void log_ready_row(struct log_reader *, const struct log_row *);
void log_process_row(struct log_reader *, const struct log_process *, const char *cat, uint32_t name, int64_t start,
                     int64_t end);
/* One record on; at the end what is open is closed.  False: that has been done. */
bool log_advance(struct log_reader *, struct log_thread *);
#endif
