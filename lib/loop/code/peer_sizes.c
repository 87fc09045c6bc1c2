/* A problem as the sources of peers are told of it: its sizes; a nest that is a convolution in groups, or with holes
 * between the taps of its windows, as one. */
#include "loop/code/peer.h"
#include <stdlib.h>
#include <string.h>

/* Sizes in the order of the kind's text; a convolution's stride may be left out there; zeros around it come last */
int peer_sizes(const struct problem *p, long size[PEER_SIZES])
{
    const char *const *param;
    int n = problem_params(str_of(p->kind), &param), k = 0;
    const char *s = p->text + 1 + strlen(p->kind);
    for (char *end; k < n; s = end) {
        long v = strtol(s, &end, 10);
        if (end == s) break;
        size[k++] = v;
    }
    while (k < n) size[k++] = 1;
    const char *pad = !strncmp(p->kind, "conv", 4) ? strstr(p->text, "(pad ") : NULL;
    long zeros[4] = { 0 };                               /* around images: above, below, left and right */
    size_t m = 0;
    if (pad) s = pad + strlen("(pad");
    for (char *end; pad && m < 4 && *s != ')'; s = end) zeros[m++] = strtol(s, &end, 10);
    for (size_t i = 0; i < 4 && !strncmp(p->kind, "conv", 4); i++) size[n + (int)i] = m ? zeros[i * m / 4] : 0;
    size[PEER_GROUPS] = size[PEER_DILATION] = 1;
    return n;
}

/* the variable that the sets call so, or where there is none one past the last */
static int variable(const struct problem *p, const char *name)
{
    int v = 0;
    while (v < p->nvar && strcmp(p->name[v], name)) v++;
    return v;
}

static long size_of(const struct problem *p, int v) { return v < p->nvar ? p->size[v] : 1; }

/* How far a step of a window goes along an image, and one from a window to the next, of which the slower is v.  Names
 * alone say what is what; that all is as they say shows in the result, which is compared. */
static bool window(const struct problem *p, int v, int tap, int64_t unit, long *s, long *d)
{
    const int64_t *a = p->stride[TENSOR_A];
    if (v == p->nvar || tap == p->nvar || !unit || a[v] % unit || a[tap] % unit) return false;
    if (p->size[v] > 1) *s = (long)(a[v] / unit);
    if (p->size[tap] > 1) *d = (long)(a[tap] / unit);
    return *s > 0 && *d > 0;
}

const char *peer_windows(const struct problem *p, long z[PEER_SIZES])
{
    const int y = variable(p, "y"), x = variable(p, "x"), up = variable(p, "p"), across = variable(p, "q");
    const int m = variable(p, "m"), g = variable(p, "g"), c = variable(p, "c"), none = p->nvar;
    if (strcmp(p->kind, "nest") || p->pair || p->type != TYPE_F32 || y == none || x == none || up == none ||
        across == none || c == none || p->nvar != 5 + (m < none) + (g < none)) return NULL;
    const bool each = !p->reduced[c], last = p->stride[TENSOR_A][c] == 1;        /* a filter a channel; c is fastest */
    const long groups = each ? p->size[c] : size_of(p, g), from = groups * (each ? 1 : p->size[c]);
    const int64_t *a = p->stride[TENSOR_A], pixel = last ? from : 1;
    long s[2] = { 0 }, d[2] = { 1, 1 }, zeros[4] = { 0 };
    if ((each && (g < none || m < none)) || (!last && g < none) || !window(p, x, across, pixel, &s[1], &d[1]))
        return NULL;
    const long wide = (long)((p->size[up] > 1 ? a[up] / d[1] : a[y] / s[1]) / pixel);    /* with zeros, as high is */
    const int64_t row = wide * pixel, high = p->padded / (last ? row : row * from);
    if (!window(p, y, up, row, &s[0], &d[0]) || s[0] != s[1] || d[0] != d[1]) return NULL;
    int64_t below = p->padded;
    for (int i = 0; i < p->pad.n; i++) {                 /* of rows, or of columns, with what is faster */
        const int64_t before = p->pad.before[i], after = p->pad.after[i], whole = below;
        below /= before + p->pad.size[i] + after;
        const bool columns = whole == row;
        if (before) zeros[2 * columns] = (long)(before * below / (columns ? pixel : row));
        if (after) zeros[2 * columns + 1] = (long)(after * below / (columns ? pixel : row));
    }
    const long all[PEER_SIZES] = { 1, from, high - zeros[0] - zeros[1], wide - zeros[2] - zeros[3],
                                   groups * size_of(p, m), p->size[up], p->size[across], s[0],
                                   zeros[0], zeros[1], zeros[2], zeros[3], groups, d[0] };
    memcpy(z, all, sizeof all);
    return last ? "conv_nhwc" : "conv";
}
