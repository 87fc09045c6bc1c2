/* names.h, decisions.h, itree.h, expand.h: random decisions against a naive tree, round trips of every form, passes */
#include "decisions/expand.h"
#include "decisions/source.h"
#include "base/rng.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

static struct names names;

/* ---- text in and out ---- */

static char *written(void (*write)(sexpw *, const void *), const void *what)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    sexpw *w = sexpw_file(f);
    write(w, what);
    sexpw_close(w);
    fclose(f);
    return text;
}

static void as_v0(sexpw *w, const void *d) { decisions_write_v0(w, &names, d); }
static void as_v1(sexpw *w, const void *d) { decisions_write_v1(w, &names, d); }
static void as_canonical(sexpw *w, const void *d) { decisions_write(w, &names, d); }
static void as_simple(sexpw *w, const void *d) { decisions_write_simple(w, &names, d); }
static void as_tree(sexpw *w, const void *t) { itree_write(w, &names, t, 0); }

static void parse(const char *text, struct decisions *d, struct itree *t)
{
    sexpr *r = sexp_open_text(text, strlen(text), "text", SEXP_CORE);
    const struct sexp *e = sexp_only(r);
    if (d) decisions_read(&names, e, d);
    if (t) itree_read(&names, e, t);
    sexp_close(r);
}

/* the text is read and written again; true when nothing changed */
static bool same_again(const char *text, void (*write)(sexpw *, const void *))
{
    struct decisions d = { 0 };
    struct itree t = { 0 };
    parse(text, write == as_tree ? NULL : &d, write == as_tree ? &t : NULL);
    char *again = written(write, write == as_tree ? (void *)&t : (void *)&d);
    bool same = strcmp(text, again) == 0;
    if (!same) printf("# %s# %s", text, again);
    free(again);
    decisions_free(&d);
    itree_free(&t);
    return same;
}

/* ---- random decisions and a naive tree of them ---- */

static void random_decisions(struct rng *g, bool v1, struct decisions *d)
{
    decisions_clear(d);
    d->form = v1 ? FORM_V1 : FORM_V0;
    int n = (int)rng_below(g, 40);
    for (int k = 0; k < n; k++) {
        struct trace_step s[6];
        uint32_t length = 1 + (uint32_t)rng_below(g, 5), around = 0;
        for (uint32_t i = 0; i < length; i++) {
            char text[64];
            int b = snprintf(text, sizeof text, "camlA__f'%d__%d", (int)rng_below(g, 3), (int)rng_below(g, 2));
            uint32_t closure = names_closure_of(&names, (str){ text, (size_t)b });
            s[i] = (struct trace_step){ closure, names_meta_of(&names, closure),
                                       i + 1 < length && rng_below(g, 3) == 0 };
            b = snprintf(text, sizeof text, "%d", (int)rng_below(g, 3));
            if (!s[i].decl && !v1)
                s[i].label = path_add(&names, 0, names_site_v0(&names, closure, (str){ text, (size_t)b }));
            if (!s[i].decl && v1) {
                b = snprintf(text, sizeof text, "camlB__%s[%d]", rng_below(g, 2) ? "Apply" : "Over",
                             (int)rng_below(g, 3));
                s[i].label = path_add(&names, around, names_site_of(&names, (str){ text, (size_t)b }));
            }
            around = s[i].decl ? 0 : s[i].label;
        }
        decisions_add(d, s, length, 0, rng_below(g, 3) ? ACTION_INLINE : ACTION_APPLY);
    }
}

struct naive { struct trace_step step; enum node_kind kind; int parent; };

/* trees by searching a list; true when the same nodes stand in the same order below the same parents */
static bool naive_agrees(const struct decisions *d)
{
    static struct naive x[1000];
    int n = 1;
    size_t lost = 0;
    x[0].kind = NODE_ROOT;
    for (size_t k = 0; k < d->n; k++) {
        int at = 0;
        for (uint32_t i = 0; i < d->d[k].n; i++) {
            const struct trace_step *s = &d->step[d->d[k].first + i];
            if (x[at].kind == NODE_APPLY) {
                lost++;
                break;
            }
            int found = 0;
            for (int j = 1; j < n && !found; j++)
                if (x[j].parent == at && x[j].step.label == s->label && x[j].step.decl == s->decl) found = j;
            if (!found) {
                enum node_kind kind = s->decl                                                ? NODE_DECL
                                      : i + 1 == d->d[k].n && d->d[k].action == ACTION_APPLY ? NODE_APPLY
                                                                                             : NODE_INLINED;
                x[found = n++] = (struct naive){ *s, kind, at };
            }
            at = found;
        }
    }
    struct itree t = { 0 };
    itree_build(&t, d, 0, false);
    bool same = t.n == (size_t)n && t.n_lost == lost;
    for (int j = 1; same && j < n; j++) {
        const struct tnode *y = &t.node[j];
        same = y->kind == x[j].kind && y->label == x[j].step.label && y->parent == (uint32_t)x[j].parent;
    }
    itree_build(&t, d, 0, true);
    for (size_t j = 0; same && j < t.n; j++)
        for (uint32_t c = t.node[j].first; c != NODE_NONE && t.node[c].next != NODE_NONE; c = t.node[c].next)
            same &= t.node[c].next < c;
    itree_free(&t);
    return same;
}

