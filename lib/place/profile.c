/* profile.c - see profile.h.  Rows of one key stand together; tiers are bit masks over the operands. */
#include "place/profile.h"
#include "place/plan.h"
#include "base/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const profile_modes[PROFILE_MODES] = { "direct", "streamed", "staged" };
static const char *const kinds[] = { "real", "emulated", "simulated" };
static const char *const uniform[] = { "threads", "tier", "machine" };

struct row { uint64_t slow; struct choice c; int nin, nout; };
struct rows { struct row *row; size_t n, cap; };
struct timed_copy { uint64_t bytes; double seconds; };
struct copies { struct timed_copy *copy; size_t n, cap; };
struct lost { double part[2]; bool known[2]; };          /* beside copies to slow, to fast memory */

struct profile {
    char *file;
    struct intern keys;
    struct rows *rows;                                   /* by key */
    size_t caprows;
    struct copies copies[2];                             /* to slow, to fast */
    struct lost lost, *of_op;                            /* of all kernels; by operator */
    struct intern ops;
    size_t capops;
    int kind;
};

/* ---- reading ---- */

uint64_t profile_slow(csv *t, int in, int out)
{
    uint64_t slow = 0;
    size_t n = 0;
    for (int outputs = 0; outputs < 2; outputs++) {
        int col = outputs ? out : in;
        str s = csv_str(t, col);
        for (size_t i = 0; i < s.n; i++, n++) {
            if (s.s[i] != 'D' && (s.s[i] != 'P' || n >= 64))
                csv_die(t, col, "one letter for each operand: D, or of the first 64 P");
            if (s.s[i] == 'P') slow |= (uint64_t)1 << n;
        }
    }
    return slow;
}

static int word(csv *t, int col, const char *const *words, int n, const char *expected)
{
    for (int i = 0; i < n; i++)
        if (str_is(csv_str(t, col), words[i])) return i;
    csv_die(t, col, expected);
}

static double seconds_of(csv *t, int col)
{
    double v = csv_num(t, col);
    if (!(v >= 0 && v < 1e9)) csv_die(t, col, "a time in seconds");
    return v;
}

static void add_copy(struct copies *c, uint64_t bytes, double seconds)
{
    size_t i = 0;
    while (i < c->n && c->copy[i].bytes < bytes) i++;
    if (i == c->n || c->copy[i].bytes != bytes) {
        c->copy = grow(c->copy, c->n + 1, &c->cap, sizeof *c->copy);
        memmove(c->copy + i + 1, c->copy + i, (c->n - i) * sizeof *c->copy);
        c->n++;
    }
    c->copy[i] = (struct timed_copy){ bytes, seconds };
}

/* a copy takes no longer than that of more bytes: where a table says so, others had the device */
static void steady(struct copies *c)
{
    for (size_t i = c->n; i-- > 1;)
        if (c->copy[i - 1].seconds > c->copy[i].seconds) c->copy[i - 1].seconds = c->copy[i].seconds;
}

/* "Interference", of all kernels, or "Interference OPERATOR" */
static bool is_interference(str key, str *op)
{
    static const char head[] = PROFILE_INTERFERENCE;
    size_t n = sizeof head - 1;
    if (key.n < n || memcmp(key.s, head, n) != 0 || (key.n > n && key.s[n] != ' ')) return false;
    *op = key.n > n ? (str){ key.s + n + 1, key.n - n - 1 } : (str){ key.s, 0 };
    return true;
}

static void add_lost(struct profile *p, str op, bool to_fast, double part)
{
    struct lost *lost = &p->lost;
    if (op.n > 0) {
        uint32_t k = intern(&p->ops, op);
        size_t old = p->capops;
        p->of_op = grow(p->of_op, (size_t)k + 1, &p->capops, sizeof *p->of_op);
        if (p->capops > old) memset(p->of_op + old, 0, (p->capops - old) * sizeof *p->of_op);
        lost = &p->of_op[k];
    }
    lost->part[to_fast] = part;
    lost->known[to_fast] = true;
}

static void add_row(struct profile *p, str key, struct row row)
{
    uint32_t k = intern(&p->keys, key);
    if (k == p->keys.n - 1 && k >= p->caprows) {
        size_t old = p->caprows;
        p->rows = grow(p->rows, (size_t)k + 1, &p->caprows, sizeof *p->rows);
        memset(p->rows + old, 0, (p->caprows - old) * sizeof *p->rows);
    }
    struct rows *r = &p->rows[k];
    size_t i = 0;
    while (i < r->n && !(r->row[i].slow == row.slow && r->row[i].c.mode == row.c.mode)) i++;
    if (i == r->n) r->row = grow(r->row, ++r->n, &r->cap, sizeof *r->row);
    r->row[i] = row;
}

