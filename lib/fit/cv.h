/* cv.h - cross-validation by groups: models fitted without a group and judged on it.
 *
 * A score holds sums, not ratios, so that the scores of groups, made wherever, add up to those of all. */
#ifndef MILLRACE_CV_H
#define MILLRACE_CV_H
#include "fit/train.h"

/* rows; rows right, right by the commonest class of the training groups, by that of the group itself; squared errors of
 * the model and of the training mean */
struct cv_score { double n, correct, majority, own, sse, base; };

struct cv {
    const struct data *data;
    bool wanted[MODEL_KINDS];                  /* committee: the mean of the wanted among logistic, mlp, boost */
    bool number;                                         /* the target is a number, not a class */
    bool surest;                                         /* not their mean: the surest of a committee decides */
    uint64_t seed;
};

/* score[k] of every wanted kind: fitted, scaling included, on all groups but this one, judged on this one */
void cv_fold(const struct cv *, uint32_t group, struct cv_score score[MODEL_KINDS]);
void cv_add(struct cv_score *to, const struct cv_score *);
#endif
