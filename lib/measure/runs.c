/* runs.c - see runs.h */
#include "measure/runs.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/filter.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/near.h"
#include "measure/order.h"
#include "measure/stats.h"
#include "table/csvio.h"
#include "table/kind.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum phase { MAIN, AA, LEFT_OUT };

struct raw {
    struct run run;
    uint32_t status, benchmark, label, machine;
    long round;
    enum phase phase;
    double given_up;
};

struct columns {
    int label, round, metric, benchmark, position, phase, status, exit, signal, machine, stop, order, wall, cpu, given,
        taken, base, kind;
};

static const char *metric_column(const char *metric)
{
    if (strcmp(metric, "cpu") == 0) return "cpu_seconds";
    if (strcmp(metric, "wall") == 0) return "wall_seconds";
    return metric;
}

static struct columns find_columns(const csv *t, const struct runs_options *o)
{
    return (struct columns){ .label = csv_need_of(t, "label", "runs are wanted: bench-run, bench-import"),
                             .round = csv_need(t, "round"),
                             .metric = o->metric ? csv_need(t, metric_column(o->metric)) : -1,
                             .benchmark = o->group ? csv_need(t, o->group) : csv_find(t, "benchmark"),
                             .position = csv_find(t, "position"),
                             .phase = csv_find(t, "phase"),
                             .status = csv_find(t, "status"),
                             .exit = csv_find(t, "exit"),
                             .signal = csv_find(t, "signal"),
                             .machine = csv_find(t, "machine"),
                             .stop = csv_find(t, "stop"),
                             .order = csv_find(t, "order"),
                             .base = csv_find(t, "base"),
                             .kind = csv_find(t, "kind"),
                             .given = csv_find(t, "voluntary_switches"),
                             .taken = csv_find(t, "involuntary_switches"),
                             .wall = o->metric ? csv_find(t, "wall_seconds") : csv_need(t, "wall_seconds"),
                             .cpu = o->metric ? csv_find(t, "cpu_seconds") : csv_need(t, "cpu_seconds") };
}

static str field(const csv *t, int col, const char *missing)
{
    return col >= 0 && csv_has(t, col) ? csv_str(t, col) : str_of(missing);
}

static bool is_one_of(str s, const char *a, const char *b)
{
    return str_is(s, a) || str_is(s, b);
}

/* status where there is one, otherwise judged from exit and signal */
static str status_of(const csv *t, const struct columns *c)
{
    if (c->status >= 0 && csv_has(t, c->status)) return csv_str(t, c->status);
    if (c->signal >= 0 && csv_has(t, c->signal) && csv_int(t, c->signal) != 0) return str_of("signal");
    if (c->exit >= 0 && csv_has(t, c->exit) && csv_int(t, c->exit) != 0) return str_of("exit");
    return str_of("ok");
}

static struct raw read_row(struct runs *r, const csv *t, const struct columns *c, struct intern *machines)
{
    struct raw x = { .round = (long)csv_int(t, c->round) };
    x.benchmark = intern(&r->benchmark, field(t, c->benchmark, ""));
    str phase = field(t, c->phase, "measure"), status = status_of(t, c);
    x.phase = str_is(phase, "aa") ? AA : is_one_of(phase, "warmup", "calibrate") ? LEFT_OUT : MAIN;
    if (x.phase != LEFT_OUT) x.label = intern(&r->label, csv_str(t, c->label));
    if (x.phase == MAIN) r->kinds |= kind_of_row(t, c->kind);
    if (x.phase == MAIN && c->base >= 0 && csv_has(t, c->base)) intern(&r->given, csv_str(t, c->base));
    x.run.empty = str_is(phase, "calibrate");
    x.status = intern(&r->word, status);
    x.machine = intern(machines, field(t, c->machine, ""));
    x.run.censored = is_one_of(status, "timeout", "cpu_limit");
    x.run.error = !x.run.censored && !str_is(status, "ok");
    x.run.position = c->position >= 0 && csv_has(t, c->position) ? (int)csv_int(t, c->position) : -1;
    x.run.round = x.round;
    x.run.line = csv_line(t);
    x.run.file = intern(&r->file, str_of(csv_file(t)));
    x.run.wall = csv_num_or(t, c->wall, NAN);
    x.run.cpu = csv_num_or(t, c->cpu, NAN);
    if (c->metric >= 0) x.run.value = x.run.error ? csv_num_or(t, c->metric, NAN) : csv_num(t, c->metric);
    if (c->stop >= 0 && str_is(csv_str(t, c->stop), "sequential")) r->sequential = true;
    x.given_up = csv_num_or(t, c->given, 0) - csv_num_or(t, c->taken, -1);
    if (c->order >= 0 && str_is(csv_str(t, c->order), "blocks")) r->blocks = true;
    return x;
}

