/* Profiles and plans: lookup, additive estimates, copies between measured sizes, and plans that read back equal. */
#include "place/cost.h"
#include "place/layout.h"
#include "place/net.h"
#include "tap.h"
#include "dies.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64] = "/tmp/lib-plan-XXXXXX";

static const char *file(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (text) {
        FILE *f = fopen(path, "w");
        fputs(text, f);
        fclose(f);
    }
    return path;
}

static const char rows[] =
    "key,in_tiers,out_tiers,mode,staging_bytes,time_seconds,kind\n"
    "A 8;=0>40000,DD,D,direct,0,1,real\n"
    "B 40000;40000>40000,DD,D,direct,0,1,real\n"
    "B 40000;40000>40000,PD,D,streamed,1000,1.5,real\n"
    "B 40000;40000>40000,DP,D,streamed,2000,1.25,real\n"
    "B 40000;40000>40000,DD,P,streamed,0,3,emulated\n"
    "B 40000;40000>40000,PD,D,staged,160000,1.125,real\n"
    "B 40000;40000>40000,DP,D,staged,160000,1.125,real\n"
    "B 40000;40000>40000,PP,D,staged,320000,1.5,real\n"
    "B 40000;40000>40000,PP,D,staged,320000,1.75,real\n"
    "Move 65536,P,D,direct,0,1,real\nMove 131072,P,D,direct,0,3,real\nMove 65536,D,P,direct,0,2,real\n";

static const char workspace[] =
    "key,in_tiers,out_tiers,mode,staging_bytes,time_seconds\n"
    "B 40000;40000>40000,DD,D,staged,300000,0.5\nB 40000;40000>40000,DD,D,direct,0,1\n"
    "B 40000;40000>40000,PD,D,streamed,0,9\nB 40000;40000>40000,DP,D,streamed,0,9\n"
    "B 40000;40000>40000,DD,P,streamed,0,9\n";

static struct graph *small(void)
{
    struct graph *g = graph_new("small", 1);
    int x = graph_tensor(g, "x", ROLE_ARG, "f32", 1, (int64_t[]){ 8 });
    int a = graph_tensor(g, "a", ROLE_INTER, "f32", 1, (int64_t[]){ 40000 }),
        b = graph_tensor(g, "b", ROLE_INTER, "f32", 1, (int64_t[]){ 40000 });
    int c = graph_tensor(g, "c", ROLE_INTER, "f32", 1, (int64_t[]){ 40000 });
    graph_node(g, "n0", "A", 2, (int[]){ x, x }, 1, &a);
    graph_node(g, "n1", "A", 2, (int[]){ x, x }, 1, &b);
    graph_attr(g, graph_node(g, "n2", "B", 2, (int[]){ a, b }, 1, &c), "scale", 1, 2, 0);
    graph_finish(g);
    return g;
}

static void read_bad(const void *text)
{
    profile_read(file("bad.csv", text));
}

