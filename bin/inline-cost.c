/* inline-cost - how well counted events tell the CPU time of builds
 *
 * Usage: inline-cost --runs=FILE [--base=LABEL] [--weights=FILE] [FILE]...
 *
 * FILEs are tables of bench-count with a column run (PROGRAM.K) in front:
 * instructions, and what --metric=events counts.  --runs is a table of
 * bench-run, benchmark being PROGRAM.K; its paired rounds give each build's
 * CPU time over the base's.  A build is a label of a program, over those of
 * its runs that both tables have.
 *
 * A cost is fitted to the time: a weight for each event, none negative.  Each
 * program is judged by weights that were fitted to the others.  Columns out:
 * program, builds (without the base), rank_instructions, rank_cost (rank
 * correlation with the time), rank_halves (of the time of the even rounds
 * with that of the odd ones: what noise leaves to be told), error_instructions,
 * error_cost, error_halves (root mean square of the difference of logarithms);
 * then their means, as program `(mean)`.
 * --weights gets the weights fitted to all: event, weight (in instructions'
 * time, where instructions have a weight).  Memory: all rows.
 *
 * Examples:
 *   $ inline-cost --base=O2 --runs=runs.csv bzip2/events.csv gzip/events.csv
 */
#include "base/filter.h"
#include "base/str.h"
#include "inline/cost.h"
#include "measure/runs.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *runs_file, *base = "O2", *weights, *out;
static double penalty = 0.1;
static const struct opt options[] = {
    { 0, "runs", STR, &runs_file, "FILE", "paired rounds", 0, 0 },
    { 'b', "base", STR, &base, "LABEL", "what is 1", 0, 0 },
    { 0, "weights", STR, &weights, "FILE", "write the weights there", 0, 0 },
    { 0, "penalty", NUM, &penalty, "X", "on weights, relative to the events' squares", 0, 1e6 },
    { 'o', "output", STR, &out, "FILE", "write here instead of standard output", 0, 0 },
    { 0 }
};
static const char *const event[] = { "instructions", "data_reads", "data_writes", "fetch_misses", "read_misses",
                                     "write_misses", "last_misses", "branches", "indirect_branches",
                                     "mispredictions" };
enum { EVENTS = sizeof event / sizeof *event };

struct count { uint32_t run, label; double value[EVENTS]; };
struct build { uint32_t program, label; double x[EVENTS], y, half[2], n; };

static struct count *count;
static struct build *build;
static size_t n_count, cap_count, n_build, cap_build;
static struct intern run_names, programs;

static struct count *count_of(uint32_t run, uint32_t label)
{
    for (size_t i = n_count; i > 0; i--)
        if (count[i - 1].run == run && count[i - 1].label == label) return &count[i - 1];
    return NULL;
}

static void read_counts(char **files, struct intern *label)
{
    csv *t = csv_files(files);
    int run = csv_need(t, "run"), name = csv_need(t, "label"), metric = csv_need(t, "metric"),
        value = csv_need(t, "value");
    while (csv_next(t)) {
        size_t e = 0;
        while (e < EVENTS && !str_is(csv_str(t, metric), event[e])) e++;
        if (e == EVENTS || !csv_has(t, value)) continue;
        uint32_t r = intern(&run_names, csv_str(t, run)), l = intern(label, csv_str(t, name));
        struct count *c = count_of(r, l);
        if (!c) {
            count = grow(count, n_count + 1, &cap_count, sizeof *count);
            c = &count[n_count++];
            *c = (struct count){ .run = r, .label = l };
            for (size_t k = 0; k < EVENTS; k++) c->value[k] = NAN;
        }
        c->value[e] = csv_num(t, value);
    }
    csv_close(t);
}

static void add(str program, uint32_t label, const struct count *c, const struct count *b, const struct pairs *p)
{
    uint32_t k = intern(&programs, program);
    size_t i = 0;
    while (i < n_build && (build[i].program != k || build[i].label != label)) i++;
    if (i == n_build) {
        build = grow(build, n_build + 1, &cap_build, sizeof *build);
        build[n_build++] = (struct build){ .program = k, .label = label };
    }
    struct build *to = &build[i];
    double sum[2] = { 0 }, rounds[2] = { 0 };
    for (size_t j = 0; j < p->n; j++) sum[j % 2] += p->d[j], rounds[j % 2]++;
    for (size_t e = 0; e < EVENTS; e++) to->x[e] += (c->value[e] - b->value[e]) / b->value[0];
    to->y += (sum[0] + sum[1]) / (double)p->n;
    for (int h = 0; h < 2; h++) to->half[h] += rounds[h] > 0 ? sum[h] / rounds[h] : NAN;
    to->n++;
}

