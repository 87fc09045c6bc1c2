/* order.h - balanced random orders: in which order the labels of a round run.
 *
 * Rounds come in blocks.  Within a block every label stands in every place equally often and follows every other label
 * equally often (Williams, "Experimental designs balanced for the estimation of residual effects of treatments", 1949);
 * which label plays which part, and the order of the rounds, are drawn per block from (seed, block).  So a slow drift
 * cancels, nothing periodic can align, and a round's order depends on nothing but seed, labels and its number. */
#ifndef MILLRACE_ORDER_H
#define MILLRACE_ORDER_H
#include <stddef.h>
#include <stdint.h>

/* rounds in a block: 1, 4 (two labels), labels, or 2 labels when odd */
size_t order_block(size_t labels);
void order_round(uint64_t seed, size_t labels, size_t round, size_t *order);   /* order[place] = label; round from 0 */
#endif
