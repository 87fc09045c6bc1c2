/* logread.c - see logread.h */
#include "prof/import/logread.h"
#include "base/compare.h"
#include "base/message.h"
#include "base/out.h"
#include "tree/sexp.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HELD = 1 << 17, HELD_LEAST = 1 << 10, CHUNK = 2048 };   /* rows held back in all; records read at a time */
enum { EARLY = LOG_HALF / 2 };                           /* ticks or ns: a record takes longer than one of them */

const char *const log_hook_name[HOOKS] = { "", "c_wrap", "c_patch", "ctypes", "tree", "op", "preload" };

struct meaning { uint32_t cat, name; };                  /* of an id; texts */
struct process {
    uint32_t pid, image, text;                           /* text: its proc column */
    struct meaning *id;
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
struct frame { uint64_t row; uint32_t id; uint16_t hook; bool python; };   /* row: of its present piece */
struct stack { struct frame *v; size_t n, cap; };
struct pending { struct log_row row; bool done; };
struct end { uint64_t row; int64_t end; uint32_t flag; };
struct segment { bool tail; uint64_t first, n; };        /* records of a file */
struct source {                                          /* a thread's records, in the order in which they were made */
    const char *path;
    struct log_head head;
    struct segment *segment;
    size_t nsegment, segment_cap, part;                  /* part: the segment that is read */
    uint64_t at, last;                                   /* next record of it; time of the record before */
    size_t next, have;
    struct log_record chunk[CHUNK];
};
struct thread {
    struct source from;
    struct process *process;
    uint32_t tid, first_tid;                             /* texts; first: the log's first thread */
    int64_t last;                                        /* time of the record before */
    struct stack calls, ops;
    struct pending *held;                                /* a ring of `room` rows, from `first` up to `next` */
    uint64_t first, next, room;
    struct end *late;                                    /* ends of rows that outlast `room` others */
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
static const int64_t NONE = INT64_MIN;
struct log_reader {
    struct intern text;
    struct log_counts *counts;
    const char *dir;
    bool nested, looking;                                /* looking: the first reading, nothing is given out */
    struct process *process;
    size_t nprocess, process_cap;
    struct thread *thread;
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

/* ---- files */

struct mapped { char *p; size_t n; };

static struct mapped read_file(const char *path, size_t most)
{
    struct mapped m = { NULL, 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0) return m;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        size_t size = (uint64_t)st.st_size < most ? (size_t)st.st_size : most;
        m.p = xmalloc(size, 1);
        ssize_t n = 1;
        while (m.n < size && (n = pread(fd, m.p + m.n, size - m.n, (off_t)m.n)) > 0) m.n += (size_t)n;
        if (n < 0) die_errno("%s", path);
    }
    close(fd);
    return m;
}

static bool read_head(const char *path, struct log_head *h, uint64_t *records)
{
    struct stat st;
    struct mapped m = stat(path, &st) == 0 ? read_file(path, LOG_HEAD) : (struct mapped){ NULL, 0 };
    bool good = m.n == LOG_HEAD;
    if (good) {
        memcpy(h, m.p, sizeof *h);
        good = memcmp(h->magic, LOG_MAGIC, sizeof LOG_MAGIC) == 0 && h->version == LOG_VERSION && h->half > 0
            && h->half <= 1u << 20;
        *records = ((uint64_t)st.st_size - LOG_HEAD) / sizeof(struct log_record);
    }
    free(m.p);
    return good;
}

static char *tail_path(const char *path)
{
    return xformat("%.*stail", (int)strlen(path) - 3, path);
}

static void add_segment(struct source *s, bool tail, uint64_t first, uint64_t n)
{
    if (!n) return;
    s->segment = grow(s->segment, s->nsegment + 1, &s->segment_cap, sizeof *s->segment);
    s->segment[s->nsegment++] = (struct segment){ tail, first, n };
}

/* Where the records lie: the log, then the half of the ring that was not written to it.  A log of which only the last
 * halves are kept has the oldest behind the newest.  False: not a log. */
static bool find_records(struct source *s)
{
    char *tail = tail_path(s->path);
    struct log_head ring;
    uint64_t n = 0, room = 0;
    bool log = read_head(s->path, &s->head, &n);
    bool rest = read_head(tail, &ring, &room) && room >= 2 * (uint64_t)ring.half;
    if (rest) s->head = ring;                            /* the newer one */
    const struct log_head *h = &s->head;
    uint64_t kept = h->kept, half = h->half, halves = log ? n / half : 0;
    free(tail);
    if (!log && !rest) return false;
    if (!log) n = 0;
    if (kept) {
        uint64_t ends = h->clean ? h->totals.records % half : 0;   /* the last half of an orderly end is short */
        halves = h->halves;
        if (kept > 1u << 20 || (halves < kept ? halves : kept) > n / half + 1) return false;
        for (uint64_t k = halves > kept ? halves - kept : 0; k < halves; k++)
            add_segment(s, false, k % kept * half, k + 1 == halves && ends ? ends : half);
    } else add_segment(s, false, 0, n);
    if (rest && !h->clean) add_segment(s, true, (halves & 1) * half, half);
    return true;
}

static void rewind_source(struct source *s)
{
    s->part = 0;
    s->at = s->last = 0;
    s->next = s->have = 0;
}

static size_t read_chunk(struct source *s)
{
    const struct segment *g = &s->segment[s->part];
    char *path = g->tail ? tail_path(s->path) : NULL;
    uint64_t left = g->n - s->at, n = left < CHUNK ? left : CHUNK;
    int fd = open(path ? path : s->path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0
                         : pread(fd, s->chunk, n * sizeof *s->chunk,
                                 (off_t)(LOG_HEAD + (g->first + s->at) * sizeof *s->chunk));
    if (fd >= 0) close(fd);
    free(path);
    s->next = 0;
    s->have = got > 0 ? (size_t)got / sizeof *s->chunk : 0;
    s->at += s->have;
    return s->have;
}

/* the next record, NULL at the end; *tail: it comes from the ring, where it ends with a record older than the last.  By
 * less than EARLY it is none of those that the ring held before, which are half a ring older: the thread has moved to a
 * processor whose counter is behind. */
static const struct log_record *next_record(struct source *s, bool *tail)
{
    while (s->next == s->have) {
        if (s->part == s->nsegment) return NULL;
        if (s->at < s->segment[s->part].n && read_chunk(s)) continue;
        s->part++;
        s->at = 0;
    }
    const struct log_record *r = &s->chunk[s->next++];
    *tail = s->segment[s->part].tail;
    if (*tail && (!r->t || (r->t < s->last && s->last - r->t > EARLY))) {
        s->next = s->have = 0;
        s->part = s->nsegment;
        return NULL;
    }
    if (r->t > s->last) s->last = r->t;
    return r;
}

/* ---- rows */

static uint32_t text(struct log_reader *r, const char *s)
{
    return intern(&r->text, str_of(s));
}

static uint32_t number_text(struct log_reader *r, uint64_t n)
{
    char b[32];
    snprintf(b, sizeof b, "%llu", (unsigned long long)n);
    return text(r, b);
}

static struct pending *held(struct thread *t, uint64_t row)
{
    return &t->held[row % t->room];
}

static uint64_t begin_row(struct log_reader *r, struct thread *t, const struct log_row *row)
{
    if (!r->looking) *held(t, t->next) = (struct pending){ .row = *row };
    return t->next++;
}

static void end_row(struct log_reader *r, struct thread *t, uint64_t row, int64_t end, uint32_t flag)
{
    if (r->looking) {
        if (t->next - row <= t->room) return;
        t->late = grow(t->late, t->nlate + 1, &t->late_cap, sizeof *t->late);
        t->late[t->nlate++] = (struct end){ row, end, flag };
    } else if (row >= t->first) {
        struct pending *p = held(t, row);
        p->row.end = end;
        if (flag) p->row.flag = flag;
        p->done = true;
    }
}

static struct meaning meaning_of(struct log_reader *r, const struct process *p, uint32_t id)
{
    if (id < p->nid && p->id[id].name) return p->id[id];
    char b[32];
    if (!id) return (struct meaning){ r->python_text, 0 };
    snprintf(b, sizeof b, "id%u", id);                   /* its line was lost */
    return (struct meaning){ r->c_text, text(r, b) };
}

static void begin_piece(struct log_reader *r, struct thread *t, struct frame *f, int64_t at, bool first)
{
    struct meaning m = r->looking ? (struct meaning){ 0, 0 } : meaning_of(r, t->process, f->id);
    f->row = begin_row(r, t,
                       &(struct log_row){ .start = at,
                                          .proc = t->process->text,
                                          .tid = t->tid,
                                          .cat = f->python ? r->python_text : m.cat,
                                          .name = m.name,
                                          .flag = first || f->python ? 0 : r->part_text,
                                          .kind = EVENT_CAT,
                                          .hook = first && f->hook < HOOKS ? (uint8_t)f->hook : 0 });
}

/* ---- calls that were only counted: so much of Python's time is theirs */

static void owe(struct log_reader *r, struct thread *t, uint32_t id, uint32_t calls)
{
    struct process *p = t->process;
    if (id >= p->nid) return;
    if (!p->counted) p->counted = xcalloc(p->nid, sizeof *p->counted);
    if (!t->owed) t->owed = xcalloc(p->nid, sizeof *t->owed);
    if (r->looking) p->counted[id] += calls;
    int64_t ns = p->cost ? (int64_t)(p->cost[id].ns * calls) : 0;
    if (!ns) return;
    if (!t->owed[id]) {
        t->due = grow(t->due, t->ndue + 1, &t->due_cap, sizeof *t->due);
        t->due[t->ndue++] = id;
    }
    if (__builtin_add_overflow(t->owed[id], ns, &t->owed[id])) t->owed[id] = INT64_MAX;
}

/* the gap ends: what is due takes its beginning, Python has the rest */
static void fill_gap(struct log_reader *r, struct thread *t, int64_t end, uint32_t flag)
{
    int64_t at = t->gap;
    struct frame *f = &t->calls.v[t->calls.n - 1];
    for (; t->ndue && at < end;) {
        uint32_t id = t->due[t->ndue - 1];
        int64_t ns = t->owed[id] < end - at ? t->owed[id] : end - at;
        struct meaning m = r->looking ? (struct meaning){ 0, 0 } : meaning_of(r, t->process, id);
        uint64_t row = begin_row(r, t, &(struct log_row){ .start = at, .proc = t->process->text, .tid = t->tid,
                                                          .cat = m.cat, .name = m.name, .flag = r->estimated_text,
                                                          .kind = EVENT_CAT });
        end_row(r, t, row, at += ns, 0);
        if (!(t->owed[id] -= ns)) t->ndue--;
    }
    t->gap = NONE;
    if (r->nested) return;
    begin_piece(r, t, f, at, false);
    end_row(r, t, f->row, end, flag);
}


/* an operation begins or ends: what is placed before belongs to what was open there.  Or records were dropped: the row
 * that says so comes after those of the time before it. */
static void split_gap(struct log_reader *r, struct thread *t, int64_t at)
{
    if (t->gap == NONE) return;
    fill_gap(r, t, at, 0);
    t->gap = at;
}

/* ---- calls of one thread: Python frames and C frames on one stack */

/* what was running is interrupted at t: by Python everything, by C only Python */
static void suspend(struct log_reader *r, struct thread *t, int64_t at, bool by_python)
{
    struct frame *v = t->calls.v;
    size_t n = t->calls.n;
    bool filled = n && t->gap != NONE;
    if (filled) fill_gap(r, t, at, 0);
    if (r->nested || !n || filled) return;
    if (v[n - 1].python) end_row(r, t, v[n - 1].row, at, 0);
    else if (by_python) for (size_t i = n; i && !v[i - 1].python; i--) end_row(r, t, v[i - 1].row, at, 0);
}

static void resume(struct log_reader *r, struct thread *t, int64_t at, bool after_python)
{
    struct frame *v = t->calls.v;
    size_t n = t->calls.n, i = n;
    if (n && v[n - 1].python) t->gap = at;
    if (r->nested || !n || v[n - 1].python) return;
    if (after_python) {
        while (i && !v[i - 1].python) i--;
        for (; i < n; i++) begin_piece(r, t, &v[i], at, false);
    }
}

static void push(struct log_reader *r, struct thread *t, const struct log_record *rec, int64_t at, bool python)
{
    suspend(r, t, at, python);
    t->calls.v = grow(t->calls.v, t->calls.n + 1, &t->calls.cap, sizeof *t->calls.v);
    struct frame *f = &t->calls.v[t->calls.n++];
    *f = (struct frame){ .id = rec->id, .hook = rec->aux, .python = python };
    begin_piece(r, t, f, at, true);
}

static void pop(struct log_reader *r, struct thread *t, int64_t at, uint32_t flag)
{
    struct frame f = t->calls.v[t->calls.n - 1];
    bool filled = t->gap != NONE;
    if (filled) fill_gap(r, t, at, flag);
    if (!filled || r->nested) end_row(r, t, f.row, at, flag);
    t->calls.n--;
    resume(r, t, at, f.python);
}

static void end_call(struct log_reader *r, struct thread *t, const struct log_record *rec, int64_t at, bool python)
{
    size_t i = t->calls.n;
    while (i && (t->calls.v[i - 1].id != rec->id || t->calls.v[i - 1].python != python)) i--;
    if (!i) {
        r->counts->stray += r->looking;
        return;
    }
    for (; t->calls.n > i; r->counts->unclosed += r->looking) pop(r, t, at, r->open_text);
    pop(r, t, at, 0);
}

/* ---- on the CPU or off it */

static const int64_t OFF_LEAST = 2000;                   /* ns: less is the clocks' */

static void off_row(struct log_reader *r, struct thread *t, int64_t start, int64_t end, uint32_t cat, uint32_t name)
{
    if (end <= start) return;
    uint64_t row = begin_row(r, t, &(struct log_row){ .start = start, .proc = t->process->text, .tid = t->tid,
                                                      .cat = cat, .name = name, .kind = EVENT_CAT });
    end_row(r, t, row, end, 0);
}

static uint32_t off_name(struct log_reader *r, const struct frame *f, struct meaning m)
{
    const char *of = r->text.name[m.name].s;
    if (r->looking) return 0;
    if (f->python && !f->id) return text(r, "in Python");
    char *name = xformat("in %s", of);
    uint32_t n = text(r, name);
    free(name);
    return n;
}

/* The thread's CPU clock was read: what passed since it was read before and was not on the CPU lies at the end of the
 * time since the last record, `before`, in which for so long nothing was recorded; and at the end of that the wait for
 * the interpreter's lock.  A call that waits by its name waited, but for the latter, unless it was only preempted. */
static void off_cpu(struct log_reader *r, struct thread *t, const struct log_record *rec, int64_t before, int64_t at)
{
    int64_t since = t->cpu_at, gil = t->gil, cpu = (int64_t)rec->id << (rec->aux & 31);
    t->cpu_at = at;
    t->gil = 0;
    if (rec->aux == LOG_CPU_FIRST || since == NONE || before == NONE || !t->calls.n) return;
    int64_t off = at - since - cpu;
    if (off > at - before) off = at - before;
    if (gil > off) gil = off;
    struct frame *f = &t->calls.v[t->calls.n - 1];
    struct meaning m = f->python && !f->id ? (struct meaning){ r->python_text, 0 } : meaning_of(r, t->process, f->id);
    if (m.cat == r->own_text) return;
    if (m.cat == r->waiting_text && !(rec->aux & LOG_CPU_RAN)) off = gil;
    if (off < OFF_LEAST) {
        if (t->ndue) split_gap(r, t, at);                /* what was counted lies where it was told */
        return;
    }
    uint32_t name = off_name(r, f, m);
    suspend(r, t, at - off, true);
    off_row(r, t, at - off, at - gil, r->off_text, name);
    off_row(r, t, at - gil, at, r->waiting_text, r->gil_text);
    resume(r, t, at, true);
}

static void begin_op(struct log_reader *r, struct thread *t, const struct log_record *rec, int64_t at)
{
    t->ops.v = grow(t->ops.v, t->ops.n + 1, &t->ops.cap, sizeof *t->ops.v);
    struct frame *f = &t->ops.v[t->ops.n++];
    *f = (struct frame){ .id = rec->id };
    f->row = begin_row(r, t,
                       &(struct log_row){ .start = at,
                                          .proc = t->process->text,
                                          .tid = t->tid,
                                          .name = r->looking ? 0 : meaning_of(r, t->process, rec->id).name,
                                          .flag = rec->aux == HOOK_NONE ? r->part_text : 0,
                                          .kind = EVENT_OP,
                                          .hook = rec->aux < HOOKS ? (uint8_t)rec->aux : 0 });
}

static void end_op(struct log_reader *r, struct thread *t, const struct log_record *rec, int64_t at)
{
    size_t i = t->ops.n;
    while (i && rec && t->ops.v[i - 1].id != rec->id) i--;
    if (!i && rec) {
        r->counts->stray += r->looking;
        return;
    }
    for (size_t keep = rec ? i - 1 : 0; t->ops.n > keep;) {
        const struct frame *f = &t->ops.v[--t->ops.n];
        bool open = !rec || t->ops.n > keep;
        r->counts->unclosed += open && r->looking;
        end_row(r, t, f->row, at, open ? r->open_text : 0);
    }
}

static const char *const link_name[LINKS] = { "lock", "pipe", "socket", "connect", "start", "exit", "thread", "queue",
                                              "timer", "closed", "timeout", "GIL" };

static void link_row(struct log_reader *r, struct thread *t, const struct log_record *rec, int64_t at)
{
    unsigned link = rec->aux & ~(unsigned)LINK_PEEK;
    bool post = rec->event == LOG_POST, timer = post && link == LINK_TIMER;
    char key[16];
    snprintf(key, sizeof key, "%08x", rec->id);
    int64_t due = timer && t->amount < (uint64_t)1 << 60 ? (int64_t)t->amount : 0;
    uint64_t row = begin_row(r, t, &(struct log_row){ .start = at, .proc = t->process->text, .tid = t->tid,
                                                      .cat = text(r, post ? "post"
                                                                     : rec->aux & LINK_PEEK ? "peek" : "take"),
                                                      .name = link < LINKS ? text(r, link_name[link]) : 0,
                                                      .link = text(r, key),
                                                      .flag = t->amount && !timer ? number_text(r, t->amount) : 0,
                                                      .kind = EVENT_LINK });
    t->amount = 0;
    if (post) end_row(r, t, row, at + due, 0);
    else t->taking = row + 1;
}

static void ready_row(struct log_reader *r, const struct log_row *row)
{
    if (!r->looking) return;
    r->ready = grow(r->ready, r->nready + 1, &r->ready_cap, sizeof *r->ready);
    r->ready[r->nready++] = *row;
}

static void process_row(struct log_reader *r, const struct process *p, const char *cat, uint32_t name, int64_t start,
                        int64_t end)
{
    if (!r->looking) return;
    /* another thread's passes may lie between */
    ready_row(r, &(struct log_row){ .start = start < end ? start : end,
                                    .end = end,
                                    .proc = p->text,
                                    .cat = cat[0] ? text(r, cat) : 0,
                                    .name = name,
                                    .kind = EVENT_PROC });
}

/* ---- records */

static int64_t limited(double ns)
{
    const double most = 0x1p61;
    return ns > most ? (int64_t)most : ns < -most ? -(int64_t)most : (int64_t)ns;
}

static int64_t time_of(const struct process *p, uint64_t t)
{
    int64_t first = limited((double)p->first.monotonic_ns);
    if (!p->ticks) return t > (uint64_t)1 << 61 ? (int64_t)1 << 61 : (int64_t)t;
    return limited((double)p->first.monotonic_ns) == (int64_t)p->first.monotonic_ns
               ? limited((double)(int64_t)(t - p->first.ticks) * p->slope) + first
               : first;
}

/* what is open is closed */
static void close_all(struct log_reader *r, struct thread *t, int64_t at)
{
    if (t->taking) end_row(r, t, t->taking - 1, at, r->open_text);
    for (; t->calls.n; r->counts->unclosed += r->looking) pop(r, t, at, r->open_text);
    if (t->ops.n) end_op(r, t, NULL, at);
    t->taking = t->amount = 0;
}

/* another thread goes on in this log */
static void next_thread_of_log(struct log_reader *r, struct thread *t, uint32_t tid, int64_t end)
{
    close_all(r, t, end);
    t->tid = number_text(r, tid);
    t->cpu_at = NONE;
    t->gil = 0;
    t->ndue = 0;
    free(t->owed);
    t->owed = NULL;
    r->counts->threads += r->looking;
}

static void one_record(struct log_reader *r, struct thread *t, const struct log_record *rec)
{
    struct process *p = t->process;
    int64_t at = time_of(p, rec->t);
    /* the processor may read its counter early: what began or ended took a while, or a call and its hook were lost */
    bool lasts = rec->event >= LOG_CALL && rec->event <= LOG_PYTHON_END;
    int64_t before = t->last;
    if (t->last != INT64_MIN && at < t->last + lasts) at = t->last + lasts;
    if (rec->event != LOG_COUNTED && rec->event != LOG_COST) t->last = at;   /* they are told of the time before */
    if (r->looking) {
        if (at < p->begin) p->begin = at;
        if (at > p->end) p->end = at;
    }
    switch (rec->event) {
    case LOG_CALL: push(r, t, rec, at, false); break;
    case LOG_RETURN: case LOG_EXCEPTION: end_call(r, t, rec, at, false); break;
    case LOG_PYTHON: push(r, t, rec, at, true); break;
    case LOG_PYTHON_END: end_call(r, t, rec, at, true); break;
    case LOG_OP:
        split_gap(r, t, at);
        begin_op(r, t, rec, at);
        break;
    case LOG_OP_END:
        split_gap(r, t, at);
        end_op(r, t, rec, at);
        break;
    case LOG_DROPPED:
        split_gap(r, t, at);
        end_row(r, t,
                begin_row(r, t,
                          &(struct log_row){ .start = at,
                                             .proc = p->text,
                                             .tid = t->tid,
                                             .cat = text(r, "dropped"),
                                             .name = number_text(r, rec->id),
                                             .kind = EVENT_OVH }),
                at, 0);
        break;
    case LOG_PHASE:
        if (!r->looking) break;
        p->phase = grow(p->phase, p->nphase + 1, &p->phase_cap, sizeof *p->phase);
        p->phase[p->nphase].t = at;
        p->phase[p->nphase++].id = rec->id;
        break;
    case LOG_PASS:
        if (!r->looking) break;
        process_row(r, p, "pass", number_text(r, rec->id),
                    p->pass_begin != INT64_MIN ? p->pass_begin
                    : p->on != INT64_MIN       ? p->on
                                               : p->begin,
                    at);
        p->pass_begin = at;
        break;
    case LOG_PROGRESS:
        if (r->looking) process_row(r, p, "progress", number_text(r, rec->id), at, at);
        break;
    case LOG_ON:
        if (r->looking) p->on = p->pass_begin = at;
        break;
    case LOG_OFF:
        if (!r->looking) break;
        if (rec->id != 1)
            process_row(r, p, "on", number_text(r, ++p->ons), p->on == INT64_MIN ? p->begin : p->on, at);
        p->on = INT64_MIN;
        break;
    case LOG_SKIPPED:
        if (!r->looking || rec->id >= p->nid || rec->aux > 31) break;
        if (!p->skipped) p->skipped = xcalloc(p->nid, sizeof *p->skipped);
        p->skipped[rec->id] += UINT64_C(1) << rec->aux;
        break;
    case LOG_THREAD: next_thread_of_log(r, t, rec->id, before == NONE ? at : before); break;
    case LOG_CPU: off_cpu(r, t, rec, before, at); break;
    case LOG_AMOUNT: t->amount = rec->aux < 32 ? (uint64_t)rec->id << rec->aux : 0; break;
    case LOG_POST: case LOG_AWAIT:
        split_gap(r, t, at);
        link_row(r, t, rec, at);
        break;
    case LOG_TAKE:
        if (t->taking) end_row(r, t, t->taking - 1, at, 0);
        t->taking = 0;
        break;
    case LOG_GIL:
        t->gil = rec->aux < 32 ? (int64_t)rec->id << rec->aux : 0;
        t->last = before;                                /* its CPU clock is behind it */
        break;
    case LOG_COUNTED:
        owe(r, t, rec->id, rec->aux);
        break;
    case LOG_COST: break;                                /* was read before, see as_written */
    default:
        if (!r->warned) warn("%s: unknown event %u in %s", r->dir, rec->event, t->from.path);
        r->warned = true;
    }
}

/* one record on; at the end what is open is closed.  False: that has been done */
static bool advance(struct log_reader *r, struct thread *t)
{
    bool tail = false;
    const struct log_record *rec = next_record(&t->from, &tail);
    if (rec) {
        if (r->looking) {
            r->counts->records++;
            r->counts->from_tail += tail;
        }
        one_record(r, t, rec);
        return true;
    }
    if (t->ended) return false;
    t->ended = true;
    int64_t at = t->last == INT64_MIN ? 0 : t->last;
    close_all(r, t, at);
    return true;
}

/* ---- the first reading */

static void restart(struct thread *t)
{
    rewind_source(&t->from);
    t->tid = t->first_tid;
    t->first = t->next = 0;
    t->calls.n = t->ops.n = 0;
    t->last = t->gap = t->cpu_at = INT64_MIN;
    t->gil = 0;
    t->taking = t->amount = 0;
    t->ended = false;
    t->ndue = 0;
    free(t->owed);
    t->owed = NULL;
}

static int by_row(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    return ORDER(x->row, y->row);
}

/* What the writer counted against what is there: its sum over the records that it had written to the log.  And what
 * a counted call takes is known in the end. */
static bool as_written(struct process *p, struct source *s)
{
    const struct log_totals *w = &s->head.totals;
    uint64_t sum = 0, k = 0, begun[HOOKS] = { 0 };
    bool tail = false;
    rewind_source(s);
    for (const struct log_record *r; (r = next_record(s, &tail)); k++) {
        if (r->event == LOG_COST && r->id < p->nid) {
            if (!p->cost) p->cost = xcalloc(p->nid, sizeof *p->cost);
            if (r->t >= p->cost[r->id].t) {
                p->cost[r->id].t = r->t;
                p->cost[r->id].ns = r->aux / 32.;
            }
        }
        if (k >= w->records) continue;
        sum += log_sum(r, k);
        if (log_begins(r->event) && r->aux < HOOKS) begun[r->aux]++;
    }
    return s->head.kept || (k >= w->records && sum == w->sum && memcmp(begun, w->begun, sizeof begun) == 0);
}

static void look(struct log_reader *r, struct thread *t)
{
    restart(t);
    while (advance(r, t)) continue;
    if (t->nlate) qsort(t->late, t->nlate, sizeof *t->late, by_row);
    r->counts->threads++;
    r->counts->unclean += !t->from.head.clean;
    r->counts->dropped += t->from.head.dropped;
}

/* a process that ran several programs, one after the other, counts as several: their ids differ */
static size_t process_of(struct log_reader *r, const struct log_head *h)
{
    for (size_t i = 0; i < r->nprocess; i++)
        if (r->process[i].pid == h->pid && r->process[i].image == h->image) return i;
    char name[32];
    snprintf(name, sizeof name, h->image ? "%u.%u" : "%u", h->pid, h->image);
    r->process = grow(r->process, r->nprocess + 1, &r->process_cap, sizeof *r->process);
    r->process[r->nprocess] = (struct process){ .pid = h->pid,
                                                .image = h->image,
                                                .text = text(r, name),
                                                .begin = INT64_MAX,
                                                .end = INT64_MIN,
                                                .on = INT64_MIN,
                                                .pass_begin = INT64_MIN };
    return r->nprocess++;
}

/* clocks: a long stretch between two anchors beats the estimate made at the start */
static void take_clock(struct process *p, const struct log_head *h)
{
    if (!p->first.monotonic_ns || h->first.monotonic_ns < p->first.monotonic_ns) p->first = h->first;
    if (h->last.monotonic_ns > p->last.monotonic_ns) p->last = h->last;
    p->ticks = h->ticks;
    p->slope = h->ns_per_tick > 0 && h->ns_per_tick < 1e6 ? h->ns_per_tick : 1;
    memcpy(p->name, h->process, sizeof p->name - 1);
    if (h->pair_ns > p->pair_ns && h->pair_ns < 1e6) p->pair_ns = h->pair_ns;
}

static void fit_clock(struct process *p)
{
    uint64_t ns = p->last.monotonic_ns - p->first.monotonic_ns, ticks = p->last.ticks - p->first.ticks;
    if (p->last.monotonic_ns > p->first.monotonic_ns && ns > 20000000 && ticks) p->slope = (double)ns / (double)ticks;
}

/* the table of names, without the zero bytes that a killed process leaves behind it; NULL: none */
static csv *open_names(const char *path)
{
    struct mapped m = read_file(path, SIZE_MAX);
    while (m.n && m.p[m.n - 1] != '\n') m.n--;
    int fd = m.n ? memfd_create("names", MFD_CLOEXEC) : -1;
    if (m.n && (fd < 0 || !write_all(fd, m.p, m.n) || lseek(fd, 0, SEEK_SET) != 0)) die_errno("%s", path);
    free(m.p);
    return fd < 0 ? NULL : csv_open_fd(fd, path);
}

static void read_names(struct log_reader *r, struct process *p)
{
    char *path = xformat("%s/names.%u.%u.csv", r->dir, p->pid, p->image);
    csv *c = open_names(path);
    struct buf b = { 0 };
    if (!c) warn("%s: no names for process %u", r->dir, p->pid);
    else {
        int id = csv_need(c, "id"), cat = csv_need(c, "cat"), module = csv_need(c, "module"),
            name = csv_need(c, "name");
        p->nid = 1;
        p->id = grow(p->id, 1, &p->id_cap, sizeof *p->id);
        p->id[0] = (struct meaning){ 0, 0 };
        while (csv_next(c)) {
            if (csv_int(c, id) != (int64_t)p->nid) csv_die(c, id, "one more than the id before");
            b.n = 0;
            if (csv_has(c, module)) {
                buf_str(&b, csv_str(c, module));
                buf_char(&b, '.');
            }
            buf_str(&b, csv_str(c, name));
            p->id = grow(p->id, p->nid + 1, &p->id_cap, sizeof *p->id);
            p->id[p->nid++] =
                (struct meaning){ intern(&r->text, csv_str(c, cat)), intern(&r->text, (str){ b.s, b.n }) };
        }
        csv_close(c);
    }
    free(b.s);
    free(path);
}

static void read_gpu(struct log_reader *r, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !st.st_size) return;
    struct events_in in = events_of(csv_open(path));
    struct event e;
    while (events_next(&in, &e))
        ready_row(r, &(struct log_row){ .start = e.start,
                                        .end = e.end,
                                        .proc = intern(&r->text, e.proc),
                                        .tid = intern(&r->text, e.tid),
                                        .cat = intern(&r->text, e.cat),
                                        .name = intern(&r->text, e.name),
                                        .link = intern(&r->text, e.link),
                                        .flag = intern(&r->text, e.flag),
                                        .kind = (uint8_t)e.kind });
    csv_close(in.t);
}

/* calls that were only counted, by function */
static void counted_rows(struct log_reader *r, const struct process *p, const uint64_t *n, const char *cat)
{
    for (size_t id = 0; n && id < p->nid; id++) {
        if (!n[id]) continue;
        struct meaning m = meaning_of(r, p, (uint32_t)id);
        ready_row(r, &(struct log_row){ .start = p->begin,
                                        .end = p->begin,
                                        .proc = p->text,
                                        .cat = text(r, cat),
                                        .name = m.name,
                                        .link = number_text(r, n[id]),
                                        .flag = m.cat,
                                        .kind = EVENT_PROC });
    }
}

/* CPU time of threads of which there is no log: pools of OpenMP, BLAS and others */
static void unseen_rows(struct log_reader *r, const struct process *p)
{
    char *path = xformat("%s/threads.%u.csv", r->dir, p->pid);
    struct stat st;
    if (p->image == 0 && stat(path, &st) == 0 && st.st_size > 0) {
        csv *c = csv_open(path);
        int tid = csv_need(c, "tid"), cpu = csv_need(c, "cpu_ns"), name = csv_need(c, "name");
        while (csv_next(c)) {
            bool known = false;
            str id = csv_str(c, tid);
            for (size_t i = 0; i < r->nthread && !known; i++)
                known = r->thread[i].process == p && str_eq(r->text.name[r->thread[i].tid], id);
            if (known || csv_int(c, cpu) <= 0 || p->end < p->begin) continue;
            ready_row(r, &(struct log_row){ .start = p->begin, .end = p->begin, .proc = p->text,
                                            .tid = intern(&r->text, id), .cat = text(r, "unseen"),
                                            .name = intern(&r->text, csv_str(c, name)),
                                            .link = number_text(r, (uint64_t)csv_int(c, cpu)), .kind = EVENT_PROC });
        }
        csv_close(c);
    }
    free(path);
}

/* what recording cost: by the calibration of the user's own program where there is one, else as tried at the start */
static void cost_row(struct log_reader *r, const struct process *p)
{
    double ns = r->calibrated >= 0 ? r->calibrated : p->pair_ns;
    char b[32];
    if (!(ns > 0) || p->end < p->begin) return;
    snprintf(b, sizeof b, "%.1f", ns);
    ready_row(r, &(struct log_row){ .start = p->begin, .end = p->end, .proc = p->text, .cat = text(r, "cost"),
                                    .name = text(r, "call"), .link = text(r, b), .kind = EVENT_PROC });
}

static void finish_process(struct log_reader *r, struct process *p)
{
    cost_row(r, p);
    unseen_rows(r, p);
    counted_rows(r, p, p->skipped, "skipped");
    counted_rows(r, p, p->counted, "estimated");
    if (p->end < p->begin) return;
    p->name[sizeof p->name - 1] = '\0';
    if (p->on != INT64_MIN) process_row(r, p, "on", number_text(r, ++p->ons), p->on, p->end);
    process_row(r, p, "", text(r, p->name), p->begin, p->end);
    for (size_t i = 0; i < p->nphase; i++)
        ready_row(r, &(struct log_row){ .start = p->phase[i].t,
                                        .end = i + 1 < p->nphase ? p->phase[i + 1].t : p->end,
                                        .proc = p->text,
                                        .name = meaning_of(r, p, p->phase[i].id).name,
                                        .kind = EVENT_PHASE });
}

/* ---- the second reading */

/* the row at the front, once it is known; NULL: the thread has no more */
static const struct log_row *front(struct log_reader *r, struct thread *t)
{
    for (;;) {
        if (t->first == t->next) {
            if (!advance(r, t)) return NULL;
            continue;
        }
        struct pending *p = held(t, t->first);
        while (t->late_at < t->nlate && t->late[t->late_at].row < t->first) t->late_at++;
        if (!p->done && t->late_at < t->nlate && t->late[t->late_at].row == t->first) {
            p->row.end = t->late[t->late_at].end;
            if (t->late[t->late_at].flag) p->row.flag = t->late[t->late_at].flag;
            p->done = true;
        }
        if (!p->done) {
            if (!advance(r, t)) return NULL;
            continue;
        }
        /* what went on in no time is not there, nor the rest of a call of C that is over together with its callback; a
         * call is, in whatever time: how many there are does not depend on the clock */
        bool piece = (p->row.cat == r->python_text || p->row.flag == r->part_text) && !p->row.hook;
        bool nothing = p->row.kind == EVENT_CAT && piece && p->row.end <= p->row.start;
        if (!nothing) return &p->row;
        t->first++;
    }
}

static bool before(const struct log_reader *r, size_t a, size_t b)
{
    const struct thread *x = &r->thread[a], *y = &r->thread[b];
    int64_t s = x->held[x->first % x->room].row.start, t = y->held[y->first % y->room].row.start;
    return s != t ? s < t : a < b;
}

static void sift(struct log_reader *r, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < r->nheap; i = child) {
        if (child + 1 < r->nheap && before(r, r->heap[child + 1], r->heap[child])) child++;
        if (!before(r, r->heap[child], r->heap[i])) break;
        size_t swap = r->heap[i];
        r->heap[i] = r->heap[child];
        r->heap[child] = swap;
    }
}

static int by_start(const void *a, const void *b)
{
    const struct log_row *x = a, *y = b;
    return ORDER(x->start, y->start) ?: ORDER(y->end, x->end) ?: ORDER(x->kind, y->kind) ?: ORDER(x->name, y->name);
}

bool log_next(log_reader *r, struct log_row *row)
{
    const struct thread *t = r->nheap ? &r->thread[r->heap[0]] : NULL;
    const struct log_row *first = t ? &t->held[t->first % t->room].row : NULL;
    if (r->ready_at < r->nready && (!first || r->ready[r->ready_at].start <= first->start)) {
        *row = r->ready[r->ready_at++];
        return true;
    }
    if (!first) return false;
    *row = *first;
    struct thread *taken = &r->thread[r->heap[0]];
    taken->first++;
    if (!front(r, taken)) r->heap[0] = r->heap[--r->nheap];
    sift(r, 0);
    return true;
}

const struct intern *log_text(const log_reader *r)
{
    return &r->text;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_thread(struct log_reader *r, const char *path)
{
    r->thread = grow(r->thread, r->nthread + 1, &r->thread_cap, sizeof *r->thread);
    struct thread *t = &r->thread[r->nthread];
    memset(t, 0, sizeof *t);
    t->from.path = path;
    if (!find_records(&t->from)) {
        warn("%s: not a log of the recorder, or nothing in it", path);
        return;
    }
    size_t p = process_of(r, &t->from.head);
    take_clock(&r->process[p], &t->from.head);
    t->first_tid = number_text(r, t->from.head.tid);
    r->nthread++;
}

/* mean_ns of calibration.sexp's first cost, which is that of any call; -1: there is none */
static double calibrated_ns(const char *dir)
{
    char *path = xformat("%s/calibration.sexp", dir);
    double ns = -1;
    if (access(path, R_OK) == 0) {
        const struct sexp *x = sexp_only(sexp_open(path, SEXP_CORE));
        if (!sexp_head(x, 0, "calibration")) sexp_die(x, 0, "expected (calibration (cost ..) ..)");
        for (snode n = sexp_after(x, sexp_first(x, 0)); n != SEXP_NONE && ns < 0; n = sexp_after(x, n))
            if (sexp_head(x, n, "cost")) ns = fmax(0, sexp_num_of(x, n, "mean_ns"));
    }
    free(path);
    return ns;
}

log_reader *log_open(const char *dir, bool nested, struct log_counts *counts)
{
    struct log_reader *r = xcalloc(1, sizeof *r);
    r->counts = counts;
    r->nested = nested;
    r->dir = dir;
    r->looking = true;
    DIR *d = opendir(dir);
    if (!d) die_errno("%s", dir);
    char **path = NULL;
    size_t n = 0, cap = 0, slash = strlen(dir) + 1;
    for (struct dirent *e; (e = readdir(d));) {
        size_t k = strlen(e->d_name);
        bool log = strncmp(e->d_name, "ev.", 3) == 0 && k > 4 && strcmp(e->d_name + k - 4, ".log") == 0;
        bool tail = strncmp(e->d_name, "ev.", 3) == 0 && k > 5 && strcmp(e->d_name + k - 5, ".tail") == 0;
        bool gpu = strncmp(e->d_name, "gpu.", 4) == 0 && k > 4 && strcmp(e->d_name + k - 4, ".csv") == 0;
        if (!log && !gpu && !tail) continue;
        path = grow(path, n + 1, &cap, sizeof *path);
        path[n] = xformat("%s/%.*s%s", dir, (int)(tail ? k - 4 : k), e->d_name, tail ? "log" : "");
        if (!tail || access(path[n], F_OK) != 0) n++;    /* a thread that had written nothing out: the ring alone */
        else free(path[n]);
    }
    closedir(d);
    if (!n) die("%s: no logs of the recorder here (prof-record -o %s PROGRAM makes them)", dir, dir);
    qsort(path, n, sizeof *path, by_text);
    intern(&r->text, (str){ "", 0 });
    r->open_text = text(r, "open");
    r->part_text = text(r, "part");
    r->python_text = text(r, "Python");
    r->c_text = text(r, "C");
    r->estimated_text = text(r, "estimated");
    r->off_text = text(r, "Off CPU");
    r->waiting_text = text(r, "Waiting");
    r->own_text = text(r, "Profiler");
    r->gil_text = text(r, "GIL");
    r->calibrated = calibrated_ns(dir);
    for (size_t i = 0; i < n; i++) if (path[i][slash] == 'e') add_thread(r, path[i]);
    for (size_t i = 0; i < r->nprocess; i++) {
        fit_clock(&r->process[i]);
        read_names(r, &r->process[i]);
    }
    for (size_t i = 0; i < r->nthread; i++) {
        struct thread *t = &r->thread[i];
        size_t p = process_of(r, &t->from.head);
        t->process = &r->process[p];
        t->room = HELD / r->nthread > HELD_LEAST ? HELD / r->nthread : HELD_LEAST;
        if (as_written(t->process, &t->from)) continue;
        warn("%s: records are missing or not as they were written", t->from.path);
        counts->changed++;
    }
    for (size_t i = 0; i < r->nthread; i++) look(r, &r->thread[i]);
    for (size_t i = 0; i < n; i++) if (path[i][slash] == 'g') read_gpu(r, path[i]);
    for (size_t i = 0; i < r->nprocess; i++) finish_process(r, &r->process[i]);
    counts->processes += r->nprocess;
    if (r->nready) qsort(r->ready, r->nready, sizeof *r->ready, by_start);
    r->looking = false;
    r->heap = xmalloc(r->nthread + 1, sizeof *r->heap);
    for (size_t i = 0; i < r->nthread; i++) {
        struct thread *t = &r->thread[i];
        restart(t);
        t->held = xmalloc(t->room, sizeof *t->held);
        if (front(r, t)) r->heap[r->nheap++] = i;
    }
    for (size_t i = r->nheap; i-- > 0;) sift(r, i);
    free(path);                                          /* the names are still in use */
    return r;
}

void log_close(log_reader *r)
{
    for (size_t i = 0; i < r->nthread; i++) {
        struct thread *t = &r->thread[i];
        free_all(t->held, t->late, t->calls.v, t->ops.v, t->from.segment);
    }
    for (size_t i = 0; i < r->nprocess; i++) {
        free(r->process[i].id);
        free(r->process[i].phase);
        free(r->process[i].skipped);
        free(r->process[i].counted);
        free(r->process[i].cost);
    }
    free_all(r->thread, r->process, r->ready, r->heap, r->map);
    intern_free(&r->text);
    free(r);
}

bool log_next_row(log_reader *r, struct intern *to, struct row *row, int *hook)
{
    struct log_row x;
    if (!log_next(r, &x)) return false;
    for (; r->nmap < r->text.n; r->nmap++) {
        r->map = grow(r->map, r->nmap + 1, &r->map_cap, sizeof *r->map);
        r->map[r->nmap] = intern(to, r->text.name[r->nmap]);
    }
    const uint32_t *of = r->map;
    *hook = x.hook;
    *row = (struct row){ .start = x.start, .end = x.end, .proc = of[x.proc], .tid = of[x.tid], .cat = of[x.cat],
                         .name = of[x.name], .link = of[x.link], .flag = of[x.flag], .kind = x.kind };
    return true;
}

void log_read(struct event_table *t, const char *dir, bool nested, struct log_counts *counts)
{
    log_reader *r = log_open(dir, nested, counts);
    uint32_t hook[HOOKS];
    int h = 0;
    t->extra_name = xmalloc(1, sizeof *t->extra_name);
    t->extra_name[0] = "hook";
    t->nextra = 1;
    intern(&t->text, (str){ "", 0 });
    for (; h < HOOKS; h++) hook[h] = intern(&t->text, str_of(log_hook_name[h]));
    for (struct row row; log_next_row(r, &t->text, &row, &h);) {
        size_t n = t->rows.n;
        row.source = (uint32_t)n;
        rows_add(&t->rows, &row);
        t->extra = grow(t->extra, n + 1, &t->extra_cap, sizeof *t->extra);
        t->extra[n] = hook[h];
    }
    log_close(r);
}

bool log_is_ours(const char *file)
{
    static const char *const ours[] = { "ev.", "names.", "gpu.", "judge.", "threads." };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strncmp(file, ours[i], strlen(ours[i])) == 0) return true;
    return false;
}

void log_remove(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d) die_errno("%s", dir);
    for (const struct dirent *e; (e = readdir(d));)
        if (log_is_ours(e->d_name) && unlinkat(dirfd(d), e->d_name, 0) != 0) die_errno("%s/%s", dir, e->d_name);
    closedir(d);
}

struct log_spent log_spent(const char *dir)
{
    struct log_spent s = { 0 };
    DIR *d = opendir(dir);
    if (!d) die_errno("%s", dir);
    for (const struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        struct log_head h;
        uint64_t records;
        if (strncmp(e->d_name, "ev.", 3) != 0 || n < 4 || strcmp(e->d_name + n - 4, ".log") != 0) continue;
        char *path = xformat("%s/%s", dir, e->d_name);
        if (read_head(path, &h, &records)) {
            s.threads++;
            s.unclean += !h.clean;
            s.cpu_ns += (int64_t)(h.last.cpu_ns - h.first.cpu_ns - h.own_ns);
            for (int k = 0; k < HOOKS; k++) if (k != HOOK_NONE) s.begun += h.totals.begun[k];
        }
        free(path);
    }
    closedir(d);
    return s;
}
