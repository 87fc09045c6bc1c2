/* prof-emit - events in a foreign format
 *
 * Usage: prof-emit --to=FORMAT [-o FILE] [DIR|FILE]...
 *
 * Columns in: those of events.  FORMAT:
 *   chrome      trace event JSON for Perfetto and browsers; all rows, those of
 *               a thread in order of start_ns, what crosses in a lane of its
 *               own; prof-import --from=chrome gives the same rows back
 *   speedscope  evented profiles, one a thread
 *   folded      a;b;c 123: own time in us of each path, for flame graphs
 *   prof        cProfile's file, which pstats reads; tables from prof-import
 *               --from=prof|pstats keep their calls
 *   flame       rectangles of a flame graph, as a table: proc, tid, depth,
 *               start_us, end_us, name; plots/prof-flame.gp draws it
 * Speedscope to flame take rows of the kinds cat and gpu as call
 * trees; make those with prof-log --nested.  What outlives its caller is cut
 * and counted.  Memory: constant for chrome, else all rows.
 *
 * Examples:
 *   $ prof-emit --to=chrome -o trace.json out/run
 *   $ prof-emit --to=folded out/run | flamegraph.pl
 */
#include "base/filter.h"
#include "prof/emit.h"
#include "prof/import/input.h"
#include HELP
#include <string.h>

static const char *output = "-";
static enum { NOT_GIVEN = -1, CHROME, SPEEDSCOPE, FOLDED, PROF, FLAME } to = NOT_GIVEN;
static bool threads;
static const struct opt options[] = {
    {  0,  "to",      WORD, &to, "chrome|speedscope|folded|prof|flame", "the format" },
    { 'o', "out",  STR,  &output, "FILE", "where to" },
    {  0,  "threads", FLAG, &threads, NULL, "folded: begin each path with P<proc>;T<tid>;" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (to == NOT_GIVEN) usage("no --to given");
    if (to == CHROME) {
        struct events_in in = events_open(input_stream(argv + i, true));
        emit_chrome(&in, output);
        return EXIT_OK;
    }
    static struct event_table t;
    input_charged(&t, argv + i);
    if (to == SPEEDSCOPE) emit_speedscope(&t, output);
    else if (to == FOLDED) emit_folded(&t, output, threads);
    else if (to == FLAME) emit_flame(&t, output);
    else emit_prof(&t, output);
    return EXIT_OK;
}
