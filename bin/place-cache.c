/* place-cache - a training step with fast memory as a hardware cache
 *
 * Usage: place-cache (--limit=SIZE|N% | --ratio=R:1) [--model=NAME] [--line=N]
 *                    [--total] [GRAPH]
 *
 * What a machine does by itself, without a plan: every tensor lies in slow memory
 * and fast memory is a direct-mapped write-back cache of it, as in the memory
 * mode of Optane servers.  Simulated, by the model of place-cost; the cache is
 * warm from one whole step before.
 *
 * Columns out, a row for each node: node, name, op, read_bytes, written_bytes
 * (of operands, in whole lines), missed_bytes (fetched from slow memory),
 * evicted_bytes (written back to it), seconds, fast_seconds (were everything
 * in fast memory), kind.  With --total one row: network, batch, limit_bytes,
 * address_bytes, then the sums.  --ratio=R:1 gives 1 / (R + 1) of the graph's
 * peak, as in place-plan.  Memory: the graph and 4 bytes per line.
 *
 * Examples:
 *   $ place-net resnet200 --batch=512 | place-cache --ratio=4:1 --total
 */
#include "base/filter.h"
#include "place/cache.h"
#include "place/limit.h"
#include "table/csvio.h"
#include HELP
#include <stdlib.h>

static const char *model = "optane";
static struct budget budget;
static uint64_t line = 4096;
static bool total;
static const struct opt options[] = {
    { 0, "model", STR, &model, "NAME", "constants of optane, cxl, gpu or disk" },
    FAST_MEMORY(budget),
    { 0, "line", SIZE, &line, "N", "bytes of a line, a power of two", 64, 1 << 30 },
    { 0, "total", FLAG, &total, NULL, "one row for the whole step" },
    { 0 } };

static void put(csvw *w, const struct traffic *t, double seconds, double fast)
{
    csvw_int(w, (int64_t)t->read);
    csvw_int(w, (int64_t)t->written);
    csvw_int(w, (int64_t)t->missed);
    csvw_int(w, (int64_t)t->evicted);
    csvw_num(w, seconds);
    csvw_num(w, fast);
    csvw_cstr(w, "simulated");
    csvw_end(w);
}

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    const struct cost_model *m = machine_find(model);
    if (!m) usage("unknown model '%s', one of %s", model, machine_names());
    budget_parse(&budget);
    if (!budget.given) usage("either --limit or --ratio is needed");
    if (line & (line - 1)) usage("a line of %llu bytes is no power of two", (unsigned long long)line);
    struct graph *g = graph_read(path);
    uint64_t limit = budget_bytes(&budget, (double)graph_peak(g));
    uint64_t *address = xmalloc((size_t)g->ntensor + 1, sizeof *address), used = cache_addresses(g, address);
    if (limit < line) die("fast memory of %llu bytes is less than a line", (unsigned long long)limit);
    if (used / limit >= (uint64_t)1 << 30) die("fast memory of %llu bytes is too small", (unsigned long long)limit);
    struct cache *c = cache_new(limit < used + line ? limit : used + line, line);
    csvw *w = csvw_open("-");
#define SUMS "read_bytes,written_bytes,missed_bytes,evicted_bytes,seconds,fast_seconds,kind"
    csvw_names(w, total ? "network,batch,limit_bytes,address_bytes," SUMS : "node,name,op," SUMS);
    csvw_end(w);
    struct traffic sum = { 0 };
    double seconds = 0, fast = 0;
    for (int i = 0; i < g->nnode; i++) cache_node(c, g, i, address);
    for (int i = 0; i < g->nnode; i++) {
        struct traffic t = cache_node(c, g, i, address);
        double cached = cache_seconds(m, g, i, &t), direct = machine_time(m, g, i, 0);
        sum = (struct traffic){ sum.read + t.read, sum.written + t.written, sum.missed + t.missed,
                                sum.evicted + t.evicted };
        seconds += cached;
        fast += direct;
        if (total) continue;
        csvw_int(w, i);
        csvw_cstr(w, g->node[i].name);
        csvw_cstr(w, g->node[i].op);
        put(w, &t, cached, direct);
    }
    if (total) {
        csvw_cstr(w, g->name);
        csvw_int(w, g->batch);
        csvw_int(w, (int64_t)limit);
        csvw_int(w, (int64_t)used);
        put(w, &sum, seconds, fast);
    }
    cache_free(c);
    free(address);
    graph_free(g);
    return csvw_close(w);
}
