/* compare.c - see compare.h */
#include "measure/compare.h"
#include "base/checked.h"
#include "base/filter.h"
#include "base/mem.h"
#include "base/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* what the base differs from itself by, as a log-ratio; 0 without a phase aa */
static double noise_floor(const struct runs *r, size_t benchmark, const struct compare_options *o)
{
    if (!r->aa[benchmark].rounds) return 0;
    struct pairs a = runs_pairs(r, &r->aa[benchmark], 0, 1);
    struct interval i = hodges_lehmann(a.d, a.n, o->confidence, 1);
    size_t flagged = 0, parts = a.n / 10;
    for (size_t k = 0; k < parts; k++) flagged += signed_rank_p(a.d + 10 * k, 10, 1) < 1 - o->confidence;
    double floor_log = fmax(fabs(i.lower), fabs(i.upper));
    if (!quiet)
        warn("noise floor of '%s': ratio %.4f from %zu rounds of it against itself; %zu of %zu parts of 10 rounds "
             "differ at %g",
             r->label.name[o->base].s, exp(floor_log), a.n, flagged, parts, 1 - o->confidence);
    pairs_free(&a);
    return floor_log;
}

static struct paired with_empty(struct runs *r, size_t benchmark, size_t label, double empty,
                                const struct compare_options *o)
{
    r->subtracted = empty;
    struct pairs p = runs_pairs(r, &r->main[benchmark], o->base, label);
    struct paired q = paired_compare(p.d, p.lower, p.upper, p.errors ? 0 : p.n, o->confidence, r->sequential);
    pairs_free(&p);
    r->subtracted = 0;
    return q;
}

static void refuse_large(const struct runs *r)
{
    if (isnan(r->empty_seconds)) die("--subtract: no runs of an empty command (phase calibrate) in the input");
    for (size_t b = 0; b < r->benchmark.n; b++)
        for (size_t i = 0; i < r->main[b].rounds * r->label.n; i++) {
            if (!r->main[b].cell[i]) continue;
            const struct run *x = &r->run[r->main[b].cell[i] - 1];
            if (!x->error && r->empty_seconds > 0.05 * x->value)
                die_at(r->file.name[x->file].s, x->line,
                       "an empty command takes %.1f %% of this run: too much to subtract, 5 %% is the most",
                       100 * r->empty_seconds / x->value);
        }
}

static struct comparison compare(struct runs *r, size_t benchmark, size_t label, const struct compare_options *o)
{
    struct pairs p = runs_pairs(r, &r->main[benchmark], o->base, label);
    struct comparison w = {
        .benchmark = benchmark, .label = label, .censored = p.censored, .verdict = p.errors ? INVALID : UNCLEAR
    };
    if (p.errors) {
        const char *file = r->file.name[p.first_error->file].s;
        warn_at(file, p.first_error->line, "a run of '%s' or of the base went wrong (%s), %zu rounds in all: no ratio",
                r->label.name[label].s, runs_status(r, p.first_error), p.errors);
    }
    w.p = with_empty(r, benchmark, label, o->subtract ? r->empty_seconds : 0, o);
    if (w.p.change_at < p.n) w.change_round = p.round[w.p.change_at];
    pairs_free(&p);
    double ends[] = { r->empty_least, r->empty_most };
    for (int k = 0; o->subtract && k < 2; k++) {
        struct paired q = with_empty(r, benchmark, label, ends[k], o);
        w.p.log_ratio.lower = fmin(w.p.log_ratio.lower, q.log_ratio.lower);
        w.p.log_ratio.upper = fmax(w.p.log_ratio.upper, q.log_ratio.upper);
        w.p.p_value = fmax(w.p.p_value, q.p_value);
    }
    return w;
}

/* said in any case: a row without an interval is not a finding */
static void say_few(const struct runs *r, const struct comparison *row, size_t n, double confidence)
{
    const struct comparison *least = NULL;
    size_t few = 0, need = 0;                            /* rounds that give an interval where all say the same */
    double same[100];
    for (size_t k = 0; k < 100; k++) same[k] = 1;
    while (!isfinite(paired_compare(same, NULL, NULL, ++need, confidence, r->sequential).log_ratio.lower)) {}
    for (size_t k = 0; k < n; k++) {
        if (row[k].verdict == INVALID || row[k].p.n >= need) continue;
        few++;
        if (!least || row[k].p.n < least->p.n) least = &row[k];
    }
    if (!few) return;
    const char *name = r->label.name[least->label].s, *program = r->benchmark.name[least->benchmark].s;
    warn("'%s'%s%s: %zu rounds are too few for an interval of confidence %g: %zu at least%s", name,
         *program ? " in " : "", program, least->p.n, confidence, need, few > 1 ? "; so it is with others" : "");
}

