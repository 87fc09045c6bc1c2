/* json.c - see json.h.  Strings are scanned 16 bytes a step (SSE2); a plain loop does elsewhere. */
#include "tree/json.h"
#include "base/message.h"
#include "base/num.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { CHUNK = 1 << 18, PAD = 16, TOKEN_MAX = 1 << 26, DEPTH_MAX = 1000000 };
enum state { VALUE, FIRST_VALUE, KEY, FIRST_KEY, AFTER, TOP };   /* what may come next; FIRST: or the closing bracket */

struct jsonr {
    gzFile file;                                         /* NULL: text */
    const char *path;
    char *buf;                                           /* [pos, len) is unread; PAD zero bytes follow */
    size_t pos, len, cap;
    bool eof;
    /* newlines before buf; bytes between the last of them and buf; all bytes before buf */
    size_t lines, column0, before;
    char *open;                                          /* the open brackets */
    size_t depth, open_cap;
    enum state state;
    enum json token;
    str text;
    struct buf plain;                                    /* decoded text */
    bool tolerant, truncated;
    char *fault;
    size_t fault_at;
};

/* ---- input */

static jsonr *new_reader(const char *name)
{
    jsonr *j = xcalloc(1, sizeof *j);
    j->path = name;
    j->state = TOP;
    return j;
}

jsonr *json_open(const char *path)
{
    bool in = strcmp(path, "-") == 0;
    jsonr *j = new_reader(in ? "(stdin)" : path);
    int fd = in ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) die_errno("%s", path);
    j->file = gzdopen(fd, "rb");
    if (!j->file) die("out of memory");
    j->cap = CHUNK + PAD;
    j->buf = xcalloc(j->cap, 1);
    return j;
}

jsonr *json_open_text(const char *text, size_t n, const char *name)
{
    jsonr *j = new_reader(name);
    j->cap = n + PAD;
    j->buf = xcalloc(j->cap, 1);
    if (n) memcpy(j->buf, text, n);
    j->len = n;
    j->eof = true;
    return j;
}

void json_close(jsonr *j)
{
    if (j->file) gzclose_r(j->file);
    free_all(j->buf, j->open, j->plain.s, j->fault, j);
}

void json_tolerate(jsonr *j)
{
    j->tolerant = true;
}

const char *json_fault(const jsonr *j)
{
    return j->fault;
}

bool json_truncated(const jsonr *j)
{
    return j->truncated;
}

size_t json_offset(const jsonr *j)
{
    return j->fault ? j->fault_at : j->before + j->pos;
}

static void where(const jsonr *j, size_t at, size_t *line, size_t *column)
{
    *line = j->lines + 1;
    *column = j->column0 + at + 1;
    for (size_t i = 0; i < at; i++) {
        const char *nl = memchr(j->buf + i, '\n', at - i);
        if (!nl) break;
        i = (size_t)(nl - j->buf);
        ++*line;
        *column = at - i;
    }
}

void json_die(const jsonr *j, const char *fmt, ...)
{
    size_t line, column;
    va_list ap;
    char *what;
    where(j, j->pos, &line, &column);
    va_start(ap, fmt);
    if (vasprintf(&what, fmt, ap) < 0) what = NULL;
    va_end(ap);
    die("%s:%zu:%zu: %s", j->path, line, column, what ? what : "malformed");
}

static enum json fail(jsonr *j, size_t at, const char *what)
{
    size_t line, column;
    bool ended = j->eof && at >= j->len;
    where(j, at, &line, &column);
    char *message =
        xformat("%s:%zu:%zu: %s", j->path, line, column, ended ? "the input ends here, inside a value" : what);
    if (!j->tolerant) die("%s", message);
    j->fault = message;
    j->fault_at = j->before + at;
    j->truncated = ended;
    j->pos = j->len;
    j->eof = true;
    return j->token = JSON_END;
}

/* forget what lies before `keep`, read on; false at the end of input.  Offsets move by the returned *shift. */
static bool fill(jsonr *j, size_t keep, size_t *shift)
{
    *shift = 0;
    if (j->eof) return false;
    for (const char *p = j->buf, *end = j->buf + keep; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl) {
            j->column0 += (size_t)(end - p);
            break;
        }
        j->lines++;
        j->column0 = 0;
        p = nl + 1;
    }
    memmove(j->buf, j->buf + keep, j->len - keep);
    j->len -= keep;
    j->before += keep;
    *shift = keep;
    if (j->cap - PAD - j->len < CHUNK / 2) {
        j->cap = j->cap * 2;
        j->buf = xrealloc(j->buf, j->cap, 1);
    }
    int got = gzread(j->file, j->buf + j->len, (unsigned)(j->cap - PAD - j->len));
    if (got <= 0) {
        int err = Z_OK;
        const char *why = gzerror(j->file, &err);
        if (got < 0 && err != Z_BUF_ERROR) {             /* Z_BUF_ERROR: a gzip stream that ends too early */
            if (err == Z_ERRNO) die_errno("%s", j->path);
            die("%s: %s", j->path, why);
        }
        j->eof = true;
        got = 0;
    }
    j->len += (size_t)got;
    memset(j->buf + j->len, 0, PAD);
    return got > 0;
}

