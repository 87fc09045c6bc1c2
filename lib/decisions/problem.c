/* problem.c - see problem.h */
#include "decisions/problem.h"
#include "base/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 16 }; /* bytes of a path; paths of a chain take the square of its length */

void problem_free(struct sparse_problem *p)
{
    intern_free(&p->node);
    intern_free(&p->run);
    intern_free(&p->text);
    free(p->info);
    free(p->runs);
    sparse_free(&p->a);
    map64_free(&p->child);
    map64_free(&p->seen);
    *p = (struct sparse_problem){ 0 };
}

/* ---- nodes and runs ---- */

static uint32_t node_at(struct sparse_problem *p, str text, uint32_t parent)
{
    size_t before = p->node.n;
    uint32_t k = intern(&p->node, text);
    if (k < before) return k;
    if (k > UINT32_MAX / 2 - 1) die("more than %u nodes", UINT32_MAX / 2 - 1);
    p->info = grow(p->info, p->node.n, &p->cap_info, sizeof *p->info);
    size_t step = text.n;
    while (step && text.s[step - 1] != ' ') step--;
    long depth = k ? p->info[parent].depth + 1 : 0;
    p->info[k] = (struct pnode){ parent, NAME_NONE, depth, text.s[step] == '{', 0, 0 };
    return k;
}

static void root(struct sparse_problem *p)
{
    if (!p->node.n) node_at(p, str_of("/"), NODE_NONE);
}

/* finds or adds it and all nodes above */
static uint32_t problem_node(struct sparse_problem *p, str path)
{
    root(p);
    long known = intern_find(&p->node, path);
    if (known >= 0) return (uint32_t)known;
    uint32_t at = 0;
    for (size_t i = 0; i <= path.n; i++)
        if (i == path.n || path.s[i] == ' ') at = node_at(p, (str){ path.s, i }, at);
    return at;
}

static uint32_t run_at(struct sparse_problem *p, str run)
{
    size_t before = p->run.n;
    uint32_t r = intern(&p->run, run);
    if (r < before) return r;
    p->runs = grow(p->runs, p->run.n, &p->cap_runs, sizeof *p->runs);
    p->runs[r] = (struct prun){ .group = NAME_NONE };
    return r;
}

void problem_time(struct sparse_problem *p, str run, str group, bool initial, double seconds, long n_timings)
{
    struct prun *r = &p->runs[run_at(p, run)];
    if (r->timed) die("run '%.*s' has two times", (int)run.n, run.s);
    if (!(seconds > 0) || isinf(seconds)) die("run '%.*s': %g is not a time", (int)run.n, run.s, seconds);
    *r = (struct prun){ seconds, intern(&p->text, group), initial, true, n_timings };
}

static void participate(struct sparse_problem *p, uint32_t node, bool apply, double factor)
{
    sparse_add(&p->a, 2 * node + apply, factor);
    if (apply) p->info[node].n_apply++;
    else p->info[node].n_inlined++;
}

/* ---- from trees ---- */

/* the same closure without its stamp; plain atoms stay */
static uint32_t unstamped(struct names *s, uint32_t closure)
{
    const struct closure *c = &s->closure[closure];
    if (c->ident == NAME_NONE) return closure;
    str whole = s->closures.name[closure], stamp = s->text.name[c->stamp];
    return names_closure_of(s, (str){ whole.s, whole.n - stamp.n });
}

static struct trace_step identity(struct names *s, const struct tnode *x, bool by_name)
{
    struct trace_step t = { x->label, x->func, x->kind == NODE_DECL };
    if (!by_name) return t;
    if (t.decl) {
        t.label = unstamped(s, t.label);
    } else if (path_length(s, t.label) == 1 && s->site[s->path[t.label].site].kind == SITE_V0) {
        const struct apply_site *v0 = &s->site[s->path[t.label].site];
        uint32_t stamp = v0->stamp;
        t.label = path_add(s, 0, names_site_v0(s, unstamped(s, v0->a), s->text.name[stamp]));
    }
    return t;
}

