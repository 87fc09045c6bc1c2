/* flambda-import - any form of inlining decisions to the canonical one
 *
 * Usage: flambda-import [OPTION]... [FILE]...
 *
 * Reads V1 decisions (3, 4 or 5 fields of metadata), V0 decisions, simple
 * overrides, result records with timings, trees (V0, V1, expanded) and
 * canonical decisions, told apart by their shape. Writes for each one
 * (decisions (program P) (compiler C) (site (path STEP ...) (callee F)
 * (inline true)) ...) in input order. A step is a word: {F} enters the
 * declaration of F, anything else is a call; steps run from the outside in.
 * Timings are kept as (time_seconds ...). Memory: one expression.
 *
 * Metadata other than the origin of a function is not kept; flambda-tree reads
 * the original forms itself.
 *
 * Examples:
 *   $ flambda-import --program=kb kb-1.sexp > kb.decisions
 *   $ flambda-import results_0.sexp | flambda-tree --stat=-
 */
#include "decisions/source.h"
#include "base/filter.h"
#include HELP

static const char *program, *compiler, *output;
static enum sexp_dialect dialect = SEXP_CORE;
static long only_round = -1;
static const struct opt options[] = {
    { 0, "program", STR, &program, "NAME", "name of the program, when the input does not tell" },
    { 0, "compiler", STR, &compiler, "NAME", "name of the compiler, when the input does not tell" },
    { 0, "round", INT, &only_round, "N", "keep only this round; -1: all", -1, 1000 },
    SOURCE_OPTIONS(dialect, output),
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    static struct names names;
    static struct decisions d;
    struct source in = source_open(argv + i, dialect);
    sexpw *out = sexpw_open(output);
    for (const struct sexp *e; (e = source_next(&in)); ) {
        source_decisions(&names, e, &d);
        if (d.program == NAME_NONE && program) d.program = intern(&names.text, str_of(program));
        if (d.compiler == NAME_NONE && compiler) d.compiler = intern(&names.text, str_of(compiler));
        size_t kept = 0;
        for (size_t k = 0; k < d.n; k++)
            if (only_round < 0 || d.d[k].round == only_round) d.d[kept++] = d.d[k];
        d.n = kept;
        decisions_write(out, &names, &d);
    }
    return sexpw_close(out);
}
