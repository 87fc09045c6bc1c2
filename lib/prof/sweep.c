/* sweep.c - see sweep.h */
#include "prof/sweep.h"
#include "base/checked.h"
#include "base/message.h"
#include "base/rng.h"
#include <stdlib.h>
#include <string.h>

struct key {
    enum key_class class;
    str name;
    uint64_t hash;                                       /* its random word */
    uint32_t count;                                      /* intervals that hold it active */
    uint32_t at;                                         /* its place in the list of active keys */
};
struct set {                                             /* number 0 is the empty set */
    uint64_t hash;
    uint32_t *member, n;
    int64_t total, lo, hi;
    uint64_t runs;
    uint64_t *hook;                                      /* SWEEP_HOOKS counts before, as many begun; NULL: none */
};
/* set + 1, 0 is free; the upper half of its hash, so that a slot of another set is passed without a look at that */
struct slot { uint32_t set, tag; };
struct set_names { const char *of[KEY_CLASSES]; };
struct open {                                            /* an interval that has begun; heap by end */
    int64_t end;
    uint32_t key, also, thread;                          /* thread: KEY_NONE unless an operation */
    uint32_t serial;
};
struct op {
    int64_t start, end;
    uint32_t key, serial;
};
struct stack {                                           /* open operations of a thread, the last one is innermost */
    struct op *op;
    size_t n, cap;
};
struct change {
    uint32_t from, to;
    uint64_t count;                                      /* 0: free */
};
struct sweep {
    struct intern names[KEY_CLASSES];
    uint32_t *number[KEY_CLASSES];                       /* name -> key */
    size_t number_cap[KEY_CLASSES];
    struct key *key;
    size_t nkey, keycap;
    uint32_t *active;                                    /* the current set */
    size_t nactive, activecap;
    uint64_t hash;
    bool changed;                                        /* since the set was last looked up */
    struct set *set;
    size_t nset, setcap;
    struct set_names *names_of;                          /* of the sets, when finished */
    struct slot *slot;                                   /* by hash */
    size_t nslot;
    uint32_t current;                                    /* set before `now` */
    int64_t now, last_start;
    struct open *heap;
    size_t nheap, heapcap;
    struct stack *stack;
    size_t nstack, stackcap;
    uint32_t serial;
    uint64_t misnested;
    bool want_changes;
    uint64_t pending[SWEEP_HOOKS];                       /* hooks at `now`, whose set is not yet known */
    bool any_pending;
    struct change *change;
    size_t nchange, changeslots;
    struct arena arena;
};

sweep *sweep_new(bool transitions)
{
    sweep *s = xcalloc(1, sizeof *s);
    s->want_changes = transitions;
    s->now = s->last_start = INT64_MIN;
    s->nslot = 64;
    s->slot = xcalloc(s->nslot, sizeof *s->slot);
    s->set = grow(NULL, 1, &s->setcap, sizeof *s->set);
    s->set[s->nset++] = (struct set){ 0 };
    s->changeslots = 64;
    s->change = xcalloc(s->changeslots, sizeof *s->change);
    return s;
}

void sweep_free(sweep *s)
{
    for (int c = 0; c < KEY_CLASSES; c++) {
        intern_free(&s->names[c]);
        free(s->number[c]);
    }
    for (size_t i = 0; i < s->nstack; i++) free(s->stack[i].op);
    free_all(s->stack, s->key, s->active, s->set, s->slot, s->names_of, s->heap, s->change);
    arena_free(&s->arena);
    free(s);
}

uint32_t sweep_key(sweep *s, enum key_class class, str name)
{
    struct intern *names = &s->names[class];
    size_t known = names->n;
    uint32_t i = intern(names, name);
    if (names->n == known) return s->number[class][i];
    s->number[class] = grow(s->number[class], names->n, &s->number_cap[class], sizeof(uint32_t));
    s->key = grow(s->key, s->nkey + 1, &s->keycap, sizeof *s->key);
    struct rng r = rng_for((uint64_t)class, names->name[i]);
    s->key[s->nkey] = (struct key){ .class = class, .name = names->name[i], .hash = rng_u64(&r) };
    return s->number[class][i] = (uint32_t)s->nkey++;
}

/* ---- the current set */

