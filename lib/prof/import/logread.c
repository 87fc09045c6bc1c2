/* logread.c - see logread.h */
#include "prof/import/logread.h"
#include "base/message.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
};
/* piece: where the current one began */
struct frame { int64_t start, piece; uint32_t id; uint16_t hook; bool python; };
struct stack { struct frame *v; size_t n, cap; };
struct reader {
    struct table *t;
    struct log_counts *counts;
    bool nested;
    const char *dir;
    struct process *process;
    size_t nprocess, process_cap;
    uint32_t hook_text[HOOKS], open_text, part_text;
    struct stack calls, ops;
    uint32_t tid;                                        /* text */
    int64_t last;                                        /* time of the thread's record before this one */
};

/* ---- rows */

static uint32_t text(struct reader *r, const char *s)
{
    return intern(&r->t->text, str_of(s));
}

static void add(struct reader *r, const struct process *p, enum event_kind kind, struct meaning what, int64_t start,
                int64_t end, uint32_t flag, uint16_t hook)
{
    struct table *t = r->t;
    size_t n = t->rows.n;
    rows_add(&t->rows, &(struct row){ .start = start,
                                      .end = end,
                                      .proc = p->text,
                                      .tid = r->tid,
                                      .cat = what.cat,
                                      .name = what.name,
                                      .flag = flag,
                                      .source = (uint32_t)n,
                                      .kind = (uint8_t)kind });
    t->extra = grow(t->extra, n + 1, &t->extra_cap, sizeof *t->extra);
    t->extra[n] = r->hook_text[hook < HOOKS ? hook : 0];
}

static struct meaning meaning_of(struct reader *r, struct process *p, uint32_t id)
{
    if (id < p->nid && p->id[id].name) return p->id[id];
    char b[32];
    if (!id) return (struct meaning){ text(r, "Python"), 0 };
    snprintf(b, sizeof b, "id%u", id);                   /* its line was lost */
    return (struct meaning){ text(r, "C"), text(r, b) };
}

/* ---- calls of one thread: Python frames and C frames on one stack */

static void emit(struct reader *r, struct process *p, struct frame *f, int64_t end, uint32_t flag)
{
    int64_t start = r->nested ? f->start : f->piece;
    if (f->python && end <= start) return;
    struct meaning m = meaning_of(r, p, f->id);
    if (f->python) m.cat = text(r, "Python");
    if (!flag && !f->python && start != f->start) flag = r->part_text;
    add(r, p, EVENT_CAT, m, start, end, flag, start == f->start ? f->hook : 0);
}

/* what was running is interrupted at t: by Python everything, by C only Python */
static void suspend(struct reader *r, struct process *p, int64_t t, bool by_python)
{
    if (r->nested || !r->calls.n) return;
    size_t top = r->calls.n - 1;
    if (r->calls.v[top].python) emit(r, p, &r->calls.v[top], t, 0);
    else if (by_python)
        for (size_t i = r->calls.n; i && !r->calls.v[i - 1].python; i--) emit(r, p, &r->calls.v[i - 1], t, 0);
}

static void resume(struct reader *r, int64_t t, bool after_python)
{
    if (!r->calls.n) return;
    size_t top = r->calls.n - 1;
    if (r->calls.v[top].python) r->calls.v[top].piece = t;
    else if (after_python)
        for (size_t i = r->calls.n; i && !r->calls.v[i - 1].python; i--) r->calls.v[i - 1].piece = t;
}

static void push(struct reader *r, struct process *p, const struct log_record *rec, int64_t t, bool python)
{
    suspend(r, p, t, python);
    r->calls.v = grow(r->calls.v, r->calls.n + 1, &r->calls.cap, sizeof *r->calls.v);
    r->calls.v[r->calls.n++] = (struct frame){ t, t, rec->id, rec->aux, python };
}

static void pop(struct reader *r, struct process *p, int64_t t, uint32_t flag)
{
    struct frame f = r->calls.v[--r->calls.n];
    emit(r, p, &f, t, flag);
    resume(r, t, f.python);
}

