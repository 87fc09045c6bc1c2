/* dag.c - see dag.h */
#include "prof/dag.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/num.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *const edge_why_name[EDGE_WHYS] = { "run", "launch", "stream", "sync", "link", "guess",
                                                     "collective", "event" };

enum { LOOK_BACK = 100000 };
static const int64_t WAKE_NS = 1000000;                  /* a wake-up that takes longer is not believed */
static const int64_t SPAN_MAX = (int64_t)1 << 61;        /* ns of a run and a replay: no overflow in differences */

/* ---- nodes and edges */

uint32_t dag_node(struct dag *g, const struct dag_node *new)
{
    if (g->n >= NODE_NONE) die("more than %u pieces", NODE_NONE);
    g->node = grow(g->node, g->n + 1, &g->cap, sizeof *g->node);
    g->node[g->n] = *new;
    return (uint32_t)g->n++;
}

void dag_edge(struct dag *g, uint32_t from, uint32_t to, enum edge_why why, int64_t lag)
{
    if (g->nedge >= NODE_NONE) die("more than %u dependences", NODE_NONE);
    g->edge = grow(g->edge, g->nedge + 1, &g->edge_cap, sizeof *g->edge);
    g->edge[g->nedge++] = (struct dag_edge){ from, to, why, lag };
}

static int by_target(const void *a, const void *b)
{
    const struct dag_edge *x = a, *y = b;
    return ORDER(x->to, y->to) ?: ORDER(x->why, y->why) ?: ORDER(x->from, y->from);
}

static const struct dag *sorting;

static int by_end(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct dag_node *x = &sorting->node[i], *y = &sorting->node[k];
    /* a wait ends because something else did */
    return ORDER(x->end, y->end) ?: ORDER(x->wait, y->wait) ?: ORDER(x->start, y->start) ?: ORDER(i, k);
}

void dag_seal(struct dag *g)
{
    g->edge = grow(g->edge, g->nedge + 1, &g->edge_cap, sizeof *g->edge);     /* never NULL: it is added to */
    if (g->nedge) qsort(g->edge, g->nedge, sizeof *g->edge, by_target);
    for (size_t e = 0; e < g->nedge; e++) {
        struct dag_node *v = &g->node[g->edge[e].to];
        if (!v->edges++) v->edge = (uint32_t)e;
    }
    g->order = xmalloc(g->n + 1, sizeof *g->order);
    for (size_t i = 0; i < g->n; i++) g->order[i] = (uint32_t)i;
    sorting = g;
    if (g->n) qsort(g->order, g->n, sizeof *g->order, by_end);
    for (size_t i = 0; i < g->n; i++) {
        const struct dag_node *v = &g->node[i];
        if (!i || v->start < g->start) g->start = v->start;
        if (!i || v->end > g->end) g->end = v->end;
    }
}

void dag_free(struct dag *g)
{
    free(g->node);
    free(g->edge);
    free(g->order);
    *g = (struct dag){ 0 };
}

/* ---- replay, path and slack */

static int64_t work_of(const struct dag_node *v, double speed)
{
    if (!v->selected || v->wait || speed == 1) return v->work;     /* a double is not exact from 2^53 on */
    double work = (double)v->work / speed;
    return work < (double)SPAN_MAX ? (int64_t)work : INT64_MAX;
}

int64_t dag_replay(const struct dag *g, double speed, int64_t *finish)
{
    int64_t last = g->start;
    for (size_t i = 0; i < g->n; i++) {
        const struct dag_node *v = &g->node[g->order[i]];
        int64_t begin = v->release, work = work_of(v, speed);
        for (const struct dag_edge *e = g->edge + v->edge, *end = e + v->edges; e < end; e++)
            if (finish[e->from] + e->lag > begin) begin = finish[e->from] + e->lag;
        if (work > g->start + SPAN_MAX - begin) die("a run of more than 73 years at this speed");
        finish[g->order[i]] = begin + work;
        if (finish[g->order[i]] > last) last = finish[g->order[i]];
    }
    return last;
}

