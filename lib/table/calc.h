/* calc.h - new columns and conditions over the rows of a table: what csv-calc does.
 *
 * Bindings are texts NAME=EXPR, NAME=TEXT as on a command line; what is wrong with them is a usage error that names the
 * option.  A column that is set takes the place of the table's of that name, else it comes at the end; each sees those
 * before it.  Conditions are looked at in order, after all columns are set, and no further than the first that is not
 * true, as && does. */
#ifndef MILLRACE_CALC_H
#define MILLRACE_CALC_H
#include "base/filter.h"
#include "table/expr.h"
#include <sys/types.h>

struct calc {
    struct scope scope;                                  /* zero, but for t and group: the caller's */
    size_t nlet, nset, nwhere;
    expr **set, **where;
    size_t *name;                                        /* of each set, in scope.named */
    int *place;                                          /* of each column: the name in place of it, or -1 */
    size_t *added, nadded;                               /* names behind the columns */
};

void calc_compile(struct calc *, const struct list *lets, const struct list *sets, const struct list *wheres);
/* Expressions with total() or share() (scope.ntotal): read all rows and count, those of `more` too.  The caller then
 * opens the same rows for another calc with the same expressions, whose scope.totals is this one's. */
void calc_count(struct calc *, expr *const *more, size_t n);
/* If a text may call total() or share(): operands ("-" is stdin) that are no files are kept in one beside, their names
 * changed, so that all can be opened twice.  Where standard input begins. */
off_t calc_twice(const struct list *const *texts, char **operands);
bool calc_next(struct calc *);                           /* the next row for which all conditions hold */
void calc_names(const struct calc *, csvw *);            /* the header; csvw_end is still to come, as in csvio.h */
void calc_row(const struct calc *, csvw *);
#endif
