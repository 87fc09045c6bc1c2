/* prof-split - time per training iteration
 *
 * Usage: prof-split --by=pass|on|op [--op=NAME] [FILE]...
 *        prof-split --iterations=N [FILE]...
 *
 * Columns in: those of events.
 * With --by, columns out are the same, unknown ones too: iterations are added
 * as phases named 1, 2, ... (with leading zeros), other phases go, so that
 * prof-sweep gives cells per iteration.  An iteration is what lies between two
 * marks of a pass, a stretch in which profiling was on (what lies in none goes:
 * the start before a Profiler was made), or an operation NAME.
 * With --iterations the columns are proc, cat, name, iteration, total_ns: of a
 * function with n calls, when N divides n, call i belongs to iteration
 * i / (n/N); otherwise its time is spread evenly, as the original did.
 *
 * Memory: all rows.
 *
 * Examples:
 *   $ prof-split --by=pass events.csv | prof-op | prof-sweep
 */
#include "base/filter.h"
#include "base/checked.h"
#include "base/compare.h"
#include "prof/events.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>

static const char *op;
static enum { NOT_GIVEN = -1, BY_PASS, BY_ON, BY_OP } by = NOT_GIVEN;
static long iterations;
static const struct opt options[] = {
    { 0, "by",         WORD, &by, "pass|on|op", "what an iteration is" },
    { 0, "op",         STR,  &op, "NAME", "the operation that is one iteration" },
    { 0, "iterations", INT,  &iterations, "N", "split the calls of each function by their number", 1, 1e9 },
    { 0 } };

static struct event_table t;
static struct rows out;

static int by_function(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return ORDER(x->proc, y->proc) ?: ORDER(x->cat, y->cat) ?: ORDER(x->name, y->name) ?:
           ORDER(x->start, y->start) ?: ORDER(x->source, y->source);
}

static int split_calls(void)
{
    csvw *w = csvw_open("-");
    csvw_names(w, "proc,cat,name,iteration,total_ns");
    csvw_end(w);
    struct rows calls = { 0 };
    for (size_t i = 0; i < t.rows.n; i++) {
        const struct row *r = &t.rows.v[i];
        if (r->kind == EVENT_CAT || r->kind == EVENT_GPU) rows_add(&calls, r);
    }
    if (calls.n) qsort(calls.v, calls.n, sizeof *calls.v, by_function);
    uint32_t part = intern(&t.text, str_of("part"));     /* a piece of its thread's call before it */
    size_t *last = xcalloc(t.text.n, sizeof *last);      /* by thread: begin, 1 and the number of its last call */
    for (size_t begin = 0, end; begin < calls.n; begin = end) {
        const struct row *f = &calls.v[begin];
        int64_t all = 0;
        size_t n = 0, call = 0;
        for (end = begin; end < calls.n; end++) {
            const struct row *c = &calls.v[end];
            if (c->proc != f->proc || c->cat != f->cat || c->name != f->name) break;
            n += c->flag != part;
            all = i64_add(all, c->end - c->start);
        }
        size_t each = n % (size_t)iterations ? 0 : n / (size_t)iterations;
        int64_t *sum = each ? xcalloc((size_t)iterations, sizeof *sum) : NULL;
        for (size_t i = begin; sum && i < end; i++) {
            size_t *of = &last[calls.v[i].tid];
            if (calls.v[i].flag != part) *of = begin + ++call;
            sum[*of > begin ? (*of - begin - 1) / each : 0] += calls.v[i].end - calls.v[i].start;
        }
        for (size_t k = 1; k <= (size_t)iterations; k++) {
            csvw_str(w, t.text.name[f->proc]);
            csvw_str(w, t.text.name[f->cat]);
            csvw_str(w, t.text.name[f->name]);
            csvw_int(w, (int64_t)k);
            if (sum) csvw_int(w, sum[k - 1]);
            else csvw_num(w, (double)all / (double)iterations);
            csvw_end(w);
        }
        free(sum);
    }
    return csvw_close(w);
}

static bool is_iteration(const struct row *r)
{
    if (by == BY_OP) return r->kind == EVENT_OP && str_is(t.text.name[r->name], op);
    return r->kind == EVENT_PROC && str_is(t.text.name[r->cat], by == BY_ON ? "on" : "pass");
}

static int by_process(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return ORDER(x->proc, y->proc) ?: ORDER(x->start, y->start) ?: ORDER(x->source, y->source);
}

/* rows that lie in no stretch of their process; stretches are in order, and one is left before the next begins */
static void leave_out(const struct rows *on)
{
    size_t n = 0;
    for (size_t k = 0; k < out.n; k++) {
        const struct row *r = &out.v[k];
        size_t lo = 0, hi = on->n;
        while (lo < hi) {                                /* stretches that begin before the row's end */
            size_t mid = lo + (hi - lo) / 2;
            const struct row *s = &on->v[mid];
            if (s->proc < r->proc || (s->proc == r->proc && s->start < r->end)) lo = mid + 1;
            else hi = mid;
        }
        const struct row *last = lo ? &on->v[lo - 1] : NULL;
        if (r->kind == EVENT_PROC || (last && last->proc == r->proc && last->end > r->start)) out.v[n++] = *r;
    }
    out.n = n;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if ((by == NOT_GIVEN) == !iterations) usage("give --by or --iterations");
    if (by != NOT_GIVEN && (by == BY_OP) != (op != NULL)) usage("--by=op goes with --op=NAME");
    table_read(&t, argv + i);
    if (iterations) return split_calls();
    struct rows marks = { 0 };
    for (size_t k = 0; k < t.rows.n; k++) {
        if (t.rows.v[k].kind != EVENT_PHASE) rows_add(&out, &t.rows.v[k]);
        if (is_iteration(&t.rows.v[k])) rows_add(&marks, &t.rows.v[k]);
    }
    if (!marks.n) die("no iterations of this kind in the events");
    qsort(marks.v, marks.n, sizeof *marks.v, by_process);
    if (by == BY_ON) leave_out(&marks);
    uint32_t *count = xcalloc(t.text.n, sizeof *count);  /* by process */
    int width = snprintf(NULL, 0, "%zu", marks.n);
    for (size_t k = 0; k < marks.n; k++) {
        struct row r = marks.v[k];
        char name[32];
        int n = snprintf(name, sizeof name, "%0*u", width, ++count[r.proc]);
        r.kind = EVENT_PHASE;
        r.cat = r.tid = 0;
        r.name = intern(&t.text, (str){ name, (size_t)n });
        rows_add(&out, &r);
    }
    free(count);
    return table_write(&t, &out, t.has_op);
}
