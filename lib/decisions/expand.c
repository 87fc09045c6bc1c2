/* expand.c - see expand.h */
#include "decisions/expand.h"
#include "base/message.h"
#include <stdlib.h>

enum { LONGEST = 100, DEEPEST = 1000 }; /* sites of a path in pass 3, as the original; in any tree at all */

/* the callee of nodes that pass 1 puts in */
static uint32_t dummy(struct names *s)
{
    return names_meta_of(s, names_closure_of(s, str_of("expanded__expanded__0")));
}

static bool is_dummy(const struct names *s, uint32_t func)
{
    return func == NAME_NONE || str_is(s->closures.name[s->meta[func].origin], "expanded__expanded__0");
}

static size_t reachable(const struct itree *t)
{
    size_t n = 0;
    for (uint32_t x = itree_next(t, 0, NULL); x != NODE_NONE; x = itree_next(t, x, NULL)) n++;
    return n;
}

_Noreturn static void bad_path(struct names *s, const char *file, uint32_t path, uint32_t around)
{
    struct buf b = { 0 };
    names_put_path(&b, s, path);
    buf_add(&b, " inside ", 8);
    names_put_path(&b, s, around);
    die("%s: apply ids without parents cannot be expanded: %s", file, b.s);
}

/* ---- pass 1 ---- */

static void paths(struct names *s, struct itree *t, const char *file)
{
    struct itree out = { 0 };
    uint32_t *to = xmalloc(t->n, sizeof *to), none = dummy(s);
    itree_init(&out, FORM_EXPANDED);
    to[0] = 0;
    for (uint32_t n = itree_next(t, 0, NULL); n != NODE_NONE; n = itree_next(t, n, NULL)) {
        const struct tnode *x = &t->node[n], *p = &t->node[x->parent];
        uint32_t above = to[x->parent];
        if (x->kind != NODE_DECL) {
            uint32_t around = p->kind == NODE_INLINED ? p->label : 0;
            uint32_t length = path_length(s, x->label);
            if (!path_begins(s, x->label, around) || x->label == around) bad_path(s, file, x->label, around);
            if (length > DEEPEST) die("%s: a path of %u sites, more than %d", file, length, DEEPEST);
            for (uint32_t k = path_length(s, around) + 1; k < length; k++)
                above = itree_add(&out, above, NODE_INLINED, path_prefix(s, x->label, k), none);
        }
        to[n] = itree_add(&out, above, x->kind, x->label, x->func);
    }
    free(to);
    itree_free(t);
    *t = out;
}

/* ---- passes 2 and 4 ---- */

static uint64_t sibling_key(uint32_t parent, const struct tnode *x)
{
    return (uint64_t)parent << 32 | (uint64_t)x->label << 2 | x->kind;
}

/* the children of `from` become the last children of `to` */
static void adopt(struct itree *t, uint32_t to, uint32_t from)
{
    struct tnode *a = &t->node[to], *b = &t->node[from];
    for (uint32_t x = b->first; x != NODE_NONE; x = t->node[x].next) t->node[x].parent = to;
    if (b->first == NODE_NONE) return;
    if (a->last == NODE_NONE) a->first = b->first;
    else t->node[a->last].next = b->first;
    a->last = b->last;
    b->first = b->last = NODE_NONE;
}

static void merge(const struct names *s, struct itree *t)
{
    struct map64 seen = { 0 };
    for (uint32_t p = 0; p != NODE_NONE; p = itree_next(t, p, NULL)) {
        uint32_t before = NODE_NONE;
        for (uint32_t x = t->node[p].first; x != NODE_NONE; x = t->node[x].next) {
            uint32_t *first = map64_at(&seen, sibling_key(p, &t->node[x]));
            if (*first == NAME_NONE) {
                *first = before = x;
                continue;
            }
            if (is_dummy(s, t->node[*first].func)) t->node[*first].func = t->node[x].func;
            adopt(t, *first, x);
            t->node[before].next = t->node[x].next;      /* before is set: the first sibling came earlier */
            if (t->node[p].last == x) t->node[p].last = before;
        }
    }
    map64_free(&seen);
}

/* ---- pass 3 ---- */

