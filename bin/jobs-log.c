/* jobs-log - append the answers to jobs to a log, each once, none that was cut
 *
 * Usage: jobs-log [--total=N] LOG [FILE]...
 *
 * Columns in: those of jobs-do, any number of such tables below each other,
 * as they come back from many machines.  A line that was cut or mixed with
 * another does not have its sum and is left out; a second answer to the same
 * job is left out too, and when it says something else than the first that is
 * an error, told at the end with both machines: then something that was
 * taken for exact is not.  The log is append-only, one line a write, and has
 * one writer; a torn last line is cut off.  Memory: all answers.
 *
 * Examples:
 *   $ jobs-do jobs.csv | jobs-log log.csv
 *   $ jobs-log log.csv part-*.csv
 */
#include "base/filter.h"
#include "base/progress.h"
#include "measure/jobs.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>

static long total;
static const struct opt options[] = {
    { 0, "total", INT, &total, "N", "jobs expected, for progress", 0, 1e12 },
    { 0 } };
static struct answers known;
static size_t n_new, n_again, n_broken, n_differ;

static void take(csvw *w, const struct answer *a)
{
    bool differs;
    if (answers_add(&known, a, &differs)) {
        answer_write(w, a);
        n_new++;
        progress((double)n_new, "%.*s", (int)a->job.n, a->job.s);
        return;
    }
    if (!str_is(a->status, "ok")) return;
    n_again++;
    if (!differs) return;
    n_differ++;
    const struct answer *first = answers_find(&known, a->job, a->task);
    warn("job '%.*s': machine %.*s says something else than machine %.*s, whose answer stays", (int)a->job.n, a->job.s,
         (int)a->machine.n, a->machine.s, (int)first->machine.n, first->machine.s);
}

static void take_file(csvw *w, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "re");
    if (!f) die_errno("%s", path);
    char *line = NULL;
    size_t cap = 0, lines = 0;
    struct buf scratch = { 0 };
    for (ssize_t n; (n = text_line(f, path, &line, &cap)) > 0; lines++) {
        struct answer a;
        bool whole = line[n - 1] == '\n';
        str s = { line, (size_t)n - whole };
        if (str_is(s, ANSWER_COLUMNS)) continue;
        if (whole && answer_parse(s, &a, &scratch)) take(w, &a);
        else n_broken++;
    }
    if (!lines) die_at(standard ? "<stdin>" : path, 1, "empty input: whoever should have answered did not begin");
    free(scratch.s);
    free(line);
    if (!standard) fclose(f);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i == argc) usage("no log given");
    const char *log = argv[i++];
    csvw *w = csvw_append(log, ANSWER_COLUMNS);
    known = answers_read(log);
    if (known.n_broken) warn("%s: %zu damaged lines are not used", log, known.n_broken);
    progress_start("jobs", (double)total);
    if (i == argc) take_file(w, "-");
    for (; i < argc; i++) take_file(w, argv[i]);
    progress_end();
    if (n_broken) warn("%zu lines were cut or damaged on their way; their jobs are still to be done", n_broken);
    if (n_again) warn("%zu jobs were answered twice", n_again);
    int status = csvw_close(w);
    if (n_differ) die("%zu jobs have different answers on different machines", n_differ);
    return status;
}
