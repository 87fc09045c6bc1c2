/* prof-path - the critical path of a run, and how much slack the rest has
 *
 * Usage: prof-path [--pieces|--all] [DIR|FILE]...
 *
 * Columns in: those of events; intervals of a thread nested or exclusive, and
 * op where prof-op made it.  The critical path is the longest chain of pieces
 * that had to wait for each other: along a thread, from a launch to its kernel,
 * along a stream, from one stream to another that waited for its event (rows of
 * kind after), from the last kernel to the call that waits for the GPU, from
 * the rank that comes last to a collective (kernels of communication of one
 * name that run in several processes at once) to what is left of it in each, from
 * the row with the same link (a queue, pipe, lock, join, fork) to the row of
 * category Waiting or of kind link, and where there is no link from the thread
 * that most likely woke it (said on standard error, and guess in the column
 * why).
 * Columns out, largest path_ns first:
 *   op, cat, path_ns, path_share, total_ns (on and off the path),
 *   least_slack_ns: by how much a piece of it may take longer before the run
 *   does; 0 on the path, unexplained_share (of the run: waits on the path for
 *   what is not known).  Category "" is a gap, launch and wake are the times
 *   until a kernel began and a waiting thread went on, start until a thread
 *   began for a reason that is not known.
 * --pieces: the path itself, in order of time: start_ns, end_ns, proc, tid, cat,
 * op, name, why it began when it did; --joined: those of one thread that touch as
 * one, without what it did.  --all: every piece, with proc, tid, cat,
 * op, name, start_ns, end_ns, slack_ns, on_path.  Memory: all rows.
 *
 * Examples:
 *   $ prof-import --from=kineto trace.json.gz | prof-path
 *   $ prof-path --pieces out/run > path.csv
 *   $ prof-import --from=kineto --prefix=rank0. rank0.json.gz > rank0.csv
 *   $ csv-cat rank0.csv rank1.csv | prof-path
 */
#include "base/filter.h"
#include "prof/import/input.h"
#include "prof/path.h"
#include HELP

static bool pieces, joined, all;
static const char *sums;
static double unexplained = 0.05;
static const struct opt options[] = {
    { 0, "pieces", FLAG, &pieces, NULL, "the path, piece by piece" },
    { 0, "joined", FLAG, &joined, NULL, "the path, thread by thread" },
    { 0, "all",    FLAG, &all, NULL, "every piece with its slack" },
    { 0, "sums", STR, &sums, "FILE", "the table of sums goes there, beside pieces" },
    { 0, "unexplained", NUM, &unexplained, "SHARE", "refuse when more of the path is waits for what is not known",
      0, 1 },
    { 0 } };

int main(int argc, char **argv)
{
    static struct event_table t;
    static struct dag g;
    int i = filter_init(argc, argv, help, options);
    if (pieces + joined + all > 1) usage("--pieces, --joined or --all, not two of them");
    input_read(&t, argv + i);
    dag_build(&g, &t, NULL, 0);
    if (!quiet && (g.guessed || g.unexplained))
        warn("%llu waits and gaps explained by a guess, %llu not at all: they keep their length",
             (unsigned long long)g.guessed, (unsigned long long)g.unexplained);
    if (!quiet && (g.joined || g.alone))
        warn("%llu collectives join processes; %llu kernels of communication met none of another process",
             (unsigned long long)g.joined, (unsigned long long)g.alone);
    path_unexplained(&g, &t, unexplained);
    if (sums) {
        csvw *s = csvw_open(sums);
        path_write_sums(s, &g, &t);
        csvw_close(s);
    }
    csvw *w = csvw_open("-");
    if (pieces || joined) path_write_pieces(w, &g, &t, joined);
    else if (all) path_write_all(w, &g, &t);
    else path_write_sums(w, &g, &t);
    return csvw_close(w);
}
