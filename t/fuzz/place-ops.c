/* place-ops.c - fuzz target: the operators of a graph of anybody's.  Whatever is accepted lies inside of its operands:
 * the pieces that the engine takes of each, and what operators on plain arrays read and write, which are run on blocks
 * of exactly their size.  A training step that is made of a graph is sound itself. */
#include "fuzz.h"
#include "place/grad.h"
#include "tensor/kernels.h"
#include "tensor/nd.h"
#include "tensor/ops.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* the kernels are not part of the fuzzed library: they take minutes to compile so and read no file */
size_t conv_scratch(const struct conv *c)
{
    return (size_t)c->kh;
}

enum { MOST = 1 << 14, UNITS = 1000 };

static struct graph *read_it(const uint8_t *data, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data, n));
    return graph_read(path);
}

static void pieces(const struct op *o)
{
    struct extent *e = malloc(((size_t)o->most + 1) * sizeof *e);
    for (int i = 0; i < o->nin + o->nout; i++)
        for (int u = 0; u < o->units && u < UNITS; u++)
            for (int k = op_extents(o, i, u, e); k-- > 0;)
                fuzz_check(e[k].offset <= o->bytes[i] && e[k].bytes <= o->bytes[i] - e[k].offset,
                           "a piece outside of its operand");
    free(e);
}

static void run_plain(const struct graph *g, int node, int fill)
{
    const struct node *n = &g->node[node];
    char *at[OP_OPERANDS] = { 0 };
    uint64_t bytes = 0;
    for (int i = 0; i < n->nin + n->nout; i++) bytes += g->tensor[n->operand[i]].bytes;
    for (int i = 0; i < 2; i++)
        if (bytes > MOST || node_attr(n, "kernel", i, 1) > 16) return;
    struct nd *o = nd_make(g, node);
    if (nd_scratch(o) > 1 << 20) return;
    for (int i = 0; i < n->nin + n->nout; i++) {
        at[i] = malloc(g->tensor[n->operand[i]].bytes);
        memset(at[i], fill, g->tensor[n->operand[i]].bytes);
    }
    nd_run(o, at, malloc(nd_scratch(o) + 1));
}

static void operators(const uint8_t *data, size_t n)
{
    struct graph *g = read_it(data, n);
    for (int i = 0; i < g->nnode; i++) {
        if (nd_is(g->node[i].op) && g->node[i].nin + g->node[i].nout <= OP_OPERANDS) {
            run_plain(g, i, 0);
            run_plain(g, i, 0x7e);                       /* large numbers, indices out of range */
            run_plain(g, i, 0xff);                       /* nan, -1 */
        }
        uint64_t bytes = 0;
        for (int k = 0; k < g->node[i].nin + g->node[i].nout; k++) bytes += g->tensor[g->node[i].operand[k]].bytes;
        if (bytes > 1u << 30) continue;
        struct op o = op_make(g, i);
        pieces(&o);
        op_free(&o);
    }
}

static void step(const uint8_t *data, size_t n)
{
    struct graph *g = read_it(data, n);
    struct graph *s = grad_step(g, NULL, &(struct optimiser){ n & 1, 0.1 });
    for (int i = 0; i < s->nnode; i++)
        if (nd_is(s->node[i].op)) nd_free(nd_make(s, i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(operators, data, n);
    fuzz_run(step, data, n);
    return 0;
}
