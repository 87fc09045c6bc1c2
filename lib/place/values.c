#include "place/values.h"
#include "base/message.h"
#include "base/out.h"
#include "place/grad.h"
#include "place/onnx.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find(const struct graph *g, str name)
{
    for (int i = 0; i < g->ntensor; i++)
        if (g->tensor[i].role != ROLE_INTER && g->tensor[i].updates < 0 && str_is(name, g->tensor[i].name)) return i;
    return -1;
}

static void put(struct engine *e, const struct graph *g, const struct onnx *o, const struct onnx_tensor *t, str name,
                bool *filled)
{
    int i = find(g, name);
    if (i < 0) return;
    if (t->count != g->tensor[i].bytes / 4)
        die("%s: '%s' has %llu values, the graph's tensor %llu", o->file, g->tensor[i].name,
            (unsigned long long)t->count, (unsigned long long)g->tensor[i].bytes / 4);
    void *values = xmalloc(g->tensor[i].bytes, 1);
    onnx_values(o, t, values);
    engine_put(e, i, values);
    free(values);
    filled[i] = true;
}

void values_from_onnx(struct engine *e, const struct graph *g, const char *path)
{
    struct onnx *o = onnx_read(path);
    bool *filled = xcalloc((size_t)g->ntensor + 1, sizeof *filled);
    for (size_t i = 0; i < o->ninitialiser; i++) put(e, g, o, &o->initialiser[i], o->initialiser[i].name, filled);
    for (size_t i = 0; i < o->nnode; i++) {
        const struct onnx_attr *a = str_is(o->node[i].op, "Constant") ? onnx_attr(&o->node[i], "value") : NULL;
        if (a && a->tensor) put(e, g, o, a->tensor, o->node[i].out[0], filled);
    }
    for (int i = 0; i < g->ntensor; i++)
        if (!filled[i] && g->tensor[i].updates < 0 &&
            (g->tensor[i].role == ROLE_CONST || grad_parameter(&g->tensor[i])))
            die("%s: there are no values for '%s'", path, g->tensor[i].name);
    free(filled);
    onnx_free(o);
}

static void take(struct engine *e, const struct graph *g, const struct onnx *o, const struct onnx_tensor *t, str name)
{
    int i = find(g, name);
    if (i < 0 || !grad_parameter(&g->tensor[i])) return;
    if (t->external) die("%s: '%s' lies in a file of its own: --save writes one file", o->file, g->tensor[i].name);
    str words = t->raw.n ? t->raw : t->packed;
    if (t->type != ONNX_FLOAT || words.n != g->tensor[i].bytes)
        die("%s: '%s' is not %llu bytes of 32-bit floats: what was learned cannot be put there", o->file,
            g->tensor[i].name, (unsigned long long)g->tensor[i].bytes);
    engine_get(e, i, o->bytes + (words.s - o->bytes));
}

void values_to_onnx(struct engine *e, const struct graph *g, const char *path, const char *to)
{
    struct onnx *o = onnx_read(path);
    for (size_t i = 0; i < o->ninitialiser; i++) take(e, g, o, &o->initialiser[i], o->initialiser[i].name);
    for (size_t i = 0; i < o->nnode; i++) {
        const struct onnx_attr *a = str_is(o->node[i].op, "Constant") ? onnx_attr(&o->node[i], "value") : NULL;
        if (a && a->tensor) take(e, g, o, a->tensor, o->node[i].out[0]);
    }
    struct out *f = out_open(to);
    fwrite(o->bytes, 1, o->size, out_file(f)); /* out_close sees errors */
    out_close(f);
    onnx_free(o);
}

/* labels are classes, indices rows of their table; what is out of range would be taken for the first */
static void check_range(const struct graph *g, int tensor, const int32_t *v, const char *file)
{
    for (int i = 0; i < g->nnode; i++) {
        const struct node *n = &g->node[i];
        bool labels = !strcmp(n->op, "NdLoss");
        if (!(labels || !strcmp(n->op, "NdGather")) || n->operand[1] != tensor) continue;
        int64_t count = g->tensor[n->operand[0]].shape[labels];
        for (uint64_t k = 0; k < g->tensor[tensor].bytes / 4; k++)
            if (v[k] < (labels ? 0 : -count) || v[k] >= count)
                die("%s: '%s' has %d, which is none of %lld %s", file, g->tensor[tensor].name, v[k], (long long)count,
                    labels ? "classes" : "rows");
    }
}

void value_from_file(struct engine *e, const struct graph *g, const char *pair)
{
    const char *equals = strrchr(pair, '=');
    if (!equals) usage("--value wants NAME=FILE, not '%s'", pair);
    int i = find(g, (str){ pair, (size_t)(equals - pair) });
    if (i < 0) die("the graph has no arg '%.*s'", (int)(equals - pair), pair);
    FILE *f = fopen(equals + 1, "rb");
    if (!f) die_errno("%s", equals + 1);
    size_t n = (size_t)g->tensor[i].bytes;
    void *values = xmalloc(n, 1);
    if (fread(values, 1, n, f) != n || fgetc(f) != EOF)
        die("%s: not the %zu bytes of '%s'", equals + 1, n, g->tensor[i].name);
    check_range(g, i, values, equals + 1);
    engine_put(e, i, values);
    free(values);
    fclose(f);
}
