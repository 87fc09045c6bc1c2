/* show.c - see show.h */
#include "table/show.h"
#include "base/checked.h"
#include "base/message.h"
#include "base/num.h"
#include "base/out.h"
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- widths */

struct span { uint32_t from, to; };
static const struct span wide[] = { { 0x1100, 0x115f }, { 0x2e80, 0x303e }, { 0x3041, 0x33ff }, { 0x3400, 0x4dbf },
    { 0x4e00, 0x9fff }, { 0xa000, 0xa4cf }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff }, { 0xfe30, 0xfe4f },
    { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
    { 0x20000, 0x3fffd } };
static const struct span narrow[] = { { 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x0610, 0x061a },
    { 0x064b, 0x065f }, { 0x0900, 0x0902 }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f },
    { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff } };

static bool lies_in(const struct span *s, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++) if (c >= s[i].from && c <= s[i].to) return true;
    return false;
}

/* the character at s[*i], which moves on behind it; a broken byte counts as one */
static uint32_t character(str s, size_t *i)
{
    unsigned char b = (unsigned char)s.s[(*i)++];
    if (b < 0xc0) return b;
    int more = b >= 0xf0 ? 3 : b >= 0xe0 ? 2 : 1;
    uint32_t c = b & (0x3fu >> more);
    for (; more && *i < s.n && (s.s[*i] & 0xc0) == 0x80; more--) c = c << 6 | ((unsigned char)s.s[(*i)++] & 0x3f);
    return c;
}

static size_t places(uint32_t c)
{
    if (c < 0x300) return 1;
    if (lies_in(narrow, sizeof narrow / sizeof *narrow, c)) return 0;
    return lies_in(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

/* places on a terminal */
static size_t show_width(str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n;) n += places(character(s, &i));
    return n;
}

/* bytes of the longest beginning that is at most so wide */
static size_t prefix(str s, size_t width)
{
    size_t i = 0, n = 0;
    while (i < s.n) {
        size_t next = i;
        n += places(character(s, &next));
        if (n > width) break;
        i = next;
    }
    return i;
}

/* ---- fields */

static str rounded(str s, long digits, char b[64])
{
    double v;
    if (!digits || !num_parse(s.s, s.n, &v) || !isfinite(v) || v == trunc(v)) return s;
    int n = fabs(v) >= pow(10, (double)digits) ? snprintf(b, 64, "%.0f", v) : snprintf(b, 64, "%.*g", (int)digits, v);
    return n > 0 && n < 64 ? (str){ b, (size_t)n } : s;
}

static str shown(str s, const struct show *how, struct arena *a)
{
    char b[64];
    s = rounded(s, how->digits, b);
    size_t extra = 0, n = s.n;
    if (how->width && show_width(s) > (size_t)how->width) {
        n = prefix(s, (size_t)how->width - 2);
        extra = 2;
    }
    char *t = arena_get(a, size_add(2 * n, extra) + 1);           /* a | in Markdown takes two bytes */
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (how->markdown && c == '|') t[k++] = '\\';
        const bool c1 = c == 0xc2 && i + 1 < n && (unsigned char)s.s[i + 1] < 0xa0;
        t[k++] = c < ' ' || c == 127 || c1 ? '?' : (char)c;
        i += c1;
    }
    for (; extra; extra--) t[k++] = '.';
    return (str){ t, k };
}

static void blanks(FILE *f, size_t n, char c)
{
    while (n--) putc(c, f);
}

struct column { size_t width; bool text; };

static void put_row(FILE *f, const str *cell, const struct column *col, size_t n, bool markdown)
{
    for (size_t k = 0; k < n; k++) {
        size_t pad = col[k].width - show_width(cell[k]);
        bool last = k + 1 == n;
        if (markdown) fputs("| ", f);
        if (!col[k].text) blanks(f, pad, ' ');
        fwrite(cell[k].s, 1, cell[k].n, f);
        if (col[k].text && (!last || markdown)) blanks(f, pad, ' ');
        fputs(markdown ? last ? " |\n" : " " : last ? "\n" : "  ", f);
    }
}

static void put_rule(FILE *f, const struct column *col, size_t n, bool markdown)
{
    for (size_t k = 0; k < n; k++) {
        if (markdown) fputs("|", f);
        blanks(f, col[k].width + (markdown && col[k].text ? 2 : markdown ? 1 : 0), '-');
        if (markdown && !col[k].text) putc(':', f);
        fputs(k + 1 == n ? markdown ? "|\n" : "\n" : markdown ? "" : "  ", f);
    }
}

void show_table(FILE *f, csv *t, struct columns c, const struct show *how)
{
    struct column *col = xcalloc((size_t)c.n, sizeof *col);
    struct arena a = { 0 };
    size_t rows = 0, cap = 0, n = (size_t)c.n;
    str *cell = grow(NULL, n, &cap, sizeof *cell);       /* the names are row 0 */
    const struct show whole = { .width = how->width, .markdown = how->markdown };        /* 0.3333333 is a name, too */
    for (size_t k = 0; k < n; k++) cell[k] = shown(csv_name(t, c.v[k]), &whole, &a);
    for (; csv_next(t); rows++) {
        if (how->rows && rows >= (size_t)how->rows) continue;
        cell = grow(cell, size_mul(rows + 2, n), &cap, sizeof *cell);
        for (size_t k = 0; k < n; k++) {
            double v;
            str s = csv_str(t, c.v[k]);
            col[k].text = col[k].text || (s.n && !num_parse(s.s, s.n, &v));
            cell[(rows + 1) * n + k] = shown(s, how, &a);
        }
    }
    size_t kept = how->rows && rows > (size_t)how->rows ? (size_t)how->rows : rows;
    for (size_t k = 0; k < (kept + 1) * n; k++) {
        size_t width = show_width(cell[k]);
        if (width > col[k % n].width) col[k % n].width = width;
    }
    for (size_t r = 0; r <= kept; r++) {
        put_row(f, cell + r * n, col, n, how->markdown);
        if (!r) put_rule(f, col, n, how->markdown);
    }
    if (kept < rows) fprintf(f, "(%zu more rows)\n", rows - kept);
    arena_free(&a);
    free(cell);
    free(col);
}

/* ---- results */

static int held = -1;                                    /* what is written until show_close; -1: goes out as it is */

csvw *show_open(bool as_csv)
{
    if (as_csv || !isatty(STDOUT_FILENO)) return csvw_open(NULL);
    held = memfd_create("table", MFD_CLOEXEC);
    return held < 0 ? csvw_open(NULL) : csvw_fd(held);
}

int show_close(csvw *w)
{
    int status = csvw_close(w);
    if (held < 0) return status;
    if (lseek(held, 0, SEEK_SET) != 0) die_errno("table");
    csv *t = csv_open_fd(held, "table");
    show_table(stdout, t, columns_all(t), &(struct show){ .width = 40, .digits = 4 });
    csv_close(t);
    held = -1;
    return finish();
}
