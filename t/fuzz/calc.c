/* calc.c - fuzz target: an expression, a line end, a table.  What is accepted gives the same values once more, and text
 * that says the same as the value.  Patterns are left out: they are the C library's, whose time has no bound. */
#include "base/exact.h"
#include "fuzz.h"
#include "table/expr.h"
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void run(const uint8_t *data, size_t n, struct buf *out)
{
    const uint8_t *end = memchr(data, '\n', n);
    char text[400];
    if (!end || (size_t)(end - data) >= sizeof text) return;
    memcpy(text, data, (size_t)(end - data));
    text[end - data] = 0;
    if (strchr(text, '~') || strstr(text, "replace") || strstr(text, "extract")) return;
    struct scope s = { .t = csv_open_fd(fuzz_file(end + 1, n - (size_t)(end - data) - 1), "in") };
    if (csv_ncol(s.t) > 1) s.group = columns_all(s.t);
    s.group.n = s.group.n ? 1 : 0;
    expr *e = expr_compile(&s, "--set", text);
    for (int rows = 0; rows < 100 && scope_row(&s); rows++) {
        struct value v = expr_run(e, &s);
        str t = value_text(&s, &v);
        struct exact_number back;
        if (v.kind == NUMBER)
            /* of a double the shortest text that is read as this double: from 2^53 on that may be another integer */
            fuzz_check(!exact_wrong(t.s, t.n, &back) && (isnan(v.number.x) || v.number.x == back.x) &&
                           (!v.number.big || exact_cmp(back, v.number) == 0), "the text of a value differs");
        buf_str(out, t);
        buf_char(out, '\n');
    }
}

static struct buf first, second;

static void once(const uint8_t *data, size_t n)
{
    first = (struct buf){ 0 };
    run(data, n, &first);
}

static void again(const uint8_t *data, size_t n)
{
    second = (struct buf){ 0 };
    run(data, n, &second);
    fuzz_check(str_eq((str){ first.s, first.n }, (str){ second.s, second.n }), "other values the second time");
}

/* two runs in one body, so that what the first made still stands */
static void both(const uint8_t *data, size_t n)
{
    once(data, n);
    again(data, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(both, data, n);
    return 0;
}