static void test_random(void)
{
    struct rng g = rng_for(1, str_of("itree"));
    struct decisions d = { 0 }, unrolled = { 0 };
    struct itree t = { 0 };
    int naive = 0, lists = 0, trees = 0, back = 0, canonical = 0;
    for (int k = 0; k < 200; k++) {
        random_decisions(&g, k % 2, &d);
        naive += naive_agrees(&d);
        char *text = written(k % 2 ? as_v1 : as_v0, &d);
        lists += d.n == 0 || same_again(text, k % 2 ? as_v1 : as_v0);
        free(text);
        text = written(as_canonical, &d);
        canonical += same_again(text, as_canonical);
        free(text);
        itree_build(&t, &d, 0, false);
        text = written(as_tree, &t);
        trees += t.n == 1 || same_again(text, as_tree);
        itree_decisions(&t, 0, &unrolled);
        itree_build(&t, &unrolled, 0, false);
        char *again = written(as_tree, &t);
        /* a declaration without a call leaves no decision; this generator makes none */
        back += strcmp(text, again) == 0;
        free(text);
        free(again);
    }
    ok(naive == 200, "trees of 200 random lists are those of a naive search");
    ok(lists == 200, "V0 and V1 decisions survive writing and reading");
    ok(canonical == 200, "canonical decisions survive writing and reading");
    ok(trees == 200, "V0 and V1 trees survive writing and reading");
    ok(back == 200, "the decisions of a tree rebuild it");
    decisions_free(&d);
    decisions_free(&unrolled);
    itree_free(&t);
}

/* ---- names ---- */

static bool closure_is(const char *text, const char *want)
{
    FILE *f;
    char *got = NULL;
    size_t n = 0;
    f = open_memstream(&got, &n);
    sexpw *w = sexpw_file(f);
    names_write_closure(w, &names, names_closure_of(&names, str_of(text)));
    sexpw_close(w);
    fclose(f);
    bool same = strncmp(got, want, strlen(want)) == 0;
    if (!same) printf("# %s", got);
    free(got);
    return same;
}

static void test_names(void)
{
    ok(closure_is("camlA__f__12", "((A camlA) f 12)"), "a function of a unit");
    ok(closure_is("camlA__B__f__12", "((A__B camlA__B) f 12)"), "a packed unit");
    ok(closure_is("camlA__f__g__12", "((A camlA) f__g 12)"), "a name with underscores");
    ok(closure_is("camlA__Make__3", "((A camlA) Make 3)"), "a functor");
    ok(closure_is("unknown__unknown__0", "((unknown unknown) unknown 0)"), "the unknown function");
    ok(closure_is("x=camlA__f__1", "((x camlA) f 1)"), "an irregular unit");
    ok(closure_is("camlL__anon-fn[l.ml:52,8--57]__317", "((L camlL) anon-fn[l.ml:52,8--57] 317)"),
       "brackets and commas in a name");
    ok(closure_is("main", "main"), "a plain name");
    near(span_seconds(str_of("1.34333m")), 80.5998, 1e-12, "minutes");
    near(span_seconds(str_of("35ms")), 0.035, 1e-15, "milliseconds");
    near(span_seconds(str_of("24.35s")), 24.35, 1e-15, "seconds");
    ok(isnan(span_seconds(str_of("12x"))) && isnan(span_seconds(str_of("s"))), "other units are refused");
    ok(same_again("(decisions (program p) (form simple)\n"
                  "  (site (path {camlA__f__} <camlA__Apply[3]>) (callee unknown) (inline true)))\n", as_canonical),
       "steps without stamps");
    struct decisions d = { 0 };
    parse("((0 () ((Decl (camlA f)) (Apply (camlA (3)))) Inline) (1 () ((Apply (camlA ()))) Specialise))", &d, NULL);
    char *text = written(as_simple, &d);
    ok(strcmp(
           text,
           "(\n  (0 () ((Decl (camlA f)) (Apply (camlA (3)))) Inline)\n  (1 () ((Apply (camlA ()))) Specialise))\n") ==
           0,
       "simple overrides survive reading and writing");
    free(text);
    decisions_free(&d);
}

/* ---- the six passes, one by one, on trees written out ---- */

#define FUNC(name) "(((( A camlA) " name " 9)) () ((A camlA) " name " 1) () ())"
#define SITE(n) "((A camlA) (Plain_apply " n "))"

