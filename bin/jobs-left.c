/* jobs-left - those jobs of a table that have no answer yet
 *
 * Usage: jobs-left --log=LOG [--slots=N | --part=K/N] [--count] [JOBS]
 *
 * Columns in: job, command, and where given input; columns out: the same,
 * rows in order, bytes kept.  A job is done when LOG (see jobs-log) holds an
 * ok answer to this command and input under its name; a command that has
 * changed is to be done again.  A log that is not there yet is empty.
 *
 * --slots=N cuts them into batches for N that work at the same time, each a
 * table by itself with a NUL behind: a batch is half of what would be each
 * one's share of the rest, so that the first are long, to be handed out
 * seldom, and the last short, so that all end at about the same time: between
 * a quarter and a 32nd of a whole share.  With --part only every N-th of JOBS
 * is looked at, from the K-th on: the share of one of N workers.  With --count
 * only the number of jobs goes out.  All jobs and answers in memory.
 *
 * Examples:
 *   $ jobs-left --log=log.csv jobs.csv | jobs-do | jobs-log log.csv
 *   $ jobs-left --log=log.csv --part=3/16 jobs.csv | jobs-do > part-3.csv
 */
#include "base/filter.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/out.h"
#include "measure/jobs.h"
#include HELP
#include <stdio.h>

static const char *log_path, *part;
static long slots;
static bool count;
static const struct opt options[] = {
    { 0, "log", STR, &log_path, "LOG", "answers so far" },
    { 0, "slots", INT, &slots, "N", "cut into batches for so many; 0: do not", 0, 1e6 },
    { 0, "part", STR, &part, "K/N", "the K-th of N shares" },
    { 0, "count", FLAG, &count, NULL, "write their number alone" },
    { 0 } };

static void parse_part(size_t *k, size_t *n)
{
    int64_t a, b;
    const char *slash = strchr(part, '/');
    bool sound = slash && int_parse(part, (size_t)(slash - part), &a) && int_parse(slash + 1, strlen(slash + 1), &b) &&
                 a >= 1 && a <= b;
    if (!sound) usage("--part: '%s' is not K/N with 1 <= K <= N", part);
    *k = (size_t)a;
    *n = (size_t)b;
}

static int write_rows(const struct jobs *j, const size_t *row, size_t n)
{
    csvw *w = csvw_fd(1);
    table_write_names(w, &j->table);
    for (size_t i = 0; i < n; i++) table_write_row(w, &j->table, row[i]);
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!log_path) usage("no log given, see --log");
    struct jobs j = jobs_read(filter_operand(argc, argv, i));
    struct answers known = answers_read(log_path);
    size_t *row = xmalloc(j.table.nrow + 1, sizeof *row), left = 0, first = 1, every = 1;
    if (part) parse_part(&first, &every);
    for (size_t r = first - 1; r < j.table.nrow; r += every)
        if (!answers_find(&known, table_str(&j.table, r, j.job), jobs_task(&j, r))) row[left++] = r;
    if (count) {
        printf("%zu\n", left);
        return finish();
    }
    if (!slots) return write_rows(&j, row, left);
    for (size_t at = 0, n; at < left; at += n) {
        n = jobs_batch(left - at, left, (size_t)slots);
        write_rows(&j, row + at, n);
        if (putchar(0) == EOF || fflush(stdout)) die_errno("<stdout>");
    }
    return finish();
}
