/* pack.c - see pack.h */
#include "place/pack.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/rng.h"
#include <stdlib.h>
#include <string.h>

/* ---- bounds ---- */

struct event { int64_t at; int64_t change; };

static int by_time(const void *x, const void *y)
{
    const struct event *a = x, *b = y;
    /* ends before beginnings */
    return ORDER(a->at, b->at) ?: ORDER(a->change, b->change);
}

uint64_t pack_load(const struct buffer *b, int n)
{
    struct event *e = xmalloc((size_t)n * 2 + 1, sizeof *e);
    for (int i = 0; i < n; i++) {
        e[2 * i] = (struct event){ b[i].lower, (int64_t)b[i].size };
        e[2 * i + 1] = (struct event){ b[i].upper, -(int64_t)b[i].size };
    }
    qsort(e, (size_t)n * 2, sizeof *e, by_time);
    int64_t load = 0, peak = 0;
    for (int i = 0; i < 2 * n; i++) {
        load = i64_add(load, e[i].change);
        if (load > peak) peak = load;
    }
    free(e);
    return (uint64_t)peak;
}

uint64_t pack_top(const struct buffer *b, int n)
{
    uint64_t top = 0;
    for (int i = 0; i < n; i++)
        if (b[i].offset + b[i].size > top) top = b[i].offset + b[i].size;
    return top;
}

static uint64_t align_up(uint64_t x, uint64_t a)
{
    return a > 1 ? (x + a - 1) / a * a : x;
}

/* ---- one pass: in a given order, each into the tightest (or lowest) gap ---- */

/* time in sections between two beginnings or ends, and what is placed already, from the lowest address up; in arrays of
 * their own, so that those alive with a buffer are found many at a time */
struct layers {
    int32_t *first, *end;                                /* buffer -> its sections */
    int32_t *lower, *upper;                              /* placed: its sections */
    uint64_t *from, *to;                                 /* placed: its bytes */
    uint8_t *meets;
    int n;
};

static int by_int64(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return ORDER(a, b);
}

static int section_at(const int64_t *times, int n, int64_t at)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (times[mid] < at) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* how many sections there are; first and end by buffer */
static int sections_of(const struct buffer *b, int n, int32_t *first, int32_t *end)
{
    int64_t *times = xmalloc((size_t)n * 2 + 1, sizeof *times);
    int k = 0;
    for (int i = 0; i < n; i++) {
        times[2 * i] = b[i].lower;
        times[2 * i + 1] = b[i].upper;
    }
    qsort(times, (size_t)n * 2, sizeof *times, by_int64);
    for (int i = 0; i < 2 * n; i++)
        if (k == 0 || times[i] != times[k - 1]) times[k++] = times[i];
    for (int i = 0; i < n; i++) {
        first[i] = section_at(times, k, b[i].lower);
        end[i] = section_at(times, k, b[i].upper);
    }
    free(times);
    return k;
}

static struct layers layers_new(const struct buffer *b, int n)
{
    size_t size = (size_t)n + 8;
    struct layers l = { xmalloc(size, sizeof(int32_t)),  xmalloc(size, sizeof(int32_t)),
                        xmalloc(size, sizeof(int32_t)),  xmalloc(size, sizeof(int32_t)),
                        xmalloc(size, sizeof(uint64_t)), xmalloc(size, sizeof(uint64_t)), xcalloc(size, 1), 0 };
    sections_of(b, n, l.first, l.end);
    return l;
}

static void layers_insert(struct layers *l, const struct buffer *b, int x)
{
    uint64_t from = b[x].offset;
    int lo = 0, hi = l->n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (l->from[mid] < from) lo = mid + 1;
        else hi = mid;
    }
    size_t above = (size_t)(l->n - lo);
    memmove(l->lower + lo + 1, l->lower + lo, above * sizeof *l->lower);
    memmove(l->upper + lo + 1, l->upper + lo, above * sizeof *l->upper);
    memmove(l->from + lo + 1, l->from + lo, above * sizeof *l->from);
    memmove(l->to + lo + 1, l->to + lo, above * sizeof *l->to);
    l->lower[lo] = l->first[x];
    l->upper[lo] = l->end[x];
    l->from[lo] = from;
    l->to[lo] = from + b[x].size;
    l->n++;
}

