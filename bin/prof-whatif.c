/* prof-whatif - how long a run would take if a part of it were faster
 *
 * Usage: prof-whatif --speed=PART:K... [DIR|FILE]...
 *
 * Columns in: those of events, as for prof-path.  Each --speed is answered by
 * itself: every piece of PART takes 1/K of its time, what waited for it goes on
 * as much earlier as its other dependences allow, and so on to the end.  PART
 * is a pattern (* any bytes, ? one, [ab] one of these, \ the next as it is) for
 * names of functions and kernels, operations and categories; name=, op= or cat=
 * before it says which of them.
 * A part by name or operation is all that runs under it on its thread; by name
 * it needs whole intervals, so that a table of pieces (prof-log without
 * --nested) is refused.  What recording cost is taken out before anything gets
 * faster.  A folder of the recorder's logs is read as prof-log --nested reads it.
 * A part that matches nothing is an error, which lists names like it.
 * Columns out: part, speed, before_ns, after_ns, low_ns, high_ns (two-sided
 * interval from what the iterations take then: the operation that repeats and
 * takes longest; empty: under five), speedup, low_ratio, high_ratio,
 * naive_speedup (as if nothing overlapped: the part's time on all threads is
 * taken from the whole), selected_ns, iterations, unexplained_share.  Cores and
 * caches that threads share are not seen.
 * Memory: all rows.
 *
 * Examples:
 *   $ prof-whatif --speed=op=simulate:2 out/run
 *   $ prof-whatif --speed=cat=Python:10 --speed=gemm*:1.5 events.csv
 */
#include "base/filter.h"
#include "base/num.h"
#include "measure/stats.h"
#include "prof/import/input.h"
#include "prof/path.h"
#include HELP
#include <math.h>

static struct list speeds;
static double confidence = 0.95, unexplained = 0.05;
static const struct opt options[] = {
    { 0, "speed", LIST, &speeds, "PART:K", "what gets faster, and how much" },
    CONFIDENCE_OPTION(confidence, "of the two-sided interval"),
    { 0, "unexplained", NUM, &unexplained, "SHARE", "refuse when more of the path is waits for what is not known",
      0, 1 },
    { 0 } };

static struct part part_of(const char *s)
{
    static const struct { const char *prefix; int of;
    } prefixes[] = { { "name=", PART_NAME }, { "op=", PART_OP }, { "cat=", PART_CAT } };
    struct part p = { .of = PART_ANY };
    const char *colon = strrchr(s, ':');
    if (!colon || colon == s) usage("--speed=%s: expected PART:K", s);
    if (!num_parse(colon + 1, strlen(colon + 1), &p.speed) || !(p.speed >= 1e-3 && p.speed <= 1e9))
        usage("--speed=%s: '%s' is not a factor from 0.001 to 1e9", s, colon + 1);
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
        if (strncmp(s, prefixes[k].prefix, strlen(prefixes[k].prefix)) != 0) continue;
        p.of = prefixes[k].of;
        s += strlen(prefixes[k].prefix);
        break;
    }
    char *pattern = xstrdup(s);
    pattern[colon - s] = '\0';
    p.pattern = pattern;
    return p;
}

static void put(csvw *w, const struct part *p, const struct whatif *x)
{
    bool known = x->low != INT64_MIN;
    csvw_cstr(w, p->pattern);
    csvw_num(w, p->speed);
    csvw_int(w, x->before);
    csvw_int(w, x->after);
    if (known) csvw_int(w, x->low);
    else csvw_empty(w);
    if (known) csvw_int(w, x->high);
    else csvw_empty(w);
    const double ratio[] = { (double)x->before / (double)x->after,
                             known ? (double)x->before / (double)x->high : NAN,
                             known && x->low > 0 ? (double)x->before / (double)x->low : NAN, x->naive };
    for (size_t i = 0; i < 4; i++) {
        if (isfinite(ratio[i])) csvw_format(w, "%.4f", ratio[i]);
        else csvw_empty(w);
    }
    csvw_int(w, x->selected);
    csvw_int(w, (int64_t)x->iterations);
    csvw_format(w, "%.4f", x->unexplained);
    csvw_end(w);
}

/* a part by name of which the table has only pieces */
static void check_whole(const struct part *p, const struct event_table *t)
{
    static enum { NOT_ASKED, WHOLE, CUT } is;
    if (p->of != PART_NAME && p->of != PART_ANY) return;
    if (!is) is = whatif_is_cut(t) ? CUT : WHOLE;
    if (is == CUT)
        die("%s: this table has pieces of functions, not all that runs under one: prof-log --nested, or the folder of "
            "logs; op= and cat= go with pieces", p->pattern);
}

static void nothing(const struct part *p, const struct event_table *t)
{
    const char **near = whatif_near(t, p->pattern, 5);
    struct buf b = { 0 };
    for (size_t i = 0; near[i]; i++) buf_format(&b, "%s%s", i ? ", " : "; names like it: ", near[i]);
    die("%s: nothing matches it%s", p->pattern, b.n ? b.s : "");
}

int main(int argc, char **argv)
{
    static struct event_table t;
    int i = filter_init(argc, argv, help, options);
    if (!speeds.n) usage("no --speed given");
    struct part *part = xmalloc((size_t)speeds.n, sizeof *part);
    for (int k = 0; k < speeds.n; k++) part[k] = part_of(speeds.v[k]);
    input_read(&t, argv + i);
    for (int k = 0; k < speeds.n; k++) check_whole(&part[k], &t);
    struct whatif *x = xmalloc((size_t)speeds.n, sizeof *x);
    whatif_all(x, &t, part, (size_t)speeds.n, confidence, unexplained);
    for (int k = 0; k < speeds.n; k++) if (!x[k].pieces) nothing(&part[k], &t);
    csvw *w = csvw_open("-");
    csvw_names(w, "part,speed,before_ns,after_ns,low_ns,high_ns,speedup,low_ratio,high_ratio,naive_speedup,selected_ns,"
                  "iterations,unexplained_share");
    csvw_end(w);
    for (int k = 0; k < speeds.n; k++) put(w, &part[k], &x[k]);
    return csvw_close(w);
}
