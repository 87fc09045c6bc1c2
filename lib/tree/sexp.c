/* sexp.c - reading and looking: see sexp.h; the nodes: see node.h */
#include "tree/node.h"
#include "base/message.h"
#include "base/num.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 1 << 18, PAD = 64 };
enum { C_ATOM, C_BLANK, C_OPEN, C_CLOSE, C_QUOTE, C_SEMICOLON, C_HASH, C_NUL };

struct sexpr {
    struct sexp e;
    char *name, *buf;
    char **more;                                         /* further files, NULL-terminated */
    size_t keep, pos, len, cap;                          /* in buf: this expression's start, next byte, end, room */
    size_t line, column;                                 /* of buf[0], from 1 */
    int fd;                                              /* -1 for text */
    bool close_fd, live, begun, end;
    char quote, semicolon;                               /* what ends an atom besides blanks and parentheses */
    unsigned char class[256];
    struct message_open open;
};

/* ---- reading ---- */

static void classify(sexpr *r, enum sexp_dialect dialect)
{
    r->class[0] = C_NUL;
    r->class[' '] = r->class['\t'] = r->class['\n'] = r->class['\r'] = C_BLANK;
    r->class['('] = C_OPEN;
    r->class[')'] = C_CLOSE;
    r->quote = r->semicolon = '(';
    if (dialect != SEXP_COMPILER) r->class[(unsigned char)(r->quote = '"')] = C_QUOTE;
    if (dialect == SEXP_CORE) {
        r->class[(unsigned char)(r->semicolon = ';')] = C_SEMICOLON;
        r->class['#'] = C_HASH;
    }
}

static void close_reader(void *r) { sexp_close(r); }

static sexpr *reader(const char *name, enum sexp_dialect dialect)
{
    sexpr *r = xcalloc(1, sizeof *r);
    r->name = xstrdup(name);
    r->fd = -1;
    r->line = r->column = 1;
    r->e.reader = r;
    classify(r, dialect);
    message_open(&r->open, close_reader, r);
    return r;
}

static void open_path(sexpr *r, const char *path)
{
    bool in = strcmp(path, "-") == 0;
    r->fd = in ? 0 : open(path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0) die_errno("%s", path);
    r->close_fd = !in;
    struct stat st;
    r->live = fstat(r->fd, &st) != 0 || !S_ISREG(st.st_mode);
}

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "(stdin)" : path;
}

sexpr *sexp_open(const char *path, enum sexp_dialect dialect)
{
    sexpr *r = reader(name_of(path), dialect);
    open_path(r, path);
    return r;
}

sexpr *sexp_files(char **paths, enum sexp_dialect dialect)
{
    if (!paths[0]) return sexp_open("-", dialect);
    sexpr *r = sexp_open(paths[0], dialect);
    r->more = paths + 1;
    return r;
}

static bool next_file(sexpr *r)
{
    if (!r->more || !*r->more) return false;
    if (r->close_fd) close(r->fd);
    free(r->name);
    r->name = xstrdup(name_of(*r->more));
    r->keep = r->pos = r->len = 0;
    r->line = r->column = 1;
    r->begun = r->end = false;
    open_path(r, *r->more++);
    return true;
}

sexpr *sexp_open_text(const char *text, size_t n, const char *name, enum sexp_dialect dialect)
{
    sexpr *r = reader(name, dialect);
    r->cap = n + PAD;
    r->buf = xmalloc(r->cap, 1);
    if (n) memcpy(r->buf, text, n);
    memset(r->buf + n, 0, PAD);
    r->len = n;
    return r;
}

void sexp_close(sexpr *r)
{
    message_shut(&r->open);
    if (r->close_fd) close(r->fd);
    free_all(r->e.node, r->e.decoded.s, r->name, r->buf, r);
}

/* line and column of a byte of buf */
static void locate(const sexpr *r, size_t at, size_t *line, size_t *column)
{
    const char *p = r->buf, *end = r->buf + at;
    *line = r->line;
    *column = r->column + at;
    for (const char *nl; p < end && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1) {
        ++*line;
        *column = (size_t)(end - nl);
    }
}

static _Noreturn void malformed(const sexpr *r, size_t at, const char *fmt, ...) MESSAGE_FORMAT(3, 4);
static void malformed(const sexpr *r, size_t at, const char *fmt, ...)
{
    char what[256];
    size_t line, column;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    locate(r, at, &line, &column);
    die("%s:%zu:%zu: %s", r->name, line, column, what);
}

