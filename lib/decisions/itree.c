/* itree.c - see itree.h */
#include "decisions/itree.h"
#include "base/message.h"
#include <stdlib.h>

enum { MOST_STEPS = 1 << 27 };                           /* 1.6 GB; every decision repeats the steps around it */

void itree_init(struct itree *t, enum form form)
{
    t->n = t->n_lost = 0;
    t->form = form;
    map64_clear(&t->child);
    t->node = grow(t->node, 1, &t->cap, sizeof *t->node);
    t->node[t->n++] = (struct tnode){ NODE_NONE, NODE_NONE, NODE_NONE, NODE_NONE, 0, NAME_NONE, NODE_ROOT };
}

void itree_free(struct itree *t)
{
    free(t->node);
    map64_free(&t->child);
    *t = (struct itree){ 0 };
}

uint32_t itree_add(struct itree *t, uint32_t parent, enum node_kind kind, uint32_t label, uint32_t func)
{
    if (t->n >= NODE_NONE) die("more than %zu tree nodes", t->n);
    uint32_t n = (uint32_t)t->n++;
    t->node = grow(t->node, t->n, &t->cap, sizeof *t->node);
    t->node[n] = (struct tnode){ parent, NODE_NONE, NODE_NONE, NODE_NONE, label, func, kind };
    struct tnode *p = &t->node[parent];
    if (p->last == NODE_NONE) p->first = n;
    else t->node[p->last].next = n;
    p->last = n;
    return n;
}

uint32_t itree_next(const struct itree *t, uint32_t n, long *depth)
{
    long d = 0;
    uint32_t x = t->node[n].first;
    if (x != NODE_NONE) {
        d = 1;
    } else {
        for (; n != 0 && t->node[n].next == NODE_NONE; n = t->node[n].parent) d--;
        x = n ? t->node[n].next : (uint32_t)NODE_NONE;
    }
    if (depth) *depth += d;
    return x;
}

/* ---- building ---- */

static uint32_t find_or_add(struct itree *t, uint32_t parent, const struct trace_step *s, enum node_kind kind)
{
    uint32_t *at = map64_at(&t->child, (uint64_t)parent << 32 | (uint64_t)s->label << 1 | s->decl);
    if (*at == NODE_NONE) *at = itree_add(t, parent, kind, s->label, s->func);
    else if (t->node[*at].func == NAME_NONE) t->node[*at].func = s->func;
    return *at;
}

static void reverse_children(struct itree *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct tnode *p = &t->node[i];
        uint32_t before = NODE_NONE;
        p->last = p->first;
        for (uint32_t x = p->first; x != NODE_NONE; ) {
            uint32_t next = t->node[x].next;
            t->node[x].next = before;
            before = x;
            x = next;
        }
        p->first = before;
    }
}

void itree_build(struct itree *t, const struct decisions *d, int round, bool reversed)
{
    enum form form = d->form == FORM_V0 ? FORM_TREE_V0 : d->form == FORM_V1 ? FORM_TREE_V1 : FORM_PLAIN;
    itree_init(t, form);
    for (size_t i = 0; i < d->n; i++) {
        const struct decision *x = &d->d[i];
        if (x->action == ACTION_SPECIALISE || (round >= 0 && x->round != round)) continue;
        uint32_t n = 0, k;
        for (k = 0; k < x->n && t->node[n].kind != NODE_APPLY; k++) {
            const struct trace_step *s = &d->step[x->first + k];
            bool here = k + 1 == x->n;
            n = find_or_add(t, n, s,
                            s->decl                             ? NODE_DECL
                            : here && x->action == ACTION_APPLY ? NODE_APPLY
                                                                : NODE_INLINED);
        }
        if (k < x->n) t->n_lost++;
    }
    if (reversed) reverse_children(t);
}

/* ---- reading ---- */

static snode need(const struct sexp *e, snode fields, const char *key)
{
    snode v = sexp_value(e, fields, key);
    if (v == SEXP_NONE) sexp_die(e, fields, "a tree node without (%s ...)", key);
    return v;
}

