/* power.h - how many rounds a comparison needs, from a pilot.
 *
 * The pilot's paired log-ratios, centred, stand for the noise; effects are added to resamples of them and the test that
 * bench-compare makes is made.  So bursts and tails of this machine count as they are, but not dependence between
 * rounds. */
#ifndef MILLRACE_POWER_H
#define MILLRACE_POWER_H
#include <stddef.h>
#include <stdint.h>

/* least n of which a share `power` of `draws` experiments finds an effect (a log-ratio) with its sign, to within 2 %; 0
 * if more than n_max */
size_t power_rounds(const double *d, size_t n_pilot, double effect, double power, double confidence, size_t n_max,
                    int draws, uint64_t seed);

/* median number of rounds until the confidence sequence, looked at after every round, excludes no difference; 0 above
 * n_max */
size_t power_sequential(const double *d, size_t n_pilot, double effect, double confidence, size_t n_max, int draws,
                        uint64_t seed);
#endif