/* the offset of buffer x in the tightest or the lowest gap */
static uint64_t gap_for(struct layers *l, const struct buffer *b, int x, bool tightest)
{
    int32_t first = l->first[x], last = l->end[x];
    uint64_t end = 0, best = UINT64_MAX, least = UINT64_MAX, size = b[x].size, align = b[x].align;
    for (int j = 0; j < l->n; j++) l->meets[j] = (uint8_t)((l->lower[j] < last) & (l->upper[j] > first));
    memset(l->meets + l->n, 0, 8);
    for (int j = 0; j < l->n; j++) {
        uint64_t eight;
        memcpy(&eight, l->meets + j, 8);
        if (eight == 0) {
            j += 7;
            continue;
        }
        if (!l->meets[j]) continue;
        uint64_t at = align_up(end, align);
        if (l->from[j] >= at + size && l->from[j] - end < least) {
            least = tightest ? l->from[j] - end : 0;
            best = at;
        }
        if (l->to[j] > end) end = l->to[j];
    }
    return best != UINT64_MAX ? best : align_up(end, align);
}

static void place(struct buffer *b, struct layers *l, const int *order, int n, bool tightest)
{
    l->n = 0;
    for (int i = 0; i < n; i++) {
        struct buffer *x = &b[order[i]];
        x->offset = x->size > 0 ? gap_for(l, b, order[i], tightest) : 0;   /* what has no bytes is in nobody's way */
        if (x->size > 0) layers_insert(l, b, order[i]);
    }
}

/* ---- several passes ---- */

static const double *sort_weight;
static int by_weight(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return ORDER(sort_weight[b], sort_weight[a]) ?: ORDER(a, b);
}

/* what comes first: size, area, length of life, or the load that a buffer sees */
static void weigh(const struct buffer *b, int n, int how, double *weight)
{
    for (int i = 0; i < n; i++) {
        double size = (double)b[i].size, life = (double)(b[i].upper - b[i].lower);
        weight[i] = how == 0 ? size : how == 1 ? size * life : how == 2 ? life : size * size * life;
    }
}

uint64_t pack_low(struct buffer *b, int n, long passes, uint64_t enough)
{
    enum { WAYS = 4 };
    if (n == 0) return 0;
    struct layers layers = layers_new(b, n);
    int *order = xmalloc((size_t)n + 1, sizeof *order);
    double *weight = xmalloc((size_t)n + 1, sizeof *weight);
    uint64_t *best = xmalloc((size_t)n + 1, sizeof *best), least = UINT64_MAX, load = pack_load(b, n);
    if (enough < load) enough = load;
    for (int how = 0; how < WAYS && least > enough; how++) {
        weigh(b, n, how, weight);
        for (long pass = 0; pass < passes / WAYS + 1 && least > enough; pass++) {
            for (int i = 0; i < n; i++) order[i] = i;
            sort_weight = weight;
            qsort(order, (size_t)n, sizeof *order, by_weight);
            place(b, &layers, order, n, pass % 2 == 0);
            uint64_t top = pack_top(b, n);
            if (top < least) {
                least = top;
                for (int i = 0; i < n; i++) best[i] = b[i].offset;
            }
            uint64_t high = enough + (top - enough) / 2;  /* those that stick out come earlier next time */
            for (int i = 0; i < n && top > enough; i++)
                if (b[i].offset + b[i].size > high) weight[i] *= 1.5;
        }
    }
    for (int i = 0; i < n; i++) b[i].offset = best[i];
    free_all(layers.first, layers.end, layers.lower, layers.upper, layers.from, layers.to, layers.meets, order, weight,
             best);
    return least;
}

/* ---- search ---- */

/* buffers that are alive together, as lists of indices */
struct conflicts { int *list; size_t *end; };

static const struct buffer *sort_buffers;                /* for qsort */
static int by_lower(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return ORDER(sort_buffers[a].lower, sort_buffers[b].lower) ?: ORDER(a, b);
}

