/* place-pack - give buffers with known lifetimes offsets in one pool
 *
 * Usage: place-pack [--capacity=BYTES] [BUFFERS]
 *
 * Columns in: id, lower, upper (exclusive), size, as in MiniMalloc's files;
 * alignment may be given.  Columns out: all of them, then offset; no two
 * buffers overlap both in time and in address.  Without --capacity the pool is
 * made as small as a few passes get it.  Rows keep their order; all are kept
 * in memory.  Exit 1 where the buffers cannot be packed into the capacity (or
 * the search gave up; the message says which), with nothing written.
 *
 * Examples:
 *   $ place-stat --buffers graph.sexp | place-pack > offsets.csv
 *   $ place-pack --capacity=1048576 buffers.csv > offsets.csv
 */
#include "base/checked.h"
#include "base/filter.h"
#include "place/pack.h"
#include "table/csvio.h"
#include HELP
#include <stdint.h>
#include <stdlib.h>

static uint64_t capacity;
static long nodes = 100000000;
static const struct opt options[] = {
    { 0, "capacity", SIZE, &capacity, "BYTES", "size of the pool; 0: as small as it gets" },
    { 0, "nodes", INT, &nodes, "N", "steps of search before giving up", 1, 1e15 },
    { 0 } };

struct rows { struct buffer *b; const char **text; int n; size_t cap, captext; };

static uint64_t bytes(csv *t, int col, const char *what)
{
    int64_t v = csv_int(t, col);
    if (v < 0 || v > (int64_t)1 << 56) csv_die(t, col, what);
    return (uint64_t)v;
}

static struct rows read(csv *t, struct arena *text)
{
    struct rows r = { 0 };
    int lower = csv_need(t, "lower"), upper = csv_need(t, "upper"), size = csv_need(t, "size"),
        align = csv_find(t, "alignment");
    int ncol = csv_ncol(t);
    const uint64_t MOST = 1ull << 62;
    uint64_t sum = 0;
    csv_need(t, "id");
    if (csv_find(t, "offset") >= 0) die_at(csv_file(t), 1, "there is a column 'offset' already");
    while (csv_next(t)) {
        r.b = grow(r.b, (size_t)r.n + 1, &r.cap, sizeof *r.b);
        r.text = grow(r.text, size_mul((size_t)r.n + 1, (size_t)ncol), &r.captext, sizeof *r.text);
        struct buffer *b = &r.b[r.n];
        *b = (struct buffer){ csv_int(t, lower), csv_int(t, upper), bytes(t, size, "a size in bytes"), 1, 0 };
        if (b->upper <= b->lower) csv_die(t, upper, "above 'lower'");
        if (align >= 0 && csv_has(t, align)) b->align = bytes(t, align, "an alignment in bytes");
        /* no offset can then leave the range, whatever is placed where */
        if (!may_add_u64(sum, b->size, &sum) || !may_add_u64(sum, b->align > 64 ? b->align : 64, &sum) || sum > MOST)
            die_at(csv_file(t), csv_line(t), "the sizes add up to more than %llu bytes", (unsigned long long)MOST);
        for (int c = 0; c < ncol; c++) r.text[(size_t)r.n * (size_t)ncol + (size_t)c] = csv_cstr(t, c, text);
        r.n++;
        if (r.n == 1 << 28) die_at(csv_file(t), csv_line(t), "too many buffers");
    }
    return r;
}

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    struct arena text = { 0 };
    csv *t = csv_open(path);
    struct rows r = read(t, &text);
    uint64_t load = pack_load(r.b, r.n);
    if (capacity > 0) {
        if (load > capacity)
            die("%s: cannot be packed: %llu bytes are alive at once, the capacity is %llu", csv_file(t),
                (unsigned long long)load, (unsigned long long)capacity);
        enum pack_result result = pack(r.b, r.n, capacity, 64, nodes);
        if (result == PACK_IMPOSSIBLE)
            die("%s: cannot be packed into %llu bytes", csv_file(t), (unsigned long long)capacity);
        if (result == PACK_GAVE_UP)
            die("%s: no packing into %llu bytes found in %ld steps", csv_file(t), (unsigned long long)capacity, nodes);
    } else pack_low(r.b, r.n, 64, load);
    csvw *w = csvw_open("-");
    csvw_copy_names(w, t);
    csvw_names(w, "offset");
    csvw_end(w);
    for (int i = 0; i < r.n; i++) {
        for (int c = 0; c < csv_ncol(t); c++) csvw_cstr(w, r.text[(size_t)i * (size_t)csv_ncol(t) + (size_t)c]);
        csvw_int(w, (int64_t)r.b[i].offset);
        csvw_end(w);
    }
    csv_close(t);
    free(r.b);
    free(r.text);
    arena_free(&text);
    return csvw_close(w);
}
