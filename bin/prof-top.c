/* prof-top - where the time went: functions or operations, most expensive first
 *
 * Usage: prof-top [--by=function|operation] [-n ROWS] [--table] [DIR|FILE]...
 *
 * In: a folder of the recorder's logs, or events (for functions best as
 * intervals: prof-log --nested, prof-import --nested).  Columns out, largest
 * self_ns first: name, cat, calls, self_ns (the time in it and not in what it
 * called), total_ns (a recursion counts once; an operation has a row without
 * category for calls and total_ns), share (self time of all threads and
 * streams in the length of the run: all shares may add up to more than 1),
 * unverified_ns (of self_ns: flagged est, estimated or open, or of category
 * Unseen; of Python also what samples of prof-record --judge do not exclude to
 * be C that was not seen, at the upper end of a 95 % interval, and what calls
 * beyond --skip-after took, if they were like the others).  On a terminal, and
 * with --table, an aligned table comes out, under a line that sums up.  Where
 * the folder has calibration.sexp (prof-record --calibrate), what recording
 * cost is taken out, call by call, unless --raw.  --from and --to cut calls in
 * two, and leave out what is known of the whole run alone (counts, Unseen).
 * Memory: a row for each name while rows come in order of start_ns, as in a
 * folder; else, or with --hold, all rows.
 *
 * Examples:
 *   $ prof-record -o out/run train.py && prof-top out/run
 *   $ prof-import --from=kineto --nested trace.json.gz | prof-top -n 20
 */
#include "base/filter.h"
#include "prof/correct.h"
#include "prof/import/logread.h"
#include "prof/top.h"
#include HELP
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static enum { BY_FUNCTION, BY_OPERATION } by = BY_FUNCTION;
static long rows = LONG_MIN;
static double from, to = INFINITY;
static struct top_range range = { 0, INT64_MAX };
static bool as_table, raw, hold;
static const struct opt options[] = {
    {  0,  "by",    WORD, &by, "function|operation", "what a row is" },
    { 'n', "rows",  INT,  &rows, "ROWS", "at most so many [table: 25, else all]", 0, 1e15 },
    {  0,  "from",  NUM,  &from, "SECONDS", "only what ran since then, from the run's begin", 0, 1e9 },
    {  0,  "to",    NUM,  &to, "SECONDS", "and until then [its end]", 0, 1e9 },
    {  0,  "table", FLAG, &as_table, NULL, "an aligned table, on a pipe too" },
    {  0,  "raw",   FLAG, &raw, NULL, "leave what recording cost" },
    {  0,  "hold",  FLAG, &hold, NULL, "take rows in any order, all in memory" },
    { 0 } };

/* the calibration beside the logs, if there is one: what a call costs by each hook */
static bool read_costs(const char *dir, struct top_cost cost[HOOKS])
{
    char *path = xformat("%s/calibration.sexp", dir);
    struct hook_cost c[HOOKS];
    bool there = !raw && access(path, R_OK) == 0;
    if (there) correct_costs(path, log_hook_name, HOOKS, c);
    for (int h = 0; there && h < HOOKS; h++)
        cost[h] = (struct top_cost){ h ? c[h].inside : 0, h ? c[h].mean - c[h].inside : 0 };
    free(path);
    return there;
}

static void top_of_logs(struct top *top, struct event_table *t, const char *dir)
{
    struct log_counts counts = { 0 };
    struct top_cost cost[HOOKS];
    log_reader *r = log_open(dir, true, &counts);
    if (counts.dropped) warn("%s: %llu records were lost while recording", dir, (unsigned long long)counts.dropped);
    bool known = read_costs(dir, cost);
    top_builder *b = top_begin(t, by == BY_OPERATION, &range);
    uint32_t own = intern(&t->text, str_of("Profiler"));   /* what the recorder does for itself: no hook called it */
    int hook;
    for (struct row one; log_next_row(r, &t->text, &one, &hook);)
        top_add(b, &one, known && one.cat != own ? &cost[hook] : NULL);
    top_end(b, top);
    if (range.from <= 0 && range.to == INT64_MAX) top_judge(top, t, dir);
    log_close(r);
}

static void top_of_rows(struct top *top, struct event_table *t, char **paths)
{
    struct ordered o;
    struct row r;
    const uint32_t *extra;
    if (!ordered_open(&o, t, paths, hold, false)) {
        top_of(top, t, by == BY_OPERATION, &range);
        return;
    }
    top_builder *b = top_begin(t, by == BY_OPERATION, &range);
    while (ordered_next(&o, &r, &extra)) top_add(b, &r, NULL);
    top_end(b, top);
}

int main(int argc, char **argv)
{
    static struct event_table t;
    struct top top;
    struct stat st;
    int i = filter_init(argc, argv, help, options);
    range.from = llround(from * 1e9);
    if (isfinite(to)) range.to = llround(to * 1e9);
    if (range.to <= range.from) usage("--to is not after --from");
    if (argc - i == 1 && stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode)) {
        top_of_logs(&top, &t, argv[i]);
    } else top_of_rows(&top, &t, argv + i);
    bool table = as_table || isatty(STDOUT_FILENO);
    size_t limit = rows != LONG_MIN ? (size_t)rows : table ? 25 : SIZE_MAX;
    if (!table) return top_write(&top, &t, limit);
    top_print(&top, &t, limit);
    if (fflush(stdout) != 0) die_errno("(stdout)");
    return EXIT_OK;
}