static struct conflicts conflicts_of(const struct buffer *b, int n)
{
    int *order = xmalloc((size_t)n + 1, sizeof *order);
    size_t *count = xcalloc((size_t)n + 2, sizeof *count);
    for (int i = 0; i < n; i++) order[i] = i;
    sort_buffers = b;
    qsort(order, (size_t)n, sizeof *order, by_lower);
    struct conflicts c = { NULL, xcalloc((size_t)n + 2, sizeof *c.end) };
    for (int fill = 0; fill < 2; fill++) {
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n && b[order[j]].lower < b[order[i]].upper; j++) {
                int x = order[i], y = order[j];
                if (b[x].size == 0 || b[y].size == 0) continue;   /* in nobody's way */
                if (fill) {
                    c.list[c.end[x] + count[x]] = y;
                    c.list[c.end[y] + count[y]] = x;
                }
                count[x]++;
                count[y]++;
            }
        if (fill) break;
        for (int i = 0; i < n; i++) {
            c.end[i + 1] = c.end[i] + count[i];
            count[i] = 0;
        }
        c.list = xmalloc(c.end[n] + 1, sizeof *c.list);
    }
    free(order);
    free(count);
    return c;
}

struct tree {
    struct buffer *b;
    int n;
    uint64_t capacity;
    int32_t *first, *end;                                /* buffer -> its sections of time */
    int sections;
    struct conflicts conflicts;
    bool *done;
    uint64_t *remaining;                                 /* section: bytes still to be placed */
    uint64_t *floor;                                     /* section: scratch for the inference */
    int tight;                                           /* section: of the last that was hopeless */
    int *rank;                                           /* buffer -> place in the order of preference */
    int how;                                             /* which order */
    struct rng *blur;                                    /* NULL, or what disturbs it */
    long nodes, most;
};

/* orders of preference: by three keys, largest first */
enum { ORDERS = 4 };
static const struct keys { double a, b, c; } *sort_keys;
static int by_keys(const void *x, const void *y)
{
    const struct keys *a = &sort_keys[*(const int *)x], *b = &sort_keys[*(const int *)y];
    return ORDER(b->a, a->a) ?: ORDER(b->b, a->b) ?: ORDER(b->c, a->c) ?: ORDER(*(const int *)x, *(const int *)y);
}

/* ranks of open buffers among themselves, by what is open with them */
static void rank(struct tree *t, const int *open, int n)
{
    struct keys *keys = xmalloc((size_t)t->n + 1, sizeof *keys);
    int *order = xmalloc((size_t)n + 1, sizeof *order), how = t->how;
    for (int k = 0; k < n; k++) {
        int i = open[k];
        uint64_t total = 0;                              /* most bytes alive together with it */
        for (int s = t->first[i]; s < t->end[i]; s++)
            if (t->remaining[s] > total) total = t->remaining[s];
        double width = (double)(t->b[i].upper - t->b[i].lower), area = width * (double)t->b[i].size;
        keys[i] = how == 0   ? (struct keys){ width, area, (double)total }
                  : how == 1 ? (struct keys){ (double)total, area, width }
                  : how == 2 ? (struct keys){ (double)total, width, area }
                             : (struct keys){ (double)t->b[i].size, width, area };
        if (t->blur) keys[i].a *= 0.5 + rng_unit(t->blur);
        order[k] = i;
    }
    sort_keys = keys;
    qsort(order, (size_t)n, sizeof *order, by_keys);
    for (int i = 0; i < n; i++) t->rank[order[i]] = i;
    free(keys);
    free(order);
}

/* The buffer that was placed last: offsets never fall along a path of the tree, and of the same offset the preferred
 * comes first. */
struct last { uint64_t at; int rank; };

/* may an open buffer not start right where it can at the earliest? it would have been placed there before */
static bool closed(const struct tree *t, int x, const uint64_t *least, struct last last)
{
    return least[x] < last.at || (least[x] == last.at && t->rank[x] < last.rank);
}

static uint64_t start(const struct tree *t, int x, const uint64_t *least, struct last last)
{
    return least[x] < last.at ? align_up(last.at, t->b[x].align) : least[x];
}

/* A section whose open buffers do not fit above its floor: no way on from here.  What was too tight the last time is
 * asked first. */
