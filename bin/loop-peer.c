/* loop-peer - the same problems by other libraries and compilers
 *
 * Usage: loop-peer --lib=NAME[,NAME]... [--rounds=N] [FILE]
 *
 * Columns in: problem, tree (optional: what "ours" runs; of consecutive rows
 * with the same problem the last counts, so that the output of loop-search
 * can be piped in).  Columns out: problem, lib, gflops, seconds, checked (1:
 * its result is right; NumPy's is not looked at), kind (real), reason (why it
 * has no time), intensity (operations a byte, if each tensor moved once),
 * ratio, low_ratio, high_ratio (its time over that of the first library, of
 * the same round: the median, and its 95 % interval, from six rounds on).  One
 * row for each problem and library.  All run in turn, N rounds, on one core,
 * each from when a run of it needs no new page of memory, or after 16 runs;
 * seconds is the least of the first library, and that times ratio: a clock
 * that changes between rounds changes no ratio.  Libraries are optional
 * packages: those that are not installed are named and left out.
 * Libraries: ours, ours-gcc and ours-clang (the C text of the same nest),
 * ours-any and onednn-any (tensors in its own layout, reordered before the
 * clock starts), openblas, openblas-core (told the right processor), blis,
 * blis-core, onednn, libxsmm, numpy, gcc, clang.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64,128 --n=128 --k=128 |
 *     loop-search --algo=heuristic |
 *     loop-peer --lib=ours,openblas-core,onednn,libxsmm
 */
#include "base/filter.h"
#include "base/progress.h"
#include "loop/code/peer.h"
#include "loop/nest/rows.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIBS = 20 };
static const char *libs;
static long rounds = 6, runs = 8;
static int isa_given = -1;
static const struct opt options[] = {
    { 0, "lib", STR, &libs, "NAMES", "libraries, separated by commas" },
    { 0, "rounds", INT, &rounds, "N", "turns of each library", 1, 1e6 },
    { 0, "isa", WORD, &isa_given, "avx2|avx512|amx", "of ours, instead of the best one here for each problem" },
    { 0, "runs", INT, &runs, "N", "runs in a turn, at most 20 ms together", 1, 1e6 },
    { 0 } };

static void rows(csvw *w, struct peers *s, const char *const *name, int n, const struct problem *p,
                 const struct nest *t)
{
    const struct peer_result *r = peers_time(s, p, t);
    double bytes = 0;
    for (int i = 0; i < 4; i++)
        bytes += (i == TENSOR_C && problem_cast(p) ? 2 : problem_bytes(p, i)) * (double)p->elements[i];
    if (problem_then(p, THEN_RESIDUAL)) bytes += p->bytes * (double)p->elements[TENSOR_C];
    for (int i = 0; i < n; i++) {
        if (peer_missing(s, i)) continue;
        bool timed = isfinite(r[i].seconds);
        csvw_cstr(w, p->text);
        csvw_cstr(w, name[i]);
        csvw_known(w, timed ? problem_flops(p) / r[i].seconds * 1e-9 : NAN);
        csvw_known(w, timed ? r[i].seconds : NAN);
        csvw_int(w, r[i].checked);
        csvw_cstr(w, "real");
        csvw_cstr(w, r[i].why);
        csvw_num(w, problem_flops(p) / bytes);
        const double ratio[] = { r[i].ratio.point, r[i].ratio.lower, r[i].ratio.upper };
        for (int k = 0; k < 3; k++) csvw_known(w, timed && isfinite(ratio[k]) ? ratio[k] : NAN);
        csvw_end(w);
    }
    csvw_flush(w);
}

int main(int argc, char **argv)
{
    int first = filter_init(argc, argv, help, options), n = 0, here = 0;
    if (!libs || !*libs) usage("no library given, see --lib");
    enum isa isa = isa_given < 0 ? ISAS : (enum isa)isa_given;
    if (isa < ISAS && !isa_here(isa)) die("this machine has no %s", isa_name[isa]);
    const char *name[MAX_LIBS];
    char *copy = xstrdup(libs);
    for (char *s = copy; *s; ) {
        size_t len = strcspn(s, ",");
        bool more = s[len] != 0;
        s[len] = 0;
        if (n == MAX_LIBS) usage("more than %d libraries", MAX_LIBS);
        if (len) name[n++] = s;
        s += len + more;
    }
    struct nest_rows r;
    rows_open(&r, csv_open(filter_operand(argc, argv, first)), false);
    struct peers *s = peers_open(name, n, (int)rounds, (int)runs, isa);
    for (int i = 0; i < n; i++) {
        here += !peer_missing(s, i);
        if (peer_missing(s, i)) warn("%s is not here: apt-get install %s", name[i], peer_missing(s, i));
    }
    if (!here) die("none of %s is installed", libs);
    csvw *w = csvw_open("-");
    csvw_names(w, "problem,lib,gflops,seconds,checked,kind,reason,intensity,ratio,low_ratio,high_ratio");
    csvw_end(w);
    struct problem p;
    struct nest t;
    bool have = false;
    double done = 0;
    progress_start("problems", 0);
    while (rows_next(&r)) {
        if (have && r.fresh) {
            rows(w, s, name, n, &p, &t);
            progress(++done, "%s", "");
        }
        p = r.p;
        t = r.nest;
        have = true;
    }
    if (have) rows(w, s, name, n, &p, &t);
    progress_end();
    peers_close(s);
    rows_close(&r);
    free(copy);
    return csvw_close(w);
}