static bool is_move(str key, uint64_t *bytes)
{
    static const char head[] = "Move ";
    size_t n = sizeof head - 1;
    if (key.n <= n || memcmp(key.s, head, n) != 0) return false;
    *bytes = 0;
    for (size_t i = n; i < key.n; i++) {
        if (key.s[i] < '0' || key.s[i] > '9' || *bytes > (uint64_t)1 << 56) return false;
        *bytes = *bytes * 10 + (uint64_t)(key.s[i] - '0');
    }
    return *bytes > 0;
}

/* columns that name the setting must not vary */
static void check_uniform(csv *t, const int *col, struct arena *text, const char **seen)
{
    for (size_t i = 0; i < sizeof uniform / sizeof *uniform; i++) {
        if (col[i] < 0) continue;
        if (!seen[i]) seen[i] = csv_cstr(t, col[i], text);
        else if (!str_is(csv_str(t, col[i]), seen[i]))
            die_at(csv_file(t), csv_line(t),
                   "column '%s' changes from '%s' to '%.*s': these are tables of different settings", uniform[i],
                   seen[i], (int)csv_str(t, col[i]).n, csv_str(t, col[i]).s);
    }
}

struct profile *profile_read(const char *path)
{
    struct profile *p = xcalloc(1, sizeof *p);
    p->file = xstrdup(path);
    csv *t = csv_open(path);
    int key = csv_need(t, "key"), in = csv_need(t, "in_tiers"), out = csv_need(t, "out_tiers"),
        mode = csv_find(t, "mode");
    int staging = csv_find(t, "staging_bytes"), seconds = csv_need(t, "time_seconds"), kind = csv_find(t, "kind");
    int setting[sizeof uniform / sizeof *uniform];
    for (size_t i = 0; i < sizeof uniform / sizeof *uniform; i++) setting[i] = csv_find(t, uniform[i]);
    const char *seen[sizeof uniform / sizeof *uniform] = { 0 };
    struct arena text = { 0 };
    while (csv_next(t)) {
        check_uniform(t, setting, &text, seen);
        struct row r = { .nin = (int)csv_str(t, in).n, .nout = (int)csv_str(t, out).n };
        r.slow = profile_slow(t, in, out);
        if (mode >= 0 && csv_has(t, mode))
            r.c.mode = word(t, mode, profile_modes, PROFILE_MODES, "one of direct, streamed, staged");
        double bytes = staging >= 0 ? csv_num_or(t, staging, 0) : 0;
        if (!(bytes >= 0 && bytes < 1e15)) csv_die(t, staging, "a number of bytes");
        r.c.staging = (uint64_t)bytes;
        r.c.seconds = seconds_of(t, seconds);
        int k = kind >= 0 && csv_has(t, kind) ? word(t, kind, kinds, 3, "one of real, emulated, simulated") : 0;
        if (k > p->kind) p->kind = k;
        uint64_t size = 0;
        str op;
        bool interference = is_interference(csv_str(t, key), &op), copy = is_move(csv_str(t, key), &size);
        bool one_way = r.nin == 1 && r.nout == 1 && (r.slow == 1 || r.slow == 2);
        if (interference && r.c.seconds > PROFILE_LOST_MOST) {
            warn("%s:%zu: kernels lose %.3g s by a second of copies, the machine was busy: counted as %g",
                csv_file(t), csv_line(t), r.c.seconds, PROFILE_LOST_MOST);
            r.c.seconds = PROFILE_LOST_MOST;
        }
        if (!interference && !copy) add_row(p, csv_str(t, key), r);
        else if (one_way && interference) add_lost(p, op, r.slow == 1, r.c.seconds);
        else if (one_way) add_copy(&p->copies[r.slow == 1], size, r.c.seconds);
        else csv_die(t, in, "D of a copy from fast to slow memory (out_tiers P), or P of one back (out_tiers D)");
    }
    csv_close(t);
    arena_free(&text);
    for (int i = 0; i < 2; i++) steady(&p->copies[i]);
    return p;
}

void profile_free(struct profile *p)
{
    if (!p) return;
    for (size_t i = 0; i < p->keys.n; i++) free(p->rows[i].row);
    free(p->rows);
    for (int i = 0; i < 2; i++) free(p->copies[i].copy);
    intern_free(&p->keys);
    intern_free(&p->ops);
    free(p->of_op);
    free(p->file);
    free(p);
}

const char *profile_kind(const struct profile *p)
{
    return kinds[p->kind];
}

/* ---- lookup ---- */

static const struct rows *rows_of(const struct profile *p, const char *key)
{
    long k = intern_find(&p->keys, str_of(key));
    return k < 0 ? NULL : &p->rows[k];
}

static const struct row *find(const struct rows *r, uint64_t slow, int mode)
{
    const struct row *best = NULL;
    for (size_t i = 0; r && i < r->n; i++) {
        const struct row *x = &r->row[i];
        if (x->slow == slow && (mode < 0 || x->c.mode == mode) && (!best || x->c.seconds < best->c.seconds)) best = x;
    }
    return best;
}

