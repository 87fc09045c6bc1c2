/* loop-machine - what the model of loop nests must know of this machine
 *
 * Usage: loop-machine [--isa=avx2|avx512|amx] [--peak]
 *
 * Columns out: machine (its name, as in a store of measured nests), isa, what,
 * level (of a cache, else empty), value, kind (real).  Some seconds, one
 * thread.  Quantities: clock_hertz, fma_latency_cycles, fmas_per_cycle and
 * loads_per_cycle (vectors); of each cache cache_bytes (four fifths of what the
 * operating system says) and way_bytes, latency_cycles (of a chain of pointers)
 * and bytes_per_cycle (that come into it from the next one); where AMX is,
 * tile_multiply_cycles (of two whole tiles; its isa is amx).
 * All filters that ask the model read such a table from the file that the
 * variable MILLRACE_LOOP_MACHINE names, and take the rows of their machine;
 * without it they take numbers of one machine, the same everywhere.
 * With --peak columns out are isa, gflops, machine: a row for each instruction
 * set of vectors that is here, or the one given: the most that fused
 * multiply-adds can do in single precision, one thread, registers only, best
 * of --rounds short rounds; the ceiling of every gflops column of this family.
 *
 * Examples:
 *   $ loop-machine > machine.csv
 *   $ MILLRACE_LOOP_MACHINE=machine.csv loop-search --algo=heuristic nests.csv
 */
#include "base/filter.h"
#include "loop/code/evaluate.h"
#include "loop/code/machine.h"
#include "table/csvio.h"
#include HELP

enum { TILE_TIMES = 4000 };
static int isa = -1;
static bool peak;
static long rounds = 40;
static const struct opt options[] = {
    { 0, "isa", WORD, &isa, "avx2|avx512|amx", "of vectors, instead of the best here; or also AMX" },
    { 0, "peak", FLAG, &peak, NULL, "the most that it can compute, instead" },
    { 0, "rounds", INT, &rounds, "N", "with --peak: short rounds, the best counts", 1, 1e6 },
    { 0 } };
static char machine[64];
static const char *of;

static void row(csvw *w, const char *what, int level, double value)
{
    csvw_cstr(w, machine);
    csvw_cstr(w, of);
    csvw_cstr(w, what);
    if (level) csvw_int(w, level);
    else csvw_empty(w);
    csvw_num(w, value);
    csvw_cstr(w, "real");
    csvw_end(w);
}

static int peaks(void)
{
    csvw *w = csvw_open("-");
    csvw_names(w, "isa,gflops,machine");
    csvw_end(w);
    for (int i = 0; i < ISA_AMX; i++) {
        if (!isa_here((enum isa)i) || (isa >= 0 && isa != i)) continue;
        csvw_cstr(w, isa_name[i]);
        csvw_num(w, peak_gflops((enum isa)i, (int)rounds));
        csvw_cstr(w, machine);
        csvw_end(w);
    }
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    if (filter_init(argc, argv, help, options) < argc) usage("there are no operands");
    if (peak && isa == ISA_AMX) usage("--peak is of vectors: avx2 or avx512");
    machine_name(machine);
    if (peak) return peaks();
    enum isa want = isa < 0 ? isa_best() : (enum isa)isa;
    if (!isa_here(want)) die("this machine has no %s", isa_name[want]);
    struct loop_machine m;
    of = isa_name[want == ISA_AMX ? ISA_AVX512 : want];
    machine_measure(&m, want != ISA_AVX2);
    csvw *w = csvw_open("-");
    csvw_names(w, "machine,isa,what,level,value,kind");
    csvw_end(w);
    row(w, "clock_hertz", 0, m.hz);
    row(w, "fma_latency_cycles", 0, m.fma_latency);
    row(w, "fmas_per_cycle", 0, m.fmas);
    row(w, "loads_per_cycle", 0, m.loads);
    for (int i = 0; i < MACHINE_CACHES; i++) {
        row(w, "cache_bytes", i + 1, m.cache[i].bytes);
        if (m.cache[i].way > 0) row(w, "way_bytes", i + 1, m.cache[i].way);
        row(w, "latency_cycles", i + 1, m.cache[i].latency);
        row(w, "bytes_per_cycle", i + 1, m.cache[i].per_cycle);
    }
    of = isa_name[ISA_AMX];
    if (isa < 0 ? isa_here(ISA_AMX) : want == ISA_AMX)
        row(w, "tile_multiply_cycles", 0, machine_tile(m.hz, carry_cpu() & CARRY_AMX_BF16, TILE_TIMES));
    return csvw_close(w);
}
