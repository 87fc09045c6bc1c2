/* page.c - see page.h */
#include "prof/page.h"
#include "base/compare.h"
#include "base/out.h"
#include "prof-page.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_ROWS = 2000 };

/* ---- JSON that may stand in HTML */

static void put_string(FILE *f, str s)
{
    putc('"', f);
    for (size_t i = 0, n; i < s.n; i += n) {
        unsigned char c = (unsigned char)s.s[i];
        n = str_character((str){ s.s + i, s.n - i });
        if (!n) {
            fputs("\\ufffd", f);
            n = 1;
        } else if (n > 1) fwrite(s.s + i, 1, n, f);
        else if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x7f)
            fprintf(f, "\\u%04x", c);
        else putc(c, f);
    }
    putc('"', f);
}

static void put_member(FILE *f, const char *name, str value)
{
    fprintf(f, "\"%s\":", name);
    put_string(f, value);
    putc(',', f);
}

/* a table as an array of objects, fields as text */
static void put_table(FILE *f, const char *name, const char *path, size_t limit)
{
    fprintf(f, "\"%s\":[", name);
    csv *t = path ? csv_open(path) : NULL;
    for (size_t n = 0; t && n < limit && csv_next(t); n++) {
        fputs(n ? ",\n{" : "\n{", f);
        for (int c = 0; c < csv_ncol(t); c++) {
            if (c) putc(',', f);
            put_string(f, csv_name(t, c));
            putc(':', f);
            put_string(f, csv_str(t, c));
        }
        putc('}', f);
    }
    if (t) csv_close(t);
    fputs("],\n", f);
}

/* the critical path's pieces, in ns since the first row: a number of JavaScript has 53 bits */
static void put_pieces(FILE *f, const char *path, int64_t origin)
{
    fputs("\"pieces\":[", f);
    csv *t = path ? csv_open(path) : NULL;
    int from = t ? csv_need(t, "start_ns") : 0, to = t ? csv_need(t, "end_ns") : 0;
    int p = t ? csv_need(t, "proc") : 0, d = t ? csv_need(t, "tid") : 0;
    for (bool any = false; t && csv_next(t); any = true) {
        fputs(any ? ",\n{" : "\n{", f);
        put_member(f, "proc", csv_str(t, p));
        put_member(f, "tid", csv_str(t, d));
        fprintf(f, "\"start\":%" PRId64 ",\"end\":%" PRId64 "}", csv_int(t, from) - origin, csv_int(t, to) - origin);
    }
    if (t) csv_close(t);
    fputs("],\n", f);
}

/* ---- lanes */

static int by_length(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return ORDER(*y, *x);
}

static uint64_t length(const struct row *r)
{
    return (uint64_t)r->end - (uint64_t)r->start;
}

/* the least length that is drawn, so that at most `limit` are */
static uint64_t least_length(const struct event_table *t, size_t rows, size_t limit)
{
    if (rows <= limit) return 1;
    uint64_t *v = xmalloc(rows, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < t->rows.n; i++) if (is_activity(&t->rows.v[i])) v[n++] = length(&t->rows.v[i]);
    qsort(v, n, sizeof *v, by_length);
    uint64_t least = v[limit] + 1;
    free(v);
    return least;
}

struct box { int64_t start, end; uint32_t name, cat, depth; };
struct lane { struct box *v; size_t n, cap; int64_t *open; size_t depth, open_cap; };

/* what is drawn of a lane: intervals cut at the end of the one they lie in */
static void lay_out(struct lane *l, struct event_table *t, const struct row *row, size_t n, uint64_t least)
{
    l->n = l->depth = 0;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &row[i];
        if (!is_activity(r) || length(r) < least) continue;
        while (l->depth && l->open[l->depth - 1] <= r->start) l->depth--;
        int64_t end = l->depth && r->end > l->open[l->depth - 1] ? l->open[l->depth - 1] : r->end;
        uint32_t cat = r->kind == EVENT_OP ? intern(&t->text, str_of("operation")) : r->cat;
        l->v = grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
        l->v[l->n++] = (struct box){ r->start, end, r->name, cat, (uint32_t)l->depth };
        l->open = grow(l->open, l->depth + 1, &l->open_cap, sizeof *l->open);
        l->open[l->depth++] = end;
    }
}

struct numbers { uint32_t *of, *text; size_t n, cap; };  /* texts that are used, numbered anew; of: number + 1 */

static uint32_t number(struct numbers *k, uint32_t text)
{
    if (!k->of[text]) {
        k->text = grow(k->text, k->n + 1, &k->cap, sizeof *k->text);
        k->text[k->n++] = text;
        k->of[text] = (uint32_t)k->n;
    }
    return k->of[text] - 1;
}