static bool hopeless(struct tree *t, const int *open, int n, const uint64_t *least, struct last last)
{
    uint64_t floor = UINT64_MAX;
    for (int i = 0; i < n; i++) {
        int x = open[i];
        if (t->first[x] > t->tight || t->end[x] <= t->tight) continue;
        uint64_t at = start(t, x, least, last);
        if (at < floor) floor = at;
    }
    if (floor < UINT64_MAX && floor + t->remaining[t->tight] > t->capacity) return true;
    for (int i = 0; i < n; i++)
        for (int s = t->first[open[i]]; s < t->end[open[i]]; s++) t->floor[s] = UINT64_MAX;
    for (int i = 0; i < n; i++) {
        int x = open[i];
        uint64_t at = start(t, x, least, last);
        if (at + t->b[x].size > t->capacity) return true;
        for (int s = t->first[x]; s < t->end[x]; s++)
            if (at < t->floor[s]) t->floor[s] = at;
    }
    for (int i = 0; i < n; i++)
        for (t->tight = t->first[open[i]]; t->tight < t->end[open[i]]; t->tight++)
            if (t->floor[t->tight] + t->remaining[t->tight] > t->capacity) return true;
    return false;
}

struct candidate { uint64_t offset; int rank, buffer; };

static int by_offset(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    return ORDER(a->offset, b->offset) ?: ORDER(a->rank, b->rank);
}

static enum pack_result descend(struct tree *t, const int *open, int n, const uint64_t *least, struct last last);

/* a part that has become independent: what is open with its buffers is less now, and they are ranked anew */
static enum pack_result descend_part(struct tree *t, const int *open, int n, const uint64_t *least, struct last last)
{
    int *old = xmalloc((size_t)n, sizeof *old);
    for (int i = 0; i < n; i++) old[i] = t->rank[open[i]];
    rank(t, open, n);
    enum pack_result result = descend(t, open, n, least, (struct last){ last.at, -1 });
    for (int i = 0; i < n; i++) t->rank[open[i]] = old[i];
    free(old);
    return result;
}

/* open buffers, sorted by their first section: parts that no buffer bridges are independent */
static enum pack_result split(struct tree *t, const int *open, int n, const uint64_t *least, struct last last)
{
    enum pack_result result = PACK_DONE;
    if (hopeless(t, open, n, least, last)) return PACK_IMPOSSIBLE;   /* all parts, before any is searched */
    for (int i = 0; i < n && result == PACK_DONE; ) {
        int j = i, reach = 0;
        while (j < n && (j == i || t->first[open[j]] < reach)) {
            if (t->end[open[j]] > reach) reach = t->end[open[j]];
            j++;
        }
        result = j - i == n ? descend(t, open, n, least, last) : descend_part(t, open + i, j - i, least, last);
        i = j;
    }
    return result;
}

/* Those that could start first.  None starts where another open buffer, closed or not, would fit entirely below: that
 * one could be lowered into the hole, since all to come are placed above, and then it would have come before. */
static int candidates(const struct tree *t, const int *open, int n, const uint64_t *least, struct last last,
                      struct candidate *c)
{
    uint64_t lid = UINT64_MAX;
    int k = 0;
    for (int i = 0; i < n; i++) {
        uint64_t size = t->b[open[i]].size, top = least[open[i]] + (size > 0 ? size : 1);
        if (top < lid) lid = top;
    }
    for (int i = 0; i < n; i++)
        if (least[open[i]] < lid && !closed(t, open[i], least, last))
            c[k++] = (struct candidate){ least[open[i]], t->rank[open[i]], open[i] };
    qsort(c, (size_t)k, sizeof *c, by_offset);
    return k;
}

/* x is placed: what that means for the others; true when no open buffer is alive with it */
static bool settle(const struct tree *t, const int *open, int n, const uint64_t *least, int x, int *rest,
                   uint64_t *after)
{
    uint64_t top = t->b[x].offset + t->b[x].size;
    bool alone = true;
    int m = 0;
    for (int i = 0; i < n; i++) {
        int y = open[i];
        if (y == x) continue;
        rest[m++] = y;
        after[y] = least[y];
    }
    for (size_t j = t->conflicts.end[x]; j < t->conflicts.end[x + 1]; j++) {
        int y = t->conflicts.list[j];
        if (t->done[y]) continue;
        alone = false;
        if (least[y] < top) after[y] = align_up(top, t->b[y].align);
    }
    return alone;
}

