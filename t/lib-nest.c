#include "base/message.h"
#include "base/rng.h"
#include "loop/nest/nest.h"
#include "table/csvio.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct problem problem(const char *text)
{
    struct problem p;
    problem_parse(&p, str_of(text), text);
    return p;
}

static bool prints(const struct problem *p, const struct nest *t, const char *want)
{
    struct buf b = { 0 };
    nest_print(&b, p, t);
    bool good = !strcmp(b.s, want);
    if (!good) printf("# got %s\n# not %s\n", b.s, want);
    free(b.s);
    return good;
}

/* actions split at anything that is not of a name; returns how many were illegal */
static int act_all(const struct problem *p, struct nest *t, const char *list, unsigned rules)
{
    int illegal = 0;
    for (const char *s = list; *s; ) {
        size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789");
        if (n) illegal += nest_act(p, t, act_of((str){ s, n }), rules) != NULL;
        s += n ? n : 1;
    }
    return illegal;
}

static bool walks(const char *prob, const char *list, const char *want, int cursor)
{
    struct problem p = problem(prob);
    struct nest t;
    nest_reset(&p, &t);
    int bad = act_all(&p, &t, list, RULE_NONE);
    bool good = prints(&p, &t, want);
    return good && bad == 0 && t.cursor == cursor;
}

/* five trees worked by hand */
static void by_hand(void)
{
    ok(walks("(mm 112 208 256)", "", "(tree (for m 112 0 (for k 256 0 (for n 208 0 (mul A B) (acc T))) "
             "(for n 208 0 (write C))))", 0), "1: the untiled tree has two nests under m");
    ok(walks("(mm 112 208 256)", "split_4 down swap_down down split_16 swap_up swap_up swap_up split_8 swap_down",
             "(tree (for n 1 80 (for n 8 0 (for m 28 0 (for k 256 0 (for m 4 0 (for n 16 0 (mul A B) (acc T))))))) "
             "(for m 28 0 (for m 4 0 (for n 208 0 (write C)))))", 1), "2: the published list for 112 208 256");
    ok(walks("(mm 100 16 8)", "split_16 split_4",
             "(tree (for m 1 36 (for m 4 0 (for m 16 0 (for k 8 0 "
             "(for n 16 0 (mul A B) (acc T))) (for n 16 0 (write C))))))",
             0),
       "3: 100 = 1 x 64 + 36, a split of the outer part");
    ok(walks("(mm 32 48 64)", "swap_down", "(tree (for k 64 0 (for m 32 0 (for n 48 0 (mul A B) (acc T)))) "
             "(for m 32 0 (for n 48 0 (write C))))", 1), "4: a reduction outermost makes the write-back a second root");
    ok(walks("(mm 32 48 64)", "down down swap_up swap_up split_8 down vectorize swap_down",
             "(tree (for n 6 0 (for m 32 0 (for n 8 0 vectorize (for k 64 0 (mul A B) (acc T)) (write C)))))", 2),
       "5: with the reduction innermost all loops of the write-back are shared");
    struct problem p = problem("(mm 32 48 64)");
    struct nest t;
    nest_reset(&p, &t);
    act_all(&p, &t, "split_4 down merge down split_8 down unroll vectorize", RULE_NONE);
    ok(prints(&p, &t, "(tree (for m 32 0 (for k 64 0 (for n 6 0 (for n 8 0 unroll vectorize (mul A B) (acc T)))) "
              "(for n 48 0 (write C))))"), "6: merge undoes a split; marks on the innermost loop only");
}

