/* columns.h - sets of columns named on the command line, and keys over them. */
#ifndef MILLRACE_COLUMNS_H
#define MILLRACE_COLUMNS_H
#include "table/csvio.h"

struct columns { int *v; int n; };

/* "a,b,c": each must exist once; usage error for an empty list.  option: for the message. */
struct columns columns_of(const csv *, const char *names, const char *option);

/* The same, but a name that no column has may hold *, ? and [..] (as many columns as match, in table order), and "a..b"
 * is a range. */
struct columns columns_matching(const csv *, const char *patterns, const char *option);

/* "a,b,c" of columns that are still to be made: all different, none empty, or a usage error */
void columns_named(struct intern *, const char *names, const char *option);

struct columns columns_all(const csv *);
struct columns columns_without(const csv *, struct columns);   /* all others, in table order */
bool columns_hold(struct columns, int col);

/* The values of the current record in these columns as one text that is equal only if all values are; borrows b.
 * With a single column it is the value itself. */
str columns_key(const csv *, struct columns, struct buf *b);
#endif
