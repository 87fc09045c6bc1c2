/* dagrows.c - a dag from rows, see dag.h */
#include "base/checked.h"
#include "base/compare.h"
#include "base/num.h"
#include "prof/collectives.h"
#include "prof/dag.h"
#include "prof/join.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_BACK = 100000 };
enum { TOLD_NOT, TOLD, TOLD_NOBODY };                    /* what links say of a wait; nobody posted it */
static const int64_t TELL_NS = 20000;                    /* where links are recorded: a shorter wait is none */
static const int64_t WAKE_NS = 1000000;                  /* a wake-up that takes longer is not believed */
static const int64_t SPAN_MAX = (int64_t)1 << 61;        /* ns of a run and a replay: no overflow in differences */

struct stop { int64_t time; uint32_t node; };   /* a node's end */
/* A row with a link.  latest: the last end of it and those of its link before it; other: after how many calls the last
 * one before it that is of its link and of another thread comes, 0: none. */
struct call { uint32_t proc, tid, link, before, node; int64_t start, end, latest; size_t other; };
/* A row of the GPU: what starts it, and when the last call began that launched it or one before it on its stream. */
struct on_gpu { uint32_t proc, tid, node, first; int64_t launched; };
struct cut;
struct stops { struct stop *v; size_t n, cap; };
struct calls { struct call *v; size_t n, cap; };
struct builder {
    struct dag *g;
    uint32_t *first;                                     /* node of each thread, in order */
    size_t threads;
    struct event_table *t;
    const struct part *part;
    size_t parts;
    uint64_t of[PART_KINDS], *matches;                   /* parts: by kind; by number of a text */
    bool *asked;                                         /* by number of a text: matches is known */
    uint8_t *syncs;                                      /* likewise: 2 a call that waits for the GPU, 1 none */
    struct stops stops, exits_of;                        /* exits_of: by time, the last node to end until then */
    struct on_gpu *on_gpu;                               /* by proc, tid and time */
    size_t non_gpu, on_gpu_cap;
    struct calls calls;                                  /* rows of threads that have a link, by proc and link */
    uint32_t waiting, communication, own;                /* numbers of those texts */
    int hook;                                            /* extra column of the recorder's hooks; -1: none */
    double *quarter;                                     /* by process's text: ns that a record adds on either side */
    struct collectives joint;
    uint32_t *meeting;                                   /* by collective: the node of the instant when all had come */
    bool *idle;                                          /* by node: its thread has mostly gaps */
    struct join *link;                                   /* rows of kind link */
    struct dag_node *timer;                              /* of those that are timers */
    size_t nlink, link_cap, ntimer, timer_cap;
    uint32_t exits, gil_wait;                            /* numbers of those texts */
    uint8_t *told;                                       /* by node: it is a wait of which links say all */
    struct cut *gil;                                     /* ends of waits for the GIL, by process and time */
    size_t ngil, gil_cap;
};
struct cut { uint32_t proc, tid; int64_t time; };
struct open_row { const struct row *r; int64_t end; size_t call; uint64_t selected; };
struct open_rows { struct open_row *v; size_t n, cap; };   /* innermost last */
struct open { struct open_rows calls, ops; };            /* an operation may begin in a call and outlive it */

/* the parts of that kind whose pattern a text matches */
static uint64_t selects(struct builder *b, int of, uint32_t text)
{
    uint64_t asked = b->of[of] | b->of[PART_ANY];
    if (!asked || !text) return 0;
    for (size_t k = 0; !b->asked[text] && k < b->parts; k++)
        if (fnmatch(b->part[k].pattern, b->t->text.name[text].s, 0) == 0) b->matches[text] |= UINT64_C(1) << k;
    b->asked[text] = true;
    return b->matches[text] & asked;
}

static bool contains(str s, const char *what)
{
    return s.n && memmem(s.s, s.n, what, strlen(what)) != NULL;
}

static bool is_copy(str s)
{
    return (contains(s, "cudaMemcpy") || contains(s, "hipMemcpy") || contains(s, "cuMemcpy")) && !contains(s, "Async");
}

static struct open_row *innermost(const struct open_rows *s)
{
    return s->n ? &s->v[s->n - 1] : NULL;
}

/* what v lies in */
static void place(struct dag_node *v, const struct open *open)
{
    const struct open_row *call = innermost(&open->calls), *op = innermost(&open->ops);
    v->op = op ? op->r->name : call ? call->r->op : 0;
    v->selected = (call ? call->selected : 0) | (op ? op->selected : 0);
}

