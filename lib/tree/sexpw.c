/* sexpw.c - the writing half of sexp.h */
#include "tree/node.h"
#include "base/message.h"
#include "base/num.h"
#include "base/out.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, INDENT = 2, DEEPEST_INDENT = 100 };

struct sexpw {
    struct buf b;
    FILE *f;
    struct out *out;                                     /* NULL when the file is somebody else's */
    size_t depth;
    enum { GAP_NONE, GAP_BLANK, GAP_LINE } gap;          /* what comes before the next item */
    uint32_t *stack;                                     /* of sexpw_copy: ends of the lists that are open */
    size_t stack_cap;
};

sexpw *sexpw_file(FILE *f)
{
    sexpw *w = xcalloc(1, sizeof *w);
    w->f = f;
    return w;
}

sexpw *sexpw_open(const char *path)
{
    struct out *out = out_open(path);
    sexpw *w = sexpw_file(out_file(out));
    w->out = out;
    return w;
}

static void spill(sexpw *w)
{
    if (w->b.n) fwrite(w->b.s, 1, w->b.n, w->f);         /* errors stick to the stream and are seen at close */
    w->b.n = 0;
}

static void separate(sexpw *w)
{
    if (w->b.n >= BLOCK) spill(w);
    if (w->gap == GAP_BLANK) buf_char(&w->b, ' ');
    if (w->gap == GAP_LINE) {
        buf_char(&w->b, '\n');
        size_t depth = w->depth < DEEPEST_INDENT ? w->depth : DEEPEST_INDENT;    /* else a deep list is blanks only */
        for (size_t i = 0; i < depth * INDENT; i++) buf_char(&w->b, ' ');
    }
    w->gap = GAP_BLANK;
}

static void item_done(sexpw *w)
{
    if (w->depth) return;
    buf_char(&w->b, '\n');
    w->gap = GAP_NONE;
    spill(w);
}

void sexpw_begin(sexpw *w, const char *head)
{
    separate(w);
    buf_char(&w->b, '(');
    w->depth++;
    w->gap = GAP_NONE;
    if (head) sexpw_cstr(w, head);
}

void sexpw_end(sexpw *w)
{
    if (!w->depth) die("sexpw_end without sexpw_begin");
    buf_char(&w->b, ')');
    w->depth--;
    w->gap = GAP_BLANK;
    item_done(w);
}

/* would every dialect but COMPILER read the bytes back as one bare atom? */
static bool bare(str s)
{
    if (!s.n) return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (c <= ' ' || c == 127 || c == '(' || c == ')' || c == '"' || c == ';' || c == '\\') return false;
        if (c == '|' && ((i && s.s[i - 1] == '#') || (i + 1 < s.n && s.s[i + 1] == '#'))) return false;
    }
    return s.n < 3 || memcmp(s.s, "\xef\xbb\xbf", 3) != 0;   /* at the start of a file it would be skipped */
}

static void quote(struct buf *b, str s)
{
    buf_char(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (c == '"' || c == '\\') buf_char(b, '\\'), buf_char(b, (char)c);
        else if (c == '\n') buf_add(b, "\\n", 2);
        else if (c == '\t') buf_add(b, "\\t", 2);
        else if (c == '\r') buf_add(b, "\\r", 2);
        else if (c < ' ' || c == 127) buf_format(b, "\\%03d", c);
        else buf_char(b, (char)c);
    }
    buf_char(b, '"');
}

void sexpw_atom(sexpw *w, str s)
{
    separate(w);
    if (bare(s)) buf_str(&w->b, s);
    else quote(&w->b, s);
    item_done(w);
}

void sexpw_cstr(sexpw *w, const char *s)
{
    sexpw_atom(w, str_of(s));
}

void sexpw_num(sexpw *w, double v)
{
    char b[NUM_MAX];
    sexpw_atom(w, (str){ b, num_print(b, v) });
}

void sexpw_int(sexpw *w, int64_t v)
{
    char b[NUM_MAX];
    sexpw_atom(w, (str){ b, int_print(b, v) });
}

void sexpw_pair(sexpw *w, const char *key, double v)
{
    sexpw_begin(w, key);
    sexpw_num(w, v);
    sexpw_end(w);
}

void sexpw_pair_str(sexpw *w, const char *key, str s)
{
    sexpw_begin(w, key);
    sexpw_atom(w, s);
    sexpw_end(w);
}

void sexpw_copy(sexpw *w, const struct sexp *e, snode n)
{
    size_t open = 0;
    for (snode i = n, end = e->node[n].end; i < end; i++) {
        const struct sexp_node *d = &e->node[i];
        if ((d->kind & KIND) != LIST) {
            sexpw_atom(w, sexp_text_of(e, d));
        } else {
            sexpw_begin(w, NULL);
            w->stack = grow(w->stack, open + 1, &w->stack_cap, sizeof *w->stack);
            w->stack[open++] = d->end;
        }
        for (; open && w->stack[open - 1] == i + 1; open--) sexpw_end(w);
    }
}

static size_t characters(const char *s, size_t n)
{
    size_t of = 0;
    while (n) of += (s[--n] & 0xc0) != 0x80;
    return of;
}

size_t sexp_width(const struct sexp *e, snode n, size_t most)
{
    size_t width = 0;
    for (snode i = n; i < e->node[n].end && width <= most; i++) {
        const struct sexp_node *d = &e->node[i];
        if ((d->kind & KIND) == LIST) {
            width += 2 + d->length - (d->length > 0);
            continue;
        }
        str s = sexp_text_of(e, d);
        if (bare(s) || s.n > most) {
            width += characters(s.s, s.n);
            continue;
        }
        struct buf b = { 0 };
        quote(&b, s);
        width += characters(b.s, b.n);
        free(b.s);
    }
    return width;
}

void sexpw_line(sexpw *w)
{
    if (w->depth) w->gap = GAP_LINE;
}

int sexpw_close(sexpw *w)
{
    if (w->depth) die("sexpw_close with %zu open lists", w->depth);
    spill(w);
    if (w->out) out_close(w->out);
    else if (fflush(w->f) != 0 || ferror(w->f)) die_errno("cannot write");
    free(w->b.s);
    free(w->stack);
    free(w);
    return EXIT_OK;
}

str sexp_written(const struct sexp *e, snode from, bool alone, struct arena *text)
{
    char *s = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&s, &n);
    sexpw *w = sexpw_file(f);
    for (snode k = from; k != SEXP_NONE; k = alone ? SEXP_NONE : sexp_after(e, k)) sexpw_copy(w, e, k);
    sexpw_close(w);
    fclose(f);
    for (size_t i = 0; i < n; i++) if (s[i] == '\n') s[i] = ' ';   /* one line an item; strings hold no line ends */
    str v = { arena_copy(text, s, n ? n - 1 : 0), n ? n - 1 : 0 };
    free(s);
    return v;
}
