/* views.c - see views.h */
#include "prof/views.h"
#include "base/filter.h"
#include "prof/metrics.h"
#include "prof/sweep.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void header(csvw *w, const char *names)
{
    csvw_names(w, names);
    csvw_end(w);
}

static void write_sums(csvw *w, struct sums *s)
{
    for (size_t i = 0; i < s->n; i++) {
        for (int k = 0; k < 4 && s->v[i].part[k]; k++) csvw_cstr(w, s->v[i].part[k]);
        csvw_int(w, s->v[i].total);
        csvw_end(w);
    }
}

/* the overhead categories of a set, or "corrected" when there is none or the GPU runs */
static const char *overhead_of(const char *cats, struct arena *text)
{
    struct buf set = { 0 }, member = { 0 };
    if (!(resources_of(cats) & ON_GPU))
        for (str rest = str_of(cats); set_next(&rest, &member);)
            if (is_overhead((str){ member.s, member.n })) set_add(&set, (str){ member.s, member.n });
    const char *out = set.n ? arena_copy(text, set.s, set.n) : "corrected";
    free(set.s);
    free(member.s);
    return out;
}

void view_cells(csvw *w, char **paths, enum view view, bool noop)
{
    struct cells c = { 0 };
    struct sums s = { 0 };
    bool resource = view == VIEW_RESOURCE, subplot = view == VIEW_SUBPLOT, operation = view == VIEW_OPERATION,
         overhead = view == VIEW_OVERHEAD;
    header(w, resource    ? "proc,resources,total_ns"
              : subplot   ? "proc,resource,total_ns"
              : operation ? "proc,op,resources,total_ns"
              : overhead  ? "proc,overhead,total_ns"
                          : "proc,op,resources,cats,total_ns");
    cells_read(&c, paths);
    for (size_t i = 0; i < c.n; i++) {
        const struct cell_row *r = &c.v[i];
        unsigned mask = resources_of(r->cats);
        const char *name = resources_name[mask];
        if (!noop && (!r->op[0] || !r->cats[0])) continue;
        if (resource) sums_add(&s, &(struct sum){ { r->proc, name }, r->total });
        else if (operation) sums_add(&s, &(struct sum){ { r->proc, r->op, name }, r->total });
        else if (overhead) sums_add(&s, &(struct sum){ { r->proc, overhead_of(r->cats, &c.text) }, r->total });
        else if (subplot) {
            if (mask & ON_CPU) sums_add(&s, &(struct sum){ { r->proc, "CPU" }, r->total });
            if (mask & ON_GPU) sums_add(&s, &(struct sum){ { r->proc, "GPU" }, r->total });
            if (strcmp(overhead_of(r->cats, &c.text), "corrected") == 0)
                sums_add(&s, &(struct sum){ { r->proc, "Total" }, r->total });
        } else sums_add(&s, &(struct sum){ { r->proc, r->op, name, r->cats }, r->total });
    }
    if (c.n && !s.n && !quiet) warn("nothing ran under an operation; --noop keeps what ran under none");
    sums_merge(&s);
    write_sums(w, &s);
}

void view_venn(csvw *w, char **paths, bool exclusive)
{
    struct cells c = { 0 };
    struct sums s = { 0 };
    header(w, "proc,cats,total_ns");
    cells_read(&c, paths);
    for (size_t i = 0; i < c.n; i++)
        if (c.v[i].cats[0]) sums_add(&s, &(struct sum){ { c.v[i].proc, c.v[i].cats }, c.v[i].total });
    if (exclusive) sums_exclusive(&s, 1);
    else sums_inclusive(&s, 1, &c.text);
    write_sums(w, &s);
}

