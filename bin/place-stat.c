/* place-stat - describe graphs of training steps
 *
 * Usage: place-stat [GRAPH]...
 *        place-stat --lives|--buffers [GRAPH]
 *
 * Columns out: network, batch, nodes, intermediates, parameters (numbers that
 * are trained), peak_bytes (most bytes of intermediates alive at one node),
 * flops (of one step), kernels (distinct ones), io_bytes (inputs, labels,
 * parameters and their next values).  One row per graph; memory: one graph.
 *
 * With --lives a row for each intermediate tensor instead: tensor, name, bytes,
 * first, last (node numbers, both alive), uses (how many nodes touch it),
 * movable (1: large enough to leave fast memory).  With --buffers the same in
 * the form of MiniMalloc: id, lower, upper, size with upper exclusive, as
 * place-pack reads it.
 *
 * Examples:
 *   $ place-net vgg416 --batch=320 | place-stat
 *   $ place-net vgg19 --batch=16 | place-stat --buffers | place-pack
 */
#include "base/filter.h"
#include "tensor/graph.h"
#include "table/csvio.h"
#include HELP
#include <stddef.h>
#include <string.h>

static bool of_tensors, buffers;
static const struct opt options[] = {
    { 0, "lives", FLAG, &of_tensors, NULL, "a row for each tensor: when it is alive" },
    { 0, "buffers", FLAG, &buffers, NULL, "the same as id,lower,upper,size" },
    { 0 } };

static void describe(csvw *w, const char *path)
{
    struct graph *g = graph_read(path);
    uint64_t parameters = 0, io = 0;
    int inter = 0;
    double flops = 0;
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role == ROLE_INTER) inter++;
        else io += t->bytes;
        if (t->updates < 0) continue;
        const struct node *by = &g->node[t->producer];
        bool moment = !strcmp(by->op, "NdCount") || (!strcmp(by->op, "NdAdam") && by->operand[by->nin] != i);
        if (!moment) parameters += t->bytes / 4;
    }
    for (int i = 0; i < g->nnode; i++) flops += g->node[i].flops;
    csvw_cstr(w, g->name);
    csvw_int(w, g->batch);
    csvw_int(w, g->nnode);
    csvw_int(w, inter);
    csvw_int(w, (int64_t)parameters);
    csvw_int(w, (int64_t)graph_peak(g));
    csvw_num(w, flops);
    csvw_int(w, g->nkernel);
    csvw_int(w, (int64_t)io);
    csvw_end(w);
    graph_free(g);
}

static void lives(csvw *w, const char *path)
{
    struct graph *g = graph_read(path);
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role != ROLE_INTER) continue;
        csvw_int(w, i);
        if (!buffers) {
            csvw_cstr(w, t->name);
            csvw_int(w, (int64_t)t->bytes);
        }
        csvw_int(w, t->first);
        csvw_int(w, t->last + buffers);
        csvw_int(w, buffers ? (int64_t)t->bytes : t->nuse);
        if (!buffers) csvw_int(w, graph_movable(g, i));
        csvw_end(w);
    }
    graph_free(g);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    of_tensors |= buffers;
    const char *one = of_tensors ? filter_operand(argc, argv, i) : "-";
    csvw *w = csvw_open("-");
    csvw_names(w, buffers ? "id,lower,upper,size" : of_tensors ? "tensor,name,bytes,first,last,uses,movable"
        : "network,batch,nodes,intermediates,parameters,peak_bytes,flops,kernels,io_bytes");
    csvw_end(w);
    if (of_tensors) lives(w, one);
    else if (i == argc) describe(w, "-");
    for (; i < argc && !of_tensors; i++) describe(w, argv[i]);
    return csvw_close(w);
}
