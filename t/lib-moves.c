/* moves: by hand; every move is a list of legal actions that gives the same nest; what is seen agrees with the model */
#include "base/rng.h"
#include "loop/search/again.h"
#include "loop/search/search.h"
#include "loop/search/candidate.h"
#include "loop/search/moves.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct problem problem(const char *text)
{
    struct problem p;
    problem_parse(&p, str_of(text), text);
    return p;
}

static bool after(const char *text, const char *moves, const char *want, int cursor)
{
    struct problem p = problem(text);
    struct nest t;
    struct moved m;
    nest_reset(&p, &t);
    move_begin(&p, &t, &m);
    bool good = true;
    for (const char *s = moves; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        good &= move_do(&p, &t, move_of((str){ s, n }), &m);
        s += n;
    }
    struct buf b = { 0 };
    nest_print(&b, &p, &t);
    good &= !strncmp(b.s, want, strlen(want)) && t.cursor == cursor;
    if (!good) printf("# got %s cursor %d\n# not %s\n", b.s, t.cursor, want);
    free(b.s);
    return good;
}

static void by_hand(void)
{
    ok(after("(mm 112 208 256)", "tile_8", "(tree (for m 14 0 (for k 256 0 (for n 208 0 (for m 8 0 (mul", 0),
       "tile_8: split, the inner part innermost, the cursor stays");
    ok(after("(mm 112 208 256)", "down block_128", "(tree (for k 2 0 (for m 112 0 (for k 128 0 (for n 208 0 (mul", 0),
       "block_128: split, the outer part outermost, with the cursor");
    ok(after("(mm 112 208 256)", "innermost", "(tree (for k 256 0 (for n 208 0 (for m 112 0 (mul", 0), "innermost");
    ok(after("(mm 112 208 256)", "down down outermost", "(tree (for n 208 0 (for m 112 0 (for k 256 0 (mul", 0),
       "outermost");
    ok(after("(conv_nhwc 1 64 16 14 32 3 1 1)", "", "(tree (for c 64 0 (for ho 14 0 (for wo 14 0 (for kh 3 0 "
             "(for m 32 0 (for n 1 0 (for kw 1 0 (mul", 0),
       "loops of one iteration are innermost before the first move");
    struct problem p = problem("(mm 8 208 256)");
    struct nest t, before;
    nest_reset(&p, &t);
    before = t;
    ok(!move_do(&p, &t, MOVE_TILE + 8, NULL) && nest_same(&t, &before), "nothing to tile in a loop of 8 by 8");
    ok(!move_do(&p, &t, MOVE_OUTERMOST, NULL) && !move_do(&p, &t, ACT_UP, NULL), "nowhere to go from the outermost");
    t.cursor = 1;
    ok(p.reduced[t.loop[1].var] && !move_do(&p, &t, MOVE_TILE + 8, NULL) && t.cursor == 1, "no tiles of reductions");
    ok(move_of(str_of("tile_9")) == -1 && move_of(str_of("tile_8")) == MOVE_TILE + 8, "names");
}

