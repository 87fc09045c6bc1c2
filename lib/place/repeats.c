/* repeats.c - see repeats.h */
#include "place/repeats.h"
#include "base/message.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct judge {
    const struct graph *g, *was;
    void (*say)(void *, const char *);
    void *context;
    int faults;
    int *value;                                          /* tensor of g: the tensor of `was` whose contents it has */
    bool *ran;                                           /* node of `was` */
};

static void fault(struct judge *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fault(struct judge *j, const char *fmt, ...)
{
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    j->say(j->context, text);
    j->faults++;
}

static bool same_tensor(const struct tensor *a, const struct tensor *b)
{
    if (a->bytes != b->bytes || a->ndim != b->ndim || strcmp(a->dtype, b->dtype) != 0) return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

static bool same_attributes(const struct node *a, const struct node *b)
{
    if (a->nattr != b->nattr) return false;
    for (int i = 0; i < a->nattr; i++) {
        if (strcmp(a->attr[i].name, b->attr[i].name) != 0 || a->attr[i].n != b->attr[i].n) return false;
        for (int k = 0; k < a->attr[i].n; k++)
            if (a->attr[i].v[k] != b->attr[i].v[k]) return false;
    }
    return true;
}

/* node n of the graph against node m of the original; `outputs` must be the same tensors, or just have the same form */
static void compare(struct judge *j, int n, int m, bool own_outputs)
{
    const struct node *a = &j->g->node[n], *b = &j->was->node[m];
    if (strcmp(a->op, b->op) != 0 || a->nin != b->nin || a->nout != b->nout || !same_attributes(a, b)
        || a->workspace != b->workspace) {
        fault(j, "repeats: node %d '%s' is not the operation '%s' of the original", n, a->name, b->name);
        return;
    }
    for (int i = 0; i < a->nin; i++)
        if (j->value[a->operand[i]] != b->operand[i])
            fault(j, "repeats: node %d '%s' reads '%s' where the original reads '%s'", n, a->name,
                  j->g->tensor[a->operand[i]].name, j->was->tensor[b->operand[i]].name);
    for (int i = a->nin; i < a->nin + a->nout; i++) {
        const struct tensor *t = &j->g->tensor[a->operand[i]], *u = &j->was->tensor[b->operand[i]];
        if (!own_outputs && a->operand[i] != b->operand[i])
            fault(j, "repeats: node %d '%s' writes '%s' instead of '%s'", n, a->name, t->name, u->name);
        if (own_outputs && (a->operand[i] < j->was->ntensor || t->role != ROLE_INTER || u->role != ROLE_INTER
                            || !same_tensor(t, u)))
            fault(j, "repeats: node %d '%s' may not write '%s'", n, a->name, t->name);
        j->value[a->operand[i]] = b->operand[i];
    }
}

/* the node of the original that this one is: of the same name (of which there may be several) and outputs; -1: none */
static int original(const struct judge *j, const struct node *a)
{
    for (int m = 0; m < j->was->nnode; m++) {
        const struct node *b = &j->was->node[m];
        if (!j->ran[m] && strcmp(a->name, b->name) == 0 && a->operand[a->nin] == b->operand[b->nin]) return m;
    }
    return -1;
}

/* the node of the original that `name` repeats, of those that have run; -1: none */
static int repeated(const struct judge *j, const char *name)
{
    static const char suffix[] = ".again";
    size_t n = strlen(name), tail = sizeof suffix - 1;
    if (n <= tail || strcmp(name + n - tail, suffix) != 0) return -1;
    for (int m = 0; m < j->was->nnode; m++)
        if (j->ran[m] && strlen(j->was->node[m].name) == n - tail && !strncmp(j->was->node[m].name, name, n - tail))
            return m;
    return -1;
}

/* a parameter that a repetition reads must not have its next value yet */
static void check_updates(struct judge *j, int n)
{
    const struct node *a = &j->g->node[n];
    for (int m = 0; m < j->was->nnode; m++) {
        const struct node *b = &j->was->node[m];
        if (!j->ran[m]) continue;
        for (int o = b->nin; o < b->nin + b->nout; o++)
            for (int i = 0; i < a->nin; i++)
                if (j->was->tensor[b->operand[o]].updates == a->operand[i])
                    fault(j, "repeats: node %d '%s' reads '%s' after its update", n, a->name,
                          j->g->tensor[a->operand[i]].name);
    }
}

int repeats_faults(const struct graph *g, const struct graph *was, void (*say)(void *, const char *), void *context)
{
    struct judge j = { g, was, say, context, 0, xmalloc((size_t)g->ntensor + 1, sizeof(int)),
                       xcalloc((size_t)was->nnode + 1, sizeof(bool)) };
    if (strcmp(g->name, was->name) != 0 || g->batch != was->batch || g->ntensor < was->ntensor)
        fault(&j, "repeats: this is no graph of '%s', batch %ld, with all its tensors", was->name, was->batch);
    for (int t = 0; t < g->ntensor; t++) {
        bool old = t < was->ntensor;
        j.value[t] = old ? t : -1;
        if (!old) continue;
        const struct tensor *a = &g->tensor[t], *b = &was->tensor[t];
        bool same = a->role == b->role && a->updates == b->updates && a->trained == b->trained;
        if (!same || strcmp(a->name, b->name) != 0 || !same_tensor(a, b))
            fault(&j, "repeats: tensor %d '%s' is not '%s' of the original", t, a->name, b->name);
    }
    for (int n = 0; n < g->nnode && j.faults == 0; n++) {
        const char *name = g->node[n].name;
        int m = original(&j, &g->node[n]), again = m < 0 ? repeated(&j, name) : -1;
        if (m >= 0) {
            compare(&j, n, m, false);
            j.ran[m] = true;
        } else if (again >= 0) {
            check_updates(&j, n);
            compare(&j, n, again, true);
        } else {
            fault(&j, "repeats: node %d '%s' is neither one of the original nor repeats one that has run", n, name);
        }
    }
    for (int m = 0; m < was->nnode && j.faults == 0; m++)
        if (!j.ran[m]) fault(&j, "repeats: node '%s' of the original is missing", was->node[m].name);
    free_all(j.value, j.ran);
    return j.faults;
}
