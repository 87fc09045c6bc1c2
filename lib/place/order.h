/* order.h - another order of a step's kernels, in which less memory is in use at a time.
 *
 * Every node comes after those that make what it reads, and what updates a parameter comes after all others that read
 * it; kernels are deterministic, so no bit of a result changes.  Two orders are improved: the graph's own and that of
 * list scheduling, which of all nodes that may come next takes the one that frees most.  A node is carried along by
 * swaps with its neighbours, as far as it may go either way, and left where the cost of the order is least, until none
 * gains.  Node n costs weight_n load_n, with load the bytes of intermediates alive and its workspace: prices of a plan
 * make that the bound's memory term (solve.h).  Without weights it costs load^16, so that the highest loads count. */
#ifndef MILLRACE_PLACE_ORDER_H
#define MILLRACE_PLACE_ORDER_H
#include "tensor/graph.h"

enum order_from { ORDER_OWN, ORDER_LIST };

/* order[i]: the node that comes i-th. */
void order_nodes(const struct graph *, enum order_from, int *order);
void order_improve(const struct graph *, const double *weight, int *order);
uint64_t order_peak(const struct graph *, const int *order);   /* most bytes alive at a node, its workspace included */

struct graph *order_graph(const struct graph *, const int *order);   /* a new graph; tensors keep their numbers */
#endif
