#include "base/message.h"
#include "loop/code/ir.h"
#include "tap.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the assembler writes, read by another: each instruction with several registers and displacements, in the words
 * of GNU objdump.  Skipped where that is missing. */

enum { ROOM = 1 << 16, MOST = 900 };
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
    static const char *const name[] = { "rsi", "rdx", "rdi", "rcx", "r8", "rcx", "r9" };
    char *s = b[turn++ % 4];
    if (disp) snprintf(s, 40, "[%s%c0x%lx]", name[base], disp < 0 ? '-' : '+', disp < 0 ? -disp : disp);
    else snprintf(s, 40, "[%s]", name[base]);
    return s;
}

static struct problem none;
static struct loop_plan q;
static struct ir x;

static void begin(enum isa isa, enum carry_type type)
{
    memset(&q, 0, sizeof q);
    q.p = &none;
    q.target = &target_of[isa];
    q.type = type;
    x.q = &q;
    x.n = 0;
}

static struct ins *put(enum ins_op op, int d, int a, int b)
{
    struct ins *i = ins_put(&x, op);
    i->d = d, i->a = a, i->b = b;
    return i;
}

static struct ins *at(struct ins *i, int base, long disp, bool masked)
{
    i->base = (uint8_t)base;
    i->disp = (int32_t)disp;
    i->masked = masked;
    return i;
}

static struct ins *in_memory(enum ins_op op, int r, int a, int base, long disp, enum ins_from from, bool masked)
{
    struct ins *i = at(put(op, r, a, -1), base, disp, masked);
    i->from = (uint8_t)from;
    return i;
}

static void loads(bool wide, bool doubles, const char *v, int r, int b, long d)
{
    const char *word = wide ? "ZMMWORD" : "YMMWORD", *word1 = doubles ? "QWORD" : "DWORD";
    const char *mov = doubles ? "vmovupd" : "vmovups", *spread = doubles ? "vbroadcastsd" : "vbroadcastss";
    at(put(INS_LOAD, r, -1, -1), b, d, false), expect("%s %s%d,%s PTR %s", mov, v, r, word, place(b, d));
    at(put(INS_STORE, r, -1, -1), b, d, false), expect("%s %s PTR %s,%s%d", mov, word, place(b, d), v, r);
    at(put(INS_SPREAD, r, -1, -1), b, d, false), expect("%s %s%d,%s PTR %s", spread, v, r, word1, place(b, d));
    at(put(INS_LOAD, r, -1, -1), b, d, true);
    at(put(INS_STORE, r, -1, -1), b, d, true);
    if (wide) {
        expect("%s zmm%d{k1}{z},ZMMWORD PTR %s", mov, r, place(b, d));
        expect("%s ZMMWORD PTR %s{k1},zmm%d", mov, place(b, d), r);
    } else {
        expect("vmaskmovp%s ymm%d,ymm15,YMMWORD PTR %s", doubles ? "d" : "s", r, place(b, d));
        expect("vmaskmovp%s YMMWORD PTR %s,ymm15,ymm%d", doubles ? "d" : "s", place(b, d), r);
    }
}