void problem_add(struct sparse_problem *p, struct names *s, const struct itree *t, str run, double gamma, bool divide,
                 bool by_name)
{
    root(p);
    size_t row = p->a.rows;
    if (run_at(p, run) != row) die("run '%.*s' occurs twice", (int)run.n, run.s);
    uint32_t *to = xmalloc(t->n, sizeof *to);
    double *factor = xmalloc(t->n, sizeof *factor);
    size_t *children = xcalloc(t->n, sizeof *children);
    struct buf b = { 0 };
    map64_clear(&p->seen);
    for (uint32_t n = itree_next(t, 0, NULL); n != NODE_NONE; n = itree_next(t, n, NULL)) children[t->node[n].parent]++;
    to[0] = 0;
    factor[0] = 1;
    participate(p, 0, false, 1);
    for (uint32_t n = itree_next(t, 0, NULL); n != NODE_NONE; n = itree_next(t, n, NULL)) {
        const struct tnode *x = &t->node[n];
        struct trace_step step = identity(s, x, by_name);
        uint32_t above = to[x->parent];
        uint32_t *at = map64_at(&p->child, (uint64_t)above << 32 | (uint64_t)step.label << 1 | step.decl);
        if (*at == NODE_NONE) {
            b.n = 0;
            if (above) {
                buf_str(&b, p->node.name[above]);
                buf_char(&b, ' ');
            }
            decisions_path(&b, s, &step, 1);
            if (b.n > LONGEST) die("run '%.*s': a node whose path has more than %d bytes", (int)run.n, run.s, LONGEST);
            *at = node_at(p, (str){ b.s, b.n }, above);
        }
        to[n] = *at;
        factor[n] = factor[x->parent] * gamma / (divide ? (double)children[x->parent] : 1);
        if (p->info[to[n]].callee == NAME_NONE && !step.decl && !names_unknown(s, x->func))
            p->info[to[n]].callee = intern(&p->text, s->closures.name[s->meta[x->func].origin]);
        uint32_t *met = map64_at(&p->seen, to[n]);       /* each node once a run */
        if (*met != NAME_NONE) continue;
        *met = 1;
        participate(p, to[n], x->kind == NODE_APPLY, factor[n]);
    }
    sparse_end_row(&p->a);
    free_all(to, factor, children, b.s);
}

/* ---- streams ---- */

void problem_write(const struct sparse_problem *p, csvw *entries, csvw *times)
{
    csvw_names(entries, "run,node,kind,factor,callee");
    csvw_end(entries);
    for (size_t r = 0; r < p->a.rows; r++) {
        for (size_t k = p->a.start[r]; k < p->a.start[r + 1]; k++) {
            uint32_t node = p->a.column[k] / 2;
            const struct pnode *x = &p->info[node];
            csvw_str(entries, p->run.name[r]);
            csvw_str(entries, p->node.name[node]);
            csvw_cstr(entries, p->a.column[k] % 2 ? "apply" : !node ? "root" : x->decl ? "decl" : "inlined");
            csvw_num(entries, p->a.value[k]);
            if (x->callee == NAME_NONE) csvw_empty(entries);
            else csvw_str(entries, p->text.name[x->callee]);
            csvw_end(entries);
        }
    }
    if (!times) return;
    csvw_names(times, "run,group,initial,time_seconds,n_timings");
    csvw_end(times);
    for (size_t r = 0; r < p->run.n; r++) {
        if (!p->runs[r].timed) continue;
        csvw_str(times, p->run.name[r]);
        csvw_str(times, p->text.name[p->runs[r].group]);
        csvw_int(times, p->runs[r].initial);
        csvw_num(times, p->runs[r].seconds);
        csvw_int(times, p->runs[r].n_timings);
        csvw_end(times);
    }
}

