#include "loop/nest/graph.h"
#include <stdio.h>
#include <string.h>

static void index_vars(struct buf *b, const struct problem *p, int t)
{
    for (int i = 0; i < p->nvar; i++)
        if (p->stride[t][p->order[i]]) buf_format(b, " %s", p->name[p->order[i]]);
}

static void loop_order(struct buf *b, const struct problem *p, const struct loop *l, int n)
{
    buf_format(b, " (order");
    for (int i = 0; i < n; i++) buf_format(b, " (%s %d %d)", p->name[l[i].var], l[i].size, l[i].tail);
    buf_format(b, ")");
}

void nest_ir(struct buf *b, const struct problem *p, const struct nest *t)
{
    static const char *const op[] = { [OP_FMA] = "multiply", [OP_ADD] = "add", [OP_SUM] = "add", [OP_COPY] = NULL };
    buf_format(b, "(ir (vars");
    for (int i = 0; i < p->nvar; i++) buf_format(b, " (%s %d)", p->name[p->order[i]], p->size[p->order[i]]);
    buf_format(b, ") (read A");
    index_vars(b, p, TENSOR_A);
    if (p->elements[TENSOR_B]) buf_format(b, ") (read B"), index_vars(b, p, TENSOR_B);
    buf_format(b, ")");
    if (op[p->op]) {
        buf_format(b, " (%s %s", op[p->op], p->elements[TENSOR_B] ? "A B" : "A");
        loop_order(b, p, t->loop, t->n);
        buf_format(b, ")");
    }
    if (p->op == OP_FMA) {
        buf_format(b, " (add T");
        loop_order(b, p, t->loop, t->n);
        buf_format(b, ")");
    }
    buf_format(b, " (write C");
    index_vars(b, p, TENSOR_C);
    loop_order(b, p, t->write, t->nwrite);
    buf_format(b, "))");
}

struct out { struct buf *b; bool dot; };

static void node(const struct out *o, const char *id, int type, const char *name, struct loop l, bool cursor)
{
    bool vec = l.marks & MARK_VECTORIZE, unroll = l.marks & MARK_UNROLL;
    if (!o->dot) {
        buf_format(o->b, " (node %s (type %d) (name %s) (size %d) (tail %d) (vectorize %d) (unroll %d) (cursor %d))",
                   id, type, name, l.size, l.tail, vec, unroll, cursor);
        return;
    }
    static const char *const shape[] = { "box", "ellipse", "cylinder" };
    buf_format(o->b, "  %s [shape=%s%s label=\"%s", id, shape[type], cursor ? " style=filled fillcolor=gold" : "",
               name);
    if (type == 1) buf_format(o->b, " %d", l.size);
    if (type == 1 && l.tail) buf_format(o->b, " r %d", l.tail);
    buf_format(o->b, "%s%s\"];\n", vec ? " vectorize" : "", unroll ? " unroll" : "");
}

static void edge(const struct out *o, const char *from, const char *to, int type, int64_t stride)
{
    if (!o->dot) {
        buf_format(o->b, " (edge %s %s (type %d)", from, to, type);
        if (type == 4) buf_format(o->b, " (stride %lld)", (long long)stride);
        buf_format(o->b, ")");
        return;
    }
    static const char *const color[] = { [3] = "black", [4] = "red", [5] = "blue" };
    buf_format(o->b, "  %s -> %s [color=%s", from, to, color[type]);
    if (type == 4) buf_format(o->b, " label=\"%lld\"", (long long)stride);
    buf_format(o->b, "];\n");
}

static void chain(const struct out *o, const struct problem *p, const struct loop *l, int from, int n, int first,
                  int cursor, char *parent)
{
    for (int i = from; i < n; i++) {
        char id[16];
        snprintf(id, sizeof id, "L%d", first + i - from);
        node(o, id, 1, p->name[l[i].var], l[i], i == cursor);
        if (parent[0]) edge(o, parent, id, 3, 0);
        memcpy(parent, id, sizeof id);
    }
}

static void leaf(const struct out *o, const char *id, const char *name, const char *parent)
{
    node(o, id, 0, name, (struct loop){ 0 }, false);
    if (parent[0]) edge(o, parent, id, 3, 0);
}

void nest_graph(struct buf *b, const struct problem *p, const struct nest *t, bool data, bool dot)
{
    struct out o = { b, dot };
    int shared = nest_shared(p, t), leaves = p->op == OP_FMA ? 2 : p->op == OP_COPY ? 0 : 1;
    char parent[16] = "", id[16], last[16] = "";
    buf_format(b, dot ? "digraph nest {\n" : "(graph");
    chain(&o, p, t->loop, 0, t->n, 0, t->cursor, parent);
    memcpy(last, parent, sizeof last);
    static const char *const names[2][2] = { { "mul", "acc" }, { "add", "" } };
    for (int i = 0; i < leaves; i++) {
        snprintf(id, sizeof id, "L%d", t->n + i);
        leaf(&o, id, names[p->op != OP_FMA][i], last);
    }
    parent[0] = 0;
    if (shared) snprintf(parent, sizeof parent, "L%d", shared - 1);
    chain(&o, p, t->write, shared, t->nwrite, t->n + leaves, -1, parent);
    char write[16];
    snprintf(write, sizeof write, "L%d", t->n + leaves + t->nwrite - shared);
    leaf(&o, write, "write", parent);
    if (data) {
        static const char *const name[3] = { "A", "B", "C" };
        int32_t inner[NEST_LOOPS];
        for (int u = 0; u < 3; u++) {
            if (!p->elements[u]) continue;
            char d[16], at[16];
            snprintf(d, sizeof d, "D%d", u);
            node(&o, d, 2, name[u], (struct loop){ 0 }, false);
            const struct loop *l = u == TENSOR_C ? t->write : t->loop;
            int n = u == TENSOR_C ? t->nwrite : t->n;
            nest_inner(l, n, inner);
            for (int i = 0; i < n; i++) {
                int ref = u == TENSOR_C && i >= shared ? t->n + leaves + i - shared : i;
                snprintf(at, sizeof at, "L%d", ref);
                if (p->stride[u][l[i].var]) edge(&o, at, d, 4, p->stride[u][l[i].var] * inner[i]);
            }
            snprintf(at, sizeof at, "L%d", t->n);
            if (u == TENSOR_C) edge(&o, write, d, 5, 0);
            else edge(&o, d, leaves ? at : write, 5, 0);
        }
    }
    buf_format(b, dot ? "}\n" : ")");
}
