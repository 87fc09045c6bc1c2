/* graph.h - a nest as text, tree and graph: the observations ir, ir_tree and ir_graph, as s-expression or Graphviz dot.
 *
 * Tree: a node for each loop (type 1) and leaf (type 0), edges from parent to child.  Graph: data nodes (type 2) for
 * the tensors besides, edges from each loop to the data it moves through with the stride as label (type 4), edges
 * between leaves and the data they read or write (type 5), the edges of the tree (type 3). */
#ifndef MILLRACE_GRAPH_H
#define MILLRACE_GRAPH_H
#include "loop/nest/nest.h"

void nest_ir(struct buf *, const struct problem *, const struct nest *); /* (ir (vars ..) (node ..) ..), with orders */
void nest_graph(struct buf *, const struct problem *, const struct nest *, bool data, bool dot);
#endif