static void activate(sweep *s, uint32_t k)
{
    struct key *key = &s->key[k];
    if (key->count++) return;
    s->active = grow(s->active, s->nactive + 1, &s->activecap, sizeof *s->active);
    key->at = (uint32_t)s->nactive;
    s->active[s->nactive++] = k;
    s->hash ^= key->hash;
    s->changed = true;
}

static void deactivate(sweep *s, uint32_t k)
{
    struct key *key = &s->key[k];
    if (--key->count) return;
    uint32_t last = s->active[--s->nactive];
    s->active[key->at] = last;
    s->key[last].at = key->at;
    s->hash ^= key->hash;
    s->changed = true;
}

static bool is_current(const sweep *s, const struct set *set)
{
    if (set->hash != s->hash || set->n != s->nactive) return false;
    for (uint32_t i = 0; i < set->n; i++) if (!s->key[set->member[i]].count) return false;
    return true;
}

static void rehash_sets(sweep *s)
{
    s->nslot *= 2;
    s->slot = xrealloc(s->slot, s->nslot, sizeof *s->slot);
    memset(s->slot, 0, s->nslot * sizeof *s->slot);
    for (size_t i = 1; i < s->nset; i++) {
        size_t h = s->set[i].hash & (s->nslot - 1);
        while (s->slot[h].set) h = (h + 1) & (s->nslot - 1);
        s->slot[h] = (struct slot){ (uint32_t)i + 1, (uint32_t)(s->set[i].hash >> 32) };
    }
}

static uint32_t current_set(sweep *s)
{
    if (!s->nactive) return 0;
    size_t h = s->hash & (s->nslot - 1);
    uint32_t tag = (uint32_t)(s->hash >> 32);
    for (; s->slot[h].set; h = (h + 1) & (s->nslot - 1))
        if (s->slot[h].tag == tag && is_current(s, &s->set[s->slot[h].set - 1])) return s->slot[h].set - 1;
    if (s->nset >= UINT32_MAX / 4) die("more than %zu distinct sets of categories", s->nset);
    s->set = grow(s->set, s->nset + 1, &s->setcap, sizeof *s->set);
    uint32_t *member = arena_get(&s->arena, size_mul(s->nactive, sizeof *member));
    memcpy(member, s->active, s->nactive * sizeof *member);
    s->set[s->nset] = (struct set){ .hash = s->hash, .member = member, .n = (uint32_t)s->nactive, .lo = s->now };
    s->slot[h] = (struct slot){ (uint32_t)++s->nset, tag };
    if (s->nset * 2 > s->nslot) rehash_sets(s);
    return (uint32_t)s->nset - 1;
}

/* ---- transitions */

