/* logread.c - fuzz target: a log, its ring and its names out of any bytes: rows come by start, end no sooner than they
 * begin, and no more than there are records twice over; both ways of reading. */
#include "fuzz.h"
#include "base/filter.h"
#include "prof/import/logread.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char dir[] = "/dev/shm/fuzz-logread.XXXXXX";    /* in memory: three files an input */

static void save(const char *name, const void *p, size_t n, bool head, bool ring)
{
    static char zeros[LOG_HEAD];
    char path[64];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    if (!f) abort();
    if (head) {
        struct log_head h = { .magic = LOG_MAGIC, .version = LOG_VERSION, .half = ring ? 4 : LOG_HALF, .pid = 5,
                              .tid = 1, .first = { 1, 1, 1, 0 }, .last = { 1, 1, 1, 0 }, .ns_per_tick = 1,
                              .process = "p" };
        memcpy(zeros, &h, sizeof h);
        fwrite(zeros, 1, sizeof zeros, f);
    }
    fwrite(p, 1, n, f);
    fclose(f);
}

static void drop(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
}

static void body(const uint8_t *data, size_t n)
{
    struct log_counts counts = { 0 };
    log_reader *r = log_open(dir, data[0] & 1, &counts);
    int64_t last = INT64_MIN;
    uint64_t rows = 0;
    for (struct log_row row; log_next(r, &row); rows++) {
        fuzz_check(row.start >= last, "rows are not by start");
        fuzz_check(row.end >= row.start, "a row ends before it begins");
        fuzz_check(row.name < log_text(r)->n && row.cat < log_text(r)->n, "a text that is not there");
        last = row.start;
    }
    /* each record begins at most one row, or makes all that are open go on */
    fuzz_check(rows <= (counts.records + 4) * (counts.records + 4), "too many rows");
    log_close(r);
    (void)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static bool made;
    if (!made && !mkdtemp(dir)) abort();
    made = true;
    quiet = true;
    if (n < 4) return 0;
    size_t part = n * data[1] / 256, names = n * data[2] / 256;
    bool whole = data[0] & 2;                            /* the head is given too */
    save("ev.5.0.1.log", data + 4, part > 4 ? part - 4 : 0, !whole, data[0] & 4);
    if (data[0] & 4) save("ev.5.0.1.tail", data + 4, n - 4, !whole, true);
    else drop("ev.5.0.1.tail");
    static const char known[] = "id,kind,cat,module,name\n1,c,C,,f\n2,c,C,m,g\n3,op,,,train\n4,py,Python,,cb\n";
    if (data[0] & 8) save("names.5.0.csv", data + 4, names > 4 ? names - 4 : 0, false, false);
    else save("names.5.0.csv", known, sizeof known - 1, false, false);
    fuzz_run(body, data, n);
    return 0;
}