static void lookup(void)
{
    struct graph *g = small();
    ok(g->nkernel == 2 && g->kernel[0].uses == 2 && strcmp(g->kernel[0].key, "A 8;=0>40000") == 0,
       "equal nodes are one kernel, repeated operands are marked");
    ok(strcmp(g->kernel[1].key, "B 40000;40000>40000") == 0 && g->kernel[1].movable == 7,
       "the scale is not part of the key");
    struct profile *p = profile_read(file("p.csv", rows));
    ok(strcmp(profile_kind(p), "emulated") == 0, "the weakest kind counts");
    struct choice c, t[8];
    ok(profile_find(p, "B 40000;40000>40000", 3, -1, &c) && c.seconds == 1.75,
       "a later row replaces an earlier one");
    ok(!profile_find(p, "B 40000;40000>40000", 7, -1, &c), "no row, no answer");
    profile_table(p, g, 2, 0, 1 << 30, t);
    near(t[0].seconds, 1, 0, "all fast");
    near(t[1].seconds, 1.125, 0, "one slow: the faster mode");
    ok(t[1].mode == 2 && t[1].staging == 160000, "with its staging");
    near(t[3].seconds, 1.75, 0,
         "both slow: the measured time of staging both is no better than two streaming penalties");
    near(t[7].seconds, 3.75, 1e-12, "three penalties add up");
    ok(t[7].mode == 1 && t[7].staging == 3000, "and so does their staging");
    profile_table(p, g, 2, 0, 3 * 163840, t);
    ok(t[1].mode == 2, "the faster mode where its staging has room beside the two operands that are fast");
    profile_table(p, g, 2, 0, 3 * 163840 - 1, t);
    ok(t[1].mode == 1, "else the other");
    profile_table(p, g, 2, 0, 10000, t);
    ok(t[1].mode == 1 && t[1].seconds == 1.5, "without room for staging the other mode is taken");
    profile_table(p, g, 2, 0, 500, t);
    ok(isinf(t[1].seconds) && t[4].seconds == 3, "or none");
    profile_table(p, g, 2, 2, 1 << 30, t);
    near(t[0].seconds, 1.125, 0, "an offloaded operand is slow where all others are fast");
    near(t[1].seconds, 1.75, 0, "and where another is slow");
    profile_table(p, g, 2, 2, 10000, t);
    ok(t[0].mode == 1 && t[0].seconds == 1.25 && t[0].staging == 2000, "in the mode that has room");
    near(profile_copies(p, g, 2, 5), profile_move(p, 160000, true) + profile_move(p, 160000, false), 1e-12,
         "copies of operands: inputs come, outputs go");
    struct profile *more = profile_read(file("workspace.csv", workspace));
    profile_table(more, g, 2, 0, 780000, t);
    ok(t[0].mode == 2 && t[0].staging == 300000 && t[0].seconds == 0.5, "all fast, the fastest row: with a workspace");
    profile_table(more, g, 2, 0, 779999, t);
    ok(t[0].mode == 0 && t[0].seconds == 1, "which never drives out the kernel's own operands");
    profile_table(more, g, 2, 0, 300000, t);
    ok(t[0].mode == 0, "where the operands have no room either, the row of least staging");
    profile_free(more);
    near(profile_move(p, 65536, true), 1, 0, "a copy as measured");
    near(profile_move(p, 98304, true), 2, 1e-12, "between two sizes");
    near(profile_move(p, 262144, true), 7, 1e-12, "beyond the last, by the last slope");
    near(profile_move(p, 32768, true), 0.5, 1e-12, "below the first, in proportion");
    near(profile_move(p, 131072, false), 4, 1e-12, "one size only, in proportion");
    profile_free(p);
    graph_free(g);
}

static void bad(void)
{
    ok(dies(read_bad, "key,in_tiers,out_tiers,time_seconds\nA,D,X,1\n", 1, "bad.csv:2: column 'out_tiers': 'X'"),
       "a tier that does not exist");
    ok(dies(read_bad, "key,in_tiers,out_tiers,time_seconds\nA,D,D,-1\n", 1, "bad.csv:2: column 'time_seconds': '-1'"),
       "a negative time");
    ok(dies(read_bad, "key,in_tiers,out_tiers,time_seconds\nA,D,D,nan\n", 1, "time_seconds"),
       "a time that is not a number");
    ok(dies(read_bad, "key,in_tiers,out_tiers,time_seconds,mode\nA,D,D,1,fast\n", 1, "'fast' is not one of direct"),
       "an unknown mode");
    ok(dies(read_bad, "key,in_tiers,out_tiers,time_seconds,machine\nA,D,D,1,m1\nB,D,D,1,m2\n", 1, "different settings"),
       "two machines");
    ok(dies(read_bad, "key,in_tiers,out_tiers,time_seconds\nMove 5,D,D,1\n", 1, "a copy from fast to slow"),
       "a copy to where it is");
    ok(dies(read_bad, "key,in_tiers,time_seconds\n", 1, "out_tiers"), "a missing column");
}

static size_t read_all(const char *path, char *to, size_t most)
{
    FILE *f = fopen(path, "r");
    size_t n = fread(to, 1, most, f);
    fclose(f);
    return n;
}

