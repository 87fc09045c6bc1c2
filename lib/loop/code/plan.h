/* plan.h - what a kernel does, as data: loops, moves of pointers, tiles, bodies, calls.  No registers, bytes or text.
 *
 * A plan is a list of nodes in the order of execution; LOOP, TILE, HOLD and SKIP end at an END.  Inside a tile its
 * accumulators live; outside none do, so that calls save no vectors.  MOVE adds bytes to each base; two that follow
 * each other are one.  Everything that has a cost is a node, every choice is a field: the cost (cost.c) and the
 * instructions (lower.c) read the same, so that what is printed is what runs.
 *
 * How a nest is read (after LoopNest, Wasti et al. 2022): a variable at unit stride is the vector; walking in from the
 * outermost loop, the first depth at which the result's block fits the registers is the register tile.  All of the
 * result below that depth is in accumulators, reductions below it are bodies and loops around them, loops above it are
 * loops.  A block that would not fit even innermost is cut to fit. */
#ifndef MILLRACE_PLAN_H
#define MILLRACE_PLAN_H
#include "loop/code/carry.h"
#include "loop/code/target.h"

/* the first three are the tensors' numbers; GROUP: scales of weights of 4 bits, in B; SECOND is V */
enum plan_base { BASE_A, BASE_B, BASE_C, BASE_BIAS, BASE_RESIDUAL, BASE_GROUP, BASE_SECOND, BASES };
enum { PLAN_VIEWS = 80, PLAN_ROWS = 32, PLAN_DEPTH = 48, PLAN_TILES = 4,
       TILE_SIDE = 16, TILE_BYTES = TILE_SIDE * TILE_SIDE * 4 };

enum walk_kind { NODE_LOOP, NODE_TILE, NODE_BODY, NODE_MOVE, NODE_CALL, NODE_HOLD, NODE_SKIP, NODE_SHAPE, NODE_END };
enum plan_call { CALL_CHANGE, CALL_FINISH, CALL_BETWEEN, CALL_HIDDEN };
enum { HOLD_SECOND = 3 };                                /* or the number of scratch */
struct walk_node {
    uint8_t kind, nvar, base;                            /* CALL, HOLD: of that base */
    uint8_t call;                                        /* CALL: enum plan_call */
    bool rest;                                           /* BODY: the last lanes, or steps, of a reduction */
    int32_t n;                                           /* LOOP: passes; TILE: its number; CALL, SKIP: change;
                                                            HOLD: where to; SHAPE: its number;
                                                            END: where it began; BODY: its first in out, or -1 */
    union {
        int64_t by[BASES];                               /* MOVE: bytes */
        struct { uint8_t var[NEST_VARS]; int32_t times[NEST_VARS]; };    /* BODY: unrolled, the slowest first */
    };
};

struct plan_view {                                            /* a tensor as a part of the code sees it */
    int64_t stride[NEST_VARS];                           /* bytes */
    int32_t panel;                                       /* the vectors' variable lies in panels so wide; 0: in rows */
    bool half;                                           /* two bytes an element, that become floats */
    int64_t panel_bytes, sums;                           /* bytes to what sums begin at, behind each panel; or 0 */
};

struct tile_shape { uint8_t rows, columns, rest; };      /* of AMX: of C; what is left of the steps of the sum */
enum { PLAN_LINE = 64 };                                 /* bytes that are prefetched at a time */
enum plan_start { START_ZERO, START_LOAD, START_SUMS };
struct tile {                                            /* a block of C in registers */
    uint8_t view[3], part, start;                        /* of A, B, C; of which contraction; enum plan_start */
    bool last, late, lanes, add;                         /* what follows is done; C is added at the end; the lanes of an
                                                            accumulator are summed, to what C has */
    int32_t e[NEST_VARS];                                /* its extents; 1 of reductions */
    int16_t nrow, nv, tail;                              /* vectors in a row; lanes of the last one, 0 when full */
    int16_t hold, casts;                                 /* vectors held at once; broadcasts alive at once */
    int16_t chains;                                      /* sums along lanes: accumulators of each, added at the end */
    int32_t ahead, next;                                 /* bytes to the row of the held input that is prefetched, to
                                                            lines of its next panel; 0 */
    int16_t lines;                                       /* so many of each row of that */
    struct tile_shape shape;                             /* AMX: of its tiles, the first at this row and column */
    int32_t at[2];
};

enum { RIMS = 3 };
struct rim {                                             /* an index of A with zeros: how a step moves it */
    int32_t step[NEST_VARS], before, size;
    int8_t n, var[NEST_VARS];                            /* the variables that do */
};
struct plan_range { int32_t low[NEST_VARS], high[NEST_VARS]; };       /* where the present block may begin */
/* bytes from where the tile begins; steps of each rim */
struct tile_row { int64_t at[BASE_SECOND]; int32_t rim[RIMS]; };

struct transposition {                                   /* of a tensor to one with another variable fastest */
    bool needed;
    int var[NEST_VARS + 1];                              /* of change.size and so on, before some were merged */
    struct carry_change change;
    int64_t elements;
    int32_t panel;                                       /* of the variable that is fastest; 0: none */
    int64_t sums;                                        /* of signed bytes: elements to what the sums begin at */
};