static bool expands(const char *from, int passes, size_t n_inlined, size_t n_apply, const char *calls)
{
    struct itree t = { 0 };
    struct buf b = { 0 };
    parse(from, NULL, &t);
    expand(&names, &t, "text", passes, NULL);
    struct tree_stat s = itree_stat(&names, &t);
    for (uint32_t n = itree_next(&t, 0, NULL); n != NODE_NONE; n = itree_next(&t, n, NULL)) {
        if (b.n) buf_char(&b, ' ');
        buf_char(&b, "?DIA"[t.node[n].kind]);
        if (t.node[n].kind == NODE_DECL) continue;
        for (uint32_t i = 1; i <= path_length(&names, t.node[n].label); i++) {
            str site = names.sites.name[names.path[path_prefix(&names, t.node[n].label, i)].site];
            const char *open = memchr(site.s, '[', site.n);
            buf_char(&b, open ? open[1] : 's');
        }
    }
    bool good = s.n_inlined == n_inlined && s.n_apply == n_apply && b.s && strcmp(b.s, calls) == 0;
    if (!good) printf("# %zu inlined, %zu applied: %s\n", s.n_inlined, s.n_apply, b.s);
    free(b.s);
    itree_free(&t);
    return good;
}

#define IN(func, id, children) "(Apply_inlined_function ((applied " func ")(apply_id " id ")(children (" children "))))"
#define AP(func, id) "(Apply_non_inlined_function ((applied " func ")(apply_id " id ")))"
#define DE(func, children) "(Declaration ((declared " func ")(children (" children "))))"
#define ID(n, parents) "((A camlA) (Plain_apply " n ") (" parents "))"
#define STUB(parents) "((A camlA) (Stub) (" parents "))"

static void test_passes(void)
{
    ok(expands("(" IN(FUNC("f"), ID("1", ""), AP(FUNC("g"), ID("3", ID("1", "") ID("2", "")))) ")", 1, 2, 1,
               "I1 I12 A123"),
       "pass 1 puts in an inlined node for every prefix");
    ok(expands("(" IN(FUNC("f"), ID("2", ID("1", "")), AP(FUNC("g"), ID("3", ID("1", "") ID("2", "")))) ")", 1, 2, 1,
               "I1 I12 A123"),
       "also above a call at top level");
    ok(expands("(" IN(FUNC("f"), ID("1", ""), AP(FUNC("g"), ID("2", ID("1", ""))))
                   IN(FUNC("f"), ID("1", ""), AP(FUNC("g"), ID("3", ID("1", "")))) ")",
               2, 1, 2, "I1 A12 A13"),
       "pass 2 merges siblings and joins their children");
    ok(expands("(" DE(FUNC("f"), IN(FUNC("g"), ID("5", ""), "") AP(FUNC("h"), ID("6", "")))
                   IN(FUNC("f"), ID("1", ""), AP(FUNC("h"), ID("6", ID("1", "")))) ")",
               3, 3, 2, "D I5 A6 I1 I15 A16"),
       "pass 3 fills an inlined call from the declaration met before");
    ok(expands("(" DE(FUNC("f"), IN(FUNC("g"), ID("5", ""), ""))
                   IN(FUNC("f"), ID("1", ""), AP(FUNC("h"), ID("6", ID("1", "")))) ")",
               3, 2, 1, "D I5 I1 A16"),
       "but not when it has a call that the declaration lacks");
    ok(expands("(" IN(FUNC("f"), ID("1", ""), "") DE(FUNC("f"), IN(FUNC("g"), ID("5", ""), "")) ")", 3, 2, 0,
               "I1 D I5"),
       "nor from a declaration that comes later");
    ok(expands("(" AP(FUNC("f"), ID("1", "")) IN(FUNC("f"), ID("1", ""), "") AP(FUNC("g"), ID("2", "")) ")", 5, 1, 1,
               "I1 A2"),
       "pass 5 drops the call beside its inlined twin");
    ok(expands("(" IN(FUNC("f"), STUB(""), AP(FUNC("g"), ID("2", STUB(""))) AP(FUNC("h"), ID("3", STUB("")))) ")", 6, 0,
               2, "A2 A3"),
       "pass 6 replaces an inlined stub by its children");
    ok(expands("(" IN(FUNC("f"), ID("1", ""), AP(FUNC("g"), STUB(ID("1", "")))) AP(FUNC("g"), STUB("")) ")", 6, 0, 1,
               "A1"),
       "a call around a stub that is not inlined is not inlined either, other such stubs vanish");
    struct itree t = { 0 };
    parse("(" IN(FUNC("f"), ID("1", ""), AP(FUNC("g"), ID("3", ID("1", "") ID("2", "")))) ")", NULL, &t);
    char *before = written(as_tree, &t);
    expand(&names, &t, "text", 6, NULL);
    char *expanded = written(as_tree, &t);
    ok(same_again(expanded, as_tree), "expanded trees survive writing and reading");
    collapse(&names, &t);
    char *after = written(as_tree, &t);
    ok(strcmp(before, after) == 0, "collapse takes out what pass 1 put in");
    free(before);
    free(expanded);
    free(after);
    itree_free(&t);
}

int main(void)
{
    test_names();
    test_random();
    test_passes();
    return done();
}
