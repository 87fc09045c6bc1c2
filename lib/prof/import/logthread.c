/* logthread.c - a thread's records as rows, see logthread.h */
#include "prof/import/logthread.h"
#include "base/message.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows */

uint32_t log_word(struct log_reader *r, const char *s)
{
    return intern(&r->text, str_of(s));
}

uint32_t log_number(struct log_reader *r, uint64_t n)
{
    char b[32];
    snprintf(b, sizeof b, "%llu", (unsigned long long)n);
    return log_word(r, b);
}

struct log_pending *log_held(struct log_thread *t, uint64_t row)
{
    return &t->held[row % t->room];
}

static uint64_t begin_row(struct log_reader *r, struct log_thread *t, const struct log_row *row)
{
    if (!r->looking) *log_held(t, t->next) = (struct log_pending){ .row = *row };
    return t->next++;
}

static void end_row(struct log_reader *r, struct log_thread *t, uint64_t row, int64_t end, uint32_t flag)
{
    if (r->looking) {
        if (t->next - row <= t->room) return;
        t->late = grow(t->late, t->nlate + 1, &t->late_cap, sizeof *t->late);
        t->late[t->nlate++] = (struct log_end){ row, end, flag };
    } else if (row >= t->first) {
        struct log_pending *p = log_held(t, row);
        p->row.end = end;
        if (flag) p->row.flag = flag;
        p->done = true;
    }
}

struct log_meaning log_meaning_of(struct log_reader *r, const struct log_process *p, uint32_t id)
{
    if (id < p->nid && p->id[id].name) return p->id[id];
    char b[32];
    if (!id) return (struct log_meaning){ r->python_text, 0 };
    snprintf(b, sizeof b, "id%u", id);                   /* its line was lost */
    return (struct log_meaning){ r->c_text, log_word(r, b) };
}

static void begin_piece(struct log_reader *r, struct log_thread *t, struct log_frame *f, int64_t at, bool first)
{
    struct log_meaning m = r->looking ? (struct log_meaning){ 0, 0 } : log_meaning_of(r, t->process, f->id);
    f->row = begin_row(r, t,
                       &(struct log_row){ .start = at, .proc = t->process->text, .tid = t->tid,
                                          .cat = f->python ? r->python_text : m.cat, .name = m.name,
                                          .flag = first || f->python ? 0 : r->part_text, .kind = EVENT_CAT,
                                          .hook = first && f->hook < HOOKS ? (uint8_t)f->hook : 0 });
}

/* ---- calls that were only counted: so much of Python's time is theirs */

static void owe(struct log_reader *r, struct log_thread *t, uint32_t id, uint32_t calls)
{
    struct log_process *p = t->process;
    if (id >= p->nid) return;
    if (!p->counted) p->counted = xcalloc(p->nid, sizeof *p->counted);
    if (!t->owed) t->owed = xcalloc(p->nid, sizeof *t->owed);
    if (r->looking) p->counted[id] += calls;
    int64_t ns = p->cost ? (int64_t)(p->cost[id].ns * calls) : 0;
    if (!ns) return;
    size_t i = 0;
    while (i < t->ndue && t->due[i] != id) i++;
    if (i == t->ndue) {
        t->due = grow(t->due, t->ndue + 1, &t->due_cap, sizeof *t->due);
        t->due[t->ndue++] = id;
    }
    if (__builtin_add_overflow(t->owed[id], ns, &t->owed[id])) t->owed[id] = INT64_MAX;
}

