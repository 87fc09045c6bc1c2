/* csvw.c - see csvio.h: writing tables. */
#include "table/csv_file.h"
#include "base/message.h"
#include "base/num.h"
#include "base/out.h"
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16, PAD = 64 };

struct csvw {
    int fd;
    const char *path;
    struct out *out;                                     /* NULL: the descriptor is not ours */
    bool append;
    bool started;                                        /* the first record is out */
    size_t nfield, last;                                 /* of the record in work: fields, bytes of the last */
    size_t n, row;                                       /* where the record in work begins; NOWHERE: it went out */
    str header;                                          /* as it was written, the line end included */
    struct intern names;                                 /* of the header, while it is written */
    csvw *next;
    char buf[CHUNK + PAD];
};

static const size_t NOWHERE = SIZE_MAX;

static csvw *writers;

static void put(csvw *w, const char *s, size_t n)
{
    if (!write_all(w->fd, s, n)) die_errno("write %s", w->path);
}

/* the row in work stays here, to be told from the header by csvw_end */
void csvw_flush(csvw *w)
{
    size_t n = w->nfield && w->row != NOWHERE ? w->row : w->n;
    put(w, w->buf, n);
    w->n -= n;
    memmove(w->buf, w->buf + n, w->n);
    if (!w->nfield || w->row != NOWHERE) w->row = 0;
}

/* for n more bytes; of a row that is longer than the buffer the beginning goes out */
static void make_room(csvw *w, size_t n)
{
    if (w->n + n <= CHUNK) return;
    csvw_flush(w);
    if (w->n + n <= CHUNK) return;
    put(w, w->buf, w->n);
    w->n = 0;
    w->row = NOWHERE;
}

static void flush_all(void)
{
    for (csvw *w = writers; w; w = w->next) if (w->n && !w->append) csvw_flush(w);
}

static void raw(csvw *w, const char *s, size_t n)
{
    make_room(w, n);
    if (n > CHUNK) {
        put(w, s, n);
        return;
    }
    copy_short(w->buf + w->n, s, n);
    w->n += n;
}

static void begin_field(csvw *w)
{
    if (w->nfield++) raw(w, ",", 1);
}

static csvw *new_writer(int fd, const char *path)
{
    csvw *w = xmalloc(1, sizeof *w);
    memset(w, 0, offsetof(csvw, buf));
    w->fd = fd;
    w->path = path;
    w->next = writers;
    writers = w;
    csv_before_read = flush_all;
    return w;
}

csvw *csvw_fd(int fd)
{
    return new_writer(fd, fd == STDOUT_FILENO ? "(stdout)" : "output");
}

csvw *csvw_open(const char *path)
{
    struct out *o = out_open(path);
    csvw *w = new_writer(out_fd(o), path && strcmp(path, "-") != 0 ? path : "(stdout)");
    w->out = o;
    return w;
}

/* An append log holds whole rows only: the writer sends each row by one write, and a torn one, left by a kill or a
 * full disk, is cut off here before anything is added. */
static void cut_torn_row(int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st) != 0) die_errno("%s", path);
    off_t end = st.st_size;
    char b[4096];
    while (end > 0) {
        size_t n = end < (off_t)sizeof b ? (size_t)end : sizeof b;
        if (pread(fd, b, n, end - (off_t)n) != (ssize_t)n) die_errno("%s", path);
        const char *newline = memrchr(b, '\n', n);
        if (newline) {
            end -= (off_t)n - (newline - b) - 1;
            break;
        }
        end -= (off_t)n;
    }
    if (end == st.st_size) return;
    warn("%s: last row is torn, dropped (%lld bytes)", path, (long long)(st.st_size - end));
    if (ftruncate(fd, end) != 0) die_errno("%s", path);
}

csvw *csvw_append(const char *path, const char *names)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) die_errno("%s", path);
    struct stat st;
    if (fstat(fd, &st) != 0) die_errno("%s", path);
    const size_t n = strlen(names);
    char *head = xmalloc(n + 1, 1);
    const ssize_t had = st.st_size ? pread(fd, head, n + 1, 0) : 0;
    const bool whole = had == (ssize_t)n + 1 && head[n] == '\n';
    if (had < 0) die_errno("%s", path);
    if (memcmp(head, names, (size_t)had < n ? (size_t)had : n) != 0 || (had > (ssize_t)n && !whole)) {
        close(fd);
        free(head);
        die_at(path, 1, "header differs from '%s'; another version's results? move the file away", names);
    }
    cut_torn_row(fd, path);                              /* also of the header; of a foreign file nothing */
    csvw *w = new_writer(fd, path);
    w->append = true;
    if (whole) {
        w->header = (str){ head, n + 1 };
        w->started = true;
    } else {
        free(head);
        csvw_names(w, names);
        csvw_end(w);
    }
    return w;
}

/* would the file seem to begin with a byte order mark, or to be a git-LFS pointer? */
static bool misleads(const csvw *w, str f)
{
    if (w->started || w->nfield != 1) return false;
    return (f.n >= sizeof csv_bom - 1 && memcmp(f.s, csv_bom, sizeof csv_bom - 1) == 0) ||
           (f.n >= sizeof csv_lfs - 1 && memcmp(f.s, csv_lfs, sizeof csv_lfs - 1) == 0);
}

