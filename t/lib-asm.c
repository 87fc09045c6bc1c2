#include "base/message.h"
#include "loop/code/asm.h"
#include "tap.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the assembler writes, read by another: each instruction with several registers and displacements, in the words
 * of GNU objdump.  Skipped where that is missing. */

enum { ROOM = 1 << 16, MOST = 800 };
static uint8_t code[ROOM];
static char *want[MOST];
static int n;

static void __attribute__((format(printf, 1, 2))) expect(const char *format, ...)
{
    va_list a;
    va_start(a, format);
    if (vasprintf(&want[n++], format, a) < 0) abort();
    va_end(a);
}

static const char *place(int base, long disp)            /* as objdump writes an address */
{
    static char b[4][40];
    static int turn;
    char *s = b[turn++ % 4];
    const char *name = base == RAX ? "rax" : base == RSI ? "rsi" : base == RDX ? "rdx" : "rdi";
    if (disp) snprintf(s, 40, "[%s%c0x%lx]", name, disp < 0 ? '-' : '+', disp < 0 ? -disp : disp);
    else snprintf(s, 40, "[%s]", name);
    return s;
}

static void vectors(struct assembler *s, bool wide, enum carry_type type)
{
    static const char *const multiply[] = { "vfmadd231ps", "vdpbf16ps", "vpdpbusd", "vfmadd231pd" };
    const char *v = wide ? "zmm" : "ymm", *word = wide ? "ZMMWORD" : "YMMWORD", *m = multiply[type];
    bool doubles = type == CARRY_F64;
    const char *plus = type == CARRY_U8S8 ? "vpaddd" : doubles ? "vaddpd" : "vaddps";
    const char *word1 = doubles ? "QWORD" : "DWORD";
    const char *mov = doubles && wide ? "vmovupd" : "vmovups", *spread = doubles ? "vbroadcastsd" : "vbroadcastss";
    static const long at[] = { 0, 64, -64, 4, 8192, -100000 };
    static const int base[] = { RSI, RDX, RDI };
    asm_begin(s, code, ROOM, wide, type);
    for (int i = 0; i < 12; i++) {
        int r = wide ? (i * 7 + 3) % 32 : (i * 7 + 3) % 15, x = wide ? (i * 11 + 17) % 32 : (i * 11 + 6) % 15;
        int b = base[i % 3];
        long d = at[i % 6];
        asm_load(s, r, b, d, false), expect("%s %s%d,%s PTR %s", mov, v, r, word, place(b, d));
        asm_store(s, r, b, d, false), expect("%s %s PTR %s,%s%d", mov, word, place(b, d), v, r);
        asm_broadcast(s, r, b, d), expect("%s %s%d,%s PTR %s", spread, v, r, word1, place(b, d));
        asm_fma(s, r, x, r), expect("%s %s%d,%s%d,%s%d", m, v, r, v, x, v, r);
        asm_fma_vector(s, r, x, b, d, false, 0), expect("%s %s%d,%s%d,%s PTR %s", m, v, r, v, x, word, place(b, d));
        asm_sum(s, r, b, d, false, 0), expect("%s %s%d,%s%d,%s PTR %s", plus, v, r, v, r, word, place(b, d));
        if (type == CARRY_F32) {
            asm_plus_bias(s, r, d, true, false, x);
            expect("vaddps %s%d,%s%d,%s PTR %s", v, r, v, r, word, place(RAX, d));
            asm_plus_bias(s, r, d, false, false, x);
            if (wide) expect("vaddps zmm%d,zmm%d,DWORD BCST %s", r, r, place(RAX, d));
            else expect("vbroadcastss ymm%d,DWORD PTR %s", x, place(RAX, d));
            if (!wide) expect("vaddps ymm%d,ymm%d,ymm%d", r, r, x);
            asm_plus_bias(s, r, d, true, true, x);
            if (wide) expect("vaddps zmm%d{k1},zmm%d,ZMMWORD PTR %s", r, r, place(RAX, d));
            else expect("vmaskmovps ymm%d,ymm15,YMMWORD PTR %s", x, place(RAX, d));
            if (!wide) expect("vaddps ymm%d,ymm%d,ymm%d", r, r, x);
            asm_most(s, r, x), expect("vmaxps %s%d,%s%d,%s%d", v, r, v, r, v, x);
            asm_bias(s), expect("mov rax,r15");
        }
        if (type == CARRY_BF16) {
            asm_stream_from(s, d), expect("lea r14,[rdx%c0x%lx]", d < 0 ? '-' : '+', d < 0 ? -d : d);
            asm_stream(s, 2, 1, 4096), expect("prefetcht1 BYTE PTR [r14]");
            expect("prefetcht1 BYTE PTR [r14+0x1000]"), expect("add r14,0x2000");
        }
        if (type == CARRY_U8S8) asm_floats(s, r), expect("vcvtdq2ps zmm%d,zmm%d", r, r);
        asm_prefetch(s, b, d), expect("prefetcht0 BYTE PTR %s", place(b, d));
        if (!wide && doubles) {
            asm_load(s, r, b, d, true), expect("vmaskmovpd ymm%d,ymm15,YMMWORD PTR %s", r, place(b, d));
            asm_store(s, r, b, d, true), expect("vmaskmovpd YMMWORD PTR %s,ymm15,ymm%d", place(b, d), r);
        }
        if (!wide) continue;
        asm_load(s, r, b, d, true), expect("%s zmm%d{k1}{z},ZMMWORD PTR %s", mov, r, place(b, d));
        asm_store(s, r, b, d, true), expect("%s ZMMWORD PTR %s{k1},zmm%d", mov, place(b, d), r);
        asm_sum(s, r, b, d, true, 0), expect("%s zmm%d{k1},zmm%d,ZMMWORD PTR %s", plus, r, r, place(b, d));
        if (type == CARRY_F32) {
            asm_load_half(s, CARRY_HALVES_F16, r, b, d, false);
            expect("vcvtph2ps zmm%d,YMMWORD PTR %s", r, place(b, d));
            asm_load_half(s, CARRY_HALVES_BF16, r, b, d, true);
            expect("vpmovzxwd zmm%d{k1}{z},YMMWORD PTR %s", r, place(b, d)), expect("vpslld zmm%d,zmm%d,0x10", r, r);
        }
        asm_fma_broadcast(s, r, x, b, d), expect("%s zmm%d,zmm%d,%s BCST %s", m, r, x, word1, place(b, d));
    }
}