static int by_round(const void *a, const void *b)
{
    const struct raw *x = a, *y = b;
    return ORDER(x->phase, y->phase) ?: ORDER(x->benchmark, y->benchmark) ?: ORDER(x->round, y->round) ?:
           ORDER(x->label, y->label) ?: ORDER(x->run.file, y->run.file) ?: ORDER(x->run.line, y->run.line);
}

static const char *file_of(const struct runs *r, const struct raw *x)
{
    return r->file.name[x->run.file].s;
}

static void say_machines(const struct runs *r, const struct raw *v, size_t n, const struct intern *machines)
{
    size_t changes = 0, first = 0;
    for (size_t i = 1; i < n; i++) if (v[i].machine != v[i - 1].machine && !changes++) first = i;
    if (!changes) return;
    str was = machines->name[v[first - 1].machine], is = machines->name[v[first].machine];
    warn_at(file_of(r, &v[first]), v[first].run.line,
            "another machine, '%.*s' after '%.*s'%s; ratios are taken within rounds only", (int)is.n, is.s, (int)was.n,
            was.s, changes > 1 ? " (the first of several changes)" : "");
}

/* without --metric: what the processes themselves say, see the header; then every good row needs a positive value */
static void choose_metric(struct runs *r, struct raw *v, size_t n, const char *metric)
{
    double *share = xmalloc(n + 1, sizeof *share), *given = xmalloc(n + 1, sizeof *given);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (v[i].run.error || v[i].phase == LEFT_OUT || !(v[i].run.wall > 0 && v[i].run.cpu >= 0)) continue;
        given[m] = v[i].given_up;
        share[m++] = v[i].run.cpu / v[i].run.wall;
    }
    double cores = median(share, m);
    bool waits = cores < 0.2 && median(given, m) > 0;
    free(share);
    free(given);
    r->metric = metric ? metric : waits || cores > 1.05 ? "wall" : "cpu";
    for (size_t i = 0; i < n; i++) {
        struct run *x = &v[i].run;
        if (!metric) x->value = strcmp(r->metric, "wall") == 0 ? x->wall : x->cpu;
        if (!x->error && v[i].phase != LEFT_OUT && !(x->value > 0 && isfinite(x->value)))
            die_at(file_of(r, &v[i]), x->line, "column '%s': '%g' is not a positive number",
                   metric_column(r->metric), x->value);
    }
}

/* which labels a benchmark has at all: those are demanded in each of its rounds */
static bool *labels_of(const struct runs *r, const struct raw *v, size_t n)
{
    bool *has = xcalloc(size_mul(r->benchmark.n, r->label.n) + 1, sizeof *has);
    for (size_t i = 0; i < n; i++) if (v[i].phase == MAIN) has[v[i].benchmark * r->label.n + v[i].label] = true;
    return has;
}

static void add_round(struct runs *r, struct run_grid *t, const struct raw *v, size_t first, size_t end)
{
    size_t k = r->label.n;
    t->cell = xrealloc(t->cell, size_mul(t->rounds + 1, k), sizeof *t->cell);
    memset(t->cell + t->rounds * k, 0, k * sizeof *t->cell);
    for (size_t i = first; i < end; i++) t->cell[t->rounds * k + v[i].label] = i + 1;
    t->rounds++;
}

/* in phase aa a round holds the base twice: its second run is kept under label 1 of the aa table */
static void add_aa(struct runs *r, struct raw *v, size_t first, size_t end)
{
    struct run_grid *t = &r->aa[v[first].benchmark];
    if (end - first != 2)
        die_at(file_of(r, &v[first]), v[first].run.line, "round %ld of phase aa has %zu runs, not 2", v[first].round,
               end - first);
    t->cell = xrealloc(t->cell, (t->rounds + 1) * 2, sizeof *t->cell);
    /* which of the two is the copy is drawn, or their places would show */
    size_t order[2];
    order_round(1, 2, t->rounds, order);
    t->cell[t->rounds * 2 + order[0]] = first + 1;
    t->cell[t->rounds * 2 + order[1]] = first + 2;
    t->rounds++;
}

