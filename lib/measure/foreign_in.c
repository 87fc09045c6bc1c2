/* foreign_in.c - the import half of foreign.h */
#include "base/mem.h"
#include "base/message.h"
#include "base/num.h"
#include "measure/foreign.h"
#include "tree/json.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cell { uint32_t column; str text; };

struct frame {
    struct intern columns;
    struct cell *cell;
    size_t n, cap, *start, rows, rows_cap;
    struct arena text;
};

struct frame *frame_new(void)
{
    return xcalloc(1, sizeof(struct frame));
}

static void frame_row(struct frame *f)
{
    f->start = grow(f->start, f->rows + 1, &f->rows_cap, sizeof *f->start);
    f->start[f->rows++] = f->n;
}

static void frame_str(struct frame *f, const char *column, str s)
{
    uint32_t c = intern(&f->columns, str_of(column));
    f->cell = grow(f->cell, f->n + 1, &f->cap, sizeof *f->cell);
    f->cell[f->n++] = (struct cell){ c, { arena_copy(&f->text, s.s ? s.s : "", s.n), s.n } };
}

static void frame_num(struct frame *f, const char *column, double v)
{
    char b[NUM_MAX];
    frame_str(f, column, (str){ b, num_print(b, v) });
}

void frame_write(const struct frame *f, csvw *w)
{
    str *row = xmalloc(f->columns.n + 1, sizeof *row);
    for (size_t c = 0; c < f->columns.n; c++) csvw_str(w, f->columns.name[c]);
    if (f->columns.n) csvw_end(w);
    for (size_t r = 0; r < f->rows; r++) {
        memset(row, 0, f->columns.n * sizeof *row);
        size_t end = r + 1 < f->rows ? f->start[r + 1] : f->n;
        for (size_t i = f->start[r]; i < end; i++) row[f->cell[i].column] = f->cell[i].text;
        for (size_t c = 0; c < f->columns.n; c++) csvw_str(w, row[c]);
        csvw_end(w);
    }
    free(row);
}

void frame_free(struct frame *f)
{
    intern_free(&f->columns);
    free(f->cell);
    free(f->start);
    arena_free(&f->text);
    free(f);
}

/* a column name from a foreign word: lower case, what is no letter or digit becomes _, / becomes _per_ */
static char *column_name(const char *front, str word)
{
    struct buf b = { 0 };
    buf_str(&b, str_of(front));
    for (size_t i = 0; i < word.n; i++) {
        unsigned char c = (unsigned char)word.s[i];
        if (c == '/') buf_add(&b, "_per_", 5);
        else buf_char(&b, isalnum(c) ? (char)tolower(c) : '_');
    }
    return b.s;
}

/* text x 10^shift, rounded once: scaling a double would round twice, and 44.1 ns would not be 4.41e-08 s */
static bool parse_scaled(str text, int shift, double *v)
{
    char b[128];
    int exponent = 0;
    size_t n = 0;
    while (n < text.n && text.s[n] != 'e' && text.s[n] != 'E') n++;
    if (!num_parse(text.s, text.n, v) || text.n > 64) return false;
    if (n < text.n) exponent = (int)strtol(text.s + n + 1, NULL, 10);
    int m = snprintf(b, sizeof b, "%.*se%d", (int)n, text.s, exponent + shift);
    return num_parse(b, (size_t)m, v);
}

/* ---- JSON */

struct numbers { double *v; size_t n, cap; };

static void need_token(jsonr *j, enum json want, const char *what)
{
    if (json_next(j) != want) json_die(j, "expected %s", what);
}

static void read_numbers(jsonr *j, struct numbers *a)
{
    need_token(j, JSON_ARRAY, "an array of numbers");
    a->n = 0;
    for (enum json t; (t = json_next(j)) != JSON_ARRAY_END; ) {
        if (t != JSON_NUMBER && t != JSON_NULL) json_die(j, "expected a number");
        a->v = grow(a->v, a->n + 1, &a->cap, sizeof *a->v);
        a->v[a->n++] = t == JSON_NULL ? NAN : json_num(j);
    }
}

