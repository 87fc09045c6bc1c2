/* inline-module - compile a C program to one module whose inlining can be decided
 *
 * Usage: inline-module [--table=FILE --program=NAME] [--clang=N] --out=DIR SOURCE
 *
 * Compiles the program in the directory SOURCE with clang, links it into one
 * LLVM module with only main visible, and leaves in DIR what inline-sites,
 * inline-build, inline-run and inline-search read: module*.bc,
 * never.csv (functions that no decision may inline, and why) and program.csv.
 *
 * How to build and run the program is said by a row of the table of programs
 * (columns name, set, package, build, search, confirm), or, without a table,
 * by three lines in the file SOURCE/program:
 *
 *   build *.c !test*.c -DNDEBUG -lm
 *   search -9 input1.txt ; -d <input2
 *   confirm -9 input3.txt
 *
 * Runs are arguments of the program; " ; " separates runs, <FILE is standard
 * input.  Words are split at blanks, there is no shell.  Search never sees
 * the runs of the line confirm.
 *
 * Examples:
 *   $ inline-module --out=work/mine ~/src/mine
 *   $ inline-module --table=data/programs.csv --program=bzip2 --out=w bzip2-1.0.8
 */
#include "base/filter.h"
#include "inline/work.h"
#include HELP

static const char *table, *name, *out;
static long version;
static const struct opt options[] = {
    { 't', "table", STR, &table, "FILE", "table of programs", 0, 0 },
    { 'p', "program", STR, &name, "NAME", "row of the table", 0, 0 },
    { 'o', "out", STR, &out, "DIR", "work directory, made where missing", 0, 0 },
    { 0, "clang", INT, &version, "N", "version of clang, 0: the oldest of 14 to 19", 0, 99 },
    { 0 }
};

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!out) usage("no work directory, see --out");
    if (argc - i != 1) usage("one source directory expected");
    if (!table != !name) usage("--table and --program go together");
    const char *why;
    const struct llvm *l = llvm_find((int)version, &why);
    if (!l) die("%s", why);
    const struct program *p = table ? program_of_table(table, name, argv[i]) : program_of_directory(argv[i]);
    work_make(out, p, l);
    return EXIT_OK;
}
