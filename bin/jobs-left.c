/* jobs-left - those jobs of a table that have no answer yet
 *
 * Usage: jobs-left --log=LOG [--part=K/N | --count] [JOBS]
 *
 * Columns in: job, command, and where given input; columns out: the same,
 * rows in order, bytes kept.  A job is done when LOG (see jobs-log) holds an
 * ok answer to this command and input under its name; a command that has
 * changed is to be done again.  A log that is not there yet is empty.  With
 * --part only every N-th of JOBS is looked at, from the K-th on: the share of
 * one of N workers.  With --count only the number of jobs goes out.  All jobs
 * and answers in memory.
 *
 * Examples:
 *   $ jobs-left --log=log.csv jobs.csv | jobs-do | jobs-log log.csv
 *   $ jobs-left --log=log.csv --part=3/16 jobs.csv | jobs-do > part-3.csv
 */
#include "base/filter.h"
#include "base/num.h"
#include "base/out.h"
#include "measure/jobs.h"
#include HELP
#include <math.h>
#include <stdio.h>

static const char *log_path, *part;
static bool count;
static const struct opt options[] = { { 0, "log", STR, &log_path, "LOG", "answers so far", 0, 0 },
                                      { 0, "part", STR, &part, "K/N", "the K-th of N shares", 0, 0 },
                                      { 0, "count", FLAG, &count, NULL, "write their number alone", 0, 0 },
                                      { 0 } };

static void parse_part(size_t *k, size_t *n)
{
    double a = 0, b = 0;
    const char *slash = strchr(part, '/');
    bool sound = slash && num_parse(part, (size_t)(slash - part), &a) && num_parse(slash + 1, strlen(slash + 1), &b) &&
                 a >= 1 && a <= b && b <= 1e9 && a == floor(a) && b == floor(b);
    if (!sound) usage("--part: '%s' is not K/N with 1 <= K <= N", part);
    *k = (size_t)a;
    *n = (size_t)b;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!log_path) usage("no log given, see --log");
    struct jobs j = jobs_read(filter_operand(argc, argv, i));
    struct answers known = answers_read(log_path);
    size_t left = 0, k = 1, n = 1;
    if (part) parse_part(&k, &n);
    csvw *w = count ? NULL : csvw_open(NULL);
    if (w) table_write_names(w, &j.table);
    for (size_t row = k - 1; row < j.table.nrow; row += n) {
        if (answers_find(&known, table_str(&j.table, row, j.job), jobs_task(&j, row))) continue;
        left++;
        if (w) table_write_row(w, &j.table, row);
    }
    if (w) return csvw_close(w);
    printf("%zu\n", left);
    return finish();
}
