/* decisions.c - fuzz target: inlining decisions and trees of any form.  What is accepted is written so that it
 * reads back and is written the same; trees are built, counted, turned into problems and, where that is possible,
 * expanded. */
#include "fuzz.h"
#include "decisions/expand.h"
#include "decisions/problem.h"
#include "decisions/source.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char *text, *again;
static size_t ntext, nagain;
static bool is_tree;

static void one(const char *from, size_t n, char **to, size_t *nto)
{
    struct names names = { 0 };
    struct decisions d = { 0 };
    struct itree t = { 0 };
    sexpr *r = sexp_open_text(from, n, "in", SEXP_CORE);
    const struct sexp *e = sexp_only(r);
    is_tree = form_of(e) >= FORM_TREE_V0;
    source_tree(&names, e, &d, -1, true, &t);
    FILE *f = open_memstream(to, nto);
    sexpw *w = sexpw_file(f);
    if (is_tree) itree_write(w, &names, &t, 0);
    else decisions_write(w, &names, &d);
    sexpw_close(w);
    fclose(f);
    struct tree_stat s = itree_stat(&names, &t);
    fuzz_check(s.n_decl + s.n_inlined + s.n_apply == t.n - 1, "a node hangs nowhere");
    struct sparse_problem p = { 0 };
    problem_add(&p, &names, &t, (str){ "run", 3 }, 0.9, false, true);
    fuzz_check(p.a.rows == 1 && p.a.entries <= t.n, "a node counts twice");
    problem_free(&p);
    if (is_tree) itree_decisions(&t, 0, &d);
    sexp_close(r);
    itree_free(&t);
    decisions_free(&d);
    names_free(&names);
}

static void first(const uint8_t *data, size_t n)
{
    one((const char *)data, n, &text, &ntext);
}

static void second(const uint8_t *data, size_t n)
{
    (void)data;
    (void)n;
    one(text, ntext, &again, &nagain);
    fuzz_check(ntext == nagain && memcmp(text, again, ntext) == 0, "decisions changed on their way out and in");
}

static void expanded(const uint8_t *data, size_t n)
{
    struct names names = { 0 };
    struct decisions d = { 0 };
    struct itree t = { 0 };
    size_t count[EXPAND_PASSES];
    sexpr *r = sexp_open_text((const char *)data, n, "in", SEXP_CORE);
    source_tree(&names, sexp_only(r), &d, -1, true, &t);
    if (t.form != FORM_TREE_V1) return;
    expand(&names, &t, "in", EXPAND_PASSES, count);
    fuzz_check(count[1] <= count[0] && count[2] >= count[1] && count[4] <= count[3] && count[5] <= count[4],
               "a pass counts wrong");
    collapse(&names, &t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (fuzz_run(first, data, n)) {
        fuzz_check(fuzz_run(second, NULL, 0), "what was written is not accepted");
        fuzz_run(expanded, data, n);
    }
    free(text);
    free(again);
    text = again = NULL;
    return 0;
}