static void end_call(struct reader *r, struct process *p, const struct log_record *rec, int64_t t, bool python)
{
    size_t i = r->calls.n;
    while (i && (r->calls.v[i - 1].id != rec->id || r->calls.v[i - 1].python != python)) i--;
    if (!i) {
        r->counts->stray++;
        return;
    }
    for (; r->calls.n > i; r->counts->unclosed++) pop(r, p, t, r->open_text);
    pop(r, p, t, 0);
}

static void end_op(struct reader *r, struct process *p, const struct log_record *rec, int64_t t, bool all)
{
    size_t i = r->ops.n;
    while (i && !all && r->ops.v[i - 1].id != rec->id) i--;
    if (!i && !all) {
        r->counts->stray++;
        return;
    }
    for (size_t keep = all ? 0 : i - 1; r->ops.n > keep;) {
        const struct frame *f = &r->ops.v[--r->ops.n];
        bool open = all || r->ops.n > keep;
        r->counts->unclosed += open;
        add(r, p, EVENT_OP, (struct meaning){ 0, meaning_of(r, p, f->id).name }, f->start, t, open ? r->open_text : 0,
            f->hook);
    }
}

static uint32_t number_text(struct reader *r, uint64_t n)
{
    char b[32];
    snprintf(b, sizeof b, "%llu", (unsigned long long)n);
    return text(r, b);
}

static void process_row(struct reader *r, struct process *p, const char *cat, uint32_t name, int64_t start, int64_t end)
{
    uint32_t tid = r->tid;
    r->tid = 0;
    add(r, p, EVENT_PROC, (struct meaning){ cat[0] ? text(r, cat) : 0, name }, start, end, 0, 0);
    r->tid = tid;
}

static void one_record(struct reader *r, struct process *p, const struct log_record *rec)
{
    int64_t t = (int64_t)p->first.monotonic_ns;
    if (p->ticks) t += (int64_t)((double)(int64_t)(rec->t - p->first.ticks) * p->slope);
    else t = (int64_t)rec->t;
    /* the processor may read its counter a few ns early: what ended has lasted, or its hook would be forgotten */
    bool ends = rec->event == LOG_RETURN || rec->event == LOG_EXCEPTION || rec->event == LOG_PYTHON_END;
    if (t < r->last + ends) t = r->last + ends;
    r->last = t;
    if (t < p->begin) p->begin = t;
    if (t > p->end) p->end = t;
    switch (rec->event) {
    case LOG_CALL: push(r, p, rec, t, false); break;
    case LOG_RETURN: case LOG_EXCEPTION: end_call(r, p, rec, t, false); break;
    case LOG_PYTHON: push(r, p, rec, t, true); break;
    case LOG_PYTHON_END: end_call(r, p, rec, t, true); break;
    case LOG_OP:
        r->ops.v = grow(r->ops.v, r->ops.n + 1, &r->ops.cap, sizeof *r->ops.v);
        r->ops.v[r->ops.n++] = (struct frame){ t, t, rec->id, rec->aux, false };
        break;
    case LOG_OP_END: end_op(r, p, rec, t, false); break;
    case LOG_DROPPED:
        add(r, p, EVENT_OVH, (struct meaning){ text(r, "dropped"), number_text(r, rec->id) }, t, t, 0, 0);
        break;
    case LOG_PHASE:
        p->phase = grow(p->phase, p->nphase + 1, &p->phase_cap, sizeof *p->phase);
        p->phase[p->nphase].t = t;
        p->phase[p->nphase++].id = rec->id;
        break;
    case LOG_PASS:
        process_row(r, p, "pass", number_text(r, rec->id),
                    p->pass_begin != INT64_MIN ? p->pass_begin
                    : p->on != INT64_MIN       ? p->on
                                               : p->begin,
                    t);
        p->pass_begin = t;
        break;
    case LOG_PROGRESS: process_row(r, p, "progress", number_text(r, rec->id), t, t); break;
    case LOG_ON: p->on = p->pass_begin = t; break;
    case LOG_OFF:
        process_row(r, p, "on", number_text(r, ++p->ons), p->on == INT64_MIN ? p->begin : p->on, t);
        p->on = INT64_MIN;
        break;
    default:
        warn("%s: unknown event %u in the log of thread %.*s", r->dir, rec->event, (int)r->t->text.name[r->tid].n,
             r->t->text.name[r->tid].s);
    }
}

