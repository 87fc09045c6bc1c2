/* counters.c - see counters.h */
#include "flambda/counters.h"
#include "base/mem.h"
#include "base/checked.h"
#include "base/message.h"
#include "base/num.h"
#include "flambda/results.h"
#include "table/kind.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const counter_name[COUNTERS] = {
    "step",
    "host",
    "major_collections",
    "minor_collections",
    "compactions",
    "minor_words",
    "promoted_words",
    "major_words",
    "top_heap_words",
    "heap_words",
    "live_words",
    "free_words",
    "largest_free_words",
    "fragments",
    "live_blocks",
    "heap_chunks",
    "first_branches",
    "first_branch_misses",
    "again_branches",
    "again_branch_misses",
    "first_l1_icache_load_misses",
    "first_branch_load_misses",
    "first_branch_loads",
    "first_itlb_load_misses",
    "first_itlb_loads",
    "first_cycles",
    "first_instructions",
    "branches",
    "branch_misses",
    "l1_icache_load_misses",
    "branch_load_misses",
    "branch_loads",
    "itlb_load_misses",
    "itlb_loads",
    "cycles",
    "instructions",
    "l1_dcache_load_misses",
    "l1_dcache_loads",
    "l1_dcache_stores",
    "llc_loads",
    "llc_stores",
    "cache_misses",
    "bus_cycles",
    "cache_references",
    "ref_cycles",
    "dtlb_load_misses",
    "dtlb_loads",
    "dtlb_store_misses",
    "dtlb_stores",
    "static_instructions",
    "seconds",
};

const char counters_plain[] =
    "major_collections,minor_collections,compactions,minor_words,promoted_words,major_words,top_heap_words,"
    "heap_words,live_words,free_words,largest_free_words,fragments,live_blocks,heap_chunks";
const char counters_per_instruction[] =
    "again_branches,again_branch_misses,first_l1_icache_load_misses,first_branch_load_misses,"
    "first_branch_loads,first_itlb_load_misses,first_itlb_loads";

static void import_line(const char *path, size_t number, str line, const char *benchmark, csvw *w)
{
    size_t field = 0;
    csvw_cstr(w, benchmark);
    for (const char *p = line.s, *end = line.s + line.n;; field++) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        str s = { p, (size_t)((comma ? comma : end) - p) };
        double v;
        if (field >= COUNTERS) die_at(path, number, "more than %d fields", COUNTERS);
        if (field > 1 && str_is(s, "N/A")) s.n = 0;
        if (field > 1 && s.n && !num_parse(s.s, s.n, &v))
            die_at(path, number, "column '%s': '%.*s' is not a number", counter_name[field], (int)s.n, s.s);
        csvw_str(w, s);
        if (!comma) break;
        p = comma + 1;
    }
    if (field + 1 != COUNTERS) die_at(path, number, "%zu fields, %d wanted", field + 1, COUNTERS);
    csvw_cstr(w, "real");
    csvw_end(w);
}

void counters_none(const char *benchmark, csvw *w)
{
    csvw_cstr(w, benchmark);
    for (int c = 0; c < COUNTERS; c++) csvw_empty(w);
    csvw_cstr(w, "real");
    csvw_end(w);
}

void counters_import(const char *path, const char *benchmark, csvw *w)
{
    FILE *f = fopen(path, "r");
    if (!f) die_errno("%s", path);
    char *text = NULL;
    size_t room = 0, number = 0;
    for (str line; data_line(f, path, &text, &room, &number, &line);)
        import_line(path, number, line, benchmark, w);
    fclose(f);
    free(text);
    if (!number) counters_none(benchmark, w);
}

static struct counter_table *table_of(struct counters *k, str benchmark)
{
    for (size_t b = 0; b < k->n; b++)
        if (str_is(benchmark, k->table[b].benchmark)) return &k->table[b];
    k->table = grow(k->table, k->n + 1, &k->cap, sizeof *k->table);
    k->table[k->n] = (struct counter_table){ .benchmark = arena_copy(&k->text, benchmark.s, benchmark.n) };
    return &k->table[k->n++];
}

