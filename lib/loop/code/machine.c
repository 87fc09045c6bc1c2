#include "loop/code/machine.h"
#include "base/message.h"
#include "base/rng.h"
#include "loop/code/ir.h"
#include "measure/clock.h"
#include "table/csvio.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct loop_machine zen5 = {
    .hz = 4e9,
    .fma_latency = 4,
    .fmas = 2,
    .loads = 2,
    .tile = 16,                                          /* one for each row: from paper, Zen 5 has none */
    .cache = { { 40e3, 4096, 4, 48 }, { 800e3, 65536, 14, 20 }, { 24e6, 0, 50, 7 } },
};

void machine_name(char name[64])
{
    char line[256], model[32] = "?", field[4][16] = { "", "", "", "" };
    static const char *const wanted[] = { "vendor_id", "cpu family", "model\t", "stepping" };
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f) && line[0] != '\n') {
        const char *value = strchr(line, ':');
        if (!value) continue;
        value += strspn(value, ": ");
        size_t n = strcspn(value, "\n");
        for (int i = 0; i < 4; i++)
            if (!strncmp(line, wanted[i], strlen(wanted[i])))
                snprintf(field[i], sizeof field[i], "%.*s", (int)n, value);
        if (!strncmp(line, "model name", 10)) snprintf(model, sizeof model, "%.*s", (int)n, value);
    }
    if (f) fclose(f);
    snprintf(name, 64, "%.15s-%.4s-%.4s-%.4s %.30s", field[0], field[1], field[2], field[3], model);
}

static double *field(struct loop_machine *m, str what, int level)
{
    if (level < 0) {
        if (str_is(what, "clock_hertz")) return &m->hz;
        if (str_is(what, "fma_latency_cycles")) return &m->fma_latency;
        if (str_is(what, "fmas_per_cycle")) return &m->fmas;
        if (str_is(what, "tile_multiply_cycles")) return &m->tile;
        return str_is(what, "loads_per_cycle") ? &m->loads : NULL;
    }
    if (str_is(what, "cache_bytes")) return &m->cache[level].bytes;
    if (str_is(what, "way_bytes")) return &m->cache[level].way;
    if (str_is(what, "latency_cycles")) return &m->cache[level].latency;
    return str_is(what, "bytes_per_cycle") ? &m->cache[level].per_cycle : NULL;
}

static void read_file(struct loop_machine *m, const char *path)
{
    char name[64];
    machine_name(name);
    csv *t = csv_open(path);
    int machine = csv_need(t, "machine"), what = csv_need(t, "what"), level = csv_need(t, "level"),
        value = csv_need(t, "value");
    while (csv_next(t)) {
        if (!str_is(csv_str(t, machine), name)) continue;
        bool none = csv_str(t, level).n == 0;
        int64_t l = none ? 0 : csv_int(t, level);
        if (!none && (l < 1 || l > MACHINE_CACHES)) csv_die(t, level, "1, 2 or 3");
        double *to = field(m, csv_str(t, what), (int)l - 1), x = csv_num(t, value);
        if (!to) csv_die(t, what, "a quantity that loop-machine writes");
        if (!(x > 0) || !isfinite(x)) csv_die(t, value, "a positive number");
        *to = x;
        m->measured |= to == &m->fmas;
    }
    csv_close(t);
}

const struct loop_machine *machine_here(void)
{
    static struct loop_machine m;
    if (m.hz > 0) return &m;
    const char *path = getenv("MILLRACE_LOOP_MACHINE");
    struct loop_machine x = zen5;
    if (path && *path) read_file(&x, path);
    m = x;                                               /* whole, or not at all */
    return &m;
}

/* ---- measured ---- */

enum { ROOM = 1 << 16, ROUNDS = 12, FAR_ROUNDS = 3, STEPS = 4000, FAR_BYTES = 1 << 25 };

/* the least seconds of a few rounds of code that is at `code` */
static double least(carry_code *code, const float *a, int rounds)
{
    double best = INFINITY;
    for (int i = 0; i < rounds; i++) {
        int64_t t = now_ns();
        code(NULL, a, NULL, NULL);
        best = fmin(best, (double)(now_ns() - t) * 1e-9);
    }
    return best;
}

static double clock_rate(void)
{
    double best = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t x = 3;
        int64_t t = now_ns();
        for (int k = 0; k < STEPS * 10; k++) __asm__ volatile("imul %0, %0\n\timul %0, %0" : "+r"(x));
        best = fmin(best, (double)(now_ns() - t) * 1e-9);
    }
    return 3.0 * 2 * STEPS * 10 / best;
}

