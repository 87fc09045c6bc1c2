/* levels.c - see levels.h */
#include "measure/levels.h"
#include "base/mem.h"
#include "measure/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct components variance_components(const double *v, const uint32_t *group, size_t n)
{
    struct components c = { .n = n };
    for (size_t i = 0; i < n; i++) if (group[i] >= c.groups) c.groups = (size_t)group[i] + 1;
    double *sum = xcalloc(c.groups + 1, sizeof *sum), *size = xcalloc(c.groups + 1, sizeof *size);
    for (size_t i = 0; i < n; i++) sum[group[i]] += v[i], size[group[i]]++;
    double m = mean(v, n), inside = 0, outside = 0, squares = 0, k = (double)c.groups, all = (double)n;
    for (size_t i = 0; i < n; i++) inside += pow(v[i] - sum[group[i]] / size[group[i]], 2);
    for (size_t g = 0; g < c.groups; g++)
        if (size[g] > 0) outside += size[g] * pow(sum[g] / size[g] - m, 2), squares += size[g] * size[g];
    free(sum);
    free(size);
    double within = n > c.groups ? inside / (all - k) : NAN, between = NAN;
    if (c.groups > 1 && n > c.groups)
        between = fmax(0, (outside / (k - 1) - within) / ((all - squares / all) / (k - 1)));
    c.within = sqrt(within);
    c.between = sqrt(between);
    return c;
}

double best_per_group(const struct components *c, double group_cost)
{
    double n = c->between > 0 ? sqrt(group_cost) * c->within / c->between : INFINITY;
    return n < 1 ? 1 : n;
}

struct bag { double *v; uint32_t *group; struct intern groups; size_t n, cap, gcap; };

void levels_table(csvw *w, char **paths, const char *column, const char *metric, double group_cost)
{
    const char *name = strcmp(metric, "cpu") == 0    ? "cpu_seconds"
                       : strcmp(metric, "wall") == 0 ? "wall_seconds"
                                                     : metric;
    csv *t = csv_files(paths);
    int label = csv_need(t, "label"), group = csv_need(t, column), value = csv_need(t, name);
    int benchmark = csv_find(t, "benchmark"), phase = csv_find(t, "phase"), status = csv_find(t, "status");
    struct intern keys = { 0 };
    struct bag *bag = NULL;
    size_t cap = 0;
    struct buf key = { 0 };
    while (csv_next(t)) {
        if (phase >= 0 && !str_is(csv_str(t, phase), "measure")) continue;
        if (status >= 0 && !str_is(csv_str(t, status), "ok")) continue;
        key.n = 0;
        if (benchmark >= 0) buf_str(&key, csv_str(t, benchmark));
        buf_char(&key, '\n');
        buf_str(&key, csv_str(t, label));
        uint32_t k = intern(&keys, (str){ key.s, key.n });
        if (k >= cap) {
            size_t old = cap;
            bag = grow(bag, (size_t)k + 1, &cap, sizeof *bag);
            memset(bag + old, 0, (cap - old) * sizeof *bag);
        }
        struct bag *b = &bag[k];
        b->v = grow(b->v, b->n + 1, &b->cap, sizeof *b->v);
        b->group = grow(b->group, b->n + 1, &b->gcap, sizeof *b->group);
        double x = csv_num(t, value);
        if (!(x > 0)) csv_die(t, value, "a positive number");
        b->group[b->n] = intern(&b->groups, csv_str(t, group));
        b->v[b->n++] = log(x);
    }
    csvw_names(w, "benchmark,label,metric,groups,runs_per_group,between_deviation,within_deviation,best_per_group");
    csvw_end(w);
    for (size_t k = 0; k < keys.n; k++) {
        struct components c = variance_components(bag[k].v, bag[k].group, bag[k].n);
        size_t cut = (size_t)((const char *)memchr(keys.name[k].s, '\n', keys.name[k].n) - keys.name[k].s);
        csvw_str(w, (str){ keys.name[k].s, cut });
        csvw_str(w, (str){ keys.name[k].s + cut + 1, keys.name[k].n - cut - 1 });
        csvw_cstr(w, metric);
        csvw_int(w, (int64_t)c.groups);
        csvw_num(w, (double)c.n / (double)c.groups);
        csvw_known(w, c.between);
        csvw_known(w, c.within);
        csvw_known(w, ceil(best_per_group(&c, group_cost)));
        csvw_end(w);
    }
    for (size_t k = 0; k < keys.n; k++) {
        free(bag[k].v);
        free(bag[k].group);
        intern_free(&bag[k].groups);
    }
    free(bag);
    free(key.s);
    intern_free(&keys);
    csv_close(t);
}
