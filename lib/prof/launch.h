/* launch.h - which part of a command line is a Python program, as python itself would take it. */
#ifndef MILLRACE_LAUNCH_H
#define MILLRACE_LAUNCH_H
#include "base/filter.h"
#include <stdbool.h>

/* The index of the -m or -c with which the command begins, after options of the table alone; argc: there is none. */
int launch_python_option(int argc, char **argv, const struct opt *options);
/* A file that Python runs: NAME.py, or a script without that suffix that cannot be executed as it is, because it has
 * not the permission, or lies here while the name is not looked for here.  One that can goes by its first line. */
bool launch_is_script(const char *path);
#endif
