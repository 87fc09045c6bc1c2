/* jobs.c - fuzz target: tables of jobs, and lines of answers, out of any bytes; the first byte says which.  An accepted
 * answer is found again as it was; any answer that is written is one line, is accepted and says the same. */
#include "fuzz.h"
#include "base/mem.h"
#include "measure/jobs.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_line(str line)
{
    struct answer a;
    struct buf scratch = { 0 };
    if (answer_parse(line, &a, &scratch)) {
        fuzz_check(a.output.n <= line.n && a.job.s >= line.s, "an answer longer than its line");
        /* one that is added is found by its name and task, when it is ok */
        struct answers all = { 0 };
        bool differs, first = answers_add(&all, &a, &differs);
        const struct answer *same = answers_find(&all, a.job, a.task);
        fuzz_check(first == (same != NULL) && !differs, "an answer that is lost");
        if (same) fuzz_check(str_eq(same->output, a.output), "an answer that has changed");
    }
    free(scratch.s);
}

static void lines(const uint8_t *data, size_t n)
{
    const char *p = (const char *)data, *end = p + n;
    for (const char *e; p < end; p = e + 1) {
        e = memchr(p, '\n', (size_t)(end - p));
        if (!e) e = end;
        check_line((str){ p, (size_t)(e - p) });
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data, n));
    struct answers a = answers_read(path);
    for (size_t i = 0; i < a.key.n; i++)
        if (a.v[i].status.n) fuzz_check(answers_find(&a, a.v[i].job, a.v[i].task) == &a.v[i], "not found again");
}

/* the bytes are what a job wrote: the sum is right, so that what lies behind it is reached */
static void output(const uint8_t *data, size_t n)
{
    int fd = fuzz_reuse(0), copy = dup(fd);
    csvw *w = csvw_fd(fd);
    struct answer a = { .job = { "j", 1 }, .status = { "ok", 2 }, .machine = { "m", 1 }, .task = n, .seconds = 0.5,
                        .output = { (const char *)data, n } };
    answer_write(w, &a);
    csvw_close(w);
    off_t size = lseek(copy, 0, SEEK_END);
    fuzz_check(size > 0, "nothing was written");
    char *text = xmalloc((size_t)size, 1);
    if (pread(copy, text, (size_t)size, 0) != size) abort();
    struct answer b;
    struct buf scratch = { 0 };
    fuzz_check(!memchr(text, '\n', (size_t)size - 1), "more than a line");
    fuzz_check(answer_parse((str){ text, (size_t)size - 1 }, &b, &scratch), "what was written is not accepted");
    fuzz_check(str_eq(b.output, a.output) && b.task == n && str_is(b.status, "ok"), "the answer changed on its way");
    free(text);
    free(scratch.s);
}

static void table(const uint8_t *data, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data, n));
    struct jobs j = jobs_read(path);
    fuzz_check(j.name.n == j.table.nrow, "two jobs of one name");
    for (size_t i = 0; i < j.table.nrow; i++) {
        fuzz_check(table_str(&j.table, i, j.job).n > 0, "a job without a name");
        jobs_task(&j, i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n) return 0;
    switch (data[0] % 3) {
    case 0: fuzz_run(table, data + 1, n - 1); break;
    case 1: fuzz_run(lines, data + 1, n - 1); break;
    default: fuzz_check(fuzz_run(output, data + 1, n - 1), "an answer cannot be written");
    }
    return 0;
}
