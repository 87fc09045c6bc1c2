#include "base/message.h"
#include "loop/code/evaluate.h"
#include "loop/code/ir.h"
#include "measure/clock.h"
#include <sys/mman.h>

enum { PEAK_LOOPS = 20000, PEAK_STEPS = 4, PEAK_CODE = 1 << 16 };

/* a loop of independent accumulators, as many as the registers allow: latency is hidden, nothing is loaded */
static void write_loop(uint8_t *to, enum isa isa)
{
    static const struct problem none;
    const struct loop_plan q = { .p = &none, .target = &target_of[isa], .type = CARRY_F32, .depth = 1 };
    const int n = target_of[isa].accumulators;
    struct ir x = { .q = &q };
    ins_put(&x, INS_ENTER);
    for (int i = 0; i < n + 2; i++) ins_put(&x, INS_ZERO)->d = i;
    struct ins *loop = ins_put(&x, INS_LOOP);
    loop->d = 0, loop->disp = PEAK_LOOPS;
    for (int i = 0; i < n * PEAK_STEPS; i++) {
        struct ins *m = ins_put(&x, INS_MAC);
        m->d = i % n, m->a = n, m->b = n + 1;
    }
    ins_put(&x, INS_END)->d = 0;
    ins_put(&x, INS_LEAVE);
    struct machine_code code = { .to = to, .room = PEAK_CODE };
    ins_bytes(&x, &code);
    ins_free(&x);
}

double peak_gflops(enum isa isa, int rounds)
{
    uint8_t *m = mmap(NULL, PEAK_CODE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) die_errno("cannot get memory for code");
    write_loop(m, isa);
    carry_code *code = (carry_code *)(uintptr_t)m;
    if (mprotect(m, PEAK_CODE, PROT_READ | PROT_EXEC)) die_errno("cannot make code executable");
    double best = 0, flops = 2.0 * target_of[isa].bytes / 4 * target_of[isa].accumulators * PEAK_STEPS * PEAK_LOOPS;
    for (int i = 0; i < rounds; i++) {
        measure_lock();
        int64_t t = now_ns();
        code(NULL, NULL, NULL, NULL);
        double g = flops / (double)(now_ns() - t);
        measure_unlock();
        if (g > best) best = g;
    }
    munmap(m, PEAK_CODE);
    return best;
}
