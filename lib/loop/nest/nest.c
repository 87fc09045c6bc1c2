#include "loop/nest/nest.h"
#include "base/message.h"
#include "base/num.h"
#include "tree/sexp.h"
#include <stdlib.h>
#include <string.h>

static bool same_loop(struct loop a, struct loop b)
{
    return a.var == b.var && a.marks == b.marks && a.size == b.size && a.tail == b.tail;
}

static int depth_of(const struct loop *l, int i)         /* loops of the same variable above */
{
    int d = 0;
    for (int j = 0; j < i; j++) d += l[j].var == l[i].var;
    return d;
}

void nest_reset(const struct problem *p, struct nest *t)
{
    *t = (struct nest){ .n = (int8_t)p->nvar };
    for (int i = 0; i < p->nvar; i++) {
        int v = p->order[i];
        t->loop[i] = (struct loop){ .var = (uint8_t)v, .size = p->size[v] };
        if (!p->reduced[v]) t->write[t->nwrite++] = t->loop[i];
    }
}

int nest_shared(const struct problem *p, const struct nest *t)
{
    int i = 0;
    while (i < t->n && i < t->nwrite && same_loop(t->loop[i], t->write[i]) && !p->reduced[t->loop[i].var]) i++;
    return i;
}

int nest_split(const struct problem *p, const struct nest *t)
{
    int i = 0;
    for (; i < t->n; i++) {
        int v = t->loop[i].var;
        bool first = p->stride[TENSOR_A][v] || p->stride[TENSOR_B][v];
        if (first != (p->stride[TENSOR_V][v] || p->stride[TENSOR_C][v])) break;
    }
    return i;
}

