/* foreign_out.c - the emission half of foreign.h */
#include "base/mem.h"
#include "base/message.h"
#include "measure/foreign.h"
#include "measure/stats.h"
#include "tree/json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* rows of one label in order; columns by name, -1 if absent */
struct group { str label, benchmark; size_t *row, n, cap; };
struct groups { struct group *g; size_t n, cap; };

static int column(const struct table *t, const char *name)
{
    for (int c = 0; c < t->ncol; c++) if (str_is(t->name[c], name)) return c;
    return -1;
}

static int need(const struct table *t, const char *name)
{
    int c = column(t, name);
    if (c < 0) die_at(t->file, 1, "no column '%s'", name);
    return c;
}

static bool has(const struct table *t, size_t row, int c)
{
    return c >= 0 && table_str(t, row, c).n > 0;
}

static double number(const struct table *t, size_t row, int c)
{
    return has(t, row, c) ? table_num(t, row, c) : NAN;
}

static bool wanted(const struct table *t, size_t row, int phase)
{
    if (!has(t, row, phase)) return true;
    str p = table_str(t, row, phase);
    return str_is(p, "measure");
}

static struct groups group_rows(const struct table *t)
{
    struct groups all = { 0 };
    int label = need(t, "label"), benchmark = column(t, "benchmark"), phase = column(t, "phase");
    for (size_t r = 0; r < t->nrow; r++) {
        if (!wanted(t, r, phase)) continue;
        str l = table_str(t, r, label), b = benchmark >= 0 ? table_str(t, r, benchmark) : (str){ 0 };
        size_t g = 0;
        while (g < all.n && !(str_eq(all.g[g].label, l) && str_eq(all.g[g].benchmark, b))) g++;
        if (g == all.n) {
            all.g = grow(all.g, all.n + 1, &all.cap, sizeof *all.g);
            all.g[all.n++] = (struct group){ .label = l, .benchmark = b };
        }
        struct group *x = &all.g[g];
        x->row = grow(x->row, x->n + 1, &x->cap, sizeof *x->row);
        x->row[x->n++] = r;
    }
    return all;
}

static void groups_free(struct groups *all)
{
    for (size_t i = 0; i < all->n; i++) free(all->g[i].row);
    free(all->g);
}

static size_t column_values(const struct table *t, const struct group *g, int c, double *v)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++) if (has(t, g->row[i], c)) v[n++] = table_num(t, g->row[i], c);
    return n;
}

static void pair(jsonw *w, const char *key, double v)
{
    jsonw_line(w);
    jsonw_key(w, key);
    jsonw_num(w, v);
}

static void begin_named(jsonw *w, const char *key, char bracket)
{
    jsonw_line(w);
    jsonw_key(w, key);
    jsonw_begin(w, bracket);
}

static void end_line(jsonw *w)
{
    jsonw_line(w);
    jsonw_end(w);
}

/* of the runs; or what was imported, which is the command's and in all of them */
static double mean_of(const struct table *t, const struct group *g, const char *own, const char *imported,
                      double *scratch)
{
    int c = column(t, own);
    if (c < 0) return number(t, g->row[0], column(t, imported));
    return mean(scratch, column_values(t, g, c, scratch));
}

void emit_hyperfine(const struct table *t)
{
    struct groups all = group_rows(t);
    int wall = need(t, "wall_seconds"), code = column(t, "exit");
    double *v = xmalloc(t->nrow + 1, sizeof *v);
    jsonw *w = jsonw_open(NULL);
    jsonw_begin(w, '{');
    begin_named(w, "results", '[');
    for (size_t i = 0; i < all.n; i++) {
        const struct group *g = &all.g[i];
        size_t n = column_values(t, g, wall, v);
        if (n < g->n)
            die_at(t->file, t->line[g->row[0]], "a run of '%.*s' has no wall_seconds", (int)g->label.n, g->label.s);
        jsonw_line(w);
        jsonw_begin(w, '{');
        jsonw_line(w);
        jsonw_key(w, "command");
        jsonw_str(w, g->label);
        pair(w, "mean", mean(v, n));
        pair(w, "stddev", deviation(v, n));
        pair(w, "median", median(v, n));
        double least = quantile(v, n, 0), most = quantile(v, n, 1);
        pair(w, "user", mean_of(t, g, "user_seconds", "mean_user_seconds", v));
        pair(w, "system", mean_of(t, g, "sys_seconds", "mean_sys_seconds", v));
        pair(w, "min", least);
        pair(w, "max", most);
        begin_named(w, "times", '[');
        for (size_t k = 0; k < g->n; k++) jsonw_num(w, table_num(t, g->row[k], wall));
        jsonw_end(w);
        begin_named(w, "exit_codes", '[');
        for (size_t k = 0; k < g->n; k++) jsonw_num(w, number(t, g->row[k], code));
        jsonw_end(w);
        bool opened = false;
        for (int c = 0; c < t->ncol; c++) {
            static const char prefix[] = "parameter_";
            if (!str_begins(t->name[c], prefix) || !has(t, g->row[0], c)) continue;
            if (!opened) {
                begin_named(w, "parameters", '{');
                opened = true;
            }
            jsonw_key(w, t->name[c].s + strlen(prefix));
            jsonw_str(w, table_str(t, g->row[0], c));
        }
        if (opened) jsonw_end(w);
        end_line(w);
    }
    end_line(w);
    end_line(w);
    jsonw_close(w);
    groups_free(&all);
    free(v);
}
