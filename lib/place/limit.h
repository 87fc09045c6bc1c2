/* limit.h - the fast memory that a user gives: bytes, a share of what there would be without a limit, or the ratio of
 * slow to fast memory.  One struct, and one place where it becomes bytes. */
#ifndef MILLRACE_PLACE_LIMIT_H
#define MILLRACE_PLACE_LIMIT_H
#include <stdbool.h>
#include <stdint.h>

struct budget {
    const char *limit, *ratio;                           /* what the options said; NULL: nothing */
    bool given;
    double share;                                        /* 0 to 1; below 0: it is in bytes */
    uint64_t bytes;
};

/* Reads "2G" or "25%" and "R:F", slow to fast memory, both not negative.  Wrong usage, with a message, where both are
 * given or one is none of these. */
void budget_parse(struct budget *);
uint64_t budget_bytes(const struct budget *, double whole);   /* whole: what a share is of */
double fast_share(const char *ratio);                    /* of "R:F", 0 to 1 */

/* Rows of a table of options: how much fast memory, and what is planned with. */
#define FAST_MEMORY(budget)                                                                                            \
    { 0, "limit", STR, &(budget).limit, "SIZE|N%", "fast memory: bytes, or a share of the peak" },                     \
    { 0, "ratio", STR, &(budget).ratio, "R:1", "as slow to fast memory, 4:1 is 20%" }
#define KERNEL_TIMES(profile)                                                                                          \
    { 'p', "profile", STR, &(profile), "FILE", "kernel times by tiers, from place-profile or place-cost" }
#endif
