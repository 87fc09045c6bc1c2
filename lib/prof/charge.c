/* charge.c - see charge.h */
#include "prof/charge.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include "base/out.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a queue of rows, whose middle may lie in a file */

enum { CHUNK = 4096, CHUNKS = 32 };                      /* rows in a chunk; chunks in memory at the front */
struct waiting { struct row r; bool fixed; };            /* fixed: no operation cuts it */
struct queue {
    char **chunk;                                        /* NULL: in the file */
    size_t nchunk, cap, width, nextra, in_memory;
    uint64_t first, next;                                /* rows that left and that came */
    int fd;
};

static size_t chunk_bytes(const struct queue *q)
{
    return size_mul(q->width, CHUNK);
}

static off_t place_of(const struct queue *q, uint64_t i)
{
    return (off_t)((i / CHUNK) * chunk_bytes(q) + (i % CHUNK) * q->width);
}

static int temporary(void)
{
    const char *dir = getenv("TMPDIR");
    if (!dir || !*dir) dir = "/var/tmp";
    int fd = out_nameless(dir, O_CLOEXEC);
    if (fd < 0) die_errno("%s", dir);
    return fd;
}

static void write_at(const struct queue *q, const void *from, size_t n, off_t at)
{
    for (const char *p = from; n;) {
        ssize_t done = pwrite(q->fd, p, n, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) die_errno("a temporary file");
        p += done;
        at += done;
        n -= (size_t)done;
    }
}

static void read_at(const struct queue *q, void *to, size_t n, off_t at)
{
    for (char *p = to; n;) {
        ssize_t done = pread(q->fd, p, n, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) die_errno("a temporary file");
        p += done;
        at += done;
        n -= (size_t)done;
    }
}

static uint64_t queue_put(struct queue *q, const struct waiting *w, const uint32_t *extra)
{
    size_t c = (size_t)(q->next / CHUNK);
    if (q->next % CHUNK == 0) {
        if (c && q->chunk[c - 1] && q->in_memory > CHUNKS) {   /* the one that is full now goes to the file */
            if (q->fd < 0) q->fd = temporary();
            write_at(q, q->chunk[c - 1], chunk_bytes(q), place_of(q, (uint64_t)(c - 1) * CHUNK));
            free(q->chunk[c - 1]);
            q->chunk[c - 1] = NULL;
            q->in_memory--;
        }
        q->chunk = grow(q->chunk, c + 1, &q->cap, sizeof *q->chunk);
        q->chunk[c] = xmalloc(chunk_bytes(q), 1);
        q->nchunk = c + 1;
        q->in_memory++;
    }
    char *p = q->chunk[c] + (q->next % CHUNK) * q->width;
    memcpy(p, w, sizeof *w);
    if (q->nextra) memcpy(p + sizeof *w, extra, q->nextra * sizeof *extra);
    return q->next++;
}

static void queue_end_at(const struct queue *q, uint64_t i, int64_t end)
{
    const char *chunk = q->chunk[i / CHUNK];
    size_t at = offsetof(struct waiting, r) + offsetof(struct row, end);
    if (chunk) memcpy(q->chunk[i / CHUNK] + (i % CHUNK) * q->width + at, &end, sizeof end);
    else write_at(q, &end, sizeof end, place_of(q, i) + (off_t)at);
}

/* the first row, NULL: none */
static const struct waiting *queue_front(struct queue *q)
{
    if (q->first == q->next) return NULL;
    size_t c = (size_t)(q->first / CHUNK);
    if (!q->chunk[c]) {
        q->chunk[c] = xmalloc(chunk_bytes(q), 1);
        read_at(q, q->chunk[c], chunk_bytes(q), place_of(q, (uint64_t)c * CHUNK));
        q->in_memory++;
    }
    return (const void *)(q->chunk[c] + (q->first % CHUNK) * q->width);
}

static void queue_take(struct queue *q)
{
    if (++q->first % CHUNK) return;
    size_t c = (size_t)(q->first / CHUNK) - 1;
    free(q->chunk[c]);
    q->chunk[c] = NULL;
    q->in_memory--;
}

/* ---- threads */

static const int64_t LATE_NS = 1000000;                  /* by a device's clock a row may begin before its call */