/* a byte order mark, as some programs of Windows begin their files */
static void skip_mark(jsonr *j)
{
    size_t shift;
    while (j->len < 3 && fill(j, 0, &shift)) {}
    if (j->len >= 3 && memcmp(j->buf, "\xef\xbb\xbf", 3) == 0) j->pos = 3;
}

/* the next byte that is no blank, not consumed; -1 at the end */
static inline int peek(jsonr *j)
{
    if (!j->before && !j->pos) skip_mark(j);
    for (;;) {
        while (j->pos < j->len) {
            unsigned char c = (unsigned char)j->buf[j->pos];
            if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return c;
            j->pos++;
        }
        size_t shift;
        bool more = fill(j, j->pos, &shift);
        j->pos -= shift;
        if (!more) return -1;
    }
}

/* ---- strings */

/* first '"', '\' or control byte in [i, len) */
static inline size_t find_special(const char *s, size_t i, size_t len)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
    for (; i < len; i += 16) {
        __m128i x = _mm_loadu_si128((const void *)(s + i));
        __m128i bad = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash)),
                                   _mm_cmpeq_epi8(_mm_max_epu8(x, control), control));
        unsigned mask = (unsigned)_mm_movemask_epi8(bad);
        if (mask) {
            i += (size_t)__builtin_ctz(mask);
            return i < len ? i : len;
        }
    }
    return len;
#else
    while (i < len && s[i] != '"' && s[i] != '\\' && (unsigned char)s[i] >= 0x20) i++;
    return i;
#endif
}

static int hex4(const char *s)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        int c = (unsigned char)s[i], d = c >= '0' && c <= '9'                 ? c - '0'
                                         : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                                              : -1;
        if (d < 0) return -1;
        v = v * 16 + d;
    }
    return v;
}

static void add_utf8(struct buf *b, uint32_t c)
{
    if (c < 0x80) {
        buf_char(b, (char)c);
        return;
    }
    if (c < 0x800) buf_char(b, (char)(0xc0 | c >> 6));
    else {
        if (c < 0x10000) buf_char(b, (char)(0xe0 | c >> 12));
        else {
            buf_char(b, (char)(0xf0 | c >> 18));
            buf_char(b, (char)(0x80 | (c >> 12 & 63)));
        }
        buf_char(b, (char)(0x80 | (c >> 6 & 63)));
    }
    buf_char(b, (char)(0x80 | (c & 63)));
}

/* s[0..n) holds a whole string body that was found well-formed */
static void decode(struct buf *b, const char *s, size_t n)
{
    b->n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t plain = i;
        while (plain < n && s[plain] != '\\') plain++;
        buf_add(b, s + i, plain - i);
        if (plain == n) break;
        i = plain + 1;
        static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
        const char *p = strchr(from, s[i]);
        if (s[i] != 'u') {
            buf_char(b, p ? to[p - from] : s[i]);
            continue;
        }
        uint32_t c = (uint32_t)hex4(s + i + 1);
        i += 4;
        if (c >= 0xd800 && c < 0xdc00 && i + 6 < n && s[i + 1] == '\\' && s[i + 2] == 'u') {
            int low = hex4(s + i + 3);
            if (low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
                i += 6;
            }
        }
        add_utf8(b, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
    }
    buf_add(b, "", 0);
}

