/* place-check - is a graph of a training step, and a plan for it, sound
 *
 * Usage: place-check [--original=FILE] [--plan=FILE --profile=FILE] [GRAPH]
 *
 * One line on stdout for every fault of the graph: a tensor read before it is
 * written, written twice or never, operands whose number or size does not fit
 * the operator, bytes that do not fit the shape, a parameter read after its
 * update.
 *
 * With --original also: does the graph compute what that one does, some nodes
 * being run twice (place-recompute)?
 *
 * With --plan also of the plan, the rule's name first; the checker shares
 * nothing with the solver.  Every kernel finds its operands where the plan says,
 * moves have a source and a place to go, fast memory stays under the limit at
 * every node, nothing overlaps in either pool while it is needed or moved,
 * times and objective are those of the profile, and the prices in the plan
 * prove the bound.  Exit 0: sound; 1: faults; 2: an input cannot be read.
 *
 * Examples:
 *   $ place-net resnet50 --batch=4 | place-check
 *   $ place-check --plan=plan.sexp --profile=p.csv g.sexp
 */
#include "base/filter.h"
#include "base/out.h"
#include "place/repeats.h"
#include "place/verify.h"
#include HELP
#include <stdio.h>
#include <string.h>

static const char *plan_path, *profile_path, *original_path;
static const struct opt options[] = {
    { 0, "plan", STR, &plan_path, "FILE", "a plan for the graph" },
    PLANNED_FROM(profile_path),
    { 0, "original", STR, &original_path, "FILE", "the graph that place-recompute was given" },
    { 0 } };

static void say(void *context, const char *fault)
{
    (void)context;
    puts(fault);
}

static int check_plan(const struct graph *g)
{
    struct profile *profile = profile_read(profile_path);
    struct plan *p = plan_read(plan_path, g);
    int faults = verify_plan(g, profile, p, say, NULL);
    plan_free(p);
    profile_free(profile);
    return faults;
}

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    fail_status = EXIT_USAGE;                             /* 1 is an answer */
    if (!plan_path != !profile_path) usage("--plan and --profile belong together");
    if (plan_path && !strcmp(path, "-") + !strcmp(plan_path, "-") + !strcmp(profile_path, "-") > 1)
        usage("only one file can be stdin");
    struct graph *g = graph_read_raw(path);
    int faults = graph_faults(g, say, NULL);
    if (faults == 0 && original_path) {
        struct graph *original = graph_read(original_path);
        faults = repeats_faults(g, original, say, NULL);
        graph_free(original);
    }
    if (faults == 0 && plan_path) {
        graph_finish(g);
        faults = check_plan(g);
    }
    graph_free(g);
    finish();
    return faults > 0;
}