static void vectors(bool wide, enum carry_type type)
{
    static const char *const multiply[] = { "vfmadd231ps", "vdpbf16ps", "vpdpbusd", "vfmadd231pd" };
    const char *v = wide ? "zmm" : "ymm", *word = wide ? "ZMMWORD" : "YMMWORD", *m = multiply[type];
    const bool doubles = type == CARRY_F64, bytes = type == CARRY_U8S8;
    const char *plus = bytes ? "vpaddd" : doubles ? "vaddpd" : "vaddps", *word1 = doubles ? "QWORD" : "DWORD";
    static const long where[] = { 0, 64, -64, 4, 8192, -100000 };
    begin(wide ? ISA_AVX512 : ISA_AVX2, type);
    for (int i = 0; i < 12; i++) {
        const int r = wide ? (i * 7 + 3) % 32 : (i * 7 + 3) % 15, y = wide ? (i * 11 + 17) % 32 : (i * 11 + 6) % 15;
        const int b = i % 5;
        const long d = where[i % 6];
        loads(wide, doubles, v, r, b, d);
        put(INS_MAC, r, y, r), expect("%s %s%d,%s%d,%s%d", m, v, r, v, y, v, r);
        in_memory(INS_MAC, r, y, b, d, FROM_VECTOR, false);
        expect("%s %s%d,%s%d,%s PTR %s", m, v, r, v, y, word, place(b, d));
        in_memory(INS_PLUS, r, r, b, d, FROM_VECTOR, false);
        expect("%s %s%d,%s%d,%s PTR %s", plus, v, r, v, r, word, place(b, d));
        put(INS_PLUS, r, r, y), expect("%s %s%d,%s%d,%s%d", plus, v, r, v, r, v, y);
        put(INS_MAX, r, r, y)->floats = true;
        expect("vmaxp%s %s%d,%s%d,%s%d", doubles ? "d" : "s", v, r, v, r, v, y);
        if (bytes) put(INS_FLOAT, r, r, -1), expect("vcvtdq2ps zmm%d,zmm%d", r, r);
        at(put(INS_PREFETCH, -1, -1, -1), b, d, false), expect("prefetcht0 BYTE PTR %s", place(b, d));
        at(put(INS_PREFETCH2, -1, -1, -1), b, d, false), expect("prefetcht1 BYTE PTR %s", place(b, d));
        at(put(INS_MOVE, -1, -1, -1), b, 5, false),
            expect("add %.*s,0x5", (int)strcspn(place(b, 0) + 1, "]"), place(b, 0) + 1);
        if (!wide) continue;
        in_memory(INS_PLUS, r, r, b, d, FROM_SPREAD, false)->floats = true;
        expect("vaddp%s zmm%d,zmm%d,%s BCST %s", doubles ? "d" : "s", r, r, word1, place(b, d));
        in_memory(INS_PLUS, r, r, b, d, FROM_VECTOR, true);
        expect("%s zmm%d{k1},zmm%d,ZMMWORD PTR %s", plus, r, r, place(b, d));
        in_memory(INS_MAC, r, y, b, d, FROM_SPREAD, false);
        expect("%s zmm%d,zmm%d,%s BCST %s", m, r, y, word1, place(b, d));
        if (type == CARRY_F32) {                         /* as the problem stores them */
            at(put(INS_LOAD, r, -1, -1), b, d, i & 1)->half = true;
            if (none.store == STORE_F16)
                expect("vcvtph2ps zmm%d%s,YMMWORD PTR %s", r, i & 1 ? "{k1}{z}" : "", place(b, d));
            else expect("vpmovzxwd zmm%d%s,YMMWORD PTR %s", r, i & 1 ? "{k1}{z}" : "", place(b, d)),
                 expect("vpslld zmm%d,zmm%d,0x10", r, r);
        }
    }
}

static void totals(bool wide, enum carry_type type, int spare)
{
    bool doubles = type == CARRY_F64;
    const char *pairs = type == CARRY_U8S8 ? "vphaddd" : doubles ? "vhaddpd" : "vhaddps";
    const char *plus = type == CARRY_U8S8 ? "vpaddd" : doubles ? "vaddpd" : "vaddps", *lane0 = doubles ? "ymm" : "xmm";
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
            expect("%s %s0,%s0,%s1", plus, lane0, lane0, lane0);
            put(INS_TOTAL, from, count, spare);
        }
    for (int with = 0; with < 2; with++) {
        at(put(INS_LANES, 0, 4, with), BASE_C, 48, false);
        const char *word = doubles ? "YMMWORD" : "XMMWORD";
        if (with)
            expect("vmovups %s1,%s PTR [rdi+0x30]", lane0, word), expect("%s %s0,%s0,%s1", plus, lane0, lane0, lane0);
        expect("vmovups %s PTR [rdi+0x30],%s0", word, lane0);
        for (int lane = 0; lane < 4; lane++) {
            at(put(INS_LANES, lane, 1, with), BASE_C, 400 * lane, false);
            const char *to = place(BASE_C, 400 * lane), *one = doubles ? "vmovsd" : "vmovss";
            const char *its = doubles ? "QWORD" : "DWORD";
            if (doubles && lane > 1) expect("vextractf128 xmm1,ymm0,0x1");
            if (doubles) expect("vpermilpd xmm1,xmm%d,0x%x", lane > 1, lane % 2);
            else expect("vpermilps xmm1,xmm0,0x%x", lane);
            if (with) expect("%s xmm2,%s PTR %s", one, its, to), expect("%s xmm1,xmm1,xmm2", plus);
            expect("%s %s PTR %s,xmm1", one, its, to);
        }
    }
}