/* a name twice makes a table that no filter reads: better said before an hour of measuring than behind it */
static void is_new(csvw *w, str name)
{
    size_t before = w->names.n;
    if (intern(&w->names, name) < before)
        die("two columns would be called '%.*s'; csv-cut drops or renames one", (int)name.n, name.s);
}

void csvw_str(csvw *w, str f)
{
    begin_field(w);
    w->last = f.n;
    if (!w->started) is_new(w, f);
    if (!misleads(w, f) && !csv_needs_quotes(f)) {
        raw(w, f.s, f.n);
        return;
    }
    raw(w, "\"", 1);
    const char *s = f.s, *end = s + f.n, *q;
    while ((q = memchr(s, '"', (size_t)(end - s)))) {
        raw(w, s, (size_t)(q + 1 - s));
        raw(w, "\"", 1);
        s = q + 1;
    }
    raw(w, s, (size_t)(end - s));
    raw(w, "\"", 1);
}

void csvw_fields(csvw *w, str fields, size_t n)
{
    begin_field(w);
    raw(w, fields.s, fields.n);
    w->nfield += n - 1;
    w->last = fields.n;
}

void csv_quote(struct buf *b, str f)
{
    bool quotes = csv_needs_quotes(f);
    if (quotes) buf_char(b, '"');
    for (const char *s = f.s, *end = s + f.n; s < end; s++) {
        if (*s == '"') buf_char(b, '"');
        buf_char(b, *s);
    }
    if (quotes) buf_char(b, '"');
}

void csvw_cstr(csvw *w, const char *s)
{
    csvw_str(w, s ? str_of(s) : (str){ "", 0 });
}

void csvw_format(csvw *w, const char *fmt, ...)
{
    char small[256], *s = small;
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0) die("cannot format a field");
    if ((size_t)n >= sizeof small) {
        s = xmalloc((size_t)n + 1, 1);
        vsnprintf(s, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    csvw_str(w, (str){ s, (size_t)n });
    if (s != small) free(s);
}

void csvw_num(csvw *w, double v)
{
    begin_field(w);
    make_room(w, NUM_MAX);
    w->n += w->last = num_print(w->buf + w->n, v);
}

void csvw_exact(csvw *w, struct exact_number v)
{
    begin_field(w);
    make_room(w, EXACT_MAX);
    w->n += w->last = exact_print(w->buf + w->n, v);
}

void csvw_int(csvw *w, int64_t v)
{
    begin_field(w);
    make_room(w, NUM_MAX);
    w->n += w->last = int_print(w->buf + w->n, v);
}

void csvw_empty(csvw *w)
{
    csvw_str(w, (str){ "", 0 });
}

void csvw_known(csvw *w, double v)
{
    if (isnan(v)) csvw_empty(w);
    else csvw_num(w, v);
}

void csvw_copy(csvw *w, const csv *c, int col)
{
    str f = csv_str(c, col);
    if (!csv_is_plain(c, col) || !w->started || (f.n && f.s[f.n - 1] == '\r')) {
        csvw_str(w, f);
        return;
    }
    begin_field(w);
    raw(w, f.s, f.n);
    w->last = f.n;
}

void csvw_copy_all(csvw *w, const csv *c)
{
    for (int i = 0; i < csv_ncol(c); i++) csvw_copy(w, c, i);
}

void csvw_copy_names(csvw *w, const csv *c)
{
    for (int i = 0; i < csv_ncol(c); i++) csvw_str(w, csv_name(c, i));
}

void csvw_names(csvw *w, const char *names)
{
    for (const char *p = names;; p++) {
        size_t n = strcspn(p, ",");
        csvw_str(w, (str){ p, n });
        p += n;
        if (!*p) return;
    }
}

/* a row that says the same as the header is told from it by quotes that a field does not need, and read as a row */
static void quote_one(csvw *w)
{
    char *s = w->buf + w->row, *end = w->buf + w->n;
    while (*s == '"') {                                  /* on to the next field */
        do s = strchr(s + 1, '"') + 1; while (*s == '"');
        if (*s++ == '\n') die("%s: a row says the same as the header, whose names all are quoted", w->path);
    }
    size_t n = strcspn(s, ",\n");
    memmove(s + n + 2, s + n, (size_t)(end - s) - n);
    memmove(s + 1, s, n);
    s[0] = s[n + 1] = '"';
    w->n += 2;
}

void csvw_end(csvw *w)
{
    if (w->nfield == 1 && w->last == 0) raw(w, "\"\"", 2);       /* a blank line would be skipped by other readers */
    raw(w, "\n", 1);
    w->nfield = 0;
    if (w->row != NOWHERE) {
        str row = { w->buf + w->row, w->n - w->row };
        if (!w->started) w->header = (str){ memcpy(xmalloc(row.n, 1), row.s, row.n), row.n };
        else if (str_eq(row, w->header)) quote_one(w);
    }
    if (!w->started) intern_free(&w->names);
    w->started = true;
    w->row = w->n;
    if (w->append) csvw_flush(w);
}

int csvw_close(csvw *w)
{
    csvw_flush(w);
    csvw **p = &writers;
    while (*p != w) p = &(*p)->next;
    *p = w->next;
    if (w->out) out_close(w->out);
    else if (w->append && close(w->fd) != 0) die_errno("close %s", w->path);
    free((char *)(uintptr_t)w->header.s);
    free(w);
    return EXIT_OK;
}
