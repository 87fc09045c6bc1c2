/* path.c - see path.h */
#include "prof/path.h"
#include "base/checked.h"
#include "base/compare.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *lag_name(const struct dag_edge *e)
{
    return e->why == EDGE_LAUNCH ? "launch" : e->why == EDGE_STREAM || e->why == EDGE_EVENT ? "stream" : "wake";
}

static void put_text(csvw *w, const struct event_table *t, uint32_t text)
{
    csvw_str(w, t->text.name[text]);
}

static void one_piece(csvw *w, const struct event_table *t, const struct dag_node *v, int64_t start, int64_t end,
                      const char *cat, const char *why)
{
    if (end <= start) return;
    csvw_int(w, start);
    csvw_int(w, end);
    put_text(w, t, v->proc);
    put_text(w, t, v->tid);
    if (why) {
        if (cat) csvw_cstr(w, cat);
        else put_text(w, t, v->cat);
        put_text(w, t, v->op);
        put_text(w, t, v->name);
        csvw_cstr(w, why);
    }
    csvw_end(w);
}

static const struct dag_walk *walk_of(struct dag *g)
{
    struct dag_walk *k = &g->walk;
    if (k->finish) return k;
    *k = (struct dag_walk){ xmalloc(g->n + 1, sizeof(int64_t)), xmalloc(g->n + 1, sizeof(uint32_t)),
                            xmalloc(g->n + 1, sizeof(uint32_t)), 0 };
    dag_replay(g, 1, k->finish);
    k->n = dag_path(g, k->finish, k->path, k->via);
    return k;
}

void path_write_pieces(csvw *w, struct dag *g, const struct event_table *t, bool joined)
{
    const struct dag_walk *k = walk_of(g);
    csvw_names(w, joined ? "start_ns,end_ns,proc,tid" : "start_ns,end_ns,proc,tid,cat,op,name,why");
    csvw_end(w);
    if (joined) {                                        /* time between two pieces belongs to the later one */
        int64_t from = g->start;
        for (size_t i = k->n; i-- > 0;) {
            const struct dag_node *v = &g->node[k->path[i]], *next = i ? &g->node[k->path[i - 1]] : NULL;
            if (next && next->proc == v->proc && next->tid == v->tid) continue;
            one_piece(w, t, v, from, k->finish[k->path[i]], NULL, NULL);
            from = k->finish[k->path[i]];
        }
        return;
    }
    for (size_t i = k->n; i-- > 0;) {
        const struct dag_node *v = &g->node[k->path[i]];
        const struct dag_edge *e = k->via[i] == NODE_NONE ? NULL : &g->edge[k->via[i]];
        int64_t begin = k->finish[k->path[i]] - v->work;
        if (e) one_piece(w, t, v, k->finish[e->from], begin, lag_name(e), edge_why_name[e->why]);
        else one_piece(w, t, v, g->start, begin, "start", "begin");
        one_piece(w, t, v, begin, k->finish[k->path[i]], NULL, e ? edge_why_name[e->why] : "begin");
    }
}

double path_unexplained(struct dag *g, const struct event_table *t, double most)
{
    const struct dag_walk *k = walk_of(g);
    int64_t sum = 0, *by = xcalloc(t->text.n, sizeof *by);
    uint32_t longest = 0;
    for (size_t i = 0; i < k->n; i++) {
        const struct dag_node *v = &g->node[k->path[i]];
        if (!v->unexplained) continue;
        sum += v->work;
        by[v->name] += v->work;
        if (by[v->name] > by[longest]) longest = v->name;
    }
    double share = g->end > g->start ? (double)sum / (double)(g->end - g->start) : 0;
    if (share > most)
        die("%.1f %% of the run are waits on its critical path of which nothing says what they were for, most of them "
            "'%s': what was waited for was not recorded, or is no link that is known; --unexplained=%.2g takes them as "
            "they are", share * 100, longest ? t->text.name[longest].s : "gaps between rows", share + 0.01);
    free(by);
    return share;
}