/* refused where it is read: each would overflow, overlap, recurse or end a comment further down */
static void refused(void)
{
    static const char *const bad[] = {
        "(nest (sizes (m 8) (n 8) (k 8)) (A m k) (B k n) (C m n) (sizes (m 9)))",
        "(nest (sizes (m 8) (n 8) (k*/ 8)) (A m k*/) (B k*/ n) (C m n))",
        "(nest (sizes (m 65537) (n 8) (k 8)) (A (* 16777216 (* 16777216 m)) k) (B k n) (C m n))",
        "(nest (sizes (u 2) (v 1025) (k 8)) (A u k) (B k v) (C (+ (* 16777216 (* 16777216 (* 65535 u))) (* 1024 v))))",
        "(nest (sizes (m 8) (n 8) (k 8)) (A (* 1 (* 1 (* 1 (* 1 (* 1 m))))) k) (B k n) (C m n))",
        "(nest (sizes (a 2) (b 2) (c 2)) (A a b c) (B a b c) (C (+ (* 3 a) (+ (* 3 b) c))))",
        "(nest (sizes (m 8) (n 8) (k 8)) (A m k) (B k n) (C m n) (order m n k) (order m n k))", "(mm 8 8 8 8)",
        "(conv 1 3 9 9 4 3 3 1 (pad))", "(conv 1 3 9 9 4 3 3 1 (pad 1 2 3))", "(conv 1 3 9 9 4 3 3 1 (pad 1) (pad 1))",
        "(conv 1 3 9 9 4 3 3 1 (pad -1))", "(conv 1 3 9 9 4 3 3 1 (pad 16777216))", "(mm 8 8 8 (pad 1))",
        "(nest (sizes (m 8) (n 8) (k 8)) (A m (pad 4 k)) (B k n) (C m n))",
        "(nest (sizes (m 8) (n 8) (k 8)) (A m k) (B (pad 1 k) n) (C m n))",
        "(nest (sizes (m 8) (n 8) (k 8)) (A m (pad 1 1 1 k)) (B k n) (C m n))",
        "(nest (sizes (m 8) (n 8) (k 8)) (A m (pad 1 (pad 1 k))) (B k n) (C m n))",
        "(nest (sizes (q 8) (k 9) (d 4) (e 4)) (A (pad 1 q) d) (B k d) (mid softmax) (V k e) (C q e))",
        "(mm 8 8 \"8 */\")", "(nest (sizes (m 8) (8 8)) (A m) (B 8) (C m 8))" };
    int accepted = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            fclose(stderr);
            problem(bad[i]);
            _exit(0);
        }
        int status;
        waitpid(pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) printf("# accepted, or worse: %s\n", bad[i]), accepted++;
    }
    ok(accepted == 0, "problems that would do harm are refused where they are read");
}

static void parses(void)
{
    struct problem p = problem("(conv 1 3 9 9 4 3 3 2)");
    ok(p.size[2] == 4 && p.stride[TENSOR_A][2] == 18 && p.stride[TENSOR_A][3] == 2 && p.elements[TENSOR_C] == 64,
       "a strided convolution has 4 rows, 18 elements apart");
    ok(problem_flops(&p) == 2.0 * 3 * 16 * 9 * 4, "its operations");
    struct problem q = problem("(nest (sizes (m 4) (k 5) (n 6)) (A m k) (B k n) (C m n) (order n k m))");
    ok(q.stride[TENSOR_B][1] == 6 && q.order[0] == 2, "the general form, with an order");
    p = problem("(conv_nhwc 2 3 8 9 4 3 3 2 (pad 0 1 2 3) (type f64))");
    ok(p.size[2] == 4 && p.size[3] == 6 && p.stride[TENSOR_A][2] == 84 && p.elements[TENSOR_A] == 2 * 3 * 8 * 9 &&
       p.padded == 2 * 3 * 9 * 14, "zeros around it are in its strides, not in memory");
    ok(p.pad.n == 3 && p.pad.size[2] == 27 && p.pad.before[1] == 0 && p.pad.after[1] == 1 && p.pad.before[2] == 6 &&
       p.pad.after[2] == 9, "zeros of columns are those of their channels");
    p = problem("(nest (sizes (c 5) (y 4) (p 3)) (A (pad 2 0 (+ y p)) c) (B p c) (C y c))");
    ok(p.elements[TENSOR_A] == 20 && p.padded == 30 && p.row[TENSOR_A] == 5, "of one dimension of a general nest");
    static const char *const list[] = { "(mm_tt 5 6 7)", "(bmm 2 3 4 5)", "(point 3 4)", "(reduce 3 4)", "(transp 3 4)",
                                        "(conv_nhwc 1 3 9 9 4 3 3 1 (pad 1))" };
    struct rng r = rng_for(1, str_of("parse"));
    int bad = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int j = 0; j < 200; j++) {
            struct nest t, u;
            p = problem(list[i]);
            nest_reset(&p, &t);
            for (int s = 0; s < 12; s++) {
                int a = (int)rng_below(&r, ACT_COUNT + 1);
                nest_act(&p, &t, a == ACT_COUNT ? ACT_SPLIT_ANY + 3 : a, RULE_NONE);
            }
            struct buf b = { 0 };
            nest_print(&b, &p, &t);
            nest_parse(&u, &p, (str){ b.s, b.n }, t.cursor, "tree");
            if (nest_effect(&t, &u) || nest_hash(&t, true) != nest_hash(&u, true)) {
                if (!bad++) printf("# %s\n", b.s);
            }
            free(b.s);
        }
    ok(bad == 0, "1200 random trees read back as they were printed");
}