int64_t dag_begin(const struct dag *g, uint32_t node, double speed, const int64_t *finish)
{
    return finish[node] - work_of(&g->node[node], speed);
}

size_t dag_path(const struct dag *g, double speed, const int64_t *finish, uint32_t *path, uint32_t *via)
{
    size_t n = 0;
    uint32_t at = NODE_NONE;
    for (size_t i = 0; i < g->n; i++)
        if (at == NODE_NONE || finish[g->order[i]] > finish[at]) at = g->order[i];
    while (at != NODE_NONE) {
        const struct dag_node *v = &g->node[at];
        int64_t begin = dag_begin(g, at, speed, finish);
        uint32_t edge = NODE_NONE;
        for (uint32_t e = v->edge; e < v->edge + v->edges && edge == NODE_NONE; e++)
            if (finish[g->edge[e].from] + g->edge[e].lag == begin) edge = e;
        if (via) via[n] = edge;
        path[n++] = at;
        at = edge == NODE_NONE ? NODE_NONE : g->edge[edge].from;
    }
    return n;
}

void dag_slack(const struct dag *g, double speed, const int64_t *finish, int64_t *slack)
{
    int64_t last = g->start;
    for (size_t i = 0; i < g->n; i++) if (finish[i] > last) last = finish[i];
    for (size_t i = 0; i < g->n; i++) slack[i] = last;   /* until it is done: the latest end that delays nothing */
    for (size_t i = g->n; i-- > 0;) {
        const struct dag_node *v = &g->node[g->order[i]];
        int64_t begin = slack[g->order[i]] - work_of(v, speed);
        for (const struct dag_edge *e = g->edge + v->edge, *end = e + v->edges; e < end; e++)
            if (begin - e->lag < slack[e->from]) slack[e->from] = begin - e->lag;
    }
    for (size_t i = 0; i < g->n; i++) slack[i] -= finish[i];
}

/* ---- from rows */

struct stop { int64_t time; uint32_t node; };   /* a node's end */
struct call { uint32_t proc, link, before, node; int64_t start, end; };   /* a row with a link */
/* A row of the GPU: what starts it, and when the last call began that launched it or one before it on its stream. */
struct on_gpu { uint32_t proc, tid, node, first; int64_t launched; };
struct stops { struct stop *v; size_t n, cap; };
struct calls { struct call *v; size_t n, cap; };
struct builder {
    struct dag *g;
    struct event_table *t;
    const struct part *part;
    uint8_t *matches;                                    /* by number of a text: 0 not asked yet, 1 no, 2 yes */
    struct stops stops;
    struct on_gpu *on_gpu;                               /* by proc, tid and time */
    size_t non_gpu, on_gpu_cap;
    struct calls calls;                                  /* rows of threads that have a link, by proc and link */
    uint32_t waiting, communication, own;                /* numbers of those texts */
    int hook;                                            /* extra column of the recorder's hooks; -1: none */
    double *quarter;                                     /* by process's text: ns that a record adds on either side */
    uint32_t *group;                                     /* of a row: which collective it is part of, from 1; 0 none */
    int64_t *met;                                        /* by collective: when its last rank came */
    uint32_t *meeting;                                   /* and the node of that instant */
    size_t groups;
    bool *idle;                                          /* by node: its thread has mostly gaps */
};
struct open_row { const struct row *r; int64_t end; size_t call; bool selected; };

static bool matches(struct builder *b, uint32_t text)
{
    uint8_t *m = &b->matches[text];
    if (!*m) *m = fnmatch(b->part->pattern, b->t->text.name[text].s, 0) == 0 ? 2 : 1;
    return *m == 2;
}

