/* steps.h - the table of executed training steps: a row each, with what they ran under. */
#ifndef MILLRACE_PLACE_STEPS_H
#define MILLRACE_PLACE_STEPS_H
#include "place/engine.h"
#include "table/csvio.h"

struct step_row {
    long step, resident;
    int warm, threads;                                   /* warm: not to be counted */
    struct step_result ran;
    uint64_t fast, scratch, limit;
    struct calibration before;
    const char *isa, *tier, *method, *kind, *machine;
    double load;
};

void steps_names(csvw *);
/* Fills in what the machine is at now (resident and load), and writes the row. */
void steps_write(csvw *, struct step_row *);
/* The same after what the engine is at: fast, scratch, method and kind.  A method or kind that was given stays. */
void steps_row(csvw *, struct step_row *, const struct engine *);
#endif