struct comparison *compare_all(struct runs *r, const struct compare_options *o, size_t *n)
{
    struct comparison *row = xcalloc(size_mul(r->benchmark.n, r->label.n) + 1, sizeof *row);
    double *p = xmalloc(size_mul(r->benchmark.n, r->label.n) + 1, sizeof *p);
    if (o->subtract) refuse_large(r);
    for (size_t b = *n = 0; b < r->benchmark.n; b++) {
        double floor_log = noise_floor(r, b, o);
        for (size_t l = 0; l < r->label.n; l++) {
            if (l == o->base || !r->main[b].rounds) continue;
            row[*n] = compare(r, b, l, o);
            row[*n].floor = floor_log;
            p[*n] = row[*n].p.p_value;
            if (row[*n].p.n || row[*n].verdict == INVALID) (*n)++;
        }
    }
    if (o->adjust == ADJUST_HOLM) adjust_holm(p, *n);
    if (o->adjust == ADJUST_BH) adjust_bh(p, *n);
    if (*n > 1 && o->adjust != ADJUST_NONE && !quiet)
        warn("p-values adjusted for %zu comparisons (%s)", *n, o->adjust == ADJUST_BH ? "bh" : "holm");
    say_few(r, row, *n, o->confidence);
    for (size_t i = 0; i < *n; i++) {
        struct comparison *w = &row[i];
        w->adjusted = p[i];
        if (w->verdict == INVALID) continue;
        w->verdict = verdict_of(w->p.log_ratio, p[i], o->confidence, o->margin);
        if (w->verdict == FASTER && !o->force && -w->p.log_ratio.point < w->floor) {
            w->verdict = UNCLEAR;
            warn("'%s' is faster by less than the noise floor: unclear (see --force)", r->label.name[w->label].s);
        }
    }
    free(p);
    return row;
}

struct comparison compare_mean(const struct runs *r, const struct compare_options *o, const struct comparison *row,
                               size_t n, size_t label, uint64_t seed, struct geomean *g)
{
    enum { LEAST = 5 };                                  /* programs, for a verdict on their mean */
    struct comparison x = { .label = label, .p = { .inflate = 1, .change_p = NAN }, .adjusted = NAN,
                            .verdict = NO_VERDICT };
    double *d = xmalloc(n + 1, sizeof *d);
    for (size_t i = 0; i < n; i++)
        if (row[i].label == label && row[i].verdict != INVALID && isfinite(row[i].p.log_ratio.point))
            d[x.p.n++] = row[i].p.log_ratio.point;
    if (x.p.n >= 2) {
        *g = geometric_mean(d, x.p.n, o->confidence, seed, r->label.name[label].s);
        x.p.log_ratio = (struct interval){ log(g->ratio.point), log(g->ratio.lower), log(g->ratio.upper) };
        if (x.p.n >= LEAST) x.verdict = verdict_of(x.p.log_ratio, 0, o->confidence, o->margin);
    }
    free(d);
    return x;
}

int compare_status(const struct comparison *row, size_t n, double margin)
{
    enum verdict worst = SAME;
    for (size_t k = 0; k < n; k++) {
        enum verdict v = row[k].verdict;
        if (v == SLOWER && row[k].p.log_ratio.upper <= log1p(margin)) v = SAME;   /* tolerated */
        if (v == INVALID || (v == SLOWER && worst != INVALID) || (v == UNCLEAR && worst == SAME)) worst = v;
    }
    return worst == INVALID ? 3 : worst == SLOWER ? 1 : worst == UNCLEAR ? 2 : 0;
}

static void note(const struct runs *r, const struct comparison *w, const char *other)
{
    const char *name = r->label.name[w->label].s, *program = r->benchmark.name[w->benchmark].s;
    const char *in = *program ? " in " : "";
    if (w->verdict == INVALID) return;
    if (w->p.inflate > 1)
        warn("'%s'%s%s: successive rounds depend on each other (lag 1: %.2f), %zu count as %.0f", name, in, program,
             w->p.lag1, w->p.n, (double)w->p.n / w->p.inflate);
    if (w->p.drift)
        warn("'%s'%s%s: the ratio itself drifts, from about round %ld (p %.2g)", name, in, program,
             w->change_round, w->p.change_p);
    if (w->censored)
        warn("'%s'%s%s: %zu rounds hold a timeout, taken as a lower bound", name, in, program, w->censored);
    if (!other) return;
    struct interval a = w->p.log_ratio, b = w->other.log_ratio;
    bool apart = a.lower > b.upper || b.lower > a.upper;
    warn("'%s'%s%s: by %s the ratio is %.4f, %.4f .. %.4f%s", name, in, program, other, exp(b.point), exp(b.lower),
         exp(b.upper), apart ? ": they disagree" : "");
}

void compare_notes(struct runs *r, const struct compare_options *o, struct comparison *row, size_t n)
{
    const char *other = strcmp(r->metric, "cpu") == 0 ? "wall" : "cpu";
    bool is_time = strcmp(r->metric, "cpu") == 0 || strcmp(r->metric, "wall") == 0;
    double *v;
    size_t m = runs_values(r, &r->main[0], o->base, &v, NULL);
    double share = r->empty_seconds / median(v, m);
    free(v);
    if (is_time && !o->subtract && share > 0.05)
        warn(
            "starting a process takes %.1f %% of a run of '%s': ratios of the work itself are that much farther from 1",
            100 * share, r->label.name[o->base].s);
    if (!is_time || !runs_use(r, other)) other = NULL;
    for (size_t k = 0; k < n; k++) {
        if (other && row[k].verdict != INVALID)
            row[k].other = with_empty(r, row[k].benchmark, row[k].label, o->subtract ? r->empty_seconds : 0, o);
        note(r, &row[k], other);
    }
}