static bool selects(struct builder *b, const struct row *r)
{
    const struct part *p = b->part;
    if (!p) return false;
    if (r->kind == EVENT_OP) return (p->of == PART_ANY || p->of == PART_OP) && matches(b, r->name);
    return ((p->of == PART_ANY || p->of == PART_NAME) && r->name && matches(b, r->name));
}

static bool selects_category(struct builder *b, uint32_t cat)
{
    return b->part && cat && (b->part->of == PART_ANY || b->part->of == PART_CAT) && matches(b, cat);
}

static bool contains(str s, const char *what)
{
    return s.n && memmem(s.s, s.n, what, strlen(what)) != NULL;
}

static bool is_copy(str s)
{
    return (contains(s, "cudaMemcpy") || contains(s, "hipMemcpy") || contains(s, "cuMemcpy")) && !contains(s, "Async");
}

/* the stretch of a thread up to `to`, innermost row on top of the stack */
static void stretch(struct builder *b, const struct row *thread, const struct open_row *stack, size_t depth,
                    int64_t from, int64_t to, int records, uint32_t *last)
{
    if (to <= from) return;
    struct dag_node v = { .start = from, .end = to, .work = to - from, .release = *last == NODE_NONE ? from : INT64_MIN,
                      .proc = thread->proc, .tid = thread->tid };
    bool below = false;
    for (size_t k = depth; k-- > 0 && (!v.cat || !v.op);) {
        const struct row *r = stack[k].r;
        if (r->kind == EVENT_OP && !v.op) v.op = r->name;
        if (r->kind == EVENT_CAT && !v.cat) {
            v.cat = r->cat;
            v.name = r->name;
            if (r->op && !v.op) v.op = r->op;
        }
    }
    if (depth) below = stack[depth - 1].selected;
    v.selected = below || selects_category(b, v.cat);
    if (b->quarter) {
        int64_t cost = (int64_t)(b->quarter[v.proc] * records + 0.5);
        v.work = v.cat && v.cat == b->own ? 0 : cost < v.work ? v.work - cost : 0;
    }
    uint32_t node = dag_node(b->g, &v);
    if (*last != NODE_NONE) dag_edge(b->g, *last, node, EDGE_RUN, 0);
    *last = node;
    for (size_t k = depth; k-- > 0;) {                   /* calls that began here end here, unless they go on */
        if (!stack[k].call) continue;
        struct call *c = &b->calls.v[stack[k].call - 1];
        c->node = node;
    }
}

/* its begin and its end are records */
static bool is_recorded(const struct builder *b, const struct row *r)
{
    return b->hook >= 0 && b->t->text.name[b->t->extra[(size_t)r->source * (size_t)b->t->nextra + (size_t)b->hook]].n;
}