static struct change *find_change(struct change *table, size_t slots, uint32_t from, uint32_t to)
{
    size_t h = (((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15u >> 20) & (slots - 1);
    while (table[h].count && (table[h].from != from || table[h].to != to)) h = (h + 1) & (slots - 1);
    return &table[h];
}

static void count_change(sweep *s, uint32_t from, uint32_t to)
{
    if (s->nchange * 2 >= s->changeslots) {
        struct change *bigger = xcalloc(s->changeslots * 2, sizeof *bigger);
        for (size_t i = 0; i < s->changeslots; i++)
            if (s->change[i].count)
                *find_change(bigger, s->changeslots * 2, s->change[i].from, s->change[i].to) = s->change[i];
        free(s->change);
        s->change = bigger;
        s->changeslots *= 2;
    }
    struct change *c = find_change(s->change, s->changeslots, from, to);
    if (!c->count) {
        *c = (struct change){ .from = from, .to = to };
        s->nchange++;
    }
    c->count++;
}

/* ---- time */

static uint64_t *hooks_of(sweep *s, uint32_t set)
{
    if (!s->set[set].hook) {
        s->set[set].hook = arena_get(&s->arena, 2 * SWEEP_HOOKS * sizeof(uint64_t));
        memset(s->set[set].hook, 0, 2 * SWEEP_HOOKS * sizeof(uint64_t));
    }
    return s->set[set].hook;
}

static void settle_hooks(sweep *s, uint32_t before, uint32_t after)
{
    uint64_t *b = hooks_of(s, before), *a = hooks_of(s, after) + SWEEP_HOOKS;
    for (int h = 0; h < SWEEP_HOOKS; h++) {
        b[h] += s->pending[h];
        a[h] += s->pending[h];
        s->pending[h] = 0;
    }
    s->any_pending = false;
}

void sweep_hook(sweep *s, uint32_t hook)
{
    s->pending[hook]++;
    s->any_pending = true;
}

/* All that happens at s->now has been applied, nothing happens before t: the set of this stretch is known. */
static inline void advance(sweep *s, int64_t t)
{
    if (t == s->now) return;
    uint32_t set = s->current, before = set;
    if (s->changed) {
        set = current_set(s);
        s->changed = false;
        if (set != s->current) {
            if (s->want_changes) count_change(s, s->current, set);
            s->set[set].runs++;
            s->current = set;
        }
    }
    if (s->any_pending) settle_hooks(s, before, set);
    if (set) {
        s->set[set].total += t - s->now;
        s->set[set].hi = t;
    }
    s->now = t;
}

static void push(sweep *s, struct open o)
{
    s->heap = grow(s->heap, s->nheap + 1, &s->heapcap, sizeof *s->heap);
    size_t i = s->nheap++;
    for (; i && s->heap[(i - 1) / 2].end > o.end; i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = o;
}

static struct open pop(sweep *s)
{
    struct open top = s->heap[0], o = s->heap[--s->nheap];
    size_t i = 0, n = s->nheap;
    for (size_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && s->heap[c + 1].end < s->heap[c].end) c++;
        if (s->heap[c].end >= o.end) break;
        s->heap[i] = s->heap[c];
    }
    s->heap[i] = o;
    return top;
}

static void close_op(sweep *s, const struct open *o)
{
    struct stack *st = &s->stack[o->thread];
    size_t i = st->n;
    while (i && st->op[i - 1].serial != o->serial) i--;
    if (!i) return;                                      /* cut when its parent ended */
    for (size_t k = i; k < st->n; k++) if (st->op[k].end > o->end) s->misnested++;
    deactivate(s, st->op[st->n - 1].key);
    st->n = i - 1;
    if (st->n) activate(s, st->op[st->n - 1].key);
}

static void close_until(sweep *s, int64_t t)
{
    while (s->nheap && s->heap[0].end <= t) {
        struct open o = pop(s);
        advance(s, o.end);
        if (o.thread != KEY_NONE) close_op(s, &o);
        else {
            deactivate(s, o.key);
            if (o.also != KEY_NONE) deactivate(s, o.also);
        }
    }
}

bool sweep_add(sweep *s, int64_t start, int64_t end, uint32_t key, uint32_t also)
{
    if (start < s->last_start) return false;
    close_until(s, start);
    advance(s, start);
    s->last_start = start;
    activate(s, key);
    if (also != KEY_NONE) activate(s, also);
    push(s, (struct open){ .end = end, .key = key, .also = also, .thread = KEY_NONE });
    return true;
}

bool sweep_add_op(sweep *s, int64_t start, int64_t end, uint32_t key, uint32_t thread)
{
    if (start < s->last_start) return false;
    close_until(s, start);
    advance(s, start);
    s->last_start = start;
    if (thread >= s->nstack) {
        s->stack = grow(s->stack, (size_t)thread + 1, &s->stackcap, sizeof *s->stack);
        memset(s->stack + s->nstack, 0, ((size_t)thread + 1 - s->nstack) * sizeof *s->stack);
        s->nstack = (size_t)thread + 1;
    }
    struct stack *st = &s->stack[thread];
    st->op = grow(st->op, st->n + 1, &st->cap, sizeof *st->op);
    size_t i = st->n++;
    for (; i && st->op[i - 1].start == start && st->op[i - 1].end < end; i--) st->op[i] = st->op[i - 1];
    st->op[i] = (struct op){ start, end, key, s->serial };
    if (i == st->n - 1) {
        if (i) deactivate(s, st->op[i - 1].key);
        activate(s, key);
    }
    push(s, (struct open){ .end = end, .key = key, .also = KEY_NONE, .thread = thread, .serial = s->serial++ });
    return true;
}

void sweep_finish(sweep *s)
{
    close_until(s, INT64_MAX);
    if (s->want_changes && s->current) count_change(s, s->current, 0);
    s->current = 0;
}

uint64_t sweep_misnested(const sweep *s)
{
    return s->misnested;
}

/* ---- results */

void set_add(struct buf *b, str m)
{
    if (b->n) buf_char(b, '+');
    for (size_t i = 0; i < m.n; i++) {
        if (m.s[i] == '+' || m.s[i] == '\\') buf_char(b, '\\');
        buf_char(b, m.s[i]);
    }
}

bool set_next(str *rest, struct buf *member)
{
    member->n = 0;
    if (!rest->n) return false;
    size_t i = 0;
    for (; i < rest->n && rest->s[i] != '+'; i++) {
        if (rest->s[i] == '\\' && i + 1 < rest->n) i++;
        buf_char(member, rest->s[i]);
    }
    if (i < rest->n) i++;
    rest->s += i;
    rest->n -= i;
    return true;
}

int set_cmp(str a, str b)
{
    struct buf x = { 0 }, y = { 0 };
    int c = 0;
    while (!c) {
        bool more_a = set_next(&a, &x), more_b = set_next(&b, &y);
        if (!more_a || !more_b) {
            c = more_a - more_b;
            break;
        }
        c = str_cmp((str){ x.s, x.n }, (str){ y.s, y.n });
    }
    free(x.s);
    free(y.s);
    return c;
}

static const struct key *sort_keys;                      /* qsort has no closure */

static int by_name(const void *a, const void *b)
{
    return str_cmp(sort_keys[*(const uint32_t *)a].name, sort_keys[*(const uint32_t *)b].name);
}

static void name_sets(sweep *s)
{
    struct buf b = { 0 };
    sort_keys = s->key;
    s->names_of = xrealloc(s->names_of, s->nset, sizeof *s->names_of);
    for (size_t i = 0; i < s->nset; i++) {
        struct set *set = &s->set[i];
        if (set->n) qsort(set->member, set->n, sizeof(uint32_t), by_name);
        for (int c = 0; c < KEY_CLASSES; c++) {
            b.n = 0;
            for (uint32_t k = 0; k < set->n; k++)
                if ((int)s->key[set->member[k]].class == c) set_add(&b, s->key[set->member[k]].name);
            s->names_of[i].of[c] = arena_copy(&s->arena, b.s, b.n);
        }
    }
    free(b.s);
}

static int by_cell(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    for (int k = 0; k < KEY_CLASSES; k++) {
        int c = set_cmp(str_of(x->name[k]), str_of(y->name[k]));
        if (c) return c;
    }
    return 0;
}

static int by_change(const void *a, const void *b)
{
    const struct transition *x = a, *y = b;
    for (int k = 0; k < 2 * KEY_CLASSES; k++) {
        int c = k < KEY_CLASSES ? set_cmp(str_of(x->from[k]), str_of(y->from[k]))
                                : set_cmp(str_of(x->to[k - KEY_CLASSES]), str_of(y->to[k - KEY_CLASSES]));
        if (c) return c;
    }
    return 0;
}

size_t sweep_cells(sweep *s, const struct cell **cells)
{
    struct cell *out = arena_get(&s->arena, size_mul(s->nset, sizeof *out));
    size_t n = 0;
    name_sets(s);
    for (size_t i = 1; i < s->nset; i++) {
        const struct set *set = &s->set[i];
        out[n] = (struct cell){ .total = set->total, .lo = set->lo, .hi = set->hi, .runs = set->runs };
        if (set->hook) {
            out[n].before = set->hook;
            out[n].begun = set->hook + SWEEP_HOOKS;
        }
        memcpy(out[n++].name, s->names_of[i].of, sizeof out->name);
    }
    if (n) qsort(out, n, sizeof *out, by_cell);
    *cells = out;
    return n;
}

const struct cell *sweep_idle(sweep *s)
{
    struct cell *c = arena_get(&s->arena, sizeof *c);
    *c = (struct cell){ .name = { "", "", "" },
                        .before = s->set[0].hook,
                        .begun = s->set[0].hook ? s->set[0].hook + SWEEP_HOOKS : NULL };
    return c;
}

size_t sweep_transitions(sweep *s, const struct transition **changes)
{
    struct transition *out = arena_get(&s->arena, size_mul(s->nchange + 1, sizeof *out));
    size_t n = 0;
    name_sets(s);
    for (size_t i = 0; i < s->changeslots; i++) {
        const struct change *c = &s->change[i];
        if (!c->count) continue;
        out[n].count = c->count;
        memcpy(out[n].from, s->names_of[c->from].of, sizeof out->from);
        memcpy(out[n++].to, s->names_of[c->to].of, sizeof out->to);
    }
    if (n) qsort(out, n, sizeof *out, by_change);
    *changes = out;
    return n;
}
