#include "rl/environment.h"

int environment_any(struct rng *r, int actions, uint32_t mask)
{
    if (!mask) return -1;
    uint64_t k = rng_below(r, (uint64_t)__builtin_popcount(mask));
    for (int a = 0; a < actions; a++)
        if (mask >> a & 1 && k-- == 0) return a;
    return -1;
}
