/* lib-ir - text LLVM modules: loop depth against dominance by brute force, replay keys, calls and their arguments */
#include "base/rng.h"
#include "inline/ir.h"
#include "inline/live.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 9 };

static const char *write_text(const char *text)
{
    static char path[] = "/tmp/lib-ir.XXXXXX";
    static bool made;
    if (!made) close(mkstemp(path)), made = true;
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    return path;
}

static void reach(bool edge[BLOCKS][BLOCKS], int from, int without, bool *seen)
{
    if (from == without || seen[from]) return;
    seen[from] = true;
    for (int s = 0; s < BLOCKS; s++) if (edge[from][s]) reach(edge, s, without, seen);
}

/* number of headers h whose natural loop (back edges t -> h with h dominating t) holds b */
static int depth_by_force(bool edge[BLOCKS][BLOCKS], int b)
{
    bool live[BLOCKS] = { 0 };
    int depth = 0;
    reach(edge, 0, -1, live);
    if (!live[b]) return 0;
    for (int h = 0; h < BLOCKS; h++) {
        bool without[BLOCKS] = { 0 }, in = false;
        reach(edge, 0, h, without);
        for (int t = 0; t < BLOCKS; t++) {
            if (!live[h] || !live[t] || !edge[t][h] || without[t]) continue;       /* h does not dominate t */
            bool back[BLOCKS][BLOCKS] = { 0 }, body[BLOCKS] = { 0 };
            for (int i = 0; i < BLOCKS; i++) for (int j = 0; j < BLOCKS; j++) back[j][i] = edge[i][j] && live[i];
            body[h] = true;                                                       /* the walk backwards stops at h */
            reach(back, t, h, body);
            in = in || body[b];
        }
        depth += in;
    }
    return depth;
}

static bool random_graph(struct rng *r)
{
    bool edge[BLOCKS][BLOCKS] = { 0 };
    struct buf b = { 0 };
    buf_format(&b, "target triple = \"x\"\ndefine void @callee() {\n  ret void\n}\ndefine void @f() {\nb0:\n");
    for (int i = 0; i < BLOCKS; i++) {
        if (i) buf_format(&b, "b%d:\n", i);
        buf_format(&b, "  call void @callee()\n");
        int x = (int)rng_below(r, BLOCKS), y = (int)rng_below(r, BLOCKS);
        int kind = (int)rng_below(r, 4);
        if (kind == 0) buf_format(&b, "  ret void\n");
        else if (kind == 1) buf_format(&b, "  br label %%b%d\n", x);
        else if (kind == 2) buf_format(&b, "  br i1 undef, label %%b%d, label %%b%d\n", x, y);
        else buf_format(&b, "  switch i32 undef, label %%b%d [\n    i32 1, label %%b%d\n  ]\n", x, y);
        if (kind >= 1) edge[i][x] = true;
        if (kind >= 2) edge[i][y] = true;
    }
    buf_format(&b, "}\n");
    struct ir_module m;
    ir_read(&m, write_text(b.s));
    bool good = m.ncalls == BLOCKS;
    for (int i = 0; good && i < BLOCKS; i++) good = (int)m.call[i].depth == depth_by_force(edge, i);
    if (!good) printf("# %s", b.s);
    ir_free(&m);
    free(b.s);
    return good;
}

static bool text_is(str s, const char *want)
{
    if (!str_is(s, want)) printf("# '%.*s', want '%s'\n", (int)s.n, s.s, want);
    return str_is(s, want);
}