static _Noreturn void unclosed(const sexpr *r, snode open)
{
    const struct sexp_node *node = r->e.node;
    size_t depth = 1, line, column, inner, outer;
    snode top = open;
    for (; node[top].end != SEXP_NONE; top = node[top].end) depth++;
    locate(r, r->keep + node[open].start, &inner, &column);
    locate(r, r->keep + node[top].start, &outer, &column);
    locate(r, r->len, &line, &column);
    if (depth == 1) die("%s:%zu:%zu: unclosed list, opened at line %zu", r->name, line, column, outer);
    die("%s:%zu:%zu: %zu unclosed lists, the outermost opened at line %zu, the innermost at line %zu",
        r->name, line, column, depth, outer, inner);
}

/* Reads on behind len; text before `keep` may go.  False at the end of the input. */
static bool more(sexpr *r)
{
    if (r->fd < 0 || r->end) return false;
    if (r->cap - r->len < BLOCK / 4 + PAD && r->keep) {
        locate(r, r->keep, &r->line, &r->column);
        memmove(r->buf, r->buf + r->keep, r->len - r->keep);
        r->pos -= r->keep;
        r->len -= r->keep;
        r->keep = 0;
    }
    r->buf = grow(r->buf, r->len + BLOCK + PAD, &r->cap, 1);
    if (r->len - r->keep > UINT32_MAX - BLOCK) malformed(r, r->keep, "expression of more than 4 GiB");
    if (r->live) fflush(stdout);
    ssize_t got;
    do got = read(r->fd, r->buf + r->len, BLOCK);
    while (got < 0 && errno == EINTR);
    if (got < 0) die_errno("%s: cannot read", r->name);
    r->len += (size_t)got;
    memset(r->buf + r->len, 0, PAD);
    return !(r->end = got == 0);
}

/* Does the input start with `what`?  Reads no further than needed to tell. */
static bool starts(sexpr *r, const char *what)
{
    size_t n = strlen(what);
    while (r->len < n && memcmp(r->buf, what, r->len) == 0 && more(r)) {}
    return r->len >= n && memcmp(r->buf, what, n) == 0;
}

static void begin(sexpr *r)
{
    r->begun = true;
    if (!r->len && !more(r)) die("%s: empty input", r->name);
    if (starts(r, "version https://git-lfs.github.com/spec/"))
        die("%s: a git-lfs pointer, not the data itself (fetch it with 'git lfs pull')", r->name);
    if (starts(r, "\xef\xbb\xbf")) r->pos = 3;          /* byte order mark */
}

/* Offset of the first byte from `at` on that may end an atom; the text is padded with NULs, which do. */
static inline const char *scan_atom(const char *s, char quote, char semicolon)
{
#ifdef __SSE2__
    const __m128i q = _mm_set1_epi8(quote), c = _mm_set1_epi8(semicolon);
    const __m128i blank = _mm_set1_epi8(' '), one = _mm_set1_epi8(1), close = _mm_set1_epi8(')');
    for (;; s += 16) {
        __m128i v = _mm_loadu_si128((const void *)s);
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(v, blank), v);                     /* up to ' ', unsigned */
        __m128i paren = _mm_cmpeq_epi8(_mm_or_si128(v, one), close);                 /* ( and ) differ in one bit */
        __m128i other = _mm_or_si128(_mm_cmpeq_epi8(v, q), _mm_cmpeq_epi8(v, c));
        int m = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(low, paren), other));
        if (m) return s + __builtin_ctz((unsigned)m);
    }
#else
    while ((unsigned char)*s > ' ' && *s != '(' && *s != ')' && *s != quote && *s != semicolon) s++;
    return s;
#endif
}

/* The end of the atom that starts at r->pos, as an offset in buf; reads on as needed. */
static size_t atom_end(sexpr *r)
{
    size_t n = 1;                                        /* bytes known to belong to it */
    for (;;) {
        const char *s = scan_atom(r->buf + r->pos + n, r->quote, r->semicolon);
        n = (size_t)(s - r->buf) - r->pos;
        unsigned char class = r->class[(unsigned char)*s];
        if (class == C_ATOM || class == C_HASH) n++;     /* other control bytes are part of names */
        else if (class != C_NUL || r->pos + n < r->len || !more(r)) return r->pos + n;
    }
}

