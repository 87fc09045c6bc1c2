/* loop-emit - the nest in each row as an object file, a shared library or C
 *
 * Usage: loop-emit [--object=F.o] [--shared=F.so] [--c=F.c] [--header=F.h]
 *            [--plan=F] [--ir=F] [--add] [--parts] [--rows] [--skip] [FILE]
 *
 * Columns in: problem, tree (absent or empty: the best nest by the model),
 * name (of a C or C++ function; absent or empty: from the problem), isa (the
 * instruction set that the tree is for; absent or empty: the best one here).
 * Of consecutive rows with the same problem, name and isa the last counts, so
 * that the output of loop-search can be piped in; rows that differ in isa
 * alone make one kernel.  For an instruction set without a row the nest is the
 * best by the model.  Columns out: name, problem, isa (those it has code for),
 * bytes (in the object; packing counts once for all), reason.
 * For each kernel the files have
 *   int NAME(float *c, const float *a, const float *b)
 *   int NAME_ld(c, ldc, a, lda, b, ldb)   rows so many elements apart
 *   int NAME_test(void)   0: equal to plain loops on small numbers here
 *   int NAME_isa(void)    what it runs with here: 0 plain loops, or bits: 1
 *                         AVX2 with FMA, 2 AVX-512, 32 or 64 AMX
 * The C text is for aarch64, too: what is for AVX2 by NEON, bit 1.
 * For mm_bf16, mm_u8s8 and mm_s8s8 b is in groups, as NAME_pack(packed, b)
 * makes it from rows for the machine it runs on, and there is no NAME_ld; code
 * is for AMX, and for AVX-512 with BF16 or VNNI.  With (weights packed) b
 * is floats, packed by NAME_pack in the same way, and there is no NAME_ld.
 * mm_q4 and mm_q4z have uint32_t b[K/8][N], the first of 8 steps lowest, then
 * float scale[K/G][N] and, of mm_q4z, zero[K/G][N], for NAME_pack.
 * Behind b a problem with (then ..) has bias and residual, whose rows are as
 * c's; attention v, in NAME_ld v and ldv.  With (type f64) all floats are
 * doubles; with (type f16) or (type bf16) a, b and v are uint16_t, with (type
 * e5m2) uint8_t.
 * With --parts there is int NAME_part(int thread, int threads, ..) as NAME:
 * the caller's threads 0 to N - 1 each call it with N, any number, and do parts
 * of C along its slowest variable that do not overlap.
 * With --rows a product whose weights are packed has int NAME_rows(int64_t
 * rows, ..) as NAME: a and c have any number of rows, b is the same.
 * They need nothing else: no library, no flags, no relocation to the outside;
 * what the processor and the system can do is asked at the first call.  With
 * --add C is added to.  --plan and --ir write what was decided for each kernel
 * and instruction set, to be read: loops, tiles, calls; instructions.  A nest
 * that cannot be emitted is an error, with --skip a row with its reason.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64 --n=128 --k=256 --test=0 |
 *     loop-search --algo=heuristic |
 *     loop-emit --shared=libmm.so --header=mm.h
 */
#include "base/filter.h"
#include "base/out.h"
#include "loop/code/many.h"
#include "loop/code/native.h"
#include "loop/search/takeaway.h"
#include HELP
#include <stdio.h>
#include <string.h>

static const char *files[4], *printed[2];
static bool add, skip, parts, rows;
static const struct opt options[] = {
    { 0, "object", STR, &files[0], "FILE", "ELF object, to be linked" },
    { 0, "shared", STR, &files[1], "FILE", "ELF shared library, to be linked or loaded" },
    { 0, "c", STR, &files[2], "FILE", "C with intrinsics" },
    { 0, "header", STR, &files[3], "FILE", "header for any of them" },
    { 0, "plan", STR, &printed[0], "FILE", "what each kernel does, as lines" },
    { 0, "ir", STR, &printed[1], "FILE", "the instructions of each" },
    { 0, "add", FLAG, &add, NULL, "C += A B, not C = A B" },
    { 0, "parts", FLAG, &parts, NULL, "with NAME_part, for any number of threads" },
    { 0, "rows", FLAG, &rows, NULL, "with NAME_rows, for any number of rows" },
    { 0, "skip", FLAG, &skip, NULL, "leave out what cannot be emitted, and say why" },
    { 0 } };

