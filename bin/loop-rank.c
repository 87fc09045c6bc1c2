/* loop-rank - learn from measured nests which ones to measure first
 *
 * Usage: loop-rank [-o FILE] [options] STORE...
 *        loop-rank --model=FILE [--order=NAME] [TABLE]
 *        loop-rank --table STORE...
 *
 * Columns in: problem, tree, and seconds or gflops; machine, isa, encoder
 * where they are there, as in a store that --cache of loop-search and loop-run
 * keeps: rows of another instruction set, machine or version of the encoder
 * are left out.  Learned is how much slower than the best of its problem a
 * nest is, by trees on its shape and the terms of the model.  FILE, by
 * default where loop-search looks for that of this machine, makes it measure
 * the trees' first nest, the model's first, the trees' second and so on.
 * Good stores hold nests of all ranks of many
 * problems, as loop-search --spread measures them: make loop-learn does all
 * of it, for this machine, in some minutes.
 * With --model columns out are all, then model_seconds, slowdown (predicted,
 * the logarithm of seconds over the best), place (in the order of measuring,
 * from 0): rows of a problem together, which are what is chosen from; rows
 * without code have the last places.  --order says whose order: turns, of
 * the model, of the trees alone (learned), or by chance (random, a control).
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
#include "base/checked.h"
#include "base/compare.h"
#include "base/filter.h"
#include "base/mem.h"
#include "base/message.h"
#include "loop/nest/rows.h"
#include "loop/search/rank.h"
#include HELP
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *output, *model;
static bool table, shuffle;
static int isa_given = -1;
static long trees = 200, leaf = 4, seed = 1;
static double weight = 8;
static enum { TURNS, MODEL, LEARNED, RANDOM } order_by = TURNS;
static const struct opt options[] = {
    { 'o', "out", STR, &output, "FILE", "write what was learned there, not to its place in the cache" },
    { 0, "model", STR, &model, "FILE", "put nests in order by this, instead" },
    { 0, "order", WORD, &order_by, "turns|model|learned|random", "with --model: whose order" },
    { 0, "table", FLAG, &table, NULL, "write the features, instead" },
    ISA_OPTION(isa_given),
    { 0, "trees", INT, &trees, "N", "how many trees", 1, 10000 },
    { 0, "leaf", INT, &leaf, "N", "least rows of a leaf", 1, 1000000 },
    { 0, "weight", NUM, &weight, "W", "least weight of a leaf; a problem's best nest has 1.05", 0, 1e9 },
    { 's', "seed", INT, &seed, "N", "seed of what is drawn" },
    { 0, "shuffle", FLAG, &shuffle, NULL, "a control: labels permuted within each problem" },
    { 0 } };

static char machine[64];
static enum isa isa;
static struct rank_row *row;
static size_t nrow, room;

static bool is(csv *t, int column, const char *word) { return column < 0 || str_is(csv_str(t, column), word); }

/* seconds of this row; nan: it has none */
static double seconds_of(csv *t, const struct problem *p, int seconds, int gflops)
{
    double x = seconds >= 0 && csv_has(t, seconds) ? csv_num(t, seconds) : NAN;
    const int column = isnan(x) && gflops >= 0 && csv_has(t, gflops) ? gflops : seconds;
    if (column == gflops && column >= 0 && csv_num(t, gflops) == 0) return NAN;
    if (column == gflops && column >= 0) x = problem_flops(p) / csv_num(t, gflops) * 1e-9;
    if (isnan(x)) return x;
    if (!(x > 0) || !isfinite(x)) csv_die(t, column, "a positive number");
    return x;
}

static void collect(const char *path, struct intern *groups, csvw *w)
{
    struct nest_rows r;
    csv *t = csv_open(path);
    rows_open(&r, t, true);
    const int of = csv_find(t, "machine"), set = csv_find(t, "isa"), encoder = csv_find(t, "encoder");
    int seconds = csv_find(t, "seconds"), gflops = csv_find(t, "gflops");
    if (gflops >= 0 && encoder < 0) seconds = -1;        /* of searches: when it was found */
    if (seconds < 0 && gflops < 0) csv_need(t, "seconds");
    while (rows_next(&r)) {
        if (!is(t, of, machine) || !is(t, set, isa_name[isa])) continue;
        if (encoder >= 0 && csv_int(t, encoder) != ENCODER_VERSION) continue;
        struct rank_row x = { .seconds = seconds_of(t, &r.p, seconds, gflops) };
        if (isnan(x.seconds) || nest_features(&x.s, &r.p, &r.nest, isa, false)) continue;
        x.group = (size_t)intern(groups, str_of(r.p.text));
        row = grow(row, nrow + 1, &room, sizeof *row);
        row[nrow++] = x;
        if (!w) continue;
        csvw_cstr(w, r.p.text);
        csvw_cstr(w, isa_name[isa]);
        rows_write_tree(w, &r.p, &r.nest);
        csvw_num(w, x.seconds);
        csvw_num(w, x.s.seconds);
        for (int j = 0; j < NEST_FEATURES; j++) csvw_num(w, x.s.f[j]);
        csvw_end(w);
    }
    rows_close(&r);
}

