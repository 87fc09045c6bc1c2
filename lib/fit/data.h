/* data.h - a table of examples: features, a target that is a number or a class, a group; all rows in memory.
 *
 * Feature columns hold numbers or true / false.  Without a list of features every column is one, except the target, the
 * group and those ignored.  Lists are comma-separated names; * and ? match as in file names.  Classes are ordered by
 * name, groups by first appearance.  Bad values die with file, line and column. */
#ifndef MILLRACE_DATA_H
#define MILLRACE_DATA_H
#include "base/filter.h"
#include "base/str.h"
#include "table/csvio.h"

struct data_columns {
    const char *target, *group, *weight;                 /* NULL: none */
    struct list features, ignore;
    bool classes;                                        /* the target is a class */
};

struct data {
    size_t rows, cols;
    char *target;                                        /* its name, "" for none */
    char **feature;                                      /* cols names */
    double *x;                                           /* rows x cols, row-major */
    double *y;                                           /* rows; the class number for classes */
    int nclass;                                          /* 0: y is a number */
    char **class;
    uint32_t *group;                                     /* rows, 0 without a group column */
    double *weight;                                      /* rows; NULL without a column of weights */
    struct intern groups;
};

/* lists of names, or of patterns where nothing is called so: is the name on it?  the first on it that is none; NULL */
bool data_matches(const struct list *, str name, const struct intern *names);
char *data_unmatched(const struct list *, const struct intern *names);
struct data data_read(char **paths, const struct data_columns *);    /* paths as for csv_files */
double data_value(const csv *, int col);                 /* a finite number, or true / false as 1 / 0; dies otherwise */
void data_free(struct data *);
#endif