struct fill {
    struct names *s;
    struct itree *t;
    struct map64 declared;                               /* closure id -> declaration */
    struct map64 child;                                  /* inlined children by (parent, path), of nodes in `listed` */
    struct map64 listed;
};

/* Does every call right inside n also stand right inside declaration d? */
static bool fits(struct fill *f, uint32_t n, uint32_t d)
{
    struct itree *t = f->t;
    struct map64 have = { 0 };
    bool good = true;
    for (uint32_t x = t->node[d].first; x != NODE_NONE; x = t->node[x].next)
        if (t->node[x].kind != NODE_DECL) *map64_at(&have, t->node[x].label) = 1;
    uint32_t skip = path_length(f->s, t->node[n].label);
    for (uint32_t x = t->node[n].first; good && x != NODE_NONE; x = t->node[x].next)
        if (t->node[x].kind != NODE_DECL)
            good = map64_find(&have, path_join(f->s, 0, t->node[x].label, skip)) != NAME_NONE;
    map64_free(&have);
    return good;
}

static void add_front(struct itree *t, uint32_t parent, uint32_t x)
{
    struct tnode *p = &t->node[parent];
    t->node[x].next = p->first;
    p->first = x;
    if (p->last == NODE_NONE) p->last = x;
}

static uint32_t inlined_child(struct fill *f, uint32_t parent, uint32_t path)
{
    struct itree *t = f->t;
    if (map64_find(&f->listed, parent) == NAME_NONE) {
        *map64_at(&f->listed, parent) = 1;
        for (uint32_t x = t->node[parent].first; x != NODE_NONE; x = t->node[x].next)
            if (t->node[x].kind == NODE_INLINED) *map64_at(&f->child, (uint64_t)parent << 32 | t->node[x].label) = x;
    }
    return map64_find(&f->child, (uint64_t)parent << 32 | path);
}

/* Put what is inlined in declaration d below n as well. */
static void replay(struct fill *f, uint32_t n, uint32_t d)
{
    struct itree *t = f->t;
    uint32_t prefix = t->node[n].label;
    struct copying { uint32_t from, to; } *stack = NULL;
    size_t depth = 0, cap = 0;
    stack = grow(stack, 1, &cap, sizeof *stack);
    stack[depth++] = (struct copying){ d, n };
    while (depth) {
        struct copying at = stack[--depth];
        for (uint32_t x = t->node[at.from].first; x != NODE_NONE; x = t->node[x].next) {
            if (t->node[x].kind != NODE_INLINED) continue;
            uint32_t path = path_join(f->s, prefix, t->node[x].label, 0);
            if (path_length(f->s, path) > LONGEST)
                die("a path of more than %d sites while declarations are replayed", LONGEST);
            uint32_t to = inlined_child(f, at.to, path);
            if (to == NODE_NONE) {
                if (t->n >= NODE_NONE) die("more than %zu tree nodes", t->n);
                to = (uint32_t)t->n++;
                t->node = grow(t->node, t->n, &t->cap, sizeof *t->node);
                t->node[to] =
                    (struct tnode){ at.to, NODE_NONE, NODE_NONE, NODE_NONE, path, t->node[x].func, NODE_INLINED };
                add_front(t, at.to, to);
                *map64_at(&f->child, (uint64_t)at.to << 32 | path) = to;
            }
            stack = grow(stack, depth + 1, &cap, sizeof *stack);
            stack[depth++] = (struct copying){ x, to };
        }
    }
    free(stack);
}

static void leave(struct fill *f, uint32_t n)
{
    struct tnode *x = &f->t->node[n];
    uint32_t id = x->func == NAME_NONE ? (uint32_t)NAME_NONE : f->s->meta[x->func].closure_id;
    if (id == NAME_NONE || x->kind == NODE_APPLY) return;
    if (x->kind == NODE_DECL) {
        *map64_at(&f->declared, id) = n;
        return;
    }
    uint32_t d = map64_find(&f->declared, id);
    if (d != NODE_NONE && fits(f, n, d)) replay(f, n, d);
}