static const char *const problems[] = {
    "(mm 97 208 50)", "(mm_tt 64 64 64)", "(bmm 4 33 47 21)", "(conv 1 3 30 30 64 7 7 2)",
    "(conv_nhwc 1 64 14 14 256 1 1 1)", "(conv_nhwc 2 48 16 16 96 3 3 2)", "(conv 1 16 12 12 1 3 3 1)",
    "(reduce 100 30)", "(mm 1 1 1)"
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void random_moves(void)
{
    struct rng r = rng_for(1, str_of("moves"));
    int other = 0, single = 0, changed = 0, done_moves = 0, names = 0, extents = 0;
    for (int round = 0; round < 300; round++) {
        struct problem p = problem(problems[round % PROBLEMS]);
        struct nest t, replayed;
        struct moved m;
        nest_reset(&p, &t);
        replayed = t;
        move_begin(&p, &t, &m);
        for (int i = 0; i < m.n; i++) other += nest_act(&p, &replayed, m.action[i], RULE_NONE) != NULL;
        other += nest_hash(&t, true) != nest_hash(&replayed, true);
        for (int k = 0; k < 30; k++) {
            int move = moves_all[rng_below(&r, MOVES)];
            struct nest before = t;
            char b[40];
            names += move_of(str_of(move_name(move, b))) != move;
            if (!move_do(&p, &t, move, &m)) {
                changed += nest_hash(&t, true) != nest_hash(&before, true);
                continue;
            }
            done_moves++;
            for (int i = 0; i < m.n; i++) other += nest_act(&p, &replayed, m.action[i], RULE_NONE) != NULL;
            other += nest_hash(&t, true) != nest_hash(&replayed, true);
            bool last = true;                            /* loops of one iteration are at the end, and not visited */
            for (int i = t.n; i-- > 1; ) {
                bool one = t.loop[i].size == 1 && !t.loop[i].tail;
                single += one && (!last || t.cursor == i);
                last &= one;
            }
            int32_t inner[NEST_LOOPS];
            int64_t e[NEST_VARS] = { 0 };
            nest_inner(t.loop, t.n, inner);
            for (int j = t.n; j-- > 0; ) e[t.loop[j].var] = (int64_t)t.loop[j].size * inner[j] + t.loop[j].tail;
            for (int v = 0; v < p.nvar; v++) extents += e[v] != p.size[v];
        }
    }
    printf("# %d moves\n", done_moves);
    ok(done_moves > 1500 && other == 0, "a move is the actions that it says");
    ok(single == 0, "loops of one iteration stay innermost and are not visited");
    ok(changed == 0, "an illegal move changes nothing");
    ok(names == 0, "names read back");
    ok(extents == 0, "extents stay");
}

static void seen(void)
{
    struct rng r = rng_for(2, str_of("seen"));
    int bad = 0, wrong = 0, here = 0;
    for (int round = 0; round < 200; round++) {
        struct problem p = problem(problems[round % PROBLEMS]);
        struct nest t;
        struct moved m;
        nest_reset(&p, &t);
        move_begin(&p, &t, &m);
        for (int k = 0; k < 8; k++) move_do(&p, &t, moves_all[rng_below(&r, MOVES)], NULL);
        enum isa isa = round & 1 ? ISA_AVX512 : ISA_AVX2;
        struct terms k = moves_terms(&p, &t, isa, false);
        double seconds;
        bool none = model_seconds(&seconds, &p, &t, isa, false) != NULL;
        wrong += none != !k.f[0] || (!none && seconds != k.seconds);
        float f[SEEN_ALL];
        moves_seen(&p, &t, isa, &k, f);
        for (int i = 0; i < SEEN_ALL; i++) bad += !(fabsf(f[i]) < 8);
        here += f[SEEN_CURSOR * SEEN_SLOT] != 1;
    }
    ok(bad == 0, "all that is seen is finite and less than 8");
    ok(here == 0, "the loop at the cursor is in its slot");
    ok(wrong == 0, "the terms are those of the model");
    struct problem p = problem("(mm 64 64 64)"), q = problem("(mm 64 64 64 (order n k m))");
    struct nest t, u;
    nest_reset(&p, &t);
    nest_reset(&q, &u);
    struct terms k = moves_terms(&p, &t, ISA_AVX512, false);
    float f[SEEN_ALL], g[SEEN_ALL];
    moves_seen(&p, &t, ISA_AVX512, &k, f);
    moves_seen(&q, &u, ISA_AVX512, &k, g);
    ok(memcmp(f, g, sizeof f) != 0, "the order of loops is seen");
}

/* what is measured again has all of its rounds */
static void again(void)
{
    struct problem p = problem("(mm 16 16 16)");
    struct again g = { 0 };
    struct evaluator v;
    struct nest t;
    nest_reset(&p, &t);
    again_add(&g, &p, &t);
    nest_act(&p, &t, ACT_SPLIT_4, RULE_NONE);
    again_add(&g, &p, &t);
    for (int i = 0; i < 2; i++) g.nest[i].wanted = true;
    evaluator_open(&v, ISAS, NULL);
    again_run(&g, &v, 1, 3, 0);
    ok(v.measured == 6, "two nests, three rounds");
    evaluator_close(&v);
    again_free(&g);
}

/* about as fast: what needs less from beyond the second cache; else what is faster, whatever it needs */
static void taken(void)
{
    const double beyond[] = { 20, 40, 0 };
    ok(candidate_taken((double[]){ 100, 99, INFINITY }, beyond, 3) == 0, "1 % faster does not pay for twice of it");
    ok(candidate_taken((double[]){ 100, 97, INFINITY }, beyond, 3) == 1, "3 % does");
    ok(candidate_taken((double[]){ 100, 100, 103 }, beyond, 3) == 0, "nor does no traffic for 3 %");
    ok(candidate_taken((double[]){ INFINITY, 100, 103 }, beyond, 3) == 2, "but for less than a tenth of it");
    ok(candidate_taken((double[]){ INFINITY, INFINITY, INFINITY }, beyond, 3) == -1, "none, where none ran");
    /* 6.4 MB of C moved twice, or each tile of it once */
    struct problem p = problem("(mm 25088 64 256)");
    struct model_terms m[2];
    for (int i = 0; i < 2; i++) {
        const char *tree = i ? "(tree (for m 4181 2 (for k 256 0 (for m 6 0 (for n 64 0 (mul A B) (acc T))))) "
                               "(for m 25088 0 (for n 64 0 (write C))))"
                             : "(tree (for k 2 0 (for m 4181 2 (for k 128 0 (for m 6 0 (for n 64 0 "
                               "(mul A B) (acc T)))))) "
                               "(for m 25088 0 (for n 64 0 (write C))))";
        struct nest t;
        nest_parse(&t, &p, str_of(tree), 0, "tree");
        ok(!model_terms(&m[i], &p, &t, ISA_AVX512, false), "has terms");
    }
    ok(m[0].traffic[1] > 1.2 * m[1].traffic[1], "a sum split outside of the rows needs more");
}

/* a search that has no time for all its nests still compares the best ones again */
static size_t nests_told;
static void told(const struct search *s, size_t *order, size_t at, size_t n, double gflops)
{
    (void)s, (void)order, (void)at, (void)n, (void)gflops;
    nests_told++;
}

static void compared(void)
{
    struct problem p = problem("(mm 400 400 400)");
    struct evaluator v;
    evaluator_open(&v, ISAS, NULL);
    struct search s = { .algo = "heuristic", .steps = 10, .seconds = 1.5, .measure = 100000, .told = told,
                        .actions = (1u << ACT_COUNT) - 1 };
    search_run(&s, &v, &p);
    printf("# %zu nests, measured %zu times\n", nests_told, v.measured);
    ok(nests_told > 16 && v.measured > nests_told + 16, "out of time: the best nests are measured again");
    search_free(&s);
    evaluator_close(&v);
}

int main(void)
{
    taken();
    compared();
    again();
    by_hand();
    random_moves();
    seen();
    return done();
}
