/* csvio.c - see csvio.h.  A vector scan marks the separators outside quotes, 64 bytes a step; records without a
 * quote are then split in place.  A record with a quote in it goes to libcsv, which alone decides what quoting means:
 * it never sees line ends, blanks or a byte-order mark, where its defaults would change data.
 * Cost: 0.17 ns a byte, 1.5 ns a field. */
#include "table/csv_file.h"
#include "table/input.h"
#include "base/message.h"
#include "base/reread.h"
#include "base/near.h"
#include "base/num.h"
#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { CHUNK = 1 << 16, PAD = 64, RECORD_MAX = 1 << 30 };

struct csv_input csv_input;
void (*csv_before_read)(void);

struct csv {
    struct message_open open;
    int fd;
    char delimiter;
    const char *path;
    char **more;                                         /* further files of the same table, NULL-terminated */
    size_t headers, again;                               /* rows that were the header again; the line of the first */
    bool eof;
    char *buf;
    size_t cap, len, pos;                                /* bytes [pos, len) are unread */
    uint32_t *sep;                                       /* offsets in buf of delimiter and \n outside quotes */
    size_t nsep, isep;
    size_t scanned;
    uint64_t in_quotes;                                  /* all ones or zero: the state at `scanned` */
    bool any_quote;                                      /* in what the buffer holds */
    size_t line, nlines;                                 /* of the current record; consumed so far */
    str *field;
    size_t nfield, capfield;
    int ncol;
    str *name, raw, header;                              /* raw: the record as it is in buf; header: that of row 1 */
    struct arena names;
    char *plain;                                         /* fields of a record that went through libcsv */
    size_t nplain, capplain;
    struct csv_parser parser;
};

/* ---- scanning */

/* bits of the 64 bytes at p that are separators and that are quotes */
static void classify(const char *p, char delimiter, uint64_t *separators, uint64_t *quotes)
{
    uint64_t s = 0, q = 0;
#ifdef __SSE2__
    const __m128i comma = _mm_set1_epi8(delimiter), newline = _mm_set1_epi8('\n'), quote = _mm_set1_epi8('"');
    for (int k = 0; k < 64; k += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + k));
        __m128i either = _mm_or_si128(_mm_cmpeq_epi8(x, comma), _mm_cmpeq_epi8(x, newline));
        s |= (uint64_t)(uint32_t)_mm_movemask_epi8(either) << k;
        q |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, quote)) << k;
    }
#else
    for (int k = 0; k < 64; k++) {
        s |= (uint64_t)(p[k] == delimiter || p[k] == '\n') << k;
        q |= (uint64_t)(p[k] == '"') << k;
    }
#endif
    *separators = s;
    *quotes = q;
}

/* index [scanned, len); reads up to PAD bytes past len */
static void scan(csv *c)
{
    uint32_t *out = c->sep + c->nsep;
    uint64_t in = c->in_quotes;
    for (size_t i = c->scanned; i < c->len; i += 64) {
        uint64_t s, q;
        classify(c->buf + i, c->delimiter, &s, &q);
        size_t left = c->len - i;
        uint64_t valid = left >= 64 ? ~0ull : (1ull << left) - 1;
        s &= valid;
        q &= valid;
        if (q | in) {
            c->any_quote = true;
            for (int k = 1; k < 64; k *= 2) q ^= q << k; /* bit i: parity of the quotes up to i */
            q ^= in;
            s &= ~q;
            in = (left >= 64 ? q >> 63 : q >> (left - 1) & 1) ? ~0ull : 0;
        }
        for (; s; s &= s - 1) *out++ = (uint32_t)(i + (size_t)__builtin_ctzll(s));
    }
    c->nsep = (size_t)(out - c->sep);
    c->scanned = c->len;
    c->in_quotes = in;
}