/* j->pos is at the opening quote; true with j->text set and j->pos after the closing one */
static bool string(jsonr *j)
{
    size_t start = j->pos + 1, i = start, shift;
    bool escaped = false;
    for (;;) {
        i = find_special(j->buf, i, j->len);
        if (i == j->len) {
            if (j->len - start > TOKEN_MAX) return fail(j, start, "a string longer than 64 MiB");
            bool more = fill(j, start - 1, &shift);
            start -= shift;
            i -= shift;
            j->pos -= shift;
            if (!more) return fail(j, j->len, "");
            continue;
        }
        if (j->buf[i] == '"') break;
        if (j->buf[i] != '\\') return fail(j, i, "a control character inside a string");
        escaped = true;
        while (j->len - i < 6) {                         /* \uXXXX must be whole */
            bool more = fill(j, start - 1, &shift);
            start -= shift;
            i -= shift;
            j->pos -= shift;
            if (!more) break;
        }
        if (j->len - i < 2) return fail(j, j->len, "");
        char c = j->buf[i + 1];
        if (c == 'u') {
            if (j->len - i < 6) return fail(j, j->len, "");
            if (hex4(j->buf + i + 2) < 0) return fail(j, i, "\\u is not followed by four hexadecimal digits");
            i += 6;
        } else if (c && strchr("\"\\/bfnrt", c)) i += 2;
        else return fail(j, i, "an escape that JSON does not know");
    }
    j->text = (str){ j->buf + start, i - start };
    if (escaped) {
        decode(&j->plain, j->buf + start, i - start);
        j->text = (str){ j->plain.s, j->plain.n };
    }
    j->pos = i + 1;
    return true;
}

/* ---- numbers and words */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* the number at s, whose end may be followed by anything: its length, 0 if malformed */
static inline size_t number_length(const char *s)
{
    const char *p = s + (*s == '-');
    if (!is_digit(*p)) return 0;
    if (*p == '0') p++;
    else while (is_digit(*p)) p++;
    if (*p == '.') {
        if (!is_digit(*++p)) return 0;
        while (is_digit(*p)) p++;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-') p++;
        if (!is_digit(*p)) return 0;
        while (is_digit(*p)) p++;
    }
    return (size_t)(p - s);
}

/* the same for numbers of at most 15 bytes without sign and exponent, 0 for others; reads 16 bytes */
static inline size_t short_number(const char *s)
{
#ifdef __SSE2__
    const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9), dot = _mm_set1_epi8('.');
    __m128i x = _mm_loadu_si128((const void *)s), value = _mm_sub_epi8(x, zero);
    unsigned digits = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(value, nine), value));
    unsigned dots = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, dot));
    unsigned n = (unsigned)__builtin_ctz(~(digits | dots));      /* at most 16: the upper bits are clear */
    dots &= (1u << n) - 1;
    bool whole = n && n < 16 && !(dots & (dots - 1)) && !(dots & 1) && !(dots >> (n - 1) & 1);
    if (!whole || (s[0] == '0' && n > 1 && s[1] != '.') || (s[n] | 0x20) == 'e') return 0;
    return n;
#else
    (void)s;
    return 0;
#endif
}

/* make the whole run of word bytes at j->pos visible: it ends inside the buffer or with the input */
static size_t word_end(jsonr *j)
{
    for (size_t i = j->pos, shift;;) {
        while (i < j->len && (is_digit(j->buf[i]) || strchr("+-.", j->buf[i]) ||
                              ((j->buf[i] | 32) >= 'a' && (j->buf[i] | 32) <= 'z'))) {
            if (!j->buf[i]) break;
            i++;
        }
        if (i < j->len || i - j->pos > TOKEN_MAX) return i;
        bool more = fill(j, j->pos, &shift);
        i -= shift;
        j->pos -= shift;
        if (!more) return i;
    }
}

static bool word(jsonr *j, const char *w)
{
    size_t n = strlen(w), end = word_end(j);
    if (end - j->pos == n && memcmp(j->buf + j->pos, w, n) == 0) {
        j->pos = end;
        return true;
    }
    if (end == j->len && j->eof && end - j->pos < n && memcmp(j->buf + j->pos, w, end - j->pos) == 0) fail(j, end, "");
    else fail(j, j->pos, "not a JSON value");
    return false;
}

static bool number(jsonr *j)
{
    size_t n = j->len - j->pos > 64 ? number_length(j->buf + j->pos) : 0;   /* the zero padding ends every number */
    if (!n || n > 60) {
        size_t end = word_end(j);
        n = number_length(j->buf + j->pos);
        if (end == j->len && j->eof && j->depth && (n == 0 || j->pos + n == end)) {   /* more digits may be missing */
            fail(j, end, "");
            return false;
        }
        if (n == 0 || j->pos + n != end) {
            fail(j, j->pos, "not a number");
            return false;
        }
    }
    j->text = (str){ j->buf + j->pos, n };
    j->pos += n;
    return true;
}

/* ---- tokens */

static enum json open_bracket(jsonr *j, char c)
{
    if (j->depth >= DEPTH_MAX) return fail(j, j->pos, "nested deeper than a million");
    j->open = grow(j->open, j->depth + 1, &j->open_cap, 1);
    j->open[j->depth++] = c;
    j->pos++;
    j->state = c == '{' ? FIRST_KEY : FIRST_VALUE;
    return j->token = c == '{' ? JSON_OBJECT : JSON_ARRAY;
}

