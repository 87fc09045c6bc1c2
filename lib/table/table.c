/* table.c - see table.h */
#include "table/table.h"
#include "base/checked.h"
#include "base/message.h"
#include <stdlib.h>
#include <string.h>

struct table table_like(const csv *t)
{
    struct table m = { .ncol = csv_ncol(t) };
    m.name = xmalloc((size_t)m.ncol, sizeof *m.name);
    for (int i = 0; i < m.ncol; i++) {
        str s = csv_name(t, i);
        m.name[i] = (str){ arena_copy(&m.text, s.s, s.n), s.n };
    }
    m.file = arena_copy(&m.text, csv_file(t), strlen(csv_file(t)));
    return m;
}

void table_add(struct table *m, const csv *t)
{
    if (m->nrow == m->cap) {
        m->cap = m->cap * 2 + 64;
        m->cell = xrealloc(m->cell, size_mul(m->cap, (size_t)m->ncol), sizeof *m->cell);
        m->line = xrealloc(m->line, m->cap, sizeof *m->line);
    }
    size_t bytes = 0;
    for (int i = 0; i < m->ncol; i++) bytes += csv_str(t, i).n;
    char *p = arena_get(&m->text, bytes);
    str *cell = m->cell + m->nrow * (size_t)m->ncol;
    for (int i = 0; i < m->ncol; i++) {
        str s = csv_str(t, i);
        if (s.n) memcpy(p, s.s, s.n);
        cell[i] = (str){ p, s.n };
        p += s.n;
    }
    m->line[m->nrow++] = csv_line(t);
}

struct table table_load(csv *t)
{
    struct table m = table_like(t);
    while (csv_next(t)) table_add(&m, t);
    return m;
}

str table_str(const struct table *m, size_t row, int col)
{
    return m->cell[row * (size_t)m->ncol + (size_t)col];
}

double table_num(const struct table *m, size_t row, int col)
{
    return table_exact(m, row, col).x;
}

struct exact_number table_exact(const struct table *m, size_t row, int col)
{
    struct exact_number v;
    str s = table_str(m, row, col), name = m->name[col];
    const char *expected = exact_wrong(s.s, s.n, &v);
    if (expected)
        die_at(m->file, m->line[row], "column '%.*s': '%.*s' is not %s", (int)name.n, name.s,
               s.n > 200 ? 200 : (int)s.n, s.s, expected);
    return v;
}

void table_write_row(csvw *w, const struct table *m, size_t row)
{
    for (int i = 0; i < m->ncol; i++) csvw_str(w, table_str(m, row, i));
    csvw_end(w);
}

void table_write_names(csvw *w, const struct table *m)
{
    for (int i = 0; i < m->ncol; i++) csvw_str(w, m->name[i]);
    csvw_end(w);
}
