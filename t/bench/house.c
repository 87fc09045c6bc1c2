/* house csv|sexp - speed of the readers and writers against the floors we promise; by `make bench-csv`, `make
   bench-sexp`.
 *
 * Inputs of about 100 MB are made once in memory; a case is the best of five runs in CPU time of this process, reading
 * by read(2) from the page cache.  Rows out: case, bytes, cpu_seconds, gb_per_second, floor, kept.  Exit 1 below a
 * floor. */
#include "base/message.h"
#include "base/rng.h"
#include "table/csvio.h"
#include "tree/sexp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK_BYTES = 4 << 20, TIMES = 25, REPEATS = 5 };

/* ---- inputs: a header and then the same block many times */

typedef void row_maker(struct buf *, struct rng *);

/* 16 columns, 3 names, 10 small integers, two numbers of 17 digits and one of 6 decimals: 150 bytes */
static void feat_row(struct buf *b, struct rng *r)
{
    buf_format(b, "bench%d,camlUnit__fun_%d,site%d", (int)rng_below(r, 20), (int)rng_below(r, 9999),
               (int)rng_below(r, 999));
    for (int i = 0; i < 10; i++) buf_format(b, ",%d", (int)rng_below(r, i % 2 ? 5000 : 90));
    buf_format(b, ",%.17g,%.17g,%.6f\n", rng_unit(r), 100 * rng_unit(r), 50 * rng_unit(r));
}

static void quoted_row(struct buf *b, struct rng *r)
{
    if (rng_below(r, 10) == 0) buf_format(b, "\"std::map<int, f%d>::at\",", (int)rng_below(r, 99));
    else buf_format(b, "bench%d,", (int)rng_below(r, 20));
    buf_format(b, "camlUnit__fun_%d,site%d", (int)rng_below(r, 9999), (int)rng_below(r, 999));
    for (int i = 0; i < 10; i++) buf_format(b, ",%d", (int)rng_below(r, i % 2 ? 5000 : 90));
    buf_format(b, ",%.17g,%.17g,%.6f\n", rng_unit(r), 100 * rng_unit(r), 50 * rng_unit(r));
}

static void all_quoted_row(struct buf *b, struct rng *r)
{
    buf_format(b, "\"bench%d\",\"camlUnit__fun_%d\",\"site%d\"", (int)rng_below(r, 20), (int)rng_below(r, 9999),
               (int)rng_below(r, 999));
    for (int i = 0; i < 10; i++) buf_format(b, ",\"%d\"", (int)rng_below(r, i % 2 ? 5000 : 90));
    buf_format(b, ",\"%.17g\",\"%.17g\",\"%.6f\"\n", rng_unit(r), 100 * rng_unit(r), 50 * rng_unit(r));
}

static void number_row(struct buf *b, struct rng *r)
{
    for (int i = 0; i < 8; i++) buf_format(b, "%.17g%c", rng_unit(r), i < 7 ? ',' : '\n');
}

/* a call site, 190 bytes, 16 atoms */
static void site_row(struct buf *b, struct rng *r)
{
    buf_format(b, "((path (((Unit%d camlUnit%d) (Plain_apply %d)))) (callee camlStdlib__List__fun_%d)",
               (int)rng_below(r, 99), (int)rng_below(r, 99), (int)rng_below(r, 5000), (int)rng_below(r, 9999));
    buf_format(b, " (size %d) (inline true) (benefit %.6f) (depth %d) (time_seconds %.17g))\n", (int)rng_below(r, 500),
               rng_unit(r), (int)rng_below(r, 9), rng_unit(r));
}

static size_t bytes;

static int make_input(const char *header, row_maker *row)
{
    struct rng r = rng_for(1, str_of("bench"));
    struct buf b = { 0 };
    int fd = memfd_create("bench", 0);
    while (b.n < BLOCK_BYTES) row(&b, &r);
    bytes = strlen(header);
    if (write(fd, header, bytes) != (ssize_t)bytes) die_errno("memfd");
    for (int i = 0; i < TIMES; i++, bytes += b.n)
        if (write(fd, b.s, b.n) != (ssize_t)b.n) die_errno("memfd");
    free(b.s);
    return fd;
}

/* ---- cases */

static double sink;

static csv *rewound(int fd)
{
    lseek(fd, 0, SEEK_SET);
    return csv_open_fd(dup(fd), "bench");
}

