/* path.c - fuzz target: rows of any bytes made a graph of what had to wait for what.  Text is read as a table of
 * events; after a 0 come rows of six bytes, threads, links and names few and times small, so that much happens at
 * once.  Each piece of an unchanged replay ends when it did, the path leads from the run's begin to its end, and no
 * faster part makes the run end later. */
#include "fuzz.h"
#include "base/mem.h"
#include "prof/path.h"
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *const names[] = { "f", "cudaMemcpy", "cudaDeviceSynchronize", "sleep", "hipLaunchKernel",
                                     "ncclKernel_AllReduce_RING", "", "get" };
static const char *const cats[] = { "Python", "Waiting", "C", "CUDA" };

static void add(struct event_table *t, const uint8_t *d)
{
    char proc[] = { (char)('1' + d[0] % 4 / 3), '\0' }, tid[] = { (char)('1' + d[0] / 4 % 3), '\0', '\0' };
    char link[] = { (char)('a' + d[1] % 8), '\0' };
    static const uint8_t kinds[] = { EVENT_CAT, EVENT_CAT, EVENT_GPU, EVENT_OP };
    struct row r = { .start = d[2], .end = d[2] + d[3] % 64, .kind = kinds[d[4] % 4] };
    if (r.kind == EVENT_GPU) tid[1] = 's';
    char other[] = { (char)('1' + d[4] / 4 % 3), 's', '\0' };
    if (r.kind == EVENT_GPU && d[4] & 64) r.kind = EVENT_AFTER;
    r.proc = intern(&t->text, str_of(proc));
    r.tid = intern(&t->text, str_of(tid));
    r.cat = intern(&t->text, str_of(r.kind == EVENT_CAT   ? cats[d[4] / 4 % 4]
                                    : r.kind == EVENT_AFTER ? other
                                    : r.kind != EVENT_GPU ? ""
                                    : d[4] & 128          ? "Communication"
                                                          : "GPU"));
    r.name = intern(&t->text, str_of(names[d[5] % 8]));
    r.link = d[1] & 128 ? intern(&t->text, str_of(link)) : 0;
    rows_add(&t->rows, &r);
}

static void body(const uint8_t *data, size_t n)
{
    char path[64], *paths[] = { path, NULL };
    struct event_table t = { 0 };
    struct dag g = { 0 };
    struct part all = { "*", 2, PART_ANY };
    if (!data[0]) {
        intern(&t.text, str_of(""));
        for (size_t i = 1; i + 6 <= n; i += 6) add(&t, data + i);
    } else {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data, n));
        table_read(&t, paths);
    }
    dag_build(&g, &t, &all, 1);
    if (!g.n) return;
    int64_t *finish = xcalloc(g.n, sizeof *finish), *slack = xcalloc(g.n, sizeof *slack);
    uint32_t *nodes = xcalloc(g.n, sizeof *nodes), *via = xcalloc(g.n, sizeof *via);
    int64_t end = dag_replay(&g, 1, finish);
    for (size_t i = 0; i < g.n; i++)
        fuzz_check(finish[i] == g.node[i].end, "a piece of an unchanged replay ends at another time");
    fuzz_check(end == g.end, "an unchanged replay ends at another time");
    size_t k = dag_path(&g, finish, nodes, via);
    fuzz_check(k && k <= g.n, "a path longer than the graph");
    dag_slack(&g, finish, slack);
    for (size_t i = 0; i < k; i++) {
        fuzz_check(nodes[i] < g.n && slack[nodes[i]] == 0, "the path has slack");
        fuzz_check((i + 1 < k) == (via[i] != NODE_NONE), "the path has a hole");
    }
    for (size_t i = 0; i < g.n; i++) fuzz_check(slack[i] >= 0, "slack below nothing");
    fuzz_check(dag_replay(&g, 2, finish) <= end, "a faster run ends later");
    struct whatif w;
    whatif_all(&w, &t, &all, 1, 0.95, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n) fuzz_run(body, data, n);
    return 0;
}
