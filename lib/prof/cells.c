/* cells.c - see cells.h */
#include "prof/cells.h"
#include "base/checked.h"
#include "base/compare.h"
#include "prof/sweep.h"
#include "table/csvio.h"
#include <stdlib.h>
#include <string.h>

const char *const resources_name[4] = { "", "CPU", "GPU", "CPU+GPU" };

void cells_read(struct cells *c, char **paths)
{
    csv *t = csv_files(paths);
    int proc = csv_find(t, "proc"), phase = csv_find(t, "phase"), op = csv_find(t, "op"), cats = csv_need(t, "cats");
    int total = csv_need(t, "total_ns"), lo = csv_find(t, "lo_ns"), hi = csv_find(t, "hi_ns"),
        runs = csv_find(t, "runs");
    while (csv_next(t)) {
        c->v = grow(c->v, c->n + 1, &c->cap, sizeof *c->v);
        c->v[c->n++] = (struct cell_row){ .proc = proc < 0 ? "" : csv_cstr(t, proc, &c->text),
                                          .phase = phase < 0 ? "" : csv_cstr(t, phase, &c->text),
                                          .op = op < 0 ? "" : csv_cstr(t, op, &c->text),
                                          .cats = csv_cstr(t, cats, &c->text), .total = csv_int(t, total),
                                          .lo = lo < 0 ? 0 : csv_int(t, lo), .hi = hi < 0 ? 0 : csv_int(t, hi),
                                          .runs = runs < 0 ? 0 : csv_int(t, runs) };
    }
    csv_close(t);
}

/* ---- sets */

bool set_has(const char *set, const char *member)
{
    struct buf b = { 0 };
    bool found = false;
    for (str rest = str_of(set); !found && set_next(&rest, &b);) found = str_is((str){ b.s, b.n }, member);
    free(b.s);
    return found;
}

/* every member of subset is in set */
static bool set_includes(const char *set, const char *subset)
{
    struct buf b = { 0 };
    bool all = true;
    for (str rest = str_of(subset); all && set_next(&rest, &b);) {
        buf_add(&b, "", 0);
        all = set_has(set, b.s);
    }
    free(b.s);
    return all;
}

size_t set_size(const char *set)
{
    struct buf b = { 0 };
    size_t n = 0;
    for (str rest = str_of(set); set_next(&rest, &b);) n++;
    free(b.s);
    return n;
}

bool is_overhead(str category)
{
    return category.n >= 4 && memcmp(category.s, "ovh:", 4) == 0;
}

bool is_gpu(str category)
{
    return str_is(category, "GPU") || str_is(category, "Communication");
}

bool set_has_gpu(const char *set)
{
    return set_has(set, "GPU") || set_has(set, "Communication");
}

/* ---- resources */

static unsigned place_of(str category)
{
    return is_overhead(category) ? 0 : is_gpu(category) ? ON_GPU : ON_CPU;
}

unsigned resources_of(const char *cats)
{
    struct buf b = { 0 };
    unsigned mask = 0;
    for (str rest = str_of(cats); set_next(&rest, &b);) mask |= place_of((str){ b.s, b.n });
    free(b.s);
    return mask;
}

/* ---- sums */

int sums_order(const struct sum *x, const struct sum *y, int parts)
{
    int c = 0;
    for (int i = 0; i < parts && !c && x->part[i]; i++) c = set_cmp(str_of(x->part[i]), str_of(y->part[i]));
    return c;
}

static int by_key(const void *a, const void *b)
{
    return sums_order(a, b, 4);
}

void sums_add(struct sums *s, const struct sum *new)
{
    s->v = grow(s->v, s->n + 1, &s->cap, sizeof *s->v);
    s->v[s->n++] = *new;
}

void sums_merge(struct sums *s)
{
    size_t k = 0;
    if (s->n) qsort(s->v, s->n, sizeof *s->v, by_key);
    for (size_t i = 0; i < s->n; i++) {
        if (!k || by_key(&s->v[k - 1], &s->v[i]) != 0) s->v[k++] = s->v[i];
        else s->v[k - 1].total = i64_add(s->v[k - 1].total, s->v[i].total);
    }
    s->n = k;
}

static int set_part;                                     /* qsort has no closure */

static int by_size(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    int c = sums_order(x, y, set_part);
    if (c) return c;
    size_t n = set_size(x->part[set_part]), m = set_size(y->part[set_part]);
    return ORDER(n, m) ?: set_cmp(str_of(x->part[set_part]), str_of(y->part[set_part]));
}

static bool same_group(const struct sum *a, const struct sum *b, int part)
{
    for (int i = 0; i < part; i++) if (strcmp(a->part[i], b->part[i]) != 0) return false;
    return true;
}

void sums_inclusive(struct sums *s, int part, struct arena *text)
{
    sums_merge(s);
    struct sums out = { 0 };
    struct buf b = { 0 }, one = { 0 };
    for (size_t i = 0; i < s->n; i++) {
        struct sum row = s->v[i];
        row.total = 0;
        sums_add(&out, &row);
        for (str rest = str_of(row.part[part]); set_next(&rest, &b);) {
            one.n = 0;
            set_add(&one, (str){ b.s, b.n });
            row.part[part] = arena_copy(text, one.s, one.n);
            sums_add(&out, &row);
        }
    }
    sums_merge(&out);
    for (size_t i = 0; i < out.n; i++)
        for (size_t k = 0; k < s->n; k++)
            if (same_group(&out.v[i], &s->v[k], part) && set_includes(s->v[k].part[part], out.v[i].part[part]))
                out.v[i].total = i64_add(out.v[i].total, s->v[k].total);
    free_all(b.s, one.s, s->v);
    *s = out;
    set_part = part;
    if (s->n) qsort(s->v, s->n, sizeof *s->v, by_size);
}

/* largest sets first: what strict supersets take is known by then */
void sums_exclusive(struct sums *s, int part)
{
    sums_merge(s);
    set_part = part;
    if (s->n) qsort(s->v, s->n, sizeof *s->v, by_size);
    for (size_t i = s->n; i-- > 0;)
        for (size_t k = i + 1; k < s->n; k++)
            if (same_group(&s->v[i], &s->v[k], part) && strcmp(s->v[i].part[part], s->v[k].part[part]) != 0
                && set_includes(s->v[k].part[part], s->v[i].part[part]))
                s->v[i].total = i64_sub(s->v[i].total, s->v[k].total);
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) if (s->v[i].total) s->v[n++] = s->v[i];
    s->n = n;
}
