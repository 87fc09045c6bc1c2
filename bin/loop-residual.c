/* loop-residual - learn where the analytic model of loop nests is wrong
 *
 * Usage: loop-residual [options] -o FILE STORE...
 *        loop-residual --table STORE...
 *
 * Columns in: machine, isa, encoder, problem, tree, seconds: stores of
 * measured nests, as --cache of loop-search and loop-run keeps them; rows of
 * another version of the encoder are left out.  Learned is the logarithm of
 * measured over predicted seconds, centred over the nests of each problem, by
 * trees on the terms of the model and the shape of the nest; several times,
 * on problems drawn with replacement, so that it is known where that is sure.
 * Out: an s-expression for loop-search --residual, with the range of problems
 * it holds for; with --table instead problem, isa, tree, seconds,
 * model_seconds and the features, for any other learner.
 * Good stores hold nests of all ranks: loop-search --spread measures such.
 * The same rows and seed make the same bytes.  Memory: all rows.
 *
 * Examples:
 *   $ loop-search --algo=heuristic --spread --cache=runs.csv problems.csv
 *   $ loop-residual -o residual.sexp runs.csv
 *   $ loop-search --algo=heuristic --residual=residual.sexp others.csv
 */
#include "base/filter.h"
#include "base/mem.h"
#include "base/message.h"
#include "loop/nest/rows.h"
#include "loop/search/residual.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *output;
static bool table, shuffle;
static long members = 8, rounds = 60, depth = 5, seed = 1;
static double rate = 0.1;
static const struct opt options[] = {
    { 'o', "output", STR, &output, "FILE", "write what was learned there" },
    { 0, "table", FLAG, &table, NULL, "write the features instead" },
    { 0, "members", INT, &members, "N", "how many times it is learned", 1, RESIDUAL_MEMBERS },
    { 0, "rounds", INT, &rounds, "N", "trees of each", 1, 10000 },
    { 0, "depth", INT, &depth, "N", "splits from root to leaf", 1, 20 },
    { 0, "rate", NUM, &rate, "R", "share of each tree that is taken", 1e-6, 1 },
    { 's', "seed", INT, &seed, "N", "seed of what is drawn" },
    { 0, "shuffle", FLAG, &shuffle, NULL, "a control: shuffle what is to be learned, so that nothing can be" },
    { 0 } };

static struct residual_row *row;
static size_t nrow, room;

static void describe(csvw *w, const struct nest_rows *r, enum isa isa, const struct residual_row *x)
{
    csvw_cstr(w, r->p.text);
    csvw_cstr(w, isa_name[isa]);
    rows_write_tree(w, &r->p, &r->nest);
    csvw_num(w, x->seconds);
    csvw_num(w, x->s.seconds);
    for (int j = 0; j < RESIDUAL_FEATURES; j++) csvw_num(w, x->s.f[j]);
    csvw_end(w);
}

static void collect(const char *path, struct intern *groups, csvw *w)
{
    struct nest_rows r;
    csv *t = csv_open(path);
    rows_open(&r, t, true);
    int machine = csv_need(t, "machine"), isa = csv_need(t, "isa"), seconds = csv_need(t, "seconds");
    int encoder = csv_need(t, "encoder");
    struct buf name = { 0 };
    while (rows_next(&r)) {
        if (csv_int(t, encoder) != ENCODER_VERSION) continue;
        str word = csv_str(t, isa), m = csv_str(t, machine);
        bool good;
        enum isa i = isa_of(word, &good);
        if (!good) csv_die(t, isa, "avx2, avx512 or amx");
        struct residual_row x = { .seconds = csv_num(t, seconds) };
        if (!(x.seconds > 0) || !isfinite(x.seconds)) csv_die(t, seconds, "a positive number");
        if (residual_see(&x.s, &r.p, &r.nest, i, false)) continue;   /* no code: nothing was measured */
        name.n = 0;
        buf_format(&name, "%.*s/%s/%s", (int)m.n, m.s, isa_name[i], r.p.text);
        x.group = (size_t)intern(groups, (str){ name.s, name.n });
        row = grow(row, nrow + 1, &room, sizeof *row);
        row[nrow++] = x;
        if (w) describe(w, &r, i, &x);
    }
    free(name.s);
    rows_close(&r);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!output && !table) usage("where to? see --output and --table");
    struct intern groups = { 0 };
    csvw *w = table ? csvw_open("-") : NULL;
    if (w) {
        csvw_names(w, "problem,isa,tree,seconds,model_seconds");
        for (int j = 0; j < RESIDUAL_FEATURES; j++) csvw_names(w, residual_name[j]);
        csvw_end(w);
    }
    for (int k = i; k < argc || k == i; k++) collect(k < argc ? argv[k] : "-", &groups, w);
    if (output) {
        if (nrow < 2) die("%zu measured nests: nothing to learn from", nrow);
        struct residual k = residual_fit(row, nrow, &(struct residual_options){ members, rounds, depth, rate,
                                                                               (uint64_t)seed, shuffle });
        residual_write(&k, output);
        residual_free(&k);
    }
    return w ? csvw_close(w) : EXIT_OK;
}