/* of what is open that which ends first, if it has ended by then; of the same end the inner one */
static struct open_rows *first_to_end(struct open *open, int64_t now)
{
    const struct open_row *call = innermost(&open->calls), *op = innermost(&open->ops);
    bool is_op = op && (!call || op->end < call->end || (op->end == call->end && op->r > call->r));
    const struct open_row *first = is_op ? op : call;
    return !first || first->end > now ? NULL : is_op ? &open->ops : &open->calls;
}

/* the stretch of a thread up to `to` */
static void piece(struct builder *b, const struct row *thread, const struct open *open, int64_t from, int64_t to,
                  int records, uint32_t *last)
{
    if (to <= from) return;
    struct dag_node v = { .start = from, .end = to, .work = to - from, .release = *last == NODE_NONE ? from : INT64_MIN,
                      .proc = thread->proc, .tid = thread->tid };
    const struct open_row *call = innermost(&open->calls);
    place(&v, open);
    if (call) {
        v.cat = call->r->cat ? call->r->cat : call->r->name;   /* as event_key has it: no row is a gap */
        v.name = call->r->name;
    }
    v.selected |= selects(b, PART_CAT, v.cat);
    if (b->quarter) {
        int64_t cost = (int64_t)(b->quarter[v.proc] * records + 0.5);
        v.work = v.cat && v.cat == b->own ? 0 : cost < v.work ? v.work - cost : 0;
    }
    uint32_t node = dag_node(b->g, &v);
    if (*last != NODE_NONE) dag_edge(b->g, *last, node, EDGE_RUN, 0);
    *last = node;
    for (size_t k = open->calls.n; k-- > 0;)             /* calls that began here end here, unless they go on */
        if (open->calls.v[k].call) b->calls.v[open->calls.v[k].call - 1].node = node;
}

static int by_process(const void *a, const void *b)
{
    const struct cut *x = a, *y = b;
    return ORDER(x->proc, y->proc) ?: ORDER(x->time, y->time);
}

/* The same; who gives the interpreter's lock away is told a moment after another thread has it. */
static void stretch(struct builder *b, const struct row *thread, const struct open *open, int64_t from, int64_t to,
                    int records, uint32_t *last)
{
    static const int64_t late = 200000;
    struct cut key = { thread->proc, thread->tid, to - late > from ? to - late : from };
    size_t lo = 0, hi = b->ngil;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (by_process(&b->gil[mid], &key) <= 0) lo = mid + 1;
        else hi = mid;
    }
    for (; to > from && lo < b->ngil && b->gil[lo].proc == thread->proc && b->gil[lo].time < to; lo++) {
        if (b->gil[lo].tid == thread->tid) continue;
        piece(b, thread, open, from, b->gil[lo].time, records, last);
        from = b->gil[lo].time;
        break;
    }
    piece(b, thread, open, from, to, records, last);
}

static bool begins(str what)
{
    return str_is(what, "start") || str_is(what, "thread");
}

/* a wait for a link, or what others may have waited for */
static void link_row(struct builder *b, const struct row *r, const struct open *open, size_t first, uint32_t *last)
{
    str cat = b->t->text.name[r->cat], what = b->t->text.name[r->name], flag = b->t->text.name[r->flag];
    bool post = str_is(cat, "post"), timeout = str_is(what, "timeout");
    double amount = 0;
    num_parse(flag.s, flag.n, &amount);
    struct join j = { .time = post ? r->start : r->end, .amount = amount > 0 && amount < 0x1p63 ? (uint64_t)amount : 0,
                      .key = r->link, .thread = (uint32_t)first, .post = JOIN_NONE, .is_post = post,
                      .peek = str_is(cat, "peek"), .node = *last, .what = r->name, .of = NODE_NONE };
    struct dag_node v = { .start = r->start, .end = r->end, .work = r->end - r->start,
                          .release = *last == NODE_NONE ? r->start : INT64_MIN, .proc = r->proc, .tid = r->tid,
                          .cat = b->waiting, .name = r->name };
    place(&v, open);
    if (post && r->end > r->start) {                     /* nobody does anything until then */
        b->timer = grow(b->timer, b->ntimer + 1, &b->timer_cap, sizeof *b->timer);
        j.of = (uint32_t)b->ntimer;
        b->timer[b->ntimer++] = v;
    } else if (post && *last == NODE_NONE) return;
    if (!post && !begins(what)) {
        if (!timeout) v.selected = 0;
        j.node = dag_node(b->g, &v);
        if (*last != NODE_NONE) dag_edge(b->g, *last, j.node, EDGE_RUN, 0);
        *last = j.node;
    } else if (!post) j.node = (uint32_t)first;
    b->link = grow(b->link, b->nlink + 1, &b->link_cap, sizeof *b->link);
    b->link[b->nlink++] = j;
}

