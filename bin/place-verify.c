/* place-verify - does a plan keep all rules (place-check --plan does the same)
 *
 * Usage: place-verify --profile=FILE --graph=FILE [PLAN]
 *
 * Shares nothing with the solver.  Checks that every kernel finds its operands
 * where the plan says, that moves have a source and a place to go, that fast
 * memory stays under the limit at every node, that nothing overlaps in either
 * pool, that times and objective are those of the profile, and that the prices
 * in the plan prove the bound.  One line on stdout for every broken rule, with
 * the rule's name first.  Exit 0: all kept; 1: some broken; 2: trouble.
 *
 * Examples:
 *   $ place-verify --profile=profile.csv --graph=graph.sexp plan.sexp
 */
#include "base/filter.h"
#include "base/out.h"
#include "place/verify.h"
#include HELP
#include <stdio.h>
#include <string.h>

static const char *profile_path, *graph_path, *middle_path;
static const struct opt options[] = {
    PLANNED_FROM(profile_path),
    PLANNED_WITH_MIDDLE(middle_path),
    { 0, "graph", STR, &graph_path, "FILE", "the graph it is for" },
    { 0 } };

static void say(void *context, const char *fault)
{
    (void)context;
    puts(fault);
}

int main(int argc, char **argv)
{
    fail_status = EXIT_USAGE;                            /* 1 is an answer */
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    if (!profile_path) usage("no profile given, see --profile");
    if (!graph_path) usage("no graph given, see --graph");
    if (strcmp(path, "-") == 0 && (strcmp(graph_path, "-") == 0 || strcmp(profile_path, "-") == 0))
        usage("only one file can be stdin");
    struct graph *g = graph_read(graph_path);
    struct profile *profile = profile_read(profile_path);
    if (middle_path) profile_join(profile, profile_read(middle_path));
    struct plan *p = plan_read(path, g);
    int faults = verify_plan(g, profile, p, say, NULL);
    plan_free(p);
    profile_free(profile);
    graph_free(g);
    finish();
    return faults > 0;
}