/* an open row; at: its last piece in the queue, which begins at from */
struct cut { struct row r; int64_t from; uint64_t at; size_t extra; };
struct op { int64_t end; uint32_t name; };
struct lane { struct op *op; size_t depth, op_cap; struct cut *open; size_t nopen, open_cap, many; };
struct piece { struct waiting w; size_t lane, open; };   /* open: its number among the lane's + 1, 0: none */
struct charge {
    struct rows_out out;
    struct repairs *repairs;
    struct queue q;
    struct intern lanes, calls;                          /* by proc, tid; by proc, link */
    struct lane *lane;
    size_t lane_cap, at;                                 /* at: of the last one asked for */
    size_t *active, nactive, active_cap;                 /* lanes with an operation */
    uint32_t key[2];
    uint32_t *call_op;
    size_t call_cap;
    struct row *batch, *begun;                           /* rows of one start, and the operations among them */
    uint32_t *batch_extra;
    size_t nbatch, batch_cap, begun_cap, extra_cap, nextra;
    struct piece *piece;                                 /* what begins at one time */
    size_t npiece, piece_cap;
    uint32_t *kept;                                      /* extra texts of open rows, by place */
    size_t nkept, kept_cap, *spare, nspare, spare_cap;
    int64_t boundary;                                    /* the next end of an operation, INT64_MAX: none */
    uint64_t unlinked;
};

static size_t lane_of(charge *c, const struct row *r)
{
    const uint32_t key[2] = { r->proc, r->tid };
    if (c->lanes.n && c->key[0] == key[0] && c->key[1] == key[1]) return c->at;
    memcpy(c->key, key, sizeof key);
    size_t known = c->lanes.n;
    c->at = intern(&c->lanes, (str){ (const char *)key, sizeof key });
    if (c->lanes.n > known) {
        c->lane = grow(c->lane, c->lanes.n, &c->lane_cap, sizeof *c->lane);
        c->lane[c->at] = (struct lane){ .many = 64 };
    }
    return c->at;
}

static void find_boundary(charge *c)
{
    size_t n = 0;
    c->boundary = INT64_MAX;
    for (size_t i = 0; i < c->nactive; i++) {
        const struct lane *l = &c->lane[c->active[i]];
        if (!l->depth) continue;
        if (l->op[l->depth - 1].end < c->boundary) c->boundary = l->op[l->depth - 1].end;
        c->active[n++] = c->active[i];
    }
    c->nactive = n;
}

static void begin_piece(charge *c, const struct row *r, int64_t start, size_t lane, size_t open, bool fixed)
{
    c->piece = grow(c->piece, c->npiece + 1, &c->piece_cap, sizeof *c->piece);
    struct piece *p = &c->piece[c->npiece++];
    *p = (struct piece){ { *r, fixed }, lane, open };
    p->w.r.start = start;
}

static void forget(charge *c, const struct cut *o)
{
    if (!c->nextra) return;
    c->spare = grow(c->spare, c->nspare + 1, &c->spare_cap, sizeof *c->spare);
    c->spare[c->nspare++] = o->extra;
}

static void drop_closed(charge *c, struct lane *l, int64_t time)
{
    size_t n = 0;
    for (size_t i = 0; i < l->nopen; i++) {
        if (l->open[i].r.end > time) l->open[n++] = l->open[i];
        else forget(c, &l->open[i]);
    }
    l->nopen = n;
}

/* operations of the lane changed at this time: its open rows are cut there, once */
static void cut_open(charge *c, size_t lane, int64_t time)
{
    struct lane *l = &c->lane[lane];
    drop_closed(c, l, time);
    for (size_t i = 0; i < l->nopen; i++) {
        struct cut *o = &l->open[i];
        if (o->from >= time) continue;
        queue_end_at(&c->q, o->at, time);
        o->from = time;
        begin_piece(c, &o->r, time, lane, i + 1, false);
    }
}

static size_t keep_extra(charge *c, const uint32_t *extra)
{
    size_t i;
    if (!c->nextra) return 0;
    if (c->nspare) i = c->spare[--c->nspare];
    else {
        i = c->nkept++;
        c->kept = grow(c->kept, size_mul(c->nkept, c->nextra), &c->kept_cap, sizeof *c->kept);
    }
    memcpy(c->kept + i * c->nextra, extra, c->nextra * sizeof *extra);
    return i;
}

static int by_source(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return ORDER(x->w.r.source, y->w.r.source);
}

