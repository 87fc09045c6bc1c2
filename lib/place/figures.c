/* figures.c - see figures.h */
#include "place/figures.h"
#include "base/message.h"
#include "base/num.h"
#include "measure/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* what figure 10 is about: bytes; nan where a row does not say */
static const char *const detail[] = { "limit_bytes", "io_bytes", "peak_bytes", "input_tensors_bytes",
    "fast_input_tensors_bytes", "output_tensors_bytes", "fast_output_tensors_bytes", "moved_to_slow_bytes",
    "moved_to_fast_bytes" };
enum { LIMIT, IO, PEAK, INPUTS, FAST_INPUTS, OUTPUTS, FAST_OUTPUTS, TO_SLOW, TO_FAST, DETAILS };

struct row {
    const char *network, *formulation, *ratio, *kind;
    int64_t batch;
    double seconds, least, most, predicted, bound, oracle, managed, given, reached, detail[DETAILS];
    double *round;                                       /* the fastest step of each */
    size_t rounds;
};
struct results { struct row *row; size_t n, cap; double price; struct arena text; };

/* "(1.5 1.25)": how many, all of them, and their extremes */
static size_t seconds_of(csv *t, int col, double **v, double *least, double *most)
{
    str s = csv_str(t, col);
    size_t n = 0, cap = 0;
    *v = NULL, *least = INFINITY, *most = -INFINITY;
    for (size_t i = 0; i < s.n;) {
        size_t end = i;
        while (end < s.n && s.s[end] != ' ' && s.s[end] != '(' && s.s[end] != ')') end++;
        if (end > i) {
            *v = grow(*v, n + 1, &cap, sizeof **v);
            if (!num_parse(s.s + i, end - i, &(*v)[n]) || !((*v)[n] > 0)) csv_die(t, col, "a list of seconds");
            *least = fmin(*least, (*v)[n]);
            *most = fmax(*most, (*v)[n++]);
        }
        i = end + 1;
    }
    if (!n) csv_die(t, col, "a list of seconds");
    return n;
}

static bool same_case(const struct row *a, const struct row *b)
{
    return strcmp(a->network, b->network) == 0 && a->batch == b->batch;
}

struct results *results_read(const char *path, int figure, double price)
{
    struct results *all = xcalloc(1, sizeof *all);
    all->price = price;
    csv *t = csv_open(path);
    int network = csv_need(t, "network"), batch = csv_need(t, "batch"), form = csv_need(t, "formulation");
    int ratio = csv_need(t, "ratio"), kind = csv_need(t, "kind");
    bool may_lack = figure == 8;                         /* rows that are only planned */
    int seconds = may_lack ? csv_find(t, "median_seconds") : csv_need(t, "median_seconds");
    int list = may_lack ? csv_find(t, "step_seconds") : csv_need(t, "step_seconds");
    int given = may_lack ? csv_find(t, "given_bytes") : -1;
    int rounds = csv_find(t, "round_seconds"), reached = csv_find(t, "reached_ratio");
    int bound = csv_find(t, "bound_seconds"), predicted = csv_need(t, "predicted_seconds"), column[DETAILS];
    int oracle = figure == 12 ? csv_need(t, "oracle_seconds") : -1;
    int managed = figure == 12 ? csv_need(t, "gpu_managed_seconds") : -1;
    for (int i = 0; i < DETAILS; i++) column[i] = figure == 10 ? csv_need(t, detail[i]) : -1;
    while (csv_next(t)) {
        struct row r = { .network = csv_cstr(t, network, &all->text),
                         .formulation = csv_cstr(t, form, &all->text),
                         .ratio = csv_cstr(t, ratio, &all->text),
                         .kind = csv_cstr(t, kind, &all->text),
                         .batch = csv_int(t, batch),
                         .seconds = csv_num_or(t, seconds, NAN),
                         .predicted = csv_num_or(t, predicted, NAN),
                         .oracle = csv_num_or(t, oracle, NAN),
                         .managed = csv_num_or(t, managed, NAN),
                         .given = csv_num_or(t, given, NAN),
                         .reached = reached < 0 ? NAN : csv_num_or(t, reached, NAN),
                         .bound = bound < 0 ? NAN : csv_num_or(t, bound, NAN) };
        r.least = r.most = NAN;
        double *v = NULL, least, most;
        if (list >= 0 && (!may_lack || csv_has(t, list))) seconds_of(t, list, &v, &r.least, &r.most);
        free(v);
        if (rounds >= 0 && csv_has(t, rounds)) r.rounds = seconds_of(t, rounds, &r.round, &least, &most);
        if (figure != 8 && figure != 12) r.seconds = r.least;   /* as in the study: others only slow a step down */
        for (int i = 0; i < DETAILS; i++) r.detail[i] = csv_num_or(t, column[i], NAN);
        size_t i = 0;
        while (i < all->n && !(same_case(&all->row[i], &r) && !strcmp(all->row[i].formulation, r.formulation) &&
                               !strcmp(all->row[i].ratio, r.ratio)))
            i++;
        if (i == all->n) all->row = grow(all->row, ++all->n, &all->cap, sizeof *all->row);
        all->row[i] = r;
    }
    csv_close(t);
    return all;
}