static void mark(struct tree *t, int x, bool done)
{
    t->done[x] = done;
    for (int s = t->first[x]; s < t->end[x]; s++) t->remaining[s] += done ? -t->b[x].size : t->b[x].size;
}

/* place one of the open buffers at the least offset it can have, in every way that matters */
static enum pack_result descend(struct tree *t, const int *open, int n, const uint64_t *least, struct last last)
{
    if (t->most > 0 && t->nodes >= t->most) return PACK_GAVE_UP;
    t->nodes++;
    uint64_t *after = xmalloc((size_t)t->n, sizeof *after);
    struct candidate *candidate = xmalloc((size_t)n, sizeof *candidate);
    int *rest = xmalloc((size_t)n, sizeof *rest), k = candidates(t, open, n, least, last, candidate);
    enum pack_result result = PACK_IMPOSSIBLE;
    for (int c = 0; c < k && result == PACK_IMPOSSIBLE; c++) {
        int x = candidate[c].buffer;
        t->b[x].offset = candidate[c].offset;
        mark(t, x, true);
        bool alone = settle(t, open, n, least, x, rest, after);
        result = split(t, rest, n - 1, after, (struct last){ candidate[c].offset, t->rank[x] });
        mark(t, x, false);
        if (alone) break;                                /* it is in nobody's way: another place would not help */
    }
    free(after);
    free(candidate);
    free(rest);
    return result;
}

static enum pack_result search(struct buffer *b, int n, uint64_t capacity, int how, struct rng *blur, long most)
{
    struct tree t = { .b = b, .n = n, .capacity = capacity, .how = how, .blur = blur, .most = most };
    size_t size = (size_t)n + 1;
    t.first = xcalloc(size, sizeof *t.first);
    t.end = xcalloc(size, sizeof *t.end);
    t.done = xcalloc(size, sizeof *t.done);
    t.rank = xcalloc(size, sizeof *t.rank);
    t.sections = sections_of(b, n, t.first, t.end);
    t.remaining = xcalloc((size_t)t.sections + 1, sizeof *t.remaining);
    t.floor = xcalloc((size_t)t.sections + 1, sizeof *t.floor);
    t.conflicts = conflicts_of(b, n);
    int *order = xmalloc(size, sizeof *order);
    uint64_t *least = xcalloc(size, sizeof *least);
    for (int i = 0; i < n; i++) {
        order[i] = i;
        for (int k = t.first[i]; k < t.end[i]; k++) t.remaining[k] += b[i].size;
    }
    rank(&t, order, n);
    sort_buffers = b;
    qsort(order, (size_t)n, sizeof *order, by_lower);
    enum pack_result result = split(&t, order, n, least, (struct last){ 0, -1 });
    free_all(order, least, t.first, t.end, t.done, t.rank, t.remaining, t.floor, t.conflicts.list,
             t.conflicts.end);
    return result;
}

enum pack_result pack(struct buffer *b, int n, uint64_t capacity, long passes, long nodes)
{
    if (pack_load(b, n) > capacity) return PACK_IMPOSSIBLE;
    if (pack_low(b, n, passes, capacity) <= capacity) return PACK_DONE;
    struct rng rng = rng_for(1, str_of("pack"));
    long used = 0;
    for (long most = 2000; nodes == 0 || used < nodes; most *= 4)   /* luck varies: half goes to restarts */
        for (int how = 0; how < 2 * ORDERS; how++) {
            bool blur = how >= ORDERS;
            long each = blur ? 1000 + most / 16 : most;
            for (long spent = 0; spent < most && (nodes == 0 || used < nodes); spent += each, used += each) {
                enum pack_result r = search(b, n, capacity, how % ORDERS, blur ? &rng : NULL, each);
                if (r != PACK_GAVE_UP) return r;
            }
        }
    return PACK_GAVE_UP;
}
