/* place-grad - make a training step of a forward graph
 *
 * Usage: place-grad [--rate=X] [--optimiser=sgd|adam] [--logits=NAME] [GRAPH]
 *
 * Reads a graph of operators on plain arrays (place-import writes such) and
 * writes the graph of a training step: the forward pass, the mean cross
 * entropy of the output's rows against `labels`, the backward pass by reverse
 * mode, and the update of every parameter as soon as its gradient is whole.
 * Parameters are args whose names end in weight, bias, scale or shift, or that
 * the graph says are trained; none may be called labels, loss or step, which
 * the step adds.  What place-plan, place-profile and place-run read is what
 * comes out.  Operators that have no gradient are named, all at once.  Memory:
 * the graphs.
 *
 * Examples:
 *   $ place-import --from=onnx net.onnx | place-grad --rate=0.01 > step.sexp
 */
#include "base/filter.h"
#include "place/grad.h"
#include HELP

static const char *output;
static enum { SGD, ADAM } kind = SGD;
static double rate = 0.01;
static const struct opt options[] = {
    { 0, "optimiser", WORD, &kind, "sgd|adam", "how parameters are updated" },
    { 0, "rate", NUM, &rate, "X", "learning rate", 0, 1e6 },
    { 0, "logits", STR, &output, "NAME", "the node that makes the logits, if not the last" },
    { 0 } };

int main(int argc, char **argv)
{
    struct graph *f = graph_read(filter_operand(argc, argv, filter_init(argc, argv, help, options)));
    struct optimiser o = { kind == ADAM, rate };
    struct graph *g = grad_step(f, output, &o);
    graph_write(g, "-");
    graph_free(g);
    graph_free(f);
    return EXIT_OK;
}
