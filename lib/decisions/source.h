/* source.h - expressions of many files one after another, turned into trees or lists of decisions whatever their
 * form. */
#ifndef MILLRACE_INLINE_SOURCE_H
#define MILLRACE_INLINE_SOURCE_H
#include "decisions/itree.h"

/* Rows of a table of options: how such expressions are written, and where results go. */
#define SOURCE_OPTIONS(dialect, output)                                                                                \
    { 0, "dialect", WORD, &(dialect), SEXP_DIALECTS, "how atoms are written: compiler has no quotes" },                \
    OUTPUT_OPTION(output)
#define ROUND_OPTION(round)                                                                                            \
    { 0, "round", INT, &(round), "N", "decisions of this round; -1: of all rounds", -1, 1000 }

struct source {
    char **path;                                         /* NULL-terminated; none: stdin */
    enum sexp_dialect dialect;
    bool started;
    sexpr *reader;
    const char *file;                                    /* of the current expression */
    size_t index;                                        /* of the expression within its file, from 0 */
};

struct source source_open(char **paths, enum sexp_dialect);
const struct sexp *source_next(struct source *);         /* NULL at the end; an empty file is an error */
str source_program(const struct source *, const char *given);   /* `given`, or the file's name up to its first dot */

/* A list of decisions, or a tree unrolled into one. */
void source_decisions(struct names *, const struct sexp *, struct decisions *);

/* A tree as it stands, or the tree of a list of decisions; d, when it was a list, keeps it (d->n is 0 for a tree). */
void source_tree(struct names *, const struct sexp *, struct decisions *d, int round, bool reversed, struct itree *);
#endif
