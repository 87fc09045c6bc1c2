/* inline-module - lay out a C program so that its inlining can be decided
 *
 * Usage: inline-module [--table=FILE --program=NAME | --from-build=DIR
 *                      --program=NAME [--table=FILE] | --commands=FILE]
 *                      [--compiler=NAME]
 *                      [--per-file | --lto [--profile=KIND]] --out=DIR SOURCE
 *
 * Compiles the program in the directory SOURCE and leaves in DIR what
 * inline-sites, inline-build, inline-run and inline-search read: calls.csv
 * (the calls of the source), never.csv (functions that no decision may
 * inline, and why), program.csv, and the compiler's own modules.
 *
 * Compilers: clang, which decides each copy of a call apart, through its
 * replay file; gcc, which decides a call once, through a plugin compiled for
 * it here (apt install g++-12 gcc-12-plugin-dev).  `clang` and `gcc` are the
 * oldest installed version of each, clang-19 is that one.  The whole program
 * is compiled as one, only main is visible; with --per-file each source by
 * itself, as an ordinary build does.  With --lto it goes through clang's own
 * -flto, which inlines twice, in each source and in the linker (lld); a call
 * is then decided in each stage, and with --profile on top of a profile of the
 * search runs: fe counts in the front end, irn in the middle end.  inline-emit
 * --to takes what is found to your build.
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
 * input.  Words are split at blanks, there is no shell.  What the line build
 * says to the linker holds; where that exports or wraps symbols (-rdynamic,
 * -Wl,--wrap=..) not only main is visible.  What a run writes has
 * to be the same each time, without a time or an address: else all decisions
 * look wrong.  Search never sees the runs of the line confirm.
 *
 * --from-build takes the compilations from a program that was built by
 * inline-cc, wherever it is below DIR; --commands takes all those of a
 * compile_commands.json, with --libraries for the linker.  SOURCE/program then
 * has the lines search and confirm only, and SOURCE is where runs begin; with
 * --from-build and --table they are columns of the table's row.
 *
 * Examples:
 *   $ inline-module --lto --from-build=jq-1.6 --program=jq --out=w runs
 *   $ inline-module --out=work/mine ~/src/mine
 *   $ inline-module --table=data/programs.csv --program=bzip2 --out=w bzip2-1.0.8
 */
#include "base/filter.h"
#include "inline/recorded.h"
#include "inline/work.h"
#include HELP
#include <string.h>

static const char *table, *name, *out, *from_build, *commands, *libraries = "", *compiler = "clang";
static enum { NONE, FE, IRN } profile = NONE;
static bool per_file, lto;
static const struct opt options[] = {
    { 0, "table", STR, &table, "FILE", "table of programs" },
    { 0, "program", STR, &name, "NAME", "row of the table, or program of the build" },
    { 0, "from-build", STR, &from_build, "DIR", "where inline-cc built the program" },
    { 0, "commands", STR, &commands, "FILE", "compile_commands.json" },
    { 0, "libraries", STR, &libraries, "WORDS", "with --commands: for the linker" },
    { 'o', "out", STR, &out, "DIR", "work directory, made where missing" },
    { 0, "compiler", STR, &compiler, "NAME", "clang, gcc, or a version: clang-19" },
    { 0, "per-file", FLAG, &per_file, NULL, "each source by itself, not the program as one" },
    { 0, "lto", FLAG, &lto, NULL, "as -flto does it: before the link and in it" },
    { 0, "profile", WORD, &profile, "none|fe|irn", "with --lto: of the search runs, by clang" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!out) usage("no work directory, see --out");
    if (argc - i != 1) usage("one source directory expected");
    if ((table || from_build) != !!name) usage("--program goes with --table or --from-build");
    if (commands && (table || from_build)) usage("--commands is another way than --table and --from-build");
    const char *why;
    const struct compiler *c = compiler_find(compiler, &why);
    if (!c) die("%s", why);
    const struct program *p;
    struct recorded r = { 0 };
    if (from_build) recorded_of_build(&r, from_build, name);
    if (commands) recorded_of_commands(&r, commands);
    if (commands) r.libraries = program_words("--libraries", 1, libraries);
    if (table) p = program_of_table(table, name, argv[i], r.unit, r.n, r.libraries);
    else p = program_of_directory(argv[i], commands ? "program" : name, r.unit, r.n, r.libraries);
    if (per_file && lto) usage("--per-file and --lto are two ways to compile");
    if (!lto && profile != NONE) usage("--profile goes with --lto");
    work_make(out, p, c, lto ? SCOPE_LTO : per_file ? SCOPE_FILE : SCOPE_PROGRAM, option_word(&profile));
    return EXIT_OK;
}
