/* logread.c - see logread.h */
#include "prof/import/logthread.h"
#include "base/compare.h"
#include "base/filter.h"
#include "base/message.h"
#include "base/out.h"
#include "tree/sexp.h"
#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HELD = 1 << 17, HELD_LEAST = 1 << 10 };           /* rows held back in all */

const char *const log_hook_name[HOOKS] = { "", "c_wrap", "c_patch", "ctypes", "tree", "op", "preload" };

/* ---- the first reading */

static void restart(struct log_thread *t)
{
    log_rewind(&t->from);
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
    const struct log_end *x = a, *y = b;
    return ORDER(x->row, y->row);
}

/* What the writer counted against what is there: its sum over the records that it had written to the log.  And what
 * a counted call takes is known in the end. */
static bool as_written(struct log_process *p, struct log_source *s)
{
    const struct log_totals *w = &s->head.totals;
    uint64_t sum = 0, k = 0, begun[HOOKS] = { 0 };
    bool tail = false;
    log_rewind(s);
    for (const struct log_record *r; (r = log_next_record(s, &tail)); k++) {
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

static void look(struct log_reader *r, struct log_thread *t)
{
    restart(t);
    while (log_advance(r, t)) continue;
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
    r->process[r->nprocess] = (struct log_process){ .pid = h->pid, .image = h->image, .text = log_word(r, name),
                                                .begin = INT64_MAX, .end = INT64_MIN, .on = INT64_MIN,
                                                .pass_begin = INT64_MIN };
    return r->nprocess++;
}

/* clocks: a long stretch between two anchors beats the estimate made at the start */
static void take_clock(struct log_process *p, const struct log_head *h)
{
    if (!p->first.monotonic_ns || h->first.monotonic_ns < p->first.monotonic_ns) p->first = h->first;
    if (h->last.monotonic_ns > p->last.monotonic_ns) p->last = h->last;
    p->ticks = h->ticks;
    p->slope = h->ns_per_tick > 0 && h->ns_per_tick < 1e6 ? h->ns_per_tick : 1;
    memcpy(p->name, h->process, sizeof p->name - 1);
    if (h->pair_ns > p->pair_ns && h->pair_ns < 1e6) p->pair_ns = h->pair_ns;
}

static void fit_clock(struct log_process *p)
{
    uint64_t ns = p->last.monotonic_ns - p->first.monotonic_ns, ticks = p->last.ticks - p->first.ticks;
    if (p->last.monotonic_ns > p->first.monotonic_ns && ns > 20000000 && ticks) p->slope = (double)ns / (double)ticks;
}

/* the table of names, without the zero bytes that a killed process leaves behind it; NULL: none */
static csv *open_names(const char *path)
{
    struct log_bytes m = log_bytes_of(path, SIZE_MAX);
    while (m.n && m.p[m.n - 1] != '\n') m.n--;
    int fd = m.n ? memfd_create("names", MFD_CLOEXEC) : -1;
    if (m.n && (fd < 0 || !write_all(fd, m.p, m.n) || lseek(fd, 0, SEEK_SET) != 0)) die_errno("%s", path);
    free(m.p);
    return fd < 0 ? NULL : csv_open_fd(fd, path);
}

static void read_names(struct log_reader *r, struct log_process *p)
{
    char *path = xformat("%s/names.%u.%u.csv", r->dir, p->pid, p->image);
    csv *c = open_names(path);
    struct buf b = { 0 };
    if (!c) warn("%s: no names for process %u", r->dir, p->pid);
    else {
        int id = csv_need(c, "id"), kind = csv_need(c, "kind"), cat = csv_need(c, "cat"),
            module = csv_need(c, "module"), name = csv_need(c, "name");
        p->nid = 1;
        p->id = grow(p->id, 1, &p->id_cap, sizeof *p->id);
        p->id[0] = (struct log_meaning){ 0, 0 };
        while (csv_next(c)) {
            if (csv_int(c, id) != (int64_t)p->nid) csv_die(c, id, "one more than the id before");
            b.n = 0;
            if (csv_has(c, module)) {
                buf_str(&b, csv_str(c, module));
                buf_char(&b, '.');
            }
            buf_str(&b, csv_str(c, name));
            if (str_is(csv_str(c, kind), "asked")) {
                intern(&r->asked, (str){ b.s, b.n });
                b.n = 0;                                 /* no record has this id */
            }
            p->id = grow(p->id, p->nid + 1, &p->id_cap, sizeof *p->id);
            p->id[p->nid++] =
                (struct log_meaning){ intern(&r->text, csv_str(c, cat)), intern(&r->text, (str){ b.s, b.n }) };
        }
        csv_close(c);
    }
    free(b.s);
    free(path);
}

/* patterns of --calls by which no process found a function: *.PATTERN, as functions are OBJECT.NAME */
static void warn_unused(const struct log_reader *r)
{
    for (size_t k = 0; k < r->asked.n; k++) {
        char *pattern = xformat("*.%s", r->asked.name[k].s);
        bool found = false;
        for (size_t i = 0; i < r->nprocess; i++)
            for (size_t j = 1; j < r->process[i].nid && !found; j++)
                found = fnmatch(pattern, r->text.name[r->process[i].id[j].name].s, 0) == 0;
        if (!found) warn("%s: no call of a shared library matched %s", r->dir, r->asked.name[k].s);
        free(pattern);
    }
}

static void read_gpu(struct log_reader *r, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !st.st_size) return;
    struct events_in in = events_of(csv_open(path));
    struct event e;
    while (events_next(&in, &e))
        log_ready_row(r, &(struct log_row){ .start = e.start, .end = e.end, .proc = intern(&r->text, e.proc),
                                        .tid = intern(&r->text, e.tid), .cat = intern(&r->text, e.cat),
                                        .name = intern(&r->text, e.name), .link = intern(&r->text, e.link),
                                        .flag = intern(&r->text, e.flag), .kind = (uint8_t)e.kind });
    csv_close(in.t);
}

/* calls that were only counted, by function */
static void counted_rows(struct log_reader *r, const struct log_process *p, const uint64_t *n, const char *cat)
{
    for (size_t id = 0; n && id < p->nid; id++) {
        if (!n[id]) continue;
        struct log_meaning m = log_meaning_of(r, p, (uint32_t)id);
        log_ready_row(r, &(struct log_row){ .start = p->begin, .end = p->begin, .proc = p->text,
                                            .cat = log_word(r, cat), .name = m.name, .link = log_number(r, n[id]),
                                            .flag = m.cat, .kind = EVENT_PROC });
    }
}

/* CPU time of threads of which there is no log: pools of OpenMP, BLAS and others */
static void unseen_rows(struct log_reader *r, const struct log_process *p)
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
            log_ready_row(r, &(struct log_row){ .start = p->begin, .end = p->begin, .proc = p->text,
                                            .tid = intern(&r->text, id), .cat = log_word(r, "unseen"),
                                            .name = intern(&r->text, csv_str(c, name)),
                                            .link = log_number(r, (uint64_t)csv_int(c, cpu)), .kind = EVENT_PROC });
        }
        csv_close(c);
    }
    free(path);
}

