/* results.h - the original study's result folders: DIR/BENCHMARK/EXPERIMENT/NAME.csv, one line per worker, no header.
 *
 * A line is worker, overrides file, run directory, then timings with their units (s, m, h, ms, us, ns).  An empty file
 * means that the build or the run failed; a git-LFS pointer, a missing unit or a short line is an error at file and
 * line. Folders and files are visited in byte order of their names. */
#ifndef MILLRACE_RESULTS_H
#define MILLRACE_RESULTS_H
#include "base/str.h"
#include <stdbool.h>
#include <stdio.h>

struct result_line {
    const char *benchmark, *experiment, *policy;         /* policy: NAME without plugin_ */
    bool failed;                                         /* the file is empty; nothing below is set */
    str worker, rundir;
    const double *seconds;
    size_t n;
};
typedef void result_visit(void *context, const struct result_line *);

void results_walk(const char *dir, const char *experiment, result_visit *, void *context);   /* experiment NULL: all */
/* The next line of a file of the study without its end, false after the last; dies at a NUL byte, or where the file is
 * a git-LFS pointer instead of data. */
bool data_line(FILE *, const char *path, char **text, size_t *room, size_t *number, str *line);
char **sorted_names(const char *dir,
                    size_t *n); /* entries that do not begin with a dot; dies if there is no such directory */
#endif
