/* loop-encode - machine code or C text of the nest in each row
 *
 * Usage: loop-encode [--isa=avx2|avx512|amx] [--code=FILE] [--c=FILE] [FILE]
 *
 * Columns in: problem, tree.  Columns out: all, then bytes (of code),
 * encode_seconds (median of 9), tile_rows, tile_vectors, vector (the variable
 * in the vector registers), threads and reason (why there is no code; the
 * others are then empty).  Order is kept.  --code and --c write the code of
 * the last row: raw bytes (objdump -D -b binary -m i386:x86-64 FILE), which are
 * position-independent and may be called as void (float *c, const float *a,
 * const float *b), or C with intrinsics.  Code that needs an operand in another
 * layout, scratch or a second thread is not written raw: see loop-emit.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64 --n=64 --k=64 | loop-reset |
 *     loop-act --do=split_8,down,swap_down | loop-encode --c=nest.c
 */
#include "base/filter.h"
#include "base/compare.h"
#include "base/out.h"
#include "loop/code/native.h"
#include "loop/nest/rows.h"
#include "measure/clock.h"
#include HELP
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 9 };
static const char *code_path, *c_path;
static int isa_given = -1;
static const struct opt options[] = {
    ISA_OPTION(isa_given),
    { 0, "code", STR, &code_path, "FILE", "write the bytes of the last row's code" },
    { 0, "c", STR, &c_path, "FILE", "write the last row as C" },
    { 0 } };

static int by_int(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return ORDER(x, y);
}

static void write_file(const char *path, const void *p, size_t n)
{
    struct out *o = out_open(path);
    if (fwrite(p, 1, n, out_file(o)) != n) die_errno("%s", path);
    out_close(o);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    enum isa isa = isa_given < 0 ? isa_best() : (enum isa)isa_given;
    struct nest_rows r;
    struct kernel g = { 0 };
    const char *why = "there are no rows";
    rows_open(&r, csv_open(filter_operand(argc, argv, i)), false);
    csvw *w = csvw_open("-");
    csvw_copy_names(w, r.t);
    csvw_names(w, "bytes,encode_seconds,tile_rows,tile_vectors,vector,threads,reason");
    csvw_end(w);
    bool any = false;
    while (rows_next(&r)) {
        int64_t ns[REPEATS];
        for (int k = 0; k < REPEATS; k++) {
            ns[k] = now_ns();
            why = kernel_encode(&g, &r.p, &r.nest, isa);
            ns[k] = now_ns() - ns[k];
        }
        any = true;
        qsort(ns, REPEATS, sizeof *ns, by_int);
        csvw_copy_all(w, r.t);
        if (why) {
            for (int k = 0; k < 6; k++) csvw_empty(w);
        } else {
            csvw_int(w, (int64_t)g.bytes);
            csvw_num(w, (double)ns[REPEATS / 2] * 1e-9);
            csvw_int(w, g.rows);
            csvw_int(w, g.vectors);
            csvw_cstr(w, r.p.name[g.vector_var]);
            csvw_int(w, g.threads);
        }
        csvw_cstr(w, why);
        csvw_end(w);
    }
    for (int t = 0; t < 3 && code_path && !why; t++)
        if (g.scratch_bytes[t]) why = "it needs a tensor in another layout; loop-emit writes that too";
    if (code_path && !why && g.threads > 1) why = "it is in two parts, one for each thread";
    if (code_path && why) die("no code to write: %s", why);
    if (code_path) write_file(code_path, kernel_bytes(&g), g.bytes);
    if (c_path) {
        if (!any) die("no nest to write: there are no rows");
        struct buf b = { 0 };
        struct image_kernel q = { .name = "nest", .p = &r.p };
        q.nest[isa] = &r.nest;
        native_begin(&b);
        const char *no = native_emit(&b, &q);
        if (no) die("no C to write: %s", no);
        write_file(c_path, b.s, b.n);
        free(b.s);
    }
    kernel_free(&g);
    rows_close(&r);
    return csvw_close(w);
}
