/* tables.c - fuzz target: the readers of tables and of other tools' results that have no target of their own; the first
 * byte says which.  Whatever they read, they end the process properly or give what can be walked. */
#include "fuzz.h"
#include "base/mem.h"
#include "flambda/counters.h"
#include "inline/history.h"
#include "inline/parts.h"
#include "measure/foreign.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { READERS = 8 };
static const char *const reader[READERS] = { "hyperfine", "google", "pyperf", "gobench", "perf", "counters", "history",
                                             "parts" };

static void body(const uint8_t *data, size_t n)
{
    char path[64], none[] = "x";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data + 1, n - 1));
    char *paths[] = { path, NULL };
    struct frame *f = frame_new();
    switch (data[0] % READERS) {
    case 0: import_hyperfine(f, path); break;
    case 1: import_google(f, path); break;
    case 2: import_pyperf(f, path); break;
    case 3: import_gobench(f, path); break;
    case 4: import_perf(f, path, none, 0); break;
    case 5: {
        struct counters k = counters_read(paths);
        for (size_t b = 0; b < k.n; b++) counters_dedupe(&k.table[b], k.cols);
        break;
    }
    case 6: {
        struct history h = { 0 };
        history_read(&h, paths);
        for (size_t i = 0; i < h.n; i++) fuzz_check(history_find(&h, h.v[i].decisions) != NULL, "a set is not found");
        break;
    }
    default: {
        struct parts p = { 0 };
        if (parts_read(&p, path))
            for (size_t i = 0; i < p.name.n; i++)
                fuzz_check(parts_find(&p, p.name.name[i]) != NULL, "a part is not found");
    }
    }
    csvw *w = csvw_fd(fuzz_reuse(0));
    frame_write(f, w);
    csvw_close(w);
    frame_free(f);
}

static unsigned long given[READERS], accepted[READERS];
static void report(void)
{
    for (int i = 0; i < READERS; i++) printf("fuzz: %s: %lu inputs, %lu accepted\n", reader[i], given[i], accepted[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static bool known;
    if (!known) atexit(report);
    known = true;
    if (!n) return 0;
    given[data[0] % READERS]++;
    accepted[data[0] % READERS] += fuzz_run(body, data, n) != 0;
    return 0;
}
