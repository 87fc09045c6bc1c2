/* prof-check - is a profile sound?
 *
 * Usage: prof-check [--log=DIR] EVENTS.csv
 *
 * Columns in: those of events.  Columns out: proc, check, status (pass, warn,
 * fail), value, limit.  Checks, each per process:
 *   wall        all cells together against the stretches in which profiling
 *               was on: 2 % or 1 ms
 *   union       all cells together against the merged intervals: exactly
 *   operation   cells of each operation against its flattened time: exactly
 *   gpu         GPU time at most wall time times devices
 *   async       CUDA calls shorter than the GPU's work: a warning, launches
 *               did not wait
 *   dropped     records lost while recording: none
 *   repaired    empty, reversed, misnested or open intervals: a warning
 *   iterations  all processes have as many: a warning
 * and of what prof-log wrote (a column hook, none named op), the number of rows
 * against each rule:
 *   exclusive   of a thread, Python excludes everything else
 *   missing     and there are no gaps while profiling is on
 *   nesting     calls and operations nest
 *   twice       no row is there twice
 *   life        rows lie within their process's life
 *   reversed    no row ends before it begins
 *   category    a name has one category
 * With --log, that the rows are those of the logs in DIR, all and no others,
 * and that the logs are as the recorder wrote them.  Without it some changes
 * cannot be known: another name of the same category, a call less or a border
 * moved within a call, another link or flag, an operation's name.
 *
 * Exit status: 0 sound (warnings allowed), 1 not sound, 2 trouble.
 * Memory: all rows, 130 bytes each.
 *
 * Examples:
 *   $ prof-check events.csv
 */
#include "base/filter.h"
#include "base/out.h"
#include "prof/check.h"
#include "prof/import/logcheck.h"
#include HELP
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *log_dir;
static const struct opt options[] = {
    { 0, "log", STR, &log_dir, "DIR", "the logs that the events are from" },
    { 0 } };

/* what comes by a pipe, kept in memory: it is read three times */
static const char *kept(const char *path)
{
    struct stat st;
    int in = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), copy;
    char b[1 << 16];
    ssize_t n = 0;
    if (in < 0 || fstat(in, &st) != 0) die_errno("%s", path);
    if (in != STDIN_FILENO && S_ISREG(st.st_mode)) return path;
    if ((copy = memfd_create("events", MFD_CLOEXEC)) < 0) die_errno("%s", path);
    while ((n = read(in, b, sizeof b)) > 0) if (!write_all(copy, b, (size_t)n)) die_errno("%s", path);
    if (n < 0) die_errno("%s", path);
    return xformat("/proc/self/fd/%d", copy);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one file of events expected, - is standard input");
    fail_status = EXIT_USAGE;                            /* 1 is an answer */
    const char *path = kept(argv[i]);
    csvw *w = csvw_open("-");
    static struct event_table t;
    bool sound = check_profile(path, &t, w);
    sound &= log_check_rows(&t, w);
    if (log_dir) sound &= log_check_same(log_dir, path, w);
    csvw_close(w);
    return !sound;
}