static void read_runs(const struct intern *label)
{
    char *files[] = { (char *)(uintptr_t)runs_file, NULL };
    struct runs *r = runs_read(files, &(struct runs_options){ .metric = "cpu" });
    long first = runs_label(r, base), ours = intern_find(label, str_of(base));
    if (first < 0 || ours < 0) die("no label '%s' in both tables", base);
    for (size_t k = 0; k < r->benchmark.n; k++) {
        str name = r->benchmark.name[k];
        long run = intern_find(&run_names, name);
        const char *dot = memrchr(name.s, '.', name.n);
        const struct count *b = run < 0 ? NULL : count_of((uint32_t)run, (uint32_t)ours);
        for (size_t l = 0; b && l < r->label.n; l++) {
            long there = intern_find(label, r->label.name[l]);
            const struct count *c = there < 0 || there == ours ? NULL : count_of((uint32_t)run, (uint32_t)there);
            bool known = c != NULL;
            for (size_t e = 0; e < EVENTS && known; e++) known = !isnan(c->value[e]) && !isnan(b->value[e]);
            struct pairs p = known ? runs_pairs(r, &r->main[k], (size_t)first, l) : (struct pairs){ 0 };
            if (known && p.n && !p.errors && b->value[0] > 0)
                add((str){ name.s, dot ? (size_t)(dot - name.s) : name.n }, (uint32_t)there, c, b, &p);
            pairs_free(&p);
        }
    }
    runs_free(r);
    for (size_t i = 0; i < n_build; i++) {
        struct build *b = &build[i];
        for (size_t e = 0; e < EVENTS; e++) b->x[e] /= b->n;
        b->y /= b->n, b->half[0] /= b->n, b->half[1] /= b->n;
    }
}

/* weights from all programs but one; -1: from all */
static void fit(long without, double weight[EVENTS])
{
    double *x = xmalloc((n_build + 1) * EVENTS, sizeof *x), *y = xmalloc(n_build + 1, sizeof *y);
    size_t n = 0;
    for (size_t i = 0; i < n_build; i++) {
        if (build[i].program == without) continue;
        memcpy(x + n * EVENTS, build[i].x, sizeof build[i].x);
        y[n++] = build[i].y;
    }
    cost_fit(x, y, n, EVENTS, penalty, weight);
    free(x);
    free(y);
}

static double error(const double *a, const double *b, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) s += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(s / (double)n);
}

static void put(csvw *w, str program, size_t n, const double v[6])
{
    csvw_str(w, program);
    csvw_int(w, (int64_t)n);
    for (int i = 0; i < 6; i++) csvw_known(w, v[i]);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    static struct intern label;
    if (!runs_file) usage("no paired rounds, see --runs");
    read_counts(argv + i, &label);
    read_runs(&label);
    if (programs.n < 2) die("builds of %zu programs in both tables: two at least", programs.n);
    double weight[EVENTS], mean[6] = { 0 }, *v = xmalloc(5 * (n_build + 1), sizeof *v);
    int known[6] = { 0 };
    csvw *w = csvw_open(out);
    csvw_names(w, "program,builds,rank_instructions,rank_cost,rank_halves,error_instructions,error_cost,error_halves");
    csvw_end(w);
    for (size_t k = 0; k < programs.n; k++) {
        double *time = v, *first = v + n_build, *second = v + 2 * n_build, *plain = v + 3 * n_build,
               *cost = v + 4 * n_build;
        size_t n = 0;
        fit((long)k, weight);
        for (size_t j = 0; j < n_build; j++) {
            const struct build *b = &build[j];
            if (b->program != k) continue;
            time[n] = b->y, first[n] = b->half[0], second[n] = b->half[1], plain[n] = log1p(b->x[0]), cost[n] = 0;
            for (size_t e = 0; e < EVENTS; e++) cost[n] += weight[e] * b->x[e];
            n++;
        }
        double all[] = { cost_rank(plain, time, n), cost_rank(cost, time, n), cost_rank(first, second, n),
                         error(plain, time, n),     error(cost, time, n),     error(first, second, n) };
        put(w, programs.name[k], n, all);
        for (int j = 0; j < 6; j++) if (!isnan(all[j])) mean[j] += all[j], known[j]++;
    }
    for (int j = 0; j < 6; j++) mean[j] = known[j] ? mean[j] / known[j] : NAN;
    put(w, str_of("(mean)"), n_build, mean);
    fit(-1, weight);
    csvw *to = weights ? csvw_open(weights) : NULL;
    if (to) csvw_names(to, "event,weight"), csvw_end(to);
    for (size_t e = 0; to && e < EVENTS; e++) {
        csvw_cstr(to, event[e]);
        csvw_num(to, weight[e] / (weight[0] > 0 ? weight[0] : 1));
        csvw_end(to);
    }
    if (to) csvw_close(to);
    return csvw_close(w);
}