/* position the reader at the value behind `key` of the object that comes next; false: it has none, and is read past */
static bool find_key(jsonr *j, const char *key)
{
    str k;
    need_token(j, JSON_OBJECT, "an object");
    while (json_key(j, &k)) {
        if (str_is(k, key)) return true;
        json_skip(j);
    }
    return false;
}

static char *copy_string(jsonr *j)
{
    if (json_next(j) != JSON_STRING) json_die(j, "expected a string");
    return xformat("%.*s", (int)json_str(j).n, json_str(j).s);
}

static double number_or_null(jsonr *j)
{
    return json_next(j) == JSON_NULL ? NAN : json_num(j);
}

static void hyperfine_result(struct frame *f, jsonr *j)
{
    struct numbers times = { 0 }, codes = { 0 };
    char *command = NULL;
    double user = NAN, system = NAN;
    struct buf names = { 0 };                            /* parameters: NAME NUL VALUE NUL ... */
    str k;
    while (json_key(j, &k)) {
        if (str_is(k, "command")) free(command), command = copy_string(j);
        else if (str_is(k, "times")) read_numbers(j, &times);
        else if (str_is(k, "exit_codes")) read_numbers(j, &codes);
        else if (str_is(k, "user")) user = number_or_null(j);
        else if (str_is(k, "system")) system = number_or_null(j);
        else if (str_is(k, "parameters")) {
            need_token(j, JSON_OBJECT, "an object");
            while (json_key(j, &k)) {
                buf_add(&names, k.s, k.n);
                buf_char(&names, 0);
                enum json t = json_next(j);
                if (t != JSON_STRING && t != JSON_NUMBER) json_die(j, "expected a parameter's text or number");
                buf_str(&names, json_str(j));
                buf_char(&names, 0);
            }
        } else json_skip(j);
    }
    if (!command || !times.n)
        json_die(j, "a result without 'command' or 'times' (hyperfine --export-json writes both)");
    for (size_t i = 0; i < times.n; i++) {
        frame_row(f);
        frame_str(f, "label", str_of(command));
        frame_num(f, "round", (double)i);
        frame_num(f, "wall_seconds", times.v[i]);
        if (i < codes.n && !isnan(codes.v[i])) frame_num(f, "exit", codes.v[i]);
        if (!isnan(user)) frame_num(f, "mean_user_seconds", user);
        if (!isnan(system)) frame_num(f, "mean_sys_seconds", system);
        frame_str(f, "order", str_of("blocks"));
        frame_str(f, "kind", str_of("real"));
        for (size_t at = 0; at < names.n; ) {
            const char *name = names.s + at, *value = name + strlen(name) + 1;
            char *column = xformat("parameter_%s", name);
            frame_str(f, column, str_of(value));
            free(column);
            at = (size_t)(value - names.s) + strlen(value) + 1;
        }
    }
    free_all(command, times.v, codes.v, names.s);
}

/* a file that is one object, with an array of objects called `key` */
static void import_array(struct frame *f, const char *path, const char *key, const char *tool,
                         void (*one)(struct frame *, jsonr *))
{
    str k;
    jsonr *j = json_open(path);
    if (!find_key(j, key)) json_die(j, "no '%s': not the JSON of %s", key, tool);
    need_token(j, JSON_ARRAY, "an array");
    for (enum json t; (t = json_next(j)) != JSON_ARRAY_END; ) {
        if (t != JSON_OBJECT) json_die(j, "expected an object in '%s'", key);
        one(f, j);
    }
    while (json_key(j, &k)) json_skip(j);
    json_close(j);
}

void import_hyperfine(struct frame *f, const char *path)
{
    import_array(f, path, "results", "hyperfine", hyperfine_result);
}

