/* folds.h - the tables of cross-validation by groups: ratios of all folds, sums of one, sums of many made into the
 * ratios of all.  Columns: see the help of fit-cv.  To standard output; each returns the exit status. */
#ifndef MILLRACE_FOLDS_H
#define MILLRACE_FOLDS_H
#include "fit/cv.h"

int folds_all(const struct cv *, const struct intern *groups);
int folds_one(const struct cv *, str name, uint32_t group);
int folds_pool(char **files, bool number);               /* dies at a row that is no fold, or comes twice */
#endif
