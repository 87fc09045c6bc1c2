/* mover.h - the moves of a plan for PyTorch, made by two threads that never hold Python's lock.
 *
 * One thread writes what autograd saved to a file, in the order in which it was saved, the other reads it back in the
 * order in which the recorded step used it, as far ahead as the limit allows; both by direct input and output.  The
 * account of what saved tensors take is kept here.  What was written is freed by the thread that trains, when it asks
 * mover_written(): it holds the tensors.
 *
 * A pass is one forward and backward run; a block is one storage that it saved, by its number in the plan.  Functions
 * return 0, or a positive errno when a copy failed; ROOM_LATER means: call mover_written() until it is NULL, and again.
 * mover_keep, mover_fetch, mover_peek, tier_write and tier_read may wait.
 *
 * Movers, passes and blocks may be given up in any order (Python's collector, and its end, know none): what is still
 * used stays.  ECANCELED: the threads have ended, or are those of the process that this one was forked from; in such a
 * process everything else does nothing. */
#ifndef MILLRACE_PLACE_TORCH_MOVER_H
#define MILLRACE_PLACE_TORCH_MOVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROOM_LATER = -1 };
struct mover;
struct pass;
struct block;

int tier_write(int fd, int64_t offset, const char *from, size_t bytes);  /* whole pages are written */
char *tier_read(int fd, int64_t offset, size_t bytes, bool aside, int *error);   /* of the heap; the caller frees */

/* order[norder]: what the backward pass needs, in turn: a block's number, or ~k, group k that runs again and saves
 * workspace[k] bytes once more meanwhile.  Copied.  cap: of the heap, or of the process where it is not preloaded. */
struct mover *mover_new(int fd, uint64_t limit, uint64_t cap, const int32_t *order, int norder,
                        const uint64_t *workspace, int ngroup, int nblock);
void mover_halt(struct mover *);                         /* ends the threads; what waits for them gets ECANCELED */
void mover_stop(struct mover *);                         /* and gives the mover up */
uint64_t mover_resident(struct mover *);                 /* bytes that saved tensors take */
uint64_t mover_most(struct mover *);
double mover_stalled(struct mover *);                    /* seconds waited */

struct pass *pass_new(struct mover *);
void pass_free(struct pass *);
void pass_begin(struct pass *);                          /* the backward pass begins: reads may */

/* Takes room for a block, and writes it to `offset` of the file, unless that is negative. */
int mover_keep(struct pass *, int number, char *at, uint64_t bytes, int64_t offset, struct block **);
struct block *mover_written(struct mover *);             /* one that need not be held any more, or NULL */
/* Waits until the block was read back; *at is freed by the caller, once: it is NULL the next time. */
int mover_fetch(struct block *, char **at);
int mover_peek(struct block *, char **at);               /* reads it, but it stays away; mover_extra(-bytes) with *at */
void block_drop(struct block *);                         /* not needed any more; waits while it is written */

void mover_grant(struct pass *, int group);              /* the group runs again now */
void mover_settle(struct pass *, int group);             /* and is over */
void mover_extra(struct pass *, int64_t bytes);          /* it takes so much more, or no longer does */
#endif