/* ---- files */

struct mapped { const char *p; size_t n; };

static struct mapped map_file(const char *path)
{
    struct mapped m = { NULL, 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0) return m;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) m = (struct mapped){ p, (size_t)st.st_size };
    }
    close(fd);
    return m;
}

static void unmap(struct mapped m)
{
    if (m.p) munmap((void *)(uintptr_t)m.p, m.n);
}

static const struct log_head *head_of(struct mapped m)
{
    const struct log_head *h = (const void *)m.p;
    if (m.n < LOG_HEAD || memcmp(h->magic, LOG_MAGIC, sizeof LOG_MAGIC) != 0) return NULL;
    return h->version == LOG_VERSION && h->half > 0 && h->half <= 1u << 24 ? h : NULL;
}

static char *tail_path(const char *path)
{
    return xformat("%.*stail", (int)strlen(path) - 3, path);
}

/* a process that ran several programs, one after the other, counts as several: their ids differ */
static struct process *process_of(struct reader *r, const struct log_head *h)
{
    for (size_t i = 0; i < r->nprocess; i++)
        if (r->process[i].pid == h->pid && r->process[i].image == h->image) return &r->process[i];
    char name[32];
    snprintf(name, sizeof name, h->image ? "%u.%u" : "%u", h->pid, h->image);
    r->process = grow(r->process, r->nprocess + 1, &r->process_cap, sizeof *r->process);
    struct process *p = &r->process[r->nprocess++];
    *p = (struct process){ .pid = h->pid,
                           .image = h->image,
                           .text = text(r, name),
                           .begin = INT64_MAX,
                           .end = INT64_MIN,
                           .on = INT64_MIN,
                           .pass_begin = INT64_MIN };
    return p;
}

/* first pass over a thread's files: clocks */
static void look_at(struct reader *r, const char *path)
{
    char *tail = tail_path(path);
    struct mapped file[2] = { map_file(path), map_file(tail) };
    for (int i = 0; i < 2; i++) {
        const struct log_head *h = head_of(file[i]);
        if (!h) continue;
        struct process *p = process_of(r, h);
        if (!p->first.monotonic_ns || h->first.monotonic_ns < p->first.monotonic_ns) p->first = h->first;
        if (h->last.monotonic_ns > p->last.monotonic_ns) p->last = h->last;
        p->ticks = h->ticks;
        p->slope = h->ns_per_tick;
        memcpy(p->name, h->process, sizeof p->name - 1);
        r->counts->dropped += i == 1 || !head_of(file[1]) ? h->dropped : 0;
    }
    unmap(file[0]);
    unmap(file[1]);
    free(tail);
}

/* A long stretch between two anchors beats the estimate made at the start. */
static void fit_clock(struct process *p)
{
    uint64_t ns = p->last.monotonic_ns - p->first.monotonic_ns, ticks = p->last.ticks - p->first.ticks;
    if (p->last.monotonic_ns > p->first.monotonic_ns && ns > 20000000 && ticks) p->slope = (double)ns / (double)ticks;
}

/* what the writer counted against what is there */
static void check_totals(const char *path, const struct log_head *h, const struct log_record *rec, size_t n)
{
    uint64_t sum = 0;
    if (n < h->totals.records) {
        warn("%s: %llu records were written, %zu are there", path, (unsigned long long)h->totals.records, n);
        return;
    }
    for (uint64_t i = 0; i < h->totals.records; i++) sum += log_sum(&rec[i], i);
    if (sum != h->totals.sum) warn("%s: records are not as they were written", path);
}

