/* inline-emit - decisions in a form that a compiler reads
 *
 * Usage: inline-emit --form=v0|v1|simple|canonical [OPTION]... [FILE]...
 *
 * Reads any form of decisions or trees and writes an overrides file. V1: the
 * trace of a call lists the declarations and inlined calls around it,
 * innermost first; an apply id is the last site of a path with the others as
 * its parents. A form that cannot say what the input says is an error that
 * names the call. Memory: one expression.
 *
 * Examples:
 *   $ inline-emit --form=v1 best.decisions > overrides.sexp
 *   $ flambda-expand kb-1-parents.sexp | inline-emit --form=v1 > kb.overrides
 */
#include "flambda/source.h"
#include "base/filter.h"
#include HELP
#include <string.h>

static const char *dialect = "core", *output, *form;
static long n_fields, only_round = -1;
static const struct opt options[] = {
    { 'f', "form", WORD, &form, "v0|v1|simple|canonical", "what to write" },
    { 'r', "round", INT, &only_round, "N", "give every decision this round; -1: as read", -1, 1000 },
    { 0, "fields", INT, &n_fields, "N", "fields of V1 metadata, 3 to 5; 0: as read, else 5", 0, 5 },
    { 0, "dialect", WORD, &dialect, DIALECTS, "how atoms are written: compiler has no quotes" },
    { 'o', "output", STR, &output, "FILE", "write here instead of standard output" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    static struct names names;
    static struct decisions d;
    if (!form) usage("no form given, see --form");
    struct source in = source_open(argv + i, dialect);
    sexpw *out = sexpw_open(output);
    for (const struct sexp *e; (e = source_next(&in)); ) {
        source_decisions(&names, e, &d);
        for (size_t k = 0; only_round >= 0 && k < d.n; k++) d.d[k].round = (int)only_round;
        if (strcmp(form, "v0") == 0) decisions_write_v0(out, &names, &d);
        else if (strcmp(form, "v1") == 0) decisions_write_v1(out, &names, &d, (int)n_fields);
        else if (strcmp(form, "simple") == 0) decisions_write_simple(out, &names, &d);
        else decisions_write(out, &names, &d);
    }
    return sexpw_close(out);
}