static const struct row *peer(const struct results *all, const struct row *r, const char *formulation, const char *what)
{
    for (size_t i = 0; i < all->n; i++)
        if (same_case(&all->row[i], r) && !strcmp(all->row[i].formulation, formulation)) return &all->row[i];
    die("no run of %s, batch %lld, with %s", r->network, (long long)r->batch, what);
}

static const struct row *slow(const struct results *all, const struct row *r)
{
    return peer(all, r, "slow", "everything in slow memory");
}

static const struct row *fast(const struct results *all, const struct row *r)
{
    return peer(all, r, "fast", "everything in fast memory");
}

static void head(csvw *w, const struct row *r, bool formulation)
{
    csvw_cstr(w, r->network);
    csvw_int(w, r->batch);
    if (formulation) csvw_cstr(w, r->formulation);
    csvw_cstr(w, r->ratio);
}

/* Seconds of one over those of the other, round by round: Hodges and Lehmann's estimate of the paired log ratios and
 * its exact interval, nan where the rounds are too few for one.  Rows without rounds have the plain ratio. */
static struct interval over(const struct row *a, const struct row *b)
{
    static const double CONFIDENCE = 0.95;
    size_t n = a->rounds < b->rounds ? a->rounds : b->rounds;
    if (!n) return (struct interval){ a->seconds / b->seconds, NAN, NAN };
    double *d = xmalloc(n, sizeof *d);
    for (size_t i = 0; i < n; i++) d[i] = log(a->round[i] / b->round[i]);
    struct interval i = hodges_lehmann(d, n, CONFIDENCE, 1);
    free(d);
    bool enough = isfinite(i.lower);
    return (struct interval){ exp(i.point), enough ? exp(i.lower) : NAN, enough ? exp(i.upper) : NAN };
}

static void ratio(csvw *w, struct interval i)
{
    csvw_known(w, i.point);
    csvw_known(w, i.lower);
    csvw_known(w, i.upper);
}

/* slow to fast memory: "R:F" */
static double asked(const struct row *r)
{
    const char *colon = strchr(r->ratio, ':');
    double s, f;
    if (!colon || !num_parse(r->ratio, (size_t)(colon - r->ratio), &s) || !num_parse(colon + 1, strlen(colon + 1), &f))
        die("ratio '%s' is not of the form R:1", r->ratio);
    return s / f;
}

