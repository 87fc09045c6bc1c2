/* plan.h - where every intermediate tensor lies at every node, the copies between, and what that costs.
 *
 * Text form:
 *   (plan (graph vgg19) (batch 64) (formulation sync) (kind simulated) (limit_bytes N) (fast_bytes N) (slow_bytes N)
 *     (objective_seconds X) (bound_seconds X) (gap_ratio X) [(cuts D..)]
 *     (tensor ID (fast FIRST LAST OFFSET) .. (slow FIRST LAST OFFSET) ..)
 *     (move ID to_slow|to_fast BEFORE [BEGIN])
 *     (node IDX IN_TIERS OUT_TIERS MODE SECONDS STAGING_BYTES STAGING_OFFSET [(price LAMBDA KAPPA.. MU.. [NU])]))
 * One `tensor` per intermediate, and one per parameter that is offloaded, (tensor ID (slow 0 LAST OFFSET)): nodes use
 * it there (P), and its next value takes its place.  A stay (fast F L O) means: at nodes F to L, both included, the
 * tensor occupies bytes O .. O + size - 1 of the fast pool; fast_bytes and slow_bytes are the sizes of the pools.
 * Offsets are multiples of 4096, those of tensors below GRAPH_PIN_BYTES of 64.
 * Moves stand in the order of BEFORE, those to slow memory first where it is the same.  A move may be made as soon as
 * node BEGIN - 1 has ended and is over when node BEFORE starts; the stay it makes begins at BEGIN, holds the contents
 * from BEFORE on, and the stay it reads lasts as long.  Without BEGIN, BEGIN is BEFORE: the move is made between two
 * nodes.  Slow copies stay valid until the end of their stay: contents never change after the producer.  When a tensor
 * has a fast and a slow stay at a node, the node's tier letters say which copy it uses (D fast, P slow; other
 * args are D and lie outside both pools); it is the fast one where that holds the contents.
 * STAGING_BYTES of the fast pool at STAGING_OFFSET belong to the node while it runs (workspace, streaming buffers).
 * objective_seconds is the sum over nodes and moves; of formulation async the time of this machine: nodes run one after
 * the other, moves on one channel beside them.  The channel makes one move at a time, always the first in the plan's
 * order among those that may begin: BEGIN is reached and, for one to fast memory, all moves to slow memory whose BEFORE
 * is not above it are over.  It looks again when a node starts or a move ends.  A node with operands in slow memory
 * takes the channel for as long as moves of these operands would, at most its own time theta, evenly as it gets on;
 * moves get the rest.  A second of moves beside a node takes phi seconds of it (profile_lost, below 1): with c seconds
 * of moves it lasts theta + phi c, which is at least c and what its slow operands take of the channel, so that
 * c <= (theta - that) / (1 - phi).  bound_seconds is a lower bound for any plan under the same limit and rules;
 * gap_ratio is (objective - bound) / bound.  The prices make the bound checkable: see lib/place/verify.h. */
#ifndef MILLRACE_PLACE_PLAN_H
#define MILLRACE_PLACE_PLAN_H
#include "tensor/graph.h"
#include "place/profile.h"

enum { PLAN_ALIGN = 4096, PLAN_ALIGN_SMALL = 64, PLAN_CUTS = 4 };
enum plan_tier { TIER_FAST, TIER_SLOW };

struct stay { int tensor; enum plan_tier tier; int first, last; uint64_t offset; };
struct plan_move { int tensor; enum plan_tier to; int before, begin; };
struct plan_node {
    const char *in_tiers, *out_tiers;
    int mode;                                            /* index in profile_modes */
    double seconds;
    uint64_t staging, staging_offset;
    int nprice;                                          /* 0, or 1 + cuts + slots: lambda, kappas, mus; async: nu */
    double *price;                                       /* seconds per byte, per floor(bytes / cut); seconds; ratio */
};

struct plan {
    const char *graph, *formulation, *kind, *file;
    long batch;
    uint64_t limit, fast_bytes, slow_bytes;
    double objective, bound, gap;
    int ncut;
    uint64_t cut[PLAN_CUTS];                             /* bytes by which the memory rows are rounded, for the bound */
    struct stay *stay;                                   /* sorted by tensor, then first node, fast before slow */
    int nstay;
    struct plan_move *move;
    int nmove;
    struct plan_node *node;                              /* nnode of them */
    int nnode;
    size_t capstay, capmove;
    struct arena text;
};

struct plan *plan_read(const char *path, const struct graph *);   /* dies on bad syntax and wild numbers; no more */
void plan_write(const struct plan *, const char *path);
void plan_free(struct plan *);

struct plan *plan_new(const struct graph *, const char *formulation);
void plan_stay(struct plan *, int tensor, enum plan_tier, int first, int last, uint64_t offset);
void plan_add_move(struct plan *, int tensor, enum plan_tier to, int before, int begin);
void plan_sort(struct plan *);                           /* the stays; needed before plan_find and plan_write */
void plan_sort_moves(struct plan *);                     /* into the order above */

/* of a tensor or staging area of that size; bytes it takes in a pool: rounded up to that */
static inline uint64_t plan_align(uint64_t bytes)
{
    return bytes < GRAPH_PIN_BYTES ? PLAN_ALIGN_SMALL : PLAN_ALIGN;
}

static inline uint64_t plan_size(uint64_t bytes)
{
    uint64_t a = plan_align(bytes);
    return (bytes + a - 1) / a * a;
}

/* the share of a move's seconds that counts when it is made beside nodes from .. to - 1: the least price of the channel
 * there, 1 for moves between nodes */
double plan_share(const struct plan *, int from, int to);

/* seconds that the prices ask for a tensor of so many bytes in fast memory at nodes from .. to - 1 */
double plan_rent(const struct plan *, uint64_t bytes, int from, int to);

/* slow to fast memory, of the pools */
static inline double plan_ratio(const struct plan *p) { return (double)p->slow_bytes / (double)p->fast_bytes; }

/* by tensor: parameters that it keeps in slow memory; the caller frees */
bool *plan_offloaded(const struct plan *, const struct graph *);

/* the stay of a tensor at a node in a tier, NULL if it has none */
const struct stay *plan_find(const struct plan *, int tensor, enum plan_tier, int node);
#endif