void view_transitions(csvw *w, char **paths, double passes)
{
    csv *t = csv_files(paths);
    int proc = csv_need(t, "proc"), op = csv_need(t, "op"), from = csv_need(t, "from"), to = csv_need(t, "to"),
        count = csv_need(t, "count");
    struct arena text = { 0 };
    struct buf member = { 0 };
    struct sums s = { 0 };
    header(w, "proc,op,category,count,per_pass");
    while (csv_next(t)) {
        const char *before = csv_cstr(t, from, &text), *after = csv_cstr(t, to, &text), *o = csv_cstr(t, op, &text);
        const char *p = csv_cstr(t, proc, &text);
        /* then the operation stands among the categories, see prof-sweep */
        bool op_changes = false;
        for (str rest = str_of(before); set_next(&rest, &member);)
            op_changes |= member.n > 3 && memcmp(member.s, "op:", 3) == 0;
        for (str rest = str_of(after); set_next(&rest, &member);)
            op_changes |= member.n > 3 && memcmp(member.s, "op:", 3) == 0;
        for (str rest = str_of(after); !op_changes && set_next(&rest, &member);) {
            const char *category = arena_copy(&text, member.s, member.n);
            bool counts = strcmp(category, "Python") != 0 && !is_gpu(str_of(category))
                       && (strcmp(category, "Simulator") != 0 || strcmp(o, "Simulation") == 0);
            if (counts && !set_has(before, category))
                sums_add(&s, &(struct sum){ { p, o, category }, csv_int(t, count) });
        }
    }
    csv_close(t);
    sums_merge(&s);
    for (size_t i = 0; i < s.n; i++) {
        for (int k = 0; k < 3; k++) csvw_cstr(w, s.v[i].part[k]);
        csvw_int(w, s.v[i].total);
        if (passes > 0) csvw_num(w, (double)s.v[i].total / passes);
        else csvw_empty(w);
        csvw_end(w);
    }
}

static void write_metrics(csvw *w, const char *proc, const char *phase, const double v[METRICS])
{
    for (int m = 0; m < METRICS; m++) {
        csvw_cstr(w, proc);
        csvw_cstr(w, phase);
        csvw_cstr(w, metric_name[m]);
        if (m == THEORETICAL_SPEEDUP && !isfinite(v[m])) csvw_empty(w);   /* without Python nothing is left */
        else csvw_num(w, v[m]);
        csvw_end(w);
    }
}

static int by_group(const void *a, const void *b)
{
    const struct cell_row *x = a, *y = b;
    int c = strcmp(x->proc, y->proc);
    return c ? c : strcmp(x->phase, y->phase);
}

void metrics_write_cells(csvw *w, char **paths)
{
    struct cells c = { 0 };
    double v[METRICS];
    cells_read(&c, paths);
    if (c.n) qsort(c.v, c.n, sizeof *c.v, by_group);
    for (size_t begin = 0, end; begin < c.n; begin = end) {
        struct metrics m = { 0 };
        for (end = begin; end < c.n && by_group(&c.v[begin], &c.v[end]) == 0; end++)
            metrics_add(&m, c.v[end].cats, c.v[end].total);
        metrics_of(&m, v);
        write_metrics(w, c.v[begin].proc, c.v[begin].phase, v);
    }
}

void metrics_write_raw(csvw *w, char **paths)
{
    csv *t = csv_files(paths);
    int col[4], proc = csv_find(t, "proc"), phase = csv_find(t, "phase");
    static const enum metric need[] = { PYTHON_TIME, CPP_AND_GPU, GPU_TIME, GPU_AND_CUDA_CPP };
    double v[METRICS];
    struct arena text = { 0 };
    for (int k = 0; k < 4; k++) col[k] = csv_need(t, metric_name[need[k]]);
    while (csv_next(t)) {
        metrics_from_raw(csv_num(t, col[0]), csv_num(t, col[1]), csv_num(t, col[2]), csv_num(t, col[3]), v);
        write_metrics(w, proc < 0 ? "" : csv_cstr(t, proc, &text), phase < 0 ? "" : csv_cstr(t, phase, &text), v);
        arena_reset(&text);
    }
    csv_close(t);
}
