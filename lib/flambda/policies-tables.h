/* policies-tables.h - the tables of flambda-policies, one function each; columns as in its help text. */
#ifndef MILLRACE_POLICIES_TABLES_H
#define MILLRACE_POLICIES_TABLES_H
#include "base/filter.h"
#include "flambda/policies.h"
#include "table/csvio.h"

enum { SETS = 4 };
struct sets { bool *in[SETS]; };                         /* per set: is benchmark b in it? */

struct tables_options { double margin, confidence, alpha; long greedy; struct list not_single; const char *hand; };
typedef void tables_write(const struct policies *, const struct sets *, const struct tables_options *, csvw *);

struct sets sets_read(const char *path, const struct policies *);    /* path NULL: every benchmark is in "all" alone */
tables_write write_savings, write_summary, write_welch, write_best, write_regret, write_greedy, write_select;
#endif