struct plan_change { struct carry_change about; double elements; bool moved; };      /* of a call; moved: transposed */

/* Attention of bf16 by the unit for bf16, which takes its scores after softmax as bf16, too: where it is here; in
 * code for elsewhere, too; or as floats all the same. */
enum kernel_unit { UNIT_HERE, UNIT_ALWAYS, UNIT_NEVER };
struct plan_ask {                                        /* a plan for whom */
    enum isa isa;
    bool whole, add;                                     /* inputs are transposed before the nest; C += A B */
    bool rough;                                          /* as if A had no zeros around it: to rank nests */
    bool rows;                                           /* weights are in panels of two vectors, whatever the tile */
    bool calls;                                          /* nothing follows in registers: code is shorter */
    enum kernel_unit unit;
};

struct plan_part {                                            /* a contraction: the problem's, or one of two */
    const struct problem *p;
    const struct loop *loop;
    int32_t inner[NEST_LOOPS];
    int n, vec, row, step;                               /* loops; the variable in the vectors; of AMX's rows, steps */
    enum plan_base held, cast;                                /* the input in the vectors, the one that is broadcast */
    bool both, lanes;                                    /* that has it too; it is a reduction: lanes are summed */
};

struct plan_groups {                                     /* of channels, side by side in a vector; see groups.c */
    const struct problem *of;                            /* as it was */
    int each, group, column, channel;                    /* lanes of one, 0: there are none; variables */
    struct carry_change weights;
};

struct loop_plan {
    const struct problem *p;                             /* of pairs: in elements of two numbers; or of groups */
    const struct target *target;
    struct plan_ask ask;
    enum carry_type type;                                /* of the products */
    int lanes, bias, step;                               /* variables: the bias is along; pairs are along */
    int64_t scratch[4];                                  /* bytes: of A and B and C, changed; S, rows of softmax, V */
    int64_t origin;                                      /* bytes from A's element 0 with zeros to what is in memory */
    int64_t group_at, group_row;                         /* bytes from B to these, from a scale to its zero point */
    int64_t second_at;                                   /* V, changed, so many floats on in scratch[3]; or 0 */
    bool lies, given, pairs, cast, finish, simple;       /* A with zeros as it is; B packed before; by the unit; .. */
    bool walked[2];                                      /* an input is packed as the nest goes */
    bool staged;                                         /* AMX: what follows is done on tiles in scratch[3] */
    int rows, vectors;                                   /* the largest tile */
    struct plan_groups groups;
    int split;                                           /* loops that two contractions have in common, or -1 */
    int64_t s_stride[NEST_VARS], s_elements;             /* a block of S, in elements */
    int nview, nchange, nrim, nshape;
    struct rim rim[RIMS];
    int64_t seen[4][NEST_VARS];                          /* strides of elements, as the model of caches sees them */
    double before_moved, before_copied, before_far;      /* elements changed before the nest; those that leave caches */
    /* from here on only what is counted above is set */
    int n, ntile, nout, depth, holds;                    /* depth: loops inside each other at most; holds: so */
    struct walk_node *node;
    struct tile *tile;                                   /* each once */
    uint32_t *out;                                       /* rows left out, of each step of each BODY that has any */
    struct plan_change *change;
    int most_nodes, most_tiles, most_out, most_changes;
    struct transposition before[3];                      /* of all of a tensor, before the nest, of C after it */
    struct plan_view view[PLAN_VIEWS];                        /* the first: each base as it is outside of all */
    struct tile_shape shape[TILE_SIDE * 2];
    struct plan_part part[3];                                 /* the problem; where there are two, those of it */
    struct problem paired, side[2];                      /* of pairs, or groups side by side */
    struct loop side_loop[2][NEST_LOOPS];
};

/* NULL, or why this nest has no plan.  Zero-initialise before the first call; arrays are reused. */
const char *loop_plan_make(struct loop_plan *, const struct problem *, const struct nest *, const struct plan_ask *);
void loop_plan_free(struct loop_plan *);
void loop_plan_print(struct buf *, const struct loop_plan *);      /* a line a node */

bool finish_vector(const struct problem *);              /* does one along C follow the sum: a bias, a scale? */
const struct plan_view *tile_view(const struct loop_plan *, const struct tile *, int base);
int64_t tile_vector(const struct loop_plan *, const struct tile *, int base, int j); /* bytes to vector j of a row */
/* groups of channels side by side, if it has any: the problem then, and how; false: none */
bool groups_merge(const struct problem *, int lanes, struct problem *, struct plan_groups *);
int tile_rows(const struct loop_plan *, const struct tile *,
              struct tile_row *); /* equal places in the held input together */

/* what runs: vectors, wherever the operand is; of AMX tiles */
#define PLAN_SEEN 0.5                                    /* share of the blocks of a masked S that are computed */
struct count { double mac, load, spread, store, calls; };
struct plan_cost { double cycles, moved, copied, packs; struct count count; };
struct loop_machine;
/* data being near; elements changed by calls, and calls of that */
void loop_plan_count(const struct loop_plan *, const struct loop_machine *, struct plan_cost *);
#endif
