/* target.h - the instruction sets that kernels are made for, and all that a plan must know of one. */
#ifndef MILLRACE_TARGET_H
#define MILLRACE_TARGET_H
#include "loop/nest/nest.h"

enum isa { ISA_AVX2, ISA_AVX512, ISA_AMX, ISAS };         /* AMX: of narrow types, beside AVX-512 */
extern const char *const isa_name[ISAS];                 /* "avx2", "avx512", "amx" */
bool isa_here(enum isa);                                 /* by cpuid; for AMX the system is asked for leave, too */
enum isa isa_best(void);                                 /* of vectors; dies when neither is here */
enum isa isa_for(const struct problem *);                /* here: of narrow types and attention of bf16 AMX, but for
                                                            one row of bytes */
enum isa isa_of(str name, bool *good);
/* Can a unit for pairs of bf16 do both contractions?  The variable that pairs of A and B are along, or -1 */
int problem_pairs(const struct problem *);
bool problem_tiles(const struct problem *);              /* has it code for AMX? */
int problem_lanes(const struct problem *, enum isa);     /* elements in a vector */
int isa_accumulators(enum isa);                          /* vectors, or tiles, of the result that fit */
int problem_needs(const struct problem *, enum isa);     /* bits of carry_cpu to run its code */

struct target {
    int bytes, registers, accumulators;                  /* of a vector; how many; of the result at most */
    bool memory_spread, memory_masked;                   /* operands in memory may be broadcast, or masked; */
    bool halves;                                         /* halves become floats as they are loaded; */
    bool narrow, tiles;                                  /* products of narrow types; of tiles of them alone */
};
extern const struct target target_of[ISAS];
#endif
