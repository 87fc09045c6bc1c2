/* jobs-merge - the results of all jobs of a table as one table, or as files
 *
 * Usage: jobs-merge --log=LOG [--name=COL] [--machine=COL] [--files] [JOBS]
 *
 * Columns in: job, command, and where given input and out; every job must
 * have an answer in LOG (see jobs-log), else those without are named and
 * nothing is written.  Each answer is a table, all with the same columns;
 * they go out below each other in the order of JOBS, whichever was done
 * first and wherever, so that the same answers give the same bytes.  --name
 * puts the job in front as column COL, --machine the fingerprint of the
 * machine behind, for rows that hold times.  With --files each answer, of
 * any form, becomes the file named in column out, whole or not at all.
 * All answers in memory.
 *
 * Examples:
 *   $ jobs-merge --log=log.csv --name=program jobs.csv > all.csv
 */
#include "base/filter.h"
#include "base/out.h"
#include "measure/jobs.h"
#include HELP
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *log_path, *name, *machine;
static bool files;
static const struct opt options[] = {
    { 0, "log", STR, &log_path, "LOG", "answers" },
    { 0, "name", STR, &name, "COL", "a first column with the job's name" },
    { 0, "machine", STR, &machine, "COL", "a last column with the machine's fingerprint" },
    { 0, "files", FLAG, &files, NULL, "write each answer to the file in column out" },
    { 0 } };

static const struct answer **all_answers(const struct jobs *j, const struct answers *known)
{
    const struct answer **a = xmalloc(j->table.nrow + 1, sizeof *a);
    struct buf missing = { 0 };
    size_t n = 0;
    for (size_t row = 0; row < j->table.nrow; row++) {
        str job = table_str(&j->table, row, j->job);
        a[row] = answers_find(known, job, jobs_task(j, row));
        if (a[row]) continue;
        if (n++ < 5) buf_format(&missing, "%s%.*s", n > 1 ? ", " : "", (int)job.n, job.s);
    }
    if (n) die("%zu of %zu jobs have no result: %s%s", n, j->table.nrow, missing.s, n > 5 ? ", .." : "");
    return a;
}

static void write_file(str path, str text)
{
    struct arena a = { 0 };
    struct out *o = out_open(arena_copy(&a, path.s, path.n));
    fwrite(text.s, 1, text.n, out_file(o));
    out_close(o);
    arena_free(&a);
}

/* the answer as a table: read like any other, so that quoted fields and ragged rows are what they always are */
static csv *open_table(const struct answer *a)
{
    int fd = memfd_create("answer", MFD_CLOEXEC);
    if (fd < 0) die_errno("memfd_create");
    if (!write_all(fd, a->output.s, a->output.n)) die_errno("memory file");
    if (lseek(fd, 0, SEEK_SET) != 0) die_errno("memory file");
    return csv_open_fd(fd, xformat("result of job '%.*s'", (int)a->job.n, a->job.s));
}

static void same_columns(const csv *t, const csv *first)
{
    bool same = csv_ncol(t) == csv_ncol(first);
    for (int c = 0; same && c < csv_ncol(t); c++) same = str_eq(csv_name(t, c), csv_name(first, c));
    if (!same) die("%s: its columns are not those of the %s", csv_file(t), csv_file(first));
}

static int write_tables(const struct answer **a, size_t n)
{
    csvw *w = csvw_open(NULL);
    csv *first = NULL;
    for (size_t k = 0; k < n; k++) {
        csv *t = open_table(a[k]);
        if (first) {
            same_columns(t, first);
        } else {
            if (name) csvw_cstr(w, name);
            csvw_copy_names(w, t);
            if (machine) csvw_cstr(w, machine);
            csvw_end(w);
        }
        while (csv_next(t)) {
            if (name) csvw_str(w, a[k]->job);
            csvw_copy_all(w, t);
            if (machine) csvw_str(w, a[k]->machine);
            csvw_end(w);
        }
        if (first) csv_close(t);
        else first = t;
    }
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!log_path) usage("no log given, see --log");
    struct jobs j = jobs_read(filter_operand(argc, argv, i));
    if (files && j.out < 0) die("%s: --files needs a column 'out'", j.table.file);
    struct answers known = answers_read(log_path);
    const struct answer **a = all_answers(&j, &known);
    if (!files) return write_tables(a, j.table.nrow);
    struct intern outs = { 0 };
    for (size_t row = 0; row < j.table.nrow; row++) {
        str out = table_str(&j.table, row, j.out);
        if (!out.n || intern(&outs, out) < row)
            die_at(j.table.file, j.table.line[row], "column 'out': '%.*s' is no file of this job alone", (int)out.n,
                   out.s);
    }
    for (size_t row = 0; row < j.table.nrow; row++) write_file(table_str(&j.table, row, j.out), a[row]->output);
    return EXIT_OK;
}
