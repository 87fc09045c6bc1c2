/* lib/prof/import/logread: logs written here record by record; repairs, exclusive pieces, recovery from the ring, every
 * truncation. With --oracle it prints the pairing cases in the oracle's words, for t/prof-oracle.t. */
#include "prof/import/logread.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/logread.XXXXXX";

static void save(const char *name, const void *a, size_t na, const void *b, size_t nb)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    if (!f || fwrite(a, 1, na, f) != na || (nb && fwrite(b, 1, nb, f) != nb) || fclose(f) != 0) exit(1);
}

static void drop(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
}

static void write_log(uint32_t tid, const struct log_record *r, size_t n, bool clean)
{
    static char head[LOG_HEAD];
    char name[64];
    struct log_head h = { .magic = LOG_MAGIC,
                          .version = LOG_VERSION,
                          .half = LOG_HALF,
                          .pid = 5,
                          .tid = tid,
                          .clean = clean,
                          .first = { 1, 1, 1 },
                          .last = { 1, 1, 1 },
                          .ns_per_tick = 1,
                          .process = "p" };
    memcpy(head, &h, sizeof h);
    snprintf(name, sizeof name, "ev.5.0.%u.log", tid);
    save(name, head, LOG_HEAD, r, n * sizeof *r);
}

static void write_names(void)
{
    static const char names[] = "id,kind,cat,module,name\n1,c,C,,f\n2,c,C,,g\n3,c,C,,h\n4,c,C,,k\n5,c,C,,m\n6,op,,,"
                                "train\n7,py,Python,,cb\n8,phase,,,one\n";
    save("names.5.0.csv", names, sizeof names - 1, NULL, 0);
}

static struct log_counts counts;
static struct event_table t;

static void read_all(bool nested)
{
    counts = (struct log_counts){ 0 };
    intern_free(&t.text);
    free(t.rows.v);
    free(t.extra);
    t = (struct event_table){ 0 };
    log_read(&t, dir, nested, &counts);
}

static const char *cell(uint32_t x)
{
    return t.text.name[x].s;
}

