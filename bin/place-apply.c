/* place-apply - rewrite a graph by its plan: copies as nodes, a tensor per place
 *
 * Usage: place-apply --plan=FILE [GRAPH]
 *
 * Writes the graph that is executed: every stay of a tensor becomes a tensor
 * NAME@fast:OFFSET or NAME@slow:OFFSET, kernels read and write those that the
 * plan names, and every copy becomes a node of operator Move at its position.
 * place-check judges the result, place-stat counts it; the numbers it computes
 * are those of the graph it came from.  Memory: graph and plan, twice.
 *
 * Examples:
 *   $ place-apply --plan=plan.sexp g.sexp | place-check
 */
#include "base/filter.h"
#include "place/apply.h"
#include HELP

static const char *plan_path;

static const struct opt options[] = {
    { 0, "plan", STR, &plan_path, "FILE", "the plan" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!plan_path) usage("no plan given, see --plan");
    struct graph *g = graph_read(filter_operand(argc, argv, i));
    struct plan *p = plan_read(plan_path, g);
    struct graph *to = plan_apply(g, p);
    graph_write(to, "-");
    return EXIT_OK;
}
