/* sexp-check - are s-expressions sound?
 *
 * Usage: sexp-check [--head=WORD] [--one] [--dialect=WORD] [FILE]
 *
 * Exit status: 0 sound, 1 not, 2 trouble (no such file, wrong usage).
 * The input must be well-formed; where it is not, a message names file, line
 * and column, and for a list that is not closed the line where it was opened.
 * With --head every top-level expression must be a list that begins with WORD,
 * with --one there must be exactly one.  Nothing comes out.
 * Memory: one expression.
 *
 * Examples:
 *   $ sexp-check --one --head=graph graph.sexp
 *   $ sexp-check --dialect=compiler decisions.sexp
 */
#include "base/filter.h"
#include "base/out.h"
#include "tree/sexp.h"
#include HELP
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char *head;
static enum sexp_dialect dialect = SEXP_CORE;
static bool one;
static const struct opt options[] = {
    { 0, "head", STR, &head, "WORD", "what every expression begins with" },
    { 0, "one", FLAG, &one, NULL, "exactly one expression" },
    DIALECT_OPTION(dialect),
    { 0 } };

int main(int argc, char **argv)
{
    fail_status = usage_status = 2;
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    struct stat st;
    if (strcmp(path, "-") != 0 ? stat(path, &st) != 0 : fstat(0, &st) != 0) die_errno("%s", path);
    if (S_ISDIR(st.st_mode)) die("%s: is a directory", path);
    sexpr *r = sexp_open(path, dialect);
    fail_status = 1;                                     /* from here on what ends the program is in the data */
    size_t n = 0;
    for (const struct sexp *e; (e = sexp_next(r)); n++) {
        if (head && !sexp_head(e, 0, head)) sexp_die(e, 0, "does not begin with (%s", head);
        if (one && n) sexp_die(e, 0, "more than one expression");
    }
    if (one && !n) die("%s: no expression", path);
    return finish();
}