static void add_main(struct runs *r, const struct raw *v, size_t first, size_t end, const bool *has, bool skip,
                     bool last)
{
    const struct raw *x = &v[first];
    for (size_t i = first + 1; i < end; i++) {
        if (v[i].machine != x->machine)
            die_at(file_of(r, &v[i]), v[i].run.line, "round %ld was measured on two machines", x->round);
        if (v[i].label == v[i - 1].label) {
            str l = r->label.name[v[i].label];
            die_at(file_of(r, &v[i]), v[i].run.line, "label '%.*s' is twice in round %ld, first at line %zu", (int)l.n,
                   l.s, v[i].round, v[i - 1].run.line);
        }
    }
    for (size_t l = 0, i = first; l < r->label.n; l++) {
        while (i < end && v[i].label < l) i++;
        if (!has[x->benchmark * r->label.n + l] || (i < end && v[i].label == l)) continue;
        if (skip) {
            r->left_out++;
            return;
        }
        size_t line = x->run.line;
        for (size_t j = first; j < end; j++)
            if (v[j].run.line > line && v[j].run.file == x->run.file) line = v[j].run.line;
        str name = r->label.name[l];
        die_at(file_of(r, x), line, "round %ld has no run of label '%.*s'%s", x->round, (int)name.n, name.s,
               last ? "; it is the last round: was bench-run killed? Start it again, or use --incomplete=skip"
                    : ", see --incomplete");
    }
    add_round(r, &r->main[x->benchmark], v, first, end);
}

static void find_empty(struct runs *r)
{
    double *t = xmalloc(r->n + 1, sizeof *t);
    size_t m = 0;
    bool wall = strcmp(r->metric, "wall") == 0;
    for (const struct run *x = r->run; x < r->run + r->n; x++)
        if (x->empty && x->cpu > 0) t[m++] = wall ? x->wall : x->cpu;
    r->empty_seconds = median(t, m);
    r->empty_least = quantile(t, m, 0);
    r->empty_most = quantile(t, m, 1);
    free(t);
}

bool runs_use(struct runs *r, const char *metric)
{
    bool wall = strcmp(metric, "wall") == 0;
    for (size_t i = 0; i < r->n; i++)
        if (!r->run[i].error && !((wall ? r->run[i].wall : r->run[i].cpu) > 0)) return false;
    for (size_t i = 0; i < r->n; i++) r->run[i].value = wall ? r->run[i].wall : r->run[i].cpu;
    r->metric = wall ? "wall" : "cpu";
    find_empty(r);
    return true;
}

/* a table without wall times: CPU times, or else the first column of seconds */
static void use_what_is_there(const csv *t, struct runs_options *o)
{
    struct arena a = { 0 };
    if (csv_find(t, "cpu_seconds") >= 0) o->metric = "cpu";
    for (int i = 0; !o->metric && i < csv_ncol(t); i++) {
        str name = csv_name(t, i);
        if (name.n > 8 && memcmp(name.s + name.n - 8, "_seconds", 8) == 0) o->metric = arena_copy(&a, name.s, name.n);
    }
    if (o->metric && !quiet)
        warn("%s: no column 'wall_seconds': %s is compared (see --metric)", csv_file(t), metric_column(o->metric));
}

struct runs *runs_read(char **paths, const struct runs_options *given)
{
    struct runs_options options = *given, *o = &options;
    struct runs *r = xcalloc(1, sizeof *r);
    struct intern machines = { 0 };
    static csv *t;                                       /* reachable when a row is refused */
    t = csv_files(paths);
    /* what other tools measured often has wall times alone */
    if (!o->metric && csv_find(t, "cpu_seconds") < 0 && csv_find(t, "wall_seconds") >= 0) {
        o->metric = "wall";
        warn("%s: no CPU times: wall times are compared, which other work on the machine disturbs", csv_file(t));
    }
    if (!o->metric && csv_find(t, "wall_seconds") < 0) use_what_is_there(t, o);
    struct columns c = find_columns(t, o);
    struct raw *v = NULL;
    size_t n = 0, cap = 0;
    while (csv_next(t)) {
        v = grow(v, n + 1, &cap, sizeof *v);
        v[n++] = read_row(r, t, &c, &machines);
    }
    csv_close(t);
    say_machines(r, v, n, &machines);
    choose_metric(r, v, n, o->metric);
    if (n) qsort(v, n, sizeof *v, by_round);
    r->main = xcalloc(r->benchmark.n + 1, sizeof *r->main);
    r->aa = xcalloc(r->benchmark.n + 1, sizeof *r->aa);
    bool *has = labels_of(r, v, n);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && v[j].phase == v[i].phase && v[j].benchmark == v[i].benchmark && v[j].round == v[i].round;
             j++)
            continue;
        if (v[i].phase == AA) add_aa(r, v, i, j);
        else if (v[i].phase == MAIN)
            add_main(r, v, i, j, has, o->skip_incomplete,
                     j == n || v[j].phase != MAIN || v[j].benchmark != v[i].benchmark);
        else r->warmups += j - i;
    }
    r->run = xmalloc(n + 1, sizeof *r->run);
    r->status = xmalloc(n + 1, sizeof *r->status);
    for (size_t i = 0; i < n; i++) r->run[i] = v[i].run, r->status[i] = v[i].status;
    r->n = n;
    if (r->given.n == 1) r->base = r->given.name[0].s;
    find_empty(r);
    free(has);
    free(v);
    intern_free(&machines);
    return r;
}