bool profile_find(const struct profile *p, const char *key, uint64_t slow, int mode, struct choice *c)
{
    const struct row *r = find(rows_of(p, key), slow, mode);
    if (!r) return false;
    *c = r->c;
    return true;
}

static _Noreturn void no_row(const struct profile *p, const struct graph *g, int node, const char *what)
{
    die("%s: no row for kernel '%s' (node %d '%s') with %s", p->file, g->kernel[g->node[node].kernel].key, node,
        g->node[node].name, what);
}

/* the placement `set` of slots in one mode: its own row, or the sum of single penalties; false when neither is there */
static bool estimate(const struct rows *r, const uint64_t *operands, int k, uint64_t set, int mode,
                     const struct row *fast, struct choice *c)
{
    uint64_t slow = 0;
    for (int s = 0; s < k; s++)
        if (set >> s & 1) slow |= operands[s];
    const struct row *own = find(r, slow, mode);
    if (own) {
        *c = own->c;
        return true;
    }
    *c = (struct choice){ fast->c.seconds, 0, mode };
    for (int s = 0; s < k; s++) {
        if (!(set >> s & 1)) continue;
        const struct row *one = find(r, operands[s], mode);
        if (!one) return false;
        c->seconds += one->c.seconds - fast->c.seconds;
        c->staging += one->c.staging;
    }
    if (c->seconds < 0) c->seconds = 0;
    return true;
}

/* all operands fast: the fastest row whose staging leaves room for them, so that a workspace never drives out what the
 * kernel works on; where none does, the one of least staging */
static struct choice all_fast(const struct rows *r, uint64_t workspace, uint64_t operands, uint64_t limit)
{
    const struct row *best = NULL, *least = NULL;
    for (size_t i = 0; i < r->n; i++) {
        const struct row *x = &r->row[i];
        if (x->slow) continue;
        if (!least || x->c.staging < least->c.staging) least = x;
        if (operands <= limit && x->c.staging <= limit - operands && (!best || x->c.seconds < best->c.seconds))
            best = x;
    }
    if (!best) best = least;
    return best->c.staging + workspace <= limit ? best->c : (struct choice){ INFINITY, 0, 0 };
}

/* what tensors that cannot move take at a node */
static uint64_t small_bytes(const struct graph *g, int node)
{
    uint64_t sum = 0;
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role == ROLE_INTER && t->first <= node && node <= t->last && !graph_movable(g, i))
            sum += plan_size(t->bytes);
    }
    return sum;
}

void profile_table(const struct profile *p, const struct graph *g, int node, uint32_t offloaded, uint64_t limit,
                   struct choice *table)
{
    const struct node *n = &g->node[node];
    const struct rows *r = rows_of(p, g->kernel[n->kernel].key);
    if (!r) no_row(p, g, node, "any placement");
    if (r->row[0].nin != n->nin || r->row[0].nout != n->nout) no_row(p, g, node, "as many tiers as operands");
    const struct row *fast = find(r, 0, -1);
    if (!fast) no_row(p, g, node, "all operands in fast memory");
    int slot[GRAPH_SLOTS], k = node_slots(g, node, slot);
    uint64_t operands[GRAPH_SLOTS + 32] = { 0 }, all = n->workspace, always = 0;
    for (int s = 0; s < k; s++) {
        all += g->tensor[slot[s]].bytes;
        for (int i = 0; i < n->nin + n->nout; i++)
            if (n->operand[i] == slot[s]) operands[s] |= (uint64_t)1 << i;
    }
    int slots = k;                                       /* and the offloaded, which are slow in every set */
    for (int i = 0; i < n->nin + n->nout && i < 32; i++) {
        uint32_t same = node_operands(g, node, graph_home(g, n->operand[i]));
        if (!(offloaded & same) || same & ((1u << i) - 1)) continue;
        operands[slots] = same;
        always |= (uint64_t)1 << slots++;
    }
    if (!always) table[0] = all_fast(r, n->workspace, all, limit);
    uint64_t small = small_bytes(g, node);
    for (unsigned set = !always; set < 1u << k; set++) {
        table[set] = (struct choice){ INFINITY, 0, 0 };
        bool known = false, leaves_room = false;         /* for the operands that are fast */
        uint64_t fast_bytes = small + n->workspace;
        for (int s = 0; s < k; s++)
            if (!(set >> s & 1)) fast_bytes += plan_size(g->tensor[slot[s]].bytes);
        for (int mode = 0; mode < PROFILE_MODES; mode++) {
            struct choice c;
            if (!estimate(r, operands, slots, set | always, mode, fast, &c)) continue;
            known = true;
            c.seconds = fmax(c.seconds, fast->c.seconds);   /* below it is noise, of which many rows offer a choice */
            bool fits = fast_bytes <= limit && plan_size(c.staging) <= limit - fast_bytes;
            if (c.staging + n->workspace > limit || fits < leaves_room) continue;
            if (fits > leaves_room || c.seconds < table[set].seconds) table[set] = c;
            leaves_room = fits;
        }
        if (!known && !set) no_row(p, g, node, "its parameters in slow memory, see --offload of place-profile");
        if (!known && (set & (set - 1)) == 0) no_row(p, g, node, "one operand in slow memory");
    }
}

