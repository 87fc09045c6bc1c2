/* placing.h - the placement problem in flat arrays: what solver, checker and model writer share.
 *
 * A tensor that can move has uses, its nodes in ascending order; each use is one slot of its node.  Between uses it may
 * stay in fast memory or not.  A node's time depends on which of its slots are slow (bit i: slot i).  Fast memory at a
 * node holds its pinned tensors (base), the movable tensors that are used fast or stay, and the staging area of the
 * node's placement (workspace included); that sum may not exceed limit[node].  A choice that the profile does not
 * offer, or whose own operands and staging exceed the limit, takes 10^6 seconds.  Bytes are doubles that hold
 * integers. */
#ifndef MILLRACE_PLACE_PLACING_H
#define MILLRACE_PLACE_PLACING_H
#include "tensor/graph.h"
#include "place/profile.h"
#include <stdint.h>

enum { PLACING_CUTS = 4 };
enum formulation { FORM_STATIC, FORM_SYNC, FORM_ASYNC, FORM_NUMA, FORM_SLOW, FORM_FAST };
extern const char *const formulation_names[];            /* static sync async numa slow fast */

struct placing {
    const struct graph *g;
    int nodes, tensors, uses;
    uint64_t bytes_limit;                                /* the user's */
    bool moves;                                          /* tensors may move between uses */
    const bool *offloaded;                               /* by graph tensor: parameters kept in slow memory, or NULL */
    int *id;                                             /* tensor -> graph tensor */
    double *size, *fetch, *write;                        /* tensor: bytes in a pool; seconds to copy in and out */
    int *use_end;                                        /* tensor t has uses use_end[t] .. use_end[t + 1] - 1 */
    int *use_node, *use_slot;                            /* use -> node, slot within the node */
    int *slot_end;                                       /* node n has slots slot_end[n] .. slot_end[n + 1] - 1 */
    int *slot_use, *slot_tensor;                         /* slot -> use, tensor */
    int *choice_end;                                     /* node n has choices choice_end[n] .. */
    struct choice *choice;                               /* seconds: less what the channel's time is worth */
    double *seconds;                                     /* choice: of the kernel alone */
    double *channel;                                     /* choice: what it takes of the copy channel's time */
    bool beside;                                         /* moves are made beside nodes, on the copy channel */
    double *phi;                                         /* node: what it loses by a second of moves beside it */
    double *nu;                                          /* node: price of a second of the channel, phi to 1 */
    double *spare;                                       /* node: the most time that the channel can have for moves */
    double *base, *limit;                                /* node: bytes */
    bool staged;                                         /* some choice has staging */
    int cuts;                                            /* see below */
    uint64_t cut[PLACING_CUTS];
    double *units;                                       /* by cut, then tensor: floor(size / d) */
};

/* Where single tensors take a good part of the limit, fractions of them make the relaxation weak.  Rounding helps: for
 * any number of bytes d, sum floor(size / d) over the tensors in fast memory <= floor((limit - base) / d) (Chvatal and
 * Gomory).  cut[] are the sizes d that gain most; none when all tensors are small. */
static inline double cut_weight(const struct placing *p, int cut, int tensor)
{
    return p->units[cut * p->tensors + tensor];
}

double cut_right(const struct placing *, int cut, int node);      /* floor((limit - base) / d) */

/* Dies when no placement of some node fits under the limit, saying which and how much it needs. */
/* A limit that is too small ends the process, with EXIT_FAIL, or with what somebody set who waits for the process. */
extern int limit_status;
#define die_of_limit(...) (fail_status = limit_status, die(__VA_ARGS__))

struct placing *placing_new(const struct graph *, const struct profile *, uint64_t limit, bool moves,
                            const bool *offloaded);
uint32_t placing_offloaded(const struct placing *, int node);   /* its operands that are, as bits */
/* what a choice leaves of the copy channel's time for moves beside node n */
static inline double choice_leaves(const struct placing *p, int n, int choice)
{
    return (p->seconds[choice] - p->channel[choice]) / (1 - p->phi[n]);
}

/* From now on moves are made beside nodes and cost nu[node] a second there, of which phi is lost time and the rest is
 * the worth of the channel's time, which choices are charged less for what they leave (verify.h); NULL: moves are made
 * between nodes and cost their seconds. */
void placing_price(struct placing *, const double *nu);
void placing_free(struct placing *);

/* A placement: every tensor slow at every use, at first. */
struct placement {
    uint8_t *slow;                                       /* use: reads or writes it in slow memory */
    uint8_t *stay;                                       /* use: remains in fast memory until the next use */
    int *config;                                         /* node: bits of slow slots */
    double *load;                                        /* node: bytes of movable tensors in fast memory */
    /* moves beside kernels: nodes before a use for which a fetch has the bytes already, after one for which a write-out
     * still has them; seconds that the step is taken to stand still for it, and the
     * worth of the channel's time that they take; node: seconds of the channel in use */
    int *lead, *lag;
    double *still, *used;
};
struct placement *placement_new(const struct placing *);
void placement_free(struct placement *);
/* Fills config and load by slow and stay; moves take fast memory at no other nodes. */
void placement_settle(const struct placing *, struct placement *);
void placement_copy(const struct placing *, struct placement *to, const struct placement *from);
double placement_seconds(const struct placing *, const struct placement *);   /* kernels and copies */
/* most bytes over a limit, and where */
double placement_overload(const struct placing *, const struct placement *, int *node);
double move_seconds(const struct placing *, const struct placement *, int tensor);
#endif