static enum json close_bracket(jsonr *j, int c)
{
    if (j->open[j->depth - 1] != (c == '}' ? '{' : '[')) return fail(j, j->pos, "the wrong closing bracket");
    j->depth--;
    j->pos++;
    j->state = j->depth ? AFTER : TOP;
    return j->token = c == '}' ? JSON_OBJECT_END : JSON_ARRAY_END;
}

static enum json value(jsonr *j, int c)
{
    enum json t;
    if (c == '{' || c == '[') return open_bracket(j, (char)c);
    if (c == '"') t = string(j) ? JSON_STRING : JSON_END;
    else if (c == 't') t = word(j, "true") ? JSON_TRUE : JSON_END;
    else if (c == 'f') t = word(j, "false") ? JSON_FALSE : JSON_END;
    else if (c == 'n') t = word(j, "null") ? JSON_NULL : JSON_END;
    else if (c == '-' || is_digit((char)c)) t = number(j) ? JSON_NUMBER : JSON_END;
    else return fail(j, j->pos, "not a JSON value");
    if (t != JSON_END) j->state = j->depth ? AFTER : TOP;
    return j->token = t;
}

/* The common case, inlined: a string without escapes that lies whole in the buffer, its body at `at`; else false. */
static inline bool quick_string(jsonr *j, size_t at, char after)
{
    size_t i = find_special(j->buf, at, j->len);
    if (i + 1 >= j->len || j->buf[i] != '"' || (after && j->buf[i + 1] != after)) return false;
    j->text = (str){ j->buf + at, i - at };
    j->pos = i + 1 + (after != 0);
    return true;
}

static inline size_t skip_blanks(const jsonr *j, size_t i)
{
    while (j->buf[i] == ' ' || j->buf[i] == '\n') i++;   /* the padding ends it */
    return i;
}

enum json json_next(jsonr *j)
{
    if (j->state == VALUE && j->pos < j->len) {
        size_t i = skip_blanks(j, j->pos);
        if (j->buf[i] == '"' && quick_string(j, i + 1, 0)) {
            j->state = AFTER;
            return j->token = JSON_STRING;
        }
        size_t n = j->len - i > 64 && j->buf[i] <= '9' ? short_number(j->buf + i) : 0;
        if (!n && j->len - i > 64 && j->buf[i] <= '9') n = number_length(j->buf + i);
        if (n && n <= 60) {
            j->text = (str){ j->buf + i, n };
            j->pos = i + n;
            j->state = AFTER;
            return j->token = JSON_NUMBER;
        }
    }
    for (;;) {
        int c = peek(j);
        if (c < 0) {
            if (j->fault || (j->depth == 0 && j->state == TOP)) return j->token = JSON_END;
            return fail(j, j->len, "");
        }
        switch (j->state) {
        case TOP:
        case VALUE:
            return value(j, c);
        case FIRST_VALUE:
            if (c == ']') return close_bracket(j, c);
            return value(j, c);
        case FIRST_KEY:
            if (c == '}') return close_bracket(j, c);
            __attribute__((fallthrough));
        case KEY:
            if (c != '"') return fail(j, j->pos, "a key was expected");
            if (!string(j)) return j->token;
            if (j->pos >= j->len || j->buf[j->pos] != ':') {
                if (j->text.s != j->plain.s) {           /* reading on may move the text */
                    j->plain.n = 0;
                    buf_str(&j->plain, j->text);
                    j->text = (str){ j->plain.s, j->plain.n };
                }
                c = peek(j);
                if (c != ':') return fail(j, j->pos, "':' was expected after a key");
            }
            j->pos++;
            j->state = VALUE;
            return j->token = JSON_KEY;
        case AFTER:
            if (c == '}' || c == ']') return close_bracket(j, c);
            if (c != ',') return fail(j, j->pos, "',' or a closing bracket was expected");
            j->pos++;
            j->state = j->open[j->depth - 1] == '{' ? KEY : VALUE;
        }
    }
}

bool json_key(jsonr *j, str *key)
{
    if ((j->state == AFTER || j->state == FIRST_KEY) && j->pos < j->len && j->open[j->depth - 1] == '{') {
        size_t i = skip_blanks(j, j->pos);
        if (j->state == AFTER) i = j->buf[i] == ',' ? skip_blanks(j, i + 1) : j->len;
        if (i < j->len && j->buf[i] == '"' && quick_string(j, i + 1, ':')) {
            j->state = VALUE;
            j->token = JSON_KEY;
            *key = j->text;
            return true;
        }
    }
    enum json t = json_next(j);
    if (t != JSON_KEY) return false;
    *key = j->text;
    return true;
}

