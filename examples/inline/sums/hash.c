#include "hash.h"

static unsigned turn(unsigned x, int k) { return x << k | x >> (32 - k); }

unsigned mix(unsigned x)
{
    x ^= x >> 7;
    x *= 2654435761u;
    return turn(x, 5) ^ x >> 11;
}

unsigned fold(unsigned x, unsigned y) { return turn(x + y, 9) + turn(x ^ y, 3); }

unsigned bucket(unsigned x, int bits) { return mix(x) >> (32 - bits); }
