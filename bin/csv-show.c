/* csv-show - a table for people, in aligned columns
 *
 * Usage: csv-show [-c COLS] [--rows=N] [--width=N] [--digits=N] [FILE]...
 *
 * Columns in: any; COLS as in csv-cut, with a..b, * and ?.  Out comes text, not
 * CSV: names, a rule, rows; columns of numbers stand to the right.  Fields are
 * cut to --width characters (marked by ..), control characters shown as ?, and
 * with --digits numbers are rounded to as many significant digits.
 * Memory: all rows.
 *
 * Examples:
 *   $ csv-show -c network,'*_seconds' --digits=4 results.csv
 */
#include "base/filter.h"
#include "base/num.h"
#include "base/out.h"
#include "table/columns.h"
#include "table/table.h"
#include HELP
#include <math.h>
#include <stdio.h>

static const char *select_names;
static long max_rows, max_width = 40, digits;
static const struct opt options[] = {
    { 'c', "columns", STR, &select_names, "COLS", "the columns to show", 0, 0 },
    { 'n', "rows", INT, &max_rows, "N", "at most N rows; 0: all", 0, 1e15 },
    { 0, "width", INT, &max_width, "N", "characters of a field", 3, 10000 },
    { 0, "digits", INT, &digits, "N", "significant digits of numbers; 0: as they are", 0, 17 },
    { 0 } };

static size_t characters(str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) n += (s.s[i] & 0xc0) != 0x80;   /* bytes that begin a UTF-8 character */
    return n;
}

/* bytes of the first n characters */
static size_t prefix(str s, size_t n)
{
    size_t i = 0;
    for (; i < s.n; i++) if ((s.s[i] & 0xc0) != 0x80 && n-- == 0) break;
    return i;
}

static str shown(str s, struct arena *a)
{
    double v;
    char b[64], *t;
    if (digits && num_parse(s.s, s.n, &v) && isfinite(v) && v != trunc(v)) {
        snprintf(b, sizeof b, "%.*g", (int)digits, v);
        s = str_of(b);
    }
    if (characters(s) > (size_t)max_width) {
        size_t n = prefix(s, (size_t)max_width - 2);
        t = arena_get(a, n + 2);
        for (size_t i = 0; i < n; i++) t[i] = s.s[i];
        t[n] = t[n + 1] = '.';
        s = (str){ t, n + 2 };
    } else s.s = t = arena_copy(a, s.s, s.n);
    for (size_t i = 0; i < s.n; i++) if ((unsigned char)t[i] < ' ' || t[i] == 127) t[i] = '?';
    return s;
}

static void put(str s, size_t width, bool right, bool last)
{
    size_t pad = width - characters(s);
    if (right) printf("%*s", (int)pad, "");
    fwrite(s.s, 1, s.n, stdout);
    if (!right && !last) printf("%*s", (int)pad, "");
    fputs(last ? "\n" : "  ", stdout);
}

struct column { size_t width; bool text; };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    csv *t = csv_files(argv + i);
    struct columns c = select_names ? columns_matching(t, select_names, "--columns") : columns_all(t);
    struct column *col = xcalloc((size_t)c.n, sizeof *col);
    struct arena a = { 0 };
    size_t rows = 0, cap = 0, n = (size_t)c.n;
    str *cell = grow(NULL, n, &cap, sizeof *cell);       /* the names are row 0 */
    for (size_t k = 0; k < n; k++) cell[k] = shown(csv_name(t, c.v[k]), &a);
    for (; csv_next(t); rows++) {
        if (max_rows && rows >= (size_t)max_rows) continue;
        cell = grow(cell, (rows + 2) * n, &cap, sizeof *cell);
        for (size_t k = 0; k < n; k++) {
            double v;
            str s = csv_str(t, c.v[k]);
            col[k].text = col[k].text || (s.n && !num_parse(s.s, s.n, &v));
            cell[(rows + 1) * n + k] = shown(s, &a);
        }
    }
    size_t kept = max_rows && rows > (size_t)max_rows ? (size_t)max_rows : rows;
    for (size_t k = 0; k < (kept + 1) * n; k++) {
        size_t width = characters(cell[k]);
        if (width > col[k % n].width) col[k % n].width = width;
    }
    for (size_t r = 0; r <= kept; r++) {
        for (size_t k = 0; k < n; k++) put(cell[r * n + k], col[k].width, !col[k].text, k + 1 == n);
        if (r) continue;
        for (size_t k = 0; k < n; k++) {
            for (size_t d = 0; d < col[k].width; d++) putchar('-');
            fputs(k + 1 == n ? "\n" : "  ", stdout);
        }
    }
    if (kept < rows) printf("(%zu more rows)\n", rows - kept);
    return finish();
}
