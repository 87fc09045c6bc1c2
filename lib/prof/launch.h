/* launch.h - which part of a command line is a Python program, as python itself would take it, and where its recorder
 * finds what it needs. */
#ifndef MILLRACE_LAUNCH_H
#define MILLRACE_LAUNCH_H
#include "base/filter.h"
#include <stdbool.h>

/* The index of the -m or -c with which the command begins, after options of the table alone; argc: there is none. */
int launch_python_option(int argc, char **argv, const struct opt *options);
/* A file that Python runs: NAME.py, or a script without that suffix that cannot be executed as it is, because it has
 * not the permission, or lies here while the name is not looked for here.  One that can goes by its first line. */
bool launch_is_script(const char *path);
/* The Python that the user would run, and a note where it is not the system's: that of the script's first line (NULL:
 * no script), of an active environment (VIRTUAL_ENV, CONDA_PREFIX), the first python3 of PATH. */
const char *launch_python(const char *script);
/* Dies where the command is a Python whose option -I, -E or -S keeps it from finding the recorder. */
void launch_refuse_isolated(char *const *command);
/* The folder for the logs, made if missing, as an absolute path.  Logs of an earlier run, which would be taken for this
 * one's, are removed with force; without it dies. */
char *launch_directory(const char *out, bool force);
/* A file of the recorder's, which lie beside the programs: in ../lib/millrace when installed, in a build directory
 * else.  Where it is not: NULL, or with need it dies. */
char *launch_library(const char *file, bool need);
/* one more in a list of the environment, in front or behind */
void launch_add_path(const char *name, const char *value, bool first);
void launch_set_number(const char *name, double);        /* 0: not set */
double launch_filters(void);                             /* of system calls, that we run under ourselves */
#endif