/* ns by process that a record costs on either side of its time */
static void read_costs(struct builder *b)
{
    const struct event_table *t = b->t;
    b->hook = -1;
    for (int i = 0; i < t->nextra; i++) if (strcmp(t->extra_name[i], "hook") == 0) b->hook = i;
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

static void one_thread(struct builder *b, const struct row *row, size_t n)
{
    struct open_row *stack = NULL;
    size_t depth = 0, cap = 0;
    uint32_t last = NODE_NONE;
    int64_t cursor = 0;
    bool any = false, recorded = false;                  /* recorded: what lies at the cursor */
    for (size_t i = 0; i <= n; i++) {
        const struct row *r = i < n ? &row[i] : NULL;
        if (r && ((r->kind != EVENT_CAT && r->kind != EVENT_OP) || r->end <= r->start)) continue;
        int64_t now = r ? r->start : INT64_MAX;
        for (; depth && stack[depth - 1].end <= now; depth--) {
            bool hooked = is_recorded(b, stack[depth - 1].r);
            stretch(b, row, stack, depth, cursor, stack[depth - 1].end, recorded + hooked, &last);
            recorded = hooked;
            if (stack[depth - 1].end > cursor) cursor = stack[depth - 1].end;
        }
        if (!r) break;
        bool hooked = is_recorded(b, r);
        if (any) stretch(b, row, stack, depth, cursor, now, recorded + hooked, &last);
        recorded = hooked;
        cursor = now;
        any = true;
        struct open_row new = { .r = r, .end = r->end, .selected = selects(b, r) };
        if (depth && new.end > stack[depth - 1].end) new.end = stack[depth - 1].end;
        if (depth && stack[depth - 1].selected) new.selected = true;
        if (r->link && r->kind == EVENT_CAT) {
            b->calls.v = grow(b->calls.v, b->calls.n + 1, &b->calls.cap, sizeof *b->calls.v);
            b->calls.v[b->calls.n++] = (struct call){ r->proc, r->link, last, NODE_NONE, r->start, r->end };
            new.call = b->calls.n;
        }
        stack = grow(stack, depth + 1, &cap, sizeof *stack);
        stack[depth++] = new;
    }
    free(stack);
}

static int by_link(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    return ORDER(x->link, y->link) ?: ORDER(x->start, y->start) ?: ORDER(x->node, y->node);
}

static size_t first_call(const struct calls *c, uint32_t link)
{
    size_t lo = 0, hi = c->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->v[mid].link < link) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* ---- collectives: kernels of communication of one name in several processes that ran at the same time.  None of them
 * can end before all have come, so of what is left in each process those that overlap the first to end belong
 * together. */

struct comm { int64_t start, end; size_t row; uint32_t name, proc; };

static int by_name(const void *a, const void *b)
{
    const struct comm *x = a, *y = b;
    return ORDER(x->name, y->name) ?: ORDER(x->proc, y->proc) ?: ORDER(x->start, y->start) ?:
           ORDER(x->row, y->row);
}

struct head { size_t at, end; };

static void meet(struct builder *b, const struct comm *v, struct head *head, size_t procs, size_t first)
{
    int64_t met = INT64_MIN;
    size_t members = 0;
    for (size_t k = 0; k < procs; k++) {
        if (head[k].at == head[k].end || v[head[k].at].start >= v[first].end) continue;
        members++;
        if (v[head[k].at].start > met) met = v[head[k].at].start;
    }
    for (size_t k = 0; k < procs; k++) {
        if (head[k].at == head[k].end || v[head[k].at].start >= v[first].end) continue;
        if (members > 1) b->group[v[head[k].at].row] = (uint32_t)b->groups + 1;
        head[k].at++;
    }
    if (members > 1) {
        b->met[b->groups++] = met;
        b->g->joined++;
    } else b->g->alone++;
}

static void match_name(struct builder *b, const struct comm *v, size_t n)
{
    struct head *head = NULL;
    size_t procs = 0, cap = 0;
    for (size_t i = 0; i < n; i++) {
        if (!i || v[i].proc != v[i - 1].proc) {
            head = grow(head, procs + 1, &cap, sizeof *head);
            head[procs++] = (struct head){ i, i };
        }
        head[procs - 1].end = i + 1;
    }
    for (;;) {
        size_t first = n;
        for (size_t k = 0; k < procs; k++)
            if (head[k].at < head[k].end && (first == n || v[head[k].at].end < v[first].end)) first = head[k].at;
        if (first == n) break;
        meet(b, v, head, procs, first);
    }
    free(head);
}

static void match_collectives(struct builder *b)
{
    const struct rows *rows = &b->t->rows;
    struct comm *v = NULL;
    size_t n = 0, cap = 0;
    int64_t cursor = INT64_MIN;
    bool several = false;
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *r = &rows->v[i];
        if (!i || r->proc != r[-1].proc || r->tid != r[-1].tid) cursor = INT64_MIN;
        if (r->kind != EVENT_GPU || r->end <= r->start || r->end <= cursor) continue;
        if (r->cat == b->communication) {
            v = grow(v, n + 1, &cap, sizeof *v);
            v[n] = (struct comm){ r->start < cursor ? cursor : r->start, r->end, i, r->name, r->proc };
            several |= v[n++].proc != v[0].proc;
        }
        cursor = r->end;
    }
    if (several) {
        b->group = xcalloc(rows->n, sizeof *b->group);
        b->met = xmalloc(n, sizeof *b->met);
        b->meeting = xmalloc(n, sizeof *b->meeting);
        qsort(v, n, sizeof *v, by_name);
        for (size_t begin = 0, end; begin < n; begin = end) {
            for (end = begin + 1; end < n && v[end].name == v[begin].name;) end++;
            match_name(b, v + begin, end - begin);
        }
        for (size_t k = 0; k < b->groups; k++) b->meeting[k] = NODE_NONE;
    }
    free(v);
}

