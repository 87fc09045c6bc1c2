/* lib-rng.c - the generator's published values, the streams' independence, moments within six sigma. */
#include "base/rng.h"
#include "tap.h"
#include <stdlib.h>

static void known(void)
{
    /* xoshiro256** from the state 1, 2, 3, 4: the values every other implementation prints */
    static const uint64_t want[] = { 11520,
                                     0,
                                     1509978240,
                                     1215971899390074240,
                                     1216172134540287360,
                                     607988272756665600,
                                     16172922978634559625u,
                                     8476171486693032832,
                                     10595114339597558777u,
                                     2904607092377533576 };
    struct rng r = { { 1, 2, 3, 4 } };
    int wrong = 0;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) wrong += rng_u64(&r) != want[i];
    ok(wrong == 0, "xoshiro256** gives its published values");
    struct rng a = rng_for(1, str_of("bzip2/round 3"));
    static const uint64_t kept[] = { 0xf0ed8f3518479f99, 0x8352758c34cc531c };
    uint64_t x = rng_u64(&a), y = rng_u64(&a);
    if (!ok(x == kept[0] && y == kept[1], "a keyed stream is the same in every version"))
        printf("# 0x%016llx, 0x%016llx\n", (unsigned long long)x, (unsigned long long)y);
}

static void streams(void)
{
    struct rng a = rng_for(1, str_of("a")), again = rng_for(1, str_of("a")), b = rng_for(1, str_of("b")),
               c = rng_for(2, str_of("a"));
    int same = 0, key = 0, seed = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = rng_u64(&a);
        same += x == rng_u64(&again);
        key += __builtin_popcountll(x ^ rng_u64(&b));
        seed += __builtin_popcountll(x ^ rng_u64(&c));
    }
    ok(same == 1000, "the same seed and key, the same stream");
    ok(abs(key - 32000) < 6 * 127 && abs(seed - 32000) < 6 * 127, "another key or seed, another stream");
}

static void moments(void)
{
    enum { N = 200000 };
    struct rng r = rng_for(1, str_of("moments"));
    double u = 0, uu = 0, z = 0, zz = 0, z4 = 0, least = 1;
    bool in = true;
    for (int i = 0; i < N; i++) {
        double x = rng_unit(&r), n = rng_normal(&r);
        in = in && x >= 0 && x < 1;
        if (x < least) least = x;
        u += x;
        uu += x * x;
        z += n;
        zz += n * n;
        z4 += n * n * n * n;
    }
    double root = sqrt(N);
    ok(in && least < 1e-3, "uniform lies in [0, 1)");
    near(u / N, 0.5, 6 * sqrt(1.0 / 12) / root, "mean of the uniform");
    near(uu / N, 1.0 / 3, 6 * sqrt(4.0 / 45) / root, "second moment of the uniform");
    near(z / N, 0, 6 / root, "mean of the normal");
    near(zz / N, 1, 6 * sqrt(2) / root, "variance of the normal");
    near(z4 / N / 3, 1, 6 * sqrt(96) / 3 / root, "fourth moment of the normal");
}

static void integers(void)
{
    enum { N = 60000 };
    struct rng r = rng_for(1, str_of("below"));
    double count[6] = { 0 }, third = 0, chi = 0;
    int outside = 0;
    for (int i = 0; i < N; i++) {
        uint64_t k = rng_below(&r, 6);
        outside += k > 5 || rng_below(&r, 1) != 0;
        if (k < 6) count[k]++;
        third += rng_below(&r, 3ull << 62) < 1ull << 62;    /* a modulo would give 1/2 */
    }
    for (int k = 0; k < 6; k++) chi += (count[k] - N / 6.0) * (count[k] - N / 6.0) / (N / 6.0);
    ok(outside == 0, "integers stay below their bound");
    ok(chi < 43, "a die is fair (chi-square, 5 degrees of freedom, p = 4e-8)");
    near(third / N, 1.0 / 3, 6 * sqrt(2.0 / 9 / N), "large bounds have no bias");
}

static void shuffling(void)
{
    struct rng r = rng_for(1, str_of("shuffle"));
    double place[5][5] = { { 0 } }, chi = 0;
    bool permuted = true;
    for (int i = 0; i < 20000; i++) {
        int v[5] = { 0, 1, 2, 3, 4 }, seen = 0;
        rng_shuffle(&r, v, 5, sizeof *v);
        for (int k = 0; k < 5; k++) {
            seen |= 1 << v[k];
            place[k][v[k]]++;
        }
        permuted = permuted && seen == 31;
    }
    for (int i = 0; i < 25; i++) chi += (place[i / 5][i % 5] - 4000) * (place[i / 5][i % 5] - 4000) / 4000;
    ok(permuted, "a shuffle keeps every item");
    ok(chi < 80, "every item comes to every place equally often (16 degrees of freedom)");
    rng_shuffle(&r, NULL, 0, 8);
}

int main(void)
{
    known();
    streams();
    moments();
    integers();
    shuffling();
    return done();
}
