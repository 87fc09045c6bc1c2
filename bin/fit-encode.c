/* fit-encode - categories to columns of 0 and 1
 *
 * Usage: fit-encode [-c COLS] [--codes=FILE] [--max=N] [FILE]...
 *
 * Columns in: any; -c names those that hold categories, by default all in
 * which some field is neither empty nor a number nor true or false.  Out:
 * in the place of each, a column NAME_VALUE for each of its values in order
 * of their bytes, 1 in the rows that have it, else 0; all other columns as
 * they are.  An empty field is 0 in all of them.
 *
 * --codes=FILE: where FILE is there, columns and values are those it names,
 * so that new rows fit a model that was made of others: a value that it does
 * not know is 0 in all columns, and how often that happened is told.  Else it
 * is written: a table of column, value.  All rows in memory.
 *
 * Examples:
 *   $ fit-encode -c compiler,host --codes=codes.csv train.csv > numbers.csv
 *   $ fit-encode --codes=codes.csv test.csv | fit-predict -m model.sexp
 */
#include "base/filter.h"
#include "fit/encode.h"
#include "table/columns.h"
#include "table/input.h"
#include HELP
#include <unistd.h>

static const char *names, *codes_path;
static long most = 50;
static const struct opt options[] = {
    { 'c', "column", STR, &names, "COLS", "the columns that hold categories" },
    { 0, "codes", STR, &codes_path, "FILE", "the values: read where it is there, else written" },
    { 0, "max", INT, &most, "N", "values of a column at most", 1, 1e6 },
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    bool known = codes_path && access(codes_path, F_OK) == 0;
    if (known && names) usage("-c names what %s has decided; remove it to choose anew", codes_path);
    csv *in = csv_files(argv + i);
    struct columns chosen = names ? columns_matching(in, names, "columns") : (struct columns){ 0 };
    struct table t = table_load(in);
    struct codes c = known ? codes_read(codes_path, &t) : codes_of(&t, names ? &chosen : NULL, (size_t)most);
    csvw *w = csvw_open("-");
    size_t strange = codes_apply(&c, &t, w);
    if (codes_path && !known) codes_write(&c, &t, codes_path);
    if (strange && !quiet) warn("%zu fields hold a value that %s does not know", strange, codes_path);
    return csvw_close(w);
}
