/* jobs-do - do the jobs of a table, one after another, and answer each by a line
 *
 * Usage: jobs-do [--timeout=SECONDS] [--any] [FILE]
 *
 * Columns in: job (a name), command (run without a shell; quotes as in sh),
 * and where given input (a file for its standard input) or stdin (the text
 * of it, on one line).  Columns out: job, task, status, seconds, machine,
 * sum, output, one line as soon as a job has ended; lib/measure/jobs.h says
 * what they are.  A job that fails is an answer too, with the status exit,
 * signal, timeout or not_started; then exit 1 and a count of them.
 * With --any exit 1 only where all failed: then the machine is the likelier
 * cause, and another may try the same jobs.
 *
 * It is what runs on each machine: GNU parallel or Slurm hand it a part of
 * the table, jobs-log collects the lines.  All jobs of the table in memory.
 *
 * Examples:
 *   $ printf 'job,command\na,seq 3\n' | jobs-do
 *   $ jobs-left --log=log.csv jobs.csv | jobs-do | jobs-log log.csv
 */
#include "base/filter.h"
#include "base/out.h"
#include "measure/child.h"
#include "measure/jobs.h"
#include "measure/machine.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static double limit;
static bool any;
static const struct opt options[] = {
    { 0, "timeout", NUM, &limit, "SECONDS", "stop a job that takes longer; 0: none", 0, 1e9 },
    { 0, "any", FLAG, &any, NULL, "exit 0 where at least one job was done" },
    { 0 } };

/* a file in memory that holds the text; its name is good for this process and those it starts */
static char *text_file(str text, int *fd)
{
    *fd = memfd_create("stdin", 0);
    if (*fd < 0) die_errno("memfd_create");
    if (!write_all(*fd, text.s, text.n)) die_errno("memory file");
    return xformat("/proc/%ld/fd/%d", (long)getpid(), *fd);
}

static struct answer do_job(const struct jobs *j, size_t row, struct buf *output)
{
    struct arena a = { 0 };
    str name = table_str(&j->table, row, j->job), command = table_str(&j->table, row, j->command);
    char *line = arena_copy(&a, command.s, command.n), *input = NULL;
    str file = { NULL, 0 }, text = { NULL, 0 };
    int fd = -1;
    if (j->input >= 0) file = table_str(&j->table, row, j->input);
    if (j->text >= 0) text = table_str(&j->table, row, j->text);
    if (file.n) input = arena_copy(&a, file.s, file.n);
    else if (text.n) input = text_file(text, &fd);
    const char *why;
    char **words = shell_words(line, &why);
    if (!words) die("job '%.*s': its command: %s", (int)name.n, name.s, why);
    struct child c = { .argv = words, .input = input, .error = "-", .keep_output = true,
                       .limits.wall_seconds = limit };
    struct ran r = child_run(&c);
    bool ok = r.how == RAN_EXIT && r.code == 0;
    free(output->s);
    *output = r.output;
    if (!ok) warn("job '%.*s': %s%s", (int)name.n, name.s, ran_word(&r), r.how == RAN_EXIT ? "" : ", no result");
    if (fd >= 0) close(fd);
    shell_words_free(words);
    arena_free(&a);
    return (struct answer){ .job = name, .status = str_of(ok ? "ok" : r.how == RAN_EXIT ? "exit" : ran_word(&r)),
                            .output = { output->s, ok ? output->n : 0 }, .task = jobs_task(j, row),
                            .seconds = r.wall_seconds };
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    struct jobs j = jobs_read(filter_operand(argc, argv, i));
    static struct machine m;
    m = machine_read();
    struct buf output = { 0 };
    size_t failed = 0;
    csvw *w = csvw_fd(1);
    csvw_names(w, ANSWER_COLUMNS);
    csvw_end(w);
    for (size_t row = 0; row < j.table.nrow; row++) {
        struct answer a = do_job(&j, row, &output);
        a.machine = str_of(m.fingerprint);
        failed += !str_is(a.status, "ok");
        answer_write(w, &a);
        csvw_flush(w);
    }
    int status = csvw_close(w);
    if (failed && !(any && failed < j.table.nrow)) die("%zu of %zu jobs failed", failed, j.table.nrow);
    return status;
}