bool json_expect(struct json_expected *e, str name)
{
    *e = (struct json_expected){ .n = (unsigned)name.n + 3, .mask = (1u << (name.n < 14 ? name.n + 3 : 0)) - 1 };
    if (name.n > 13 || memchr(name.s, '\\', name.n) || memchr(name.s, '"', name.n)) return false;
    e->bytes[0] = '"';
    memcpy(e->bytes + 1, name.s, name.n);
    memcpy(e->bytes + 1 + name.n, "\":", 2);
    return true;
}

bool json_key_is(jsonr *j, const struct json_expected *e)
{
    size_t i = j->pos;
    if (j->state == AFTER && j->open[j->depth - 1] == '{' && j->buf[i] == ',') i++;
    else if (j->state != FIRST_KEY) return false;
    if (j->len - j->pos < 32 || j->pos > j->len) return false;
#ifdef __SSE2__
    unsigned same = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const void *)(j->buf + i)),
                                                               _mm_loadu_si128((const void *)e->bytes)));
    if ((same & e->mask) != e->mask) return false;
#else
    if (memcmp(j->buf + i, e->bytes, e->n) != 0) return false;
#endif
    j->pos = i + e->n;
    j->state = VALUE;
    j->token = JSON_KEY;
    return true;
}

str json_str(const jsonr *j)
{
    return j->text;
}

double json_num(const jsonr *j)
{
    double v;
    if (j->token != JSON_NUMBER || !num_parse(j->text.s, j->text.n, &v)) json_die(j, "a number was expected");
    return v;
}

/* first quote or bracket in [i, len) */
static inline size_t find_structure(const char *s, size_t i, size_t len)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), fold = _mm_set1_epi8(0x20), open = _mm_set1_epi8('{'),
                  close = _mm_set1_epi8('}');
    for (; i < len; i += 16) {
        __m128i x = _mm_loadu_si128((const void *)(s + i)), y = _mm_or_si128(x, fold);   /* [ ] become { } */
        unsigned mask = (unsigned)_mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_or_si128(_mm_cmpeq_epi8(y, open), _mm_cmpeq_epi8(y, close))));
        if (mask) {
            i += (size_t)__builtin_ctz(mask);
            return i < len ? i : len;
        }
    }
    return len;
#else
    while (i < len && s[i] != '"' && (s[i] | 32) != '{' && (s[i] | 32) != '}') i++;
    return i;
#endif
}

/* past the closing quote of the string whose body starts at j->pos; keeps nothing */
static bool skip_string(jsonr *j)
{
    for (size_t shift;;) {
        j->pos = find_special(j->buf, j->pos, j->len);
        if (j->pos >= j->len || (j->buf[j->pos] == '\\' && j->pos + 1 >= j->len)) {
            bool more = fill(j, j->pos, &shift);
            j->pos -= shift;
            if (!more) return fail(j, j->len, "");
            continue;
        }
        if (j->buf[j->pos] == '"') {
            j->pos++;
            return true;
        }
        if (j->buf[j->pos] != '\\') return fail(j, j->pos, "a control character inside a string");
        j->pos += 2;
    }
}

void json_leave(jsonr *j)
{
    for (size_t depth = j->depth - 1; j->depth > depth && json_next(j) != JSON_END;) {}
}

void json_skip(jsonr *j)
{
    int c = peek(j);
    if (j->state != VALUE && j->state != TOP && j->state != FIRST_VALUE && j->state != AFTER)
        json_die(j, "no value to skip here");
    if ((c != '{' && c != '[') || j->state == AFTER) {   /* a scalar, or what comes after a comma */
        enum json t = json_next(j);
        if (t == JSON_OBJECT || t == JSON_ARRAY) json_leave(j);
        return;
    }
    size_t depth = 0, shift;
    do {
        j->pos = find_structure(j->buf, j->pos, j->len);
        if (j->pos >= j->len) {
            bool more = fill(j, j->pos, &shift);
            j->pos -= shift;
            if (more) continue;
            fail(j, j->len, "");
            return;
        }
        c = j->buf[j->pos++];
        if (c == '"') {
            if (!skip_string(j)) return;
        } else if (c == '{' || c == '[') depth++;
        else depth--;
    } while (depth);
    j->state = j->depth ? AFTER : TOP;
    j->token = JSON_NULL;
}