void runs_free(struct runs *r)
{
    for (size_t b = 0; b < r->benchmark.n; b++) free(r->main[b].cell), free(r->aa[b].cell);
    free_all(r->main, r->aa, r->run, r->status);
    intern_free(&r->label);
    intern_free(&r->benchmark);
    intern_free(&r->file);
    intern_free(&r->word);
    intern_free(&r->given);
    free(r);
}

long runs_label(const struct runs *r, const char *label)
{
    return intern_find(&r->label, str_of(label));
}

size_t runs_base(const struct runs *r, const char *given)
{
    if (!r->label.n) die("no runs in the input");
    if (!given && r->given.n > 1)
        die("the runs were made against several bases, '%s' and '%s'; choose by --base", r->given.name[0].s,
            r->given.name[1].s);
    const char *name = given ? given : r->base ? r->base : r->label.name[0].s;
    if (!given && !r->base) warn("base: '%s', the first in the table, which does not say (--base chooses)", name);
    long base = runs_label(r, name);
    struct near near = { .want = str_of(name) };
    struct buf all = { 0 };
    for (size_t i = 0; base < 0 && i < r->label.n; i++) {
        near_offer(&near, r->label.name[i]);
        buf_format(&all, "%s%.*s", i ? ", " : "", (int)r->label.name[i].n, r->label.name[i].s);
    }
    if (base < 0 && near.best.n)
        die("no label '%s' in the input; did you mean '%.*s'? there are %s, see --base", name, (int)near.best.n,
            near.best.s, all.s);
    if (base < 0) die("no label '%s' in the input; there are %s, see --base", name, all.s ? all.s : "none");
    return (size_t)base;
}

const char *runs_status(const struct runs *r, const struct run *x)
{
    return r->word.name[r->status[x - r->run]].s;
}

static double log_ratio(double b, bool b_open, double a, bool a_open, int side)
{
    if (side > 0 && b_open) return INFINITY;
    if (side < 0 && a_open) return -INFINITY;
    return log(b / a);
}

struct pairs runs_pairs(const struct runs *r, const struct run_grid *t, size_t base, size_t label)
{
    size_t k = t >= r->aa && t < r->aa + r->benchmark.n ? 2 : r->label.n, m = t->rounds + 1;
    struct pairs p = { xmalloc(m, sizeof *p.d), xmalloc(m, sizeof *p.d), xmalloc(m, sizeof *p.d),
                       xmalloc(m, sizeof *p.round), 0, 0, 0, NULL };
    for (size_t i = 0; i < t->rounds; i++) {
        size_t ia = t->cell[i * k + base], ib = t->cell[i * k + label];
        if (!ia || !ib) continue;
        const struct run *a = &r->run[ia - 1], *b = &r->run[ib - 1];
        if (a->error || b->error) {
            if (!p.errors++) p.first_error = b->error ? b : a;
            continue;
        }
        double tb = b->value - r->subtracted, ta = a->value - r->subtracted;
        p.round[p.n] = a->round;
        p.d[p.n] = log_ratio(tb, false, ta, false, 0);
        p.lower[p.n] = log_ratio(tb, b->censored, ta, a->censored, -1);
        p.upper[p.n++] = log_ratio(tb, b->censored, ta, a->censored, 1);
        p.censored += a->censored || b->censored;
    }
    return p;
}

void pairs_free(struct pairs *p)
{
    free_all(p->d, p->lower, p->upper, p->round);
    *p = (struct pairs){ 0 };
}

size_t runs_values(const struct runs *r, const struct run_grid *t, size_t label, double **v, long **round)
{
    size_t n = 0;
    *v = xmalloc(t->rounds + 1, sizeof **v);
    if (round) *round = xmalloc(t->rounds + 1, sizeof **round);
    for (size_t i = 0; i < t->rounds; i++) {
        size_t at = t->cell[i * r->label.n + label];
        if (!at || r->run[at - 1].error) continue;
        if (round) (*round)[n] = r->run[at - 1].round;
        (*v)[n++] = r->run[at - 1].value;
    }
    return n;
}
