/* counters.c - see counters.h */
#include "inline/counters.h"
#include "base/message.h"
#include "base/num.h"
#include "inline/results.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const counter_name[COUNTERS] = {
    "step", "host", "major_collections", "minor_collections", "compactions", "minor_words", "promoted_words", "major_words",
    "top_heap_words", "heap_words", "live_words", "free_words", "largest_free_words", "fragments", "live_blocks", "heap_chunks",
    "first_branches", "first_branch_misses", "again_branches", "again_branch_misses", "first_l1_icache_load_misses",
    "first_branch_load_misses", "first_branch_loads", "first_itlb_load_misses", "first_itlb_loads", "first_cycles",
    "first_instructions", "branches", "branch_misses", "l1_icache_load_misses", "branch_load_misses", "branch_loads",
    "itlb_load_misses", "itlb_loads", "cycles", "instructions", "l1_dcache_load_misses", "l1_dcache_loads", "l1_dcache_stores",
    "llc_loads", "llc_stores", "cache_misses", "bus_cycles", "cache_references", "ref_cycles", "dtlb_load_misses", "dtlb_loads",
    "dtlb_store_misses", "dtlb_stores", "static_instructions", "seconds",
};

static void import_line(const char *path, size_t number, str line, const char *benchmark, csvw *w)
{
    size_t field = 0;
    csvw_cstr(w, benchmark);
    for (const char *p = line.s, *end = line.s + line.n;; field++) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        str s = { p, (size_t)((comma ? comma : end) - p) };
        double v;
        if (field >= COUNTERS) die_at(path, number, "more than %d fields", COUNTERS);
        if (field > COUNTER_HOST && str_is(s, "N/A")) s.n = 0;
        if (field > COUNTER_HOST && s.n && !num_parse(s.s, s.n, &v))
            die_at(path, number, "column '%s': '%.*s' is not a number", counter_name[field], (int)s.n, s.s);
        csvw_str(w, s);
        if (!comma) break;
        p = comma + 1;
    }
    if (field + 1 != COUNTERS) die_at(path, number, "%zu fields, %d wanted", field + 1, COUNTERS);
    csvw_cstr(w, "real");
    csvw_end(w);
}

void counters_import(const char *path, const char *benchmark, csvw *w)
{
    FILE *f = fopen(path, "r");
    if (!f) die_errno("%s", path);
    char *text = NULL;
    size_t room = 0, number = 0;
    for (ssize_t n; (n = getline(&text, &room, f)) > 0;) {
        number++;
        while (n && (text[n - 1] == '\n' || text[n - 1] == '\r')) n--;
        str line = { text, (size_t)n };
        if (number == 1) reject_pointer(path, line);
        if (memchr(text, 0, (size_t)n)) die_at(path, number, "a NUL byte: binary file?");
        import_line(path, number, line, benchmark, w);
    }
    if (ferror(f)) die_errno("%s", path);
    fclose(f);
    free(text);
    if (number) return;
    csvw_cstr(w, benchmark);
    for (int c = 0; c < COUNTERS; c++) csvw_empty(w);
    csvw_cstr(w, "real");
    csvw_end(w);
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

struct counters counters_read(char **paths)
{
    struct counters k = { 0 };
    bool known[COUNTERS] = { false };                    /* somewhere in the table */
    int col[COUNTERS];
    csv *t = csv_files(paths);
    int benchmark = csv_need(t, "benchmark");
    for (int c = 0; c < COUNTERS; c++) col[c] = c == COUNTER_STEP || c == COUNTER_SECONDS ? csv_need(t, counter_name[c]) : csv_find(t, counter_name[c]);
    while (csv_next(t)) {
        struct counter_table *table = table_of(&k, csv_str(t, benchmark));
        str step = csv_str(t, col[COUNTER_STEP]);
        if (!step.n) continue;                           /* a benchmark without rows */
        table->row = grow(table->row, table->n + 1, &table->cap, sizeof *table->row);
        struct counter_row *r = &table->row[table->n++];
        r->step = (str){ arena_copy(&k.text, step.s, step.n), step.n };
        r->initial = contains(step, "initial");
        for (int c = COUNTER_GC; c < COUNTERS; c++) {
            r->value[c] = csv_num_or(t, col[c], NAN);
            known[c] = known[c] || !isnan(r->value[c]);
        }
        if (!(r->value[COUNTER_SECONDS] > 0)) csv_die(t, col[COUNTER_SECONDS], "a positive time");
    }
    csv_close(t);
    for (size_t b = 0; b < k.n; b++) {
        k.table[b].n_rows = k.table[b].n;
        for (size_t i = 0; i < k.table[b].n; i++) {
            bool missing = isnan(k.table[b].row[i].value[COUNTER_STATIC]);
            for (int c = COUNTER_GC; c < COUNTERS; c++) missing = missing || (known[c] && isnan(k.table[b].row[i].value[c]));
            k.table[b].n_na += missing;
        }
    }
    return k;
}

void counters_dedupe(struct counter_table *t)
{
    struct intern steps = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        uint32_t at = intern(&steps, t->row[i].step);
        if (at == n) {
            t->row[n++] = t->row[i];
            continue;
        }
        for (int c = COUNTER_GC; c < COUNTERS; c++)
            if (isnan(t->row[at].value[c])) t->row[at].value[c] = t->row[i].value[c];
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
        double d = log(t->row[i].value[COUNTER_SECONDS]) - mean;
        mean += d / (double)++*n;
        square += d * (log(t->row[i].value[COUNTER_SECONDS]) - mean);
    }
    *variance = *n > 1 ? square / (double)(*n - 1) : NAN;
    return *n ? exp(mean) : NAN;
}