/* what began at this time goes into the queue, now that its operation is known */
static void queue_pieces(charge *c)
{
    if (c->npiece > 1) qsort(c->piece, c->npiece, sizeof *c->piece, by_source);
    for (size_t i = 0; i < c->npiece; i++) {
        struct piece *p = &c->piece[i];
        struct lane *l = &c->lane[p->lane];
        const uint32_t *extra = c->batch_extra;
        if (p->open) {
            const struct op *op = l->depth ? &l->op[l->depth - 1] : NULL;
            p->w.r.op = op ? op->name : 0;
            if (op && op->end < p->w.r.end) p->w.r.end = op->end;
            struct cut *o = &l->open[p->open - 1];
            extra = c->kept + o->extra * c->nextra;
            o->at = queue_put(&c->q, &p->w, extra);
            if (p->w.r.start == o->r.start && p->w.r.link && p->w.r.kind == EVENT_CAT) {
                const uint32_t key[2] = { p->w.r.proc, p->w.r.link };
                size_t known = c->calls.n;
                uint32_t k = intern(&c->calls, (str){ (const char *)key, sizeof key });
                if (c->calls.n == known) continue;
                c->call_op = grow(c->call_op, c->calls.n, &c->call_cap, sizeof *c->call_op);
                c->call_op[k] = p->w.r.op;
            }
            continue;
        }
        if (c->nextra) extra = c->batch_extra + (size_t)p->w.r.op * c->nextra;   /* its place in the batch, see add */
        p->w.r.op = 0;
        queue_put(&c->q, &p->w, extra);
    }
    c->npiece = 0;
}

static void write_ready(charge *c, int64_t now)
{
    for (const struct waiting *w; (w = queue_front(&c->q)) && (w->fixed || w->r.end <= now); queue_take(&c->q)) {
        struct row r = w->r;
        if (r.kind == EVENT_GPU) {
            const uint32_t key[2] = { r.proc, r.link };
            long k = r.link ? intern_find(&c->calls, (str){ (const char *)key, sizeof key }) : -1;
            if (k < 0 && r.link && now < r.start + LATE_NS) return;
            if (k >= 0) r.op = c->call_op[k];
            else c->unlinked++;
        }
        rows_out_put(&c->out, &r, (const void *)(w + 1));
    }
}

/* operations that end up to `time` */
static void end_operations(charge *c, int64_t time, bool also_then)
{
    while (c->boundary < time || (also_then && c->boundary == time && c->boundary < INT64_MAX)) {
        int64_t now = c->boundary;
        for (size_t i = 0; i < c->nactive; i++) {
            struct lane *l = &c->lane[c->active[i]];
            if (l->op[l->depth - 1].end > now) continue;
            while (l->depth && l->op[l->depth - 1].end <= now) l->depth--;
            cut_open(c, c->active[i], now);
        }
        find_boundary(c);
        if (now < time) {
            queue_pieces(c);
            write_ready(c, now);
        }
    }
}

static int longest_first(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return ORDER(y->end, x->end) ?: ORDER(x->source, y->source);
}

static void begin_operations(charge *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->nbatch; i++) {
        if (c->batch[i].kind != EVENT_OP) continue;
        c->begun = grow(c->begun, n + 1, &c->begun_cap, sizeof *c->begun);
        c->begun[n++] = c->batch[i];
    }
    if (n > 1) qsort(c->begun, n, sizeof *c->begun, longest_first);
    for (size_t i = 0; i < n; i++) {
        size_t lane = lane_of(c, &c->begun[i]);
        struct lane *l = &c->lane[lane];
        struct op new = { c->begun[i].end, c->begun[i].name };
        if (l->depth && new.end > l->op[l->depth - 1].end) {
            new.end = l->op[l->depth - 1].end;
            c->repairs->misnested++;
        }
        if (!l->depth) {
            c->active = grow(c->active, c->nactive + 1, &c->active_cap, sizeof *c->active);
            c->active[c->nactive++] = lane;
        }
        l->op = grow(l->op, l->depth + 1, &l->op_cap, sizeof *l->op);
        l->op[l->depth++] = new;
        cut_open(c, lane, c->begun[i].start);
    }
    if (n) find_boundary(c);
}

