/* encode.c - see encode.h */
#include "fit/encode.h"
#include "base/message.h"
#include "base/num.h"
#include "table/columns.h"
#include <stdlib.h>

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

static bool is_word(str s)
{
    double v;
    return s.n && !num_parse(s.s, s.n, &v) && !str_is(s, "true") && !str_is(s, "false");
}

static bool holds_words(const struct table *t, int col)
{
    for (size_t r = 0; r < t->nrow; r++) if (is_word(table_str(t, r, col))) return true;
    return false;
}

static void sort_code(struct column_codes *k)
{
    if (k->n) qsort(k->value, k->n, sizeof *k->value, by_bytes);
}

static struct column_codes code_of(const struct table *t, int col, size_t most)
{
    struct column_codes k = { 0 };
    struct intern seen = { 0 };
    for (size_t r = 0; r < t->nrow; r++) {
        str s = table_str(t, r, col);
        if (!s.n || intern(&seen, s) != k.n) continue;
        if (k.n == most)
            die_at(t->file, t->line[r], "column '%.*s' has more than %zu values: no category? see --column and --max",
                   (int)t->name[col].n, t->name[col].s, most);
        k.value = grow(k.value, k.n + 1, &k.cap, sizeof *k.value);
        k.value[k.n++] = s;
    }
    intern_free(&seen);
    sort_code(&k);
    return k;
}

struct codes codes_of(const struct table *t, const struct columns *chosen, size_t most)
{
    struct codes c = { .of = xcalloc((size_t)t->ncol + 1, sizeof *c.of), .ncol = t->ncol };
    for (int i = 0; i < t->ncol; i++)
        if (chosen ? columns_hold(*chosen, i) : holds_words(t, i)) c.of[i] = code_of(t, i, most);
    return c;
}

static int column_of(const struct table *t, str name)
{
    for (int i = 0; i < t->ncol; i++) if (str_eq(t->name[i], name)) return i;
    return -1;
}

struct codes codes_read(const char *path, const struct table *t)
{
    struct codes c = { .of = xcalloc((size_t)t->ncol + 1, sizeof *c.of), .ncol = t->ncol };
    csv *in = csv_open(path);
    int column = csv_need(in, "column"), value = csv_need(in, "value");
    while (csv_next(in)) {
        int i = column_of(t, csv_str(in, column));
        if (i < 0) csv_die(in, column, "a column of the table");
        if (!csv_has(in, value)) csv_die(in, value, "a value");
        struct column_codes *k = &c.of[i];
        str s = csv_str(in, value);
        k->value = grow(k->value, k->n + 1, &k->cap, sizeof *k->value);
        k->value[k->n++] = (str){ arena_copy(&c.text, s.s, s.n), s.n };
    }
    csv_close(in);
    for (int i = 0; i < t->ncol; i++) {
        struct column_codes *k = &c.of[i];
        sort_code(k);
        for (size_t v = 1; v < k->n; v++)
            if (str_eq(k->value[v], k->value[v - 1]))
                die("%s: column '%.*s' has '%.*s' twice", path, (int)t->name[i].n, t->name[i].s, (int)k->value[v].n,
                    k->value[v].s);
    }
    return c;
}

void codes_write(const struct codes *c, const struct table *t, const char *path)
{
    csvw *w = csvw_open(path);
    csvw_names(w, "column,value");
    csvw_end(w);
    for (int i = 0; i < c->ncol; i++)
        for (size_t v = 0; v < c->of[i].n; v++) {
            csvw_str(w, t->name[i]);
            csvw_str(w, c->of[i].value[v]);
            csvw_end(w);
        }
    csvw_close(w);
}

static void write_names(const struct codes *c, const struct table *t, csvw *w)
{
    struct intern seen = { 0 };
    struct buf name = { 0 };
    uint32_t n = 0;
    for (int i = 0; i < c->ncol; i++)
        for (size_t v = 0; v < (c->of[i].n ? c->of[i].n : 1); v++, n++) {
            name.n = 0;
            buf_str(&name, t->name[i]);
            if (c->of[i].n) buf_char(&name, '_'), buf_str(&name, c->of[i].value[v]);
            if (intern(&seen, (str){ name.s, name.n }) != n)
                die_at(t->file, 1, "two columns would be called '%s'", name.s);
            csvw_str(w, (str){ name.s, name.n });
        }
    csvw_end(w);
    intern_free(&seen);
    free(name.s);
}

size_t codes_apply(const struct codes *c, const struct table *t, csvw *w)
{
    size_t strange = 0;
    write_names(c, t, w);
    for (size_t r = 0; r < t->nrow; r++) {
        for (int i = 0; i < c->ncol; i++) {
            str s = table_str(t, r, i);
            const struct column_codes *k = &c->of[i];
            if (!k->n) csvw_str(w, s);
            const str *found = k->n && s.n ? bsearch(&s, k->value, k->n, sizeof *k->value, by_bytes) : NULL;
            for (size_t v = 0; v < k->n; v++) csvw_int(w, found == &k->value[v]);
            strange += k->n && s.n && !found;
        }
        csvw_end(w);
    }
    return strange;
}
