#include "loop/search/traces.h"
#include "base/checked.h"
#include "base/message.h"
#include "measure/stats.h"
#include <math.h>
#include <stdlib.h>

static size_t cell(const struct traces *t, const struct trace_path *p)
{
    return (size_t)p->kind * t->problems.n + p->problem;
}

double trace_base(const struct traces *t, const struct trace_path *p) { return t->base[cell(t, p)]; }
double trace_best(const struct traces *t, const struct trace_path *p) { return t->best[cell(t, p)]; }

static str trace_kind(const struct traces *t, uint32_t algo)
{
    for (size_t i = 0; i < t->npath; i++)
        if (t->path[i].algo == algo) return t->kinds.name[t->path[i].kind];
    return (str){ 0 };
}

void traces_read(struct traces *t, csv *c)
{
    int problem = csv_need(c, "problem"), algo = csv_need(c, "algo"), step = csv_need(c, "step"),
        gflops = csv_need(c, "gflops"), seconds = csv_find(c, "seconds"), kind = csv_find(c, "kind");
    size_t paths = 0, steps = 0;
    uint32_t *kind_of = NULL;
    size_t room = 0;
    while (csv_next(c)) {
        uint32_t p = intern(&t->problems, csv_str(c, problem)), a = intern(&t->algos, csv_str(c, algo));
        uint32_t k = intern(&t->kinds, kind < 0 ? (str){ 0 } : csv_str(c, kind));
        int64_t at = csv_int(c, step);
        if (at == 0) {
            t->path = grow(t->path, t->npath + 1, &paths, sizeof *t->path);
            t->path[t->npath++] =
                (struct trace_path){ p, a, k, t->nstep, 0, csv_num_or(c, gflops, NAN), NAN, NAN, 0 };
        }
        struct trace_path *q = t->npath ? &t->path[t->npath - 1] : NULL;
        if (!q || q->problem != p || q->algo != a || at != (int64_t)q->n)
            die_at(csv_file(c), csv_line(c), q && q->problem == p && q->algo == a
                   ? "step %lld of a problem is not the next one" : "the rows of a problem do not begin with step 0",
                   (long long)at);
        size_t known = room;
        kind_of = grow(kind_of, t->algos.n, &room, sizeof *kind_of);
        for (; known < room; known++) kind_of[known] = UINT32_MAX;
        if (kind_of[a] == UINT32_MAX) kind_of[a] = k;
        if (kind_of[a] != k) csv_die(c, kind, "the kind of the other rows of its algo");
        t->step = grow(t->step, t->nstep + 1, &steps, sizeof *t->step);
        struct path_step s = { csv_num_or(c, gflops, NAN), csv_num_or(c, seconds, NAN) };
        t->step[t->nstep++] = s;
        q->n++;
        if (isnan(s.gflops)) continue;
        q->gflops = s.gflops;
        q->actions = (double)at;
        if (!isnan(s.seconds)) q->seconds = fmax(s.seconds, isnan(q->seconds) ? 0 : q->seconds);
    }
    free(kind_of);
    t->base = xcalloc(size_mul(t->kinds.n, t->problems.n) + 1, sizeof *t->base);
    t->best = xcalloc(size_mul(t->kinds.n, t->problems.n) + 1, sizeof *t->best);
    for (size_t i = 0; i < t->npath; i++) {
        struct trace_path *q = &t->path[i];
        if (q->gflops > t->best[cell(t, q)]) t->best[cell(t, q)] = q->gflops;
        if (q->base > t->base[cell(t, q)]) t->base[cell(t, q)] = q->base;
    }
}

static void summary(const struct traces *t, csvw *w, uint32_t algo, double peak)
{
    double *speed = xmalloc(t->npath, sizeof *speed), sum = 0, logs = 0, gflops = 0, seconds = 0, longest = 0,
           actions = 0, ratio = 0, of_best = 0, least = 1;
    size_t n = 0, measured = 0, timed = 0, sped = 0;
    for (size_t i = 0; i < t->npath; i++) {
        const struct trace_path *r = &t->path[i];
        if (r->algo != algo) continue;
        double best = trace_best(t, r), base = trace_base(t, r);
        n++;
        if (isnan(r->gflops)) continue;
        measured++;
        gflops += r->gflops;
        actions += r->actions;
        ratio += log(r->gflops / peak);
        of_best += log(r->gflops / best);
        least = fmin(least, r->gflops / best);
        if (!isnan(r->seconds)) timed++, seconds += r->seconds, longest = fmax(longest, r->seconds);
        if (!(base > 0)) continue;
        speed[sped] = r->gflops / base;
        sum += speed[sped];
        logs += log(speed[sped++]);
    }
    csvw_str(w, t->algos.name[algo]);
    csvw_int(w, (int64_t)n);
    csvw_known(w, sped ? sum / (double)sped : NAN);
    csvw_known(w, median(speed, sped));
    csvw_known(w, sped ? exp(logs / (double)sped) : NAN);
    csvw_known(w, quantile(speed, sped, 1));
    csvw_known(w, measured ? gflops / (double)measured : NAN);
    csvw_known(w, peak > 0 && measured ? exp(ratio / (double)measured) : NAN);
    csvw_known(w, timed ? seconds / (double)timed : NAN);
    csvw_known(w, timed ? longest : NAN);
    csvw_known(w, measured ? actions / (double)measured : NAN);
    csvw_known(w, measured ? exp(of_best / (double)measured) : NAN);
    csvw_known(w, measured ? least : NAN);
    csvw_str(w, trace_kind(t, algo));
    csvw_end(w);
    free(speed);
}

void traces_summary(const struct traces *t, csvw *w, double peak)
{
    for (uint32_t a = 0; a < t->algos.n; a++) summary(t, w, a, peak);
}

void traces_violin(const struct traces *t, csvw *w)
{
    for (size_t i = 0; i < t->npath; i++) {
        const struct trace_path *q = &t->path[i];
        if (!(trace_base(t, q) > 0) || isnan(q->gflops)) continue;
        csvw_str(w, t->algos.name[q->algo]);
        csvw_int(w, q->algo + 1);
        csvw_num(w, q->gflops / trace_base(t, q));
        csvw_str(w, t->kinds.name[q->kind]);
        csvw_end(w);
    }
}

void traces_steps(const struct traces *t, csvw *w, int steps)
{
    struct mean { double gflops, seconds; size_t n; } *sum = xmalloc((size_t)steps + 1, sizeof *sum);
    for (uint32_t a = 0; a < t->algos.n; a++) {
        for (int i = 0; i <= steps; i++) sum[i] = (struct mean){ 0 };
        for (size_t k = 0; k < t->npath; k++) {
            const struct trace_path *q = &t->path[k];
            double best = 0, when = 0;
            for (int i = 0; i <= steps && q->algo == a; i++) {   /* a path that has ended stays at its best nest */
                const struct path_step *s = &t->step[q->first + (size_t)i];
                if ((size_t)i < q->n && s->gflops > best) best = s->gflops;
                if ((size_t)i < q->n && s->seconds > when) when = s->seconds;
                if (!(best > 0)) continue;
                sum[i].gflops += best;
                sum[i].seconds += when;
                sum[i].n++;
            }
        }
        for (int i = 0; i <= steps; i++) {
            if (!sum[i].n) continue;
            csvw_str(w, t->algos.name[a]);
            csvw_int(w, i);
            csvw_num(w, sum[i].gflops / (double)sum[i].n);
            csvw_num(w, sum[i].seconds / (double)sum[i].n);
            csvw_str(w, trace_kind(t, a));
            csvw_end(w);
        }
    }
    free(sum);
}
