/* data.c - see data.h */
#include "fit/data.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/num.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* the next name on item *i of a list, from *p on; NULL: the end */
static bool next(const struct list *list, int *i, const char **p, str *name)
{
    for (; *i < list->n; ++*i, *p = NULL) {
        if (!*p) *p = list->v[*i];
        if (!**p) continue;
        *name = (str){ *p, strcspn(*p, ",") };
        *p += name->n + ((*p)[name->n] == ',');
        return true;
    }
    return false;
}

/* a name as it stands is that one alone, where there is one that is called so */
static bool matches(str pattern, str name, const struct intern *names)
{
    return str_eq(pattern, name) || (intern_find(names, pattern) < 0 && str_like(name, pattern));
}

bool data_matches(const struct list *list, str name, const struct intern *names)
{
    const char *p = NULL;
    str pattern;
    for (int i = 0; next(list, &i, &p, &pattern);)
        if (matches(pattern, name, names)) return true;
    return false;
}

char *data_unmatched(const struct list *list, const struct intern *names)
{
    const char *p = NULL;
    str pattern;
    for (int i = 0; next(list, &i, &p, &pattern);) {
        size_t k = 0;
        while (k < names->n && !matches(pattern, names->name[k], names)) k++;
        if (k == names->n) return xformat("%.*s", (int)pattern.n, pattern.s);
    }
    return NULL;
}

double data_value(const csv *t, int col)
{
    str s = csv_str(t, col);
    if (str_is(s, "true")) return 1;
    if (str_is(s, "false")) return 0;
    double v;
    const char *expected = num_wrong(s.s, s.n, &v);
    if (expected && s.n && isalpha((unsigned char)*s.s))
        csv_die(t, col, "a number (fit-encode makes numbers of texts, --ignore leaves a column out)");
    if (expected) csv_die(t, col, expected);
    if (!isfinite(v)) csv_die(t, col, "a finite number");
    return v;
}

/* class numbers so far are in order of appearance; renumber by name */
static void order_classes(struct data *d, struct intern *seen)
{
    d->nclass = (int)seen->n;
    d->class = xmalloc(seen->n + 1, sizeof *d->class);
    for (size_t c = 0; c < seen->n; c++) d->class[c] = xformat("%.*s", (int)seen->name[c].n, seen->name[c].s);
    qsort(d->class, seen->n, sizeof *d->class, order_strings);
    double *to = xmalloc(seen->n + 1, sizeof *to);
    for (size_t c = 0; c < seen->n; c++) to[intern_find(seen, str_of(d->class[c]))] = (double)c;
    for (size_t i = 0; i < d->rows; i++) d->y[i] = to[(size_t)d->y[i]];
    free(to);
}

struct data data_read(char **paths, const struct data_columns *columns)
{
    struct data d = { .target = xstrdup(columns->target ? columns->target : "") };
    csv *t = csv_files(paths);
    int target = columns->target ? csv_need(t, columns->target) : -1;
    int group = columns->group ? csv_need(t, columns->group) : -1;
    int weight = columns->weight ? csv_need(t, columns->weight) : -1;
    int *from = xmalloc((size_t)csv_ncol(t) + 1, sizeof *from);
    struct intern names = { 0 };
    for (int c = 0; c < csv_ncol(t); c++) intern(&names, csv_name(t, c));
    char *odd = data_unmatched(&columns->features, &names);
    if (!odd) odd = data_unmatched(&columns->ignore, &names);
    if (odd) die_at(csv_file(t), 1, "%s", csv_no_column(t, str_of(odd)));
    d.feature = xmalloc((size_t)csv_ncol(t) + 1, sizeof *d.feature);
    for (int c = 0; c < csv_ncol(t); c++) {
        str name = names.name[c];
        if (c == target || c == group || c == weight || data_matches(&columns->ignore, name, &names)) continue;
        if (columns->features.n && !data_matches(&columns->features, name, &names)) continue;
        from[d.cols] = c;
        d.feature[d.cols++] = xformat("%.*s", (int)name.n, name.s);
    }
    if (!d.cols) die("%s: no feature column", csv_file(t));
    size_t cap_x = 0, cap_y = 0, cap_group = 0, cap_weight = 0;
    struct intern classes = { 0 };
    while (csv_next(t)) {
        size_t i = d.rows++;
        d.x = grow(d.x, size_mul(i + 1, d.cols), &cap_x, sizeof *d.x);
        d.y = grow(d.y, i + 1, &cap_y, sizeof *d.y);
        d.group = grow(d.group, i + 1, &cap_group, sizeof *d.group);
        for (size_t j = 0; j < d.cols; j++) d.x[i * d.cols + j] = data_value(t, from[j]);
        d.y[i] = target < 0         ? 0
                 : columns->classes ? (double)intern(&classes, csv_str(t, target))
                                    : data_value(t, target);
        if (weight >= 0) {
            d.weight = grow(d.weight, i + 1, &cap_weight, sizeof *d.weight);
            d.weight[i] = data_value(t, weight);
            if (d.weight[i] < 0) csv_die(t, weight, "a weight: 0 or more");
        }
        d.group[i] = group < 0 ? 0 : intern(&d.groups, csv_str(t, group));
    }
    if (columns->classes && target >= 0) order_classes(&d, &classes);
    intern_free(&classes);
    free(from);
    intern_free(&names);
    csv_close(t);
    return d;
}

void data_free(struct data *d)
{
    for (size_t j = 0; j < d->cols; j++) free(d->feature[j]);
    for (int c = 0; c < d->nclass; c++) free(d->class[c]);
    free_all(d->target, d->feature, d->class, d->x, d->y, d->group, d->weight);
    intern_free(&d->groups);
    *d = (struct data){ 0 };
}