static void read_thread(struct reader *r, const char *path)
{
    char *tail = tail_path(path);
    struct mapped log = map_file(path), ring = map_file(tail);
    const struct log_head *h = head_of(ring), *lh = head_of(log);
    if (!h) h = lh;
    if (!h) {
        warn("%s: not a log of the recorder, or nothing in it", path);
        goto out;
    }
    struct process *p = process_of(r, h);
    r->tid = number_text(r, h->tid);
    r->calls.n = r->ops.n = 0;
    r->last = INT64_MIN;
    r->counts->threads++;
    r->counts->unclean += !h->clean;
    const struct log_record *rec = (const void *)(log.p ? log.p + LOG_HEAD : NULL);
    size_t n = log.n > LOG_HEAD ? (log.n - LOG_HEAD) / sizeof *rec : 0, half = h->half;
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        one_record(r, p, &rec[i]);
        last = rec[i].t;
    }
    r->counts->records += n;
    check_totals(path, h, rec, n);
    if (head_of(ring) && !h->clean && ring.n >= LOG_HEAD + 2 * half * sizeof *rec) {
        const struct log_record *q =
            (const struct log_record *)(const void *)(ring.p + LOG_HEAD) + (n / half & 1) * half;
        for (size_t i = 0; i < half && q[i].t && q[i].t >= last; i++) {
            one_record(r, p, &q[i]);
            last = q[i].t;
            r->counts->records++;
            r->counts->from_tail++;
        }
    }
    struct log_record end = { .t = last };
    int64_t t = p->ticks
                    ? (int64_t)p->first.monotonic_ns + (int64_t)((double)(int64_t)(end.t - p->first.ticks) * p->slope)
                    : (int64_t)last;
    if (t < r->last) t = r->last;
    for (; r->calls.n; r->counts->unclosed++) pop(r, p, t, r->open_text);
    if (r->ops.n) end_op(r, p, &end, t, true);
out:
    unmap(log);
    unmap(ring);
    free(tail);
}

/* the table of names, without the zero bytes that a killed process leaves behind it; NULL: none */
static csv *open_names(const char *path)
{
    struct mapped m = map_file(path);
    while (m.p && m.n && m.p[m.n - 1] != '\n') m.n--;
    int fd = m.n ? memfd_create("names", MFD_CLOEXEC) : -1;
    csv *c = NULL;
    if (fd >= 0 && write(fd, m.p, m.n) == (ssize_t)m.n && lseek(fd, 0, SEEK_SET) == 0) c = csv_open_fd(fd, path);
    unmap(m);
    return c;
}

static void read_names(struct reader *r, struct process *p)
{
    char *path = xformat("%s/names.%u.%u.csv", r->dir, p->pid, p->image);
    csv *c = open_names(path);
    if (c) {
        int id = csv_need(c, "id"), cat = csv_need(c, "cat"), module = csv_need(c, "module"),
            name = csv_need(c, "name");
        struct buf b = { 0 };
        while (csv_next(c)) {
            int64_t k = csv_int(c, id);
            if (k < 1 || k > UINT32_MAX / 4) csv_die(c, id, "an id");
            if ((size_t)k >= p->nid) {
                p->id = grow(p->id, (size_t)k + 1, &p->id_cap, sizeof *p->id);
                memset(p->id + p->nid, 0, ((size_t)k + 1 - p->nid) * sizeof *p->id);
                p->nid = (size_t)k + 1;
            }
            b.n = 0;
            if (csv_has(c, module)) {
                buf_str(&b, csv_str(c, module));
                buf_char(&b, '.');
            }
            buf_str(&b, csv_str(c, name));
            p->id[k] = (struct meaning){ intern(&r->t->text, csv_str(c, cat)), intern(&r->t->text, (str){ b.s, b.n }) };
        }
        free(b.s);
        csv_close(c);
    } else warn("%s: no names for process %u", r->dir, p->pid);
    free(path);
}

