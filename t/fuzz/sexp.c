/* sexp.c - fuzz target: whatever a dialect accepts is written so that it reads back as the same tree. */
#include "fuzz.h"
#include "tree/sexp.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static enum sexp_dialect dialect;
static struct buf first, second;
static char *written;
static size_t nwritten;

/* nodes in order: kind, text and number of children say all about a tree */
static void tag_all(sexpr *r, struct buf *b, sexpw *w)
{
    *b = (struct buf){ 0 };
    buf_add(b, "", 0);
    for (const struct sexp *e; (e = sexp_next(r));) {
        snode n = 0, *up = NULL;
        size_t depth = 0, cap = 0;
        for (;;) {
            if (sexp_is_list(e, n)) buf_format(b, "(%zu ", sexp_count(e, n));
            else buf_format(b, "%zu:", sexp_atom(e, n).n), buf_str(b, sexp_atom(e, n));
            sexp_line(e, n);
            snode k = sexp_first(e, n);
            if (k != SEXP_NONE) {
                up = grow(up, depth + 1, &cap, sizeof *up);
                up[depth++] = n;
            } else {
                k = depth ? sexp_after(e, n) : SEXP_NONE;
                while (k == SEXP_NONE && depth) k = --depth ? sexp_after(e, up[depth]) : SEXP_NONE;
            }
            if (k == SEXP_NONE) break;
            n = k;
        }
        if (w) sexpw_copy(w, e, 0);
    }
    sexp_close(r);
}

static void round_trip(const uint8_t *data, size_t n)
{
    FILE *f = open_memstream(&written, &nwritten);
    sexpw *w = sexpw_file(f);
    tag_all(sexp_open_text((const char *)data, n, "in", dialect), &first, w);
    sexpw_close(w);
    fclose(f);
}

static void again(const uint8_t *data, size_t n)
{
    (void)data;
    (void)n;
    if (nwritten) tag_all(sexp_open_text(written, nwritten, "again", SEXP_CORE), &second, NULL);
    else second.n = 0;
}

static void read_only(const uint8_t *data, size_t n)
{
    tag_all(sexp_open_text((const char *)data, n, "in", dialect), &first, NULL);
}

static void compare(const uint8_t *data, size_t n)
{
    round_trip(data, n);
    again(data, n);
    fuzz_check(str_eq((str){ first.s, first.n }, (str){ second.s, second.n }),
               "the tree changed on its way out and in");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n) return 0;
    dialect = (enum sexp_dialect)(*data % 3);
    if (!fuzz_run(read_only, data + 1, n - 1)) return 0;
    fuzz_check(fuzz_run(compare, data + 1, n - 1), "what was written is not accepted");
    free(written);
    written = NULL;
    return 0;
}