/* The instant at which a rank comes to its collective, v; the rest of v begins when the last has come. */
static uint32_t come(struct builder *b, struct dag_node *v, uint32_t group)
{
    struct dag_node here = *v;
    here.end = here.start;
    here.work = 0;
    here.wait = WAIT_THREAD;
    uint32_t came = dag_node(b->g, &here), *meeting = &b->meeting[group - 1];
    v->start = b->met[group - 1];
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
        v.selected = selects(b, r) || selects_category(b, r->cat);
        uint32_t launch = NODE_NONE, node;
        for (size_t k = first_call(&b->calls, r->link); r->link && k < b->calls.n && b->calls.v[k].link == r->link; k++)
            if (b->calls.v[k].proc == r->proc && b->calls.v[k].start <= start) {
                launch = b->calls.v[k].before;
                if (b->calls.v[k].start > launched) launched = b->calls.v[k].start;
            }
        if (launch != NODE_NONE && !v.op) v.op = b->g->node[launch].op;
        uint32_t group = b->group ? b->group[row - b->t->rows.v + (ptrdiff_t)i] : 0, came = NODE_NONE;
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
    for (size_t k = first_call(&b->calls, link); k < b->calls.n && b->calls.v[k].link == link; k++) {
        const struct call *c = &b->calls.v[k];
        uint32_t node = c->node != NODE_NONE && b->g->node[c->node].end <= v->end ? c->node : c->before;
        if (node == NODE_NONE || b->g->node[node].end > v->end) continue;
        const struct dag_node *u = &b->g->node[node];
        if (u->proc == v->proc && u->tid == v->tid) continue;
        if (u->end == v->end && (!u->cat || u->cat == b->waiting)) continue;   /* both wait: neither woke the other */
        if (best == NODE_NONE || u->end > b->g->node[best].end) best = node;
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
    bool syncs = !waits && (contains(name, "Synchronize") || is_copy(name));
    if (v->gpu || (only_syncs ? !syncs : !(gap || waits))) return;
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
        if (gap && b->idle[node]) believed = length;
        int64_t since = v->end - believed > v->start ? v->end - believed : v->start;
        from = last_stop(b, v, since, v->end, false, waits);
        why = EDGE_GUESS;
        if (from == NODE_NONE) g->unexplained++;
        else g->guessed++;
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

/* the edge that was last gets what is missing until the observed start; a launch takes what launches mostly do */
static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return ORDER(*x, *y);
}

static bool is_last(const struct dag *g, const struct dag_node *v, const struct dag_edge *e)
{
    for (const struct dag_edge *x = g->edge + v->edge, *end = x + v->edges; x < end; x++)
        if (x != e && g->node[x->from].end > g->node[e->from].end) return false;
    return true;
}

static int64_t launch_time(const struct dag *g)
{
    int64_t *v = xmalloc(g->nedge + 1, sizeof *v), median = 0;
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct dag_node *u = &g->node[i];
        for (const struct dag_edge *e = g->edge + u->edge, *end = e + u->edges; u->gpu && e < end; e++)
            if (e->why == EDGE_LAUNCH && is_last(g, u, e))
                v[n++] = u->start - g->node[e->from].end;  /* nothing else to wait for: all of it is the launch */
    }
    if (n) {
        qsort(v, n, sizeof *v, by_size);
        median = v[n / 2];
    }
    free(v);
    return median;
}

