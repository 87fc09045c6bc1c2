/* order.c - see order.h */
#include "measure/order.h"
#include "base/mem.h"
#include "base/rng.h"
#include <stdio.h>
#include <stdlib.h>

size_t order_block(size_t k)
{
    return k < 2 ? 1 : k == 2 ? 4 : k % 2 ? 2 * k : k;
}

void order_round(uint64_t seed, size_t k, size_t round, size_t *order)
{
    size_t block = order_block(k), *part = xmalloc(k, sizeof *part), *turn = xmalloc(block, sizeof *turn);
    char key[48];
    snprintf(key, sizeof key, "order/%zu", round / block);
    struct rng g = rng_for(seed, str_of(key));
    for (size_t i = 0; i < k; i++) part[i] = i;
    for (size_t i = 0; i < block; i++) turn[i] = i;
    rng_shuffle(&g, part, k, sizeof *part);
    rng_shuffle(&g, turn, block, sizeof *turn);
    size_t row = turn[round % block];
    for (size_t place = 0; place < k; place++) {
        size_t zigzag = place % 2 ? k - (place + 1) / 2 : place / 2;   /* 0, k-1, 1, k-2, ... */
        size_t at = k > 2 && row >= k ? k - 1 - place : place;         /* the mirrored square that odd k needs */
        order[at] = part[(zigzag + row) % k];
    }
    free(part);
    free(turn);
}