/* what recording cost: by the calibration of the user's own program where there is one, else as tried at the start */
static void cost_row(struct log_reader *r, const struct log_process *p)
{
    double ns = r->calibrated >= 0 ? r->calibrated : p->pair_ns;
    char b[32];
    if (!(ns > 0) || p->end < p->begin) return;
    snprintf(b, sizeof b, "%.1f", ns);
    log_ready_row(r, &(struct log_row){ .start = p->begin, .end = p->end, .proc = p->text, .cat = log_word(r, "cost"),
                                    .name = log_word(r, "call"), .link = log_word(r, b), .kind = EVENT_PROC });
}

static void finish_process(struct log_reader *r, struct log_process *p)
{
    cost_row(r, p);
    unseen_rows(r, p);
    counted_rows(r, p, p->skipped, "skipped");
    counted_rows(r, p, p->counted, "estimated");
    if (p->end < p->begin) return;
    p->name[sizeof p->name - 1] = '\0';
    if (p->on != INT64_MIN) log_process_row(r, p, "on", log_number(r, ++p->ons), p->on, p->end);
    log_process_row(r, p, "", log_word(r, p->name), p->begin, p->end);
    for (size_t i = 0; i < p->nphase; i++)
        log_ready_row(r, &(struct log_row){ .start = p->phase[i].t, .proc = p->text,
                                            .end = i + 1 < p->nphase ? p->phase[i + 1].t : p->end,
                                            .name = log_meaning_of(r, p, p->phase[i].id).name, .kind = EVENT_PHASE });
}

/* ---- the second reading */

