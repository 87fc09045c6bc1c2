/* moves.h - larger steps for a policy, each a few actions of nest.h, and what a policy that takes them sees.
 *
 * A tile of a convolution takes some twenty actions, most of them to carry a loop past others; no reward tells them
 * apart.  Options (Sutton, Precup, Singh, Artificial Intelligence 112, 1999) make it one step:
 *   up down swap_up swap_down vectorize   the actions themselves
 *   outermost, innermost   the loop at the cursor, past all others; the cursor goes with it, or to what took its place
 *   tile_N     split_N and the inner part innermost; the cursor stays; of variables of the result only
 *   block_N    split_N and the outer part outermost, with the cursor
 * Loops of one iteration are put innermost before the first move, and are then neither passed nor visited.  Steps that
 * change nothing, or that split a loop of N or less, are illegal.
 *
 * What is seen is the same for all kinds of problems: the loops around the cursor, each in its place relative to it,
 * and the terms of the model for the whole nest. */
#ifndef MILLRACE_MOVES_H
#define MILLRACE_MOVES_H
#include "loop/code/evaluate.h"

enum { MOVE_OUTERMOST = 1 << 17, MOVE_INNERMOST, MOVE_TILE = 1 << 18, MOVE_BLOCK = 1 << 19 };  /* the last two: + N */
enum { MOVE_ACTIONS = 256, MOVES = 27 };
extern const int moves_all[MOVES];

struct moved { int action[MOVE_ACTIONS], n; };           /* the actions that a move was */
const char *move_name(int move, char b[40]);             /* actions of nest.h are moves too */
int move_of(str name);                                   /* -1: no such move */
void move_begin(const struct problem *, struct nest *, struct moved *);     /* loops of one iteration innermost */
bool move_do(const struct problem *, struct nest *, int move, struct moved *);   /* false: illegal, nest unchanged */

/* SEEN_LOOPS slots of SEEN_SLOT for the loops around the cursor, which is slot SEEN_CURSOR; how evenly the extent of
 * the cursor's loop goes into each size of tile; the terms. */
enum { SEEN_LOOPS = 12, SEEN_CURSOR = 5, SEEN_SLOT = 24, SEEN_TILES = 14, SEEN_TERMS = 16,
       SEEN_ALL = SEEN_LOOPS * SEEN_SLOT + SEEN_TILES + SEEN_TERMS };
struct terms { float f[SEEN_TERMS]; int8_t vector_var; double seconds; };   /* by the model; infinite: no code */
struct terms moves_terms(const struct problem *, const struct nest *, enum isa, bool prepared);
void moves_seen(const struct problem *, const struct nest *, enum isa, const struct terms *, float f[SEEN_ALL]);
#endif