/* A wait that timed out and was begun anew is one wait, for what came in the end: `row` is a timeout, n rows follow.
 * A timer that is due, or what others may have waited for, lies between two. */
static struct row whole_wait(const struct builder *b, const struct row *row, size_t n)
{
    struct row r = row[0];
    for (size_t i = 1; i <= n && row[i].start <= r.end + WAKE_NS; i++) {
        if (row[i].kind != EVENT_LINK) continue;
        str what = b->t->text.name[row[i].name];
        if (row[i].start < r.end || row[i].end < row[i].start || str_is(what, "timer") ||
            str_is(b->t->text.name[row[i].cat], "post")) break;
        int64_t start = r.start;
        r = row[i];
        r.start = start;
        if (!str_is(what, "timeout")) break;
    }
    return r;
}

/* its begin and its end are records; of a call in parts only the first says by what */
static bool is_recorded(const struct builder *b, const struct row *r)
{
    if (b->hook < 0) return false;
    return b->t->text.name[b->t->extra[(size_t)r->source * (size_t)b->t->nextra + (size_t)b->hook]].n ||
           str_is(b->t->text.name[r->flag], "part");
}

/* ns by process that a record costs on either side of its time */
static void read_costs(struct builder *b)
{
    const struct event_table *t = b->t;
    b->hook = table_extra(t, "hook");
    b->quarter = xcalloc(t->text.n, sizeof *b->quarter);
    uint32_t cost = intern(&b->t->text, str_of("cost"));
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *r = &t->rows.v[i];
        double ns;
        str s = t->text.name[r->link];
        if (r->kind == EVENT_PROC && r->cat == cost && num_parse(s.s, s.n, &ns) && ns > 0 && ns < 1e6)
            b->quarter[r->proc] = ns / 4;
    }
}

/* the arrow that arrives in row[0], of a foreign trace: what begins there after a gap was waited for */
static const struct row *arrow(const struct builder *b, const struct row *row, size_t n)
{
    for (size_t i = 1; i < n && row[i].start <= row[0].end; i++)
        if (row[i].kind == EVENT_LINK && row[i].start == row[i].end && str_is(b->t->text.name[row[i].cat], "take") &&
            !begins(b->t->text.name[row[i].name])) return &row[i];
    return NULL;
}

static void one_thread(struct builder *b, const struct row *row, size_t n)
{
    const struct row *arrived = NULL;
    struct open open = { 0 };
    uint32_t last = NODE_NONE;
    int64_t cursor = 0;
    bool any = false, recorded = false;                  /* recorded: what lies at the cursor */
    size_t first = b->g->n;
    for (size_t i = 0; i <= n; i++) {
        const struct row *r = i < n ? &row[i] : NULL;
        bool link = r && r->kind == EVENT_LINK;
        if (r && !link && ((r->kind != EVENT_CAT && r->kind != EVENT_OP) || r->end <= r->start)) continue;
        if (r && any && !link && r->kind == EVENT_CAT && r->end <= cursor) continue;   /* within a wait for a link */
        int64_t now = r ? r->start : INT64_MAX;
        if (r && any && now < cursor) now = cursor;      /* a wait for a link goes on until then */
        for (struct open_rows *s; (s = first_to_end(&open, now)); s->n--) {
            const struct open_row *o = innermost(s);
            bool hooked = is_recorded(b, o->r) || (r && r->start == o->end && is_recorded(b, r));
            stretch(b, row, &open, cursor, o->end, recorded + hooked, &last);
            recorded = hooked;
            if (o->end > cursor) cursor = o->end;
        }
        if (!r) break;
        if (r == arrived) continue;
        bool hooked = is_recorded(b, r);
        if (any && !link && !open.calls.n && !open.ops.n && now > cursor && (arrived = arrow(b, r, n - i))) {
            struct row wait = *arrived;
            wait.start = cursor;
            wait.end = cursor = now;
            link_row(b, &wait, &open, first, &last);
        }
        if (any) stretch(b, row, &open, cursor, now, recorded + hooked, &last);
        recorded = hooked || (recorded && now <= cursor);
        if (!any || now > cursor) cursor = now;
        any = true;
        if (link) {
            if (r->start < cursor) continue;             /* not in order: a clock's */
            bool timeout = str_is(b->t->text.name[r->name], "timeout");
            struct row wait = timeout ? whole_wait(b, r, n - i - 1) : *r;
            link_row(b, &wait, &open, first, &last);
            if (str_is(b->t->text.name[r->cat], "post")) continue;
            if (wait.end > cursor) cursor = wait.end;
            continue;
        }
        int of = r->kind == EVENT_OP ? PART_OP : PART_NAME;
        struct open_row new = { .r = r, .end = r->end, .selected = selects(b, of, r->name) };
        struct open_rows *s = of == PART_OP ? &open.ops : &open.calls;
        const struct open_row *outer = innermost(s);
        if (outer && new.end > outer->end) new.end = outer->end;
        if (outer) new.selected |= outer->selected;
        if (r->link && r->kind == EVENT_CAT) {
            b->calls.v = grow(b->calls.v, b->calls.n + 1, &b->calls.cap, sizeof *b->calls.v);
            b->calls.v[b->calls.n++] = (struct call){ .proc = r->proc, .tid = r->tid, .link = r->link, .before = last,
                                                         .node = NODE_NONE, .start = r->start, .end = r->end };
            new.call = b->calls.n;
        }
        s->v = grow(s->v, s->n + 1, &s->cap, sizeof *s->v);
        s->v[s->n++] = new;
    }
    free_all(open.calls.v, open.ops.v);
}