enum task { CHAIN, ALONE, LOADS };

static void begin(struct ir *x, struct loop_plan *q, enum isa isa, enum carry_type type)
{
    static const struct problem none;
    memset(q, 0, sizeof *q);
    *x = (struct ir){ .q = q };
    q->p = &none;
    q->target = &target_of[isa];
    q->type = type;
    q->depth = 2;
    ins_put(x, INS_ENTER);
}

static void loop(struct ir *x, enum ins_op op, int counter, int32_t n)
{
    struct ins *i = ins_put(x, op);
    i->d = counter;
    i->disp = n;
}

static struct ins *three(struct ir *x, enum ins_op op, int d, int a, int b)
{
    struct ins *i = ins_put(x, op);
    i->d = d, i->a = a, i->b = b;
    return i;
}

static void move(struct ir *x, int64_t bytes)
{
    ins_put(x, INS_MOVE)->disp = (int32_t)bytes;          /* of base 0, which is A */
}

static carry_code *finish(struct ir *x, uint8_t *memory)
{
    struct machine_code code = { .to = memory, .room = ROOM };
    ins_put(x, INS_LEAVE);
    if (mprotect(memory, ROOM, PROT_READ | PROT_WRITE)) die_errno("cannot make memory for code writable");
    ins_bytes(x, &code);
    ins_free(x);
    if (mprotect(memory, ROOM, PROT_READ | PROT_EXEC)) die_errno("cannot make code executable");
    return (carry_code *)(uintptr_t)memory;
}

/* so many times 64 instructions: multiply-adds in a chain or alone, or loads of so many bytes in order */
static carry_code *vectors(uint8_t *memory, bool wide, enum task task, int64_t bytes, int times)
{
    struct loop_plan q;
    struct ir s;
    const int width = wide ? 64 : 32, most = wide ? 28 : 12;
    const int64_t loads = bytes / (16 * width);
    begin(&s, &q, wide ? ISA_AVX512 : ISA_AVX2, CARRY_F32);
    for (int i = 0; i < most + 2; i++) ins_put(&s, INS_ZERO)->d = i;
    loop(&s, INS_LOOP, 0, times);
    if (task == LOADS) loop(&s, INS_LOOP, 1, (int32_t)loads);
    for (int i = 0; i < (task == LOADS ? 16 : 64); i++)
        if (task == LOADS) three(&s, INS_LOAD, i % most, -1, -1)->disp = i * width;
        else three(&s, INS_MAC, task == CHAIN ? 0 : i % most, most, most + 1);
    if (task == LOADS) move(&s, 16 * width), loop(&s, INS_END, 1, 0), move(&s, -loads * 16 * width);
    loop(&s, INS_END, 0, 0);
    return finish(&s, memory);
}

static double run(uint8_t *memory, bool wide, enum task task, const float *x, int64_t bytes, int times)
{
    return least(vectors(memory, wide, task, bytes, times), x, bytes > 1 << 20 ? FAR_ROUNDS : ROUNDS);
}

static uint8_t *code_room(void)
{
    uint8_t *memory = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) die_errno("cannot get memory for code");
    return memory;
}

/* code of so many times 64 products of tiles; loads: each four after the four tiles that they are of */
static carry_code *tiles(uint8_t *memory, bool bf16, bool loads, int times)
{
    struct loop_plan q;
    struct ir s;
    begin(&s, &q, ISA_AMX, bf16 ? CARRY_BF16 : CARRY_U8S8);
    q.nshape = 1;
    q.shape[0] = (struct tile_shape){ TILE_SIDE, TILE_SIDE, 0 };
    ins_put(&s, INS_SHAPE);
    ins_put(&s, INS_STRIDE)->disp = TILE_SIDE * 4;
    loop(&s, INS_LOOP, 0, times);
    for (int i = 0; i < 64; i++) {
        for (int k = 0; k < 4 && loads && i % 4 == 0; k++)
            three(&s, INS_TILE_LOAD, 4 + k, -1, -1)->disp = k * TILE_BYTES;
        three(&s, INS_TILE_MAC, i % 4, 4 + i % 2, 6 + i / 2 % 2);
    }
    loop(&s, INS_END, 0, 0);
    return finish(&s, memory);
}

double machine_tile(double hz, bool bf16, int times)
{
    uint8_t *memory = code_room();
    carry_code *code = tiles(memory, bf16, false, times);
    measure_lock();
    double seconds = least(code, NULL, ROUNDS);
    measure_unlock();
    munmap(memory, ROOM);
    return seconds * hz / (64.0 * times);
}