/* what any list of actions leaves is accepted by whoever reads it: nest_parse dies at a tree that is not sound */
static void lists(long n)
{
    static const char *const kinds[] = { "(mm 85 123 92)", "(mm_tt 5 600 7)", "(bmm 3 34 45 17)", "(point 33 40)",
                                         "(reduce 70 64)", "(transp 31 300)", "(conv 2 3 19 18 40 3 2 2)",
                                         "(conv_nhwc 1 24 9 9 40 1 1 1)", "(attn 2 50 70 33)",
                                         "(conv_nhwc 1 24 9 9 40 3 3 2 (pad 1))",
                                         "(attn_causal 2 50 70 33)", "(attn 1 30 40 16 (type bf16))",
                                         "(mm 40 70 33 (then bias residual layernorm) (type f16))",
                                         "(mm_nt 90 35 20 (then rmsnorm bf16))", "(mm 33 60 70 (type f64))",
                                         "(mm_bf16 20 90 64)", "(mm_u8s8 20 90 64 (then bias relu))",
                                         "(nest (sizes (m 9) (n 70) (k 33) (o 21)) (A m k) (B k n) (mid gelu) (V n o) "
                                         "(C m o))",
                                         "(nest (sizes (y 7) (x 9) (c 70) (p 3) (q 3)) (A (+ y (* 2 p)) "
                                         "(+ x (* 2 q)) c) (B p q c) (C y x c))",
                                         "(nest (sizes (a 9) (b 70) (c 33) (d 2)) (A d a c) (B c b d) (C b a))" };
    struct rng r = rng_for(3, str_of("lists"));
    struct buf b = { 0 };
    int bad = 0;
    for (long i = 0; i < n; i++) {
        struct problem p = problem(kinds[i % (long)(sizeof kinds / sizeof *kinds)]);
        struct nest t, u;
        nest_reset(&p, &t);
        for (int s = (int)rng_below(&r, 40); s > 0; s--) {
            int a = (int)rng_below(&r, ACT_COUNT + 3);
            nest_act(&p, &t, a >= ACT_COUNT ? ACT_SPLIT_ANY + 2 + (int)rng_below(&r, 30) : a, RULE_NONE);
        }
        b.n = 0;
        nest_print(&b, &p, &t);
        nest_parse(&u, &p, (str){ b.s, b.n }, t.cursor, b.s);
        bad += nest_effect(&t, &u);
    }
    free(b.s);
    printf("# %ld lists\n", n);
    ok(bad == 0, "the tree that any list of actions leaves is accepted, and read back as it is");
    struct problem p = problem("(mm 85 123 92)");
    struct nest t;
    nest_reset(&p, &t);
    act_all(&p, &t, "unroll split_64 down down swap_down up swap_up unroll swap_up swap_down", RULE_NONE);
    b = (struct buf){ 0 };
    nest_print(&b, &p, &t);
    nest_parse(&t, &p, (str){ b.s, b.n }, 0, b.s);
    free(b.s);
    ok(true, "also where loops of one variable lie between two that change places in the write-back");
}

static void invariants(void)
{
    int bad = 0;
    for (int size = 2; size <= 300; size++)
        for (int by = 2; by <= 256; by *= 2) {
            if (size < by) continue;
            char text[64];
            snprintf(text, sizeof text, "(mm %d 8 8)", size);
            struct problem p = problem(text);
            struct nest t, u;
            nest_reset(&p, &t);
            u = t;
            nest_act(&p, &u, ACT_SPLIT_ANY + by, 0);
            nest_act(&p, &u, ACT_DOWN, 0);
            bad += nest_act(&p, &u, ACT_MERGE, 0) != NULL || !nest_same(&t, &u);
        }
    ok(bad == 0, "merge(split(x)) = x for all sizes to 300 and powers of two");
    struct problem p = problem("(mm 97 208 50)");
    struct nest t;
    nest_reset(&p, &t);
    struct rng r = rng_for(1, str_of("walk"));
    for (int i = 0; i < 20000; i++) {
        nest_act(&p, &t, (int)rng_below(&r, ACT_COUNT), RULE_NONE);
        int32_t inner[NEST_LOOPS];
        nest_inner(t.loop, t.n, inner);
        int64_t e[NEST_VARS] = { 0 };
        for (int j = t.n; j-- > 0; ) e[t.loop[j].var] = (int64_t)t.loop[j].size * inner[j] + t.loop[j].tail;
        for (int v = 0; v < 3; v++) bad += e[v] != p.size[v];
    }
    ok(bad == 0, "20 000 random actions leave every extent as it was");
}