void path_write_all(csvw *w, struct dag *g, const struct event_table *t)
{
    const struct dag_walk *k = walk_of(g);
    int64_t *slack = xmalloc(g->n + 1, sizeof *slack);
    bool *on = xcalloc(g->n + 1, sizeof *on);
    dag_slack(g, k->finish, slack);
    for (size_t i = 0; i < k->n; i++) on[k->path[i]] = true;
    csvw_names(w, "proc,tid,cat,op,name,start_ns,end_ns,slack_ns,on_path");
    csvw_end(w);
    for (size_t i = 0; i < g->n; i++) {
        const struct dag_node *v = &g->node[g->order[i]];
        if (v->end <= v->start) continue;                /* an instant at which ranks meet */
        put_text(w, t, v->proc);
        put_text(w, t, v->tid);
        put_text(w, t, v->cat);
        put_text(w, t, v->op);
        put_text(w, t, v->name);
        csvw_int(w, v->start);
        csvw_int(w, v->end);
        csvw_int(w, slack[g->order[i]]);
        csvw_int(w, on[g->order[i]]);
        csvw_end(w);
    }
    free(slack);
    free(on);
}

/* ---- sums by operation and category */

struct sum_row { uint32_t op, cat; int64_t path, total, slack, unexplained; };
struct sum_rows { struct intern keys; struct sum_row *v; size_t cap; };

static struct sum_row *sum_of(struct sum_rows *s, uint32_t op, uint32_t cat)
{
    const uint32_t key[2] = { op, cat };
    size_t known = s->keys.n;
    uint32_t i = intern(&s->keys, (str){ (const char *)key, sizeof key });
    if (s->keys.n > known) {
        s->v = grow(s->v, s->keys.n, &s->cap, sizeof *s->v);
        s->v[i] = (struct sum_row){ op, cat, 0, 0, INT64_MAX, 0 };
    }
    return &s->v[i];
}

static int by_path(const void *a, const void *b)
{
    const struct sum_row *x = a, *y = b;
    return ORDER(y->path, x->path) ?: ORDER(y->total, x->total) ?: ORDER(x->op, y->op) ?: ORDER(x->cat, y->cat);
}

void path_write_sums(csvw *w, struct dag *g, struct event_table *t)
{
    const struct dag_walk *k = walk_of(g);
    struct sum_rows s = { 0 };
    int64_t *slack = xmalloc(g->n + 1, sizeof *slack), whole = 0;
    dag_slack(g, k->finish, slack);
    for (size_t i = 0; i < g->n; i++) {
        const struct dag_node *v = &g->node[i];
        if (v->wait) continue;                           /* no work of its own */
        struct sum_row *r = sum_of(&s, v->op, v->cat);
        r->total = i64_add(r->total, v->work);
        if (slack[i] < r->slack) r->slack = slack[i];
    }
    for (size_t i = 0; i < k->n; i++) {
        const struct dag_node *v = &g->node[k->path[i]];
        const struct dag_edge *e = k->via[i] == NODE_NONE ? NULL : &g->edge[k->via[i]];
        struct sum_row *own = v->wait ? NULL : sum_of(&s, v->op, v->cat);
        if (own) own->path += v->work;
        if (own && v->unexplained) own->unexplained += v->work;
        whole += v->work;
        int64_t lag = k->finish[k->path[i]] - v->work - (e ? k->finish[e->from] : g->start);
        if (lag <= 0) continue;
        struct sum_row *r = sum_of(&s, v->op, intern(&t->text, str_of(e ? lag_name(e) : "start")));
        r->path += lag;
        r->total += lag;
        r->slack = 0;
        whole += lag;
    }
    csvw_names(w, "op,cat,path_ns,path_share,total_ns,least_slack_ns,unexplained_share");
    csvw_end(w);
    if (s.keys.n) qsort(s.v, s.keys.n, sizeof *s.v, by_path);
    for (size_t i = 0; i < s.keys.n; i++) {
        put_text(w, t, s.v[i].op);
        put_text(w, t, s.v[i].cat);
        csvw_int(w, s.v[i].path);
        csvw_format(w, "%.4f", whole ? (double)s.v[i].path / (double)whole : 0);
        csvw_int(w, s.v[i].total);
        csvw_int(w, s.v[i].slack);
        csvw_format(w, "%.4f", whole ? (double)s.v[i].unexplained / (double)whole : 0);
        csvw_end(w);
    }
    free(slack);
    free(s.v);
    intern_free(&s.keys);
}

/* ---- what if */

