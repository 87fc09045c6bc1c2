/* pairs.h - call sites with features and rewards, as the study's tools wrote them.
 *
 * Feature pairs, a list of (FEATURES REWARD?): FEATURES = ((metadata (PATH)) (int_features ()) (numeric_features
 * ((NAME NUMBER) ...)) (bool_features ((NAME BOOL) ...))), metadata may be absent; REWARD = ((inline (((immediate
 * X) (long_term Y)))) (no_inline (Z))), either side may be (), all of it (REWARD) or ().  Reward dumps are lists of
 * REWARD, with or without a (path P) in front.  Every pair of a file must have the same names in the same order. */
#ifndef MILLRACE_INLINE_PAIRS_H
#define MILLRACE_INLINE_PAIRS_H
#include "base/str.h"
#include "tree/sexp.h"

struct reward { double immediate, long_term, no_inline; };   /* NAN: not known */
struct pair { uint32_t program, site; struct reward reward; };     /* texts; site may be the empty text */

struct site_pairs {
    struct intern numeric, flag, text;                   /* names of the columns; programs and sites */
    struct pair *pair;
    double *x;                                           /* n x (numeric.n + flag.n), row-major, flags 0 or 1 */
    size_t n, cap, cap_x;
};

void site_pairs_read(struct site_pairs *, const struct sexp *, str program);          /* appends; dies at file:line */
/* rewards only; site is the path, if any */
void site_pairs_read_dump(struct site_pairs *, const struct sexp *, str program);

/* What the study did before training: numeric columns with population deviation above 1e-4 are kept and
 * standardised, flags with mean above 1e-4 are kept as they are.  One entry per column, numeric first; over all
 * rows. */
struct preparation { bool kept; double mean, deviation; };
void site_pairs_prepare(const struct site_pairs *, struct preparation *);

enum label { LABEL_NEITHER, LABEL_INLINE, LABEL_APPLY, LABELS };     /* "doesn't matter" first, as in the study */
extern const char *const label_names[LABELS];
enum label label_lasso(struct reward);                   /* both sides must be known */
enum label label_ridge(struct reward, double tau);
#endif
