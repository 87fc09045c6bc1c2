/* place-live - when each intermediate tensor of a graph is alive
 *
 * Usage: place-live [--buffers] [GRAPH]
 *
 * Columns out: tensor, name, bytes, first, last (node numbers, both alive),
 * uses (how many nodes touch it), movable (1: large enough to leave fast
 * memory).  With --buffers the form of MiniMalloc: id, lower, upper, size
 * with upper exclusive, as place-pack reads it.  In order of tensors.
 *
 * Examples:
 *   $ place-net vgg19 --batch=16 | place-live
 *   $ place-net vgg19 --batch=16 | place-live --buffers | place-pack
 */
#include "base/filter.h"
#include "tensor/graph.h"
#include "table/csvio.h"
#include HELP

static bool buffers;
static const struct opt options[] = {
    { 0, "buffers", FLAG, &buffers, NULL, "write id,lower,upper,size for place-pack" },
    { 0 } };

int main(int argc, char **argv)
{
    struct graph *g = graph_read(filter_operand(argc, argv, filter_init(argc, argv, help, options)));
    csvw *w = csvw_open("-");
    csvw_names(w, buffers ? "id,lower,upper,size" : "tensor,name,bytes,first,last,uses,movable");
    csvw_end(w);
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
    return csvw_close(w);
}
