/* ir.h - a plan as a list of vector instructions: one list for all targets.
 *
 * d, a and b are values, each written by the instruction that makes it; MAC, PLUS, MAX, MIN, TIMES and FLOAT change d.
 * ins_assign makes registers of values.  The second operand of MAC to TIMES may be in memory (from): ins_fold puts
 * it there where the target can.  Loops count down; nothing jumps but their ends, and SKIP.
 * Bases are pointers: BASE reads one from the context, HOLD sets one aside and takes scratch or V in its place, until
 * RELEASE; GROUP is B and disp.  BITS: signed 4 bits of each word of a, the disp-th, as floats; where vectors are wide
 * by what TABLE puts in the last register.  TOTAL sums the lanes of up to four accumulators in neighbouring registers,
 * the first of them in 0, 4, 8 ..: the sums are where LANES finds them; registers 0 to 3 are free then.  AMX has tiles
 * 0 to 7. */
#ifndef MILLRACE_IR_H
#define MILLRACE_IR_H
#include "loop/code/plan.h"

enum ins_op { INS_NONE, INS_ZERO, INS_LOAD, INS_SPREAD, INS_MAC, INS_PLUS, INS_MAX, INS_MIN,
              INS_TIMES, INS_NUMBER, INS_FLOAT,
              INS_BITS,
              INS_STORE, INS_MASK, INS_MOVE, INS_CALL, INS_HOLD, INS_RELEASE, INS_SKIP, INS_SKIP_END, INS_LOOP, INS_END,
              INS_BASE, INS_TOTAL, INS_LANES, INS_ENTER, INS_LEAVE, INS_SHAPE, INS_STRIDE,
              INS_TILE_ZERO, INS_TILE_LOAD, INS_TILE_MAC, INS_TILE_STORE, INS_PREFETCH,
              INS_PREFETCH2, INS_TABLE, INS_COUNT };      /* 2: into the second cache */
enum ins_from { FROM_REGISTER, FROM_VECTOR, FROM_SPREAD };
struct ins {
    uint8_t op, from, base, call;                        /* call: of CALL and SKIP */
    bool masked, floats, half;                           /* floats: whatever the sum's type is; half: of LOAD */
    uint8_t each, lane;                                  /* of SPREAD, each > 0: this one of each so many lanes */
    int32_t d, a, b;                                     /* LOOP and END: d is the counter, b the other end; HOLD and
                                                            RELEASE: d is the place in the frame; TOTAL: a accumulators;
                                                            LANES: d the first lane, a how many, added to C if b > 0 */
    int32_t disp;                                        /* NUMBER: it; MOVE: bytes; LOOP: passes; MASK: lanes;
                                                            CALL: change; HOLD:
                                                            scratch; SHAPE: which; STRIDE: bytes */
};
struct ir {
    struct ins *ins;
    const struct loop_plan *q;
    int32_t n, most, values;                             /* values: registers, after ins_assign */
};

struct ins *ins_put(struct ir *, enum ins_op);            /* one more, with no values */
void ins_lower(struct ir *, const struct loop_plan *);    /* zero-initialise before the first call; the plan stays */
void ins_fold(struct ir *);                               /* loads that one instruction uses become its operand */
const char *ins_assign(struct ir *);                      /* NULL, or that the registers do not suffice */
void ins_print(struct buf *, const struct ir *);
void ins_free(struct ir *);

struct machine_code { uint8_t *to; size_t room, n; };
/* bytes, which are called as carry_code; n is what they are, more than there is room for if they do not fit */
void ins_bytes(const struct ir *, struct machine_code *);
void ins_text(const struct ir *, struct buf *);           /* C statements with intrinsics, see native.c */
/* Done one by one, every address checked: NULL, or what is wrong.  Sizes are those of a, b, c, bias, residual, V. */
const char *ins_run(const struct ir *, char *const base[BASES], const int64_t bytes[BASES],
                    const struct carry_context *);
#endif