/* Post-order, left to right.  What a call takes over was itself completed, so it is not visited again. */
static void fill(struct names *s, struct itree *t)
{
    struct fill f = { .s = s, .t = t };
    for (uint32_t n = 0; ; ) {
        if (t->node[n].first != NODE_NONE) {
            n = t->node[n].first;
            continue;
        }
        uint32_t next = t->node[n].next;
        if (n) leave(&f, n);
        while (n && next == NODE_NONE) {
            n = t->node[n].parent;
            next = t->node[n].next;
            if (n) leave(&f, n);
        }
        if (!n) break;
        n = next;
    }
    map64_free(&f.declared);
    map64_free(&f.child);
    map64_free(&f.listed);
}

/* ---- pass 5 ---- */

static void drop(struct itree *t)
{
    struct map64 inlined = { 0 };
    for (uint32_t p = 0; p != NODE_NONE; p = itree_next(t, p, NULL)) {
        for (uint32_t x = t->node[p].first; x != NODE_NONE; x = t->node[x].next)
            if (t->node[x].kind == NODE_INLINED) *map64_at(&inlined, (uint64_t)p << 32 | t->node[x].label) = x;
        uint32_t before = NODE_NONE;
        for (uint32_t x = t->node[p].first; x != NODE_NONE; x = t->node[x].next) {
            bool gone = t->node[x].kind == NODE_APPLY &&
                        map64_find(&inlined, (uint64_t)p << 32 | t->node[x].label) != NAME_NONE;
            if (!gone) {
                before = x;
                continue;
            }
            if (before == NODE_NONE) t->node[p].first = t->node[x].next;
            else t->node[before].next = t->node[x].next;
            if (t->node[p].last == x) t->node[p].last = before;
        }
    }
    map64_free(&inlined);
}

/* ---- pass 6 ---- */

static bool is_stub(const struct names *s, const struct tnode *x)
{
    return x->kind != NODE_DECL && names_is_stub(s, s->path[x->label].site);
}

static uint32_t without_stubs(struct names *s, uint32_t path)
{
    uint32_t out = 0, n = path_length(s, path);
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t site = s->path[path_prefix(s, path, i)].site;
        if (!names_is_stub(s, site)) out = path_add(s, out, site);
    }
    return out;
}

static void stubs(struct names *s, struct itree *t)
{
    struct itree out = { 0 };
    uint32_t *to = xmalloc(t->n, sizeof *to);
    itree_init(&out, FORM_EXPANDED);
    to[0] = 0;
    for (uint32_t n = itree_next(t, 0, NULL); n != NODE_NONE; n = itree_next(t, n, NULL)) {
        const struct tnode *x = &t->node[n];
        to[n] = to[x->parent];
        if (is_stub(s, x)) continue;                     /* children of an inlined stub go where it was */
        bool only = x->kind == NODE_INLINED && x->first != NODE_NONE && x->first == x->last;
        bool empty = only && t->node[x->first].kind == NODE_APPLY && is_stub(s, &t->node[x->first]);
        uint32_t label = x->kind == NODE_DECL ? x->label : without_stubs(s, x->label);
        to[n] = itree_add(&out, to[n], empty ? NODE_APPLY : x->kind, label, x->func);
    }
    free(to);
    itree_free(t);
    *t = out;
}

void expand(struct names *s, struct itree *t, const char *file, int last, size_t count[EXPAND_PASSES])
{
    if (t->form == FORM_TREE_V0) die("%s: a V0 tree cannot be expanded: its calls have no apply ids", file);
    for (int pass = 1; pass <= last; pass++) {
        if (pass == 1) paths(s, t, file);
        else if (pass == 3) fill(s, t);
        else if (pass == 5) drop(t);
        else if (pass == 6) stubs(s, t);
        else merge(s, t);
        if (count) count[pass - 1] = reachable(t);
    }
}

void collapse(const struct names *s, struct itree *t)
{
    struct itree out = { 0 };
    uint32_t *to = xmalloc(t->n, sizeof *to);
    itree_init(&out, FORM_TREE_V1);
    to[0] = 0;
    for (uint32_t n = itree_next(t, 0, NULL); n != NODE_NONE; n = itree_next(t, n, NULL)) {
        const struct tnode *x = &t->node[n];
        bool put_in = x->kind == NODE_INLINED && x->first != NODE_NONE && is_dummy(s, x->func);
        to[n] = put_in ? to[x->parent] : itree_add(&out, to[x->parent], x->kind, x->label, x->func);
    }
    free(to);
    itree_free(t);
    *t = out;
}