/* Rows of one operation on one thread; those of the name that repeats and takes longest. */
struct repeat {
    uint32_t name, proc, tid;
    uint64_t n;
    int64_t total;
    struct span *v;
    size_t begin, end;                                   /* nodes of its thread */
};

static int by_repeat(const void *a, const void *b)
{
    const struct repeat *x = a, *y = b;
    return ORDER(x->name, y->name) ?: ORDER(x->proc, y->proc) ?: ORDER(x->tid, y->tid);
}

static struct repeat longest_repeat(const struct event_table *t)
{
    struct repeat *v = NULL, best = { 0 };
    size_t n = 0, cap = 0, kept = 0;
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *r = &t->rows.v[i];
        if (r->kind != EVENT_OP || r->end <= r->start) continue;
        v = grow(v, n + 1, &cap, sizeof *v);
        v[n++] = (struct repeat){ .name = r->name, .proc = r->proc, .tid = r->tid, .n = 1, .total = r->end - r->start };
    }
    if (n) qsort(v, n, sizeof *v, by_repeat);
    for (size_t i = 0; i < n; i++) {
        if (kept && by_repeat(&v[kept - 1], &v[i]) == 0) {
            v[kept - 1].n++;
            v[kept - 1].total += v[i].total;
        } else v[kept++] = v[i];
    }
    for (size_t i = 0; i < kept; i++) if (v[i].n >= 5 && v[i].total > best.total) best = v[i];
    free(v);
    best.v = xmalloc(best.n + 1, sizeof *best.v);
    for (size_t i = n = 0; i < t->rows.n && n < best.n; i++) {
        const struct row *r = &t->rows.v[i];
        if (r->kind == EVENT_OP && r->name == best.name && r->proc == best.proc && r->tid == best.tid &&
            r->end > r->start) best.v[n++] = (struct span){ r->start, r->end };
    }
    return best;
}

/* when the thread's node that ends last at or before `time` is done in the replay; nodes of a thread are in order */
static int64_t replayed(const struct dag *g, size_t begin, size_t end, const int64_t *finish, int64_t time)
{
    size_t lo = begin, hi = end;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (g->node[mid].end <= time) lo = mid + 1;
        else hi = mid;
    }
    return lo == begin ? finish[lo] - g->node[lo].now : finish[lo - 1];
}

static void interval(struct whatif *w, const struct dag *g, const int64_t *finish, const struct repeat *rep,
                     double confidence)
{
    size_t n = 0;
    double mean = 0, squares = 0;
    if (rep->begin == rep->end) return;
    while (n < rep->n) {                                 /* Welford's recurrence over what the iterations take then */
        double d = (double)(replayed(g, rep->begin, rep->end, finish, rep->v[n].end) -
                            replayed(g, rep->begin, rep->end, finish, rep->v[n].start));
        double delta = d - mean;
        mean += delta / (double)++n;
        squares += delta * (d - mean);
    }
    double t_value = gsl_cdf_tdist_Pinv((1 + confidence) / 2, (double)(n - 1));
    double half = t_value * sqrt(squares / (double)(n - 1) * (double)n);
    if (!(half < 4e18)) return;
    w->iterations = n;
    w->low = w->after - (int64_t)half;
    w->high = w->after + (int64_t)half;
}

bool whatif_is_cut(const struct event_table *t)
{
    int hook = table_extra(t, "hook");
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *r = &t->rows.v[i];
        str flag = t->text.name[r->flag];
        if (r->kind != EVENT_CAT) continue;
        if (str_is(flag, "part")) return true;
        /* of the recorder's rows only the later pieces of a Python function have a name and no hook */
        if (hook >= 0 && r->name && !flag.n && !r->link && str_is(t->text.name[r->cat], "Python") &&
            !t->text.name[t->extra[(size_t)r->source * (size_t)t->nextra + (size_t)hook]].n) return true;
    }
    return false;
}

/* Levenshtein's distance, of long texts of their ends */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 100 };
    size_t n = strlen(a), m = strlen(b), row[LONGEST + 1];
    if (n > LONGEST) a += n - LONGEST, n = LONGEST;
    if (m > LONGEST) b += m - LONGEST, m = LONGEST;
    for (size_t k = 0; k <= m; k++) row[k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t before = row[0]++;
        for (size_t k = 1; k <= m; k++) {
            size_t change = before + (a[i - 1] != b[k - 1]), other = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;
            before = row[k];
            row[k] = change < other ? change : other;
        }
    }
    return row[m];
}

