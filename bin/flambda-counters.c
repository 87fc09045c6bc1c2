/* flambda-counters - pca-data files of the original study as one table
 *
 * Usage: flambda-counters FILE...
 *
 * In: files BENCHMARK.csv of 51 columns without header, one row per execution
 * of a compiled variant.  Out: benchmark, step (path of the execution's
 * statistics), host, 14 counters of the garbage collector, those of two
 * passes of perf (first_..., then without prefix), static_instructions,
 * seconds, kind.  N/A becomes empty.  A file without rows gives one row with
 * its name alone.  Rows keep their order; nothing is dropped here, see
 * flambda-pca.  Constant memory.
 *
 * Examples:
 *   $ flambda-counters pca-data/fft.csv pca-data/kb.csv > counters.csv
 */
#include "base/filter.h"
#include HELP
#include "flambda/counters.h"
#include <stdlib.h>
#include <string.h>

static const char *output;
static const struct opt options[] = {
    { 'o', "output", STR, &output, "FILE", "write the table there" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i == argc) usage("no file given");
    csvw *w = csvw_open(output);
    csvw_cstr(w, "benchmark");
    for (int c = 0; c < COUNTERS; c++) csvw_cstr(w, counter_name[c]);
    csvw_cstr(w, "kind");
    csvw_end(w);
    for (; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/'), *base = slash ? slash + 1 : argv[i], *dot = strrchr(base, '.');
        char *benchmark = xformat("%.*s", (int)(dot ? (size_t)(dot - base) : strlen(base)), base);
        counters_import(argv[i], benchmark, w);
        free(benchmark);
    }
    return csvw_close(w);
}