void nest_inner(const struct loop *l, int n, int32_t inner[NEST_LOOPS])
{
    int32_t e[NEST_VARS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    for (int i = n; i-- > 0; ) {
        inner[i] = e[l[i].var];
        e[l[i].var] = e[l[i].var] * l[i].size + l[i].tail;
    }
}

bool nest_same(const struct nest *a, const struct nest *b)
{
    if (a->n != b->n || a->nwrite != b->nwrite) return false;
    for (int i = 0; i < a->n; i++)
        if (!same_loop(a->loop[i], b->loop[i])) return false;
    for (int i = 0; i < a->nwrite; i++)
        if (!same_loop(a->write[i], b->write[i])) return false;
    return true;
}

bool nest_effect(const struct nest *a, const struct nest *b)
{
    return a->cursor != b->cursor || !nest_same(a, b);
}

uint64_t nest_hash(const struct nest *t, bool with_cursor)
{
    uint8_t b[4 + 2 * NEST_LOOPS * 10];
    size_t n = 0;
    b[n++] = (uint8_t)t->n;
    b[n++] = (uint8_t)t->nwrite;
    b[n++] = with_cursor ? (uint8_t)t->cursor : 255;
    for (int i = 0; i < t->n + t->nwrite; i++) {
        struct loop l = i < t->n ? t->loop[i] : t->write[i - t->n];
        b[n++] = l.var;
        b[n++] = l.marks;
        for (int j = 0; j < 4; j++) {
            b[n++] = (uint8_t)(l.size >> 8 * j);
            b[n++] = (uint8_t)(l.tail >> 8 * j);
        }
    }
    return hash_bytes(b, n, 0);
}

/* ---- text ---- */

const char *const mark_name[MARKS] = { "unroll", "vectorize", "pack_a", "pack_b" };

static void print_marks(struct buf *b, unsigned marks)
{
    for (int i = 0; i < MARKS; i++)
        if (marks >> i & 1) buf_format(b, " %s", mark_name[i]);
}

static void print_open(struct buf *b, const struct problem *p, struct loop l)
{
    buf_format(b, " (for %s %d %d", p->name[l.var], l.size, l.tail);
    print_marks(b, l.marks);
}

static void print_close(struct buf *b, int n)
{
    while (n-- > 0) buf_char(b, ')');
}

static const char *const leaf[] = { [OP_FMA] = " (mul A B) (acc T)", [OP_ADD] = " (add A B)",
                                    [OP_SUM] = " (acc A)", [OP_COPY] = "" };

void nest_print(struct buf *b, const struct problem *p, const struct nest *t)
{
    int shared = nest_shared(p, t);
    buf_add(b, "(tree", 5);
    for (int i = 0; i < t->n; i++) print_open(b, p, t->loop[i]);
    buf_add(b, leaf[p->op], strlen(leaf[p->op]));
    print_close(b, t->n - shared);
    for (int i = shared; i < t->nwrite; i++) print_open(b, p, t->write[i]);
    buf_add(b, " (write C)", 10);
    print_close(b, t->nwrite + 1);
}

static void show_loop(struct buf *b, const struct problem *p, const struct loop *l, int i, int ref, bool cursor)
{
    buf_format(b, "%*sfor %s_%d", i, "", p->name[l[i].var], ref);
    for (int d = depth_of(l, i); d > 0; d--) buf_char(b, '\'');
    buf_format(b, " in %d", l[i].size);
    if (l[i].tail) buf_format(b, " r %d", l[i].tail);
    buf_format(b, " : L%d", ref);
    print_marks(b, l[i].marks);
    if (cursor) buf_add(b, "  <<<<<< cursor", 15);
    buf_char(b, '\n');
}

static void show_index(struct buf *b, const struct problem *p, int t)
{
    char sep = '[';
    for (int i = 0; i < p->nvar; i++) {
        int v = p->order[i];
        if (!p->stride[t][v]) continue;
        buf_format(b, "%c%s", sep, p->name[v]);
        sep = ',';
    }
    if (sep == ',') buf_char(b, ']');
}

void nest_show(struct buf *b, const struct problem *p, const struct nest *t)
{
    static const char *const sign[] = { [OP_FMA] = "+=", [OP_ADD] = "=", [OP_SUM] = "+=", [OP_COPY] = "=" };
    static const char *const between[] = { [OP_FMA] = " * ", [OP_ADD] = " + ", [OP_SUM] = "", [OP_COPY] = "" };
    int shared = nest_shared(p, t), ref = 0;
    for (; ref < t->n; ref++) show_loop(b, p, t->loop, ref, ref, ref == t->cursor);
    buf_format(b, "%*sT", t->n, "");
    show_index(b, p, TENSOR_C);
    buf_format(b, " %s A", sign[p->op]);
    show_index(b, p, TENSOR_A);
    buf_format(b, "%s", between[p->op]);
    if (p->elements[TENSOR_B]) buf_char(b, 'B'), show_index(b, p, TENSOR_B);
    buf_char(b, '\n');
    ref += 2;                                            /* the two leaves of the computation have numbers too */
    for (int i = shared; i < t->nwrite; i++, ref++) show_loop(b, p, t->write, i, ref, false);
    buf_format(b, "%*sC", t->nwrite, "");
    show_index(b, p, TENSOR_C);
    buf_add(b, " = T\n", 5);
}

struct parse {
    const struct problem *p;
    const char *where;
    struct nest *t;
    struct loop path[NEST_LOOPS];
    bool have_write, have_leaf;
};

static int32_t int_atom(const struct parse *k, const struct sexp *e, snode x, const char *what)
{
    int64_t v;
    str s = x != SEXP_NONE && sexp_is_atom(e, x) ? sexp_atom(e, x) : (str){ "", 0 };
    if (!int_parse(s.s, s.n, &v)) die("%s: %s of a loop is '%.*s', not an integer", k->where, what, (int)s.n, s.s);
    if (v < 0 || v > 1 << 24) die("%s: %s of a loop is %lld, not 0 to %d", k->where, what, (long long)v, 1 << 24);
    return (int32_t)v;
}

static struct loop parse_for(const struct parse *k, const struct sexp *e, snode x, snode *children)
{
    struct loop l = { 0 };
    snode c = sexp_after(e, sexp_first(e, x));
    str name = c != SEXP_NONE && sexp_is_atom(e, c) ? sexp_atom(e, c) : (str){ "", 0 };
    int v = 0;
    while (v < k->p->nvar && !str_is(name, k->p->name[v])) v++;
    if (v == k->p->nvar) die("%s: the problem has no variable '%.*s'", k->where, (int)name.n, name.s);
    l.var = (uint8_t)v;
    l.size = int_atom(k, e, c = sexp_after(e, c), "the size");
    l.tail = int_atom(k, e, c == SEXP_NONE ? c : (c = sexp_after(e, c)), "the tail");
    if (l.size < 1) die("%s: a loop of %s has size 0", k->where, k->p->name[v]);
    for (c = sexp_after(e, c); c != SEXP_NONE && sexp_is_atom(e, c); c = sexp_after(e, c)) {
        str m = sexp_atom(e, c);
        int i = 0;
        while (i < MARKS && !str_is(m, mark_name[i])) i++;
        if (i == MARKS)
            die("%s: unknown mark '%.*s'; known: unroll vectorize pack_a pack_b", k->where, (int)m.n, m.s);
        l.marks |= (uint8_t)(1u << i);
    }
    *children = c;
    return l;
}

static void parse_level(struct parse *k, const struct sexp *e, snode x, int depth)
{
    for (; x != SEXP_NONE; x = sexp_after(e, x)) {
        if (sexp_head(e, x, "for")) {
            if (depth == NEST_LOOPS) die("%s: more than %d loops inside each other", k->where, NEST_LOOPS);
            snode children;
            k->path[depth] = parse_for(k, e, x, &children);
            parse_level(k, e, children, depth + 1);
        } else if (sexp_head(e, x, "write") && !k->have_write) {
            k->have_write = true;
            k->t->nwrite = (int8_t)depth;
            memcpy(k->t->write, k->path, sizeof *k->path * (size_t)depth);
            if (k->p->op != OP_COPY) continue;
            k->t->n = (int8_t)depth;
            memcpy(k->t->loop, k->path, sizeof *k->path * (size_t)depth);
            k->have_leaf = true;
        } else if (sexp_head(e, x, "mul") || sexp_head(e, x, "acc") || sexp_head(e, x, "add")) {
            if (k->have_write) die("%s: computation after (write C)", k->where);
            k->have_leaf = true;
            k->t->n = (int8_t)depth;
            memcpy(k->t->loop, k->path, sizeof *k->path * (size_t)depth);
        } else {
            die("%s: expected (for ..), (mul A B), (acc T), (add A B) or one (write C)", k->where);
        }
    }
}

/* every variable is run through exactly once, and a tail is less than a block */
static void check_loops(const struct parse *k, const struct loop *l, int n, bool write)
{
    int64_t e[NEST_VARS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    bool have[NEST_VARS] = { false };
    for (int i = n; i-- > 0; ) {
        int v = l[i].var;
        if (l[i].tail >= e[v])
            die("%s: tail %d of a loop of %s is not less than its block of %lld", k->where, l[i].tail, k->p->name[v],
                (long long)e[v]);
        e[v] = e[v] * l[i].size + l[i].tail;
        have[v] = true;
        if (e[v] > k->p->size[v]) break;
    }
    for (int v = 0; v < k->p->nvar; v++) {
        if (write && k->p->reduced[v]) {
            if (have[v]) die("%s: (write C) is inside a loop of %s, over which C is summed", k->where, k->p->name[v]);
            continue;
        }
        if (!have[v] || e[v] != k->p->size[v])
            die("%s: the loops of %s make %lld, its size is %d", k->where, k->p->name[v],
                have[v] ? (long long)e[v] : 0LL, k->p->size[v]);
    }
}

void nest_parse(struct nest *t, const struct problem *p, str tree, int cursor, const char *where)
{
    *t = (struct nest){ 0 };
    sexpr *r = sexp_open_text(tree.s, tree.n, where, SEXP_CORE);
    const struct sexp *e = sexp_only(r);
    if (!sexp_head(e, 0, "tree"))
        die("%s: a tree is (tree (for VAR SIZE TAIL ...)), not '%.*s'", where, (int)tree.n, tree.s);
    struct parse k = { .p = p, .where = where, .t = t };
    snode first = sexp_after(e, sexp_first(e, 0));
    if (first != SEXP_NONE && sexp_head(e, first, "cursor")) {
        cursor = int_atom(&k, e, sexp_nth(e, first, 1), "the cursor");
        first = sexp_after(e, first);
    }
    parse_level(&k, e, first, 0);
    if (!k.have_leaf || !k.have_write) die("%s: the tree has no computation or no (write C)", where);
    check_loops(&k, t->loop, t->n, false);
    check_loops(&k, t->write, t->nwrite, true);
    if (cursor < 0 || cursor >= t->n)
        die("%s: cursor %d is on no loop of the computation (0 to %d)", where, cursor, t->n - 1);
    t->cursor = (int8_t)cursor;
    sexp_close(r);
}

/* ---- actions ---- */

static const struct { const char *name; int split; } actions[ACT_COUNT] = {
    [ACT_UP] = { "up", 0 }, [ACT_DOWN] = { "down", 0 }, [ACT_SWAP_UP] = { "swap_up", 0 },
    [ACT_SWAP_DOWN] = { "swap_down", 0 }, [ACT_SPLIT_4] = { "split_4", 4 }, [ACT_SPLIT_8] = { "split_8", 8 },
    [ACT_SPLIT_16] = { "split_16", 16 }, [ACT_SPLIT_2] = { "split_2", 2 }, [ACT_SPLIT_5] = { "split_5", 5 },
    [ACT_SPLIT_32] = { "split_32", 32 }, [ACT_SPLIT_64] = { "split_64", 64 }, [ACT_SPLIT_128] = { "split_128", 128 },
    [ACT_SPLIT_256] = { "split_256", 256 }, [ACT_MERGE] = { "merge", 0 }, [ACT_UNROLL] = { "unroll", 0 },
    [ACT_VECTORIZE] = { "vectorize", 0 },
    [ACT_PACK_A] = { "pack_a", 0 }, [ACT_PACK_B] = { "pack_b", 0 },
};

const char *act_name(int a, char b[40])
{
    if (a >= 0 && a < ACT_COUNT) return actions[a].name;
    b[0] = 0;
    if (a > ACT_SPLIT_ANY) {
        memcpy(b, "split_", 6);
        b[6 + int_print(b + 6, a - ACT_SPLIT_ANY)] = 0;
    }
    return b;
}

int act_of(str name)
{
    for (int a = 0; a < ACT_COUNT; a++)
        if (str_is(name, actions[a].name)) return a;
    int64_t n;
    if (name.n > 6 && !memcmp(name.s, "split_", 6) && int_parse(name.s + 6, name.n - 6, &n) && n >= 2 &&
        n < ACT_SPLIT_ANY)
        return ACT_SPLIT_ANY + (int)n;
    return -1;
}

/* where a loop like l[i] stands in the other list: same variable, depth, size, tail; -1 if nowhere */
static int counterpart(const struct loop *l, int i, const struct loop *other, int n)
{
    for (int j = 0; j < n; j++)
        if (same_loop(l[i], other[j]) && depth_of(l, i) == depth_of(other, j)) return j;
    return -1;
}

/* no other loop of their variables lies between the two: that one would change its place among its own */
static bool apart(const struct loop *l, int a, int b)
{
    int from = a < b ? a : b, to = a < b ? b : a;
    for (int i = from + 1; i < to; i++)
        if (l[i].var == l[a].var || l[i].var == l[b].var) return false;
    return true;
}

static void swap_loops(const struct problem *p, struct nest *t, int upper)
{
    if (t->loop[upper].var == t->loop[upper + 1].var) return;
    if (upper < nest_shared(p, t)) {
        int a = counterpart(t->loop, upper, t->write, t->nwrite),
            b = counterpart(t->loop, upper + 1, t->write, t->nwrite);
        if (a >= 0 && b >= 0 && apart(t->write, a, b)) {
            struct loop l = t->write[a];
            t->write[a] = t->write[b];
            t->write[b] = l;
        }
    }
    struct loop l = t->loop[upper];
    t->loop[upper] = t->loop[upper + 1];
    t->loop[upper + 1] = l;
}

static void split_list(struct loop *l, int8_t *n, int i, int32_t by)
{
    int32_t inner[NEST_LOOPS];
    nest_inner(l, *n, inner);
    int64_t total = (int64_t)l[i].size * inner[i] + l[i].tail, block = (int64_t)by * inner[i];
    memmove(l + i + 2, l + i + 1, sizeof *l * (size_t)(*n - i - 1));
    ++*n;
    l[i] = (struct loop){ .var = l[i].var, .size = (int32_t)(total / block), .tail = (int32_t)(total % block) };
    l[i + 1] = (struct loop){ .var = l[i].var, .size = by };
}

static const char *split(const struct problem *p, struct nest *t, int32_t by)
{
    int c = t->cursor;
    if (t->loop[c].size < by) return "the loop is shorter than the split";
    bool both = c < nest_shared(p, t);
    if (t->n == NEST_LOOPS || (both && t->nwrite == NEST_LOOPS)) return "there are 16 loops already";
    if (both) split_list(t->write, &t->nwrite, c, by);
    split_list(t->loop, &t->n, c, by);
    return NULL;
}

static void merge_list(struct loop *l, int8_t *n, int parent, int i)
{
    int32_t inner[NEST_LOOPS];
    nest_inner(l, *n, inner);
    int64_t in = inner[i], total = (int64_t)l[parent].size * (l[i].size * in + l[i].tail) + l[parent].tail;
    l[parent].size = (int32_t)(total / in);
    l[parent].tail = (int32_t)(total % in);
    memmove(l + i, l + i + 1, sizeof *l * (size_t)(*n - i - 1));
    --*n;
}

static const char *merge(const struct problem *p, struct nest *t)
{
    int c = t->cursor, parent = c - 1;
    while (parent >= 0 && t->loop[parent].var != t->loop[c].var) parent--;
    if (parent < 0) return "no loop of the same variable is above";
    if (parent < nest_shared(p, t)) {
        int a = counterpart(t->loop, parent, t->write, t->nwrite), b = counterpart(t->loop, c, t->write, t->nwrite);
        if (a >= 0 && b >= 0) merge_list(t->write, &t->nwrite, a, b);
    }
    merge_list(t->loop, &t->n, parent, c);
    if (t->cursor >= t->n) t->cursor = (int8_t)(t->n - 1);
    return NULL;
}

static const char *mark(const struct problem *p, struct nest *t, unsigned m)
{
    int c = t->cursor, shared = nest_shared(p, t);
    bool pack = m & (MARK_PACK_A | MARK_PACK_B);
    if (pack && p->op != OP_FMA) return "only inputs of products are packed";
    unsigned now = t->loop[c].marks ^ m;
    for (int i = 0; i < t->n; i++) {
        bool here = m == MARK_UNROLL ? i >= c : i == c;
        if (!here && m == MARK_UNROLL) continue;
        unsigned marks = (t->loop[i].marks & ~m) | (here ? now & m : 0);
        t->loop[i].marks = (uint8_t)marks;
        if (i < shared) t->write[i].marks = (uint8_t)marks;
    }
    return NULL;
}

static const char *apply(const struct problem *p, struct nest *t, int a)
{
    switch (a) {
    case ACT_UP:
        if (t->cursor == 0) return "the cursor is on the outermost loop";
        t->cursor--;
        return NULL;
    case ACT_DOWN:
        if (t->cursor == t->n - 1) return "the cursor is on the innermost loop";
        t->cursor++;
        return NULL;
    case ACT_SWAP_UP:
        if (t->cursor == 0) return "no loop is above";
        swap_loops(p, t, t->cursor - 1);
        t->cursor--;
        return NULL;
    case ACT_SWAP_DOWN:
        if (t->cursor == t->n - 1) return "no loop is below";
        swap_loops(p, t, t->cursor);
        t->cursor++;
        return NULL;
    case ACT_MERGE: return merge(p, t);
    case ACT_UNROLL: return mark(p, t, MARK_UNROLL);
    case ACT_VECTORIZE: return mark(p, t, MARK_VECTORIZE);
    case ACT_PACK_A: return mark(p, t, MARK_PACK_A);
    case ACT_PACK_B: return mark(p, t, MARK_PACK_B);
    default: return split(p, t, a < ACT_COUNT ? actions[a].split : a - ACT_SPLIT_ANY);
    }
}

const char *nest_act(const struct problem *p, struct nest *t, int a, unsigned rules)
{
    if (a < 0 || (a >= ACT_COUNT && (a < ACT_SPLIT_ANY + 2 || a >= 2 * ACT_SPLIT_ANY)))
        return "there is no such action";
    struct nest after = *t;
    const char *why = apply(p, &after, a);
    if (why) return why;
    int shared = nest_shared(p, &after), last = after.loop[after.n - 1].size;
    if (rules & RULE_EIGHT && last != 1 && last % 8) return "the innermost loop would not be a multiple of 8";
    if (rules & RULE_TEN && after.n + (shared ? after.nwrite - shared : 0) > 10)
        return "there would be more than 10 loops";
    *t = after;
    return NULL;
}

uint32_t nest_mask(const struct problem *p, const struct nest *t, unsigned rules)
{
    uint32_t mask = 0;
    for (int a = 0; a < ACT_COUNT; a++) {
        struct nest copy = *t;
        if (!nest_act(p, &copy, a, rules)) mask |= 1u << a;
    }
    return mask;
}
