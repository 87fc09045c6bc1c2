#include "loop/nest/nest.h"
#include <math.h>
#include <string.h>

static int bucket(int64_t stride)                        /* ceil(log2 stride), or -1: zero or beyond 2^15 */
{
    if (stride < 1) return -1;
    int b = 0;
    while (((int64_t)1 << b) < stride) b++;
    return b < OBS_STRIDES ? b : -1;
}

/* strides of the temporary T between the computation and the write-back, in whose buffer shared loops have extent 1 */
static void temporary(const struct problem *p, const struct nest *t, int shared, int64_t stride[NEST_VARS])
{
    int32_t inner[NEST_LOOPS], extent[NEST_VARS];
    nest_inner(t->write, t->nwrite, inner);
    for (int v = 0; v < p->nvar; v++) extent[v] = p->size[v];
    for (int i = 0; i < shared; i++) extent[t->write[i].var] = inner[i];
    int64_t step = 1, last = 0;
    for (bool more = true; more; ) {                     /* variables of C from its fastest dimension outwards */
        int next = -1;
        for (int v = 0; v < p->nvar; v++)
            if (!p->reduced[v] && p->stride[TENSOR_C][v] * NEST_VARS + v > last
                && (next < 0 || p->stride[TENSOR_C][v] < p->stride[TENSOR_C][next])) next = v;
        more = next >= 0;
        if (!more) break;
        last = p->stride[TENSOR_C][next] * NEST_VARS + next;
        stride[next] = extent[next] > 1 ? step : 0;
        step *= extent[next];
    }
}

/* for each loop in preorder under the first root: the strides of its accesses; returns how many loops */
struct access { struct loop loop; bool compute; int64_t stride[3]; double freq; };
static int accesses(const struct problem *p, const struct nest *t, struct access a[2 * NEST_LOOPS])
{
    int32_t inner[NEST_LOOPS];
    int shared = nest_shared(p, t), n = 0;
    double freq = 1;
    nest_inner(t->loop, t->n, inner);
    for (int i = 0; i < t->n; i++, n++) {
        struct loop l = t->loop[i];
        freq *= l.size;
        a[n] = (struct access){
            l, true, { p->stride[TENSOR_A][l.var] * inner[i], p->stride[TENSOR_B][l.var] * inner[i], 0 }, freq
        };
    }
    if (!shared) return n;
    int64_t stride[NEST_VARS] = { 0 };
    temporary(p, t, shared, stride);
    nest_inner(t->write, t->nwrite, inner);
    freq = a[shared - 1].freq;
    for (int i = shared; i < t->nwrite; i++, n++) {
        struct loop l = t->write[i];
        freq *= l.size;
        a[n] = (struct access){ l, false, { stride[l.var] * inner[i], 0, 0 }, freq };
    }
    return n;
}

void nest_loops_tensor(const struct problem *p, const struct nest *t, float f[OBS_SIZE])
{
    struct access a[2 * NEST_LOOPS];
    int n = accesses(p, t, a);
    memset(f, 0, sizeof *f * OBS_SIZE);
    for (int i = 0; i < n && i < OBS_SIZE / OBS_SLOT; i++, f += OBS_SLOT) {
        f[0] = a[i].compute && i == t->cursor;
        f[1] = (float)a[i].loop.size;
        f[2] = (float)a[i].loop.tail;
        f[3] = a[i].compute;
        int total = 0;
        for (int s = 0; s < 3; s++) total += bucket(a[i].stride[s]) >= 0;
        for (int s = 0; s < 3; s++)
            if (bucket(a[i].stride[s]) >= 0) f[4 + bucket(a[i].stride[s])] += 1.0f / (float)total;
    }
}

void nest_stride_tensor(const struct problem *p, const struct nest *t, bool scaled, float f[OBS_STRIDES])
{
    struct access a[2 * NEST_LOOPS];
    int n = accesses(p, t, a);
    memset(f, 0, sizeof *f * OBS_STRIDES);
    for (int i = 0; i < n; i++)
        for (int s = 0; s < 3; s++)
            if (bucket(a[i].stride[s]) >= 0) f[bucket(a[i].stride[s])] += (float)a[i].freq;
    for (int i = 0; scaled && i < OBS_STRIDES; i++) f[i] = log2f(1 + f[i]) / 32;
}

void nest_loops_scaled(const struct problem *p, const struct nest *t, float f[OBS_SCALED])
{
    int32_t inner[NEST_LOOPS];
    nest_inner(t->loop, t->n, inner);
    memset(f, 0, sizeof *f * OBS_SCALED);
    double registers[NEST_LOOPS + 1];                    /* vectors of 16 that C needs from loop i inwards */
    int32_t e[NEST_VARS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    registers[t->n] = 1;
    for (int i = t->n; i-- > 0; ) {
        int v = t->loop[i].var;
        e[v] = inner[i] * t->loop[i].size + t->loop[i].tail;
        registers[i] = 1;
        for (int u = 0; u < p->nvar; u++)
            if (!p->reduced[u]) registers[i] *= p->stride[TENSOR_C][u] == 1 ? (e[u] + 15) / 16 : e[u];
    }
    for (int i = 0; i < t->n; i++, f += OBS_SLOT) {
        struct loop l = t->loop[i];
        f[0] = i == t->cursor;
        f[1] = 1;
        f[2] = log2f((float)l.size) / 8;
        f[3] = log2f(1 + (float)l.tail) / 8;
        f[4] = log2f((float)inner[i]) / 8;
        for (int s = 0; s < 3; s++) {
            f[5 + s] = log2f(1 + (float)(p->stride[s][l.var] * inner[i])) / 16;
            f[8 + s] = p->stride[s][l.var] != 0;
        }
        f[11] = p->stride[TENSOR_C][l.var] == 1;
        f[12] = (l.marks & MARK_UNROLL) != 0;
        f[13] = (l.marks & MARK_VECTORIZE) != 0;
        f[14] = (l.marks & (MARK_PACK_A | MARK_PACK_B)) != 0;
        f[15] = l.size % 8 == 0;
        f[16] = (float)fmin(log2(registers[i]) / 8, 2);
        f[17] = (float)fmin(log2(registers[i + 1]) / 8, 2);
        f[18] = registers[i] > 28 && registers[i + 1] <= 28;     /* here a tile of 28 registers ends */
        f[19] = (float)fmin(registers[i + 1], 28) / 28;
    }
}

void nest_prev_tensor(const int *a, int n, int nactions, float *f)
{
    memset(f, 0, sizeof *f * (size_t)(OBS_PREV * nactions));
    for (int i = 0; i < OBS_PREV && i < n; i++)
        if (a[n - 1 - i] >= 0 && a[n - 1 - i] < nactions) f[i * nactions + a[n - 1 - i]] = 1;
}
