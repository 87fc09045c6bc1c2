/* score.h - how well a model predicts rows whose answer is known.
 *
 * Classes: share of right answers, that of the most frequent class, mean negative logarithm of the probability of the
 * right one (a class that the model does not know has none).  Numbers: root mean square and mean absolute error, and
 * 1 - errors / deviations from the mean of these rows.  One pass; the mean and the squares by Welford's recurrence. */
#ifndef MILLRACE_SCORE_H
#define MILLRACE_SCORE_H
#include "fit/model.h"
#include "table/csvio.h"

struct score {
    const struct model *model;
    size_t n;
    size_t right;                                        /* classes */
    struct intern classes;
    size_t *count, cap;
    double loss;
    double mean, square, error_square, error;            /* numbers */
};

void score_add(struct score *, const double *x, const csv *, int target);    /* dies unless the answer is of its kind */
void score_write(const struct score *, csvw *);          /* header and one row; n > 0 */
#endif
