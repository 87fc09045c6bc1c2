#include "base/message.h"
#include "loop/code/asm.h"
#include "loop/code/evaluate.h"
#include "measure/clock.h"
#include <sys/mman.h>

enum { PEAK_LOOPS = 20000 };

/* a loop of independent accumulators, as many as the registers allow: latency is hidden, nothing is loaded */
double peak_gflops(enum isa isa, int rounds)
{
    bool wide = isa == ISA_AVX512;
    int accumulators = wide ? 28 : 12, per_loop = 4;
    uint8_t *m = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) die_errno("cannot get memory for code");
    struct assembler s = { 0 };
    asm_begin(&s, m, 1 << 16, wide, CARRY_F32);
    asm_enter(&s);
    carry_code *code = (carry_code *)(uintptr_t)(s.at - ASM_ENTER);
    for (int i = 0; i < accumulators + 2; i++) asm_zero(&s, i);
    asm_count(&s, 0, PEAK_LOOPS);
    const uint8_t *top = s.at;
    for (int i = 0; i < accumulators * per_loop; i++) asm_fma(&s, i % accumulators, accumulators, accumulators + 1);
    asm_loop(&s, 0, top);
    asm_leave(&s);
    if (mprotect(m, 1 << 16, PROT_READ | PROT_EXEC)) die_errno("cannot make code executable");
    double best = 0, flops = 2.0 * (wide ? 16 : 8) * accumulators * per_loop * PEAK_LOOPS;
    for (int i = 0; i < rounds; i++) {
        measure_lock();
        int64_t t = now_ns();
        code(NULL, NULL, NULL, NULL);
        double g = flops / (double)(now_ns() - t);
        measure_unlock();
        if (g > best) best = g;
    }
    munmap(m, 1 << 16);
    return best;
}
