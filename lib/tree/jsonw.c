/* jsonw.c - the writing half of json.h */
#include "tree/json.h"
#include "base/message.h"
#include "base/num.h"
#include "base/out.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct jsonw {
    struct out *out;
    const char *path;
    struct buf b;                                        /* not yet written */
    char *open;
    size_t depth, open_cap;
    bool first, after_key, line;
};

jsonw *jsonw_open(const char *path)
{
    jsonw *w = xcalloc(1, sizeof *w);
    w->out = out_open(path);
    w->path = path && strcmp(path, "-") != 0 ? path : "(stdout)";
    w->first = true;
    return w;
}

static void flush(jsonw *w)
{
    if (!write_all(out_fd(w->out), w->b.s, w->b.n)) die_errno("write %s", w->path);
    w->b.n = 0;
}

static void before(jsonw *w)
{
    if (w->b.n > 1 << 16) flush(w);
    if (!w->after_key && !w->first) buf_char(&w->b, w->depth ? ',' : '\n');
    if (w->line && !w->after_key) buf_char(&w->b, '\n');
    w->line = w->after_key = w->first = false;
}

void jsonw_begin(jsonw *w, char bracket)
{
    before(w);
    w->open = grow(w->open, w->depth + 1, &w->open_cap, 1);
    w->open[w->depth++] = bracket;
    buf_char(&w->b, bracket);
    w->first = true;
}

void jsonw_end(jsonw *w)
{
    if (w->line) buf_char(&w->b, '\n');
    buf_char(&w->b, w->open[--w->depth] == '{' ? '}' : ']');
    w->first = w->line = false;
}

void jsonw_line(jsonw *w)
{
    w->line = true;
}

static void quoted(struct buf *b, str s)
{
    buf_char(b, '"');
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.s[i];
        size_t len = str_character((str){ s.s + i, s.n - i });
        if (len == 0) buf_add(b, "\xef\xbf\xbd", 3);
        else if (c == '"' || c == '\\') buf_add(b, (const char[]){ '\\', (char)c }, 2);
        else if (c < 0x20) buf_format(b, "\\u%04x", c);
        else buf_add(b, s.s + i, len);
        i += len ? len : 1;
    }
    buf_char(b, '"');
}

void jsonw_str(jsonw *w, str s)
{
    before(w);
    quoted(&w->b, s);
}

void jsonw_key_str(jsonw *w, str s)
{
    jsonw_str(w, s);
    buf_char(&w->b, ':');
    w->after_key = true;
}

void jsonw_key(jsonw *w, const char *s)
{
    jsonw_key_str(w, str_of(s));
}

void jsonw_raw(jsonw *w, str s)
{
    before(w);
    buf_str(&w->b, s);
}

void jsonw_num(jsonw *w, double v)
{
    char b[NUM_MAX];
    if (isfinite(v)) jsonw_raw(w, (str){ b, num_print(b, v) });
    else jsonw_raw(w, str_of("null"));
}

void jsonw_int(jsonw *w, int64_t v)
{
    char b[NUM_MAX];
    jsonw_raw(w, (str){ b, int_print(b, v) });
}

int jsonw_close(jsonw *w)
{
    if (!w->first) buf_char(&w->b, '\n');
    flush(w);
    out_close(w->out);
    free(w->b.s);
    free(w->open);
    free(w);
    return EXIT_OK;
}