static void tiles(enum carry_type type, bool sign)
{
    static const char *const stride[] = { "r13", "r14", "r15" }, *const name[] = { "rsi", "rdx", "rdi" };
    static const long where[] = { 0, 64, -64, 127, -128, 128, 4096, -100000 };
    const char *multiply = type == CARRY_BF16 ? "tdpbf16ps" : sign ? "tdpbssd" : "tdpbusd";
    begin(ISA_AMX, type);
    none.sign = sign;
    for (int t = 0; t < 3; t++)
        at(put(INS_STRIDE, -1, -1, -1), t, 1 << (8 * t + 1), false),
            expect("mov %sd,0x%x", stride[t], 1 << (8 * t + 1));
    for (int i = 0; i < 8; i++) {
        int b = i % 3, a = (i * 3 + 1) % 8, y = (i * 5 + 2) % 8;
        char to[40];
        snprintf(to, sizeof to, "[%s+%s*1", name[b], stride[b]);
        if (where[i]) snprintf(to + strlen(to), 20, "%c0x%lx", where[i] < 0 ? '-' : '+', labs(where[i]));
        put(INS_TILE_ZERO, i, -1, -1), expect("tilezero tmm%d", i);
        at(put(INS_TILE_LOAD, i, -1, -1), b, where[i], false), expect("tileloadd tmm%d,%s]", i, to);
        at(put(INS_TILE_STORE, a, -1, -1), b, where[i], false), expect("tilestored %s],tmm%d", to, a);
        put(INS_TILE_MAC, i, a, y), expect("%s tmm%d,tmm%d,tmm%d", multiply, i, a, y);
    }
}

/* number of instructions that objdump reads otherwise; behind them is the pool */
static int differ(void)
{
    char path[] = "/tmp/lib-asm.XXXXXX", line[400], command[200];
    int fd = mkstemp(path), bad = 0, seen = 0;
    struct machine_code out = { .to = code, .room = ROOM };
    ins_bytes(&x, &out);
    if (out.n > ROOM || fd < 0 || write(fd, code, out.n) != (ssize_t)out.n || close(fd)) abort();
    snprintf(command, sizeof command, "objdump -D -b binary -m i386:x86-64 -M intel --no-show-raw-insn %s", path);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *at = strchr(line, '\t'), got[400];
        if (!at || line[0] != ' ' || seen == n) continue;
        size_t k = 0;
        for (at++; *at && *at != '\n'; at++)             /* one blank between words */
            if (*at != ' ' || (k && got[k - 1] != ' ')) got[k++] = *at;
        while (k && got[k - 1] == ' ') k--;
        got[k] = 0;
        if (strcmp(got, want[seen])) {
            if (bad++ < 3) printf("# read '%s', meant '%s'\n", got, want[seen]);
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
        none.store = i == 1 ? STORE_F16 : STORE_BF16;
        vectors(form[i].wide, form[i].type);
        totals(form[i].wide, form[i].type, 29);
        ok(!differ(), form[i].what);
    }
    none.store = STORE_BF16;
    vectors(true, CARRY_F32);
    ok(!differ(), "halves of bf16");
    for (int i = 0; i < 3; i++) {
        tiles(i ? CARRY_U8S8 : CARRY_BF16, i == 2);
        ok(!differ(), i == 0 ? "tiles of bf16" : i == 1 ? "tiles of bytes" : "tiles of signed bytes");
    }
    begin(ISA_AMX, CARRY_BF16);                          /* the shape is found, and what is read there is meant */
    q.nshape = 3;
    for (int i = 0; i < 3; i++) q.shape[i] = (struct tile_shape){ 16, (uint8_t)(16 - i), 7 };
    for (int i = 0; i < 5; i++) ins_put(&x, INS_SHAPE)->disp = i % 3;
    struct machine_code out = { .to = code, .room = ROOM };
    ins_bytes(&x, &out);
    int32_t far[2];
    memcpy(&far[0], code + 2 * 9 + 5, 4);
    memcpy(&far[1], code + 3 * 9 + 5, 4);
    const uint8_t *shape = code + 3 * 9 + far[0];
    ok(shape >= code + 5 * 9 && shape + 64 == code + out.n && code + 4 * 9 + far[1] == shape - 128,
       "each shape is there once, where its instruction looks");
    static const int row[] = { 56, 56, 56, 56, 64, 28, 56, 56 }, rows[] = { 16, 16, 16, 16, 16, 16, 16, 7 };
    bool right = shape[0] == 1;
    for (int i = 0; i < 8; i++)
        right &= shape[16 + 2 * i] == row[i] && shape[17 + 2 * i] == 0 && shape[48 + i] == rows[i];
    for (int i = 1; i < 16; i++) right &= shape[i] == 0 && shape[16 + (16 | i)] == 0;
    ok(right, "and it is palette, bytes of a row and rows");
    ins_free(&x);
    return done();
}
