/* place-check - is a graph of a training step sound
 *
 * Usage: place-check [GRAPH]
 *
 * One line on stdout for every fault: a tensor read before it is written,
 * written twice or never, operands whose number or size does not fit the
 * operator, bytes that do not fit the shape, a parameter read after its
 * update.  Exit 0: sound; 1: faults; 2: the input cannot be read.
 *
 * Examples:
 *   $ place-net resnet50 --batch=4 | place-check
 */
#include "base/filter.h"
#include "base/out.h"
#include "tensor/graph.h"
#include HELP
#include <stddef.h>
#include <stdio.h>

static const struct opt options[] = { { 0 } };

static void say(void *context, const char *fault)
{
    (void)context;
    puts(fault);
}

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    fail_status = EXIT_USAGE;                             /* 1 is an answer */
    struct graph *g = graph_read_raw(path);
    int faults = graph_faults(g, say, NULL);
    graph_free(g);
    finish();
    return faults > 0;
}
