/* inline-jobs - the runs of a program as arguments of bench-run and bench-count
 *
 * Usage: inline-jobs [--set=search|confirm] WORK LABEL=EXE...
 *
 * One line for each run that the table of programs names for WORK: a name,
 * PROGRAM.K, a tab, and the arguments, quoted for xargs: directory, input,
 * exit (the status that is demanded), and for each LABEL the command with that
 * executable.  The outputs of all labels are the same when all is well, so
 * bench-run finds miscompilations.
 *
 * Examples:
 *   $ inline-jobs work/lua O2=./lua.O2 new=./lua.new |
 *     while IFS=$'\t' read -r name args; do
 *       xargs bench-run --benchmark=$name <<< "$args"; done
 */
#include "base/filter.h"
#include "base/out.h"
#include "inline/work.h"
#include "measure/child.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum { SEARCH, CONFIRM } set = CONFIRM;
static const struct opt options[] = {
    { 0, "set", WORD, &set, "search|confirm", "which runs" },
    { 0 } };

static void word(struct buf *line, const char *option, const char *value)
{
    char *w = xformat("%s%s", option, value);
    buf_char(line, ' ');
    shell_quote(line, w);
    free(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i < 2) usage("a work directory and LABEL=EXE expected");
    const struct program *p = work_open(argv[i])->program;
    bool search = set == SEARCH;
    const struct program_run *run = search ? p->search_run : p->confirm_run;
    for (size_t k = 0; k < (search ? p->nsearch : p->nconfirm); k++) {
        struct buf line = { 0 };
        word(&line, "--directory=", p->directory);
        if (run[k].input) word(&line, "--input=", run[k].input);
        char code[16];
        snprintf(code, sizeof code, "%d", run[k].status);
        word(&line, "--exit=", code);
        for (int a = i + 1; a < argc; a++) {
            const char *equals = strchr(argv[a], '=');
            if (!equals || equals == argv[a]) usage("'%s' is not LABEL=EXE", argv[a]);
            char *exe = realpath(equals + 1, NULL);
            if (!exe) die_errno("%s", equals + 1);
            char *label = xformat("%.*s", (int)(equals - argv[a]), argv[a]);
            word(&line, "--label=", label);
            struct buf command = { 0 };
            shell_quote(&command, exe);
            for (size_t j = 1; j < run[k].argc; j++) {
                buf_char(&command, ' ');
                shell_quote(&command, run[k].argv[j]);
            }
            word(&line, "", command.s);
            free(command.s);
            free(label);
            free(exe);
        }
        printf("%s.%zu\t%s\n", p->name, k + 1, line.s + 1);
        free(line.s);
    }
    return finish();
}