/* One node without its children; *children is the list that holds them, or SEXP_NONE. */
static uint32_t read_node(struct names *s, const struct sexp *e, snode n, struct itree *t, uint32_t parent,
                          snode *children)
{
    bool expanded = t->form == FORM_EXPANDED, v0 = t->form == FORM_TREE_V0;
    bool decl = sexp_head(e, n, expanded ? "Decl" : "Declaration");
    bool inlined = sexp_head(e, n, expanded ? "Inlined" : "Apply_inlined_function");
    bool apply = sexp_head(e, n, expanded ? "Apply" : "Apply_non_inlined_function");
    if (!decl && !inlined && !apply) sexp_die(e, n, "not a node of a tree (%s)", form_name(t->form));
    snode f = sexp_nth(e, n, 1);
    if (f == SEXP_NONE) sexp_die(e, n, "a tree node without fields");
    struct trace_step x = { .decl = decl };
    if (v0) {
        uint32_t closure = names_closure(s, e, need(e, f, decl ? "closure" : "applied"));
        x.func = names_meta_of(s, closure);
        x.label = decl ? closure : path_add(s, 0, names_site_v0(s, closure, names_number(e, need(e, f, "offset"))));
    } else {
        snode func = need(e, f, expanded ? "func" : decl ? "declared" : "applied");
        x.func =
            sexp_is_atom(e, func) ? names_meta_of(s, names_closure_of(s, sexp_atom(e, func))) : names_meta(s, e, func);
        if (decl) x.label = s->meta[x.func].origin;
        else x.label = expanded ? names_path(s, e, need(e, f, "path")) : names_apply(s, e, need(e, f, "apply_id"));
    }
    *children = apply ? (snode)SEXP_NONE : need(e, f, "children");
    return itree_add(t, parent, decl ? NODE_DECL : inlined ? NODE_INLINED : NODE_APPLY, x.label, x.func);
}

void itree_read(struct names *s, const struct sexp *e, struct itree *t)
{
    enum form form = form_of(e);
    if (form != FORM_EMPTY && form < FORM_TREE_V0)
        sexp_die(e, 0, "decisions (%s) where a tree is expected", form_name(form));
    itree_init(t, form == FORM_EMPTY ? FORM_TREE_V1 : form);
    struct frame { snode next; uint32_t parent; } *stack = NULL;
    size_t depth = 0, cap = 0;
    stack = grow(stack, 1, &cap, sizeof *stack);
    stack[depth++] = (struct frame){ sexp_first(e, 0), 0 };
    while (depth) {
        struct frame *top = &stack[depth - 1];
        snode n = top->next;
        if (n == SEXP_NONE) {
            depth--;
            continue;
        }
        top->next = sexp_after(e, n);
        snode children;
        uint32_t made = read_node(s, e, n, t, top->parent, &children);
        if (children == SEXP_NONE || sexp_first(e, children) == SEXP_NONE) continue;
        stack = grow(stack, depth + 1, &cap, sizeof *stack);
        stack[depth++] = (struct frame){ sexp_first(e, children), made };
    }
    free(stack);
}

/* ---- writing ---- */

enum { INDENTED = 30 }; /* deeper nodes stay on the line, or the blanks would outweigh the text */

static void write_func(sexpw *w, const struct names *s, uint32_t func, bool plain, int n_fields)
{
    if (!plain) names_write_meta(w, s, func, n_fields);
    else if (names_unknown(s, func)) sexpw_cstr(w, "unknown");
    else sexpw_atom(w, s->closures.name[s->meta[func].origin]);
}

