/* best.c - see best.h */
#include "inline/best.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>

double best(struct best_node *x, size_t n, double gamma, bool mean)
{
    double *sum = xcalloc(n, sizeof *sum);
    size_t *children = xcalloc(n, sizeof *children);
    for (size_t i = n; i-- > 0; ) {
        double below = mean && children[i] ? sum[i] / (double)children[i] : sum[i];
        double apply = isnan(x[i].no_inline) ? -INFINITY : x[i].no_inline;
        x[i].long_term = isnan(x[i].immediate) ? -INFINITY : x[i].immediate + (children[i] ? gamma * below : 0);
        x[i].inlined = x[i].decl || x[i].long_term > apply;
        x[i].value = x[i].inlined ? x[i].long_term : apply;
        if (!i) break;
        sum[x[i].parent] += x[i].value;
        children[x[i].parent]++;
    }
    for (size_t i = 0; i < n; i++) x[i].reached = !i || (x[x[i].parent].reached && x[x[i].parent].inlined);
    free(sum);
    free(children);
    return n ? x[0].value : 0;
}
