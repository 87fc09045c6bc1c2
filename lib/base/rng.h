/* rng.h - keyed random streams: what is drawn for one thing never depends on what was drawn for another.
 *
 * A stream is named by (seed, key), for instance (7, "bzip2/round 3"), so results do not change with the order of
 * work, with sharding or with -j.  The generator is xoshiro256** (Blackman and Vigna, "Scrambled linear
 * pseudorandom number generators", 2021) seeded through splitmix64; never seeded from the clock.  GSL's
 * generators take a 32-bit seed, too few for keyed streams; use gsl_cdf_*_Pinv(rng_unit()) for rarer laws. */
#ifndef MILLRACE_RNG_H
#define MILLRACE_RNG_H
#include "base/str.h"
#include <stddef.h>
#include <stdint.h>

struct rng { uint64_t s[4]; };

struct rng rng_for(uint64_t seed, str key);
uint64_t rng_u64(struct rng *);
double rng_unit(struct rng *);                           /* uniform in [0, 1), 53 bits */
uint64_t rng_below(struct rng *, uint64_t n);            /* uniform in 0 .. n-1, unbiased; n > 0 */
double rng_normal(struct rng *);                         /* mean 0, variance 1 */
void rng_shuffle(struct rng *, void *base, size_t n, size_t size);   /* Fisher-Yates; size at most 256 bytes */
#endif
