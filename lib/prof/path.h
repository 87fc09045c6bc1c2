/* path.h - tables from a dag: the longest path, and what a faster part would bring.  See prof-path and prof-whatif. */
#ifndef MILLRACE_PATH_H
#define MILLRACE_PATH_H
#include "prof/dag.h"

void path_write_sums(csvw *, struct dag *, struct event_table *);
/* joined: pieces of one thread that touch are one, of which nothing else is said */
void path_write_pieces(csvw *, struct dag *, const struct event_table *, bool joined);
void path_write_all(csvw *, struct dag *, const struct event_table *);

/* Share of the run that lies on its critical path and is waits of which nothing says what they were for.  Dies above
 * `most`, with what they are called. */
double path_unexplained(struct dag *, const struct event_table *, double most);

struct whatif {
    int64_t before, after;                               /* ns of the run as it was and as it would be */
    int64_t selected;                                    /* ns of all threads and streams that get faster */
    int64_t low, high;                                   /* of after, 95 %, from the iterations; INT64_MIN: not known */
    double naive;                                        /* speed-up if nothing overlapped: all of selected is saved */
    double unexplained;                                  /* see path_unexplained */
    size_t iterations, pieces;                           /* pieces: how many of them get faster */
};
/* Is the table cut into pieces of the innermost function, so that a part by name is not all that runs under it? */
bool whatif_is_cut(const struct event_table *);
/* names, operations and categories most like a pattern that matched nothing: at most n, then NULL */
const char **whatif_near(const struct event_table *, const char *pattern, size_t n);
/* An iteration is the operation that repeats at least five times on one thread and takes longest.  The interval is that
 * of the sum of as many iterations (Student's law over their changes). */
void whatif_all(struct whatif *, struct event_table *, const struct part *, size_t n, double confidence,
                double most_unexplained);
#endif
