/* prof-top - where the time went: functions or operations, most expensive first
 *
 * Usage: prof-top [--by=function|operation] [-n ROWS] [--table] [DIR|FILE]...
 *
 * In: a folder of the recorder's logs, or events (for functions best as
 * intervals: prof-log --nested, prof-import --nested).  Columns out, largest
 * self_ns first: name, cat, calls, self_ns (the time in it and not in what it
 * called), total_ns (a recursion counts once; an operation has a row without
 * category for calls and total_ns), share (self
 * time of all threads and streams in the length of the run: all shares may add
 * up to more than 1), unverified_ns (of self_ns: flagged est or open,
 * or of category Unseen).  On a terminal, and with --table, as a table for
 * people under a line that sums up.  Memory: all rows.
 *
 * Examples:
 *   $ prof-record -o out/run train.py && prof-top out/run
 *   $ prof-import --from=kineto --nested trace.json.gz | prof-top -n 20
 */
#include "base/filter.h"
#include "prof/import/logread.h"
#include "prof/top.h"
#include HELP
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static enum { BY_FUNCTION, BY_OPERATION } by = BY_FUNCTION;
static long rows = LONG_MIN;
static bool for_people;
static const struct opt options[] = {
    {  0,  "by",    WORD, &by, "function|operation", "what a row is", 0, 0 },
    { 'n', "rows",  INT,  &rows, "ROWS", "at most so many [table: 25, else all]", 0, 1e15 },
    {  0,  "table", FLAG, &for_people, NULL, "for people, on a pipe too", 0, 0 },
    { 0 } };

int main(int argc, char **argv)
{
    static struct table t;
    struct top top;
    struct stat st;
    int i = filter_init(argc, argv, help, options);
    if (argc - i == 1 && stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode)) {
        struct log_counts counts = { 0 };
        log_read(&t, argv[i], true, &counts);
        if (counts.dropped) warn("%s: %llu records were lost while recording", argv[i],
                                 (unsigned long long)counts.dropped);
    } else table_read(&t, argv + i);
    top_of(&top, &t, by == BY_OPERATION);
    bool table = for_people || isatty(STDOUT_FILENO);
    size_t limit = rows != LONG_MIN ? (size_t)rows : table ? 25 : SIZE_MAX;
    if (!table) return top_write(&top, &t, limit);
    top_print(&top, &t, limit);
    if (fflush(stdout) != 0) die_errno("(stdout)");
    return EXIT_OK;
}
