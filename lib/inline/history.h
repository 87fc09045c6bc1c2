/* history.h - what was tried: one row for each set of decisions that was built and measured.
 *
 * Columns: program, decisions (hash of the set, or the name of a heuristic), parent, chain, step, level, state, reason,
 * instructions (of all runs), text_bytes, asked, obeyed, inlined, build_seconds, output_hash, kind (real; empty where
 * nothing ran), run_instructions (of each run, separated by blanks; logs without it are read too).
 * state is ok, build (did not compile), run (crashed, ran forever), output (wrong output); only ok rows have a cost.
 * The file is append-only; rows of equal sets from several logs are merged, so the order of logs does not matter. */
#ifndef MILLRACE_HISTORY_H
#define MILLRACE_HISTORY_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>

#define HISTORY_COLUMNS                                                                                                \
    "program,decisions,parent,chain,step,level,state,reason,instructions,text_bytes,asked,obeyed,inlined,build_"       \
    "seconds,output_hash,kind,run_instructions"

#define STOCK_CHAIN "stock"                                 /* of rows that no set of decisions makes */

struct tried {
    str program, decisions, parent, chain, level, state, reason;
    size_t row;                                          /* in order of reading, from 0 */
    long step;                                           /* -1: not given */
    double instructions, text_bytes;                     /* nan when not measured */
    double *run;                                         /* instructions of each run */
    size_t nrun;                                         /* 0: not told */
    bool ok;
};
struct history {
    struct tried *v;
    size_t n, cap;
    struct arena text, numbers;
}; /* sorted by chain, step, decisions; no duplicates */

void history_read(struct history *, char **paths);       /* files may be missing: nothing tried yet */
const struct tried *history_find(const struct history *, str decisions); /* NULL if absent */

/* Lower is better: log of cost against the default, inf when the state is not ok or a limit is broken.  Instructions
 * are the geometric mean over the runs, so that a long run does not outvote the others. */
struct objective {
    const struct tried *base;                            /* the default */
    double text_weight;                                  /* 0: instructions alone, 1: text size alone */
    double max_text_ratio;                               /* 0: no limit */
    const struct tried *within;                          /* no more instructions than this row; NULL: no limit */
};
/* log of the instructions of a row over those of the base */
double history_instructions(const struct objective *, const struct tried *);
double history_energy(const struct objective *, const struct tried *);
const struct tried *history_best(const struct history *,
                                 const struct objective *); /* ties: the base, then byte order */
#endif
