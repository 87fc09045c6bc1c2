/* record.h - wide rows as a table of columns says: the name of each, and which member of a struct it holds.
 *
 *     static const struct field field[] = {{ "calls", F_SIZE, offsetof(struct s, calls) }, .., { 0 }};
 *
 * Header and rows then cannot get out of step.  The table ends with a field without a name. */
#ifndef MILLRACE_RECORD_H
#define MILLRACE_RECORD_H
#include "table/csvio.h"
#include <stddef.h>

/* F_TEXT: const char *, NULL is empty; F_YES: bool as yes or no; F_NUM: double, nan as nan; F_KNOWN: nan as empty */
enum field_type { F_TEXT, F_STR, F_SIZE, F_UINT64, F_INT, F_LONG, F_NUM, F_KNOWN, F_YES };
struct field { const char *name; enum field_type type; size_t at; };

/* csvw_end is still to come, so that columns of another table can follow */
void record_names(csvw *, const struct field *);
void record_write(csvw *, const struct field *, const void *record);
#endif