static void totals(struct assembler *s, bool wide, enum carry_type type, int spare)
{
    bool doubles = type == CARRY_F64;
    const char *pairs = type == CARRY_U8S8 ? "vphaddd" : doubles ? "vhaddpd" : "vhaddps";
    const char *plus = type == CARRY_U8S8 ? "vpaddd" : doubles ? "vaddpd" : "vaddps", *x = doubles ? "ymm" : "xmm";
    for (int count = 1; count <= 4; count++)
        for (int from = 0; from <= (wide ? 24 : 8); from += 4) {
            int acc[4], r[4];
            for (int i = 0; i < count; i++) {
                acc[i] = from + i;
                r[i] = wide ? i : acc[i];
                if (!wide) continue;
                expect("vextractf64x4 ymm%d,zmm%d,0x1", spare, acc[i]);
                expect("%s ymm%d,ymm%d,ymm%d", plus, i, acc[i], spare);
            }
            for (int i = count; i < 4; i++) r[i] = r[0];
            if (count > 2) expect("%s ymm2,ymm%d,ymm%d", pairs, r[2], r[3]);
            expect("%s ymm0,ymm%d,ymm%d", pairs, r[0], r[1]);
            if (doubles) {
                expect("vperm2f128 ymm1,ymm0,ymm%d,0x20", count > 2 ? 2 : 0);
                expect("vperm2f128 ymm0,ymm0,ymm%d,0x31", count > 2 ? 2 : 0);
            } else {
                expect("%s ymm0,ymm0,ymm%d", pairs, count > 2 ? 2 : 0);
                expect("vextractf128 xmm1,ymm0,0x1");
            }
            expect("%s %s0,%s0,%s1", plus, x, x, x);
            asm_total(s, acc, count, spare);
        }
    for (int with = 0; with < 2; with++) {
        asm_store_four(s, RDI, 48, with);
        const char *word = doubles ? "YMMWORD" : "XMMWORD";
        if (with) expect("vmovups %s1,%s PTR [rdi+0x30]", x, word), expect("%s %s0,%s0,%s1", plus, x, x, x);
        expect("vmovups %s PTR [rdi+0x30],%s0", word, x);
        for (int lane = 0; lane < 4; lane++) {
            asm_store_one(s, lane, RDI, 400 * lane, with);
            const char *at = place(RDI, 400 * lane), *one = doubles ? "vmovsd" : "vmovss";
            const char *its = doubles ? "QWORD" : "DWORD";
            if (doubles && lane > 1) expect("vextractf128 xmm1,ymm0,0x1");
            if (doubles) expect("vpermilpd xmm1,xmm%d,0x%x", lane > 1, lane % 2);
            else expect("vpermilps xmm1,xmm0,0x%x", lane);
            if (with) expect("%s xmm2,%s PTR %s", one, its, at), expect("%s xmm1,xmm1,xmm2", plus);
            expect("%s %s PTR %s,xmm1", one, its, at);
        }
    }
}

