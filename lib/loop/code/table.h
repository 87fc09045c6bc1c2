/* table.h - what the plan and its instructions must know of types and of words that follow a sum: a line for each. */
#ifndef MILLRACE_TABLE_H
#define MILLRACE_TABLE_H
#include "loop/code/ir.h"

/* what is done with each accumulator, and from where: a base, or NO_BASE the number; INS_NONE: by a call */
enum { NO_BASE = -1 };
struct then_row { uint8_t op; int8_t base; double number; };
extern const struct then_row then_table[THENS + 1];
/* may the operands of a product change places; do sums become floats before anything follows? */
struct type_row { bool commutes, integers; };
extern const struct type_row type_table[];
#endif
