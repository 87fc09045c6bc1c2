/* csv-check - is a table sound?
 *
 * Usage: csv-check [--names] [--need=COLS] [--known=COLS] [--number=COLS]
 *        [--integer=COLS] [--unique=COLS] [--rows=N] [FILE]
 *
 * Exit status: 0 sound, 1 not, 2 trouble (no such file, wrong usage).
 * Columns in: any.  Without options the file must be CSV with a header, unique
 * names and rows of equal length; where it is not, a message names the place
 * and the check ends.  Columns out: line, column, value, fault; one row for
 * every other fault; rows that are the header again are one, value says how
 * many.  An empty field is a fault only with --known.  Constant memory, but
 * with --unique that of all different keys.
 *
 * Examples:
 *   $ csv-check --names --known=network,ratio --number=step_seconds results.csv
 *   $ csv-check --unique=id,lower buffers.csv
 */
#include "base/filter.h"
#include "base/num.h"
#include "table/columns.h"
#include "table/input.h"
#include HELP
#include <fcntl.h>
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>

static bool names;
static const char *need, *known, *number, *integer, *unique;
static long rows;
static const struct opt options[] = {
    { 0, "names", FLAG, &names, NULL, "names must be [a-z][a-z0-9_]*" },
    { 0, "need", STR, &need, "COLS", "these columns must exist" },
    { 0, "known", STR, &known, "COLS", "no field is empty" },
    { 0, "number", STR, &number, "COLS", "fields are numbers or empty" },
    { 0, "integer", STR, &integer, "COLS", "fields are integers or empty" },
    { 0, "unique", STR, &unique, "COLS", "no two rows agree in all of these" },
    { 0, "rows", INT, &rows, "N", "at least N rows", 0, 1e15 },
    CSV_INPUT,
    { 0 } };

static csvw *w;
static bool faulty;

static void fault(size_t line, str column, str value, const char *what)
{
    csvw_int(w, (int64_t)line);
    csvw_str(w, column);
    csvw_str(w, value);
    csvw_cstr(w, what);
    csvw_end(w);
    faulty = true;
}

static bool good_name(str s)
{
    if (!s.n || s.s[0] < 'a' || s.s[0] > 'z') return false;
    for (size_t i = 0; i < s.n; i++)
        if (!((s.s[i] >= 'a' && s.s[i] <= 'z') || (s.s[i] >= '0' && s.s[i] <= '9') || s.s[i] == '_')) return false;
    return true;
}

/* the columns of the list that are there; each other one is a fault */
static struct columns existing(const csv *t, const char *list)
{
    struct columns c = { xmalloc(list ? strlen(list) + 1 : 1, sizeof *c.v), 0 };
    struct arena a = { 0 };
    for (const char *p = list; p && *p; p += *p == ',') {
        size_t n = strcspn(p, ",");
        int k = csv_find(t, arena_copy(&a, p, n));
        if (k >= 0) c.v[c.n++] = k;
        else fault(1, (str){ p, n }, (str){ 0 }, "no such column");
        p += n;
    }
    arena_free(&a);
    return c;
}

static bool is_number(str s)
{
    double v;
    return !s.n || !num_wrong(s.s, s.n, &v);
}

static bool is_integer(str s)
{
    int64_t v;
    return !s.n || int_parse(s.s, s.n, &v);
}

static bool is_known(str s)
{
    return s.n > 0;
}

static void check_fields(const csv *t, struct columns c, bool (*good)(str), const char *what)
{
    for (int i = 0; i < c.n; i++)
        if (!good(csv_str(t, c.v[i]))) fault(csv_line(t), csv_name(t, c.v[i]), csv_str(t, c.v[i]), what);
}

int main(int argc, char **argv)
{
    fail_status = usage_status = 2;
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    struct stat st;
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) die_errno("%s", path);
    if (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode)) die("%s: no file that could be read", path);
    fail_status = 1;                                     /* from here on what ends the program is in the data */
    csv *t = csv_open_fd(fd, strcmp(path, "-") == 0 ? "(stdin)" : path);
    w = csvw_open(NULL);
    csvw_names(w, "line,column,value,fault");
    csvw_end(w);
    for (int i = 0; names && i < csv_ncol(t); i++)
        if (!good_name(csv_name(t, i))) fault(1, csv_name(t, i), (str){ 0 }, "name is not [a-z][a-z0-9_]*");
    existing(t, need);
    struct columns k = existing(t, known), n = existing(t, number), z = existing(t, integer), u = existing(t, unique);
    struct intern seen = { 0 };
    struct buf b = { 0 };
    size_t row = 0, line = 1;
    for (; csv_next(t); row++) {
        line = csv_line(t);
        check_fields(t, k, is_known, "empty");
        check_fields(t, n, is_number, "not a finite number");
        check_fields(t, z, is_integer, "not an integer");
        size_t different = seen.n;
        if (u.n && intern(&seen, columns_key(t, u, &b)) < different)
            fault(csv_line(t), str_of(unique), csv_str(t, u.v[0]), "key seen before");
    }
    size_t again, headers = csv_headers(t, &again);
    char count[NUM_MAX];
    if (headers)
        fault(again, (str){ 0 }, (str){ count, int_print(count, (int64_t)headers) }, "rows are the header again");
    if (row < (size_t)rows) fault(line, (str){ 0 }, (str){ 0 }, "too few rows");
    fail_status = 2;
    csvw_close(w);
    return faulty;
}
