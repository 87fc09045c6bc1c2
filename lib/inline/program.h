/* program.h - the table of programs: where a program's source is, how it is built, and how it is run.
 *
 * Columns: name, set (train or test), package (Debian source package, empty for one's own), build, search, confirm.
 *   build    words: source globs, !globs to leave out, flags of the compiler and the linker; sources and the folders of
 *            -I and -L are relative to the source directory, what -Wl, says the linker reads where it runs
 *   search   arguments of the runs that searches measure; several runs are separated by " ; ", <FILE is standard input
 *   confirm  the same for runs that no search may see
 *   status   may be missing or empty: with which exit status runs end when all is well, 0; one number is of all runs,
 *            else there is one for each, of search first
 * A directory of one's own holds the same fields in a file named `program`, a line each: `build *.c -lm`, ...
 * Words are split at blanks; there is no shell and no quoting. */
#ifndef MILLRACE_PROGRAM_H
#define MILLRACE_PROGRAM_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>

bool source_is_cxx(const char *path);

struct program_run { char **argv; size_t argc; char *input; int status; };   /* argv[0] is left for the executable */

/* one compilation: what turns a source into an object, without what says where it goes or how hard to optimise */
struct unit {
    char *directory, *source, **flags;                   /* flags NULL-terminated */
    size_t archive; /* that the linker takes it from if it needs it: units of one number, side by side; 0: linked */
};

struct program {
    char *name, *set, *package, *directory;
    char *build, *search, *confirm, *status;             /* the fields as given */
    struct unit *unit;                                   /* in the order of the link */
    size_t nunits;
    char **libraries;                                    /* words for the linker, NULL-terminated */
    struct program_run *search_run, *confirm_run;
    size_t nsearch, nconfirm;
};

/* Row `name` of a table; sources are looked for under `directory`.  Dies at file:line on a malformed row, on a glob
 * that matches nothing and when the name is not there.  With units and libraries from elsewhere (recorded.h; else NULL)
 * only the columns, or lines of DIRECTORY/program, search, confirm and status are read; name NULL: the folder's. */
struct program *program_of_table(const char *table, const char *name, const char *directory, struct unit *, size_t n,
                                 char **libraries);
struct program *program_of_directory(const char *directory, const char *name, struct unit *, size_t n,
                                     char **libraries);

/* As laid out in a work directory: units.csv (directory, source, flags quoted for a shell, archive), a row a unit,
 * beside program.csv, whose column libraries is quoted so too.  All die at file:line. */
void program_write_units(const struct program *, const char *path);
/* From now on absolute paths that a work directory holds are looked for below this folder first. */
void program_root(const char *directory);
struct program *program_of_work(const char *table, const char *units);
char **program_words(const char *file, size_t line, const char *quoted);     /* dies at file:line */
void program_quote(struct buf *, char *const *words);
#endif
