/* rundir.c - see rundir.h */
#include "flambda/rundir.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/num.h"
#include "decisions/decisions.h"
#include "flambda/counters.h"
#include "flambda/results.h"
#include "tree/sexp.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GC = 2, FIRST = 16, SECOND = 27, STATIC = 49, SECONDS = 50 };     /* where the parts of a row begin */
static const char *const first_prefix[] = { "first_", "again_" };

/* ((X)) -> (X), as an option is written, where X itself is a list of lists */
static snode unwrapped(const struct sexp *e, snode n)
{
    while (sexp_count(e, n) == 1 && sexp_is_list(e, sexp_first(e, sexp_first(e, n)))) n = sexp_first(e, n);
    return n;
}

/* does this name of a counter belong to the column: L1-dcache-loads:u to l1_dcache_loads? */
static bool belongs(str name, const char *column)
{
    const char *colon = memchr(name.s, ':', name.n);
    if (colon) name.n = (size_t)(colon - name.s);
    if (str_is(name, "cpu-cycles")) name = str_of("cycles");
    if (str_is(name, "largest_free")) name = str_of("largest_free_words");
    size_t i = 0;
    while (i < name.n && column[i] && column[i] == (name.s[i] == '-' ? '_' : tolower((unsigned char)name.s[i]))) i++;
    return i == name.n && !column[i];
}

static void read_pass(const struct sexp *e, snode pass, int from, int to, double *row)
{
    for (snode n = sexp_first(e, pass); n != SEXP_NONE; n = sexp_after(e, n)) {
        str name = sexp_str_of(e, n, "name");
        double value = sexp_num_of(e, n, "value");
        for (int c = from; c < to; c++) {
            const char *column = counter_name[c];
            for (size_t k = 0; k < sizeof first_prefix / sizeof *first_prefix; k++)
                if (strncmp(column, first_prefix[k], strlen(first_prefix[k])) == 0) column += strlen(first_prefix[k]);
            if (belongs(name, column)) row[c] = value;
        }
    }
}

static void put_gc(str name, double value, double *row)
{
    for (int c = GC; c < FIRST; c++) if (belongs(name, counter_name[c])) row[c] = value;
}

/* lines `minor_collections: 105` */
static void read_gc_text(str text, double *row)
{
    while (text.n) {
        const char *end = memchr(text.s, '\n', text.n);
        str line = { text.s, end ? (size_t)(end - text.s) : text.n };
        const char *colon = memchr(line.s, ':', line.n);
        if (colon) {
            str number = { colon + 1, line.n - (size_t)(colon + 1 - line.s) };
            while (number.n && *number.s == ' ') number = (str){ number.s + 1, number.n - 1 };
            double v;
            if (num_parse(number.s, number.n, &v)) put_gc((str){ line.s, (size_t)(colon - line.s) }, v, row);
        }
        size_t used = line.n + (end != NULL);
        text = (str){ text.s + used, text.n - used };
    }
}

static double mean_time(const struct sexp *e)
{
    double sum = 0, seconds = 0;
    snode times = sexp_value(e, 0, "raw_execution_time");
    size_t n = 0;
    for (snode t = sexp_first(e, times); t != SEXP_NONE; t = sexp_after(e, t), n++) {
        seconds = span_seconds(sexp_atom(e, t));
        if (!(seconds > 0) || isinf(seconds))
            sexp_die(e, t, "'%.*s' is not a time", (int)sexp_atom(e, t).n, sexp_atom(e, t).s);
        sum += log(seconds);
    }
    if (!n) sexp_die(e, 0, "no (raw_execution_time (T ...))");
    return n == 1 ? seconds : exp(sum / (double)n);
}

/* NAN when there is none */
static double static_count(const char *folder, const char *sub)
{
    char *path = xformat("%s/%s/instruction_count.txt", folder, sub), text[64];
    FILE *f = fopen(path, "r");
    double v = NAN;
    if (f) {
        size_t n = fread(text, 1, sizeof text, f);
        while (n && isspace((unsigned char)text[n - 1])) n--;
        if (n == sizeof text || !num_parse(text, n, &v)) die("%s: not a number", path);
        fclose(f);
    }
    free(path);
    return v;
}

