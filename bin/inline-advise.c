/* inline-advise - decide about inlining while clang compiles, by a model
 *
 * Usage: inline-advise [--model=FILE | --threshold=N] [--log=FILE] -- CLANG ...
 *
 * Runs the compiler command and answers its ML inliner's question about each
 * call, in its own order, with its own features (about 40 integers).  The
 * model comes from a fit-* filter; its features are looked up by name, its
 * classes are yes and no, or its number is taken as yes over 0.5.  Without a
 * model, --threshold inlines what LLVM's cost_estimate is below; without
 * either, nothing is inlined.  The compiler asks only about legal calls.
 *
 * FILE of --log gets a row per question: query, inline (yes, no), then the
 * features by name: the table to fit the next model to.
 *
 * Needs clang 17 or later (Debian 12: clang-19).  Exit: that of the
 * compiler; 1 when that never asks.
 *
 * Examples:
 *   $ inline-advise --log=q.csv -- clang-19 -O2 -c x.c
 *   $ inline-advise --model=m.sexp -- clang-19 -O2 -x ir prog.bc -o prog
 *   $ inline-advise -m share/policies/advise.model -- clang-19 -Oz -c x.c
 */
#include "base/filter.h"
#include "inline/advise.h"
#include "fit/model.h"
#include "measure/count.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *model_path, *log_path;
static double threshold = NAN;
static const struct opt options[] = {
    { 'm', "model", STR, &model_path, "FILE", "the policy" },
    { 0, "threshold", NUM, &threshold, "N", "without a model: inline where the cost estimate is below" },
    { 0, "log", STR, &log_path, "FILE", "write the questions and answers here" },
    { 0 } };

struct policy {
    struct model *model;
    size_t *from;                                        /* of each feature of the model: its place in the query */
    double *x;
    csvw *log;
};

static size_t feature_place(const struct query *q, const char *name)
{
    for (size_t i = 0; i < q->n; i++) if (str_is(q->name[i], name)) return i;
    die("the compiler has no feature '%s', which the model wants", name);
}

static void first_query(struct policy *p, const struct query *q)
{
    if (p->model) {
        p->from = xmalloc(p->model->nfeature + 1, sizeof *p->from);
        p->x = xmalloc(p->model->nfeature + 1, sizeof *p->x);
        for (size_t j = 0; j < p->model->nfeature; j++) p->from[j] = feature_place(q, p->model->feature[j]);
    }
    if (!p->log) return;
    csvw_names(p->log, "query,inline");
    for (size_t i = 0; i < q->n; i++) csvw_str(p->log, q->name[i]);
    csvw_end(p->log);
}

static bool decide(const struct query *q, void *closure)
{
    struct policy *p = closure;
    if (q->number == 0) first_query(p, q);
    bool yes = false;
    if (p->model) {
        double out[MODEL_MAX_CLASSES];
        for (size_t j = 0; j < p->model->nfeature; j++) p->x[j] = (double)q->value[p->from[j]];
        model_predict(p->model, p->x, out);
        yes = p->model->nclass ? strcmp(p->model->class[model_choose(p->model, out)], "yes") == 0 : out[0] > 0.5;
    } else if (!isnan(threshold)) yes = (double)q->value[feature_place(q, "cost_estimate")] < threshold;
    if (p->log) {
        csvw_int(p->log, (int64_t)q->number);
        csvw_cstr(p->log, yes ? "yes" : "no");
        for (size_t i = 0; i < q->n; i++) csvw_int(p->log, q->value[i]);
        csvw_end(p->log);
    }
    return yes;
}

int main(int argc, char **argv)
{
    int i = filter_init_strict(argc, argv, help, options);
    if (i == argc) usage("no compiler command, as in: inline-advise -- clang-19 -O2 -c x.c");
    char *program = program_path(argv[i]);
    if (!program) die("%s: no such program; clang 17 or later is wanted (apt-get install clang-19)", argv[i]);
    free(program);
    struct policy p = { .model = model_path ? model_read(model_path) : NULL,
                        .log = log_path ? csvw_open(log_path) : NULL };
    size_t queries;
    const char *why;
    int status = advise(argv + i, decide, &p, &queries, &why);
    if (why) die("%s: %s", argv[i], why);
    if (status && queries == 0) warn("the compiler failed and asked nothing: clang 17 or later is wanted");
    if (p.log && queries == 0) {
        csvw_names(p.log, "query,inline");
        csvw_end(p.log);
    }
    if (p.log) csvw_close(p.log);
    if (status != 0) return status;
    if (queries == 0 && !quiet) warn("the compiler asked nothing: no call to decide about, or a clang older than 17?");
    return EXIT_OK;
}
