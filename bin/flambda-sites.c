/* flambda-sites - call sites of the study, with features and rewards, as CSV
 *
 * Usage: flambda-sites [OPTION]... FILE...
 *
 * --kind=pairs: lists of (FEATURES REWARD?). Columns out: program, site (may
 * be empty), every numeric feature, every flag as 0 or 1, immediate,
 * long_term, no_inline (empty where not known). --kind=rewards: reward dumps;
 * program, site, immediate, long_term, no_inline. --kind=log: the lines
 * PROGRAM,correct = X,predicted = Y,L,C,metadata = [..] of a training log,
 * where the metadata may hold commas; program, site, long_term, no_inline,
 * correct, predicted. A program is named by --program or by its file without
 * the ending.
 *
 * --standardise does to pairs what the study did before training, over all rows:
 * numeric features of population deviation above 1e-4 are kept and
 * standardised, flags of mean above 1e-4 are kept. FILE of --scale gets
 * column, type (numeric or flag), kept (0 or 1), mean, deviation for every
 * feature. Input order. Memory: all rows of pairs and rewards.
 *
 * Examples:
 *   $ flambda-sites features-v3/fft.sexp | flambda-label --rule=lasso
 *   $ flambda-sites --standardise --scale=scale.csv features-v3/fft.sexp
 *   $ flambda-sites --kind=log correct.log incorrect.log > labelled.csv
 */
#include "flambda/pairs.h"
#include "decisions/source.h"
#include "base/filter.h"
#include "base/num.h"
#include "table/csvio.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program, *output, *scale_path;
static bool prepare;
static enum { PAIRS, REWARDS, LOG } kind = PAIRS;
static const struct opt options[] = {
    { 0, "kind", WORD, &kind, "pairs|rewards|log", "what the files are" },
    { 0, "standardise", FLAG, &prepare, NULL, "drop dead features, standardise numeric ones" },
    { 0, "scale", STR, &scale_path, "FILE", "write what was kept, means and deviations here" },
    { 0, "program", STR, &program, "NAME", "name of the program" },
    OUTPUT_OPTION(output),
    { 0 } };

/* ---- training logs ---- */

/* what stands before the next comma, without `key`; *line moves behind it */
static str field(char **line, const char *key, const char *file, size_t number)
{
    size_t skip = strlen(key);
    char *comma = strchr(*line, ',');
    if (!comma || strncmp(*line, key, skip) != 0)
        die_at(file, number, "not a line of a training log, at '%.40s'", *line);
    str s = { *line + skip, (size_t)(comma - *line) - skip };
    *line = comma + 1;
    return s;
}

static void log_line(csvw *out, char *line, const char *file, size_t number)
{
    str name = field(&line, "", file, number), correct = field(&line, "correct = ", file, number);
    str predicted = field(&line, "predicted = ", file, number);
    str value[] = { field(&line, "", file, number), field(&line, "", file, number) };
    static const char before[] = "metadata = ["; /* then a string as Python writes it: '..', "..", when it holds a ' */
    size_t skip = sizeof before, n = strlen(line);
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) n--;
    char quote = n > skip ? line[skip - 1] : 0;
    if (strncmp(line, before, skip - 1) != 0 || (quote != '\'' && quote != '"') || n < skip + 2 ||
        line[n - 2] != quote || line[n - 1] != ']')
        die_at(file, number, "not metadata = ['...'] but '%.40s'", line);
    csvw_str(out, name);
    csvw_str(out, (str){ line + skip, n - skip - 2 });
    for (int i = 0; i < 2; i++) {
        double v;
        if (!num_parse(value[i].s, value[i].n, &v))
            die_at(file, number, "'%.*s' is not a number", (int)value[i].n, value[i].s);
        csvw_str(out, value[i]);
    }
    csvw_str(out, correct);
    csvw_str(out, predicted);
    csvw_end(out);
}

static int logs(char **paths)
{
    csvw *out = csvw_open(output);
    csvw_names(out, "program,site,long_term,no_inline,correct,predicted");
    csvw_end(out);
    for (; *paths; paths++) {
        FILE *f = fopen(*paths, "r");
        char *line = NULL;
        size_t cap = 0, number = 0;
        if (!f) die_errno("%s", *paths);
        while (text_line(f, *paths, &line, &cap) >= 0) log_line(out, line, *paths, ++number);
        if (!number) die_at(*paths, 1, "empty input");
        fclose(f);
        free(line);
    }
    return csvw_close(out);
}

/* ---- s-expressions ---- */

static struct site_pairs p;

static str feature_name(size_t k)
{
    return k < p.numeric.n ? p.numeric.name[k] : p.flag.name[k - p.numeric.n];
}

static void write_scale(const struct preparation *scale, size_t width)
{
    csvw *out = csvw_open(scale_path);
    csvw_names(out, "column,type,kept,mean,deviation");
    csvw_end(out);
    for (size_t k = 0; k < width; k++) {
        csvw_str(out, feature_name(k));
        csvw_cstr(out, k < p.numeric.n ? "numeric" : "flag");
        csvw_int(out, scale[k].kept);
        csvw_num(out, scale[k].mean);
        csvw_num(out, scale[k].deviation);
        csvw_end(out);
    }
    csvw_close(out);
}

/* scale: NULL, or how features are prepared */
static int table(size_t width, const struct preparation *scale)
{
    csvw *out = csvw_open(output);
    csvw_names(out, "program,site");
    for (size_t k = 0; k < width; k++)
        if (!scale || scale[k].kept) csvw_str(out, feature_name(k));
    csvw_names(out, "immediate,long_term,no_inline");
    csvw_end(out);
    for (size_t i = 0; i < p.n; i++) {
        csvw_str(out, p.text.name[p.pair[i].program]);
        csvw_str(out, p.text.name[p.pair[i].site]);
        for (size_t k = 0; k < width; k++) {
            double x = p.x[i * width + k];
            if (!scale || scale[k].kept)
                csvw_num(out, scale && k < p.numeric.n ? (x - scale[k].mean) / scale[k].deviation : x);
        }
        csvw_known(out, p.pair[i].reward.immediate);
        csvw_known(out, p.pair[i].reward.long_term);
        csvw_known(out, p.pair[i].reward.no_inline);
        csvw_end(out);
    }
    return csvw_close(out);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!argv[i]) usage("no files given");
    if ((prepare || scale_path) && kind != PAIRS) usage("--standardise and --scale go with --kind=pairs");
    if (kind == LOG) return logs(argv + i);
    struct source in = source_open(argv + i, SEXP_CORE);
    for (const struct sexp *e; (e = source_next(&in)); )
        (kind == PAIRS ? site_pairs_read : site_pairs_read_dump)(&p, e, source_program(&in, program));
    size_t width = kind == PAIRS ? p.numeric.n + p.flag.n : 0;
    struct preparation *scale = xmalloc(width + 1, sizeof *scale);
    site_pairs_prepare(&p, scale);
    if (scale_path) write_scale(scale, width);
    return table(width, prepare ? scale : NULL);
}