/* slide the unfinished record to the front, read on, index what came */
static bool fill(csv *c)
{
    if (c->eof) return false;
    size_t keep = c->len - c->pos, n = 0;
    memmove(c->buf, c->buf + c->pos, keep);
    for (size_t k = c->isep; k < c->nsep; k++) c->sep[n++] = c->sep[k] - (uint32_t)c->pos;
    c->isep = 0;
    c->nsep = n;
    c->len = c->scanned = keep;
    c->pos = 0;
    c->any_quote = c->any_quote && keep && memchr(c->buf, '"', keep);
    if (c->len + CHUNK + PAD > c->cap) {
        if (c->cap > RECORD_MAX) die_at(c->path, c->line, "record longer than 1 GiB (unbalanced quote?)");
        c->cap = c->cap * 2 + CHUNK + PAD;
        c->buf = xrealloc(c->buf, c->cap, 1);
        c->sep = xrealloc(c->sep, c->cap, sizeof *c->sep);
    }
    if (csv_before_read) csv_before_read();
    ssize_t got;
    do got = read(c->fd, c->buf + c->len, keep < CHUNK ? CHUNK : c->cap - PAD - c->len);
    while (got < 0 && errno == EINTR);
    if (got < 0) die_errno("%s", c->path);
    if (got && memchr(c->buf + c->len, 0, (size_t)got)) {
        const char *nul = memchr(c->buf + c->len, 0, (size_t)got);
        size_t line = c->nlines + 1;
        for (const char *p = c->buf; (p = memchr(p, '\n', (size_t)(nul - p))); p++) line++;
        die_at(c->path, line, "NUL byte (a binary file, or UTF-16?)");
    }
    if (got == 0) {
        c->eof = true;
        if (c->len == 0) return false;
        if (c->buf[c->len - 1] != '\n') c->buf[c->len] = '\n', got = 1;   /* unterminated last line */
    }
    c->len += (size_t)got;
    memset(c->buf + c->len, 0, PAD);
    scan(c);
    return true;
}

/* ---- records */

static void add_field(csv *c, const char *s, size_t n)
{
    if (c->nfield == c->capfield) c->field = grow(c->field, c->nfield + 1, &c->capfield, sizeof *c->field);
    c->field[c->nfield++] = (str){ s, n };
}

static void on_field(void *p, size_t n, void *closure)
{
    csv *c = closure;
    if (c->nplain + n > c->capplain) {                   /* the record's earlier fields move along */
        char *old = c->plain;
        c->capplain = (c->nplain + n) * 2 + 4096;
        c->plain = xmalloc(c->capplain, 1);
        if (c->nplain) memcpy(c->plain, old, c->nplain);
        for (size_t i = 0; i < c->nfield; i++) c->field[i].s = c->plain + (c->field[i].s - old);
        free(old);
    }
    if (n) memcpy(c->plain + c->nplain, p, n);
    add_field(c, c->plain + c->nplain, n);
    c->nplain += n;
}

static void on_row(int ch, void *closure)
{
    (void)ch;
    (void)closure;
}

static int never(unsigned char ch)
{
    (void)ch;
    return 0;
}

static void quoted_record(csv *c, const char *s, const char *end)
{
    size_t n = (size_t)(end - s);
    c->nfield = c->nplain = 0;
    if (!c->plain) c->plain = xmalloc(c->capplain = 4096, 1);
    if (csv_parse(&c->parser, s, n, on_field, on_row, c) != n || csv_fini(&c->parser, on_field, on_row, c) != 0)
        die_at(c->path, c->line, "malformed quoted field");
    while ((s = memchr(s, '\n', (size_t)(end - s)))) s++, c->nlines++;
}

/* the next record of the current file */
static bool record(csv *c)
{
    for (;;) {
        size_t start = c->pos;
        c->nfield = 0;
        c->line = c->nlines + 1;
        for (size_t k = c->isep; k < c->nsep; k++) {
            size_t o = c->sep[k];
            add_field(c, c->buf + start, o - start);
            start = o + 1;
            if (c->buf[o] != '\n') continue;
            const char *begin = c->buf + c->pos, *end = c->buf + o;
            if (end > begin && end[-1] == '\r') {
                end--;
                if (c->field[c->nfield - 1].n) c->field[c->nfield - 1].n--;
            }
            c->raw = (str){ begin, (size_t)(end - begin) };
            if (c->any_quote && memchr(begin, '"', (size_t)(end - begin))) quoted_record(c, begin, end);
            c->nlines++;
            c->pos = o + 1;
            c->isep = k + 1;
            return true;
        }
        if (!fill(c)) {
            if (c->pos < c->len) die_at(c->path, c->line, "quote opened in this record is never closed");
            return false;
        }
    }
}

