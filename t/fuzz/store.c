/* store.c - fuzz target: a store of measured nests is refused with a message, or read: keys once, times positive. */
#include "fuzz.h"
#include "base/mem.h"
#include "loop/code/evaluate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char header[] = "key,machine,isa,encoder,problem,tree,seconds,median_seconds,runs,load\n";

static void recall(const uint8_t *data, size_t n)
{
    char path[64];
    struct evaluator v = { 0 };
    size_t head = data[0] & 1 ? sizeof header - 1 : 0;   /* or random bytes would seldom get past the header */
    uint8_t *all = xmalloc(head + n, 1);
    memcpy(all, header, head);
    memcpy(all + head, data + 1, n - 1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(all, head + n - 1));
    evaluator_recall(&v, path);
    size_t used = 0, rows = 0;
    for (size_t i = 0; i < v.nslot; i++) {
        if (!v.slot[i].key) continue;
        used++;
        fuzz_check(v.slot[i].seconds > 0, "a time that is not positive");
    }
    for (size_t i = 0; i < n; i++) rows += data[i] == '\n';
    fuzz_check(used == v.used && used <= rows + 1, "more measurements than rows");
    free(v.slot);
    free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n > 1) fuzz_run(recall, data, n);
    return 0;
}
