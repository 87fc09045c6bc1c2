/* fit-committee - several models as one, by their mean or by the surest
 *
 * Usage: fit-committee [--threshold=P --otherwise=CLASS | --surest] MODEL...
 *
 * Out: a model that holds all members; its output is the mean of theirs and
 * its features the union.  With --otherwise, a class is chosen only if its
 * mean probability is above the threshold, else CLASS: a committee that
 * abstains when its members disagree.  With --surest the member that gives
 * its first choice the greatest probability decides alone.  Classes of the
 * members must agree.
 *
 * Examples:
 *   $ fit-committee --otherwise=none star.sexp general.sexp hand.sexp
 */
#include "base/filter.h"
#include HELP
#include "fit/model.h"
#include <string.h>

static const char *otherwise, *output;
static double threshold = 0.5;
static bool surest;
static const struct opt options[] = {
    { 0, "threshold", NUM, &threshold, "P", "probability a choice must exceed", 0, 1 },
    { 0, "otherwise", STR, &otherwise, "CLASS", "the choice when none does" },
    { 0, "surest", FLAG, &surest, NULL, "the surest member decides alone" },
    MODEL_OUTPUT(output),
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i == argc) usage("no model given");
    if (surest && otherwise) usage("with --surest nobody abstains, so --otherwise=%s says nothing", otherwise);
    struct model *first = model_read(argv[i]);
    if (surest && !first->nclass) die("%s: predicts a number, of which no model is sure", argv[i]);
    struct model *m = model_new(MODEL_COMMITTEE, first->target, first->class, first->nclass, NULL, 0);
    m->threshold = threshold;
    m->surest = surest;
    for (int c = 0; otherwise && c < m->nclass; c++)
        if (!strcmp(m->class[c], otherwise)) m->otherwise = c;
    if (otherwise && m->otherwise < 0) die("%s: no class '%s'", argv[i], otherwise);
    model_add(m, first);
    for (int k = i + 1; k < argc; k++) {
        struct model *other = model_read(argv[k]);
        if (strcmp(other->target, m->target) != 0)
            die("%s: predicts '%s', and %s '%s'", argv[k], other->target, argv[i], m->target);
        model_add(m, other);
    }
    return model_save(m, output);
}
