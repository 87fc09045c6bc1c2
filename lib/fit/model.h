/* model.h - fitted models as readable s-expressions, and what they predict.
 *
 *   (model KIND (target NAME) (classes C ...) (features F ...) (scale (mean M ...) (deviation D ...)) (weights ...))
 *
 * classes only when the target is one; a feature enters as (x - mean) / deviation.  weights by KIND:
 *   ridge lasso logistic  (OUTPUT bias w ...) ...              one list per class, or one named after the target
 *   mlp                   (layer (bias w ...) ...) ...           one list per unit; ReLU between layers
 *   boost                 (base b ...) (tree OUTPUT NODE) ...    NODE = value | (FEATURE threshold NODE NODE),
 *                                                                the first node for x <= threshold
 *   forest                the same; a prediction is the sum of all trees, of classes divided by their sum
 *   committee             (rule THRESHOLD CLASS) (model ...) ... mean of the members; CLASS when none passes THRESHOLD,
 *                                                                without CLASS the largest always; (rule surest): the
 *                                                                member whose largest output is largest decides alone
 *   constant              share of each class, or the mean
 * Outputs are probabilities for classes (ridge and lasso: scores fitted to 0 and 1), else one number. */
#ifndef MILLRACE_MODEL_H
#define MILLRACE_MODEL_H
#include "fit/boost.h"
#include "net/net.h"
#include "tree/sexp.h"

/* a row of a table of options */
#define MODEL_OUTPUT(output) { 'o', "out", STR, &(output), "FILE", "write the model there" }

enum model_kind {
    MODEL_RIDGE, MODEL_LASSO, MODEL_LOGISTIC, MODEL_MLP, MODEL_BOOST, MODEL_FOREST, MODEL_COMMITTEE, MODEL_CONSTANT,
    MODEL_KINDS
};
enum { MODEL_MAX_CLASSES = 64 };
extern const char *const model_kind_name[MODEL_KINDS];

struct model {
    enum model_kind kind;
    char *target;
    int nclass;                                          /* 0: the target is a number */
    char **class;
    size_t nfeature;
    char **feature;
    double *mean, *deviation;                            /* nfeature each */
    double *weight; /* linear kinds: outputs x (1 + nfeature); constant: outputs; boost: bases; mlp: its last layer */
    struct net *net;                                     /* mlp, but for that */
    struct tree *tree;                                   /* boost, forest: tree t scores output t % outputs */
    size_t ntree;
    struct model **member;                               /* committee */
    size_t nmember, **from;                              /* from[m][j]: place of the member's feature j among ours */
    double threshold;
    bool surest;
    int otherwise; /* class when no other passes the threshold; -1: the largest always */
    double *input;                                       /* scratch of predict: scaled features */
};

/* copies what it gets; all weights 0, all deviations 1 */
struct model *model_new(enum model_kind, const char *target, char **class, int nclass, char **feature, size_t nfeature);
struct model *model_read(const char *path);              /* dies at file:line when it is no model */
struct model *model_from(const struct sexp *, snode);
void model_write(const struct model *, sexpw *);
int model_save(const struct model *, const char *path);   /* to a file, NULL: stdout; EXIT_OK, or dies */
void model_add(struct model *committee, struct model *member); /* takes over; features are united; classes must agree */
/* room for the weights of an mlp: n widths, from features to outputs */
void model_net(struct model *, const int width[], int n, uint64_t seed);
int model_outputs(const struct model *);                 /* max(nclass, 1) */
/* x: nfeature values in our order, in the units of the table; out: outputs.  Not thread-safe. */
void model_predict(const struct model *, const double *x, double *out);
int model_choose(const struct model *, const double *out);           /* class number; the first of equals */
void model_free(struct model *);
#endif