static char delimiter_of(const char *path)
{
    const char *d = csv_input.delimiter;
    if (!d) return strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".tsv") == 0 ? '\t' : ',';
    if (strcmp(d, "tab") == 0 || strcmp(d, "\\t") == 0) return '\t';
    if (strlen(d) != 1 || strchr("\"\n\r", *d))
        usage("--delimiter: '%s' is not one byte (such as ;) nor the word tab", d);
    return *d;
}

static void set_delimiter(csv *c, const char *path)
{
    c->delimiter = delimiter_of(path);
    csv_set_delim(&c->parser, (unsigned char)c->delimiter);
}

static void open_path(csv *c, const char *path)
{
    const char *name = reread_name(path);
    set_delimiter(c, name);
    c->path = strcmp(path, "-") == 0 ? "(stdin)" : name;
    c->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (c->fd < 0) die_errno("%s", path);
}

/* the field is a piece of the record as it stood in the file, so that it holds no quote, line end or separator */
static bool in_place(const csv *c, str f)
{
    return f.s >= c->buf && f.s < c->buf + c->cap;
}

/* does the file start with `what`?  reads no further than needed to tell */
static bool starts(csv *c, const char *what)
{
    size_t n = strlen(what);
    while (c->len < n && memcmp(c->buf, what, c->len) == 0 && fill(c)) {}
    return c->len >= n && memcmp(c->buf, what, n) == 0;
}

/* position before the first data row of a freshly opened file */
static void read_header(csv *c)
{
    c->eof = false;
    c->len = c->pos = c->nsep = c->isep = c->scanned = c->nlines = 0;
    c->in_quotes = 0;
    c->any_quote = false;
    c->line = 1;
    if (!fill(c)) die_at(c->path, 1, "empty input, expected a header row");
    if (starts(c, csv_lfs))
        die_at(c->path, 1, "a git-LFS pointer, not the table itself (git lfs pull)");
    if (starts(c, "{\"") || starts(c, "[{"))
        die_at(c->path, 1, "this is JSON, a table is wanted (csv-from-json makes one)");
    if (starts(c, csv_bom)) c->pos = 3;                      /* byte order mark */
    if (csv_input.header) return;                        /* the first row is data */
    if (!record(c)) die_at(c->path, 1, "no header row");
    c->header = (str){ arena_copy(&c->names, c->raw.s, c->raw.n), c->raw.n };
    /* the whole of a file whose lines end in CR alone would be its header */
    for (size_t i = 0; i < c->nfield; i++)
        if (in_place(c, c->field[i]) && memchr(c->field[i].s, '\r', c->field[i].n))
            die_at(c->path, 1, "carriage return within the header; lines end in LF or CR LF");
}

static void keep_names(csv *c)
{
    if (c->nfield > INT32_MAX) die_at(c->path, 1, "%zu columns", c->nfield);
    c->ncol = (int)c->nfield;
    c->name = xmalloc(c->nfield, sizeof *c->name);
    struct intern seen = { 0 };
    for (int i = 0; i < c->ncol; i++) {
        str f = c->field[i];
        if (intern(&seen, f) != (uint32_t)i) die_at(c->path, 1, "duplicate column '%.*s'", (int)f.n, f.s);
        c->name[i] = (str){ arena_copy(&c->names, f.s, f.n), f.n };
    }
    intern_free(&seen);
}

static void begin(csv *c)
{
    struct arena given = { 0 };
    read_header(c);
    if (csv_input.header) {
        c->nfield = 0;
        for (const char *p = csv_input.header;; p++) {
            size_t n = strcspn(p, ",");
            if (!n) usage("--header: '%s' has a column without a name", csv_input.header);
            c->field = grow(c->field, c->nfield + 1, &c->capfield, sizeof *c->field);
            c->field[c->nfield++] = (str){ arena_copy(&given, p, n), n };
            p += n;
            if (!*p) break;
        }
    }
    keep_names(c);
    arena_free(&given);
}

static void close_reader(void *c) { csv_close(c); }

static csv *new_reader(void)
{
    csv *c = xcalloc(1, sizeof *c);
    message_open(&c->open, close_reader, c);
    c->cap = 4 * CHUNK;
    c->buf = xmalloc(c->cap, 1);
    c->sep = xmalloc(c->cap, sizeof *c->sep);
    if (csv_init(&c->parser, CSV_STRICT | CSV_STRICT_FINI) != 0) die("libcsv cannot be initialised");
    csv_set_space_func(&c->parser, never);
    csv_set_term_func(&c->parser, never);
    csv_set_blk_size(&c->parser, 4096);
    return c;
}