/* a load takes less than a product where nobody else loads */
bool machine_tiles_slow(void)
{
    static carry_code *code[2];
    static _Alignas(4096) float x[4096 / sizeof(float)];
    for (int i = 0; i < 2 && !code[i]; i++) code[i] = tiles(code_room(), carry_cpu() & CARRY_AMX_BF16, i, 20);
    return least(code[1], x, 2) > 2 * least(code[0], x, 2);
}

/* a core that somebody shares has fewer products at once, and a chain of them takes as long as ever */
bool machine_vectors_slow(void)
{
    enum { TIMES = 200, LINKS = 40, LOOKS = 2 };
    static carry_code *alone, *chain;
    const struct loop_machine *m = machine_here();
    const bool wide = carry_cpu() & CARRY_AVX512;
    if (!m->measured) return false;
    if (!alone) alone = vectors(code_room(), wide, ALONE, 0, TIMES);
    if (!chain) chain = vectors(code_room(), wide, CHAIN, 0, LINKS);
    const double at_once = least(chain, NULL, LOOKS) / LINKS / (least(alone, NULL, LOOKS) / TIMES);
    return at_once < 0.7 * m->fmas * m->fma_latency;
}

/* cycles of one step along a random cycle through n lines of 64 bytes */
static double chase(void **line, size_t n, double hz)
{
    struct rng r = rng_for(1, str_of("loop-machine"));
    uint32_t *order = xmalloc(n, sizeof *order);
    double best = INFINITY;
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    rng_shuffle(&r, order, n, sizeof *order);
    for (size_t i = 0; i < n; i++) line[8 * (size_t)order[i]] = &line[8 * (size_t)order[(i + 1) % n]];
    free(order);
    size_t steps = n < 20000 ? 100000 : n;
    for (int i = 0; i < FAR_ROUNDS; i++) {
        void **at = line;
        int64_t t = now_ns();
        for (size_t k = 0; k < steps; k++) {
            at = *at;
            __asm__ volatile("" : "+r"(at));
        }
        best = fmin(best, (double)(now_ns() - t) * 1e-9);
    }
    return best * hz / (double)steps;
}

void machine_measure(struct loop_machine *m, bool wide)
{
    static const int size[] = { _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE };
    static const int ways[] = { _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL3_CACHE_ASSOC };
    uint8_t *memory = code_room();
    *m = zen5;
    measure_lock();
    m->hz = clock_rate();
    m->fma_latency = run(memory, wide, CHAIN, NULL, 0, STEPS) * m->hz / (64.0 * STEPS);
    m->fmas = 64.0 * STEPS / (run(memory, wide, ALONE, NULL, 0, STEPS) * m->hz);
    int width = wide ? 64 : 32;
    int64_t most = 0, had = 0;
    for (int i = 0; i < MACHINE_CACHES; i++) {
        long bytes = sysconf(size[i]), way = sysconf(ways[i]);
        if (bytes > FAR_BYTES) bytes = FAR_BYTES;        /* the share of one core of a huge cache */
        if (bytes > 0) m->cache[i].bytes = (double)bytes * 0.8;     /* other data want room too */
        if (bytes > 0 && way > 0 && i < 2) m->cache[i].way = (double)bytes / (double)way;
        most = (int64_t)fmax((double)most, m->cache[i].bytes * 2);
    }
    float *x = aligned_alloc(4096, (size_t)(most + 4095) / 4096 * 4096);
    if (!x) die("out of memory");
    memset(x, 0, (size_t)most);
    m->loads = 4096.0 * 200 / width / (run(memory, wide, LOADS, x, 4096, 200) * m->hz);
    for (int i = 0; i < MACHINE_CACHES; i++) {           /* into cache i: from the next one, half of which is read */
        int64_t inside = (int64_t)(m->cache[i].bytes / 2), next = most;
        if (i + 1 < MACHINE_CACHES) next = (int64_t)(m->cache[i + 1].bytes / 2);
        if (next > most) next = most;
        if (inside > most) inside = most;
        had = next / 4096 * 4096;
        int times = had > 4 << 20 ? 1 : (int)((8 << 20) / had);
        m->cache[i].per_cycle = (double)had * times / (run(memory, wide, LOADS, x, had, times) * m->hz);
        m->cache[i].latency = chase((void **)x, (size_t)inside / 64, m->hz);
        memset(x, 0, (size_t)most);
    }
    measure_unlock();
    free(x);
    munmap(memory, ROOM);
}