static int by_pair(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int c = strcmp(cell(x->tid), cell(y->tid));
    if (c) return c;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

static void print_pairs(const char *name)
{
    qsort(t.rows.v, t.rows.n, sizeof *t.rows.v, by_pair);
    printf("%s|pair|[", name);
    bool first = true;
    for (size_t i = 0; i < t.rows.n; i++) {
        const struct row *r = &t.rows.v[i];
        if (r->kind != EVENT_CAT) continue;
        printf("%s(%s, %lld, %lld, '%s', '%s')", first ? "" : ", ", cell(r->tid), (long long)r->start,
               (long long)r->end, cell(r->name), cell(r->flag));
        first = false;
    }
    printf("] stray=%d\n", (int)counts.stray);
}

static void oracle(void)
{
    const struct log_record b1a[] = {
        { 0, 1, LOG_CALL, 0 }, { 2, 2, LOG_CALL, 0 }, { 5, 2, LOG_RETURN, 0 }, { 9, 1, LOG_RETURN, 0 }
    };
    const struct log_record b1b[] = { { 3, 3, LOG_CALL, 0 }, { 6, 3, LOG_RETURN, 0 } };
    const struct log_record b2[] = { { 0, 1, LOG_RETURN, 0 }, { 1, 1, LOG_CALL, 0 }, { 2, 2, LOG_CALL, 0 },
                                     { 5, 2, LOG_RETURN, 0 }, { 8, 4, LOG_CALL, 0 }, { 9, 5, LOG_CALL, 0 } };
    write_log(1, b1a, 4, true);
    write_log(2, b1b, 2, true);
    read_all(true);
    print_pairs("B1");
    drop("ev.5.0.2.log");
    write_log(1, b2, 6, true);
    read_all(true);
    print_pairs("B2");
    drop("ev.5.0.1.log");
}

static int64_t total(const char *cat)
{
    int64_t sum = 0;
    for (size_t i = 0; i < t.rows.n; i++)
        if (t.rows.v[i].kind == EVENT_CAT && strcmp(cell(t.rows.v[i].cat), cat) == 0)
            sum += t.rows.v[i].end - t.rows.v[i].start;
    return sum;
}

static size_t calls(void)
{
    size_t n = 0;
    for (size_t i = 0; i < t.rows.n; i++) n += t.rows.v[i].kind == EVENT_CAT && strcmp(cell(t.rows.v[i].cat), "C") == 0;
    return n;
}

static size_t hooks_counted(void)
{
    size_t n = 0;
    for (size_t i = 0; i < t.rows.n; i++) n += t.extra[t.rows.v[i].source] != 0;
    return n;
}

/* n calls after each other in a log and, past its last whole half, in the ring */
static void write_killed(size_t n)
{
    static struct log_record ring[2 * LOG_HALF];
    static char head[LOG_HEAD];
    struct log_record *r = malloc(2 * n * sizeof *r);
    for (size_t i = 0; i < 2 * n; i++)
        r[i] = (struct log_record){ 9000 + 3 * i, 1, i % 2 ? LOG_RETURN : LOG_CALL, HOOK_WRAP };
    /* in the middle of what only the ring holds the thread moves to a processor whose counter is behind */
    for (size_t i = 2 * n - 2 * n % LOG_HALF / 2; i < 2 * n; i++) r[i].t -= 300;
    memset(ring, 0, sizeof ring);
    for (size_t i = 0; i < 2 * n; i++) ring[i % (2 * LOG_HALF)] = r[i];
    write_log(1, r, 2 * n / LOG_HALF * LOG_HALF, false);
    struct log_head h = { .magic = LOG_MAGIC, .version = LOG_VERSION, .half = LOG_HALF, .pid = 5, .tid = 1,
                          .first = { 1, 1, 1 }, .last = { 1, 1, 1 }, .ns_per_tick = 1, .process = "p" };
    memcpy(head, &h, sizeof h);
    save("ev.5.0.1.tail", head, LOG_HEAD, ring, sizeof ring);
    free(r);
}

/* three calls of f that were only counted take 6 each of Python's time before that was told, 5 before the operation
 * begins, 13 in it; g, 2 times 3, has what is left: 3 of 6.  What a call takes is told at last. */
static void estimates(void)
{
    const struct log_record log[] = {
        { 0, 0, LOG_ON, 0 }, { 1, 0, LOG_PYTHON, 0 }, { 40, 1, LOG_CALL, HOOK_PATCH },
        { 45, 0, LOG_PYTHON, 0 }, { 49, 0, LOG_PYTHON_END, 0 }, { 50, 1, LOG_RETURN, HOOK_PATCH },
        { 50, 1, LOG_COST, 99 }, { 54, 1, LOG_COUNTED, 3 }, { 55, 6, LOG_OP, 0 },
        { 58, 9, LOG_DROPPED, 0 }, { 59, 7, LOG_POST, LINK_LOCK },
        { 80, 2, LOG_CALL, HOOK_PATCH }, { 83, 2, LOG_RETURN, HOOK_PATCH }, { 84, 2, LOG_COUNTED, 2 },
        { 85, 6, LOG_OP_END, 0 }, { 86, 1, LOG_COST, 6 * 32 }, { 86, 2, LOG_COST, 3 * 32 },
        { 86, 0, LOG_PYTHON_END, 0 }, { 86, 0, LOG_OFF, 0 },
    };
    int64_t f[3] = { 0 }, sum[2] = { 0 }, number = 0;
    bool sorted = true;
    write_log(1, log, sizeof log / sizeof *log, true);
    for (int nested = 0; nested < 2; nested++) {
        read_all(nested);
        memset(f, 0, sizeof f);
        for (size_t i = 0; i < t.rows.n; i++) {
            const struct row *r = &t.rows.v[i];
            sorted = sorted && (!i || r->start >= t.rows.v[i - 1].start);
            if (r->kind == EVENT_PROC && strcmp(cell(r->cat), "estimated") == 0) number += atol(cell(r->link));
            if (r->kind != EVENT_CAT) continue;
            sum[nested] += r->end - r->start;
            if (strcmp(cell(r->flag), "estimated") != 0) continue;
            if (strcmp(cell(r->name), "g") == 0) f[2] += r->end - r->start;
            else f[r->start >= 55] += r->end - r->start;
        }
        ok(f[0] == 5 && f[1] == 0 && f[2] == 2,
           nested ? "nested: the same" : "counted calls take Python's time, no more than lies beside them");
    }
    ok(sum[0] == 85, "all pieces together are as long as the thread");
    ok(number == 10, "and the calls are counted");
    ok(sorted, "rows come by start, where records were dropped and links are in such time too");
}

/* a thread ends with a call open, another goes on in its log: what was open ends with the first one's last record */
static void threads_of_a_log(void)
{
    const struct log_record log[] = {
        { 0, 0, LOG_ON, 0 }, { 1, 0, LOG_PYTHON, 0 }, { 5, 1, LOG_CALL, HOOK_PATCH }, { 8, 6, LOG_OP, 0 },
        { 20, 77, LOG_THREAD, 0 }, { 21, 0, LOG_PYTHON, 0 }, { 22, 1, LOG_CALL, HOOK_PATCH },
        { 25, 1, LOG_RETURN, HOOK_PATCH }, { 30, 0, LOG_PYTHON_END, 0 }, { 30, 0, LOG_OFF, 0 },
    };
    int64_t sum[2] = { 0 };
    bool ends = true;
    write_log(1, log, sizeof log / sizeof *log, true);
    read_all(false);
    for (size_t i = 0; i < t.rows.n; i++) {
        const struct row *r = &t.rows.v[i];
        bool second = strcmp(cell(r->tid), "77") == 0;
        if (r->kind != EVENT_CAT && r->kind != EVENT_OP) continue;
        sum[second] += r->kind == EVENT_CAT ? r->end - r->start : 0;
        ends = ends && (second ? r->start >= 21 : r->end <= 8);
    }
    ok(sum[0] == 7 && sum[1] == 9 && ends, "two threads in one log, each with its own rows");
}

/* a child of fork may call C before it says that profiling is on: that began with its first row, after the clock */
static void forked(void)
{
    const struct log_record log[] = {
        { 3, 0, LOG_CPU, LOG_CPU_FIRST }, { 5, 0, LOG_PYTHON, 0 }, { 10, 1, LOG_CALL, HOOK_PATCH },
        { 20, 1, LOG_RETURN, HOOK_PATCH }, { 90, 0, LOG_ON, 0 }, { 100, 0, LOG_PYTHON_END, 0 }, { 100, 0, LOG_OFF, 0 },
    };
    int from_5 = 0;
    write_log(1, log, sizeof log / sizeof *log, true);
    read_all(false);
    for (size_t i = 0; i < t.rows.n; i++)
        from_5 += t.rows.v[i].kind == EVENT_PROC && t.rows.v[i].start == 5 && t.rows.v[i].end == 100;
    ok(from_5 == 2 && total("Python") + total("C") == 95, "a child of fork is profiled from its first row on");
}

/* by the coarser clock a call that was preempted did not run at all; it is a row nonetheless */
static void preempted(void)
{
    const struct log_record log[] = {
        { 1000, 0, LOG_PYTHON, 0 }, { 1000, 0, LOG_CPU, LOG_CPU_FIRST }, { 2000, 1, LOG_CALL, HOOK_PATCH },
        { 9000, 0, LOG_CPU, 0 }, { 9001, 1, LOG_RETURN, HOOK_PATCH }, { 9500, 0, LOG_PYTHON_END, 0 },
    };
    size_t calls = 0;
    write_log(1, log, sizeof log / sizeof *log, true);
    read_all(false);
    for (size_t i = 0; i < t.rows.n; i++)
        calls += strcmp(cell(t.rows.v[i].cat), "C") == 0 && !*cell(t.rows.v[i].flag) &&
                 t.rows.v[i].end > t.rows.v[i].start;
    ok(calls == 1 && total("Off CPU") == 6999 && total("C") == 2, "a call that was off the CPU all the time is a call");
}

int main(int argc, char **argv)
{
    if (!mkdtemp(dir)) return 1;
    write_names();
    if (argc > 1 && strcmp(argv[1], "--oracle") == 0) {
        oracle();
        drop("names.5.0.csv");
        return rmdir(dir);
    }
    const struct log_record x1[] = { { 100, 0, LOG_PYTHON, 0 }, { 110, 1, LOG_CALL, 1 },
                                     { 120, 7, LOG_PYTHON, 1 }, { 122, 2, LOG_CALL, 1 },
                                     { 125, 2, LOG_RETURN, 1 }, { 130, 7, LOG_PYTHON_END, 1 },
                                     { 160, 1, LOG_RETURN, 1 }, { 200, 0, LOG_PYTHON_END, 0 } };
    write_log(1, x1, 8, true);
    read_all(false);
    ok(total("Python") == 57 && total("C") == 43, "Python and C exclude each other, also across a callback");
    size_t parts = 0;
    for (size_t i = 0; i < t.rows.n; i++) parts += strcmp(cell(t.rows.v[i].flag), "part") == 0;
    ok(parts == 1 && hooks_counted() == 3, "the later piece of a cut call is flagged, and counts no hook again");
    read_all(true);
    ok(total("Python") == 110 && total("C") == 53, "nested intervals are whole");

    const struct log_record still[] = { { 100, 0, LOG_PYTHON, 0 }, { 110, 1, LOG_CALL, 1 },
                                        { 120, 7, LOG_PYTHON, 1 }, { 130, 1, LOG_RETURN, 1 },
                                        { 200, 0, LOG_PYTHON_END, 0 } };
    write_log(1, still, 5, true);
    read_all(false);
    ok(calls() == 1 && total("C") == 10 && total("Python") == 90,
       "a call that is over together with its callback has no rest of no length");

    const struct log_record stopped[] = { { 100, 0, LOG_PYTHON, 0 },        { 100, 7, LOG_PYTHON, HOOK_TREE },
                                          { 100, 1, LOG_CALL, HOOK_PATCH }, { 100, 1, LOG_RETURN, HOOK_PATCH },
                                          { 100, 7, LOG_PYTHON_END, HOOK_TREE },
                                          { 100, 7, LOG_PYTHON, HOOK_TREE } };
    write_log(1, stopped, 6, true);
    for (int whole = 0; whole < 2; whole++) {
        read_all(whole);
        ok(hooks_counted() == 3, "calls count, though the clock stands still and the last one never ends");
    }

    const struct log_record nested[] = {
        { 1, 1, LOG_CALL, 0 }, { 2, 2, LOG_CALL, 0 }, { 5, 2, LOG_EXCEPTION, 0 }, { 9, 1, LOG_RETURN, 0 }
    };
    write_log(1, nested, 4, true);
    read_all(false);
    ok(calls() == 2 && total("C") == 11, "C within C stays nested, an exception ends a call");

    const struct log_record ops[] = { { 1, 6, LOG_OP, 0 },     { 2, 8, LOG_PHASE, 0 }, { 4, 6, LOG_OP, 0 },
                                      { 5, 6, LOG_OP_END, 0 }, { 7, 1, LOG_PASS, 0 },  { 8, 77, LOG_DROPPED, 0 },
                                      { 9, 6, LOG_OP_END, 0 }, { 9, 6, LOG_OP_END, 0 } };
    write_log(1, ops, 8, true);
    read_all(false);
    int64_t op_time = 0, phase = 0, pass = 0, lost = 0;
    for (size_t i = 0; i < t.rows.n; i++) {
        const struct row *r = &t.rows.v[i];
        if (r->kind == EVENT_OP) op_time += r->end - r->start;
        if (r->kind == EVENT_PHASE) phase = r->end - r->start;
        if (r->kind == EVENT_PROC && strcmp(cell(r->cat), "pass") == 0) pass = r->end - r->start;
        if (r->kind == EVENT_OVH) lost = strcmp(cell(r->name), "77") == 0;
    }
    ok(op_time == 9 && phase == 7 && pass == 6 && lost && counts.stray == 1,
       "operations, a phase, a pass, a loss and a stray end");

    bool exact = true;
    static const size_t sizes[] = { 1,        100,          LOG_HALF / 2,     LOG_HALF / 2 + 1,
                                    LOG_HALF, LOG_HALF + 7, 3 * LOG_HALF / 2, 50000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_killed(sizes[i]);
        read_all(false);
        exact = exact && calls() == sizes[i] && counts.stray == 0 && counts.unclosed == 0;
    }
    ok(exact, "what a killed process left in the ring is found, stale records are not");
    drop("ev.5.0.1.tail");

    write_log(1, x1, 8, true);
    char path[200];
    snprintf(path, sizeof path, "%s/ev.5.0.1.log", dir);
    for (off_t n = LOG_HEAD + 8 * 16; n >= 0; n -= 5) {
        if (truncate(path, n) != 0) return 1;
        freopen("/dev/null", "w", stderr);
        read_all(false);
        if (n >= LOG_HEAD && counts.records != (uint64_t)(n - LOG_HEAD) / 16) exact = false;
    }
    ok(exact, "a log cut at any byte gives its whole records");
    drop("ev.5.0.1.log");
    estimates();
    threads_of_a_log();
    forked();
    preempted();
    drop("ev.5.0.1.log");
    drop("names.5.0.csv");
    return rmdir(dir) || done();
}
