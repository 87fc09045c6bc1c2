/* loop-peak - the most that fused multiply-adds can do on this machine
 *
 * Usage: loop-peak [--rounds=N] [--isa=avx2|avx512]
 *
 * Columns out: isa, gflops, machine.  One row for each instruction set that
 * is here: single precision, one thread, registers only, the best of N short
 * rounds.  The ceiling of every gflops column of this family.
 *
 * Examples:
 *   $ loop-peak
 */
#include "base/filter.h"
#include "loop/code/evaluate.h"
#include "table/csvio.h"
#include HELP
#include <string.h>

static long rounds = 40;
static int isa = -1;
static const struct opt options[] = {
    { 0, "rounds", INT, &rounds, "N", "short rounds, the best counts", 1, 1e6 },
    { 0, "isa", WORD, &isa, "avx2|avx512", "only this one" },
    { 0 } };

int main(int argc, char **argv)
{
    char machine[64];
    if (filter_init(argc, argv, help, options) < argc) usage("there are no operands");
    machine_name(machine);
    csvw *w = csvw_open("-");
    csvw_names(w, "isa,gflops,machine");
    csvw_end(w);
    for (int i = 0; i < 2; i++) {
        if (!isa_here((enum isa)i) || (isa >= 0 && isa != i)) continue;
        csvw_cstr(w, isa_name[i]);
        csvw_num(w, peak_gflops((enum isa)i, (int)rounds));
        csvw_cstr(w, machine);
        csvw_end(w);
    }
    return csvw_close(w);
}