static int by_link(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    return ORDER(x->link, y->link) ?: ORDER(x->start, y->start) ?: ORDER(x->node, y->node);
}

/* after the last call with this link that began by then */
static size_t calls_until(const struct calls *c, uint32_t link, int64_t time)
{
    size_t lo = 0, hi = c->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->v[mid].link < link || (c->v[mid].link == link && c->v[mid].start <= time)) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

static int64_t end_of(const struct builder *b, uint32_t node)
{
    return node == NODE_NONE ? INT64_MIN : b->g->node[node].end;
}

static void order_calls(struct builder *b)
{
    if (b->calls.n) qsort(b->calls.v, b->calls.n, sizeof *b->calls.v, by_link);
    for (size_t k = 0; k < b->calls.n; k++) {
        struct call *c = &b->calls.v[k], *d = k && c[-1].link == c->link ? c - 1 : NULL;
        int64_t node = end_of(b, c->node), before = end_of(b, c->before);
        c->latest = node > before ? node : before;
        if (d && d->latest > c->latest) c->latest = d->latest;
        c->other = !d ? 0 : d->proc != c->proc || d->tid != c->tid ? k : d->other;
    }
}

/* The instant at which a rank comes to its collective, v; the rest of v begins when the last has come. */
static uint32_t come(struct builder *b, struct dag_node *v, uint32_t group)
{
    struct dag_node here = *v;
    here.end = here.start;
    here.work = 0;
    here.wait = WAIT_THREAD;
    uint32_t came = dag_node(b->g, &here), *meeting = &b->meeting[group - 1];
    v->start = b->joint.met[group - 1];
    v->work = v->end - v->start;
    if (*meeting == NODE_NONE) {
        here.start = here.end = v->start;
        here.wait = WAIT_ALL;
        *meeting = dag_node(b->g, &here);
    }
    dag_edge(b->g, came, *meeting, EDGE_COLLECTIVE, 0);
    return came;
}

