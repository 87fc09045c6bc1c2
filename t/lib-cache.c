/* lib-cache.c - the cache against one that searches a list of lines */
#include "base/rng.h"
#include "place/cache.h"
#include "tap.h"
#include <string.h>

enum { SETS = 7, LINE = 64 };
struct naive { uint64_t line; bool full, dirty; };

static void naive_touch(struct naive *c, uint64_t address, uint64_t bytes, bool write, struct traffic *t)
{
    for (uint64_t line = address / LINE; bytes > 0 && line <= (address + bytes - 1) / LINE; line++) {
        struct naive *at = &c[line % SETS];
        *(write ? &t->written : &t->read) += LINE;
        if (!at->full || at->line != line) {
            t->missed += LINE;
            if (at->full && at->dirty) t->evicted += LINE;
            *at = (struct naive){ line, true, false };
        }
        if (write) at->dirty = true;
    }
}

int main(void)
{
    struct rng r = rng_for(1, str_of("cache"));
    long wrong = 0, evicted = 0, hits = 0;
    for (int round = 0; round < 200; round++) {
        struct cache *c = cache_new(SETS * LINE + (uint64_t)round % LINE, LINE);
        struct naive n[SETS] = { { 0 } };
        for (int i = 0; i < 200; i++) {
            uint64_t address = rng_below(&r, 30 * LINE), bytes = rng_below(&r, i % 2 ? 3 * LINE : 20 * LINE);
            bool write = rng_below(&r, 2);
            struct traffic a = { 0 }, b = { 0 };
            cache_touch(c, address, bytes, write, &a);
            naive_touch(n, address, bytes, write, &b);
            wrong += memcmp(&a, &b, sizeof a) != 0;
            evicted += b.evicted > 0;
            hits += b.read + b.written > b.missed;
        }
        cache_free(c);
    }
    ok(wrong == 0, "40 000 random ranges: hits, misses and write-backs of a line-by-line model");
    ok(evicted > 1000 && hits > 1000, "which saw hits and write-backs");
    return done();
}
