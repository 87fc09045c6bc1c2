/* flambda-features - features of call sites, from the study's files to CSV
 *
 * Usage: flambda-features [OPTION]... [FILE]...
 *
 * Reads lists of (FEATURES REWARD?), see flambda-pairs, also those without
 * rewards. Columns out: program, site (may be empty), numeric features, then
 * flags as 0 or 1, each kind in the order of the files. With --standardise what
 * the study did before training, over all rows: numeric columns of population
 * deviation above 1e-4 are kept and standardised, flags of mean above 1e-4
 * are kept. FILE of --scale gets column, type (numeric or flag), kept (0 or
 * 1), mean, deviation for every column. Input order. Memory: all rows.
 *
 * Examples:
 *   $ flambda-features --standardise --scale=scale.csv features-v3/fft.sexp
 */
#include "flambda/pairs.h"
#include "decisions/source.h"
#include "base/filter.h"
#include "table/csvio.h"
#include HELP
#include <string.h>

static const char *program, *output, *scale_path;
static bool prepare;
static const struct opt options[] = {
    { 0, "standardise", FLAG, &prepare, NULL, "drop dead columns, standardise numeric ones" },
    { 0, "scale", STR, &scale_path, "FILE", "write what was kept, means and deviations here" },
    { 0, "program", STR, &program, "NAME", "name of the program; else the file's without ending" },
    OUTPUT_OPTION(output),
    { 0 } };

static struct site_pairs p;

static str column(size_t k)
{
    return k < p.numeric.n ? p.numeric.name[k] : p.flag.name[k - p.numeric.n];
}

static void write_scale(const struct preparation *scale, size_t width)
{
    csvw *out = csvw_open(scale_path);
    csvw_names(out, "column,type,kept,mean,deviation");
    csvw_end(out);
    for (size_t k = 0; k < width; k++) {
        csvw_str(out, column(k));
        csvw_cstr(out, k < p.numeric.n ? "numeric" : "flag");
        csvw_int(out, scale[k].kept);
        csvw_num(out, scale[k].mean);
        csvw_num(out, scale[k].deviation);
        csvw_end(out);
    }
    csvw_close(out);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    struct source in = source_open(argv + i, SEXP_CORE);
    for (const struct sexp *e; (e = source_next(&in)); ) site_pairs_read(&p, e, source_program(&in, program));
    size_t width = p.numeric.n + p.flag.n;
    static struct preparation *scale;
    scale = xmalloc(width, sizeof *scale);
    site_pairs_prepare(&p, scale);
    if (scale_path) write_scale(scale, width);
    csvw *out = csvw_open(output);
    csvw_names(out, "program,site");
    for (size_t k = 0; k < width; k++)
        if (!prepare || scale[k].kept) csvw_str(out, column(k));
    csvw_end(out);
    for (size_t r = 0; r < p.n; r++) {
        csvw_str(out, p.text.name[p.pair[r].program]);
        csvw_str(out, p.text.name[p.pair[r].site]);
        for (size_t k = 0; k < width; k++) {
            double x = p.x[r * width + k];
            bool standard = prepare && k < p.numeric.n;
            if (!prepare || scale[k].kept) csvw_num(out, standard ? (x - scale[k].mean) / scale[k].deviation : x);
        }
        csvw_end(out);
    }
    return csvw_close(out);
}