static void round_trip(void)
{
    static char first[1 << 20], second[1 << 20];
    struct graph *g = net_build("mlp", 64, 0, false);
    csvw *w = csvw_open(file("m.csv", NULL));
    csvw_names(w, PROFILE_COLUMNS);
    csvw_end(w);
    for (int k = 0; k < g->nkernel; k++)
        for (uint32_t slow = 0, once = 1; once || slow;
             slow = (slow - g->kernel[k].movable) & g->kernel[k].movable, once = 0) {
            profile_row(w, g, k, slow, 0, 0, machine_time(machine_find("optane"), g, g->kernel[k].node, slow), 0,
                        "model", "simulated");
            csvw_end(w);
        }
    profile_move_row(w, 4096, true, 1e-6, 0, "model", "simulated");
    csvw_end(w);
    profile_move_row(w, 4096, false, 1e-6, 0, "model", "simulated");
    csvw_end(w);
    csvw_close(w);
    struct profile *p = profile_read(file("m.csv", NULL));
    struct effort effort = { 100, 50, 1, 0 };
    struct plan *plan = make_plan(g, p, FORM_SYNC, graph_peak(g) / 2, &effort);
    plan_write(plan, file("a.sexp", NULL));
    struct plan *back = plan_read(file("a.sexp", NULL), g);
    plan_write(back, file("b.sexp", NULL));
    size_t a = read_all(file("a.sexp", NULL), first, sizeof first),
           b = read_all(file("b.sexp", NULL), second, sizeof second);
    ok(a > 1000 && a == b && memcmp(first, second, a) == 0, "a plan reads back and writes the same bytes");
    int found = 0, want = 0;
    for (int n = 0; n < g->nnode; n++)
        for (int i = 0; i < g->node[n].nin + g->node[n].nout; i++) {
            int id = g->node[n].operand[i];
            bool slow =
                (i < g->node[n].nin ? back->node[n].in_tiers[i] : back->node[n].out_tiers[i - g->node[n].nin]) == 'P';
            if (g->tensor[id].role != ROLE_INTER) continue;
            want++;
            if (plan_find(back, id, slow ? TIER_SLOW : TIER_FAST, n)) found++;
        }
    ok(want > 20 && found == want, "plan_find finds every operand in its tier");
    ok(plan_size(100) == 128 && plan_size(65536) == 65536 && plan_size(65537) == 69632 && plan_align(65535) == 64,
       "sizes are rounded to their alignment");
    plan_free(plan);
    plan_free(back);
    profile_free(p);
    graph_free(g);
}

/* the cheapest second of the channel beside some nodes, of which the last price is it; between nodes a second is one */
static void share(void)
{
    static double price[][2] = { { 9, 0.5 }, { 0.1, 0.25 }, { 0.2, 0.75 }, { 0.3, 0.125 } };
    struct plan_node node[] = { { .price = price[0], .nprice = 2 }, { .price = price[1], .nprice = 2 }, { .nprice = 0 },
                                { .price = price[2], .nprice = 2 }, { .price = price[3] + 1, .nprice = 1 } };
    struct plan p = { .formulation = "async", .node = node, .nnode = 5 };
    near(plan_share(&p, 0, 4), 0.25, 0, "the least, whatever memory costs; a node without prices counts for nothing");
    near(plan_share(&p, 2, 4), 0.75, 0, "not of nodes before the first, nor of that after the last");
    near(plan_share(&p, 3, 5), 0.125, 0, "a single price is that of the channel");
    near(plan_share(&p, 2, 3), 1, 0, "no prices: a second is a second");
    p.formulation = "sync";
    near(plan_share(&p, 0, 5), 1, 0, "moves between nodes cost what they take");
}

int main(void)
{
    if (!mkdtemp(dir)) return 99;
    share();
    lookup();
    bad();
    round_trip();
    static const char *const names[] = { "p.csv", "bad.csv", "m.csv", "a.sexp", "b.sexp" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(file(names[i], NULL));
    rmdir(dir);
    return done();
}