/* GPU rows: nodes of their streams, after the launch and after the row before */
static void one_stream(struct builder *b, const struct row *row, size_t n)
{
    uint32_t last = NODE_NONE;
    int64_t cursor = INT64_MIN, launched = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &row[i];
        if (r->kind != EVENT_GPU || r->end <= r->start || r->end <= cursor) continue;
        int64_t start = r->start < cursor ? cursor : r->start;
        struct dag_node v = { .start = start, .end = r->end, .work = r->end - start, .release = start, .proc = r->proc,
                          .tid = r->tid, .cat = r->cat, .name = r->name, .op = r->op, .gpu = true };
        v.selected = selects(b, PART_NAME, r->name) | selects(b, PART_CAT, r->cat);
        uint32_t launch = NODE_NONE, node;
        size_t k = r->link ? calls_until(&b->calls, r->link, start) : 0;
        while (k && b->calls.v[k - 1].link == r->link && b->calls.v[k - 1].proc != r->proc) k--;
        if (k && b->calls.v[k - 1].link == r->link) {
            launch = b->calls.v[k - 1].before;
            if (b->calls.v[k - 1].start > launched) launched = b->calls.v[k - 1].start;
        }
        if (launch != NODE_NONE && !v.op) v.op = b->g->node[launch].op;
        uint32_t group = b->joint.group ? b->joint.group[row - b->t->rows.v + (ptrdiff_t)i] : 0, came = NODE_NONE;
        if (group) came = come(b, &v, group);
        node = dag_node(b->g, &v);
        if (group) dag_edge(b->g, b->meeting[group - 1], node, EDGE_COLLECTIVE, 0);
        else came = node;
        if (launch != NODE_NONE && b->g->node[launch].end <= start) dag_edge(b->g, launch, came, EDGE_LAUNCH, 0);
        if (last != NODE_NONE) dag_edge(b->g, last, came, EDGE_STREAM, 0);
        b->on_gpu = grow(b->on_gpu, b->non_gpu + 1, &b->on_gpu_cap, sizeof *b->on_gpu);
        b->on_gpu[b->non_gpu++] = (struct on_gpu){ r->proc, r->tid, node, came, launched };
        last = node;
        cursor = r->end;
    }
}

/* how many rows of the GPU are on streams before this one, or on it and launched before `time` */
static size_t launched_before(const struct builder *b, uint32_t proc, uint32_t tid, int64_t time)
{
    size_t lo = 0, hi = b->non_gpu;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct on_gpu *g = &b->on_gpu[mid];
        bool before = g->proc != proc ? g->proc < proc : g->tid != tid ? g->tid < tid : g->launched < time;
        if (before) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* one stream waited for an event of another; what was there before and what came here afterwards is known by their
 * calls */
static void wait_for_event(struct builder *b, const struct row *r)
{
    size_t from = launched_before(b, r->proc, r->cat, r->start), to = launched_before(b, r->proc, r->tid, r->end);
    if (!from-- || to == b->non_gpu || r->cat == r->tid) return;
    const struct on_gpu *done = &b->on_gpu[from], *next = &b->on_gpu[to];
    if (done->proc != r->proc || done->tid != r->cat || next->proc != r->proc || next->tid != r->tid) return;
    if (b->g->node[done->node].end > b->g->node[next->first].start) return;    /* not so: clocks, or another event */
    dag_edge(b->g, done->node, next->first, EDGE_EVENT, 0);
}

static int by_time(const void *a, const void *b)
{
    const struct stop *x = a, *y = b;
    return ORDER(x->time, y->time) ?: ORDER(x->node, y->node);
}

/* the last end of a node in (from, to] that may have let v go on: a GPU node for a sync, else one of another thread */
static uint32_t last_stop(const struct builder *b, const struct dag_node *v, int64_t from, int64_t to, bool gpu,
                          bool abroad)
{
    size_t lo = 0, hi = b->stops.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (b->stops.v[mid].time <= to) lo = mid + 1;
        else hi = mid;
    }
    for (size_t looked = 0; lo-- > 0 && b->stops.v[lo].time > from && looked < LOOK_BACK; looked++) {
        const struct dag_node *u = &b->g->node[b->stops.v[lo].node];
        if (u->gpu != gpu || u->wait || (!gpu && (!u->cat || u->cat == b->waiting))) continue;
        if (u->proc != v->proc && !abroad) continue;
        if (!gpu && u->proc == v->proc && u->tid == v->tid) continue;
        return b->stops.v[lo].node;
    }
    return NODE_NONE;
}

/* the row of another thread that this wait was for, by link */
static uint32_t linked(const struct builder *b, const struct dag_node *v, uint32_t link)
{
    uint32_t best = NODE_NONE;
    /* backwards, as long as one may have ended later; those of its own thread are passed over at once */
    for (size_t k = calls_until(&b->calls, link, v->end), next; k && b->calls.v[k - 1].link == link; k = next) {
        const struct call *c = &b->calls.v[k - 1];
        if (best != NODE_NONE && c->latest < b->g->node[best].end) break;
        bool own = c->proc == v->proc && c->tid == v->tid;
        next = own ? c->other : k - 1;
        if (own) continue;
        uint32_t node = c->node != NODE_NONE && b->g->node[c->node].end <= v->end ? c->node : c->before;
        if (node == NODE_NONE || b->g->node[node].end > v->end) continue;
        const struct dag_node *u = &b->g->node[node];
        if (u->end == v->end && (!u->cat || u->cat == b->waiting)) continue;   /* both wait: neither woke the other */
        if (best == NODE_NONE || u->end >= b->g->node[best].end) best = node;
    }
    return best;
}

