/* amx.h - the tile instructions of AMX on a machine that has none: each traps, is read, done in memory, stepped over.
 *
 * amx_emulate() catches SIGILL, which these instructions raise there; all others run as they are.  Each thread
 * has its tiles.  Done as "Intel 64 and IA-32 Architectures Software Developer's
 * Manual", volume 2, describes LDTILECFG, TILELOADD, TILESTORED, TILEZERO, TILERELEASE, TDPBUSD, TDPBSSD, TDPBF16PS
 * (denormals are zero, in and out; even and odd products are summed apart): bytes beyond rows and columns are zeroed,
 * wrong shapes and whatever else would be a fault end the program with a line.  Nothing is told about speed by what
 * runs so. */
#ifndef MILLRACE_TEST_AMX_H
#define MILLRACE_TEST_AMX_H
#include <math.h>
#include <stdbool.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { AMX_TILES = 8, AMX_ROWS = 16, AMX_BYTES = 64 };
static __thread struct {
    bool set;
    int rows[AMX_TILES], bytes[AMX_TILES];
    uint8_t tile[AMX_TILES][AMX_ROWS][AMX_BYTES];
} amx;
static long amx_done, amx_multiplied;                    /* instructions so far, and of them multiplications */

static void amx_fault(const char *what, uintptr_t at)
{
    char b[160];
    int n = snprintf(b, sizeof b, "emulated AMX: %s, at %#lx\n", what, (unsigned long)at);
    if (write(2, b, (size_t)n) < 0) _exit(4);
    _exit(3);
}

static void amx_configure(const uint8_t *from, uintptr_t at)
{
    memset(&amx.tile, 0, sizeof amx.tile);
    for (int i = 0; i < AMX_TILES; i++) {
        amx.bytes[i] = from[16 + 2 * i] | from[17 + 2 * i] << 8;
        amx.rows[i] = from[48 + i];
        if (amx.bytes[i] > AMX_BYTES || amx.rows[i] > AMX_ROWS) amx_fault("a tile is too large", at);
        if (!amx.bytes[i] != !amx.rows[i]) amx_fault("a tile has rows or columns, but not both", at);
    }
    for (int i = 1; i < 64; i++)
        if ((i < 16 || (i >= 32 && i < 48) || i >= 56) && from[i]) amx_fault("a reserved byte of a shape is not 0", at);
    if (from[0] > 1) amx_fault("unknown palette", at);
    amx.set = from[0] == 1;
}

static float amx_bf16(const uint8_t *from)               /* a denormal is 0 */
{
    uint32_t x = (uint32_t)(from[0] | from[1] << 8) << 16;
    float f;
    if (!(x & 0x7f800000)) x &= 0x80000000;
    memcpy(&f, &x, 4);
    return f;
}

static float amx_flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

static void amx_multiply(int op, int pp, int c, int a, int b, uintptr_t at)
{
    int columns = amx.bytes[c] / 4, steps = amx.bytes[a] / 4;
    if (c == a || c == b || a == b) amx_fault("a tile twice in a multiplication", at);
    if (!amx.rows[c] || !amx.rows[a] || !amx.rows[b]) amx_fault("a tile without rows is multiplied", at);
    if (amx.bytes[c] % 4 || amx.bytes[a] % 4 || amx.bytes[b] % 4) amx_fault("columns of less than 4 bytes", at);
    if (amx.rows[c] != amx.rows[a] || amx.bytes[c] != amx.bytes[b] || amx.rows[b] != steps)
        amx_fault("tiles that do not go together are multiplied", at);
    for (int i = 0; i < amx.rows[c]; i++) {
        float sum[2][AMX_ROWS] = { { 0 } }, was[AMX_ROWS];
        int32_t bytes[AMX_ROWS];
        memcpy(was, amx.tile[c][i], sizeof was);
        memcpy(bytes, amx.tile[c][i], sizeof bytes);
        for (int k = 0; k < steps; k++)
            for (int l = 0; l < (op == 0x5C ? 2 : 4); l++) {
                const uint8_t *x = amx.tile[a][i] + 4 * k, *y = amx.tile[b][k];
                float f = amx_bf16(x + 2 * (l & 1));
                for (int j = 0; j < columns; j++)
                    if (op == 0x5C) sum[l][j] = amx_flush(fmaf(f, amx_bf16(y + 4 * j + 2 * l), sum[l][j]));
                    else bytes[j] = (int32_t)((uint32_t)bytes[j] + (uint32_t)((pp == 3 ? (int8_t)x[l] : x[l]) *
                                                                              (int8_t)y[4 * j + l]));
            }
        for (int j = 0; j < columns; j++) was[j] = amx_flush(amx_flush(was[j]) + amx_flush(sum[0][j] + sum[1][j]));
        memcpy(amx.tile[c][i], op == 0x5C ? (void *)was : (void *)bytes, (size_t)amx.bytes[c]);
    }
    if (!(op == 0x5C && pp == 2) && !(op == 0x5E && (pp == 1 || pp == 3)))
        amx_fault("a multiplication of other types", at);
    __atomic_add_fetch(&amx_multiplied, 1, __ATOMIC_RELAXED);
}