/* what most batches are: one row, which no operation's end cuts before it has begun */
static bool take_one(charge *c)
{
    const struct row *r = &c->batch[0];
    if (c->nbatch != 1 || c->boundary <= r->start || r->link || (r->kind != EVENT_CAT && r->kind != EVENT_OVH))
        return false;
    size_t lane = lane_of(c, r);                         /* which may move them */
    struct lane *l = &c->lane[lane];
    while (l->nopen && l->open[l->nopen - 1].r.end <= r->start) forget(c, &l->open[--l->nopen]);
    if (l->nopen >= l->many) return false;
    struct waiting w = { *r, false };
    const struct op *op = l->depth ? &l->op[l->depth - 1] : NULL;
    w.r.op = op ? op->name : 0;
    if (op && op->end < w.r.end) w.r.end = op->end;
    l->open = grow(l->open, l->nopen + 1, &l->open_cap, sizeof *l->open);
    l->open[l->nopen++] =
        (struct cut){ *r, r->start, queue_put(&c->q, &w, c->batch_extra), keep_extra(c, c->batch_extra) };
    c->nbatch = 0;
    write_ready(c, r->start);
    return true;
}

static void take_batch(charge *c)
{
    if (!c->nbatch || take_one(c)) return;
    int64_t now = c->batch[0].start;
    end_operations(c, now, false);
    for (size_t i = 0; i < c->nbatch; i++) {             /* those that have ended are not looked at again and again */
        size_t lane = lane_of(c, &c->batch[i]);          /* which may move them */
        struct lane *l = &c->lane[lane];
        while (l->nopen && l->open[l->nopen - 1].r.end <= now) forget(c, &l->open[--l->nopen]);
        if (l->nopen < l->many) continue;
        drop_closed(c, l, now);
        l->many = size_mul(2, l->nopen + 32);
    }
    end_operations(c, now, true);
    begin_operations(c);
    for (size_t i = 0; i < c->nbatch; i++) {
        struct row r = c->batch[i];
        size_t lane = lane_of(c, &r);
        bool cut = r.kind == EVENT_CAT || r.kind == EVENT_OVH;
        if (!cut) {
            r.op = (uint32_t)i;
            begin_piece(c, &r, r.start, lane, 0, true);
            continue;
        }
        struct lane *l = &c->lane[lane];
        size_t extra = keep_extra(c, c->batch_extra + i * c->nextra);
        l->open = grow(l->open, l->nopen + 1, &l->open_cap, sizeof *l->open);
        l->open[l->nopen++] = (struct cut){ r, r.start, 0, extra };
        begin_piece(c, &r, r.start, lane, l->nopen, false);
    }
    queue_pieces(c);
    c->nbatch = 0;
    write_ready(c, now);
}

charge *charge_begin(const struct event_table *t, csvw *w, struct repairs *repairs)
{
    charge *c = xcalloc(1, sizeof *c);
    *c = (charge){ .repairs = repairs, .nextra = (size_t)t->nextra, .boundary = INT64_MAX,
                   .q = { .nextra = (size_t)t->nextra, .fd = -1 } };
    c->q.width = size_add(sizeof(struct waiting), size_mul(c->nextra + c->nextra % 2, sizeof(uint32_t)));
    rows_out_begin(&c->out, w, t, true);
    return c;
}

void charge_add(charge *c, const struct row *r, const uint32_t *extra)
{
    if (r->kind != EVENT_LINK && is_empty(r->start, r->end, c->repairs, (size_t)r->source + 2)) return;
    if (c->nbatch && r->start != c->batch[0].start) take_batch(c);
    c->batch = grow(c->batch, c->nbatch + 1, &c->batch_cap, sizeof *c->batch);
    c->batch[c->nbatch++] = *r;
    if (!c->nextra) return;
    c->batch_extra = grow(c->batch_extra, size_mul(c->nbatch, c->nextra), &c->extra_cap, sizeof *c->batch_extra);
    memcpy(c->batch_extra + (c->nbatch - 1) * c->nextra, extra, c->nextra * sizeof *extra);
}

uint64_t charge_end(charge *c)
{
    take_batch(c);
    end_operations(c, INT64_MAX, true);
    queue_pieces(c);
    write_ready(c, INT64_MAX);
    uint64_t unlinked = c->unlinked;
    for (size_t i = 0; i < c->lanes.n; i++) free_all(c->lane[i].op, c->lane[i].open);
    for (size_t i = 0; i < c->q.nchunk; i++) free(c->q.chunk[i]);
    if (c->q.fd >= 0) close(c->q.fd);
    free_all(c->q.chunk, c->lane, c->active, c->call_op, c->batch, c->begun, c->batch_extra, c->piece, c->kept,
             c->spare);
    rows_out_end(&c->out);
    intern_free(&c->lanes);
    intern_free(&c->calls);
    free(c);
    return unlinked;
}
