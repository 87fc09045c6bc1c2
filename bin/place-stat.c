/* place-stat - describe graphs of training steps
 *
 * Usage: place-stat [GRAPH]...
 *
 * Columns out: network, batch, nodes, intermediates, parameters (numbers that
 * are trained), peak_bytes (most bytes of intermediates alive at one node),
 * flops (of one step), kernels (distinct ones), io_bytes (inputs, labels,
 * parameters and their next values).  One row per graph; memory: one graph.
 *
 * Examples:
 *   $ place-net vgg416 --batch=320 | place-stat
 */
#include "base/filter.h"
#include "tensor/graph.h"
#include "table/csvio.h"
#include HELP
#include <stddef.h>

static const struct opt options[] = { { 0 } };

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
        if (t->updates >= 0) parameters += t->bytes / 4;
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

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    csvw *w = csvw_open("-");
    csvw_names(w, "network,batch,nodes,intermediates,parameters,peak_bytes,flops,kernels,io_bytes");
    csvw_end(w);
    if (i == argc) describe(w, "-");
    for (; i < argc; i++) describe(w, argv[i]);
    return csvw_close(w);
}