static void tiles(struct assembler *s, enum carry_type type, bool sign)
{
    static const char *const stride[] = { "r13", "r14", "r15" };
    static const long at[] = { 0, 64, -64, 127, -128, 128, 4096, -100000 };
    static const int base[] = { RSI, RDX, RDI };
    const char *multiply = type == CARRY_BF16 ? "tdpbf16ps" : sign ? "tdpbssd" : "tdpbusd";
    asm_begin(s, code, ROOM, true, type);
    s->sign = sign;
    for (int t = 0; t < 3; t++)
        asm_tile_stride(s, t, 1 << (8 * t + 1)), expect("mov %sd,0x%x", stride[t], 1 << (8 * t + 1));
    for (int i = 0; i < ASM_TILES; i++) {
        int b = base[i % 3], t = (i + 1) % 3, x = (i * 3 + 1) % 8, y = (i * 5 + 2) % 8;
        char where[40];
        snprintf(where, sizeof where, "[%s+%s*1", b == RSI ? "rsi" : b == RDX ? "rdx" : "rdi", stride[t]);
        if (at[i]) snprintf(where + strlen(where), 20, "%c0x%lx", at[i] < 0 ? '-' : '+', labs(at[i]));
        asm_tile_zero(s, i), expect("tilezero tmm%d", i);
        asm_tile_load(s, i, b, t, at[i]), expect("tileloadd tmm%d,%s]", i, where);
        asm_tile_store(s, x, b, t, at[i]), expect("tilestored %s],tmm%d", where, x);
        asm_tile_multiply(s, i, x, y), expect("%s tmm%d,tmm%d,tmm%d", multiply, i, x, y);
    }
    asm_tile_release(s), expect("tilerelease");
}