csv *csv_open(const char *path)
{
    csv *c = new_reader();
    open_path(c, path);
    begin(c);
    return c;
}

csv *csv_open_fd(int fd, const char *name)
{
    csv *c = new_reader();
    c->fd = fd;
    c->path = name;
    set_delimiter(c, name);
    begin(c);
    return c;
}

csv *csv_files(char **paths)
{
    if (!paths[0]) return csv_open("-");
    csv *c = csv_open(paths[0]);
    c->more = paths + 1;
    return c;
}

static void close_fd(csv *c)
{
    if (c->fd > STDERR_FILENO) close(c->fd);
}

static bool is_header(const csv *c)
{
    if (c->nfield != (size_t)c->ncol) return false;
    for (int i = 0; i < c->ncol; i++) if (!str_eq(c->name[i], c->field[i])) return false;
    return true;
}

/* go on with the next file of the table; its header must be the same */
static bool next_file(csv *c)
{
    if (!c->more || !*c->more) return false;
    const char *first = c->path;
    close_fd(c);
    open_path(c, *c->more++);
    read_header(c);
    if (!csv_input.header && !is_header(c)) die_at(c->path, 1, "header differs from that of %s", first);
    return true;
}

/* the separator that a header in one piece seems to have, NULL if none */
const char *csv_separator_hint(const csv *c)
{
    if (c->ncol != 1) return NULL;
    for (const char *p = c->name[0].s, *end = p + c->name[0].n; p < end; p++)
        switch (*p) {
        case ';': return ";";
        case '\t': return "tab";
        case '|': return "|";
        case ',': return ",";
        }
    return NULL;
}

static void look_at_separator(const csv *c, size_t line, const char *what)
{
    const char *other = csv_separator_hint(c);
    if (other) die_at(c->path, line, "%s; fields look separated by '%s', see --delimiter", what, other);
}

/* A row that says the same as the header is one of the table if it has quotes around one field that does not need them,
 * see csvw.c, and the header has not: that of the next of several tables may have them around all its fields. */
static bool is_marked(const csv *c)
{
    size_t n = c->nfield - 1;
    for (size_t i = 0; i < c->nfield; i++) {
        str f = c->field[i];
        n += f.n + (csv_needs_quotes(f) ? 2 : 0);
        for (const char *s = f.s; (s = memchr(s, '"', (size_t)(f.s + f.n - s))); s++) n++;
    }
    return c->raw.n == n + 2 && !str_eq(c->raw, c->header);
}

/* a row of the table, but what stands between tables that were put one behind the other: the header again */
static bool next_row(csv *c)
{
    for (;;) {
        while (!record(c)) if (!next_file(c)) return false;
        if (c->nfield == 0 || !str_eq(c->field[0], c->name[0]) || !is_header(c)) return true;
        if (is_marked(c)) return true;
        if (c->headers++) continue;
        c->again = c->line;
        if (!quiet) warn_at(c->path, c->line, "the header again: left out, as every such row");
    }
}

size_t csv_headers(const csv *c, size_t *line)
{
    *line = c->again;
    return c->headers;
}

bool csv_next(csv *c)
{
    if (!next_row(c)) return false;
    if (c->nfield != (size_t)c->ncol) {
        look_at_separator(c, c->line, "more fields than the header has");
        if (c->nfield == 1 && !c->field[0].n) die_at(c->path, c->line, "an empty line, header has %d fields", c->ncol);
        die_at(c->path, c->line, "%zu field%s, header has %d", c->nfield, c->nfield == 1 ? "" : "s", c->ncol);
    }
    for (int k = 0; k < csv_input.na.n; k++)
        for (size_t i = 0; i < c->nfield; i++) if (str_is(c->field[i], csv_input.na.v[k])) c->field[i].n = 0;
    return true;
}

void csv_close(csv *c)
{
    message_shut(&c->open);
    close_fd(c);
    csv_free(&c->parser);
    free_all(c->buf, c->sep, c->field, c->name);
    arena_free(&c->names);
    free(c->plain);
    free(c);
}