double profile_move(const struct profile *p, uint64_t bytes, bool to_fast)
{
    const struct copies *c = &p->copies[to_fast];
    if (c->n == 0)
        die("%s: no Move row from %s memory, so copies cannot be planned", p->file,
            to_fast ? "slow to fast" : "fast to slow");
    size_t i = 0;
    while (i < c->n && c->copy[i].bytes < bytes) i++;
    const struct timed_copy *hi = &c->copy[i < c->n ? i : c->n - 1];
    if (i == 0 || c->n == 1) return hi->seconds * (double)bytes / (double)hi->bytes;
    const struct timed_copy *lo = hi - 1;
    double slope = (hi->seconds - lo->seconds) / (double)(hi->bytes - lo->bytes);
    if (slope < 0) slope = 0;
    return lo->seconds + slope * (double)(bytes - lo->bytes);
}

double profile_copies(const struct profile *p, const struct graph *g, int node, uint32_t operands)
{
    const struct node *n = &g->node[node];
    double sum = 0;
    for (int i = 0; i < n->nin + n->nout && i < 32; i++)
        if (operands >> i & 1) sum += profile_move(p, g->tensor[n->operand[i]].bytes, i < n->nin);
    return sum;
}

static double mean(const struct lost *l)
{
    int n = l->known[0] + l->known[1];
    return n > 0 ? (l->part[0] + l->part[1]) / n : 0;
}

double profile_lost(const struct profile *p, const struct graph *g, int node)
{
    long op = intern_find(&p->ops, str_of(g->node[node].op));
    return mean(op < 0 ? &p->lost : &p->of_op[op]);
}

/* ---- writing ---- */

void profile_tiers(struct buf *b, const struct graph *g, int kernel, uint32_t slow, bool outputs)
{
    const struct node *n = &g->node[g->kernel[kernel].node];
    for (int i = outputs ? n->nin : 0; i < n->nin + (outputs ? n->nout : 0); i++)
        buf_char(b, i < 32 && slow >> i & 1 ? 'P' : 'D');
}

static void tail(csvw *w, int mode, uint64_t staging, double seconds, long runs, const char *method, const char *kind)
{
    csvw_cstr(w, profile_modes[mode]);
    csvw_int(w, (int64_t)staging);
    csvw_num(w, seconds);
    csvw_int(w, runs);
    csvw_cstr(w, method);
    csvw_cstr(w, kind);
}

void profile_row(csvw *w, const struct graph *g, int kernel, uint32_t slow, int mode, uint64_t staging, double seconds,
                 long runs, const char *method, const char *kind)
{
    const struct graph_kernel *k = &g->kernel[kernel];
    struct buf tiers = { 0 };
    csvw_cstr(w, k->key);
    csvw_cstr(w, g->node[k->node].op);
    csvw_cstr(w, k->shapes);
    for (int outputs = 0; outputs < 2; outputs++) {
        tiers.n = 0;
        profile_tiers(&tiers, g, kernel, slow, outputs);
        csvw_str(w, (str){ tiers.s, tiers.n });
    }
    free(tiers.s);
    tail(w, mode, staging, seconds, runs, method, kind);
}

static void copy_tiers(csvw *w, bool to_fast)
{
    csvw_cstr(w, to_fast ? "P" : "D");
    csvw_cstr(w, to_fast ? "D" : "P");
}

void profile_interference_row(csvw *w, const char *op, bool to_fast, double lost, long runs, const char *method,
                              const char *kind)
{
    if (op) csvw_format(w, "%s %s", PROFILE_INTERFERENCE, op);
    else csvw_cstr(w, PROFILE_INTERFERENCE);
    csvw_cstr(w, PROFILE_INTERFERENCE);
    csvw_empty(w);
    copy_tiers(w, to_fast);
    tail(w, 0, 0, lost, runs, method, kind);
}

void profile_move_row(csvw *w, uint64_t bytes, bool to_fast, double seconds, long runs, const char *method,
                      const char *kind)
{
    csvw_format(w, "Move %llu", (unsigned long long)bytes);
    csvw_cstr(w, "Move");
    csvw_int(w, (int64_t)bytes);
    copy_tiers(w, to_fast);
    tail(w, 0, 0, seconds, runs, method, kind);
}
