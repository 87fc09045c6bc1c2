/* machine.h - what the model of nests must know of a machine: clock, arithmetic, loads, caches.
 *
 * Measured by machine_measure, one thread, some seconds: the clock by a chain of integer multiplications (three cycles
 * each on every x86-64 of the last fifteen years), latency and throughput of fused multiply-adds and of loads by chains
 * and by independent ones, latency of each cache by a chain of pointers in random order through half of it, its
 * bandwidth by reading that in order.  Where AMX is, machine_tile measures its multiplications.  Sizes and ways of
 * caches are what the operating system says; where it says nothing, those of a common machine stand.
 * machine_here is read once from the file that the variable MILLRACE_LOOP_MACHINE names (rows of loop-machine, of which
 * those of this machine's name count); without it, the numbers of one machine (Zen 5), so that simulated results are
 * the same everywhere. */
#ifndef MILLRACE_LOOP_MACHINE_H
#define MILLRACE_LOOP_MACHINE_H
#include <stdbool.h>

enum { MACHINE_CACHES = 3 };
struct loop_machine {
    bool measured;                                       /* fmas and fma_latency are of this machine */
    double hz, fma_latency, fmas, loads;                 /* cycles of one; vectors a cycle, of 512 or else 256 bits */
    double tile;                                         /* cycles of a multiplication of two whole tiles of AMX */
    struct { double bytes, way, latency, per_cycle; } cache[MACHINE_CACHES];     /* cycles; bytes that come into it */
};
const struct loop_machine *machine_here(void);           /* dies at a broken file */
void machine_measure(struct loop_machine *, bool wide);   /* wide: by AVX-512, else AVX2; which has to be here */
double machine_tile(double hz, bool bf16, int times);    /* .tile, by so many times 64 of them; AMX has to be here */
bool machine_tiles_slow(void);                           /* for pace.h: are products held up by loads of tiles? */
bool machine_vectors_slow(void);                         /* those of vectors by somebody else? of a measured machine */
void machine_name(char name[64]);                        /* vendor, family, model, stepping, and the model's name */
#endif