/* The closing quote of the string that opens at r->pos. */
static size_t string_end(sexpr *r, bool *escapes)
{
    *escapes = false;
    for (size_t n = 1;;) {
        const char *s = r->buf + r->pos;
        size_t have = r->len - r->pos;
        while (n < have && s[n] != '"' && s[n] != '\\' && s[n]) n++;
        if (n < have && s[n] == '"') return r->pos + n;
        if (n < have && !s[n]) malformed(r, r->pos + n, "NUL byte in a string (binary file?)");
        if (n + 1 < have) {                              /* a backslash takes the next byte with it */
            *escapes = true;
            n += 2;
        } else if (!more(r)) {
            malformed(r, r->pos, "unclosed string, opened here");
        }
    }
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One escape, *at on the backslash; moves it behind and gives the byte, -1 for none (a line continued). */
static int escape(const sexpr *r, size_t *at, size_t end)
{
    static const char names[] = "ntrbafv\\\"' ", bytes[] = "\n\t\r\b\a\f\v\\\"' ";
    const char *s = r->buf + *at;
    size_t left = end - *at;
    const char *k = s[1] ? strchr(names, s[1]) : NULL;
    if (k) {
        *at += 2;
        return (unsigned char)bytes[k - names];
    }
    if (s[1] == '\n' || (s[1] == '\r' && left > 2 && s[2] == '\n')) {
        for (*at += 1 + (s[1] == '\r') + 1; *at < end && (r->buf[*at] == ' ' || r->buf[*at] == '\t');) ++*at;
        return -1;
    }
    if (left >= 4 && s[1] == 'x' && hex(s[2]) >= 0 && hex(s[3]) >= 0) {
        *at += 4;
        return hex(s[2]) << 4 | hex(s[3]);
    }
    if (left >= 4 && digit(s[1]) && digit(s[2]) && digit(s[3])) {
        int v = (s[1] - '0') * 100 + (s[2] - '0') * 10 + (s[3] - '0');
        if (v > 255) malformed(r, *at, "\\%d is no byte, want \\000 to \\255", v);
        *at += 4;
        return v;
    }
    malformed(r, *at, "unknown escape '\\%c' in a string", s[1]);
}

/* the string between buf[from] and buf[to] into `decoded`; gives the entry's offset */
static uint32_t decode(sexpr *r, size_t from, size_t to)
{
    struct buf *d = &r->e.decoded;
    uint32_t origin = (uint32_t)(from - 1 - r->keep);
    size_t entry = d->n;
    if (entry > UINT32_MAX - (to - from) - sizeof origin) malformed(r, from, "more than 4 GiB of strings");
    buf_add(d, (const char *)&origin, sizeof origin);
    for (size_t at = from; at < to;) {
        const char *s = r->buf + at, *back = memchr(s, '\\', to - at);
        size_t n = back ? (size_t)(back - s) : to - at;
        buf_add(d, s, n);
        at += n;
        int byte = at < to ? escape(r, &at, to) : -1;
        if (byte >= 0) buf_char(d, (char)byte);
    }
    return (uint32_t)entry;
}

static void skip_block_comment(sexpr *r)
{
    size_t line, column;
    locate(r, r->pos, &line, &column);
    size_t depth = 1;
    for (r->pos += 2; depth;) {
        const char *s = r->buf + r->pos;
        if (r->pos + 1 >= r->len) {
            if (r->e.n == 0) r->keep = r->pos;
            if (more(r)) continue;
            die("%s:%zu:%zu: unclosed comment #|, opened here", r->name, line, column);
        }
        bool open = s[0] == '#' && s[1] == '|', shut = s[0] == '|' && s[1] == '#';
        depth += open;
        depth -= shut;
        r->pos += open || shut ? 2 : 1;
    }
}

static void skip_line(sexpr *r)
{
    for (;;) {
        const char *nl = memchr(r->buf + r->pos, '\n', r->len - r->pos);
        r->pos = nl ? (size_t)(nl - r->buf) : r->len;
        if (r->e.n == 0) r->keep = r->pos;
        if (nl || !more(r)) return;
    }
}

static snode add(struct sexp *e, size_t start, size_t length, uint32_t kind)
{
    if (e->n == e->cap) {
        e->node = grow(e->node, e->n + 1, &e->cap, sizeof *e->node);
        if (e->n >= UINT32_MAX - 1) die("expression of more than %u nodes", UINT32_MAX - 1);
    }
    e->node[e->n] = (struct sexp_node){ (uint32_t)start, (uint32_t)length, (uint32_t)e->n + 1, kind };
    return (snode)e->n++;
}

const struct sexp *sexp_next(sexpr *r)
{
    struct sexp *e = &r->e;
    snode open = SEXP_NONE, last = SEXP_NONE;            /* innermost open list; its latest child */
    if (!r->begun) begin(r);
    e->n = e->decoded.n = 0;
    r->keep = r->pos;
    for (;;) {
        unsigned char class = r->class[(unsigned char)r->buf[r->pos]];
        if (class == C_BLANK) {
            r->pos++;
            continue;
        }
        if (open == SEXP_NONE) r->keep = r->pos;
        if (class == C_HASH) {
            if (r->pos + 1 >= r->len && more(r)) continue;
            if (r->buf[r->pos + 1] == ';') malformed(r, r->pos, "comments of the form #; are not supported");
            class = r->buf[r->pos + 1] == '|' ? C_HASH : C_ATOM;
        }
        size_t start = r->pos - r->keep;
        switch (class) {
        case C_ATOM: {
            size_t end = atom_end(r);
            last = add(e, start, end - r->pos, BARE);
            r->pos = end;
            break;
        }
        case C_OPEN:
            last = add(e, start, 0, LIST);
            e->node[last].end = open;
            if (open != SEXP_NONE) e->node[open].length++;
            open = last;
            last = SEXP_NONE;
            r->pos++;
            continue;
        case C_CLOSE:
            if (open == SEXP_NONE) malformed(r, r->pos, "unexpected ')', no list is open");
            if (last != SEXP_NONE) e->node[last].kind |= LAST;
            last = open;
            open = e->node[last].end;
            e->node[last].end = (uint32_t)e->n;
            r->pos++;
            if (open != SEXP_NONE) continue;
            break;
        case C_QUOTE: {
            bool escapes;
            size_t end = string_end(r, &escapes);
            if (escapes) {
                uint32_t entry = decode(r, r->pos + 1, end);
                last = add(e, entry, e->decoded.n - entry - sizeof entry, DECODED);
            } else {
                last = add(e, start + 1, end - r->pos - 1, PLAIN);
            }
            r->pos = end + 1;
            break;
        }
        case C_SEMICOLON:
            skip_line(r);
            continue;
        case C_HASH:
            skip_block_comment(r);
            continue;
        default:
            if (r->pos < r->len) malformed(r, r->pos, "NUL byte (binary file?)");
            if (more(r)) continue;
            if (open != SEXP_NONE) unclosed(r, open);
            if (!next_file(r)) return NULL;
            begin(r);
            continue;
        }
        if (open == SEXP_NONE) {
            e->node[0].kind |= LAST;
            e->text = r->buf + r->keep;
            return e;
        }
        e->node[open].length++;
    }
}

static const char *table_hint(const struct sexp *e);

const struct sexp *sexp_only(sexpr *r)
{
    const struct sexp *e = sexp_next(r);
    if (!e) die("%s: no expression in the input", r->name);
    for (;;) {                                           /* what follows may only be blank: look without parsing */
        while (r->class[(unsigned char)r->buf[r->pos]] == C_BLANK) r->pos++;
        unsigned char class = r->class[(unsigned char)r->buf[r->pos]];
        if (class == C_SEMICOLON) skip_line(r);
        else if (class == C_HASH && r->pos + 1 < r->len && r->buf[r->pos + 1] == '|') skip_block_comment(r);
        else if (class != C_NUL || r->pos < r->len) malformed(r, r->pos, "more than one expression%s", table_hint(e));
        else if (!more(r)) break;
    }
    r->e.text = r->buf + r->keep;                        /* more() may have moved the text, and with it keep */
    return e;
}

/* ---- looking ---- */

bool sexp_is_list(const struct sexp *e, snode n)
{
    return n != SEXP_NONE && (e->node[n].kind & KIND) == LIST;
}

bool sexp_is_atom(const struct sexp *e, snode n)
{
    return n != SEXP_NONE && (e->node[n].kind & KIND) != LIST;
}

str sexp_text_of(const struct sexp *e, const struct sexp_node *d)
{
    if ((d->kind & KIND) == DECODED) return (str){ e->decoded.s + d->start + sizeof d->start, d->length };
    return (str){ e->text + d->start, d->length };
}

str sexp_atom(const struct sexp *e, snode n)
{
    if (n == SEXP_NONE) sexp_die(e, 0, "an item is missing in this expression");
    if (sexp_is_list(e, n)) sexp_die(e, n, "a list where an atom was expected");
    return sexp_text_of(e, &e->node[n]);
}

snode sexp_first(const struct sexp *e, snode n)
{
    return sexp_is_list(e, n) && e->node[n].length ? n + 1 : SEXP_NONE;
}

snode sexp_after(const struct sexp *e, snode n)
{
    return n == SEXP_NONE || e->node[n].kind & LAST ? SEXP_NONE : e->node[n].end;
}

size_t sexp_count(const struct sexp *e, snode n)
{
    return sexp_is_list(e, n) ? e->node[n].length : 0;
}

snode sexp_nth(const struct sexp *e, snode n, size_t i)
{
    if (i >= sexp_count(e, n)) return SEXP_NONE;
    snode k = n + 1;
    while (i--) k = e->node[k].end;
    return k;
}

bool sexp_head(const struct sexp *e, snode n, const char *word)
{
    snode k = sexp_first(e, n);
    return k != SEXP_NONE && sexp_is_atom(e, k) && str_is(sexp_text_of(e, &e->node[k]), word);
}

snode sexp_get(const struct sexp *e, snode n, const char *key)
{
    snode k = sexp_first(e, n);
    while (k != SEXP_NONE && !sexp_head(e, k, key)) k = sexp_after(e, k);
    return k;
}

snode sexp_value(const struct sexp *e, snode n, const char *key)
{
    snode k = sexp_get(e, n, key);
    return k == SEXP_NONE ? SEXP_NONE : sexp_nth(e, k, 1);
}

size_t sexp_line(const struct sexp *e, snode n)
{
    uint32_t start = e->node[n].start;
    if ((e->node[n].kind & KIND) == DECODED) memcpy(&start, e->decoded.s + start, sizeof start);
    size_t line, column;
    locate(e->reader, e->reader->keep + start, &line, &column);
    return line;
}

/* the first line of a table is an atom with commas in it */
static const char *table_hint(const struct sexp *e)
{
    bool table = e->n && sexp_is_atom(e, 0) && sexp_atom(e, 0).n && memchr(sexp_atom(e, 0).s, ',', sexp_atom(e, 0).n);
    return table ? "; this looks like a table, an s-expression is wanted (sexp-from-csv makes one)" : "";
}

void sexp_die(const struct sexp *e, snode n, const char *fmt, ...)
{
    char what[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    die_at(e->reader->name, sexp_line(e, n), "%s%s", what, table_hint(e));
}

snode sexp_item(const struct sexp *e, snode list, size_t i, const char *what)
{
    snode n = sexp_nth(e, list, i);
    if (n == SEXP_NONE) sexp_die(e, list, "%s is missing", what);
    return n;
}

double sexp_num(const struct sexp *e, snode n)
{
    double v;
    str s = sexp_atom(e, n);
    const char *expected = num_wrong(s.s, s.n, &v);
    if (expected) sexp_die(e, n, "'%.*s' is not %s", (int)(s.n < 80 ? s.n : 80), s.s, expected);
    return v;
}

int64_t sexp_int(const struct sexp *e, snode n)
{
    int64_t v;
    str s = sexp_atom(e, n);
    if (!int_parse(s.s, s.n, &v)) sexp_die(e, n, "'%.*s' is not an integer", (int)(s.n < 80 ? s.n : 80), s.s);
    return v;
}

static snode need(const struct sexp *e, snode n, const char *key)
{
    snode v = sexp_value(e, n, key);
    if (v == SEXP_NONE) sexp_die(e, n, "no (%s ...) in this list", key);
    return v;
}

double sexp_num_of(const struct sexp *e, snode n, const char *key)
{
    return sexp_num(e, need(e, n, key));
}

double sexp_num_or(const struct sexp *e, snode n, const char *key, double missing)
{
    snode v = sexp_value(e, n, key);
    return v == SEXP_NONE ? missing : sexp_num(e, v);
}

str sexp_str_of(const struct sexp *e, snode n, const char *key)
{
    return sexp_atom(e, need(e, n, key));
}