static void put_numbers(FILE *f, const char *name, const struct lane *l, int64_t origin, int what, struct numbers *k)
{
    int64_t before = origin;
    fprintf(f, ",\"%s\":[", name);
    for (size_t i = 0; i < l->n; i++) {
        const struct box *b = &l->v[i];
        if (i) putc(',', f);
        if (what == 0) fprintf(f, "%" PRId64, b->start - before);
        else if (what == 1) fprintf(f, "%" PRId64, b->end - b->start);
        else if (what == 2) fprintf(f, "%" PRIu32, number(&k[0], b->name));
        else if (what == 3) fprintf(f, "%" PRIu32, number(&k[1], b->cat));
        else fprintf(f, "%" PRIu32, b->depth);
        before = b->start;
    }
    putc(']', f);
}

static void put_texts(FILE *f, const char *name, const struct event_table *t, const struct numbers *k)
{
    fprintf(f, "\"%s\":[", name);
    for (size_t i = 0; i < k->n; i++) {
        if (i) putc(',', f);
        put_string(f, t->text.name[k->text[i]]);
    }
    fputs("],\n", f);
}

/* CPU lanes before those of the GPU; lanes of a process together as they come */
static void put_lanes(FILE *f, struct event_table *t, int64_t origin, uint64_t least)
{
    struct lane l = { 0 };
    intern(&t->text, str_of("operation"));
    struct numbers k[2] = { { 0 }, { 0 } };
    for (int i = 0; i < 2; i++) k[i].of = xcalloc(t->text.n, sizeof(uint32_t));
    bool any = false;
    fputs("\"lanes\":[", f);
    for (int gpu = 0; gpu < 2; gpu++)
        for (size_t begin = 0, end = 0; next_thread(&t->rows, &begin, &end);) {
            const struct row *row = t->rows.v + begin;
            bool is_stream = false;
            for (size_t i = begin; i < end && !is_stream; i++) is_stream = t->rows.v[i].kind == EVENT_GPU;
            if (is_stream != gpu) continue;
            lay_out(&l, t, row, end - begin, least);
            if (!l.n) continue;
            fputs(any ? ",\n{" : "\n{", f);
            any = true;
            str proc = t->text.name[row->proc], tid = t->text.name[row->tid];
            put_member(f, "proc", proc);
            put_member(f, "tid", tid);
            char *name = xformat("%.*s / %.*s", (int)proc.n, proc.s, (int)tid.n, tid.s);
            put_member(f, "name", str_of(name));
            free(name);
            fprintf(f, "\"gpu\":%s", gpu ? "true" : "false");
            put_numbers(f, "start", &l, origin, 0, k);
            put_numbers(f, "len", &l, origin, 1, k);
            put_numbers(f, "name_id", &l, origin, 2, k);
            put_numbers(f, "cat", &l, origin, 3, k);
            put_numbers(f, "depth", &l, origin, 4, k);
            putc('}', f);
        }
    fputs("],\n", f);
    put_texts(f, "names", t, &k[0]);
    put_texts(f, "cats", t, &k[1]);
    for (int i = 0; i < 2; i++) {
        free(k[i].of);
        free(k[i].text);
    }
    free(l.v);
    free(l.open);
}

void page_write(const char *path, const struct page *p, struct event_table *t)
{
    static const char mark[] = "@DATA@";
    const char *data = strstr(page_template, mark);
    int64_t start = INT64_MAX, end = INT64_MIN;
    size_t rows = 0, left = 0;
    table_sort_threads(t);
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *r = &t->rows.v[i];
        if (!is_activity(r)) continue;
        rows++;
        if (r->start < start) start = r->start;
        if (r->end > end) end = r->end;
    }
    if (!rows) start = end = 0;
    uint64_t least = least_length(t, rows, p->limit);
    for (size_t i = 0; i < t->rows.n; i++) left += is_activity(&t->rows.v[i]) && length(&t->rows.v[i]) < least;
    struct out *o = out_open(path);
    FILE *f = out_file(o);
    fwrite(page_template, 1, (size_t)(data - page_template), f);
    putc('{', f);
    put_member(f, "title", str_of(p->title));
    put_member(f, "kind", str_of(p->kind ? p->kind : ""));
    char *note = left ? xformat("%zu intervals, all shorter than %" PRIu64 " ns, are not drawn in lanes and flame; the "
                                "tables count them.", left, least) : xstrdup("");
    put_member(f, "left", str_of(note));
    free(note);
    put_table(f, "cells", p->cells, SIZE_MAX);
    put_table(f, "top", p->top, TOP_ROWS);
    put_table(f, "path", p->path, TOP_ROWS);
    put_table(f, "whatif", p->whatif, TOP_ROWS);
    put_pieces(f, p->pieces, start);
    put_lanes(f, t, start, least);
    fprintf(f, "\"rows\":%zu,\"span\":%" PRId64 "}", rows, end - start);
    fputs(data + sizeof mark - 1, f);
    out_close(o);
}
