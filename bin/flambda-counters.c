/* flambda-counters - pca-data files of the original study as one table
 *
 * Usage: flambda-counters [--benchmark=NAME] FILE|FOLDER...
 *
 * In: files BENCHMARK.csv of 51 columns without header, one row per execution
 * of a compiled variant; or run folders of the study's searches, of which
 * opt_data/STEP/SUB/execution_stats.sexp are read, and instruction_count.txt
 * beside them.  A folder's benchmark is its name, unless told.  Out:
 * benchmark, step (path of the execution's statistics), host, 14 counters of
 * the garbage collector, those of two passes of perf (first_..., then without
 * prefix), static_instructions, seconds, kind.  N/A becomes empty.  A file
 * without rows gives one row with its name alone.  Rows keep their order;
 * nothing is dropped here, see flambda-pca.  Constant memory.
 *
 * Examples:
 *   $ flambda-counters pca-data/fft.csv pca-data/kb.csv > counters.csv
 *   $ flambda-counters --benchmark=fft rundir/2018-02-23T16_40_13.324704Z
 */
#include "base/filter.h"
#include HELP
#include "flambda/counters.h"
#include "flambda/rundir.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *output, *name;
static const struct opt options[] = {
    { 0, "benchmark", STR, &name, "NAME", "of all rows" },
    OUTPUT_OPTION(output),
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
        struct stat st;
        bool folder = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode);
        char *path = xstrdup(argv[i]);
        for (size_t n = strlen(path); folder && n > 1 && path[n - 1] == '/'; n--) path[n - 1] = 0;
        const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
        char *benchmark = name ? xstrdup(name)
                               : xformat("%.*s", (int)(dot && !folder ? (size_t)(dot - base) : strlen(base)), base);
        if (folder) rundir_import(path, benchmark, w);
        else counters_import(path, benchmark, w);
        free(benchmark);
        free(path);
    }
    return csvw_close(w);
}
