/* best.c - see best.h */
#include "decisions/best.h"
#include "base/mem.h"
#include "base/message.h"
#include <math.h>
#include <stdlib.h>

double best(struct best_node *x, size_t n, double gamma, bool mean)
{
    double *sum = xcalloc(n, sizeof *sum);
    size_t *children = xcalloc(n, sizeof *children);
    for (size_t i = n; i-- > 0; ) {
        double below = mean && children[i] ? sum[i] / (double)children[i] : sum[i];
        double apply = isnan(x[i].no_inline) ? -INFINITY : x[i].no_inline;
        x[i].long_term = isnan(x[i].immediate) ? -INFINITY : x[i].immediate + (children[i] ? gamma * below : 0);
        x[i].inlined = x[i].decl || x[i].long_term > apply;
        x[i].value = x[i].inlined ? x[i].long_term : apply;
        if (!i) break;
        sum[x[i].parent] += x[i].value;
        children[x[i].parent]++;
    }
    for (size_t i = 0; i < n; i++) x[i].reached = !i || (x[x[i].parent].reached && x[x[i].parent].inlined);
    free(sum);
    free(children);
    return n ? x[0].value : 0;
}

static uint32_t parent_of(const struct best_tree *t, csv *in, str site)
{
    size_t cut = site.n;
    while (cut && site.s[cut - 1] != ' ') cut--;
    long p = cut ? intern_find(&t->sites, (str){ site.s, cut - 1 }) : 0;
    if (p < 0) die_at(csv_file(in), csv_line(in), "site '%.*s' comes before the one around it", (int)site.n, site.s);
    return (uint32_t)p;
}

void best_read(struct best_tree *t, csv *in)
{
    int site = csv_need(in, "site"), immediate = csv_need(in, "immediate"), no_inline = csv_need(in, "no_inline");
    int name = csv_find(in, "callee");
    size_t cap = 0, cap_callee = 0;
    intern(&t->callees, str_of("unknown"));
    while (csv_next(in)) {
        str s = csv_str(in, site);
        size_t k = t->sites.n;
        if (!k != str_is(s, "/")) die_at(csv_file(in), csv_line(in), "the root, /, is the first site and no other");
        uint32_t parent = k ? parent_of(t, in, s) : 0;
        if (intern(&t->sites, s) < k) die_at(csv_file(in), csv_line(in), "site '%.*s' occurs twice", (int)s.n, s.s);
        size_t step = s.n;
        while (step && s.s[step - 1] != ' ') step--;
        t->node = grow(t->node, k + 1, &cap, sizeof *t->node);
        t->callee = grow(t->callee, k + 1, &cap_callee, sizeof *t->callee);
        t->node[k] = (struct best_node){ .parent = parent, .decl = !k || s.s[step] == '{' };
        t->node[k].immediate = csv_num_or(in, immediate, NAN);
        t->node[k].no_inline = csv_num_or(in, no_inline, NAN);
        t->callee[k] = name >= 0 && csv_has(in, name) ? intern(&t->callees, csv_str(in, name)) : 0;
    }
    csv_close(in);
}

double best_margin(const struct best_node *x)
{
    return isnan(x->immediate) || x->decl ? NAN : x->long_term - x->no_inline;
}

void best_write(const struct best_tree *t, sexpw *w, const char *program, const char *compiler, bool both)
{
    sexpw_begin(w, "decisions");
    if (program) sexpw_pair_str(w, "program", str_of(program));
    if (compiler) sexpw_pair_str(w, "compiler", str_of(compiler));
    for (size_t k = 0; k < t->sites.n; k++) {
        const struct best_node *x = &t->node[k];
        if (x->decl || !x->reached || (both && isnan(best_margin(x)))) continue;
        sexpw_line(w);
        sexpw_begin(w, "site");
        sexpw_begin(w, "path");
        str s = t->sites.name[k];
        for (size_t i = 0, from = 0; i <= s.n; i++) {
            if (i < s.n && s.s[i] != ' ') continue;
            sexpw_atom(w, (str){ s.s + from, i - from });
            from = i + 1;
        }
        sexpw_end(w);
        sexpw_pair_str(w, "callee", t->callees.name[t->callee[k]]);
        sexpw_pair_str(w, "inline", str_of(x->inlined ? "true" : "false"));
        sexpw_end(w);
    }
    sexpw_end(w);
}
