/* grad.h - from a forward graph to a training step: loss, backward pass, update of every parameter.
 *
 * The forward graph has operators of nd.h only; parameters are args of type f32 whose names end in weight, bias, scale
 * or shift (after a dot or an underscore, or as a whole), or that the graph says are trained.  Reverse mode: node by
 * node backwards, each node's rule gives the gradients of its inputs that lead to a parameter; contributions to one
 * tensor are added in the order in which they arise.  A parameter is updated as soon as its gradient is whole.
 *
 * The step's loss is the mean cross entropy of the rows of the output (its last dimension are the classes) against
 * "labels", one i32 a row.  Args of the step besides: "loss"; for Adam moments NAME.m and NAME.v and the counter
 * "step", which dropout also reads; they begin at 0. */
#ifndef MILLRACE_PLACE_GRAD_H
#define MILLRACE_PLACE_GRAD_H
#include "tensor/graph.h"

struct optimiser { bool adam; double rate; };
bool grad_parameter(const struct tensor *);
bool grad_counter(const struct tensor *);                /* is it that of dropout? */

/* A new graph; output: the tensor's name, NULL for what the last node makes.  Dies when a rule is missing, naming all
 * such operators, or when no parameter leads to the output. */
struct graph *grad_step(const struct graph *forward, const char *output, const struct optimiser *);
#endif