static const char module[] =
    "source_filename = \"m.c\"\n"
    "define internal i32 @leaf(i32 noundef %0, i8* %1) #0 !dbg !10 {\n"
    "  ret i32 %0\n"
    "}\n"
    "define i32 @\"odd name\"(i32 %0, ...) {\n"
    "  ret i32 0\n"
    "}\n"
    "define i32 @main() !dbg !20 {\n"
    "  %1 = alloca [4 x i8], align 1\n"
    "  %2 = tail call i32 @leaf(i32 noundef 7, i8* %1), !dbg !30\n"
    "  %3 = call i32 (i32, ...) @\"odd name\"(i32 %2, i8* getelementptr ([2 x i8], [2 x i8]* @s, i64 0, i64 0)), !dbg "
    "!31\n"
    "  %4 = call i32 %5(i32 1)\n"
    "  %6 = call i32 bitcast (i32 ()* @leaf to i32 (i32)*)(i32 1)\n"
    "  %7 = call i32 @external(i32 1)\n"
    "  call void @llvm.dbg.value(metadata i32 0)\n"
    "  %8 = call i32 @leaf(i32 %7, i8* null), !dbg !32\n"
    "  ret i32 0\n"
    "}\n"
    "!5 = !DIFile(filename: \"dir/m.c\", directory: \"/\")\n"
    "!10 = distinct !DISubprogram(name: \"leaf\", scope: !5, file: !5, line: 100, scopeLine: 101)\n"
    "!15 = distinct !DISubprogram(name: \"mid\", linkageName: \"_mid\", scope: !5, file: !5, line: 50)\n"
    "!20 = distinct !DISubprogram(name: \"main\", scope: !5, file: !5, line: 10)\n"
    "!21 = !DILexicalBlockFile(scope: !22, file: !5, discriminator: 6)\n"
    "!22 = distinct !DILexicalBlock(scope: !15, file: !5, line: 52, column: 3)\n"
    "!30 = !DILocation(line: 55, column: 9, scope: !21, inlinedAt: !33)\n"
    "!31 = !DILocation(line: 12, column: 4, scope: !20)\n"
    "!32 = !DILocation(line: 0, scope: !20)\n"
    "!33 = distinct !DILocation(line: 14, column: 2, scope: !20)\n";

int main(void)
{
    struct rng r = rng_for(1, str_of("graphs"));
    int bad = 0;
    for (int i = 0; i < 300 && bad < 3; i++) bad += !random_graph(&r);
    ok(bad == 0, "loop depth of 300 random flow graphs is what brute force says");

    struct ir_module m;
    ir_read(&m, write_text(module));
    ok(m.ncalls == 3, "direct calls of functions with a body, tail calls and quoted names too");
    ok(text_is(m.call[0].chain, "_mid:5:9.3 @ main:4:2"),
       "the key: linkage name, offset, column, base discriminator, inline stack");
    ok(m.call[0].inlined == 1 && text_is(m.call[0].file, "dir/m.c") && m.call[0].line == 55 && m.call[0].at == 10,
       "where it stands");
    ok(m.call[0].arguments == 2 && m.call[0].constants == 1 && m.call[0].allocas == 1, "a literal and a local array");
    ok(text_is(m.function[m.call[1].callee].name, "odd name") && m.call[1].constants == 1,
       "a constant expression is a constant");
    ok(!m.call[2].stable && !site_stable(m.call[2].chain), "a merged location makes no stable key");
    ok(m.call[0].stable && site_stable(m.call[0].chain), "others do");
    long leaf = ir_find(&m, str_of("leaf"));
    ok(leaf >= 0 && m.function[leaf].local && m.function[leaf].uses == 2 && m.function[leaf].arguments == 2,
       "uses, linkage, parameters");
    ir_free(&m);

    ok(str_eq(site_plain(str_of("loc.3.12")), str_of("loc")) && str_eq(site_plain(str_of(".3")), str_of(".3")),
       "numbers that linkers add are taken off a name, all of them");
    ok(site_recursive((struct site){ str_of("f"), str_of("g:1:2 @ f:3:4") }) &&
           !site_recursive((struct site){ str_of("f"), str_of("ff:1:2") }),
       "recursion is in the chain");
    struct live a = { 0 }, b = { 0 };
    live_add(&a, (struct site){ str_of("x"), str_of("f:1:1") }, true);
    live_add(&a, (struct site){ str_of("w"), str_of("f:2:1") }, false);
    live_add(&b, (struct site){ str_of("w"), str_of("f:2:1") }, false);
    live_add(&b, (struct site){ str_of("x"), str_of("f:1:1") }, true);
    live_add(&b, (struct site){ str_of("x"), str_of("f:1:1") }, false);
    live_sort(&a);
    live_sort(&b);
    ok(a.n == 2 && b.n == 2 && live_hash(&a) == live_hash(&b), "equal sets have equal hashes, whatever the order");
    live_add(&b, (struct site){ str_of("y"), str_of("f:1:1") }, false);
    live_sort(&b);
    ok(live_hash(&a) == live_hash(&b), "what is not inlined does not count");
    live_free(&a);
    live_free(&b);
    unlink(write_text(""));
    return done();
}