static void print(struct buf b[2], const struct image_kernel *q)
{
    for (int i = 0; i < 2 * ISAS; i++)
        if (printed[i % 2] && q->nest[i / 2] && q->p->op == OP_FMA) {
            buf_format(&b[i % 2], "%s %s %s\n", q->name, isa_name[i / 2], q->p->text);
            kernel_print(&b[i % 2], q->p, q->nest[i / 2], (enum isa)(i / 2), q->add, i % 2);
        }
}

static const char *emit(struct image *m, struct buf *text, struct image_kernel *q)
{
    size_t had = text->n;
    const char *why = image_add(m, q);
    if (!why && files[2]) why = native_emit(text, q);
    if (why) text->n = had;
    return why;
}

static void write_text(const char *path, const struct buf *b)
{
    struct out *o = out_open(path);
    if (fwrite(b->s, 1, b->n, out_file(o)) != b->n) die_errno("%s", path);
    out_close(o);
}

static void write_files(const struct image *m, const struct buf *text, const struct image_kernel *q, size_t n)
{
    for (int i = 0; i < 4; i++) {
        if (!files[i]) continue;
        struct out *o = out_open(files[i]);
        const char *base = strrchr(files[i], '/');
        if (i == 0) image_object(m, out_file(o));
        else if (i == 1) image_shared(m, out_file(o), base ? base + 1 : files[i]);
        else if (i == 3) image_header(out_file(o), q, n);
        else if (fwrite(text->s, 1, text->n, out_file(o)) != text->n) die_errno("%s", files[i]);
        out_close(o);
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (rows && (parts || files[2])) usage("--rows is for --object and --shared, without --parts");
    struct nest_rows r;
    struct image m;
    struct buf text = { 0 }, lines[2] = { 0 };
    csv *t = csv_open(filter_operand(argc, argv, i));
    rows_open(&r, t, false);
    size_t nitem;
    struct takeaway *item = takeaways(&r, &nitem);
    image_begin(&m);
    native_begin(&text);
    csvw *w = csvw_open("-");
    csvw_names(w, "name,problem,isa,bytes,reason");
    csvw_end(w);
    struct image_kernel *q = xcalloc(nitem + 1, sizeof *q);
    size_t n = 0;
    for (size_t k = 0; k < nitem; k++) {
        struct takeaway *x = &item[k];
        takeaway_complete(x, (1u << ISAS) - 1);
        q[n] = (struct image_kernel){ .name = x->name, .p = &x->p, .nest = { NULL, &x->nest[ISA_AVX512] },
                                      .add = add, .parts = parts, .rows = rows };
        if (x->p.group == 1) q[n].nest[ISA_AVX2] = &x->nest[ISA_AVX2];
        if (problem_tiles(&x->p) || x->have[ISA_AMX]) q[n].nest[ISA_AMX] = &x->nest[ISA_AMX];
        size_t before = m.bytes.n;
        const char *why = NULL;
        for (int j = 0; j < ISAS && rows && !why; j++) why = many_nest(&x->nest[j], &x->p, (enum isa)j);
        if (!why) why = emit(&m, &text, &q[n]);
        if (why && !skip) die_at(csv_file(t), x->line, "%s cannot be emitted: %s", x->p.text, why);
        csvw_cstr(w, x->name);
        csvw_cstr(w, x->p.text);
        csvw_cstr(w, why ? "" : x->p.op != OP_FMA && x->p.op != OP_COPY ? "plain"
                         : problem_pairs(&x->p) >= 0 ? "avx2 avx512 amx"
                         : x->p.group == 1 ? "avx2 avx512"
                         : x->p.type == TYPE_BF16 ? "avx512_bf16 amx" : "avx512_vnni amx");
        if (why) csvw_empty(w);
        else csvw_int(w, (int64_t)(m.bytes.n - before));
        csvw_cstr(w, why);
        csvw_end(w);
        if (!why) print(lines, &q[n]);
        n += !why;
    }
    for (int k = 0; k < 2; k++)
        if (printed[k]) write_text(printed[k], &lines[k]);
    if (n) write_files(&m, &text, q, n);
    else if (files[0] || files[1] || files[2] || files[3]) die("nothing to emit");
    rows_close(&r);
    return csvw_close(w);
}