/* what a wait, a gap or a call that waits for the GPU waited for */
static void explain(struct builder *b, uint32_t node, const uint32_t *link_of, bool only_syncs)
{
    struct dag *g = b->g;
    struct dag_node *v = &g->node[node];
    str name = b->t->text.name[v->name];
    bool gap = !v->cat, waits = v->cat == b->waiting;
    if (v->gpu || (!only_syncs && !gap && !waits)) return;
    if (!b->syncs[v->name]) b->syncs[v->name] = contains(name, "Synchronize") || is_copy(name) ? 2 : 1;
    bool syncs = !waits && b->syncs[v->name] == 2;
    if (v->gpu || (only_syncs ? !syncs : !(gap || waits))) return;
    if (b->told[node] || (b->nlink && v->end - v->start < TELL_NS)) {
        v->unexplained = b->told[node] == TOLD_NOBODY;
        g->unexplained += v->unexplained;
        return;
    }
    uint32_t from = NODE_NONE;
    enum edge_why why = EDGE_GUESS;
    if (syncs) {
        from = last_stop(b, v, INT64_MIN, v->end, true, false);
        why = EDGE_SYNC;
    } else if (waits && link_of[node]) {
        from = linked(b, v, link_of[node]);
        why = EDGE_LINK;
    }
    if (from == NODE_NONE && !syncs && !contains(name, "sleep")) {
        int64_t length = v->end - v->start, believed = length / 10 > WAKE_NS ? length / 10 : WAKE_NS;
        bool gil = v->name == b->gil_wait && b->nlink;   /* it can have been no other, however late the CPU came */
        if (gil || (gap && b->idle[node])) believed = length;
        int64_t since = v->end - believed > v->start ? v->end - believed : v->start;
        from = last_stop(b, v, since, v->end, false, waits && v->name != b->gil_wait);
        why = gil ? EDGE_LINK : EDGE_GUESS;
        v->unexplained = from == NODE_NONE;
        if (from == NODE_NONE) g->unexplained++;
        else g->guessed += why == EDGE_GUESS;
    }
    if (from == NODE_NONE) return;
    if (g->node[from].end <= v->start) {                 /* done before it was waited for: but that may change */
        dag_edge(g, from, node, why, 0);
        return;
    }
    v->wait = syncs ? WAIT_GPU : WAIT_THREAD;
    v->work = 0;
    dag_edge(g, from, node, why, v->end - g->node[from].end);
}

/* node goes on because of `from`: explained, with what is missing */
static void wake(struct dag *g, uint32_t from, uint32_t node, enum edge_why why, uint8_t wait)
{
    struct dag_node *v = &g->node[node];
    const struct dag_node *u = &g->node[from];
    if (u->end > v->end || from == node || (u->end == v->end && u->wait)) return;
    if (u->end <= v->start && u->end < v->end) {
        dag_edge(g, from, node, why, 0);                 /* done before it was waited for: but that may change */
        return;
    }
    v->wait = wait;
    v->work = 0;
    dag_edge(g, from, node, why, v->end - u->end);
}

/* the last end of a process before that: what it had open was closed */
static uint32_t last_exit(const struct builder *b, int64_t time)
{
    size_t lo = 0, hi = b->exits_of.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (b->exits_of.v[mid].time <= time) lo = mid + 1;
        else hi = mid;
    }
    return lo ? b->exits_of.v[lo - 1].node : NODE_NONE;
}

static void find_exits(struct builder *b)
{
    struct stops *s = &b->exits_of;
    for (const struct join *p = b->link, *end = p + b->nlink; p < end; p++) {
        if (!p->is_post || p->node == NODE_NONE || p->what != b->exits) continue;
        s->v = grow(s->v, s->n + 1, &s->cap, sizeof *s->v);
        s->v[s->n++] = (struct stop){ p->time, p->node };
    }
    if (s->n) qsort(s->v, s->n, sizeof *s->v, by_time);
    for (size_t i = 1; i < s->n; i++) {
        int64_t here = end_of(b, s->v[i].node), before = end_of(b, s->v[i - 1].node);
        if (before > here || (before == here && s->v[i - 1].node < s->v[i].node)) s->v[i].node = s->v[i - 1].node;
    }
}

static bool is_first(const struct builder *b, uint32_t node)
{
    size_t lo = 0, hi = b->threads;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (b->first[mid] < node) lo = mid + 1;
        else hi = mid;
    }
    return lo < b->threads && b->first[lo] == node;
}