/* the row at the front, once it is known; NULL: the thread has no more */
static const struct log_row *front(struct log_reader *r, struct log_thread *t)
{
    for (;;) {
        if (t->first == t->next) {
            if (!log_advance(r, t)) return NULL;
            continue;
        }
        struct log_pending *p = log_held(t, t->first);
        while (t->late_at < t->nlate && t->late[t->late_at].row < t->first) t->late_at++;
        if (!p->done && t->late_at < t->nlate && t->late[t->late_at].row == t->first) {
            p->row.end = t->late[t->late_at].end;
            if (t->late[t->late_at].flag) p->row.flag = t->late[t->late_at].flag;
            p->done = true;
        }
        if (!p->done) {
            if (!log_advance(r, t)) return NULL;
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
    const struct log_thread *x = &r->thread[a], *y = &r->thread[b];
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
    const struct log_thread *t = r->nheap ? &r->thread[r->heap[0]] : NULL;
    const struct log_row *first = t ? &t->held[t->first % t->room].row : NULL;
    if (r->ready_at < r->nready && (!first || r->ready[r->ready_at].start <= first->start)) {
        *row = r->ready[r->ready_at++];
        return true;
    }
    if (!first) return false;
    *row = *first;
    struct log_thread *taken = &r->thread[r->heap[0]];
    taken->first++;
    if (!front(r, taken)) r->heap[0] = r->heap[--r->nheap];
    sift(r, 0);
    return true;
}

const struct intern *log_text(const log_reader *r)
{
    return &r->text;
}

static void add_thread(struct log_reader *r, const char *path)
{
    r->thread = grow(r->thread, r->nthread + 1, &r->thread_cap, sizeof *r->thread);
    struct log_thread *t = &r->thread[r->nthread];
    memset(t, 0, sizeof *t);
    t->from.path = path;
    if (!log_find_records(&t->from)) {
        warn("%s: not a log of the recorder, or nothing in it", path);
        return;
    }
    size_t p = process_of(r, &t->from.head);
    take_clock(&r->process[p], &t->from.head);
    t->first_tid = log_number(r, t->from.head.tid);
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
    bool ran = false;
    for (struct dirent *e; (e = readdir(d));) {
        size_t k = strlen(e->d_name);
        bool log = strncmp(e->d_name, "ev.", 3) == 0 && k > 4 && strcmp(e->d_name + k - 4, ".log") == 0;
        bool tail = strncmp(e->d_name, "ev.", 3) == 0 && k > 5 && strcmp(e->d_name + k - 5, ".tail") == 0;
        ran |= strncmp(e->d_name, "names.", 6) == 0;
        bool gpu = strncmp(e->d_name, "gpu.", 4) == 0 && k > 4 && strcmp(e->d_name + k - 4, ".csv") == 0;
        if (!log && !gpu && !tail) continue;
        path = grow(path, n + 1, &cap, sizeof *path);
        path[n] = xformat("%s/%.*s%s", dir, (int)(tail ? k - 4 : k), e->d_name, tail ? "log" : "");
        if (!tail || access(path[n], F_OK) != 0) n++;    /* a thread that had written nothing out: the ring alone */
        else free(path[n]);
    }
    closedir(d);
    if (!n && ran) die("%s: nothing was recorded: profiling was never enabled (--wait), or --delay was not over", dir);
    if (!n) die("%s: no logs of the recorder here (prof-record -o %s PROGRAM makes them)", dir, dir);
    qsort(path, n, sizeof *path, order_strings);
    intern(&r->text, (str){ "", 0 });
    r->open_text = log_word(r, "open");
    r->part_text = log_word(r, "part");
    r->python_text = log_word(r, "Python");
    r->c_text = log_word(r, "C");
    r->estimated_text = log_word(r, "estimated");
    r->off_text = log_word(r, "Off CPU");
    r->waiting_text = log_word(r, "Waiting");
    r->own_text = log_word(r, "Profiler");
    r->gil_text = log_word(r, "GIL");
    r->calibrated = calibrated_ns(dir);
    for (size_t i = 0; i < n; i++) if (path[i][slash] == 'e') add_thread(r, path[i]);
    for (size_t i = 0; i < r->nprocess; i++) {
        fit_clock(&r->process[i]);
        read_names(r, &r->process[i]);
    }
    if (!quiet) warn_unused(r);
    for (size_t i = 0; i < r->nthread; i++) {
        struct log_thread *t = &r->thread[i];
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
        struct log_thread *t = &r->thread[i];
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
        struct log_thread *t = &r->thread[i];
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
    intern_free(&r->asked);
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