struct near { const char *name; size_t off; };

static int by_off(const void *a, const void *b)
{
    const struct near *x = a, *y = b;
    return ORDER(x->off, y->off) ?: strcmp(x->name, y->name);
}

const char **whatif_near(const struct event_table *t, const char *pattern, size_t n)
{
    char *plain = xstrdup(pattern), *to = plain;
    for (const char *p = pattern; *p; p++) if (!strchr("*?[]", *p)) *to++ = *p;
    *to = '\0';
    bool *used = xcalloc(t->text.n, sizeof *used);
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *r = &t->rows.v[i];
        if (r->kind == EVENT_CAT || r->kind == EVENT_GPU || r->kind == EVENT_OP) used[r->name] = used[r->cat] = true;
    }
    struct near *v = xmalloc(t->text.n, sizeof *v);
    size_t found = 0;
    for (size_t i = 1; i < t->text.n; i++) {
        if (!used[i] || !t->text.name[i].n) continue;
        const char *name = t->text.name[i].s, *last = strrchr(name, '.');
        size_t whole = distance(plain, name), end = last ? distance(plain, last + 1) : whole;
        v[found++] = (struct near){ name, *plain && strcasestr(name, plain) ? 0 : end < whole ? end : whole };
    }
    if (found) qsort(v, found, sizeof *v, by_off);
    if (found < n) n = found;
    const char **out = xcalloc(n + 1, sizeof *out);
    for (size_t i = 0; i < n; i++) out[i] = v[i].name;
    free_all(plain, used, v);
    return out;
}

/* w: what is the same at any speed */
static struct whatif answer(struct dag *g, struct whatif w, double speed, int64_t *finish,
                            const struct repeat *rep, double confidence)
{
    w.after = dag_replay(g, speed, finish) - g->start;
    double saved = (double)w.selected * (1 - 1 / speed);
    w.naive = saved < (double)w.before ? (double)w.before / ((double)w.before - saved) : INFINITY;
    interval(&w, g, finish, rep, confidence);
    return w;
}

void whatif_all(struct whatif *w, struct event_table *t, const struct part *part, size_t n, double confidence,
                double most_unexplained)
{
    struct repeat rep = longest_repeat(t);
    for (size_t from = 0, to; from < n; from = to) {     /* one graph answers for many */
        struct part slot[PARTS_MOST];
        struct whatif same[PARTS_MOST] = { { 0 } };
        size_t slots = 0, *which = xmalloc(n, sizeof *which);
        for (to = from; to < n; to++) {
            size_t k = 0;
            while (k < slots && (slot[k].of != part[to].of || strcmp(slot[k].pattern, part[to].pattern) != 0)) k++;
            if (k == PARTS_MOST) break;
            if (k == slots) slot[slots++] = part[to];
            which[to] = k;
        }
        struct dag g = { 0 };
        dag_build(&g, t, slot, slots);
        int64_t *finish = xmalloc(g.n + 1, sizeof *finish);
        double share = path_unexplained(&g, t, most_unexplained);
        int64_t before = dag_replay(&g, 1, finish) - g.start;
        size_t at = 0;
        while (at < g.n && (g.node[at].proc != rep.proc || g.node[at].tid != rep.tid)) at++;
        for (rep.begin = at; rep.n && at < g.n && g.node[at].proc == rep.proc && g.node[at].tid == rep.tid;) at++;
        rep.end = at;
        for (size_t k = 0; k < slots; k++)
            same[k] = (struct whatif){ .before = before, .low = INT64_MIN, .high = INT64_MIN, .unexplained = share };
        for (const struct dag_node *v = g.node, *end = v + g.n; v < end; v++)
            for (uint64_t left = v->selected; left; left &= left - 1) {
                struct whatif *s = &same[__builtin_ctzll(left)];
                s->pieces++;
                if (!v->wait) s->selected = i64_add(s->selected, v->work);
            }
        for (size_t i = from; i < to; i++) {
            g.left = ~(UINT64_C(1) << which[i]);
            w[i] = answer(&g, same[which[i]], part[i].speed, finish, &rep, confidence);
        }
        free_all(finish, which);
        dag_free(&g);
    }
    free(rep.v);
}