static void tie(struct builder *b, const struct join *w)
{
    struct dag *g = b->g;
    struct dag_node *v = &g->node[w->node];
    str what = b->t->text.name[w->what];
    uint32_t from = w->post == JOIN_NONE ? NODE_NONE : b->link[w->post].node;
    if (begins(what)) {                                  /* its thread's first piece */
        if (from == NODE_NONE || v->release == INT64_MIN || g->node[from].end > v->start) return;
        dag_edge(g, from, w->node, EDGE_LINK, v->start - g->node[from].end);
        v->release = INT64_MIN;
        return;
    }
    if (str_is(what, "timer")) return;
    if (from == NODE_NONE && str_is(what, "closed")) from = last_exit(b, v->end);
    bool alone = from == NODE_NONE && !str_is(what, "timeout");
    b->told[w->node] = alone && v->end - v->start > TELL_NS ? TOLD_NOBODY : TOLD;
    if (from != NODE_NONE && v->release != INT64_MIN && g->node[from].end <= v->start && is_first(b, w->node)) {
        dag_edge(g, from, w->node, EDGE_LINK, v->start - g->node[from].end);         /* nothing else began it */
        v->release = INT64_MIN;
    } else if (from != NODE_NONE) {
        wake(g, from, w->node, EDGE_LINK, WAIT_THREAD);
    }
}

/* A timer runs by itself, from where it was set on; the poll before its end ended because of it. */
static void tie_timer(struct builder *b, const struct join *set, const struct join *runs)
{
    struct dag *g = b->g;
    struct dag_node v = b->timer[set->of];
    if (!runs || runs->is_post || runs->key != set->key || runs->thread != set->thread || set->node == NODE_NONE)
        return;                                          /* it was cancelled, and its place is another's */
    uint32_t by = runs->of == NODE_NONE ? runs->node : runs->of;
    if (v.end > g->node[by].end) v.end = g->node[by].end;
    if (v.end <= v.start) return;
    v.work = v.end - v.start;
    v.release = INT64_MIN;
    v.tid = 0;
    uint32_t timer = dag_node(g, &v);
    b->told[timer] = b->told[by] = TOLD;
    dag_edge(g, set->node, timer, EDGE_RUN, 0);
    wake(g, timer, by, EDGE_LINK, WAIT_THREAD);
}

static void tie_links(struct builder *b)
{
    struct dag *g = b->g;
    b->told = xcalloc(size_add(size_add(g->n, b->ntimer), 1), 1);
    for (size_t i = 0, poll = NODE_NONE; i < b->nlink; i++) {   /* as the threads have them: the poll before a timer */
        struct join *w = &b->link[i];
        str what = b->t->text.name[w->what];
        if (i && w->thread != w[-1].thread) poll = NODE_NONE;
        if (w->is_post) continue;
        w->of = (uint32_t)poll;
        if (w->peek || str_is(what, "timeout")) poll = w->node;
    }
    find_exits(b);
    join_match(b->link, b->nlink);
    for (size_t i = 0; i < b->nlink; i++) {
        const struct join *w = &b->link[i];
        if (!w->is_post) tie(b, w);
        else if (w->of != NODE_NONE) tie_timer(b, w, i + 1 < b->nlink ? w + 1 : NULL);
    }
}

/* a thread that begins while others of its process run was begun by one of them */
static void begin_thread(struct builder *b, uint32_t first_of)
{
    struct dag_node *v = &b->g->node[first_of];
    if (v->release == INT64_MIN) return;                 /* a link says who began it */
    uint32_t from = last_stop(b, v, v->start - WAKE_NS, v->start, false, false);
    if (from == NODE_NONE) return;
    dag_edge(b->g, from, first_of, EDGE_GUESS, v->start - b->g->node[from].end);
    v->release = INT64_MIN;
    b->g->guessed++;
}

static void check_span(const struct rows *rows)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *r = &rows->v[i];
        if (r->end <= r->start) continue;
        if (r->start < first) first = r->start;
        if (r->end > last) last = r->end;
    }
    if (last > first && (uint64_t)last - (uint64_t)first > (uint64_t)SPAN_MAX)
        die("a run from %lld to %lld ns: longer than 73 years", (long long)first, (long long)last);
}

