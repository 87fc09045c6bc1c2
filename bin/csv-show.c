/* csv-show - a table for reading, in aligned columns
 *
 * Usage: csv-show [-c COLS] [--rows=N] [--width=N] [--digits=N] [--markdown]
 *                 [FILE]...
 *
 * Columns in: any; COLS as in csv-cut, with a..b, * and ?.  Out comes text, not
 * CSV: names, a rule, rows; columns of numbers stand to the right.  Fields are
 * cut to --width places (marked by ..; a wide character takes two), control
 * characters shown as ?, and numbers that are not whole rounded to as many
 * significant digits; --digits=0 leaves them as they are.
 * Memory: all rows.
 *
 * Examples:
 *   $ csv-show -c network,'*_seconds' --digits=6 results.csv
 *   $ csv-show --markdown data/results.csv
 */
#include "base/filter.h"
#include "base/message.h"
#include "base/out.h"
#include "table/input.h"
#include "table/show.h"
#include HELP

static const char *select_names;
static struct show how = { .width = 40, .digits = 4 };
static const struct opt options[] = {
    { 'c', "column", STR, &select_names, "COLS", "the columns to show" },
    { 'n', "rows", INT, &how.rows, "N", "at most N rows; 0: all", 0, 1e15 },
    { 0, "width", INT, &how.width, "N", "places of a field; 0: all", 0, 10000 },
    { 0, "digits", INT, &how.digits, "N", "significant digits of numbers; 0: as they are", 0, 17 },
    { 0, "markdown", FLAG, &how.markdown, NULL, "a table in Markdown, no field cut" },
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (how.width > 0 && how.width < 3) usage("--width: %ld places are too few, at least 3", how.width);
    if (how.markdown) how.width = 0;
    csv *t = csv_files(argv + i);
    if (csv_ncol(t) == 1 && !quiet && csv_separator_hint(t))
        warn_at(csv_file(t), 1, "one column; fields look separated by '%s', see --delimiter", csv_separator_hint(t));
    show_table(stdout, t, select_names ? columns_matching(t, select_names, "--column") : columns_all(t), &how);
    return finish();
}
