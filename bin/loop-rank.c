/* loop-rank - learn from measured nests which ones to measure first
 *
 * Usage: loop-rank [-o FILE] [options] STORE...
 *        loop-rank --model=FILE [--order=NAME] [TABLE]
 *        loop-rank --table STORE...
 *
 * Columns in: problem, tree, and seconds or gflops; machine, isa, encoder
 * where they are there, as in a store that --cache of loop-search and loop-run
 * keeps: rows of another instruction set, machine or version of the encoder
 * are left out, and those of kind simulated.  Learned is how much slower than
 * the best of its problem a nest is, by trees on its shape and the terms of
 * the model.  FILE, by default where loop-search looks for that of this
 * machine, makes it measure the trees' first nest, the model's first, and then
 * what all that were measured make likely to be better; every fourth is the
 * model's next.  Good stores hold nests of all ranks of many problems, as
 * loop-search --spread measures them: make loop-learn does all of it, for this
 * machine, in some minutes.
 * With --model columns out are all, then model_seconds, slowdown (predicted,
 * the logarithm of seconds over the best), place (in the order of measuring,
 * from 0): rows of a problem together, which are what is chosen from; seconds
 * or gflops are what measuring would say.  Rows without code have the last
 * places.  --order says what the order comes from: the trees, the model alone,
 * or in the trees' stead the model (untrained) or the trees' slow-downs dealt
 * out by chance (random), which are controls.
 * With --table columns out are problem, isa, tree, seconds, model_seconds and
 * the features, for any other learner.
 * The same rows and seed make the same bytes.  Memory: all rows; with --model
 * those of a problem.
 *
 * Examples:
 *   $ loop-search --algo=heuristic --spread --measure=60 --cache=runs.csv \
 *         problems.csv > rows.csv
 *   $ loop-rank -o mine.rank runs.csv
 *   $ loop-search --algo=heuristic --rank=mine.rank --measure=10 others.csv
 */
#include "base/filter.h"
#include "base/mem.h"
#include "base/message.h"
#include "loop/search/rank.h"
#include HELP
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char *output, *model;
static bool table, shuffle;
static int isa_given = -1;
static long trees = 200, leaf = 4, seed = 1;
static double weight = 8;
static enum rank_order order_by = RANK_TREES;
static const struct opt options[] = {
    { 'o', "out", STR, &output, "FILE", "write what was learned there, not to its place in the cache" },
    { 0, "model", STR, &model, "FILE", "put nests in order by this, instead" },
    { 0, "order", WORD, &order_by, "trees|model|untrained|random", "with --model: whose order" },
    { 0, "table", FLAG, &table, NULL, "write the features, instead" },
    ISA_OPTION(isa_given),
    { 0, "trees", INT, &trees, "N", "how many trees", 1, 10000 },
    { 0, "leaf", INT, &leaf, "N", "least rows of a leaf", 1, 1000000 },
    { 0, "weight", NUM, &weight, "W", "least weight of a leaf; a problem's best nest has 1.05", 0, 1e9 },
    { 's', "seed", INT, &seed, "N", "seed of what is drawn" },
    { 0, "shuffle", FLAG, &shuffle, NULL, "a control: labels permuted within each problem" },
    { 0 } };

/* where loop-search looks for it, with the folders above */
static char *own_place(const char *machine, enum isa isa)
{
    char *path = rank_place(machine, isa);
    if (!path) usage("neither HOME nor XDG_CACHE_HOME is set: give --out");
    for (char *c = path + 1; *c; c++)
        if (*c == '/') {
            *c = 0;
            if (mkdir(path, 0777) && errno != EEXIST) die_errno("%s", path);
            *c = '/';
        }
    return path;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!!output + !!model + table > 1) usage("give one of --out, --model and --table");
    enum isa isa = isa_given < 0 ? isa_best() : (enum isa)isa_given;
    if (model) {
        struct rank k = rank_read(model);
        if (isa_given < 0) isa = k.isa;
        return rank_place_table(&k, isa, filter_operand(argc, argv, i), order_by, (uint64_t)seed);
    }
    char machine[64];
    machine_name(machine);
    struct rank_rows r = { 0 };
    csvw *w = table ? csvw_open("-") : NULL;
    if (w) rank_table_head(w);
    for (int k = i; k < argc || k == i; k++) rank_collect(&r, k < argc ? argv[k] : "-", machine, isa, w);
    if (w) return csvw_close(w);
    if (r.n < 2) die("%zu measured nests of %s: nothing to learn from", r.n, isa_name[isa]);
    struct rank k = rank_fit(r.row, r.n, machine, isa, &(struct rank_options){
        { .trees = trees, .leaf = leaf, .share = 0.5, .weight = weight, .seed = (uint64_t)seed }, shuffle });
    char *kept = output ? xstrdup(output) : own_place(machine, isa);
    rank_write(&k, kept);
    if (!output && !quiet) warn("learned from %zu nests of %zu problems: %s", k.rows, k.problems, kept);
    free(kept);
    rank_free(&k);
    return EXIT_OK;
}
