/* lp.c - see lp.h */
#include "place/lp.h"
#include "base/checked.h"
#include "base/num.h"
#include <stdarg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct text { FILE *f; int items; double unit; };        /* breaks the line every few items */

static void term(struct text *o, double by, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void term(struct text *o, double by, const char *fmt, ...)
{
    if (by == 0) return;
    char number[NUM_MAX];
    size_t n = num_print(number, fabs(by) * o->unit);
    fprintf(o->f, " %c %.*s ", by < 0 ? '-' : '+', (int)n, number);
    va_list ap;
    va_start(ap, fmt);
    vfprintf(o->f, fmt, ap);
    va_end(ap);
    if (++o->items % 8 == 0) fputs("\n  ", o->f);
}

static void end_row(struct text *o, const char *relation, double right)
{
    char number[NUM_MAX];
    size_t n = num_print(number, right);
    fprintf(o->f, " %s %.*s\n", relation, (int)n, number);
    o->items = 0;
}

/* arcs of the path of tensor t, gadget j (from 1) to j + 1: 'A' never copied, 'D' with a copy, 'P' slow only.
 * "In fast memory at use j": the arcs that enter A_j or D_j. */
static void fast_at(struct text *o, const struct placing *p, int t, int use, double by)
{
    int j = use - p->use_end[t] + 1;
    if (!p->moves) {
        term(o, by, "x%d", t);
        return;
    }
    if (j == 1) {
        term(o, by, "e%d_S_A1", t);
        return;
    }
    term(o, by, "e%d_A%d_A%d", t, j - 1, j);
    if (j > 2) term(o, by, "e%d_D%d_D%d", t, j - 1, j);
    term(o, by, "e%d_P%d_D%d", t, j, j);
}

/* stays in fast memory from use to the next */
static void stays_after(struct text *o, const struct placing *p, int t, int use, double by)
{
    int j = use - p->use_end[t] + 1;
    if (!p->moves) {
        term(o, by, "x%d", t);
        return;
    }
    term(o, by, "e%d_A%d_A%d", t, j, j + 1);
    if (j > 1) term(o, by, "e%d_D%d_D%d", t, j, j + 1);
}

/* ---- moves beside nodes ---- */

/* A move that may be made: a fetch for a use, or the write-out after one, and the nodes beside which it may be under
 * way.  At those from `first` to `last` it holds bytes of fast memory; at those from `free` to the use of a write-out
 * the tensor is there anyway.  Where a window is cut because it is long enough for several such moves, what is left out
 * is taken to be free for a move that holds the bytes at the edge: the model stays a relaxation. */
enum cut { WHOLE, CUT_FREE, CUT_HELD };                  /* at the nodes where the tensor is there anyway, or beyond */
struct window { int t, use, free, first, last, edge; bool fetch; enum cut cut; double seconds; };

struct windows { struct window *w; int n; };

static double beside_part(const struct placing *p, const struct window *w, int n)   /* of the move, at most */
{
    return fmin(p->spare[n] / w->seconds, 1);
}

static void add_window(const struct placing *p, struct windows *all, int t, int use, bool fetch)
{
    static const double LONG = 3;                        /* times the move */
    int n = p->use_node[use], made = p->use_node[p->use_end[t]];
    struct window w = { t, use, n + 1, n, n - 1, 0, fetch, WHOLE, fetch ? p->fetch[t] : p->write[t] };
    double sum = 0;
    int b = n;
    if (!fetch) {
        for (b = n + 1; b > made + 1 && sum < LONG; b--) sum += beside_part(p, &w, b - 1);
        w.free = b;
        w.first = n + 1;
        w.last = n;
        int end = p->use_node[use + 1];
        for (sum = 0; w.last + 1 < end && sum < LONG; w.last++) sum += beside_part(p, &w, w.last + 1);
        w.edge = w.last;
        w.cut = b > made + 1 ? CUT_FREE : w.last + 1 < end ? CUT_HELD : WHOLE;
    } else {
        for (; b > made + 1 && sum < LONG; b--) sum += beside_part(p, &w, b - 1);
        w.first = w.edge = b;
        w.cut = b > made + 1 ? CUT_HELD : WHOLE;
    }
    all->w[all->n++] = w;
}

static struct windows windows_of(const struct placing *p)
{
    struct windows all = { xmalloc(size_mul((size_t)p->uses + 1, 2), sizeof *all.w), 0 };
    for (int t = 0; p->beside && t < p->tensors; t++)
        for (int u = p->use_end[t]; u + 1 < p->use_end[t + 1]; u++) {
            add_window(p, &all, t, u, false);
            add_window(p, &all, t, u + 1, true);
        }
    return all;
}

static bool holds(const struct window *w, int n) { return w->first <= n && n <= w->last; }

/* the arc that says that the move is made */
static void made_arc(struct text *o, const struct placing *p, const struct window *w, double by)
{
    int j = w->use - p->use_end[w->t] + 1;
    if (w->fetch) term(o, by, "e%d_P%d_D%d", w->t, j, j);
    else term(o, by, "e%d_A%d_P%d", w->t, j, j + 1);
}

/* h: the move holds the bytes at a node; w: the part of it made beside the node; z: the part for which the step stands
 * still; c: the part before a window that was cut */
static void window_rows(struct text *o, const struct placing *p, const struct window *w)
{
    char d = w->fetch ? 'f' : 'w';
    int from = w->fetch ? w->first : w->free;
    for (int n = from; n <= w->last; n++) term(o, 1, "w%c%d_%d", d, w->use, n);
    if (w->cut) term(o, 1, "c%c%d", d, w->use);
    term(o, 1, "z%c%d", d, w->use);
    made_arc(o, p, w, -1);
    end_row(o, "=", 0);
    if (w->cut == CUT_HELD) {
        term(o, 1, "c%c%d", d, w->use);
        term(o, -1, "h%c%d_%d", d, w->use, w->edge);
        end_row(o, "<=", 0);
    }
    for (int n = from; n <= w->last; n++) {
        term(o, 1, "w%c%d_%d", d, w->use, n);
        if (holds(w, n)) term(o, -beside_part(p, w, n), "h%c%d_%d", d, w->use, n);
        else made_arc(o, p, w, -beside_part(p, w, n));
        end_row(o, "<=", 0);
    }
    for (int n = w->first; n <= w->last; n++) {          /* without a gap to the use */
        int next = w->fetch ? n + 1 : n - 1;
        term(o, 1, "h%c%d_%d", d, w->use, n);
        if (holds(w, next)) term(o, -1, "h%c%d_%d", d, w->use, next);
        else made_arc(o, p, w, -1);
        end_row(o, "<=", 0);
    }
}

/* moves take no more of the channel beside a node than it leaves; in units of 1 ms */
static void channel_row(struct text *o, const struct placing *p, const struct windows *all, int n)
{
    bool any = false;
    for (int i = 0; i < all->n; i++) {
        const struct window *w = &all->w[i];
        if (n < (w->fetch ? w->first : w->free) || n > w->last) continue;
        term(o, 1e3 * w->seconds, "w%c%d_%d", w->fetch ? 'f' : 'w', w->use, n);
        any = true;
    }
    if (!any) return;
    int k = p->slot_end[n + 1] - p->slot_end[n];
    for (int set = 0; set < 1 << k; set++) {
        int c = p->choice_end[n] + set;
        double spare = -1e3 * choice_leaves(p, n, c);
        if (k == 0) term(o, spare, "one");
        else term(o, spare, "y%d_%d", n, set);
    }
    end_row(o, "<=", 0);
}

/* ---- rows of all models ---- */

static void objective(struct text *o, const struct placing *p, const struct windows *all)
{
    double fixed = 0;                                    /* kernels that nothing can be decided about */
    for (int n = 0; n < p->nodes; n++) {
        int k = p->slot_end[n + 1] - p->slot_end[n];
        const struct choice *c = p->choice + p->choice_end[n];
        if (k == 0) fixed += c->seconds;
        for (int set = 0; k > 0 && set < 1 << k; set++) term(o, c[set].seconds, "y%d_%d", n, set);
    }
    term(o, fixed, "one");
    double least = 1;                                    /* that a second of moves costs beside any node */
    for (int n = 0; n < p->nodes; n++) least = fmin(least, p->phi[n]);
    for (int i = 0; i < all->n; i++) {
        const struct window *w = &all->w[i];
        char d = w->fetch ? 'f' : 'w';
        term(o, w->seconds, "z%c%d", d, w->use);
        if (w->cut) term(o, least * w->seconds, "c%c%d", d, w->use);
        for (int n = w->fetch ? w->first : w->free; n <= w->last; n++)
            term(o, p->phi[n] * w->seconds, "w%c%d_%d", d, w->use, n);
    }
    for (int t = 0; p->moves && !p->beside && t < p->tensors; t++) {
        int k = p->use_end[t + 1] - p->use_end[t];
        for (int j = 1; j < k; j++) {
            term(o, p->write[t], "e%d_A%d_P%d", t, j, j + 1);
            term(o, p->fetch[t], "e%d_P%d_D%d", t, j + 1, j + 1);
        }
    }
}

/* what enters a vertex leaves it */
static void path_rows(struct text *o, const struct placing *p, int t)
{
    int k = p->use_end[t + 1] - p->use_end[t];
    term(o, 1, "e%d_S_A1", t);
    term(o, 1, "e%d_S_P1", t);
    end_row(o, "=", 1);
    for (int j = 1; j <= k; j++) {
        bool more = j < k;
        if (j == 1) term(o, -1, "e%d_S_A1", t);
        else term(o, -1, "e%d_A%d_A%d", t, j - 1, j);
        if (more) term(o, 1, "e%d_A%d_A%d", t, j, j + 1);
        if (more) term(o, 1, "e%d_A%d_P%d", t, j, j + 1);
        else term(o, 1, "e%d_A%d_K", t, j);
        end_row(o, "=", 0);
        if (j > 1) {
            if (j > 2) term(o, -1, "e%d_D%d_D%d", t, j - 1, j);
            term(o, -1, "e%d_P%d_D%d", t, j, j);
            if (more) term(o, 1, "e%d_D%d_D%d", t, j, j + 1);
            if (more) term(o, 1, "e%d_D%d_P%d", t, j, j + 1);
            else term(o, 1, "e%d_D%d_K", t, j);
            end_row(o, "=", 0);
        }
        if (j == 1) term(o, -1, "e%d_S_P1", t);
        else {
            term(o, -1, "e%d_P%d_P%d", t, j - 1, j);
            term(o, -1, "e%d_A%d_P%d", t, j - 1, j);
            if (j > 2) term(o, -1, "e%d_D%d_P%d", t, j - 1, j);
            term(o, 1, "e%d_P%d_D%d", t, j, j);
        }
        if (more) term(o, 1, "e%d_P%d_P%d", t, j, j + 1);
        else term(o, 1, "e%d_P%d_K", t, j);
        end_row(o, "=", 0);
    }
}

static void kernel_rows(struct text *o, const struct placing *p, int n)
{
    int k = p->slot_end[n + 1] - p->slot_end[n];
    if (k == 0) return;
    for (int set = 0; set < 1 << k; set++) term(o, 1, "y%d_%d", n, set);
    end_row(o, "=", 1);
    for (int s = 0; s < k; s++) {
        int slot = p->slot_end[n] + s;
        for (int set = 0; set < 1 << k; set++)
            if (!(set >> s & 1)) term(o, 1, "y%d_%d", n, set);
        fast_at(o, p, p->slot_tensor[slot], p->slot_use[slot], -1);
        end_row(o, "=", 0);
    }
}

/* bytes in fast memory at node n, in units of 1 MB to keep the numbers of a size */
static void memory_row(struct text *o, const struct placing *p, const struct windows *all, int n, const int *at)
{
    const double unit = 1e6;
    bool any = false;
    for (int i = 0; i < all->n; i++) {
        const struct window *w = &all->w[i];
        if (holds(w, n)) term(o, p->size[w->t] / unit, "h%c%d_%d", w->fetch ? 'f' : 'w', w->use, n);
    }
    for (int t = 0; t < p->tensors; t++) {
        int u = at[t];
        if (u < p->use_end[t] || u >= p->use_end[t + 1]) continue;
        if (p->use_node[u] == n) fast_at(o, p, t, u, p->size[t] / unit);
        else if (u + 1 < p->use_end[t + 1]) stays_after(o, p, t, u, p->size[t] / unit);
        else continue;
        any = true;
    }
    int k = p->slot_end[n + 1] - p->slot_end[n];
    for (int set = 0; set < 1 << k; set++) {
        double staging = (double)p->choice[p->choice_end[n] + set].staging;
        if (staging == 0) continue;
        if (k == 0) term(o, staging / unit, "one");
        else term(o, staging / unit, "y%d_%d", n, set);
        any = true;
    }
    if (any) end_row(o, "<=", (p->limit[n] - p->base[n]) / unit);
}

static void names(struct text *o, const struct placing *p, const struct windows *all)
{
    for (int i = 0; i < all->n; i++)
        for (int n = all->w[i].first; n <= all->w[i].last; n++)
            fprintf(o->f, " h%c%d_%d\n", all->w[i].fetch ? 'f' : 'w', all->w[i].use, n);
    for (int t = 0; !p->moves && t < p->tensors; t++) fprintf(o->f, " x%d\n", t);
    for (int t = 0; p->moves && t < p->tensors; t++) {
        int k = p->use_end[t + 1] - p->use_end[t];
        fprintf(o->f, " e%d_S_A1 e%d_S_P1 e%d_A%d_K e%d_P%d_K\n", t, t, t, k, t, k);
        if (k > 1) fprintf(o->f, " e%d_D%d_K\n", t, k);
        for (int j = 1; j < k; j++) {
            fprintf(o->f, " e%d_A%d_A%d e%d_A%d_P%d e%d_P%d_P%d e%d_P%d_D%d\n", t, j, j + 1, t, j, j + 1, t, j, j + 1,
                    t, j + 1, j + 1);
            if (j > 1) fprintf(o->f, " e%d_D%d_D%d e%d_D%d_P%d\n", t, j, j + 1, t, j, j + 1);
        }
    }
}

void placing_write_lp(const struct placing *p, FILE *f)
{
    struct text o = { f, 0, LP_UNITS };
    fputs("Minimize\n obj:", f);
    struct windows all = windows_of(p);
    objective(&o, p, &all);
    fputs("\nSubject To\n", f);
    o.items = 0;
    o.unit = 1;
    for (int t = 0; p->moves && t < p->tensors; t++) path_rows(&o, p, t);
    int *at = xmalloc((size_t)p->tensors + 1, sizeof *at);   /* the use of each tensor at or before the node */
    for (int t = 0; t < p->tensors; t++) at[t] = p->use_end[t] - 1;
    for (int n = 0; n < p->nodes; n++) {
        for (int s = p->slot_end[n]; s < p->slot_end[n + 1]; s++) at[p->slot_tensor[s]]++;
        kernel_rows(&o, p, n);
        memory_row(&o, p, &all, n, at);
        channel_row(&o, p, &all, n);
    }
    for (int i = 0; i < all.n; i++) window_rows(&o, p, &all.w[i]);
    free(at);
    fputs("Bounds\n one = 1\nBinaries\n", f);
    names(&o, p, &all);
    free(all.w);
    fputs("End\n", f);
}

/* ---- solutions ---- */

static void one(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void one(FILE *f, const char *fmt, ...)
{
    fputs("0 ", f);
    va_list ap;
    va_start(ap, fmt);
    vfprintf(f, fmt, ap);
    va_end(ap);
    fputs(" 1 0\n", f);
}

void placing_write_start(const struct placing *p, const struct placement *x, FILE *f)
{
    fputs("A plan to start from\n", f);
    for (int t = 0; t < p->tensors; t++) {
        const uint8_t *slow = x->slow + p->use_end[t], *stay = x->stay + p->use_end[t];
        int k = p->use_end[t + 1] - p->use_end[t];
        if (!p->moves) {
            if (!slow[0]) one(f, "x%d", t);
            continue;
        }
        char at = slow[0] ? 'P' : 'A';
        one(f, "e%d_S_%c1", t, at);
        for (int j = 1; j < k; j++) {
            char to = at != 'P' && stay[j - 1] ? at : 'P';
            one(f, "e%d_%c%d_%c%d", t, at, j, to, j + 1);
            at = to;
            if (at != 'P' || slow[j]) continue;
            one(f, "e%d_P%d_D%d", t, j + 1, j + 1);
            at = 'D';
        }
        one(f, "e%d_%c%d_K", t, at, k);
    }
}

/* what the arc or the life that is taken says about the uses of its tensor */
static bool take(const struct placing *p, const char *name, struct placement *x)
{
    int t, from, to;
    char a, b;
    bool arc = sscanf(name, "e%d_%c%d_%c%d", &t, &a, &from, &b, &to) == 5, life = sscanf(name, "x%d", &t) == 1;
    if (!arc && strncmp(name, "e", 1) == 0 && sscanf(name, "e%d_S_%c%d", &t, &b, &to) == 3) {
        arc = true;
        a = 'S';
        from = 0;
    }
    if (!arc && !life) return true;                      /* a kernel, or the end of a path */
    if (t < 0 || t >= p->tensors) return false;
    int first = p->use_end[t], k = p->use_end[t + 1] - first;
    for (int j = 0; life && j < k; j++) {
        x->slow[first + j] = 0;
        x->stay[first + j] = j + 1 < k;
    }
    if (life) return true;
    if (to < 1 || to > k || from < 0 || from > k) return false;
    if (b == 'P') return true;
    x->slow[first + to - 1] = 0;
    if (a == b && from >= 1) x->stay[first + from - 1] = 1;
    return true;
}

bool placing_read_answer(const struct placing *p, FILE *f, struct placement *x)
{
    char line[256], name[64];
    double value;
    bool good = fgets(line, sizeof line, f) && strstr(line, "objective value");
    while (good && fgets(line, sizeof line, f)) {
        const char *at = line + strspn(line, " *");
        if (sscanf(at, "%*d %63s %lf", name, &value) == 2 && value > 0.5) good = take(p, name, x);
    }
    placement_settle(p, x);
    return good;
}
