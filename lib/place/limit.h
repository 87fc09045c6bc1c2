/* limit.h - the fast memory a user asks for as a ratio. */
#ifndef MILLRACE_PLACE_LIMIT_H
#define MILLRACE_PLACE_LIMIT_H

/* "R:F", slow to fast memory, both not negative: fast over all, 0 to 1.  Wrong usage, with a message, otherwise. */
double fast_share(const char *ratio);

/* Rows of a table of options: how much fast memory, and what is planned with. */
#define FAST_MEMORY(ratio, limit)                                                                                      \
    { 0, "ratio", STR, &(ratio), "R:1", "slow to fast memory, of the peak" },                                          \
    { 0, "limit", SIZE, &(limit), "BYTES", "fast memory" }
#define KERNEL_TIMES(profile)                                                                                          \
    { 'p', "profile", STR, &(profile), "FILE", "kernel times by tiers, from place-profile or place-cost" }
#endif
