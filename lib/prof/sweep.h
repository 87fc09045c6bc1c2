/* sweep.h - which things are active at the same instant, and for how long: the overlap of any number of keys.
 *
 * Half-open intervals [start, end) in ns come in order of start; the sweep keeps a heap of their ends, so memory is
 * that of what is open at once plus one entry per distinct set.  A set is known by a Zobrist hash and compared in full,
 * so there is no limit on keys.  A key that overlaps itself counts once.  Operations of one thread nest: only the
 * innermost is active, the one with the latest start, then the shorter, then the later in the input.  (The totals are
 * those of RL-Scope's overlap, Gleeson et al., MLSys 2021, section 3.3, without its limit of 64 keys.) */
#ifndef MILLRACE_SWEEP_H
#define MILLRACE_SWEEP_H
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

enum key_class { KEY_PHASE, KEY_OP, KEY_CAT, KEY_CLASSES };
enum { KEY_NONE = UINT32_MAX };
enum { SWEEP_HOOKS = 16 };

struct cell {                                            /* one set of keys; names joined by +, see set_join */
    const char *name[KEY_CLASSES];
    int64_t total, lo, hi;                               /* time with exactly this set; first and last instant of it */
    uint64_t runs;                                       /* maximal stretches */
    /* by hook: intervals that began out of, into this set; or NULL */
    const uint64_t *before, *begun;
};
struct transition {                                      /* the set changes from one to another, `count` times */
    const char *from[KEY_CLASSES], *to[KEY_CLASSES];     /* "" where nothing is active */
    uint64_t count;
};

typedef struct sweep sweep;
sweep *sweep_new(bool transitions);
uint32_t sweep_key(sweep *, enum key_class, str name);   /* name is not empty */
/* Add an interval with start < end; key and also (KEY_NONE: no second key) are both active in it.  False, and nothing
 * added, when start lies before that of an earlier call. */
bool sweep_add(sweep *, int64_t start, int64_t end, uint32_t key, uint32_t also);
/* innermost one of `thread` wins */
bool sweep_add_op(sweep *, int64_t start, int64_t end, uint32_t key, uint32_t thread);
uint64_t sweep_misnested(const sweep *);                 /* operations cut because they outlived the one around them */
/* the interval just added began by a recorder's hook < SWEEP_HOOKS */
void sweep_hook(sweep *, uint32_t hook);
void sweep_finish(sweep *);                              /* close what is open; then the two below */
size_t sweep_cells(sweep *, const struct cell **);       /* sorted by phase, operation, category: sets in byte order */
const struct cell *sweep_idle(sweep *);                  /* the empty set, for its hooks */
size_t sweep_transitions(sweep *, const struct transition **);
void sweep_free(sweep *);

/* Sets as text: members joined by '+'; a '+' or '\' inside a member is escaped by '\'. */
void set_add(struct buf *, str member);                  /* appends a member, with '+' before it unless b is empty */
bool set_next(str *rest, struct buf *member);            /* takes the first member off rest; false at the end */
int set_cmp(str a, str b);                               /* order of sets: member by member, fewer members first */
#endif
