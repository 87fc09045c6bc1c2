/* foreign.h - results of other tools as a table of runs, and a table of runs in the form of hyperfine.
 *
 * hyperfine   JSON of --export-json: times -> wall_seconds; user and system are means of the command, not of the run,
 *             and go to mean_user_seconds, mean_sys_seconds; parameters to parameter_NAME
 * google      JSON of google/benchmark: repetitions -> rounds, real and CPU time per iteration; counters to columns
 *
 * Aggregates (means, medians of repetitions) are left out on import and computed again on export.  Labels that these
 * tools run in blocks get order = blocks, which bench-compare says.  Export and import give the same table. */
#ifndef MILLRACE_FOREIGN_H
#define MILLRACE_FOREIGN_H
#include "table/csvio.h"
#include "table/table.h"

enum foreign { FOREIGN_NONE = -1, FOREIGN_HYPERFINE, FOREIGN_GOOGLE };
#define FOREIGN_FORMATS "hyperfine|google"

/* Rows with named columns in order of first appearance; cells that a row did not set are empty. */
struct frame;
struct frame *frame_new(void);
void frame_write(const struct frame *, csvw *);
void frame_free(struct frame *);

void import_hyperfine(struct frame *, const char *path);
void import_google(struct frame *, const char *path);

void emit_hyperfine(const struct table *);               /* all to stdout, complete or not at all */
#endif
