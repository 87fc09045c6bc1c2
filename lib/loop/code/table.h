/* table.h - what the plan and its instructions must know of types and of words that follow a sum: a line for each. */
#ifndef MILLRACE_TABLE_H
#define MILLRACE_TABLE_H
#include "loop/code/ir.h"

/* What is done with each accumulator, in this order: rows of words.h.  With a base, or a number behind FROM_ZERO. */
enum { FROM_BIAS = BASE_BIAS, FROM_RESIDUAL = BASE_RESIDUAL, FROM_SCALE = BASE_GROUP, FROM_ZERO = BASES, FROM_ARG };
struct then_step { uint8_t word, op, with; };
enum { THEN_STEPS = 2 * THENS };
extern const struct then_step then_table[THEN_STEPS];    /* to a word of THEN_END */
bool then_in_registers(int word);
/* may the operands of a product change places; do sums become floats before anything follows? */
struct type_row { bool commutes, integers; };
extern const struct type_row type_table[];
#endif