int csv_ncol(const csv *c)
{
    return c->ncol;
}

str csv_name(const csv *c, int col)
{
    return c->name[col];
}

int csv_find(const csv *c, const char *name)
{
    for (int i = 0; i < c->ncol; i++) if (str_is(c->name[i], name)) return i;
    return -1;
}

char *csv_no_column(const csv *c, str name)
{
    struct buf b = { 0 };
    const char *other = csv_separator_hint(c);
    int numbers = 0;
    double v;
    buf_format(&b, "no column '%.*s'; ", (int)name.n, name.s);
    if (c->ncol == 1 && c->name[0].n && c->name[0].s[0] == '(') {
        bool graph = c->name[0].n > 6 && memcmp(c->name[0].s, "(graph", 6) == 0;
        buf_format(&b, "this is an s-expression, a table is wanted (%s)",
                   graph ? "place-cost or place-profile makes one of a graph" : "sexp-to-csv makes one");
        return b.s;
    }
    if (other) {
        buf_format(&b, "fields look separated by '%s', see --delimiter", other);
        return b.s;
    }
    struct near near = { .want = name };
    for (int k = 0; k < c->ncol; k++) near_offer(&near, c->name[k]);
    if (near.best.n && !str_eq(near.best, name))
        buf_format(&b, "did you mean '%.*s'? ", (int)near.best.n, near.best.s);
    buf_format(&b, "there are ");
    for (int k = 0; k < c->ncol && k < 12; k++)
        buf_format(&b, "%s%.*s", k ? ", " : "", (int)c->name[k].n, c->name[k].s);
    if (c->ncol > 12) buf_format(&b, ", ..");
    for (int k = 0; k < c->ncol; k++) numbers += num_parse(c->name[k].s, c->name[k].n, &v);
    if (numbers && numbers == c->ncol) buf_format(&b, ": is the line with the names of the columns missing?");
    return b.s;
}

int csv_need(const csv *c, const char *name)
{
    int i = csv_find(c, name);
    if (i >= 0) return i;
    die_at(c->path, 1, "%s", csv_no_column(c, str_of(name)));
}

int csv_need_of(const csv *c, const char *name, const char *what)
{
    int i = csv_find(c, name);
    if (i >= 0) return i;
    die_at(c->path, 1, "%s; %s", csv_no_column(c, str_of(name)), what);
}

str csv_str(const csv *c, int col)
{
    return c->field[col];
}

const char *csv_cstr(const csv *c, int col, struct arena *a)
{
    return arena_copy(a, c->field[col].s, c->field[col].n);
}

bool csv_has(const csv *c, int col)
{
    return c->field[col].n > 0;
}

const char *csv_file(const csv *c)
{
    return c->path;
}

size_t csv_line(const csv *c)
{
    return c->line;
}

void csv_die(const csv *c, int col, const char *expected)
{
    str name = c->name[col], value = c->field[col];
    die_at(c->path, c->line, "column '%.*s': '%.*s' is not %s", (int)name.n, name.s, value.n > 200 ? 200 : (int)value.n,
           value.s, expected);
}

double csv_num(const csv *c, int col)
{
    double v;
    const char *expected = num_wrong(c->field[col].s, c->field[col].n, &v);
    if (expected) csv_die(c, col, expected);
    return v;
}

struct exact_number csv_exact(const csv *c, int col)
{
    struct exact_number v;
    const char *expected = exact_wrong(c->field[col].s, c->field[col].n, &v);
    if (expected) csv_die(c, col, expected);
    return v;
}

int64_t csv_int(const csv *c, int col)
{
    int64_t v;
    if (!int_parse(c->field[col].s, c->field[col].n, &v)) csv_die(c, col, "an integer");
    return v;
}

double csv_num_or(const csv *c, int col, double missing)
{
    return col < 0 || !csv_has(c, col) ? missing : csv_num(c, col);
}

bool csv_is_plain(const csv *c, int col)
{
    return in_place(c, c->field[col]) && c->delimiter == ',';
}

bool csv_needs_quotes(str f)
{
    for (size_t i = 0; i < f.n; i++)
        if (f.s[i] == ',' || f.s[i] == '"' || f.s[i] == '\n' || f.s[i] == '\r') return true;
    return false;
}
