/* path.c - fuzz target: events of any bytes made a graph of what had to wait for what: an unchanged replay ends when the
 * run did, and the path is made of nodes that are there. */
#include "fuzz.h"
#include "base/mem.h"
#include "prof/path.h"
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void body(const uint8_t *data, size_t n)
{
    char path[64], *paths[] = { path, NULL };
    struct table t = { 0 };
    struct dag g = { 0 };
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data, n));
    table_read(&t, paths);
    dag_build(&g, &t, NULL);
    if (!g.n) return;
    int64_t *finish = xcalloc(g.n, sizeof *finish);
    uint32_t *nodes = xcalloc(g.n, sizeof *nodes);
    fuzz_check(dag_replay(&g, 1, finish) == g.end, "an unchanged replay ends at another time");
    size_t k = dag_path(&g, 1, finish, nodes, NULL);
    fuzz_check(k <= g.n, "a path longer than the graph");
    for (size_t i = 0; i < k; i++) fuzz_check(nodes[i] < g.n, "a node that is not there");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(body, data, n);
    return 0;
}