/* the ratio of the pools, and whether it is another than the one that was asked for */
static void reached(csvw *w, const struct row *r)
{
    static const double NEAR = 0.05;
    bool end = !strcmp(r->formulation, "slow") || !strcmp(r->formulation, "fast");
    bool off = !end && fabs(r->reached / asked(r) - 1) > NEAR;
    csvw_known(w, end ? NAN : r->reached);
    csvw_int(w, off);
    if (off)
        warn("%s, batch %lld, %s: no plan found at %s, the pools have %.3g:1", r->network, (long long)r->batch,
             r->formulation, r->ratio, r->reached);
}

static void tail(csvw *w, const struct row *r)
{
    csvw_cstr(w, r->kind);
    csvw_end(w);
}

static void speedup(csvw *w, const struct results *all, const struct row *r)
{
    head(w, r, true);
    csvw_num(w, r->seconds);
    ratio(w, over(slow(all, r), r));
    const struct row *end = fast(all, r);
    struct interval kept = over(end, r);
    ratio(w, (struct interval){ 1 - kept.point, 1 - kept.upper, 1 - kept.lower });
    bool bounded = strcmp(r->formulation, "numa") && r->bound > 0 && end->predicted > 0;
    csvw_known(w, bounded ? fmax(0, 1 - end->predicted / r->bound) : NAN);
    csvw_int(w, (int64_t)r->rounds);
    reached(w, r);
    tail(w, r);
}

static bool is_control(const struct row *r)
{
    return !strcmp(r->formulation, "cache") || !strcmp(r->formulation, "paged");
}

/* measured beside the system's paging, which may have died of it; or planned beside a hardware cache */
static void against_control(csvw *w, const struct results *all, const struct row *r)
{
    if (is_control(r)) return;
    bool measured = !isnan(r->seconds);
    const struct row *c = NULL;
    for (size_t i = 0; i < all->n; i++) {
        const struct row *o = &all->row[i];
        if (same_case(o, r) && !strcmp(o->formulation, measured ? "paged" : "cache")) c = o;
    }
    if (!c && !measured) die("no run of %s, batch %lld, with fast memory as a cache", r->network, (long long)r->batch);
    double mine = measured ? r->seconds : r->predicted, other = !c ? NAN : measured ? c->seconds : c->predicted;
    head(w, r, true);
    csvw_num(w, mine);
    csvw_cstr(w, measured ? "paged" : "cache");
    csvw_known(w, other);
    ratio(w, c && measured ? over(c, r) : (struct interval){ other / mine, NAN, NAN });
    csvw_known(w, r->given);
    tail(w, r);
}

static void cost(csvw *w, const struct results *all, const struct row *r)
{
    bool moves = !strcmp(r->formulation, "sync") || !strcmp(r->formulation, "async");
    if ((!moves && strcmp(r->formulation, "slow")) || !strchr(r->ratio, ':')) return;
    double to = asked(r);
    head(w, r, true);
    ratio(w, over(fast(all, r), r));
    csvw_num(w, isfinite(to) ? (to / all->price + 1) / (to + 1) : 1 / all->price);
    csvw_int(w, (int64_t)r->rounds);
    reached(w, r);
    tail(w, r);
}

static void study(csvw *w, const struct results *all, const struct row *r)
{
    const struct row *end = fast(all, r);
    bool all_fast = r == end, all_slow = !strcmp(r->formulation, "slow");
    if (!strcmp(r->formulation, "numa")) return;
    head(w, r, true);
    csvw_num(w, r->detail[IO] + (all_slow ? 0 : all_fast ? r->detail[PEAK] : r->detail[LIMIT]));
    csvw_num(w, r->detail[IO] + r->detail[PEAK]);
    ratio(w, over(r, end));
    csvw_num(w, r->detail[FAST_INPUTS] / r->detail[INPUTS]);
    csvw_num(w, r->detail[FAST_OUTPUTS] / r->detail[OUTPUTS]);
    csvw_num(w, r->detail[TO_SLOW]);
    csvw_num(w, r->detail[TO_FAST]);
    csvw_int(w, (int64_t)r->rounds);
    reached(w, r);
    tail(w, r);
}

