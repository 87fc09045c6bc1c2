/* walk.h - between the files that make a plan: the present place in the nest, and what each of them decides there. */
#ifndef MILLRACE_WALK_H
#define MILLRACE_WALK_H
#include "loop/code/plan.h"

struct plan_walk {
    struct loop_plan *q;
    const struct plan_part *of;
    int now[BASES], depth[2], live, held;                /* present views; where an input is packed, or -1; loops, */
    bool marked[2], packed[2];                           /* because a mark says so: only to have it together */
    bool finish;                                         /* something follows the sum, by a call yet to come */
    struct plan_range at;
    bool apart;                                          /* groups are not side by side */
    bool mixed;                                          /* a row reads zeros at one place and not at another */
    int64_t panel, line;                                 /* bytes to the held input's next one, to lines of it: */
    int lines;
    bool asked;                                          /* is each panel asked for while the one before it is used? */
    struct tile_shape shape;                             /* of AMX's tiles now; no rows: unknown */
    const char *why;
};
enum { Q4_MORE = 4 };                                    /* weights, a scale, one of A, a mask or what bits are */
struct tile_sum { int var; int32_t n, unit; };                /* a reduction: n steps of `unit` elements */

/* the rows of a tile: which of them are at which step of each rim */
struct rim_rows { int n[RIMS]; int32_t at[RIMS][PLAN_ROWS], least[RIMS], most[RIMS]; uint32_t rows[RIMS][PLAN_ROWS]; };

/* nodes.c */
struct walk_node *walk_node(struct plan_walk *, enum walk_kind, int32_t n);
void walk_move(struct plan_walk *, int var, int64_t steps, bool with_c);
int walk_open(struct plan_walk *, int32_t n);                 /* a loop; -1: one pass is none */
void walk_shut(struct plan_walk *, int at);
void walk_shut_moved(struct plan_walk *, int at,
                     int lost); /* a last MOVE goes behind the end; where `lost` is is lost */
int walk_hold(struct plan_walk *, int base, int32_t to);
int walk_change(struct plan_walk *, const struct carry_change *, double elements, bool moved);
int walk_view(struct plan_walk *, const struct plan_view *);       /* -1: there are too many */
int tile_number(struct loop_plan *, const struct tile *);
void walk_shift(struct plan_walk *, int v, int32_t by, int32_t n,
                int32_t apart);                               /* the block begins so much further on */
int32_t walk_common(int32_t a, int32_t b);                    /* the greatest divisor of both */

/* lie.c */
bool access_plain(const struct problem *, int t);        /* one variable a dimension, so that it can be transposed */
bool access_raised(const struct loop_plan *, int t);          /* are its bytes signed where they are to be unsigned? */
bool access_transposed(const struct loop_plan *, int t);
enum carry_store access_store(const struct loop_plan *, int t, bool half);

/* fits.c */
int64_t tile_block_rows(const struct plan_walk *, const int32_t *e, int *vectors);
bool tile_fits(const struct plan_walk *, const int32_t *e);
bool tile_far(const struct plan_walk *, enum plan_base, double bytes);   /* has this input as many? */
int tile_streams(const struct plan_walk *, enum plan_base);      /* rows of it to read at a time; 0: as many as fit */
int32_t tile_block(const struct plan_walk *, int d, const int32_t *e);        /* block of loop d */

/* access.c: roles of the tensors, how they lie */
const char *access_choose(struct plan_walk *, const struct nest *);
void access_lay(struct plan_walk *);

/* tile.c */
int tile_lines(const struct plan_walk *, const int32_t *e);      /* that a row of the held input's panel takes */
/* Is the next panel of the held input to be asked for, by the tiles that read one at this depth? few: no more than a
 * row has lines */
bool tile_asks(const struct plan_walk *, int depth, const int32_t *e, bool few);
void tile_put(struct plan_walk *, int d, const int32_t *e, bool first, bool last);
void tile_sums(struct plan_walk *, struct tile *, const struct rim_rows *, const struct tile_sum *, int n,
               int64_t budget);
int tile_reductions(const struct plan_walk *, int d, const int32_t *e, struct tile_sum *, bool *unroll);

/* pack.c */
void pack_lay(struct transposition *, const struct problem *, int t, int fast, int32_t panel, const int32_t *size,
              int64_t stride[NEST_VARS]);
struct packed_block { int at, keep; };                        /* the node it began at, the view before */
struct packed_block pack_begin(struct plan_walk *, int t, int d, const int32_t *e);
void pack_end(struct plan_walk *, int t, struct packed_block);
int pack_depth(const struct plan_walk *, int t); /* of a transposition block by block; 0: before the nest */
void pack_weights(struct plan_walk *);

/* finish.c */
void finish_choose(struct loop_plan *);
bool finish_here(const struct plan_walk *, int d, const int32_t *e, bool fit);
void finish_put(struct plan_walk *, const int32_t *e);

/* rims.c: zeros around A that are left out */
bool rims_find(struct loop_plan *, int64_t dense[NEST_VARS]);  /* false: A cannot be taken as it lies */
void rims_rows(struct rim_rows *, const struct loop_plan *, const struct tile_row *, int n);
bool rims_inside(const struct loop_plan *, const struct plan_range *, const struct rim_rows *);
uint32_t rims_out(const struct loop_plan *, const struct plan_range *, const struct rim_rows *, bool *mixed);
bool rims_move(const struct loop_plan *, int v);
int32_t rims_same(struct plan_walk *, int v, int32_t at, int32_t full, const int32_t *e);      /* blocks of one kind */
bool rims_few(struct plan_walk *, int v, int32_t step, const int32_t *e);

/* amx_plan.c: tiles of tiles */
const char *amx_choose(struct plan_part *);
void amx_put(struct plan_walk *, int d, const int32_t *e, bool first, bool last);
void amx_before(struct plan_walk *, int d, const int32_t *e); /* the shape of a loop's tiles, where it has one */

/* groups.c */
bool groups_choose(struct loop_plan *, const struct nest *);
const char *groups_order(const struct plan_walk *, const int32_t *e, struct tile_sum *, int n, int64_t *budget);

/* chain.c: two contractions */
const char *chain_choose(struct plan_walk *, const struct nest *);
struct chain_block { int change, skip, hold[2]; };       /* nodes that it began at */
struct chain_block chain_begin(struct plan_walk *, const int32_t *e, bool first);
void chain_extents(const struct loop_plan *, int i, const int32_t *e, int32_t *block);         /* of side i */
struct plan_walk chain_side(struct plan_walk *, struct chain_block *, int i, const int32_t *e, int32_t *block);
void chain_end(struct plan_walk *, const struct chain_block *, int i);
#endif