static void mark_idle(struct builder *b, uint32_t first)
{
    const struct dag *g = b->g;
    int64_t busy = 0;
    size_t end = first;
    for (; end < g->n && !g->node[end].gpu && g->node[end].proc == g->node[first].proc &&
           g->node[end].tid == g->node[first].tid; end++)
        if (g->node[end].cat) busy += g->node[end].end - g->node[end].start;
    bool idle = busy < (g->node[end - 1].end - g->node[first].start) / 2;
    for (size_t k = first; k < end; k++) b->idle[k] = idle;
}

/* when a thread had the interpreter's lock, for which it had waited: another had it until then */
static void find_gil(struct builder *b)
{
    for (size_t i = 0; i < b->t->rows.n; i++) {
        const struct row *r = &b->t->rows.v[i];
        if (r->kind != EVENT_CAT || r->name != b->gil_wait || r->cat != b->waiting) continue;
        b->gil = grow(b->gil, b->ngil + 1, &b->gil_cap, sizeof *b->gil);
        b->gil[b->ngil++] = (struct cut){ r->proc, r->tid, r->end };
    }
    if (b->ngil) qsort(b->gil, b->ngil, sizeof *b->gil, by_process);
}

void dag_build(struct dag *g, struct event_table *t, const struct part *part, size_t n)
{
    struct builder b = { .g = g, .t = t, .part = part, .parts = n, .hook = -1 };
    b.waiting = intern(&t->text, str_of("Waiting"));
    b.communication = intern(&t->text, str_of("Communication"));
    b.own = intern(&t->text, str_of("Profiler"));
    if (n) read_costs(&b);
    for (size_t k = 0; k < n; k++) b.of[part[k].of] |= UINT64_C(1) << k;
    b.matches = xcalloc(t->text.n, sizeof *b.matches);
    b.asked = xcalloc(t->text.n, sizeof *b.asked);
    b.syncs = xcalloc(t->text.n, 1);
    b.exits = intern(&t->text, str_of("exit"));
    b.gil_wait = intern(&t->text, str_of("GIL"));
    check_span(&t->rows);
    table_sort_threads(t);
    find_gil(&b);
    b.joint = collectives_match(&t->rows, b.communication);
    g->joined = b.joint.n;
    g->alone = b.joint.alone;
    b.meeting = xmalloc(b.joint.n, sizeof *b.meeting);
    for (size_t k = 0; k < b.joint.n; k++) b.meeting[k] = NODE_NONE;
    const struct row *row = t->rows.v;
    size_t first_cap = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t begin, end = 0; next_thread(&t->rows, &begin, &end);) {
            size_t before = g->n;
            if (pass) one_stream(&b, row + begin, end - begin);
            else one_thread(&b, row + begin, end - begin);
            if (pass || g->n == before) continue;
            b.first = grow(b.first, b.threads + 1, &first_cap, sizeof *b.first);
            b.first[b.threads++] = (uint32_t)before;
        }
        if (!pass) order_calls(&b);
    }
    for (size_t i = 0; i < t->rows.n; i++) if (row[i].kind == EVENT_AFTER) wait_for_event(&b, &row[i]);
    tie_links(&b);
    uint32_t *link_of = xcalloc(g->n + 1, sizeof *link_of);
    for (size_t k = 0; k < b.calls.n; k++)
        if (b.calls.v[k].node != NODE_NONE) link_of[b.calls.v[k].node] = b.calls.v[k].link;
    b.stops.v = xmalloc(g->n + 1, sizeof *b.stops.v);
    for (; b.stops.n < g->n; b.stops.n++)
        b.stops.v[b.stops.n] = (struct stop){ .time = g->node[b.stops.n].end, .node = (uint32_t)b.stops.n };
    dag_sort(b.stops.v, b.stops.n, sizeof *b.stops.v, by_time);
    b.idle = xcalloc(g->n + 1, sizeof *b.idle);
    for (size_t k = 0; k < b.threads; k++) mark_idle(&b, b.first[k]);
    for (int syncs = 1; syncs >= 0; syncs--)             /* first: a call that waits for the GPU wakes nobody */
        for (size_t i = 0; i < g->n; i++) explain(&b, (uint32_t)i, link_of, syncs);
    for (size_t k = 0; k < b.threads; k++) begin_thread(&b, b.first[k]);
    dag_seal(g);
    dag_set_lags(g);
    free_all(b.first, link_of, b.quarter, b.joint.group, b.joint.met, b.meeting, b.matches, b.asked, b.syncs, b.idle,
             b.stops.v, b.on_gpu, b.calls.v, b.exits_of.v, b.link, b.timer, b.told, b.gil);
}
