/* rng.c - see rng.h */
#include "base/rng.h"
#include "base/message.h"
#include <math.h>
#include <string.h>

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

struct rng rng_for(uint64_t seed, str key)
{
    uint64_t x = hash_bytes(key.s, key.n, splitmix(&seed));
    struct rng r;
    for (int i = 0; i < 4; i++) r.s[i] = splitmix(&x);
    return r;
}

static uint64_t rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

uint64_t rng_u64(struct rng *r)
{
    uint64_t *s = r->s, out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return out;
}

double rng_unit(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

/* Lemire, "Fast random integer generation in an interval", 2019 */
uint64_t rng_below(struct rng *r, uint64_t n)
{
    unsigned __int128 m = (unsigned __int128)rng_u64(r) * n;
    if ((uint64_t)m < n) {
        uint64_t reject = -n % n;
        while ((uint64_t)m < reject) m = (unsigned __int128)rng_u64(r) * n;
    }
    return (uint64_t)(m >> 64);
}

/* Marsaglia's polar method; the second value is thrown away so that a stream has no hidden state */
double rng_normal(struct rng *r)
{
    for (;;) {
        double u = 2 * rng_unit(r) - 1, v = 2 * rng_unit(r) - 1, q = u * u + v * v;
        if (q > 0 && q < 1) return u * sqrt(-2 * log(q) / q);
    }
}

void rng_shuffle(struct rng *r, void *base, size_t n, size_t size)
{
    char t[256], *b = base;
    if (size > sizeof t) die("cannot shuffle items of %zu bytes", size);
    for (size_t i = n; i > 1; i--) {
        size_t j = rng_below(r, i);
        if (j == i - 1) continue;
        memcpy(t, b + j * size, size);
        memcpy(b + j * size, b + (i - 1) * size, size);
        memcpy(b + (i - 1) * size, t, size);
    }
}