/* the gap ends: what is due takes its beginning, Python has the rest */
static void fill_gap(struct log_reader *r, struct log_thread *t, int64_t end, uint32_t flag)
{
    int64_t at = t->gap;
    struct log_frame *f = &t->calls.v[t->calls.n - 1];
    for (; t->ndue && at < end;) {
        uint32_t id = t->due[t->ndue - 1];
        int64_t ns = t->owed[id] < end - at ? t->owed[id] : end - at;
        struct log_meaning m = r->looking ? (struct log_meaning){ 0, 0 } : log_meaning_of(r, t->process, id);
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
static void split_gap(struct log_reader *r, struct log_thread *t, int64_t at)
{
    if (t->gap != NONE) {
        fill_gap(r, t, at, 0);
        t->gap = at;
    }
    t->ndue = 0;                                         /* what had no room waits for the next such calls */
}

/* ---- calls of one thread: Python frames and C frames on one stack */

/* what was running is interrupted at t: by Python everything, by C only Python */
static void suspend(struct log_reader *r, struct log_thread *t, int64_t at, bool by_python)
{
    struct log_frame *v = t->calls.v;
    size_t n = t->calls.n;
    bool filled = n && t->gap != NONE;
    if (filled) fill_gap(r, t, at, 0);
    if (r->nested || !n || filled) return;
    if (v[n - 1].python) end_row(r, t, v[n - 1].row, at, 0);
    else if (by_python) for (size_t i = n; i && !v[i - 1].python; i--) end_row(r, t, v[i - 1].row, at, 0);
}

static void resume(struct log_reader *r, struct log_thread *t, int64_t at, bool after_python)
{
    struct log_frame *v = t->calls.v;
    size_t n = t->calls.n, i = n;
    if (n && v[n - 1].python) t->gap = at;
    if (r->nested || !n || v[n - 1].python) return;
    if (after_python) {
        while (i && !v[i - 1].python) i--;
        for (; i < n; i++) begin_piece(r, t, &v[i], at, false);
    }
}

static void push(struct log_reader *r, struct log_thread *t, const struct log_record *rec, int64_t at, bool python)
{
    suspend(r, t, at, python);
    t->calls.v = grow(t->calls.v, t->calls.n + 1, &t->calls.cap, sizeof *t->calls.v);
    struct log_frame *f = &t->calls.v[t->calls.n++];
    *f = (struct log_frame){ .id = rec->id, .hook = rec->aux, .python = python };
    begin_piece(r, t, f, at, true);
}

static void pop(struct log_reader *r, struct log_thread *t, int64_t at, uint32_t flag)
{
    struct log_frame f = t->calls.v[t->calls.n - 1];
    bool filled = t->gap != NONE;
    if (filled) fill_gap(r, t, at, flag);
    if (!filled || r->nested) end_row(r, t, f.row, at, flag);
    t->calls.n--;
    resume(r, t, at, f.python);
}

static void end_call(struct log_reader *r, struct log_thread *t, const struct log_record *rec, int64_t at, bool python)
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

static void off_row(struct log_reader *r, struct log_thread *t, int64_t start, int64_t end, uint32_t cat, uint32_t name)
{
    if (end <= start) return;
    uint64_t row = begin_row(r, t, &(struct log_row){ .start = start, .proc = t->process->text, .tid = t->tid,
                                                      .cat = cat, .name = name, .kind = EVENT_CAT });
    end_row(r, t, row, end, 0);
}

static uint32_t off_name(struct log_reader *r, const struct log_frame *f, struct log_meaning m)
{
    const char *of = r->text.name[m.name].s;
    if (r->looking) return 0;
    if (f->python && !f->id) return log_word(r, "in Python");
    char *name = xformat("in %s", of);
    uint32_t n = log_word(r, name);
    free(name);
    return n;
}

/* The thread's CPU clock was read: what passed since it was read before and was not on the CPU lies at the end of the
 * time since the last record, `before`, in which for so long nothing was recorded; and at the end of that the wait for
 * the interpreter's lock.  A call that waits by its name waited, but for the latter, unless it was only preempted. */
static void off_cpu(struct log_reader *r, struct log_thread *t, const struct log_record *rec, int64_t before,
                    int64_t at)
{
    int64_t since = t->cpu_at, gil = t->gil, cpu = (int64_t)rec->id << (rec->aux & 31);
    t->cpu_at = at;
    t->gil = 0;
    if (rec->aux == LOG_CPU_FIRST || since == NONE || before == NONE || !t->calls.n) return;
    int64_t off = at - since - cpu;
    if (off > at - before - 1) off = at - before - 1;    /* what began there was there: no call is lost for its wait */
    if (gil > off) gil = off;
    struct log_frame *f = &t->calls.v[t->calls.n - 1];
    struct log_meaning m = log_meaning_of(r, t->process, f->id);
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

static void begin_op(struct log_reader *r, struct log_thread *t, const struct log_record *rec, int64_t at)
{
    t->ops.v = grow(t->ops.v, t->ops.n + 1, &t->ops.cap, sizeof *t->ops.v);
    struct log_frame *f = &t->ops.v[t->ops.n++];
    *f = (struct log_frame){ .id = rec->id };
    f->row = begin_row(r, t,
                       &(struct log_row){ .start = at, .proc = t->process->text, .tid = t->tid,
                                          .name = r->looking ? 0 : log_meaning_of(r, t->process, rec->id).name,
                                          .flag = rec->aux == HOOK_NONE ? r->part_text : 0, .kind = EVENT_OP,
                                          .hook = rec->aux < HOOKS ? (uint8_t)rec->aux : 0 });
}

static void end_op(struct log_reader *r, struct log_thread *t, const struct log_record *rec, int64_t at)
{
    size_t i = t->ops.n;
    while (i && rec && t->ops.v[i - 1].id != rec->id) i--;
    if (!i && rec) {
        r->counts->stray += r->looking;
        return;
    }
    for (size_t keep = rec ? i - 1 : 0; t->ops.n > keep;) {
        const struct log_frame *f = &t->ops.v[--t->ops.n];
        bool open = !rec || t->ops.n > keep;
        r->counts->unclosed += open && r->looking;
        end_row(r, t, f->row, at, open ? r->open_text : 0);
    }
}

static const char *const link_name[LINKS] = { "lock", "pipe", "socket", "connect", "start", "exit", "thread", "queue",
                                              "timer", "closed", "timeout", "GIL" };

static void link_row(struct log_reader *r, struct log_thread *t, const struct log_record *rec, int64_t at)
{
    unsigned link = rec->aux & ~(unsigned)LINK_PEEK;
    bool post = rec->event == LOG_POST, timer = post && link == LINK_TIMER;
    char key[16];
    snprintf(key, sizeof key, "%08x", rec->id);
    int64_t due = timer && t->amount < (uint64_t)1 << 60 ? (int64_t)t->amount : 0;
    uint64_t row = begin_row(r, t, &(struct log_row){ .start = at, .proc = t->process->text, .tid = t->tid,
                                                      .cat = log_word(r, post ? "post"
                                                                     : rec->aux & LINK_PEEK ? "peek" : "take"),
                                                      .name = link < LINKS ? log_word(r, link_name[link]) : 0,
                                                      .link = log_word(r, key),
                                                      .flag = t->amount && !timer ? log_number(r, t->amount) : 0,
                                                      .kind = EVENT_LINK });
    t->amount = 0;
    if (post) end_row(r, t, row, at + due, 0);
    else t->taking = row + 1;
}

void log_ready_row(struct log_reader *r, const struct log_row *row)
{
    if (!r->looking) return;
    r->ready = grow(r->ready, r->nready + 1, &r->ready_cap, sizeof *r->ready);
    r->ready[r->nready++] = *row;
}

void log_process_row(struct log_reader *r, const struct log_process *p, const char *cat, uint32_t name, int64_t start,
                        int64_t end)
{
    if (!r->looking) return;
    /* another thread's passes may lie between */
    log_ready_row(r, &(struct log_row){ .start = start < end ? start : end, .end = end, .proc = p->text,
                                    .cat = cat[0] ? log_word(r, cat) : 0, .name = name, .kind = EVENT_PROC });
}

/* ---- records */

static int64_t limited(double ns)
{
    const double most = 0x1p61;
    return ns > most ? (int64_t)most : ns < -most ? -(int64_t)most : (int64_t)ns;
}

static int64_t time_of(const struct log_process *p, uint64_t t)
{
    int64_t first = limited((double)p->first.monotonic_ns);
    if (!p->ticks) return t > (uint64_t)1 << 61 ? (int64_t)1 << 61 : (int64_t)t;
    return limited((double)p->first.monotonic_ns) == (int64_t)p->first.monotonic_ns
               ? limited((double)(int64_t)(t - p->first.ticks) * p->slope) + first
               : first;
}

/* what is open is closed */
static void close_all(struct log_reader *r, struct log_thread *t, int64_t at)
{
    if (t->taking) end_row(r, t, t->taking - 1, at, r->open_text);
    for (; t->calls.n; r->counts->unclosed += r->looking) pop(r, t, at, r->open_text);
    if (t->ops.n) end_op(r, t, NULL, at);
    t->taking = t->amount = 0;
}

/* another thread goes on in this log */
static void next_thread_of_log(struct log_reader *r, struct log_thread *t, uint32_t tid, int64_t end)
{
    close_all(r, t, end);
    t->tid = log_number(r, tid);
    t->cpu_at = NONE;
    t->gil = 0;
    t->ndue = 0;
    free(t->owed);
    t->owed = NULL;
    r->counts->threads += r->looking;
}

static void one_record(struct log_reader *r, struct log_thread *t, const struct log_record *rec)
{
    struct log_process *p = t->process;
    int64_t at = time_of(p, rec->t);
    /* the processor may read its counter early: what began or ended took a while, or a call and its hook were lost */
    bool lasts = rec->event >= LOG_CALL && rec->event <= LOG_PYTHON_END;
    int64_t before = t->last;
    if (t->last != INT64_MIN && at < t->last + lasts) at = t->last + lasts;
    if (rec->event != LOG_COUNTED && rec->event != LOG_COST) t->last = at;   /* they are told of the time before */
    if (r->looking) {
        if (at < p->begin && rec->event != LOG_CPU) p->begin = at;   /* the first clock says nothing of before */
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
                                             .cat = log_word(r, "dropped"),
                                             .name = log_number(r, rec->id),
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
        log_process_row(r, p, "pass", log_number(r, rec->id),
                    p->pass_begin != INT64_MIN ? p->pass_begin
                    : p->on != INT64_MIN       ? p->on
                                               : p->begin,
                    at);
        p->pass_begin = at;
        break;
    case LOG_PROGRESS:
        if (r->looking) log_process_row(r, p, "progress", log_number(r, rec->id), at, at);
        break;
    case LOG_ON:
        /* what a child of fork called before it came to say so is profiled, too */
        if (r->looking) p->on = p->pass_begin = t->calls.n ? p->begin : at;
        break;
    case LOG_OFF:
        if (!r->looking) break;
        if (rec->id != 1)
            log_process_row(r, p, "on", log_number(r, ++p->ons), p->on == INT64_MIN ? p->begin : p->on, at);
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

bool log_advance(struct log_reader *r, struct log_thread *t)
{
    bool tail = false;
    const struct log_record *rec = log_next_record(&t->from, &tail);
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
