#include "loop/code/target.h"
#include "base/message.h"
#include "loop/code/carry.h"

const char *const isa_name[ISAS] = { "avx2", "avx512", "amx" };

const struct target target_of[ISAS] = {
    [ISA_AVX2] = { .bytes = 32, .registers = 16, .accumulators = 12 },
    [ISA_AVX512] = { .bytes = 64, .registers = 32, .accumulators = 28, .memory_spread = true, .memory_masked = true,
                     .halves = true, .narrow = true },
    [ISA_AMX] = { .bytes = 64, .registers = 32, .accumulators = 4, .memory_spread = true, .memory_masked = true,
                  .halves = true, .narrow = true, .tiles = true } };

bool isa_here(enum isa i)
{
    if (i == ISA_AMX) return carry_cpu() & (CARRY_AMX_BF16 | CARRY_AMX_INT8);
    if (i == ISA_AVX2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}

enum isa isa_best(void)
{
    if (isa_here(ISA_AVX512)) return ISA_AVX512;
    if (!isa_here(ISA_AVX2)) die("this machine has neither AVX-512 nor AVX2 with FMA");
    return ISA_AVX2;
}

enum isa isa_for(const struct problem *p)
{
    int64_t sum = 1;                                     /* of a row; the unit for bf16 is slow where AMX is */
    for (int v = 0; v < p->nvar; v++) sum *= p->reduced[v] ? p->size[v] : 1;
    const bool tiles = problem_tiles(p) && (p->type != TYPE_U8S8 || p->elements[TENSOR_A] > sum);
    if (tiles && !(problem_needs(p, ISA_AMX) & ~carry_cpu())) return ISA_AMX;
    return isa_here(ISA_AVX512) ? ISA_AVX512 : ISA_AVX2;
}

enum isa isa_of(str name, bool *good)
{
    int i = 0;
    while (i < ISAS && !str_is(name, isa_name[i])) i++;
    *good = i < ISAS;
    return *good ? (enum isa)i : ISA_AVX2;
}

bool problem_tiles(const struct problem *p) { return p->group > 1 || problem_pairs(p) >= 0; }
int problem_lanes(const struct problem *p, enum isa isa) { return target_of[isa].bytes / p->bytes; }
int isa_accumulators(enum isa isa) { return target_of[isa].accumulators; }

int problem_needs(const struct problem *p, enum isa isa)
{
    int need = isa == ISA_AVX2 ? CARRY_AVX2 : CARRY_AVX512 | CARRY_AVX2;
    if (isa == ISA_AMX) return need | (p->type == TYPE_U8S8 ? CARRY_AMX_INT8 : CARRY_AMX_BF16);
    return need | (p->type == TYPE_BF16 ? CARRY_AVX512BF16 : p->type == TYPE_U8S8 ? CARRY_AVX512VNNI : 0);
}
