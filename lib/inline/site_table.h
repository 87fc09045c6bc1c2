/* site_table.h - what a table of inline-sites knows of calls, by the key of site_base_key.
 *
 * Sites of one key are copies, which share a count.  Static functions of one name are numbered by each linker in its
 * own way, so they are found by the plain name too.  Rows without heat are left out. */
#ifndef MILLRACE_SITE_TABLE_H
#define MILLRACE_SITE_TABLE_H
#include "base/str.h"

struct site_table { struct intern key; double *heat, *cost; size_t cap_heat, cap_cost; };   /* zero-initialise */

void site_table_read(struct site_table *, const char *path);
#endif
