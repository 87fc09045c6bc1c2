/* prof-import - foreign profiles as events
 *
 * Usage: prof-import --from=FORMAT [--nested] [--prefix=TEXT] [FILE]
 *
 * FORMAT: chrome (trace event JSON, also gzip), kineto (PyTorch's), nsys (sqlite
 * of nsys export), nvprof (sqlite, or the CSV of --csv), prof (cProfile), pstats
 * (its listing), folded (stacks with counts, of py-spy's --format=raw), perf
 * (perf script, of perf record -g), pprof (profile.proto, as Go writes it, also
 * gzip), rlscope (a .proto file or a directory of them).  Columns out: those of
 * events; for prof and pstats also calls, primitive_calls, cumulative_ns.
 *
 * Of kineto and nsys, a row of the GPU belongs to the process whose call with
 * the same link launched it, whatever process the tool wrote; the kernels of
 * NCCL and RCCL have the category Communication; and as in prof-log the Python
 * and C time of a thread exclude each other, unless --nested keeps intervals
 * whole, for call trees.  Those rows come in order of start_ns and are all held,
 * 60 bytes each.
 *
 * Of chrome, an asynchronous span is a row of kind op on a track of its own,
 * "CATEGORY ID"; a flow is rows of kind link, which prof-path and prof-whatif
 * follow.  A file may be one object a line, or several traces, one after the
 * other; of kineto each rank by itself, with --prefix.  Begins and ends are
 * paired in the order of the file; those that do not nest are counted.
 *
 * Formats without intervals (prof, pstats, folded, perf, pprof) are laid out one
 * after the other and flagged est.  Other rows come in the order of the file, of
 * nested intervals the inner one first where only its end is known.
 * Memory does not grow with the file, except: prof, pprof, and one file of
 * rlscope at a time, are held, and so are begins that have no end yet, thread
 * ids, the distinct names of stacks.  A truncated file, but of pprof, gives what
 * it holds; the byte where it ends, what was left out and what was repaired is
 * said at the end.
 *
 * Examples:
 *   $ prof-import --from=kineto trace.json.gz | prof-op | prof-sweep
 *   $ prof-import --from=kineto --prefix=rank0. rank0.json.gz > rank0.csv
 */
#include "base/filter.h"
#include "prof/import/import.h"
#include HELP
#include <string.h>

static int from = -1;                                    /* enum import_format */
static double unit = 1000;
static bool nested;
static const char *prefix = "";
static const struct opt options[] = {
    { 0, "from", WORD, &from, "chrome|kineto|nsys|nvprof|prof|pstats|folded|rlscope|perf|pprof", "the format" },
    { 0, "unit", NUM,  &unit, "NS", "folded, perf, pprof: what a count means", 1e-3, 1e12 },
    { 0, "nested", FLAG, &nested, NULL, "kineto, nsys: whole intervals instead of exclusive pieces" },
    { 0, "prefix", STR,  &prefix, "TEXT", "before each process, to tell the files of several ranks apart" },
    { 0 } };

static csvw *w;
static struct event_table held;
static struct buf proc;
static bool totals;

static void put(void *closure, const struct event *from_file)
{
    const struct importer *m = closure;
    struct event named = *from_file, *e = &named;
    if (prefix[0]) {
        proc.n = 0;
        buf_str(&proc, str_of(prefix));
        buf_str(&proc, e->proc);
        e->proc = (str){ proc.s, proc.n };
    }
    if (m->held) {
        import_hold(&held, e);
        return;
    }
    events_put(w, e);
    if (totals) {
        csvw_int(w, (int64_t)m->calls);
        csvw_int(w, (int64_t)m->primitive_calls);
        csvw_int(w, m->cumulative_ns);
    }
    csvw_end(w);
}

static void say(uint64_t n, const char *what)
{
    if (n && !quiet) warn("%llu %s", (unsigned long long)n, what);
}

/* the held rows, once all are known; their writer replaces the other */
static int write_held(const struct importer *m)
{
    struct rows out = { 0 };
    struct repairs repairs = { 0 };
    say(import_own(&held, m->base_ns), "GPU rows without the call that launched them");
    if (nested) return table_write(&held, &held.rows, false);
    import_exclude(&held, &out, &repairs);
    repairs_note(&repairs);
    return table_write(&held, &out, false);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    const char *path = filter_operand(argc, argv, i);
    struct importer m = { .put = put, .closure = &m, .unit_ns = unit };
    if (from < 0) usage("no --from given");
    totals = from == FROM_PROF || from == FROM_PSTATS;
    m.held = from == FROM_KINETO || from == FROM_NSYS;
    if (!m.held) {
        w = csvw_open("-");
        csvw_names(w, EVENT_COLUMNS);
        if (totals) csvw_names(w, "calls,primitive_calls,cumulative_ns");
        csvw_end(w);
    }
    if (from == FROM_CHROME) import_trace(&m, path, false);
    else if (from == FROM_KINETO) import_trace(&m, path, true);
    else if (from == FROM_NSYS) import_nsys(&m, path);
    else if (from == FROM_NVPROF) import_nvprof(&m, path);
    else if (from == FROM_PROF || from == FROM_PPROF) import_whole(&m, (enum import_format)from, path);
    else if (from == FROM_RLSCOPE) import_rlscope(&m, path);
    else import_lines(&m, (enum import_format)from, path);
    if (m.fault && !m.truncated) die("%s", m.fault);
    if ((!m.fault || m.malformed) && !(m.held ? held.rows.n : m.rows))   /* a trace may be cut before its first event */
        die("%s: no events in it%s%s", path, m.skipped ? ", only records of kinds that are left out" : "",
            m.malformed ? xformat("; %llu malformed, the first ends at byte %zu", (unsigned long long)m.malformed,
                                  m.malformed_at) : "");
    if (m.fault) warn("%s; the %llu rows up to there are written", m.fault, (unsigned long long)m.rows);
    say(m.skipped, "records of other kinds left out");
    say(m.malformed, m.malformed_at ? xformat("malformed records left out, the first ends at byte %zu", m.malformed_at)
                                    : "malformed records left out");
    say(m.reversed, "records of negative duration");
    say(m.disordered, "begins and ends that do not nest in the order of the file, in which they are paired: rows may "
                      "be wrong; sort its events by ts");
    say(m.stray, "ends without a begin left out");
    say(m.unclosed, "begins without an end, closed at their thread's last time");
    return m.held ? write_held(&m) : csvw_close(w);
}