/* ---- use ---- */

struct chosen { str *field; struct seen_nest s; double slowdown; size_t at, place; bool code; };

static int by_model(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    if (x->code != y->code) return ORDER(y->code, x->code);
    if (x->s.seconds != y->s.seconds) return ORDER(x->s.seconds, y->s.seconds);
    return ORDER(x->at, y->at);
}

static int by_row(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    return ORDER(x->at, y->at);
}

/* rows of one problem, in the order of measuring, written as they came */
static void place(struct chosen *c, size_t n, int columns, const struct rank *k, struct rng *g, csvw *w)
{
    size_t coded = 0;
    qsort(c, n, sizeof *c, by_model);
    while (coded < n && c[coded].code) coded++;
    double *slowdown = xmalloc(n + 1, sizeof *slowdown);
    for (size_t i = 0; i < coded; i++) {
        c[i].slowdown = rank_slowdown(k, &c[i].s, c[0].s.seconds);
        slowdown[i] = order_by == MODEL ? (double)i : order_by == RANDOM ? rng_unit(g) : c[i].slowdown;
    }
    size_t *order = order_by == LEARNED ? rank_alone(slowdown, coded) : rank_turns(slowdown, coded);
    for (size_t i = 0; i < n; i++) c[i].place = i;
    for (size_t i = 0; i < coded; i++) c[order[i]].place = i;
    qsort(c, n, sizeof *c, by_row);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < columns; j++) csvw_str(w, c[i].field[j]);
        csvw_known(w, c[i].code ? c[i].s.seconds : NAN);
        csvw_known(w, c[i].code ? c[i].slowdown : NAN);
        csvw_int(w, (int64_t)c[i].place);
        csvw_end(w);
    }
    free_all(order, slowdown);
}

static int use(const char *path)
{
    struct rank k = rank_read(model);
    if (isa_given < 0) isa = k.isa;
    struct nest_rows r;
    csv *t = csv_open(path);
    rows_open(&r, t, true);
    const int columns = csv_ncol(t);
    struct arena text = { 0 };
    struct chosen *c = NULL;
    size_t n = 0, cap = 0;
    struct rng g = rng_for((uint64_t)seed, str_of("order"));
    csvw *w = csvw_open("-");
    csvw_copy_names(w, t);
    csvw_names(w, "model_seconds,slowdown,place");
    csvw_end(w);
    for (bool more = true; more; ) {
        more = rows_next(&r);
        if (n && (!more || r.fresh)) {
            place(c, n, columns, &k, &g, w);
            arena_free(&text);
            text = (struct arena){ 0 };
            n = 0;
        }
        if (!more) break;
        c = grow(c, n + 1, &cap, sizeof *c);
        c[n] = (struct chosen){ .field = arena_get(&text, size_mul((size_t)columns, sizeof(str))), .at = n };
        for (int j = 0; j < columns; j++) c[n].field[j] = (str){ csv_cstr(t, j, &text), csv_str(t, j).n };
        c[n].code = !nest_features(&c[n].s, &r.p, &r.nest, isa, false);
        n++;
    }
    free(c);
    rank_free(&k);
    rows_close(&r);
    return csvw_close(w);
}

/* where loop-search looks for it, with the folders above */
static char *own_place(void)
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
    isa = isa_given < 0 ? isa_best() : (enum isa)isa_given;
    machine_name(machine);
    if (model) return use(filter_operand(argc, argv, i));
    struct intern groups = { 0 };
    csvw *w = table ? csvw_open("-") : NULL;
    if (w) {
        csvw_names(w, "problem,isa,tree,seconds,model_seconds");
        for (int j = 0; j < NEST_FEATURES; j++) csvw_names(w, nest_feature[j]);
        csvw_end(w);
    }
    for (int k = i; k < argc || k == i; k++) collect(k < argc ? argv[k] : "-", &groups, w);
    if (w) return csvw_close(w);
    if (nrow < 2) die("%zu measured nests of %s: nothing to learn from", nrow, isa_name[isa]);
    struct rank k = rank_fit(row, nrow, machine, isa, &(struct rank_options){
        { (int)trees, (int)leaf, weight, (uint64_t)seed }, shuffle });
    char *kept = output ? xstrdup(output) : own_place();
    rank_write(&k, kept);
    if (!output && !quiet) warn("learned from %zu nests of %zu problems: %s", k.rows, k.problems, kept);
    free(kept);
    rank_free(&k);
    return EXIT_OK;
}
