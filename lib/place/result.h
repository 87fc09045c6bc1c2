/* result.h - the table of results: a row for each plan that was executed, with all that record.h and the run tell.
 *
 * Three cells are s-expressions: sizes of tensors, tiers of all nodes, times of kernels. */
#ifndef MILLRACE_PLACE_RESULT_H
#define MILLRACE_PLACE_RESULT_H
#include "place/record.h"
#include "table/csvio.h"

extern const char result_columns[];
enum { RESULT_SETTINGS = 14 };

struct result_run {                                      /* the table that place-run wrote; kept till the end */
    double *seconds, *loss, *moves;                      /* of the counted steps; loss nan where unknown */
    double *round;                                       /* the fastest of them in each process that ran steps */
    size_t n, rounds;
    const char *setting[RESULT_SETTINGS];                /* what its last row says of the setting */
};
struct result_run result_run_read(const char *path);     /* dies without a counted step */
/* Does the table hold this network, batch, formulation, limit and ratio (may be NULL) already? */
bool result_is_there(const char *path, const struct graph *, const struct plan *, const char *ratio);
/* kernels: a table of nodes by place-run, or NULL */
void result_write(csvw *, const struct graph *, const struct plan *, const struct record *, const struct result_run *,
                  const char *ratio, const char *kernels);
#endif
