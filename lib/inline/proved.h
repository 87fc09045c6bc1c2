/* proved.h - the tables of inline-optimal: a row a module, and a row a call.  Columns: see its help. */
#ifndef MILLRACE_PROVED_H
#define MILLRACE_PROVED_H
#include "inline/prove.h"
#include "table/csvio.h"

void proved_names(csvw *);                               /* header, ended */
void proved_write(csvw *, const char *program, const char *level, const struct proved *);
void proved_add(struct proved *sum, const struct proved *);      /* all but module, calls' rows and why */
void proved_call_names(csvw *);
void proved_write_calls(csvw *, const char *program, const struct proved *);
#endif