static void read_gpu(struct reader *r, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !st.st_size) return;
    struct events_in in = events_of(csv_open(path));
    struct event e;
    while (events_next(&in, &e)) {
        struct table *t = r->t;
        size_t n = t->rows.n;
        struct intern *x = &t->text;
        rows_add(&t->rows, &(struct row){ .start = e.start,
                                          .end = e.end,
                                          .proc = intern(x, e.proc),
                                          .tid = intern(x, e.tid),
                                          .cat = intern(x, e.cat),
                                          .name = intern(x, e.name),
                                          .link = intern(x, e.link),
                                          .flag = intern(x, e.flag),
                                          .source = (uint32_t)n,
                                          .kind = (uint8_t)e.kind });
        t->extra = grow(t->extra, n + 1, &t->extra_cap, sizeof *t->extra);
        t->extra[n] = 0;
    }
    csv_close(in.t);
}

static void finish_process(struct reader *r, struct process *p)
{
    if (p->end < p->begin) return;
    p->name[sizeof p->name - 1] = '\0';
    r->tid = 0;
    if (p->on != INT64_MIN) process_row(r, p, "on", number_text(r, ++p->ons), p->on, p->end);
    process_row(r, p, "", text(r, p->name), p->begin, p->end);
    for (size_t i = 0; i < p->nphase; i++) {
        int64_t end = i + 1 < p->nphase ? p->phase[i + 1].t : p->end;
        add(r, p, EVENT_PHASE, (struct meaning){ 0, meaning_of(r, p, p->phase[i].id).name }, p->phase[i].t, end, 0, 0);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void log_read(struct table *t, const char *dir, bool nested, struct log_counts *counts)
{
    struct reader r = { .t = t, .counts = counts, .nested = nested, .dir = dir };
    DIR *d = opendir(dir);
    if (!d) die_errno("%s", dir);
    char **path = NULL;
    size_t n = 0, cap = 0;
    for (struct dirent *e; (e = readdir(d));) {
        size_t k = strlen(e->d_name);
        bool log = strncmp(e->d_name, "ev.", 3) == 0 && k > 4 && strcmp(e->d_name + k - 4, ".log") == 0;
        bool gpu = strncmp(e->d_name, "gpu.", 4) == 0 && k > 4 && strcmp(e->d_name + k - 4, ".csv") == 0;
        if (!log && !gpu) continue;
        path = grow(path, n + 1, &cap, sizeof *path);
        path[n++] = xformat("%s/%s", dir, e->d_name);
    }
    closedir(d);
    if (!n) die("%s: no logs of the recorder here", dir);
    qsort(path, n, sizeof *path, by_text);
    static const char *const hook[] = { "hook" };
    t->extra_name = xmalloc(1, sizeof *t->extra_name);
    t->extra_name[0] = hook[0];
    t->nextra = 1;
    intern(&t->text, (str){ "", 0 });
    for (int h = 0; h < HOOKS; h++) r.hook_text[h] = text(&r, log_hook_name[h]);
    r.open_text = text(&r, "open");
    r.part_text = text(&r, "part");
    size_t slash = strlen(dir) + 1;
    for (size_t i = 0; i < n; i++) if (path[i][slash] == 'e') look_at(&r, path[i]);
    for (size_t i = 0; i < r.nprocess; i++) {
        fit_clock(&r.process[i]);
        read_names(&r, &r.process[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (path[i][slash] == 'e') read_thread(&r, path[i]);
        else read_gpu(&r, path[i]);
        free(path[i]);
    }
    for (size_t i = 0; i < r.nprocess; i++) finish_process(&r, &r.process[i]);
    counts->processes += r.nprocess;
    for (size_t i = 0; i < r.nprocess; i++) {
        free(r.process[i].id);
        free(r.process[i].phase);
    }
    free(r.process);
    free(r.calls.v);
    free(r.ops.v);
    free(path);
}
