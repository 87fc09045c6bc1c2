/* peer.h - other people's libraries and compilers on our problems, one process each, timed in turn.
 *
 * A peer is compiled from a small source that travels in the program (lib/loop/guest/), against the installed
 * package.  Every problem starts a process for each peer; they share the operands, run when told to, and wait
 * otherwise, so that environment variables, thread pools and crashes of one do not touch another.  All take turns in
 * rounds: a machine's clock may change by a quarter in between, so results are of ratios within rounds. */
#ifndef MILLRACE_PEER_H
#define MILLRACE_PEER_H
#include "loop/code/evaluate.h"
#include "measure/stats.h"

extern const char peer_names[];                          /* "openblas|openblas-core|...", "ours" is one of them */

struct peer_result {
    bool checked;
    double seconds;                                      /* the least of the first that has any, times ratio */
    struct interval ratio;                               /* of seconds over the first's: the median, 95 %; or inf */
    const char *why;                                     /* NULL, or why there is no time */
};
struct peers;
struct peers *peers_open(const char *const *names, int n, int rounds, int runs,
                         enum isa of_ours);              /* dies at an unknown name */
const char *peer_missing(const struct peers *, int i);   /* NULL, or what to install */

/* result of each peer for the problem; `tree` is what "ours" runs.  Results stay until the next call. */
const struct peer_result *peers_time(struct peers *, const struct problem *, const struct nest *tree);
void peers_close(struct peers *);

/* sizes in the order of the kind's text; of convolutions then zeros above, below, left and right, groups, dilation */
enum { PEER_GROUPS = 12, PEER_DILATION, PEER_SIZES = 16 };
int peer_sizes(const struct problem *, long size[PEER_SIZES]);   /* how many the kind has */
/* the kind of convolution that a nest is, and its sizes; NULL and nothing: none, or not so that it shows */
const char *peer_windows(const struct problem *, long size[PEER_SIZES]);
#endif
