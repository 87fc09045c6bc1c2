/* place-pack.c - fuzz target: whatever the packer returns is sound, whatever it proves impossible stays impossible for
 * a smaller pool, and one pass after another never gets below the load. */
#include "fuzz.h"
#include "place/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MOST = 16, TRIES = 1 };                           /* one search; 40 and 400 are three times as slow */

static int sound(const struct buffer *b, int n, uint64_t capacity)
{
    for (int i = 0; i < n; i++) {
        if (b[i].offset + b[i].size > capacity || (b[i].align > 0 && b[i].offset % b[i].align != 0)) return 0;
        for (int k = 0; k < i; k++)
            if (b[i].lower < b[k].upper && b[k].lower < b[i].upper && b[i].offset < b[k].offset + b[k].size
                && b[k].offset < b[i].offset + b[i].size) return 0;
    }
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer b[MOST];
    int n = 0;
    for (size_t i = 1; i + 2 < size && n < MOST; i += 3, n++)
        b[n] = (struct buffer){ data[i] % 32, data[i] % 32 + 1 + data[i + 1] % 16, data[i + 2] % 24,
                                (uint64_t)1 << (data[i + 1] >> 6), 0 };
    uint64_t load = pack_load(b, n), top = pack_low(b, n, 4, 0);
    fuzz_check(top >= load && sound(b, n, top), "pack_low is not sound");
    if (size == 0) return 0;
    uint64_t capacity = load + *data % 8;
    enum pack_result r = pack(b, n, capacity, 1, TRIES);
    if (r == PACK_DONE) fuzz_check(sound(b, n, capacity), "pack is not sound");
    if (r == PACK_IMPOSSIBLE) fuzz_check(top > capacity, "called impossible, but it was done before");
    return 0;
}