static bool read_execution(const char *folder, const char *sub, const char *benchmark, csvw *w)
{
    char *path = xformat("%s/%s/execution_stats.sexp", folder, sub);
    bool there = access(path, F_OK) == 0;
    if (there) {
        sexpr *in = sexp_open(path, SEXP_CORE);
        const struct sexp *e = sexp_only(in);
        double row[COUNTERS];
        for (int c = 0; c < COUNTERS; c++) row[c] = NAN;
        row[SECONDS] = mean_time(e);
        row[STATIC] = static_count(folder, sub);
        if (isnan(row[STATIC]) && strcmp(strrchr(folder, '/'), "/initial") == 0)
            row[STATIC] = static_count(folder, "current");
        snode gc = unwrapped(e, sexp_value(e, 0, "parsed_gc_stats")), text = sexp_value(e, 0, "gc_stats");
        for (snode n = sexp_first(e, gc); n != SEXP_NONE; n = sexp_after(e, n))
            put_gc(sexp_atom(e, sexp_first(e, n)), sexp_num(e, sexp_nth(e, n, 1)), row);
        if (!sexp_count(e, gc) && sexp_is_atom(e, text)) read_gc_text(sexp_atom(e, text), row);
        snode passes = unwrapped(e, sexp_value(e, 0, "perf_stats"));
        read_pass(e, sexp_nth(e, passes, 0), FIRST, SECOND, row);
        read_pass(e, sexp_nth(e, passes, 1), SECOND, STATIC, row);
        snode host = sexp_value(e, 0, "worker_hostname");
        if (sexp_is_list(e, host)) host = sexp_first(e, host);
        csvw_cstr(w, benchmark);
        csvw_cstr(w, path);
        if (host == SEXP_NONE) csvw_empty(w);
        else csvw_str(w, sexp_atom(e, host));
        for (int c = GC; c < COUNTERS; c++) csvw_known(w, row[c]);
        csvw_cstr(w, "real");
        csvw_end(w);
        sexp_close(in);
    }
    free(path);
    return there;
}

/* `initial` and `current` before numbers, numbers by value; -1: neither */
static int64_t place_of(const char *name, const char *before)
{
    int64_t v;
    if (strcmp(name, before) == 0) return 0;
    return int_parse(name, strlen(name), &v) && v >= 0 && v < INT64_MAX ? v + 1 : -1;
}

struct place {
    int64_t number;
    char *name;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return ORDER(x->number, y->number);
}

/* the folders that count, in order; the caller frees it all */
static struct place *places(const char *dir, const char *before, size_t *n)
{
    size_t all;
    char **name = sorted_names(dir, &all);
    struct place *p = xmalloc(all + 1, sizeof *p);
    *n = 0;
    for (size_t i = 0; i < all; i++) {
        struct place one = { place_of(name[i], before), name[i] };
        if (one.number >= 0) p[(*n)++] = one;
        else free(name[i]);
    }
    free(name);
    if (*n) qsort(p, *n, sizeof *p, by_place);
    return p;
}

void rundir_import(const char *dir, const char *benchmark, csvw *w)
{
    char *data = xformat("%s/opt_data", dir);
    size_t nstep, nsub, rows = 0;
    struct place *step = places(data, "initial", &nstep);
    for (size_t s = 0; s < nstep; s++) {
        char *folder = xformat("%s/%s", data, step[s].name);
        struct place *sub = places(folder, "current", &nsub);
        for (size_t k = 0; k < nsub; k++) {
            rows += read_execution(folder, sub[k].name, benchmark, w);
            free(sub[k].name);
        }
        free(sub);
        free(folder);
        free(step[s].name);
    }
    free(step);
    free(data);
    if (!rows) counters_none(benchmark, w);
}
