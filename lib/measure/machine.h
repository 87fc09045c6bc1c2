/* machine.h - what a measurement was made on: a fingerprint for every row, the full description beside the table.
 *
 * The fingerprint hashes what makes times incomparable when it differs (CPU model, cores, memory, kernel, hypervisor),
 * not what varies between runs (load, free memory). */
#ifndef MILLRACE_MACHINE_H
#define MILLRACE_MACHINE_H
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

struct machine {
    char fingerprint[17];
    struct fact { const char *name; char *value; } fact[32];   /* in a fixed order; value NULL: not known */
    size_t n;
};

struct machine machine_read(void);
double machine_load(void);                               /* one-minute load average; nan not known */
/* ticks that the hypervisor gave to others, since boot; -1 not known */
int64_t machine_steal_ticks(void);
#endif