static const double BEYOND = 1.0 / 3;                    /* a prediction that far off is named */

static void error(csvw *w, const struct results *all, const struct row *r)
{
    (void)all;
    if (!strcmp(r->formulation, "numa")) return;         /* first touch predicts nothing */
    head(w, r, true);
    csvw_num(w, r->predicted);
    csvw_num(w, r->seconds);
    double off = (r->predicted - r->seconds) / r->seconds;
    csvw_num(w, off);
    csvw_int(w, fabs(off) > BEYOND);
    if (fabs(off) > BEYOND)
        warn("%s, batch %lld, %s, %s: predicted %.3g s, measured %.3g s: off by more than a third", r->network,
             (long long)r->batch, r->formulation, r->ratio, r->predicted, r->seconds);
    tail(w, r);
}

/* the least of a case over its rows, of managed memory over those of its ratio; dies when none has one */
static double least_of(const struct results *all, const struct row *r, bool managed)
{
    double least = INFINITY;
    for (size_t i = 0; i < all->n; i++)
        if (same_case(&all->row[i], r) && !(managed && strcmp(all->row[i].ratio, r->ratio)))
            least = fmin(least, managed ? all->row[i].managed : all->row[i].oracle);
    if (!isfinite(least))
        die("no run of %s, batch %lld, with %s", r->network, (long long)r->batch,
            managed ? "managed memory (place-gpu --managed)" : "a profile, for the oracle's time");
    return least;
}

static void against_managed(csvw *w, const struct results *all, const struct row *r)
{
    if (strcmp(r->formulation, "sync") && strcmp(r->formulation, "async")) return;
    double managed = least_of(all, r, true), oracle = least_of(all, r, false);
    head(w, r, true);
    csvw_num(w, r->seconds);
    csvw_num(w, managed);
    csvw_num(w, oracle);
    csvw_num(w, managed / r->least);
    csvw_num(w, managed / r->most);
    csvw_num(w, managed / oracle);
    tail(w, r);
}

typedef void row_writer(csvw *, const struct results *, const struct row *);
static const struct { int number; const char *columns; row_writer *row; } figures[] = {
    { 7, "network,batch,formulation,ratio,step_seconds,speedup_over_slow_ratio,lower_ratio,upper_ratio,"
      "loss_ratio,lower_loss_ratio,upper_loss_ratio,least_loss_ratio,rounds,reached_ratio,ratio_off,kind",
      speedup },
    { 8, "network,batch,formulation,ratio,step_seconds,control,control_seconds,speedup_over_control_ratio,lower_ratio,"
         "upper_ratio,given_bytes,kind", against_control },
    { 9, "network,batch,formulation,ratio,performance_ratio,lower_ratio,upper_ratio,cost_ratio,rounds,reached_ratio,"
         "ratio_off,kind", cost },
    { 10, "network,batch,formulation,ratio,fast_memory_bytes,default_bytes,slowdown_ratio,lower_ratio,upper_ratio,"
          "fast_input_ratio,fast_output_ratio,moved_to_slow_bytes,moved_to_fast_bytes,rounds,"
          "reached_ratio,ratio_off,kind", study },
    { 11, "network,batch,formulation,ratio,predicted_seconds,step_seconds,error_ratio,beyond_third,kind", error },
    { 12, "network,batch,formulation,ratio,step_seconds,managed_seconds,oracle_seconds,speedup_over_managed_ratio,"
          "lower_ratio,oracle_ratio,kind", against_managed },
};

void figure_write(csvw *w, const struct results *all, int figure)
{
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
        if (figures[f].number != figure) continue;
        csvw_names(w, figures[f].columns);
        csvw_end(w);
        for (size_t i = 0; i < all->n; i++) figures[f].row(w, all, &all->row[i]);
    }
}
