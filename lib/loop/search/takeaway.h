/* takeaway.h - a kernel to be emitted: its name, its problem, and a nest for each instruction set. */
#ifndef MILLRACE_TAKEAWAY_H
#define MILLRACE_TAKEAWAY_H
#include "loop/code/evaluate.h"
#include "loop/nest/rows.h"

struct takeaway {
    char name[65];
    struct problem p;
    struct nest nest[ISAS];                              /* by enum isa */
    bool have[ISAS];
    size_t line;                                         /* of the row that gave it first */
};

/* all rows, those of one name as one; it dies on a name that is none or of two problems */
struct takeaway *takeaways(struct nest_rows *, size_t *n);
/* those of these instruction sets (bits) that have no nest get the best one by the model; the same every time */
void takeaway_complete(struct takeaway *, unsigned isas);
#endif