static uintptr_t amx_register(const ucontext_t *u, int r)
{
    static const int name[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                  REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
    return (uintptr_t)u->uc_mcontext.gregs[name[r]];
}

/* the address behind a modrm byte, which `p` points to; goes beyond it.  With an index, that is the stride. */
static uintptr_t amx_address(const ucontext_t *u, const uint8_t **p, unsigned vex1, bool must, intptr_t *stride)
{
    uintptr_t here = (uintptr_t)*p;
    unsigned mod = **p >> 6, rm = *(*p)++ & 7, base = rm;
    int32_t disp = 0;
    bool index = rm == 4;
    if (must && !index) amx_fault("a tile in memory without an index", here);
    if (index) {
        unsigned sib = *(*p)++, i = (sib >> 3 & 7) | (~vex1 >> 6 & 1) << 3;
        *stride = i == 4 ? 0 : (intptr_t)amx_register(u, (int)i) << (sib >> 6);
        base = sib & 7;
    }
    bool none = mod == 0 && base == 5;                   /* no base register: relative to what follows, or absolute */
    if (mod == 1) disp = (int8_t)*(*p)++;
    if (mod == 2 || none) memcpy(&disp, *p, 4), *p += 4;
    if (none) return (index ? 0 : (uintptr_t)*p) + (uintptr_t)(intptr_t)disp;
    return amx_register(u, (int)(base | (~vex1 >> 5 & 1) << 3)) + (uintptr_t)(intptr_t)disp;
}

static bool amx_is(const uint8_t *p)                     /* map 0F38, W0, 128 bits, an operation of tiles */
{
    return p[0] == 0xC4 && (p[1] & 31) == 2 && !(p[2] & 0x84) &&
           (p[3] == 0x49 || p[3] == 0x4B || p[3] == 0x5C || p[3] == 0x5E);
}

static void amx_one(ucontext_t *u)
{
    const uint8_t *p = (const uint8_t *)u->uc_mcontext.gregs[REG_RIP], *first = p;
    uintptr_t at = (uintptr_t)p;
    unsigned vex1 = p[1], vex2 = p[2], op = p[3], pp = vex2 & 3, modrm = p[4];
    int v = (int)(~vex2 >> 3 & 15), reg = (int)(modrm >> 3 & 7), rm = (int)(modrm & 7);
    bool memory = modrm >> 6 != 3, config = op == 0x49 && pp == 0;
    if (!config && !amx.set) amx_fault("tiles have no shape yet", at);
    if (op != 0x5C && op != 0x5E && v) amx_fault("a register too many", at);
    p += 4;
    if (op == 0x49 && pp == 0 && memory && reg == 0) {   /* ldtilecfg */
        intptr_t stride;
        const uint8_t *from = (const uint8_t *)amx_address(u, &p, vex1, false, &stride);
        amx_configure(from, at);
    } else if (op == 0x49 && pp == 0 && modrm == 0xC0) { /* tilerelease */
        memset(amx.tile, 0, sizeof amx.tile);
        amx.set = false;
        p++;
    } else if (op == 0x49 && pp == 3 && !memory && rm == 0) {            /* tilezero */
        memset(amx.tile[reg], 0, sizeof amx.tile[reg]);
        p++;
    } else if (op == 0x4B && memory && (pp == 3 || pp == 2)) {           /* tileloadd, tilestored */
        intptr_t stride = 0;
        uint8_t *m = (uint8_t *)amx_address(u, &p, vex1, true, &stride);
        if (!amx.rows[reg]) amx_fault("a tile without rows is moved", at);
        if (pp == 3) memset(amx.tile[reg], 0, sizeof amx.tile[reg]);
        for (int i = 0; i < amx.rows[reg]; i++, m += stride)
            if (pp == 3) memcpy(amx.tile[reg][i], m, (size_t)amx.bytes[reg]);
            else memcpy(m, amx.tile[reg][i], (size_t)amx.bytes[reg]);
    } else if ((op == 0x5C || op == 0x5E) && !memory && v < AMX_TILES) {
        amx_multiply((int)op, (int)pp, reg, rm, v, at);
        p++;
    } else {
        amx_fault("no tile instruction", at);
    }
    __atomic_add_fetch(&amx_done, 1, __ATOMIC_RELAXED);
    u->uc_mcontext.gregs[REG_RIP] += p - first;
}

/* and those that follow it: a trap takes as long as many of them */
static void amx_trap(int signal, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    (void)signal, (void)info;
    do {
        if (!amx_is((const uint8_t *)u->uc_mcontext.gregs[REG_RIP]))
            amx_fault("no tile instruction", (uintptr_t)u->uc_mcontext.gregs[REG_RIP]);
        amx_one(u);
    } while (amx_is((const uint8_t *)u->uc_mcontext.gregs[REG_RIP]));
}

static void amx_emulate(void)
{
    struct sigaction a = { .sa_sigaction = amx_trap, .sa_flags = SA_SIGINFO };
    sigemptyset(&a.sa_mask);
    if (sigaction(SIGILL, &a, NULL)) amx_fault("no SIGILL", 0);
}
#endif