static void count(int fd)
{
    csv *t = rewound(fd);
    while (csv_next(t)) sink++;
    csv_close(t);
}

static csvw *nowhere(void)
{
    return csvw_open("/dev/null");
}

static void cut(int fd)
{
    csv *t = rewound(fd);
    csvw *w = nowhere();
    while (csv_next(t)) {
        csvw_copy(w, t, 0);
        csvw_copy(w, t, 5);
        csvw_copy(w, t, 15);
        csvw_end(w);
    }
    csv_close(t);
    csvw_close(w);
}

static void sum(int fd, int a, int b)
{
    csv *t = rewound(fd);
    while (csv_next(t)) sink += csv_num(t, a) + csv_num(t, b);
    csv_close(t);
}

static void sum_short(int fd)
{
    sum(fd, 4, 15);
}

static void sum_long(int fd)
{
    sum(fd, 13, 14);
}

static void rewrite(int fd)
{
    csv *t = rewound(fd);
    csvw *w = nowhere();
    while (csv_next(t)) {
        for (int i = 0; i < 8; i++) csvw_num(w, csv_num(t, i) * 1.0000001);
        csvw_end(w);
    }
    csv_close(t);
    csvw_close(w);
}

static void parse(int fd)
{
    lseek(fd, 0, SEEK_SET);
    dup2(fd, 0);
    sexpr *r = sexp_open("-", SEXP_CORE);
    for (const struct sexp *e; (e = sexp_next(r));) sink += (double)sexp_count(e, 0);
    sexp_close(r);
}

static void parse_and_write(int fd)
{
    lseek(fd, 0, SEEK_SET);
    dup2(fd, 0);
    sexpr *r = sexp_open("-", SEXP_CORE);
    sexpw *w = sexpw_open("/dev/null");
    for (const struct sexp *e; (e = sexp_next(r));) sexpw_copy(w, e, 0);
    sexp_close(r);
    sexpw_close(w);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static csvw *out;
static bool all_kept = true;

/* floor in GB/s */
static void bench(const char *name, int fd, void (*run)(int), double floor)
{
    double best = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        double begin = cpu_seconds();
        run(fd);
        double took = cpu_seconds() - begin;
        if (took < best) best = took;
    }
    double speed = 1e-9 * (double)bytes / best;
    bool kept = speed >= floor;
    all_kept = all_kept && kept;
    csvw_cstr(out, name);
    csvw_int(out, (int64_t)bytes);
    csvw_format(out, "%.3f", best);
    csvw_format(out, "%.2f", speed);
    csvw_num(out, floor);
    csvw_cstr(out, kept ? "true" : "false");
    csvw_end(out);
    csvw_flush(out);
}

static void bench_csv(void)
{
    static const char header[] = "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p\n";
    int fd = make_input(header, feat_row);
    bench("csv: rows counted", fd, count, 1.5);
    bench("csv: 3 of 16 columns copied", fd, cut, 1.5);
    bench("csv: 2 columns of short numbers read", fd, sum_short, 1);
    bench("csv: 2 columns of 17 digits read", fd, sum_long, 0.7);
    close(fd);
    fd = make_input("a,b,c,d,e,f,g,h\n", number_row);
    bench("csv: every field read and printed", fd, rewrite, 0.15);
    close(fd);
    fd = make_input(header, quoted_row);
    bench("csv: 10 % of rows quoted, counted", fd, count, 0.6);
    close(fd);
    fd = make_input(header, all_quoted_row);
    bench("csv: every field quoted, counted", fd, count, 0.2);
    close(fd);
}

static void bench_sexp(void)
{
    int fd = make_input("", site_row);
    bench("sexp: text to trees", fd, parse, 0.7);
    bench("sexp: text to trees to text", fd, parse_and_write, 0.2);
    close(fd);
}

int main(int argc, char **argv)
{
    prog = "house";
    const char *which = argc > 1 ? argv[1] : "";
    out = csvw_open(NULL);
    csvw_names(out, "case,bytes,cpu_seconds,gb_per_second,floor,kept");
    csvw_end(out);
    if (strcmp(which, "csv") == 0) bench_csv();
    else if (strcmp(which, "sexp") == 0) bench_sexp();
    else usage("csv or sexp expected");
    csvw_close(out);
    return all_kept && sink != 0 ? 0 : 1;
}