static bool contains(str s, const char *word)
{
    return memmem(s.s, s.n, word, strlen(word)) != NULL;
}

/* the columns that are counters; from[] gets their places */
static void find_counters(struct counters *k, const csv *t, int *from)
{
    static const char *const other[] = { "benchmark", "step", "host", "static_instructions", "seconds", "kind" };
    k->name = xmalloc((size_t)csv_ncol(t) + 1, sizeof *k->name);
    for (int c = 0; c < csv_ncol(t); c++) {
        bool counter = true;
        for (size_t o = 0; o < sizeof other / sizeof *other; o++)
            counter = counter && !str_is(csv_name(t, c), other[o]);
        if (!counter) continue;
        from[k->cols] = c;
        k->name[k->cols++] = arena_copy(&k->text, csv_name(t, c).s, csv_name(t, c).n);
    }
}

static void count_missing(struct counter_table *t, const bool *known, size_t cols)
{
    t->n_rows = t->n;
    for (size_t i = 0; i < t->n; i++) {
        bool missing = isnan(t->row[i].instructions);
        for (size_t c = 0; c < cols; c++) missing = missing || (known[c] && isnan(t->row[i].value[c]));
        t->n_na += missing;
    }
}

struct counters counters_read(char **paths)
{
    struct counters k = { 0 };
    csv *t = csv_files(paths);
    int benchmark = csv_need(t, "benchmark"), step = csv_need(t, "step"), seconds = csv_need(t, "seconds");
    int instructions = csv_find(t, "static_instructions"), *from = xmalloc((size_t)csv_ncol(t) + 1, sizeof *from);
    int kind = csv_find(t, "kind");
    find_counters(&k, t, from);
    bool *known = xcalloc(k.cols + 1, sizeof *known);
    while (csv_next(t)) {
        struct counter_table *table = table_of(&k, csv_str(t, benchmark));
        str name = csv_str(t, step);
        table->kinds |= kind_of_row(t, kind);
        if (!name.n) continue;
        table->row = grow(table->row, table->n + 1, &table->cap, sizeof *table->row);
        struct counter_row *r = &table->row[table->n++];
        *r = (struct counter_row){ .step = { arena_copy(&k.text, name.s, name.n), name.n },
                                   .initial = contains(name, "initial") };
        r->seconds = csv_num(t, seconds);
        r->instructions = csv_num_or(t, instructions, NAN);
        r->value = arena_get(&k.text, size_mul(k.cols + 1, sizeof *r->value));
        for (size_t c = 0; c < k.cols; c++) {
            r->value[c] = csv_num_or(t, from[c], NAN);
            known[c] = known[c] || !isnan(r->value[c]);
        }
        if (!(r->seconds > 0)) csv_die(t, seconds, "a positive time");
    }
    csv_close(t);
    for (size_t b = 0; b < k.n; b++) count_missing(&k.table[b], known, k.cols);
    free(known);
    free(from);
    return k;
}

void counters_dedupe(struct counter_table *t, size_t cols)
{
    struct intern steps = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        uint32_t at = intern(&steps, t->row[i].step);
        if (at == n) {
            t->row[n++] = t->row[i];
            continue;
        }
        struct counter_row *r = &t->row[at];
        if (isnan(r->instructions)) r->instructions = t->row[i].instructions;
        for (size_t c = 0; c < cols; c++)
            if (isnan(r->value[c])) r->value[c] = t->row[i].value[c];
    }
    t->n = n;
    intern_free(&steps);
}

double counters_initial(const struct counter_table *t, size_t *n, double *variance)
{
    double mean = 0, square = 0;
    *n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (!t->row[i].initial) continue;
        double value = log(t->row[i].seconds), d = value - mean;
        mean += d / (double)++*n;
        square += d * (value - mean);
    }
    *variance = *n > 1 ? square / (double)(*n - 1) : NAN;
    return *n ? exp(mean) : NAN;
}
