/* foreign_out.c - the emission half of foreign.h */
#include "base/mem.h"
#include "base/message.h"
#include "base/num.h"
#include "base/out.h"
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

static bool wanted(const struct table *t, size_t row, int phase, bool warmups)
{
    if (!has(t, row, phase)) return true;
    str p = table_str(t, row, phase);
    return str_is(p, "measure") || (warmups && str_is(p, "warmup"));
}

static struct groups group_rows(const struct table *t, bool warmups)
{
    struct groups all = { 0 };
    int label = need(t, "label"), benchmark = column(t, "benchmark"), phase = column(t, "phase");
    for (size_t r = 0; r < t->nrow; r++) {
        if (!wanted(t, r, phase, warmups)) continue;
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

static void begin_list(jsonw *w, const char *key) { begin_named(w, key, '['); }

static void begin_object(jsonw *w)
{
    jsonw_line(w);
    jsonw_begin(w, '{');
}

static void end_line(jsonw *w)
{
    jsonw_line(w);
    jsonw_end(w);
}

/* of the object of a whole file, whose last member is a list */
static void end_file(jsonw *w)
{
    end_line(w);
    end_line(w);
    jsonw_close(w);
}

/* the rest of a column's name behind a prefix; nothing where it does not begin so */
static str behind(str name, const char *prefix)
{
    size_t n = strlen(prefix);
    return name.n > n && memcmp(name.s, prefix, n) == 0 ? (str){ name.s + n, name.n - n } : (str){ 0 };
}

static double mean_of(const struct table *t, const struct group *g, const char *own, const char *imported,
                      double *scratch)
{
    int c = column(t, own);
    size_t n = column_values(t, g, c >= 0 ? c : column(t, imported), scratch);
    return mean(scratch, n);
}

void emit_hyperfine(const struct table *t)
{
    struct groups all = group_rows(t, false);
    int wall = need(t, "wall_seconds"), code = column(t, "exit");
    double *v = xmalloc(t->nrow + 1, sizeof *v);
    jsonw *w = jsonw_open(NULL);
    jsonw_begin(w, '{');
    begin_list(w, "results");
    for (size_t i = 0; i < all.n; i++) {
        const struct group *g = &all.g[i];
        size_t n = column_values(t, g, wall, v);
        if (n < g->n)
            die_at(t->file, t->line[g->row[0]], "a run of '%.*s' has no wall_seconds", (int)g->label.n, g->label.s);
        begin_object(w);
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
        begin_list(w, "times");
        for (size_t k = 0; k < g->n; k++) jsonw_num(w, table_num(t, g->row[k], wall));
        jsonw_end(w);
        begin_list(w, "exit_codes");
        for (size_t k = 0; k < g->n; k++) jsonw_num(w, number(t, g->row[k], code));
        jsonw_end(w);
        bool opened = false;
        for (int c = 0; c < t->ncol; c++) {
            str rest = behind(t->name[c], "parameter_");
            if (!rest.n || !has(t, g->row[0], c)) continue;
            if (!opened) {
                begin_named(w, "parameters", '{');
                opened = true;
            }
            jsonw_key_str(w, rest);
            jsonw_str(w, table_str(t, g->row[0], c));
        }
        if (opened) jsonw_end(w);
        end_line(w);
    }
    end_file(w);
    groups_free(&all);
    free(v);
}

static void key_str(jsonw *w, const char *key, str s)
{
    jsonw_line(w);
    jsonw_key(w, key);
    jsonw_str(w, s);
}

/* seconds are a unit of the format: so nothing is lost to scaling */
void emit_google(const struct table *t)
{
    struct groups all = group_rows(t, false);
    int wall = need(t, "wall_seconds"), cpu = column(t, "cpu_seconds"), round = need(t, "round"),
        iterations = column(t, "iterations");
    int threads = column(t, "threads"), status = column(t, "status");
    jsonw *w = jsonw_open(NULL);
    jsonw_begin(w, '{');
    begin_named(w, "context", '{');
    jsonw_end(w);
    begin_list(w, "benchmarks");
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < all.g[i].n; k++) {
            size_t r = all.g[i].row[k];
            bool failed = has(t, r, status) && !str_is(table_str(t, r, status), "ok");
            begin_object(w);
            key_str(w, "name", all.g[i].label);
            key_str(w, "run_name", all.g[i].label);
            key_str(w, "run_type", str_of("iteration"));
            pair(w, "repetitions", (double)all.g[i].n);
            pair(w, "repetition_index", table_num(t, r, round));
            if (has(t, r, threads)) pair(w, "threads", table_num(t, r, threads));
            if (failed) {
                jsonw_line(w);
                jsonw_key(w, "error_occurred");
                jsonw_bool(w, true);
            }
            pair(w, "iterations", has(t, r, iterations) ? table_num(t, r, iterations) : 1);
            if (has(t, r, wall)) pair(w, "real_time", table_num(t, r, wall));
            if (has(t, r, cpu)) pair(w, "cpu_time", table_num(t, r, cpu));
            key_str(w, "time_unit", str_of("s"));
            for (int c = 0; c < t->ncol; c++) {
                str rest = behind(t->name[c], "counter_");
                if (!rest.n || !has(t, r, c)) continue;
                jsonw_line(w);
                jsonw_key_str(w, rest);
                jsonw_num(w, table_num(t, r, c));
            }
            end_line(w);
        }
    end_file(w);
    groups_free(&all);
}

/* the rows of one process, from *k on */
static void pyperf_process(jsonw *w, const struct table *t, const struct group *g, size_t *k, int process, int phase,
                           int wall, int loops)
{
    size_t first = *k, end = first;
    while (end < g->n &&
           (process < 0 || str_eq(table_str(t, g->row[end], process), table_str(t, g->row[first], process))))
        end++;
    *k = end;
    begin_object(w);
    jsonw_key(w, "metadata");
    jsonw_begin(w, '{');
    jsonw_end(w);
    for (int warm = 1; warm >= 0; warm--) {
        size_t n = 0;
        for (size_t i = first; i < end; i++) {
            bool is_warm = has(t, g->row[i], phase) && str_is(table_str(t, g->row[i], phase), "warmup");
            if (is_warm != (warm == 1)) continue;
            if (!n++) {
                jsonw_key(w, warm ? "warmups" : "values");
                jsonw_begin(w, '[');
            }
            if (warm) {
                jsonw_begin(w, '[');
                jsonw_num(w, has(t, g->row[i], loops) ? table_num(t, g->row[i], loops) : 1);
            }
            jsonw_num(w, table_num(t, g->row[i], wall));
            if (warm) jsonw_end(w);
        }
        if (n) jsonw_end(w);
    }
    jsonw_end(w);
}

void emit_pyperf(const struct table *t)
{
    struct groups all = group_rows(t, true);
    int wall = need(t, "wall_seconds"), process = column(t, "process"), phase = column(t, "phase"),
        loops = column(t, "loops");
    jsonw *w = jsonw_open(NULL);
    jsonw_begin(w, '{');
    jsonw_line(w);
    jsonw_key(w, "version");
    jsonw_cstr(w, "1.0");
    begin_list(w, "benchmarks");
    for (size_t i = 0; i < all.n; i++) {
        begin_object(w);
        jsonw_key(w, "metadata");
        jsonw_begin(w, '{');
        jsonw_key(w, "name");
        jsonw_str(w, all.g[i].label);
        jsonw_key(w, "unit");
        jsonw_cstr(w, "second");
        jsonw_end(w);
        begin_list(w, "runs");
        for (size_t k = 0; k < all.g[i].n; ) pyperf_process(w, t, &all.g[i], &k, process, phase, wall, loops);
        end_line(w);
        end_line(w);
    }
    end_file(w);
    groups_free(&all);
}

/* v x 1e9 by moving the point of its shortest text: exact, as a product of doubles would not be */
static void print_nanoseconds(FILE *f, double v)
{
    char b[NUM_MAX], digit[NUM_MAX];
    int n = (int)num_print(b, v), digits = 0, point = 0, exponent = 0;
    bool seen = false;
    for (int i = 0; i < n; i++) {
        if (b[i] == 'e') {
            b[n < NUM_MAX ? n : NUM_MAX - 1] = 0;
            exponent = (int)strtol(b + i + 1, NULL, 10);
            break;
        }
        if (b[i] == '.') seen = true;
        else if (b[i] != '-') digit[digits++] = b[i], point += !seen;
    }
    point += exponent + 9;
    if (v < 0) putc('-', f);
    if (point <= 0) fputs("0.", f);
    for (int i = point; i < 0; i++) putc('0', f);
    int zeros = 0;                                       /* leading ones say nothing */
    while (zeros < digits - 1 && zeros < point - 1 && digit[zeros] == '0') zeros++;
    for (int i = zeros; i < digits || i < point; i++) {
        if (i == point && point > 0 && i < digits) putc('.', f);
        putc(i < digits ? digit[i] : '0', f);
    }
}

/* MB/s and B/op by name, others by turning _per_ back into / */
static void print_unit(FILE *f, str column_of)
{
    static const char *const known[][2] = { { "mb_per_s", "MB/s" }, { "b_per_op", "B/op" } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_is(column_of, known[i][0])) {
            fputs(known[i][1], f);
            return;
        }
    for (size_t i = 0; i < column_of.n; i++) {
        if (column_of.n - i > 5 && memcmp(column_of.s + i, "_per_", 5) == 0) putc('/', f), i += 4;
        else putc(column_of.s[i], f);
    }
}

static void print_number(FILE *f, double v)
{
    char b[NUM_MAX];
    fprintf(f, "%.*s", (int)num_print(b, v), b);
}

void emit_gobench(const struct table *t)
{
    struct groups all = group_rows(t, false);
    int wall = need(t, "wall_seconds"), iterations = column(t, "iterations"), threads = column(t, "threads");
    struct out *o = out_open(NULL);
    FILE *f = out_file(o);
    for (size_t i = 0; i < all.n; i++) {
        const struct group *g = &all.g[i];
        if (g->benchmark.n && (i == 0 || !str_eq(g->benchmark, all.g[i - 1].benchmark)))
            fprintf(f, "pkg: %.*s\n", (int)g->benchmark.n, g->benchmark.s);
        for (size_t k = 0; k < g->n; k++) {
            size_t r = g->row[k];
            fputs(g->label.n > 9 && memcmp(g->label.s, "Benchmark", 9) == 0 ? "" : "Benchmark", f);
            for (size_t c = 0; c < g->label.n; c++) putc(strchr(" \t\r\n", g->label.s[c]) ? '_' : g->label.s[c], f);
            if (has(t, r, threads)) fprintf(f, "-%.*s", (int)table_str(t, r, threads).n, table_str(t, r, threads).s);
            putc('\t', f);
            print_number(f, has(t, r, iterations) ? table_num(t, r, iterations) : 1);
            if (has(t, r, wall)) {
                putc('\t', f);
                print_nanoseconds(f, table_num(t, r, wall));
                fputs(" ns/op", f);
            }
            for (int c = 0; c < t->ncol; c++) {
                str name = t->name[c];
                bool unit = false;
                for (size_t x = 0; x + 5 < name.n; x++) unit |= memcmp(name.s + x, "_per_", 5) == 0;
                if (!unit || !has(t, r, c)) continue;
                putc('\t', f);
                print_number(f, table_num(t, r, c));
                putc(' ', f);
                print_unit(f, name);
            }
            putc('\n', f);
        }
    }
    out_close(o);
    groups_free(&all);
}

void emit_perf(const struct table *t)
{
    static const char *const names[] = { "value",           "unit",   "event",      "variance_percent", "running_ns",
                                         "running_percent", "metric", "metric_unit" };
    int c[8], source = column(t, "source");
    for (int i = 0; i < 8; i++) c[i] = i == 3 ? column(t, names[i]) : need(t, names[i]);
    struct out *o = out_open(NULL);
    FILE *f = out_file(o);
    for (size_t r = 0; r < t->nrow; r++) {
        for (int i = 0; i < 8; i++) {
            if (i == 3 && !has(t, r, c[3])) continue;
            if (i) putc(',', f);
            str s = table_str(t, r, c[i]);
            if (i == 0 && !s.n && source >= 0)
                fprintf(f, "<%.*s>", (int)table_str(t, r, source).n, table_str(t, r, source).s);
            else fprintf(f, "%.*s%s", (int)s.n, s.s, i == 3 ? "%" : "");
        }
        putc('\n', f);
    }
    out_close(o);
}