/* decimal places of a second */
static int unit_shift(jsonr *j, const char *unit)
{
    static const char *const units[] = { "s", "ms", "us", "ns" };
    for (int i = 0; i < 4; i++) if (strcmp(unit, units[i]) == 0) return -3 * i;
    json_die(j, "time_unit '%s' is not ns, us, ms or s", unit);
}

static void add_time(struct frame *f, jsonr *j, const char *name, const char *text, const char *unit)
{
    double v;
    if (!parse_scaled(str_of(text), unit_shift(j, unit), &v)) json_die(j, "%s: '%s' is not a number", name, text);
    frame_num(f, name, v);
}

struct counter { char *name; double value; };

/* what is known of an entry is taken, every other number is a counter */
static void google_entry(struct frame *f, jsonr *j)
{
    static const char *const skipped[] = { "family_index", "per_family_instance_index", "repetitions",
                                           "aggregate_unit" };
    char *name = NULL, *run_name = NULL, *type = NULL, *unit = NULL, *real = NULL, *cpu = NULL;
    double repetition = 0, iterations = NAN, threads = NAN;
    struct counter *counter = NULL;
    size_t n = 0, cap = 0;
    bool failed = false;
    str k;
    while (json_key(j, &k)) {
        bool skip = false;
        for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++) skip |= str_is(k, skipped[i]);
        char **time = str_is(k, "real_time") ? &real : str_is(k, "cpu_time") ? &cpu : NULL;
        double *to = str_is(k, "repetition_index") ? &repetition :
                     str_is(k, "iterations") ? &iterations : str_is(k, "threads") ? &threads : NULL;
        char **text = str_is(k, "name")        ? &name
                      : str_is(k, "run_name")  ? &run_name
                      : str_is(k, "run_type")  ? &type
                      : str_is(k, "time_unit") ? &unit
                                               : NULL;
        if (skip) json_skip(j);
        else if (text) free(*text), *text = copy_string(j);
        else if (time) {
            need_token(j, JSON_NUMBER, "a time");
            free(*time);
            *time = xformat("%.*s", (int)json_str(j).n, json_str(j).s);
        } else {
            char *column = column_name("counter_", k);
            bool error = str_is(k, "error_occurred");
            enum json t = json_next(j);
            if (error && t == JSON_TRUE) failed = true;
            if (t == JSON_OBJECT || t == JSON_ARRAY) json_die(j, "an object where a number was expected");
            if (t == JSON_NUMBER && to) *to = json_num(j);
            else if (t == JSON_NUMBER) {
                counter = grow(counter, n + 1, &cap, sizeof *counter);
                counter[n++] = (struct counter){ column, json_num(j) };
                column = NULL;
            }
            free(column);
        }
    }
    bool aggregate = type && strcmp(type, "aggregate") == 0;
    if (!aggregate) {
        if (!name || (!real && !failed)) json_die(j, "an entry without 'name' or 'real_time'");
        frame_row(f);
        frame_str(f, "label", str_of(run_name ? run_name : name));
        frame_num(f, "round", repetition);
        if (real) add_time(f, j, "wall_seconds", real, unit ? unit : "ns");
        if (cpu) add_time(f, j, "cpu_seconds", cpu, unit ? unit : "ns");
        if (!isnan(iterations)) frame_num(f, "iterations", iterations);
        if (!isnan(threads)) frame_num(f, "threads", threads);
        frame_str(f, "status", str_of(failed ? "exit" : "ok"));
        frame_str(f, "order", str_of("blocks"));
        frame_str(f, "kind", str_of("real"));
        for (size_t i = 0; i < n; i++) frame_num(f, counter[i].name, counter[i].value);
    }
    for (size_t i = 0; i < n; i++) free(counter[i].name);
    free_all(counter, name, run_name, type, unit, real, cpu);
}

void import_google(struct frame *f, const char *path)
{
    import_array(f, path, "benchmarks", "google/benchmark", google_entry);
}
