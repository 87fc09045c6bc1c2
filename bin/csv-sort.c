/* csv-sort - rows in order
 *
 * Usage: csv-sort -k KEY[,KEY]... [--reverse] [FILE]...
 *
 * Columns in: the keys.  Columns out: the same.  A KEY is COL for the order of
 * bytes, COL:n for numbers (empty fields first, nan last), COL:r and COL:nr for
 * the reverse.  Rows that tie stay in input order.  Memory: all rows.
 *
 * Examples:
 *   $ csv-sort -k network,batch:n,time_seconds:nr results.csv
 */
#include "base/filter.h"
#include "base/compare.h"
#include "table/input.h"
#include "table/table.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *keys;
static bool reverse;
static const struct opt options[] = {
    { 'k', "key", STR, &keys, "KEYS", "what to sort by, the first key first" },
    { 'r', "reverse", FLAG, &reverse, NULL, "the other way round, ties still in input order" },
    CSV_INPUT,
    { 0 } };

struct key { int col; bool number, reverse; struct exact_number *value; };

static struct key *key;
static size_t nkey;
static struct table m;

static void parse_keys(const csv *t)
{
    for (const char *p = keys;; p++) {
        size_t n = strcspn(p, ","), name = strcspn(p, ",:");
        key = xrealloc(key, nkey + 1, sizeof *key);
        char *column = xformat("%.*s", (int)name, p);
        struct key k = { .col = csv_need(t, column), .reverse = reverse };
        for (size_t i = name + 1; i < n; i++) {
            if (p[i] == 'n') k.number = true;
            else if (p[i] == 'r') k.reverse = !k.reverse;
            else usage("--key: '%.*s' ends in neither :n, :r nor :nr", (int)n, p);
        }
        if (name + 1 == n) usage("--key: '%.*s' ends in neither :n, :r nor :nr", (int)n, p);
        key[nkey++] = k;
        free(column);
        p += n;
        if (!*p) return;
    }
}

/* once, not at every comparison */
static void parse_numbers(void)
{
    for (struct key *k = key; k < key + nkey; k++) {
        if (!k->number) continue;
        k->value = xmalloc(m.nrow, sizeof *k->value);
        for (size_t i = 0; i < m.nrow; i++) {
            k->value[i] = table_str(&m, i, k->col).n ? table_exact(&m, i, k->col) : exact_of(0);
        }
    }
}

static int compare_numbers(const struct key *k, size_t a, size_t b)
{
    bool empty_a = !table_str(&m, a, k->col).n, empty_b = !table_str(&m, b, k->col).n;
    if (empty_a || empty_b) return empty_b - empty_a;
    const struct exact_number *x = &k->value[a], *y = &k->value[b];
    if (isnan(x->x) || isnan(y->x)) return isnan(x->x) - isnan(y->x);
    return exact_cmp(*x, *y);
}

static int compare(const void *pa, const void *pb)
{
    size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
    for (const struct key *k = key; k < key + nkey; k++) {
        int c = k->number ? compare_numbers(k, a, b) : str_cmp(table_str(&m, a, k->col), table_str(&m, b, k->col));
        if (c) return k->reverse ? -c : c;
    }
    return ORDER(a, b);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!keys) usage("no key given, see --key");
    csv *t = csv_files(argv + i);
    parse_keys(t);
    m = table_load(t);
    parse_numbers();
    size_t *order = xmalloc(m.nrow, sizeof *order);
    for (size_t r = 0; r < m.nrow; r++) order[r] = r;
    qsort(order, m.nrow, sizeof *order, compare);
    csvw *w = csvw_open(NULL);
    table_write_names(w, &m);
    for (size_t r = 0; r < m.nrow; r++) table_write_row(w, &m, order[r]);
    return csvw_close(w);
}