static void set_lags(struct dag *g)
{
    int64_t launch = launch_time(g);
    for (size_t i = 0; i < g->n; i++) {
        struct dag_node *v = &g->node[i];
        if (!v->gpu || !v->edges) continue;
        v->release = INT64_MIN;
        struct dag_edge *e = g->edge + v->edge, *end = e + v->edges, *last = NULL;
        int64_t latest = INT64_MIN;
        for (; e < end; e++) {
            int64_t ready = g->node[e->from].end;
            if (e->why == EDGE_LAUNCH) e->lag = launch < v->start - ready ? launch : v->start - ready;
            if (ready + e->lag > latest) {
                latest = ready + e->lag;
                last = e;
            }
        }
        last->lag = v->start - g->node[last->from].end;
    }
}

/* a thread that begins while others of its process run was begun by one of them */
static void begin_thread(struct builder *b, uint32_t first_of)
{
    struct dag_node *v = &b->g->node[first_of];
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

void dag_build(struct dag *g, struct event_table *t, const struct part *part)
{
    struct builder b = { .g = g, .t = t, .part = part, .hook = -1 };
    b.waiting = intern(&t->text, str_of("Waiting"));
    b.communication = intern(&t->text, str_of("Communication"));
    b.own = intern(&t->text, str_of("Profiler"));
    if (part) read_costs(&b);
    b.matches = xcalloc(t->text.n, 1);
    check_span(&t->rows);
    table_sort_threads(t);
    match_collectives(&b);
    const struct row *row = t->rows.v;
    size_t threads = 0, first_cap = 0;
    uint32_t *first = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t begin = 0, end; begin < t->rows.n; begin = end) {
            end = begin + 1;
            while (end < t->rows.n && row[end].proc == row[begin].proc && row[end].tid == row[begin].tid) end++;
            size_t before = g->n;
            if (pass) one_stream(&b, row + begin, end - begin);
            else one_thread(&b, row + begin, end - begin);
            if (pass || g->n == before) continue;
            first = grow(first, threads + 1, &first_cap, sizeof *first);
            first[threads++] = (uint32_t)before;
        }
        if (!pass && b.calls.n) qsort(b.calls.v, b.calls.n, sizeof *b.calls.v, by_link);
    }
    for (size_t i = 0; i < t->rows.n; i++) if (row[i].kind == EVENT_AFTER) wait_for_event(&b, &row[i]);
    uint32_t *link_of = xcalloc(g->n + 1, sizeof *link_of);
    for (size_t k = 0; k < b.calls.n; k++)
        if (b.calls.v[k].node != NODE_NONE) link_of[b.calls.v[k].node] = b.calls.v[k].link;
    b.stops.v = xmalloc(g->n + 1, sizeof *b.stops.v);
    for (; b.stops.n < g->n; b.stops.n++)
        b.stops.v[b.stops.n] = (struct stop){ .time = g->node[b.stops.n].end, .node = (uint32_t)b.stops.n };
    if (g->n) qsort(b.stops.v, b.stops.n, sizeof *b.stops.v, by_time);
    b.idle = xcalloc(g->n + 1, sizeof *b.idle);
    for (size_t k = 0; k < threads; k++) mark_idle(&b, first[k]);
    for (int syncs = 1; syncs >= 0; syncs--)             /* first: a call that waits for the GPU wakes nobody */
        for (size_t i = 0; i < g->n; i++) explain(&b, (uint32_t)i, link_of, syncs);
    for (size_t k = 0; k < threads; k++) begin_thread(&b, first[k]);
    dag_seal(g);
    set_lags(g);
    free_all(first, link_of, b.quarter, b.group, b.met, b.meeting, b.matches, b.idle, b.stops.v, b.on_gpu, b.calls.v);
}