/* everything up to the children; inlined calls and declarations leave "(children (" open */
static void open_node(sexpw *w, const struct names *s, const struct itree *t, const struct tnode *n, int n_fields)
{
    static const char *const expanded[] = { "", "Decl", "Inlined", "Apply" };
    static const char *const original[] = { "", "Declaration", "Apply_inlined_function", "Apply_non_inlined_function" };
    bool v0 = t->form == FORM_TREE_V0, v1 = t->form == FORM_TREE_V1, decl = n->kind == NODE_DECL;
    sexpw_begin(w, (v0 || v1 ? original : expanded)[n->kind]);
    sexpw_begin(w, NULL);
    if (v0) {
        const struct apply_site *x = decl ? NULL : &s->site[s->path[n->label].site];
        sexpw_begin(w, decl ? "closure" : "applied");
        names_write_closure(w, s, decl ? n->label : x->a);
        sexpw_end(w);
        if (!decl) {
            sexpw_begin(w, "offset");
            sexpw_atom(w, s->text.name[x->stamp]);
            sexpw_end(w);
        }
    } else {
        sexpw_begin(w, !v1 ? "func" : decl ? "declared" : "applied");
        write_func(w, s, n->func, t->form == FORM_PLAIN, n_fields);
        sexpw_end(w);
        if (!decl) {
            sexpw_begin(w, v1 ? "apply_id" : "path");
            int fields = n_fields ? n_fields : n->func != NAME_NONE ? s->meta[n->func].n_fields : 0;
            if (v1) names_write_apply(w, s, n->label, fields != 3);
            else names_write_path(w, s, n->label);
            sexpw_end(w);
        }
    }
    if (n->kind == NODE_APPLY) {
        sexpw_end(w);
        sexpw_end(w);
        return;
    }
    sexpw_begin(w, "children");
    sexpw_begin(w, NULL);
}

static void close_node(sexpw *w)
{
    for (int i = 0; i < 4; i++) sexpw_end(w);            /* list, field, fields, node */
}

void itree_write(sexpw *w, const struct names *s, const struct itree *t, int n_fields)
{
    long depth = 1;
    sexpw_begin(w, NULL);
    for (uint32_t n = t->node[0].first; n != NODE_NONE; ) {
        const struct tnode *x = &t->node[n];
        if (depth <= INDENTED) sexpw_line(w);
        open_node(w, s, t, x, n_fields);
        if (x->first != NODE_NONE) {
            n = x->first;
            depth++;
            continue;
        }
        if (x->kind != NODE_APPLY) close_node(w);
        for (; n && t->node[n].next == NODE_NONE; n = t->node[n].parent, depth--)
            if (t->node[n].parent) close_node(w);
        n = n ? t->node[n].next : (uint32_t)NODE_NONE;
    }
    sexpw_end(w);
}

struct tree_stat itree_stat(const struct names *s, const struct itree *t)
{
    struct tree_stat x = { 0 };
    long depth = 0;
    for (uint32_t n = itree_next(t, 0, &depth); n != NODE_NONE; n = itree_next(t, n, &depth)) {
        enum node_kind k = t->node[n].kind;
        x.n_decl += k == NODE_DECL;
        x.n_inlined += k == NODE_INLINED;
        x.n_apply += k == NODE_APPLY;
        x.n_unknown += k != NODE_DECL && names_unknown(s, t->node[n].func);
        if ((size_t)depth > x.depth) x.depth = (size_t)depth;
    }
    return x;
}

void itree_decisions(const struct itree *t, int round, struct decisions *d)
{
    struct trace_step *path = NULL;
    size_t cap = 0;
    long depth = 0;
    decisions_clear(d);
    d->form = t->form == FORM_TREE_V0 ? FORM_V0 : t->form == FORM_PLAIN ? FORM_PLAIN : FORM_V1;
    for (uint32_t n = itree_next(t, 0, &depth); n != NODE_NONE; n = itree_next(t, n, &depth)) {
        const struct tnode *x = &t->node[n];
        path = grow(path, (size_t)depth, &cap, sizeof *path);
        path[depth - 1] = (struct trace_step){ x->label, x->func, x->kind == NODE_DECL };
        if (d->n_step + (size_t)depth > MOST_STEPS)
            die("a tree too deep for a list of decisions: more than %d steps in all", MOST_STEPS);
        if (x->kind != NODE_DECL)
            decisions_add(d, path, (uint32_t)depth, round, x->kind == NODE_INLINED ? ACTION_INLINE : ACTION_APPLY);
    }
    free(path);
}
