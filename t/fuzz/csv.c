/* csv.c - fuzz target: whatever the reader accepts, the writer writes so that it reads back the same. */
#include "base/num.h"
#include "fuzz.h"
#include "table/csvio.h"
#include <math.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct buf first, second;
static bool copy;                                        /* csvw_copy, or csvw_str */

static void tag(struct buf *b, str s)
{
    buf_add(b, (const char *)&s.n, sizeof s.n);
    buf_str(b, s);
}

static void read_and_write(csv *t, csvw *w, struct buf *b)
{
    *b = (struct buf){ 0 };
    for (int i = 0; i < csv_ncol(t); i++) tag(b, csv_name(t, i));
    if (w) {
        csvw_copy_names(w, t);
        csvw_end(w);
    }
    while (csv_next(t)) {
        for (int i = 0; i < csv_ncol(t); i++) {
            double v;
            str s = csv_str(t, i);
            tag(b, s);
            if (num_parse(s.s, s.n, &v) && isfinite(v)) csv_num(t, i);   /* 1e999 is refused */
            if (!w) continue;
            if (copy) csvw_copy(w, t, i);
            else csvw_str(w, s);
        }
        if (w) csvw_end(w);
    }
    csv_close(t);
}

static void count_rows(const uint8_t *data, size_t n)
{
    csv *t = csv_open_fd(fuzz_file(data, n), "in");
    while (csv_next(t)) {}
    csv_close(t);
}

static void round_trip(const uint8_t *data, size_t n)
{
    int fd = fuzz_reuse(0), again = dup(fd);
    csvw *w = csvw_fd(fd);
    read_and_write(csv_open_fd(fuzz_file(data, n), "in"), w, &first);
    csvw_close(w);
    lseek(again, 0, SEEK_SET);
    read_and_write(csv_open_fd(again, "again"), NULL, &second);
    fuzz_check(str_eq((str){ first.s, first.n }, (str){ second.s, second.n }),
               "the table changed on its way out and in");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n) return 0;
    copy = *data & 1;
    /* only sound tables go round: a writer that is open when the reader dies would be left behind */
    if (fuzz_run(count_rows, data + 1, n - 1))
        fuzz_check(fuzz_run(round_trip, data + 1, n - 1), "what was written is not accepted");
    return 0;
}
