/* design.h - sets of decisions chosen so that the worth of each call can be told apart, all before the first is built.
 *
 * A factor is a call of the source: it is decided once and all its copies follow.  What the default does with the
 * other calls is their decision, in all copies too, so a trial of no factors is not quite the default's own build.
 *   random     each factor by a coin
 *   flip       each factor the other way than the default with a small probability: single calls in many contexts
 *   groups     the factors that call one function, by one coin: fewer unknowns, but only their sum
 *   factorial  two levels, orthogonal (Sylvester's Hadamard matrix, rows and columns in random order, as Plackett and
 *              Burman 1946 use them): N trials, N a power of two, tell N - 1 main effects apart with the least variance
 *              that N trials can have; so only the N - 1 hottest calls are factors */
#ifndef MILLRACE_DESIGN_H
#define MILLRACE_DESIGN_H
#include "inline/live.h"
#include "table/csvio.h"

enum design_kind { DESIGN_RANDOM, DESIGN_FLIP, DESIGN_GROUPS, DESIGN_FACTORIAL };
#define DESIGN_KINDS "random|flip|groups|factorial"

struct design_call {
    str callee, chain;                                   /* as a stock build would name it where it stands */
    double heat, order;
    bool by_default;
};
struct design {
    struct design_call *call;                            /* factors first, then the others */
    size_t n, factors, cap;
    struct intern key;                                   /* "callee chain" -> call, while reading */
    struct arena text;
};

/* Rows of inline-sites that are legal and not recursive; copies only say what the default does.  Then the hottest
 * `most` calls are the factors, those of equal heat in random order. */
void design_read(struct design *, csv *sites);
void design_factors(struct design *, size_t most, uint64_t seed);
size_t design_most(enum design_kind, size_t trials);     /* factors that so many trials can have */
void design_free(struct design *);

/* verdict[trial * factors + k]: is factor k inlined?  Trials are a power of two for a factorial. */
void design_fill(const struct design *, enum design_kind, size_t trials, double share, uint64_t seed,
                 unsigned char *verdict);

/* The set of a trial, verdict one per factor.  Inliners go from callees to callers, so what is inlined into a function
 * is there before the function is copied: calls of the source, each named where it stands, say it all. */
void design_set(const struct design *, const unsigned char *verdict, struct live *);
#endif