/* number of instructions that objdump reads otherwise */
static int differ(const struct assembler *s)
{
    char path[] = "/tmp/lib-asm.XXXXXX", line[400], command[200];
    int fd = mkstemp(path), bad = 0, seen = 0;
    size_t bytes = (size_t)(s->at - s->start);
    if (fd < 0 || write(fd, s->start, bytes) != (ssize_t)bytes || close(fd)) abort();
    snprintf(command, sizeof command, "objdump -D -b binary -m i386:x86-64 -M intel --no-show-raw-insn %s", path);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *at = strchr(line, '\t'), got[400];
        if (!at || line[0] != ' ') continue;
        size_t k = 0;
        for (at++; *at && *at != '\n'; at++)             /* one blank between words */
            if (*at != ' ' || (k && got[k - 1] != ' ')) got[k++] = *at;
        while (k && got[k - 1] == ' ') k--;
        got[k] = 0;
        if (seen >= n || strcmp(got, want[seen])) {
            if (bad++ < 3) printf("# read '%s', meant '%s'\n", got, seen < n ? want[seen] : "nothing");
        }
        seen++;
    }
    if (f) pclose(f);
    unlink(path);
    if (seen != n) printf("# %d instructions, %d meant\n", seen, n), bad++;
    while (n) free(want[--n]);
    return bad;
}

int main(void)
{
    prog = "lib-asm";
    if (access("/usr/bin/objdump", X_OK)) {
        printf("ok 1 # skip no objdump here\n1..1\n");
        return 0;
    }
    static const struct { bool wide; enum carry_type type; const char *what; } form[] = {
        { false, CARRY_F32, "AVX2, float" }, { true, CARRY_F32, "AVX-512, float" }, { true, CARRY_BF16, "bf16" },
        { true, CARRY_U8S8, "bytes" }, { false, CARRY_F64, "AVX2, double" }, { true, CARRY_F64, "AVX-512, double" } };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct assembler s = { 0 };
        vectors(&s, form[i].wide, form[i].type);
        totals(&s, form[i].wide, form[i].type, 29);
        ok(!differ(&s), form[i].what);
        asm_free(&s);
    }
    for (int i = 0; i < 3; i++) {
        struct assembler s = { 0 };
        tiles(&s, i ? CARRY_U8S8 : CARRY_BF16, i == 2);
        ok(!differ(&s), i == 0 ? "tiles of bf16" : i == 1 ? "tiles of bytes" : "tiles of signed bytes");
        asm_free(&s);
    }
    struct assembler s = { 0 };                          /* the shape is found, and what is read there is meant */
    asm_begin(&s, code, ROOM, true, CARRY_BF16);
    bool known = true;
    for (int i = 0; i < 5; i++) {
        const uint8_t *was = s.at;
        struct asm_shape x = { 16, (uint8_t)(16 - i % 3), 7 };
        known &= asm_tile_shape(&s, x) && s.at - was == 9 && was[4] == 5;
    }
    const uint8_t *end = s.at;
    asm_end(&s, NULL, 0);
    int32_t far;
    memcpy(&far, code + 2 * 9 + 5, 4);
    const uint8_t *shape = code + 3 * 9 + far;
    memcpy(&far, code + 3 * 9 + 5, 4);
    ok(known && s.nshape == 3 && shape >= end && shape + 64 == s.at && code + 4 * 9 + far == shape - 128,
       "each shape is there once, where its instruction looks");
    static const int row[] = { 56, 56, 56, 56, 64, 28, 56, 56 }, rows[] = { 16, 16, 16, 16, 16, 16, 16, 7 };
    bool right = shape[0] == 1;
    for (int i = 0; i < 8; i++)
        right &= shape[16 + 2 * i] == row[i] && shape[17 + 2 * i] == 0 && shape[48 + i] == rows[i];
    for (int i = 1; i < 16; i++) right &= shape[i] == 0 && shape[16 + (16 | i)] == 0;
    ok(right, "and it is palette, bytes of a row and rows");
    for (int i = 0; i < ASM_SHAPES; i++)
        known &= asm_tile_shape(&s, (struct asm_shape){ 1, 1, (uint8_t)i }) == (i < ASM_SHAPES - 3);
    ok(known, "too many shapes are told");
    asm_free(&s);
    return done();
}
