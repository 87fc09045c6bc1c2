/* dag.h - what had to wait for what: the pieces of a run, their dependences, the longest path, and the run replayed.
 *
 * Nodes are stretches in which a thread or a stream of the GPU did one thing; they cover each thread from its first row
 * to its last, gaps too.  A node starts when all it depends on is done, each with its lag, and takes its work.
 * Edges:
 *   run      the stretch before it on the same thread
 *   launch   a GPU row after the start of the call with the same link; stream: after the row before it on its stream
 *   event    a GPU row whose stream waited for another's event, after the last row there that was launched before it
 *   sync     a CUDA or HIP call that waits, or a copy that is not asynchronous, after the last GPU row that ended in it
 *   link     a row of category Waiting after the row with the same link in another thread (queue, pipe, lock, join)
 *            or a row of kind link with cat take (peek), after the post of its key, see join.h; a wait for the GIL,
 *            after who had it
 *   guess    a wait or gap without one, after the stretch of another thread that ended last before it did: the one
 *            that may have woken it; gaps look in their own process only, and neither believes a wake-up that took
 *            longer than 1 ms or a tenth of the wait, but for gaps of a thread that has mostly gaps and waits for work
 *   collective  a kernel of communication: what is left of it when the last rank has come, after that; until then it
 *            waits.  Kernels of one name in several processes belong together if they ran at the same time
 * A wait that found what it waited for has no work of its own; where that was there before, it keeps its length and
 * depends on it nevertheless, since a replay may turn that round; one that found nothing (sleep, a device, a peer that
 * was not recorded) keeps its length whatever happens.  Of a node's edges the last gets the lag that is missing, so
 * that an unchanged replay gives the observed times to the ns and the longest path is as long as the run.
 *
 * After Yang and Miller, Critical path analysis for the execution of parallel and distributed programs, ICDCS 1988; the
 * replay is that of Coz (Curtsinger and Berger, SOSP 2015) made after the run instead of in it: nothing is slowed down,
 * so it needs no second run, and it sees what waits on the GPU, but not that threads share cores or caches. */
#ifndef MILLRACE_DAG_H
#define MILLRACE_DAG_H
#include "prof/events.h"

enum edge_why {
    EDGE_RUN, EDGE_LAUNCH, EDGE_STREAM, EDGE_SYNC, EDGE_LINK, EDGE_GUESS, EDGE_COLLECTIVE, EDGE_EVENT, EDGE_WHYS
};
extern const char *const edge_why_name[EDGE_WHYS];
enum { NODE_NONE = UINT32_MAX };
enum { WAIT_NOT, WAIT_GPU, WAIT_THREAD, WAIT_ALL };

struct dag_node {
    int64_t start, end;                                  /* as observed */
    int64_t work;                                        /* ns it needs by itself: end - start, or 0 of a wait */
    int64_t now;                                         /* the same in the last replay */
    int64_t release;                                     /* it starts no earlier; INT64_MIN: its edges say when */
    uint32_t proc, tid, cat, op, name;                   /* numbers in the table's text; cat 0: a gap */
    uint32_t edge, edges;                                /* its edges, see dag_seal */
    uint64_t selected;                                   /* a bit for each part that it belongs to */
    bool gpu, unexplained;                               /* unexplained: a wait for something that is not known */
    uint8_t wait;                                        /* of the same end, one that is waited for comes first */
};
struct dag_edge { uint32_t from, to; enum edge_why why; int64_t lag; };
struct dag_walk { int64_t *finish; uint32_t *path, *via; size_t n; };   /* see dag_replay, dag_path */
struct dag {                                           /* zero-initialise */
    struct dag_node *node;
    struct dag_edge *edge;
    uint32_t *order;                                     /* nodes, each after those it depends on */
    size_t n, nedge, cap, edge_cap;
    int64_t start, end;                                  /* of the run */
    uint64_t left;                                       /* parts that a replay leaves as they are */
    uint64_t guessed, unexplained;                       /* waits and gaps by how their end was explained */
    struct dag_walk walk;                                /* of an unchanged replay, once somebody asked; or NULL */
    uint64_t joined, alone;                              /* collectives of several processes; kernels of just one */
};

/* What a replay makes faster: rows whose name, operation or category matches a pattern of fnmatch(3). */
enum { PARTS_MOST = 64 };
struct part { const char *pattern; double speed; enum { PART_ANY, PART_NAME, PART_OP, PART_CAT, PART_KINDS } of; };

/* From rows, which are sorted; n parts, at most PARTS_MOST, may be none.  With parts, what recording cost is taken out:
 * rows of category Profiler have no work, and others lose what the log says that each recorded call cost (rows of kind
 * proc and category cost), half of it in the call and half around it.  A part by name or operation is all that ran
 * under it on its thread; by category, what had that category. */
void dag_build(struct dag *, struct event_table *, const struct part *, size_t n);
/* The same by hand, for tests: nodes and edges added, then sealed.  Lags of an edge are taken as they are.  What a node
 * depends on ends before it does, or at the same time and waits less. */
uint32_t dag_node(struct dag *, const struct dag_node *);
void dag_edge(struct dag *, uint32_t from, uint32_t to, enum edge_why, int64_t lag);
void dag_seal(struct dag *);
/* of a GPU node the edge that was last gets what is missing until the observed start; a launch takes what most do */
void dag_set_lags(struct dag *);
void dag_free(struct dag *);
/* what is in order most often */
void dag_sort(void *v, size_t n, size_t size, int (*order)(const void *, const void *));

/* When each node ends if selected work takes 1/speed of its time; returns the end of the last.  finish: n times.  What
 * is less than a ns of a node goes to the next one, which of a thread lie one after the other. */
int64_t dag_replay(struct dag *, double speed, int64_t *finish);
/* Longest path and slack of the last replay: path is filled with nodes, last first, and its length returned; how each
 * got its place is in via, the edge's number or NODE_NONE.  slack: by how much a node may take longer before the run
 * does. */
size_t dag_path(const struct dag *, const int64_t *finish, uint32_t *path, uint32_t *via);
void dag_slack(const struct dag *, const int64_t *finish, int64_t *slack);
#endif