static void read_entries(struct sparse_problem *p, csv *in)
{
    int run = csv_need(in, "run"), node = csv_need(in, "node"), kind = csv_need(in, "kind"),
        factor = csv_need(in, "factor");
    int callee = csv_find(in, "callee");
    long row = -1;
    while (csv_next(in)) {
        size_t before = p->run.n;
        uint32_t r = run_at(p, csv_str(in, run));
        if (r != row && r < before)
            die_at(csv_file(in), csv_line(in), "the rows of run '%.*s' are not together", (int)csv_str(in, run).n,
                   csv_str(in, run).s);
        if (r != row) {
            if (row >= 0) sparse_end_row(&p->a);
            map64_clear(&p->seen);
            row = r;
        }
        if (!csv_str(in, node).n) csv_die(in, node, "a path");
        uint32_t n = problem_node(p, csv_str(in, node));
        str k = csv_str(in, kind);
        bool apply = str_is(k, "apply");
        if (!apply && !str_is(k, "inlined") && !str_is(k, "decl") && !str_is(k, "root"))
            csv_die(in, kind, "root, decl, inlined or apply");
        if (apply && (!n || p->info[n].decl)) csv_die(in, kind, "possible for this node");
        uint32_t *met = map64_at(&p->seen, n);
        if (*met != NAME_NONE) die_at(csv_file(in), csv_line(in), "a run has this node twice");
        *met = 1;
        double f = csv_num(in, factor);
        if (!(f > 0) || isinf(f)) csv_die(in, factor, "a positive factor");
        participate(p, n, apply, f);
        if (callee >= 0 && csv_has(in, callee)) p->info[n].callee = intern(&p->text, csv_str(in, callee));
    }
    if (row >= 0) sparse_end_row(&p->a);
}

static void read_times(struct sparse_problem *p, csv *in)
{
    int run = csv_need(in, "run"), seconds = csv_need(in, "time_seconds"), group = csv_find(in, "group");
    int initial = csv_find(in, "initial"), timings = csv_find(in, "n_timings");
    size_t known = p->run.n;
    while (csv_next(in)) {
        if (intern_find(&p->run, csv_str(in, run)) < 0) continue;     /* a time without a tree is of no use */
        str g = group < 0 ? csv_str(in, run) : csv_str(in, group);
        double t = csv_num(in, seconds);
        if (!(t > 0) || isinf(t)) csv_die(in, seconds, "a time");
        int64_t n = timings >= 0 && csv_has(in, timings) ? csv_int(in, timings) : 1;
        if (n < 0) csv_die(in, timings, "a number of timings");
        problem_time(p, csv_str(in, run), g, csv_num_or(in, initial, 0) != 0, t, n);
    }
    for (size_t r = 0; r < known; r++)
        if (!p->runs[r].timed) die_at(csv_file(in), 1, "no time for run '%s'", p->run.name[r].s);
}

void problem_read(struct sparse_problem *p, csv *entries, csv *times)
{
    root(p);
    read_entries(p, entries);
    if (times) read_times(p, times);
    if (!p->a.rows) die_at(csv_file(entries), 1, "no runs");
}

size_t problem_columns(const struct sparse_problem *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->node.n; i++) n += (p->info[i].n_inlined > 0) + (p->info[i].n_apply > 0);
    return n;
}

/* ---- targets ---- */

static double reference(const struct sparse_problem *p, bool mean, const double *weight)
{
    double sum = 0, n = 0;
    for (size_t r = 0; r < p->a.rows; r++) {
        double c = weight ? weight[r] : 1;
        if (!mean && !p->runs[r].initial) continue;
        sum += c * (mean ? p->runs[r].seconds : log(p->runs[r].seconds));
        n += c;
    }
    if (n > 0) return mean ? sum / n : exp(sum / n);
    if (weight) return reference(p, mean, NULL);         /* a bootstrap sample without an initial run */
    die("no run is marked initial, so there is no baseline; use a target over the mean");
}

void problem_target(const struct sparse_problem *p, enum problem_target target, const double *weight, double *b)
{
    double x = reference(p, target < LINEAR_OVER_BASELINE, weight);
    for (size_t r = 0; r < p->a.rows; r++) {
        double change = (p->runs[r].seconds - x) / x;
        switch (target) {
        case LINEAR_OVER_MEAN: case LINEAR_OVER_BASELINE: b[r] = -change; break;
        case LOG_OVER_MEAN: case LOG_OVER_BASELINE: b[r] = -log(p->runs[r].seconds / x); break;
        case TANH_OVER_MEAN: case TANH_OVER_BASELINE: b[r] = tanh(-10 * change); break;
        case SIGMOID_OVER_MEAN: case SIGMOID_OVER_BASELINE: b[r] = 1 / (1 + exp(20 * change)); break;
        }
    }
}
