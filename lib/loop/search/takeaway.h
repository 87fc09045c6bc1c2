/* takeaway.h - a kernel to be emitted: its name, its problem, and a nest for each instruction set. */
#ifndef MILLRACE_TAKEAWAY_H
#define MILLRACE_TAKEAWAY_H
#include "loop/code/evaluate.h"

struct takeaway {
    char name[65];
    struct problem p;
    struct nest nest[ISAS];                              /* by enum isa */
    bool have[ISAS];
    size_t line;                                         /* of the row that gave it first */
};

/* the given name, or where it is empty one from the problem's text, "mm_64_64_64"; NULL, or what is wrong with it */
const char *takeaway_name(struct takeaway *, str given);
/* instruction sets that have no nest get the best one by the model; the same every time */
void takeaway_complete(struct takeaway *);
#endif