static void observations(void)
{
    struct problem p = problem("(mm 112 208 256)");
    struct nest t;
    nest_reset(&p, &t);
    float f[OBS_SIZE], s[OBS_STRIDES];
    nest_loops_tensor(&p, &t, f);
    ok(f[0] == 1 && f[1] == 112 && f[3] == 1 && f[4 + 8] == 1, "loop m: cursor, 112, computation, A in bucket 8");
    ok(f[21] == 256 && f[24] == 0.5f && f[24 + 8] == 0.5f, "loop k: A at stride 1, B at 208");
    ok(f[41] == 208 && f[44] == 1, "loop n: B at stride 1");
    ok(f[61] == 208 && f[63] == 0 && f[64] == 1 && f[81] == 0, "write-back n: T at stride 1; nothing after it");
    nest_stride_tensor(&p, &t, false, s);
    ok(s[0] == 112.0f * 256 + 112.0f * 256 * 208 + 112.0f * 208 && s[8] == 112 + 112.0f * 256, "stride tensor counts");
    int a[2] = { ACT_DOWN, ACT_SPLIT_4 };
    float prev[OBS_PREV * ACT_PUBLISHED];
    nest_prev_tensor(a, 2, ACT_PUBLISHED, prev);
    ok(prev[ACT_SPLIT_4] == 1 && prev[ACT_PUBLISHED + ACT_DOWN] == 1 && prev[2 * ACT_PUBLISHED] == 0,
       "newest action first");
}

/* 2 files x 25 problems x 9 lists as published: that of the untiled nest, which is empty, seven of searches, which are
 * legal at every step, and one of the network, which need not be.  In a list the first entry is the empty action. */
struct lists { int empty, searches, illegal, networks, networks_illegal, actions; };

static void replay(const char *dir, const char *file, struct lists *n_lists)
{
    char path[512], text[64];
    snprintf(path, sizeof path, "%s/loop/%s", dir, file);
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    for (bool first = true; f && getline(&line, &cap, f) > 0; first = false) {
        int m, n, k;
        if (first) continue;
        const char *at = strstr(line, "mm");
        if (!at || sscanf(at, "mm%d_%d_%d", &m, &n, &k) != 3) continue;
        snprintf(text, sizeof text, "(mm %d %d %d)", m, n, k);
        struct problem p = problem(text);
        at = strrchr(line, 'm');                         /* the third block of columns holds the actions */
        for (int i = 0; at && (at = strchr(at, '[')) != NULL; i++) {
            struct nest t;
            nest_reset(&p, &t);
            char *end = strchr(at, ']'), old = *end;
            if (!end) break;
            *end = 0;
            int bad = act_all(&p, &t, at, RULE_PUBLISHED);
            for (const char *s = at; (s = strchr(s, '\'')); s++) n_lists->actions++;
            if (i == 0) n_lists->empty += end == at + 1;
            else if (i < 8) n_lists->searches++, n_lists->illegal += bad;
            else n_lists->networks++, n_lists->networks_illegal += bad != 0;
            *end = old;
            at = end;
        }
    }
    free(line);
    if (f) fclose(f);
}

int main(int argc, char **argv)
{
    prog = "lib-nest";
    by_hand();
    parses();
    refused();
    invariants();
    lists(argc > 1 ? strtol(argv[1], NULL, 10) : 20000);     /* lib-nest.t 1000000 is the full check */
    observations();
    const char *dir = getenv("MILLRACE_DATA") ? getenv("MILLRACE_DATA") : "../shared/data";
    char path[512];
    snprintf(path, sizeof path, "%s/loop/looptune-test.csv", dir);
    if (!access(path, R_OK)) {
        struct lists l = { 0 };
        replay(dir, "looptune-test.csv", &l);
        replay(dir, "looptune-train.csv", &l);
        int lists = l.empty + l.searches + l.networks;
        printf("# %d lists, %d actions; %d illegal in lists of searches; %d of %d network lists hold some\n", lists,
               l.actions / 2 - l.searches - l.networks, l.illegal, l.networks_illegal, l.networks);
        ok(lists == 450 && l.empty == 50 && l.searches == 350 && l.networks == 50,
           "450 lists: 50 problems, each with the empty one, seven of searches and one of the network");
        ok(l.illegal == 0, "every published search list is legal at every step");
        ok(l.networks_illegal == 31, "31 of the 50 network lists hold illegal actions, as the study's replay found");
    } else {
        printf("ok %d # skip the published lists are not here\n", ++tap_count);
    }
    return done();
}
