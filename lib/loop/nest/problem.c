#include "loop/nest/nest.h"
#include "base/message.h"
#include "base/num.h"
#include "tree/sexp.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAM = 8, MAX_SIZE = 1 << 24, MAX_INDEX = 4, MAX_Q4 = 1024 };  /* terms inside terms of an index */
static const int64_t MAX_ELEMENTS = (int64_t)1 << 28;    /* 1 GiB: every offset of a kernel fits 32 bits; */
static const int64_t MAX_DOUBLES = (int64_t)1 << 27;     /* also of these */

/* body: variables in the order of the untiled loops, then the tensors; a parameter may be a factor, (* s ho) */
static const struct kind {
    const char *name;
    enum problem_op op;
    const char *param[MAX_PARAM + 1], *body;
} kinds[] = {
    { "mm", OP_FMA, { "m", "n", "k" }, "((m k n) (A m k) (B k n) (C m n))" },
    { "mm_nt", OP_FMA, { "m", "n", "k" }, "((m k n) (A m k) (B n k) (C m n))" },
    { "mm_tn", OP_FMA, { "m", "n", "k" }, "((m k n) (A k m) (B k n) (C m n))" },
    { "mm_tt", OP_FMA, { "m", "n", "k" }, "((m k n) (A k m) (B n k) (C m n))" },
    { "mm_bf16", OP_FMA, { "m", "n", "k" }, "((m k n) (A m k) (B k n) (C m n))" },
    { "mm_u8s8", OP_FMA, { "m", "n", "k" }, "((m k n) (A m k) (B k n) (C m n))" },
    { "mm_s8s8", OP_FMA, { "m", "n", "k" }, "((m k n) (A m k) (B k n) (C m n))" },
    { "mm_q4", OP_FMA, { "m", "n", "k", "g" }, "((m g k n) (A m g k) (B g k n) (C m n))" },
    { "mm_q4z", OP_FMA, { "m", "n", "k", "g" }, "((m g k n) (A m g k) (B g k n) (C m n))" },
    { "bmm", OP_FMA, { "b", "m", "n", "k" }, "((b m k n) (A b m k) (B b k n) (C b m n))" },
    { "conv", OP_FMA, { "n", "c", "h", "w", "m", "kh", "kw", "s" },
      "((n c ho wo kh kw m) (A n c (+ (* s ho) kh) (+ (* s wo) kw)) (B m c kh kw) (C n m ho wo))" },
    { "conv_nhwc", OP_FMA, { "n", "c", "h", "w", "m", "kh", "kw", "s" },
      "((n c ho wo kh kw m) (A n (+ (* s ho) kh) (+ (* s wo) kw) c) (B kh kw c m) (C n ho wo m))" },
    { "attn", OP_FMA, { "h", "q", "k", "d" },
      "((h e q k d) (A h q d) (B h k d) (V h k e) (C h q e) (mid softmax))" },
    { "attn_causal", OP_FMA, { "h", "q", "k", "d" },
      "((h e q k d) (A h q d) (B h k d) (V h k e) (C h q e) (mid causal softmax))" },
    { "point", OP_ADD, { "i", "j" }, "((i j) (A i j) (B i j) (C i j))" },
    { "reduce", OP_SUM, { "i", "j" }, "((i j) (A i j) (C i))" },
    { "transp", OP_COPY, { "i", "j" }, "((i j) (A i j) (C j i))" },
};
const char problem_kinds[] =
    "mm|mm_nt|mm_tn|mm_tt|mm_bf16|mm_u8s8|mm_s8s8|mm_q4|mm_q4z|bmm|conv|conv_nhwc|attn|attn_causal|point|reduce|transp";

int problem_params(str kind, const char *const **names)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(kind, kinds[i].name)) {
            int n = 0;
            while (n < MAX_PARAM && kinds[i].param[n]) n++;
            *names = kinds[i].param;
            return n;
        }
    return 0;
}

struct env {                                             /* what names mean while one problem is read */
    struct problem *p;
    const char *where;
    const char *const *param;
    int64_t value[MAX_PARAM], pad[4];                    /* pad: top, bottom, left, right */
};

static int64_t int_from(int64_t least, const struct sexp *e, snode x, const char *where, const char *what)
{
    str s = x == SEXP_NONE || !sexp_is_atom(e, x) ? (str){ 0 } : sexp_atom(e, x);
    int64_t v;
    if (!s.s || !int_parse(s.s, s.n, &v))
        die("%s: %s is '%.*s', not an integer", where, what, (int)s.n, s.s ? s.s : "");
    if (v < least) die("%s: %s is %lld, must be at least %lld", where, what, (long long)v, (long long)least);
    if (v > MAX_SIZE) die("%s: %s is %lld, more than %d", where, what, (long long)v, MAX_SIZE);
    return v;
}

static int var_of(const struct problem *p, str name)
{
    for (int v = 0; v < p->nvar; v++)
        if (str_is(name, p->name[v])) return v;
    return -1;
}

static int64_t param_of(const struct env *k, str name, bool *found)
{
    *found = true;
    for (int i = 0; k->param && i < MAX_PARAM && k->param[i]; i++)
        if (str_is(name, k->param[i])) return k->value[i];
    *found = false;
    return 0;
}

static void add_var(const struct env *k, str name, int64_t size)
{
    struct problem *p = k->p;
    if (p->nvar == NEST_VARS) die("%s: more than %d variables", k->where, NEST_VARS);
    bool good = name.n && name.n < sizeof p->name[0] && !(name.s[0] >= '0' && name.s[0] <= '9');
    for (size_t i = 0; good && i < name.n; i++)          /* names go into C text and pictures */
        good = (name.s[i] >= 'a' && name.s[i] <= 'z') || (name.s[i] >= 'A' && name.s[i] <= 'Z') || name.s[i] == '_' ||
               (name.s[i] >= '0' && name.s[i] <= '9');
    if (!good)
        die("%s: variable name '%.*s' is not 1 to 7 letters, digits or _", k->where, (int)(name.n < 40 ? name.n : 40),
            name.s);
    if (var_of(p, name) >= 0) die("%s: variable %.*s is given twice", k->where, (int)name.n, name.s);
    memcpy(p->name[p->nvar], name.s, name.n);
    p->order[p->nvar] = p->nvar;
    p->size[p->nvar++] = (int32_t)size;
}

static int64_t checked(const struct env *k, int64_t a, int64_t b, bool multiply)
{
    int64_t x;
    bool wrong = multiply ? __builtin_mul_overflow(a, b, &x) : __builtin_add_overflow(a, b, &x);
    if (wrong || x > MAX_ELEMENTS)
        die("%s: an index goes beyond %lld elements", k->where, (long long)MAX_ELEMENTS);
    return x;
}

/* v, (* F term) or (+ term term): adds the factors of variables to f, all of them positive */
static void term(const struct env *k, const struct sexp *e, snode x, int64_t f[NEST_VARS], int depth)
{
    if (sexp_is_atom(e, x)) {
        str s = sexp_atom(e, x);
        int v = var_of(k->p, s);
        if (v < 0) die("%s: no variable '%.*s'", k->where, (int)(s.n < 40 ? s.n : 40), s.s);
        f[v] = checked(k, f[v], 1, false);
        return;
    }
    if (depth == MAX_INDEX) die("%s: more than %d terms inside each other in an index", k->where, MAX_INDEX);
    if (sexp_head(e, x, "+") && sexp_count(e, x) > 1) {
        for (snode t = sexp_after(e, sexp_first(e, x)); t != SEXP_NONE; t = sexp_after(e, t))
            term(k, e, t, f, depth + 1);
        return;
    }
    if (!sexp_head(e, x, "*") || sexp_count(e, x) != 3)
        die("%s: an index is v, (* F v) or (+ term term)", k->where);
    snode a = sexp_nth(e, x, 1), b = sexp_nth(e, x, 2);
    bool named = false;
    int64_t factor = sexp_is_atom(e, a) ? param_of(k, sexp_atom(e, a), &named) : 0;
    if (!named) factor = int_from(1, e, a, k->where, "a factor");
    int64_t one[NEST_VARS] = { 0 };
    term(k, e, b, one, depth + 1);
    for (int v = 0; v < k->p->nvar; v++) f[v] = checked(k, f[v], checked(k, factor, one[v], true), false);
}

/* size in memory, zeros before and after of each dimension of A, slowest first: one without zeros is one with that
 * before it */
static void surround(const struct env *k, const int64_t (*dim)[3], size_t n)
{
    struct problem *p = k->p;
    struct problem_pad q = { 0 };
    bool any = false;
    p->elements[TENSOR_A] = p->padded = 1;
    for (size_t i = 0; i < n; i++) {
        const int64_t size = dim[i][0], before = dim[i][1], after = dim[i][2];
        if (size < 1)
            die("%s: zeros, %lld and %lld, leave nothing of a dimension of A", k->where, (long long)before,
                (long long)after);
        p->elements[TENSOR_A] *= size;
        p->padded *= size + before + after;
        if (p->padded > MAX_ELEMENTS)
            die("%s: tensor A has more than %lld elements", k->where, (long long)MAX_ELEMENTS);
        any |= before || after;
        if (q.n && !before && !after) {
            q.size[q.n - 1] *= (int32_t)size, q.before[q.n - 1] *= (int32_t)size, q.after[q.n - 1] *= (int32_t)size;
            continue;
        }
        q.size[q.n] = (int32_t)size, q.before[q.n] = (int32_t)before, q.after[q.n++] = (int32_t)after;
    }
    p->pad = any ? q : (struct problem_pad){ 0 };
}

/* (pad P INDEX) or (pad BEFORE AFTER INDEX): sets what is before and after, returns the index */
static snode padding(const struct env *k, const struct sexp *e, snode x, int t, int64_t zeros[2])
{
    size_t n = sexp_count(e, x);
    zeros[0] = zeros[1] = 0;
    if (!sexp_head(e, x, "pad")) return x;
    if (t != TENSOR_A) die("%s: only A has zeros around it", k->where);
    if (n != 3 && n != 4) die("%s: zeros are (pad P INDEX) or (pad BEFORE AFTER INDEX)", k->where);
    for (size_t i = 0; i < 2; i++) zeros[i] = int_from(0, e, sexp_nth(e, x, n == 3 ? 1 : i + 1), k->where, "(pad ..)");
    return sexp_nth(e, x, n - 1);
}

static void tensor(const struct env *k, const struct sexp *e, snode x, int t)
{
    struct problem *p = k->p;
    char name = "ABCV"[t];
    size_t ndim = sexp_count(e, x) - 1;
    if (ndim > NEST_DIMS) die("%s: tensor %c has more than %d dimensions", k->where, name, NEST_DIMS);
    int64_t step = 1, dim[NEST_DIMS][3];
    p->row[t] = 1;
    for (size_t d = ndim; d-- > 0; ) {
        int64_t f[NEST_VARS] = { 0 }, extent = 1;
        term(k, e, padding(k, e, sexp_nth(e, x, d + 1), t, dim[d] + 1), f, 0);
        for (int v = 0; v < p->nvar; v++) {
            p->stride[t][v] = checked(k, p->stride[t][v], checked(k, f[v], step, true), false);
            extent = checked(k, extent, checked(k, f[v], p->size[v] - 1, true), false);
        }
        dim[d][0] = extent - dim[d][1] - dim[d][2];
        if (d + 1 == ndim) p->row[t] = dim[d][0];
        if (__builtin_mul_overflow(step, extent, &step) || step > MAX_ELEMENTS)
            die("%s: tensor %c has more than %lld elements", k->where, name, (long long)MAX_ELEMENTS);
    }
    p->elements[t] = step;
    if (t == TENSOR_A) surround(k, dim, ndim);
}

/* C must be filled exactly once by its loops, without gaps: its strides are a row-major order of its variables */
static bool dense(const struct problem *p)
{
    unsigned seen = 0;
    int64_t below = 1;
    for (int n = 0; n < p->nvar; n++) {
        int next = -1;
        for (int v = 0; v < p->nvar; v++)
            if (!(seen >> v & 1) && p->stride[TENSOR_C][v] && p->size[v] > 1 &&
                (next < 0 || p->stride[TENSOR_C][v] < p->stride[TENSOR_C][next])) next = v;
        if (next < 0) break;
        if (p->stride[TENSOR_C][next] != below) return false;
        seen |= 1u << next;
        below *= p->size[next];
    }
    return below == p->elements[TENSOR_C];
}

/* who has which variable, when there is a second contraction */
static void check_pair(const struct env *k)
{
    struct problem *p = k->p;
    p->along = p->last = -1;
    for (int v = 0; v < p->nvar; v++) {
        bool in[4];
        for (int t = 0; t < 4; t++) in[t] = p->stride[t][v] != 0;
        if (in[TENSOR_V] && !in[TENSOR_C]) {
            if (p->along >= 0 || in[TENSOR_A] || !in[TENSOR_B])
                die("%s: C is summed over %s; that must be one variable, in B and V alone", k->where, p->name[v]);
            p->along = v;
        } else if (in[TENSOR_C] && !in[TENSOR_A] && !in[TENSOR_B]) {
            if (p->last >= 0 || !in[TENSOR_V])
                die("%s: %s must be the one variable that V and C alone have", k->where, p->name[v]);
            p->last = v;
        }
    }
    if (p->along < 0) die("%s: B and V must have a variable that A and C lack", k->where);
    if (p->last < 0 || p->stride[TENSOR_C][p->last] != 1 || p->stride[TENSOR_V][p->last] != 1)
        die("%s: the fastest variable of C and of V must be the same, and in no other tensor", k->where);
    for (int i = 0; p->mid[i]; i++) {
        if (p->mid[i] != THEN_CAUSAL) continue;
        for (int v = 0; v < p->nvar; v++) {              /* of two that are as far apart one has a single element */
            int64_t step = p->stride[TENSOR_C][v], least = p->query < 0 ? INT64_MAX : p->stride[TENSOR_C][p->query];
            if (v != p->last && step && (step < least || (step == least && p->size[v] == 1))) p->query = v;
        }
        if (p->query < 0 || !p->stride[TENSOR_A][p->query] || p->size[p->query] > p->size[p->along])
            die("%s: causal needs as many columns of S as rows, or more", k->where);
    }
}

static void check_output(const struct env *k)
{
    struct problem *p = k->p;
    if (p->pair) check_pair(k);
    for (int v = 0; v < p->nvar; v++) {
        p->reduced[v] = p->stride[TENSOR_C][v] == 0;
        bool read = p->stride[TENSOR_A][v] || p->stride[TENSOR_B][v] || p->stride[TENSOR_V][v];
        if (!read && (p->reduced[v] || p->op != OP_FMA)) die("%s: variable %s is in no input", k->where, p->name[v]);
    }
    if (!dense(p)) die("%s: C must have one variable for each dimension", k->where);
}

static void order(const struct env *k, const struct sexp *e, snode x)
{
    struct problem *p = k->p;
    unsigned seen = 0;
    int n = 0;
    for (snode t = sexp_after(e, sexp_first(e, x)); t != SEXP_NONE; t = sexp_after(e, t), n++) {
        int v = sexp_is_atom(e, t) ? var_of(p, sexp_atom(e, t)) : -1;
        if (v < 0 || seen >> v & 1) die("%s: (order ...) must name each variable once", k->where);
        p->order[n] = v;
        seen |= 1u << v;
    }
    if (n != p->nvar) die("%s: (order ...) names %d of %d variables", k->where, n, p->nvar);
}

static void canonical(struct problem *p, const struct sexp *e, const char *where)
{
    struct buf b = { 0 };
    snode stack[16], x = 0;
    int depth = 0;
    for (bool first = true; ; ) {
        if (!first) buf_char(&b, ' ');
        first = false;
        if (sexp_is_list(e, x) && sexp_first(e, x) != SEXP_NONE && depth < 16) {
            buf_char(&b, '(');
            stack[depth++] = x;
            x = sexp_first(e, x);
            first = true;
            continue;
        }
        if (sexp_is_atom(e, x)) buf_str(&b, sexp_atom(e, x));
        else buf_add(&b, "()", 2);
        while (depth && sexp_after(e, x) == SEXP_NONE) x = stack[--depth], buf_char(&b, ')');
        if (!depth) break;
        x = sexp_after(e, x);
    }
    const size_t n = b.n;
    if (n < sizeof p->text) memcpy(p->text, b.s, n + 1);
    free(b.s);
    if (n >= sizeof p->text) die("%s: problem of more than %zu characters", where, sizeof p->text - 1);
    for (const char *s = p->text; s < p->text + n; s++)  /* it goes into comments: nothing but words */
        if (!*s || (!strchr("()+-* _0123456789", *s) && !((*s | 32) >= 'a' && (*s | 32) <= 'z')))
            die("%s: character %d in a problem; known: letters, digits, _ + - * ( )", where, (unsigned char)*s);
}

#define WORD_ROW(word, text, arguments, doubles, mid) [THEN_##word] = { text, arguments, doubles, mid },
static const struct { const char *name; size_t arguments; bool doubles, mid; } words[] = { CARRY_ALL_WORDS(WORD_ROW) };
_Static_assert((int)THENS < (int)CARRY_WORDS_ROOM, "room for the integers of each word");

/* a word, or a list of one and the integers behind it, which are noted */
static int then_word(const struct env *k, const struct sexp *e, snode x, const char *list)
{
    const snode head = sexp_is_atom(e, x) ? x : sexp_first(e, x);
    const str s = sexp_is_atom(e, head) ? sexp_atom(e, head) : (str){ "(..)", 4 };
    const size_t n = sexp_is_atom(e, x) ? 0 : sexp_count(e, x) - 1;
    int word = THENS;
    while (word && !str_is(s, words[word].name)) word--;
    if (!word) die("%s: unknown '%.*s' in (%s ...)", k->where, (int)s.n, s.s, list);
    if (n != words[word].arguments)
        die("%s: %s in (%s ...) has %zu numbers, not %zu", k->where, words[word].name, list, n, words[word].arguments);
    for (size_t i = 0; i < n; i++)
        k->p->arg[word][i] = (int32_t)int_from(word == THEN_OVER ? 1 : -MAX_SIZE, e, sexp_nth(e, x, i + 1), k->where,
                                               words[word].name);
    return word;
}

/* between two contractions */
static void mid(const struct env *k, const struct sexp *e, snode list)
{
    struct problem *p = k->p;
    int n = 0;
    for (snode x = sexp_after(e, sexp_first(e, list)); x != SEXP_NONE; x = sexp_after(e, x)) {
        int word = then_word(k, e, x, "mid");
        if (!words[word].mid)
            die("%s: %s is not for (mid ...)", k->where, words[word].name);
        if (n == MAX_THEN) die("%s: more than %d words in (mid ...)", k->where, MAX_THEN);
        for (int i = 0; i < n; i++)
            if (p->mid[i] == THEN_SOFTMAX || word == THEN_OVER || (p->mid[i] == THEN_CAUSAL && word != THEN_SOFTMAX))
                die("%s: %s in (mid ...) after %s", k->where, words[word].name, words[p->mid[i]].name);
        if (word == THEN_OVER)
            p->mid_scale = 1 / (float)p->arg[word][0];
        p->mid[n++] = (uint8_t)word;
    }
    if (!n) die("%s: (mid) without a word", k->where);
    if (p->mid[n - 1] == THEN_CAUSAL) die("%s: causal in (mid ...) without softmax after it", k->where);
}

static void body(const struct env *k, const struct sexp *e, snode first)
{
    enum { THEN = 6, MID, TYPE, WEIGHTS, PARTS };
    static const char *const names[PARTS] = { "A", "B", "C", "V", "sizes", "order", "then", "mid", "type",
                                               "weights" };
    bool have[PARTS] = { false };
    for (snode x = first; x != SEXP_NONE; x = sexp_after(e, x)) {
        int t = 0;
        while (t < PARTS && !sexp_head(e, x, names[t])) t++;
        if (t == PARTS || have[t])
            die("%s: expected (sizes ..) (A ..) (B ..) (C ..), perhaps (order ..) (then ..) (type ..) "
                "(weights packed) or (mid ..) (V ..)", k->where);
        have[t] = true;
        if (t <= TENSOR_V) tensor(k, e, x, t);
        if (t == MID) mid(k, e, x);
    }
    k->p->pair = have[TENSOR_V];
    if (k->p->pair && k->p->pad.n) die("%s: (pad ..) does not go with a second contraction", k->where);
    if (have[MID] && !k->p->pair) die("%s: (mid ...) without a second contraction by V", k->where);
    if (have[THEN] && k->p->pair) die("%s: (then ...) does not go with a second contraction", k->where);
    if (!have[TENSOR_A] || !have[TENSOR_C] || (k->p->op == OP_FMA && !have[TENSOR_B]))
        die("%s: tensors A, B and C are needed", k->where);
    check_output(k);
}

static bool windows(const struct kind *kind) { return !strncmp(kind->name, "conv", 4); }

/* (pad P), (pad ROWS COLUMNS) or (pad TOP BOTTOM LEFT RIGHT) of a convolution */
static void pad_images(struct env *k, const struct kind *kind, const struct sexp *e, snode list)
{
    size_t n = sexp_count(e, list) - 1;
    if (!windows(kind)) die("%s: (pad ..) is for convolutions", k->where);
    if (n != 1 && n != 2 && n != 4)
        die("%s: zeros are (pad P), (pad ROWS COLUMNS) or (pad TOP BOTTOM LEFT RIGHT)", k->where);
    for (size_t i = 0; i < 4; i++)
        k->pad[i] = int_from(0, e, sexp_nth(e, list, 1 + i * n / 4), k->where, "(pad ..)");
}

static void params(struct env *k, const struct kind *kind, const struct sexp *e)
{
    int n = 0;
    snode x = sexp_after(e, sexp_first(e, 0));
    for (; n < MAX_PARAM && kind->param[n]; n++, x = sexp_after(e, x)) {
        bool stride = !strcmp(kind->param[n], "s");
        if (x == SEXP_NONE || !sexp_is_atom(e, x)) {
            if (!stride) die("%s: (%s ...) lacks the size %s", k->where, kind->name, kind->param[n]);
            k->value[n] = 1;
            n++;
            break;
        }
        k->value[n] = int_from(1, e, x, k->where, kind->param[n]);
    }
    bool have[5] = { false };
    for (int i; x != SEXP_NONE; x = sexp_after(e, x), have[i] = true) {
        static const char *const lists[] = { "order", "then", "type", "pad", "weights" };
        for (i = 0; i < 5 && !sexp_head(e, x, lists[i]); i++) {}
        if (i == 5 || have[i]) break;
        if (i == 3) pad_images(k, kind, e, x);
    }
    if (x == SEXP_NONE) return;
    if (sexp_is_atom(e, x)) die("%s: too many sizes for %s", k->where, kind->name);
    str s = sexp_first(e, x) != SEXP_NONE && sexp_is_atom(e, sexp_first(e, x)) ? sexp_atom(e, sexp_first(e, x))
                                                                              : (str){ "", 0 };
    die("%s: (%.*s ..) behind the sizes of %s is twice, or none of (order ..) (then ..) (type ..) (pad ..) "
        "(weights packed)", k->where, (int)(s.n < 40 ? s.n : 40), s.s, kind->name);
}

static int64_t window(const struct env *k, const char *in, const char *kernel)
{
    bool found;
    const int64_t *pad = k->pad + (*in == 'w' ? 2 : 0);
    int64_t h = param_of(k, str_of(in), &found) + pad[0] + pad[1], w = param_of(k, str_of(kernel), &found);
    if (w > h) die("%s: window %s of %lld is larger than %s of %lld", k->where, kernel, (long long)w, in, (long long)h);
    return (h - w) / param_of(k, str_of("s"), &found) + 1;
}

static void expand(struct env *k, const struct kind *kind, const struct sexp *e)
{
    params(k, kind, e);
    if (k->p->q4) {
        k->p->q4 = (int)k->value[3];
        if (k->value[3] % Q4_STEPS || k->value[3] > MAX_Q4 || k->value[2] % k->value[3])
            die("%s: groups of %lld are not a multiple of %d up to %d that divides k = %lld", k->where,
                (long long)k->value[3], Q4_STEPS, MAX_Q4, (long long)k->value[2]);
    }
    sexpr *r = sexp_open_text(kind->body, strlen(kind->body), kind->name, SEXP_CORE);
    const struct sexp *t = sexp_only(r);
    snode vars = sexp_first(t, 0);
    for (snode x = sexp_first(t, vars); x != SEXP_NONE; x = sexp_after(t, x)) {
        bool found;
        str name = sexp_atom(t, x);
        int64_t size = param_of(k, name, &found);
        if (str_is(name, "k") && size % k->p->group)
            die("%s: k is %lld, not a multiple of %d; pad it with zeros", k->where, (long long)size, k->p->group);
        if (str_is(name, "k")) size /= k->p->group;
        if (k->p->q4 && str_is(name, "g")) size = k->value[2] / k->p->q4;
        if (k->p->q4 && str_is(name, "k")) size = k->p->q4 / Q4_STEPS;
        if (str_is(name, "e")) size = param_of(k, str_of("d"), &found);
        if (!found) size = str_is(name, "ho") ? window(k, "h", "kh") : window(k, "w", "kw");
        add_var(k, name, size);
    }
    body(k, t, sexp_after(t, vars));
    sexp_close(r);
}

static void general(struct env *k, const struct sexp *e)
{
    snode sizes = sexp_get(e, 0, "sizes");
    if (sizes == SEXP_NONE) die("%s: (nest ...) lacks (sizes (v N) ...)", k->where);
    for (snode x = sexp_after(e, sexp_first(e, sizes)); x != SEXP_NONE; x = sexp_after(e, x)) {
        if (!sexp_is_list(e, x) || sexp_count(e, x) != 2 || !sexp_is_atom(e, sexp_first(e, x)))
            die("%s: expected (v N) in (sizes ...)", k->where);
        add_var(k, sexp_atom(e, sexp_first(e, x)), int_from(1, e, sexp_nth(e, x, 1), k->where, "a size"));
    }
    body(k, e, sexp_after(e, sexp_first(e, 0)));
}

/* a row of H that the last window does not reach is there all the same: strides come from H and W, not from windows */
static void conv_strides(struct problem *p, const struct env *k)
{
    int64_t c = k->value[1], s = k->value[7], h = k->value[2] + k->pad[0] + k->pad[1];
    int64_t w = k->value[3] + k->pad[2] + k->pad[3];
    bool nhwc = !strcmp(p->kind, "conv_nhwc");
    const int64_t dim[4][3] = { { k->value[0] }, { nhwc ? 1 : c }, { k->value[2], k->pad[0], k->pad[1] },
                                { k->value[3], k->pad[2], k->pad[3] } }, last[3] = { c };
    int64_t dims[5][3];
    memcpy(dims, dim, sizeof dim);
    memcpy(dims + 4, last, sizeof last);
    surround(k, (const int64_t (*)[3])dims, nhwc ? 5 : 4);
    int64_t col = nhwc ? c : 1, row = w * col, chan = nhwc ? 1 : h * w;
    checked(k, s, row, true);
    const struct { const char *v; int64_t step; } want[] = {
        { "n", c * h * w }, { "c", chan }, { "ho", s * row }, { "wo", s * col }, { "kh", row }, { "kw", col } };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        p->stride[TENSOR_A][var_of(p, str_of(want[i].v))] = want[i].step;
    p->row[TENSOR_A] = nhwc ? c : k->value[3];
    int ho = var_of(p, str_of("ho")), wo = var_of(p, str_of("wo"));
    if (p->stride[TENSOR_A][ho] != p->size[wo] * p->stride[TENSOR_A][wo] || k->value[5] * k->value[6] > 1 || p->pad.n)
        return;
    p->size[wo] *= p->size[ho];                          /* windows of one pixel: the image is one row of them */
    p->size[ho] = 1;
}

/* A is floats, as they lie; B has a row of scales, and one of zero points, for each group behind its own rows */
static void q4_strides(struct problem *p, const struct env *k)
{
    for (int v = 0; v < p->nvar; v++) p->stride[TENSOR_A][v] *= Q4_STEPS;
    p->elements[TENSOR_A] = p->padded = checked(k, p->elements[TENSOR_A], Q4_STEPS, true);
    p->row[TENSOR_A] = k->value[2];
    p->scales = k->value[2] / p->q4 * k->value[1] * (1 + p->zeros);
    p->elements[TENSOR_B] = checked(k, p->elements[TENSOR_B], p->scales, false);
}

static bool norm(int word) { return word == THEN_LAYERNORM || word == THEN_RMSNORM; }

/* may a word come twice? */
static bool again(int word)
{
#define IS_ELEMENT(name, ...) word == THEN_##name ||
    return (CARRY_ELEMENTS(IS_ELEMENT, ) false) && !words[word].arguments;
}

static void then(const struct env *k, const struct sexp *e, snode list)
{
    struct problem *p = k->p;
    int n = 0;
    if (p->op != OP_FMA) die("%s: (then ...) is for sums of products", k->where);
    if (p->pair) die("%s: (then ...) does not go with a second contraction", k->where);
    for (snode x = sexp_after(e, sexp_first(e, list)); x != SEXP_NONE; x = sexp_after(e, x)) {
        int word = then_word(k, e, x, "then");
        if (word >= THEN_CAUSAL) die("%s: %s is not for (then ...)", k->where, words[word].name);
        if (n == MAX_THEN) die("%s: more than %d words in (then ...)", k->where, MAX_THEN);
        for (int i = 0; i < n; i++)
            if (p->then[i] == THEN_CAST || p->then[i] == THEN_CAST_F16 ||
                (p->then[i] == word && !again(word)) || (norm(word) && norm(p->then[i])))
                die("%s: %s in (then ...) after %s", k->where, words[word].name, words[p->then[i]].name);
        if (word == THEN_OVER) p->over = p->arg[word][0];
        p->then[n++] = (uint8_t)word;
    }
    if (!n) die("%s: (then) without a word", k->where);
    int best = -1;
    for (int pass = 0; pass < 3 && best < 0; pass++)
        for (int v = 0; v < p->nvar; v++) {
            const int64_t step = p->stride[TENSOR_C][v], least = best < 0 ? INT64_MAX : p->stride[TENSOR_C][best];
            if (!step || (pass == 0 && p->stride[TENSOR_A][v]) || (pass == 1 && !p->stride[TENSOR_B][v])) continue;
            if (step < least || (step == least && p->size[v] == 1)) best = v;   /* as in check_pair */
        }
    p->bias = best < 0 ? 1 : p->size[best];
    p->bias_step = p->bias > 1 ? p->stride[TENSOR_C][best] : p->elements[TENSOR_C];
    for (int i = 0; p->then[i]; i++) {
        if (!norm(p->then[i])) continue;
        if (p->bias_step != 1 || p->bias == 1)
            die("%s: %s needs rows of C, more than 1 element, along what bias is along", k->where,
                words[p->then[i]].name);
        p->norm = best;
        p->biases = p->then[i] == THEN_LAYERNORM ? 3 : 2;
    }
    if (problem_then(p, THEN_SCALE)) p->scale = p->bias * p->biases++;
}

static void type(const struct env *k, const struct sexp *e, snode list)
{
    struct problem *p = k->p;
#define STORE_LISTED(name, text, ...) " " text
#define STORE_TEXT(name, text, ...) [STORE_##name] = text,
    static const char *const names[] = { [STORE_DOUBLES] = "f64", CARRY_STORES(STORE_TEXT) };
    snode x = sexp_nth(e, list, 1);
    str s = sexp_count(e, list) == 2 && sexp_is_atom(e, x) ? sexp_atom(e, x) : (str){ "", 0 };
    int store = STORES - 1;
    while (store && !str_is(s, names[store])) store--;
    if (!store) die("%s: (type ..) is one of f64" CARRY_STORES(STORE_LISTED), k->where);
    p->store = (enum problem_store)store;
    if (store != STORE_DOUBLES) {
        if (p->op != OP_FMA || p->type != TYPE_F32 || p->q4)
            die("%s: (type %s) is for sums of products of floats", k->where, names[store]);
        return;
    }
    if (p->op != OP_FMA || p->type != TYPE_F32 || p->pair || p->q4)
        die("%s: (type f64) is for one sum of products of floats", k->where);
    for (const uint8_t *then = p->then; *then; then++)
        if (!words[*then].doubles)
            die("%s: %s of doubles is not there", k->where, words[*then].name);
    for (int t = 0; t < 3; t++)
        if (p->elements[t] > MAX_DOUBLES || p->padded > MAX_DOUBLES)
            die("%s: a tensor has more than %lld doubles", k->where, (long long)MAX_DOUBLES);
    p->type = TYPE_F64;
    p->bytes = 8;
}

bool problem_cast(const struct problem *p) { return problem_then(p, THEN_CAST) || problem_then(p, THEN_CAST_F16); }

int problem_bytes(const struct problem *p, int t)
{
#define STORE_BYTES(name, text, bytes, ...) p->store == STORE_##name ? bytes :
    return t == TENSOR_C ? p->bytes : CARRY_STORES(STORE_BYTES) p->bytes;
}

static void weights(const struct env *k, const struct kind *kind, const struct sexp *e, snode list)
{
    struct problem *p = k->p;
    snode x = sexp_nth(e, list, 1);
    if (sexp_count(e, list) != 2 || !sexp_is_atom(e, x) || !str_is(sexp_atom(e, x), "packed"))
        die("%s: (weights ..) is (weights packed)", k->where);
    if ((kind && !windows(kind)) || p->op != OP_FMA || p->pair || p->store != STORE_FLOATS)
        die("%s: (weights packed) is for convolutions and one general sum of products, of floats", k->where);
    p->weights = true;
}

bool problem_then(const struct problem *p, enum problem_then word)
{
    for (int i = 0; p->then[i]; i++)
        if (p->then[i] == word) return true;
    return false;
}

void problem_parse(struct problem *p, str text, const char *where)
{
    *p = (struct problem){ .op = OP_FMA, .group = 1, .bytes = 4, .mid_scale = 1, .biases = 1, .norm = -1, .query = -1 };
    sexpr *r = sexp_open_text(text.s, text.n, where, SEXP_CORE);
    const struct sexp *e = sexp_only(r);
    if (!sexp_is_list(e, 0) || sexp_first(e, 0) == SEXP_NONE || !sexp_is_atom(e, sexp_first(e, 0)))
        die("%s: a problem is (KIND SIZE ...), not '%.*s'", where, (int)text.n, text.s);
    str head = sexp_atom(e, sexp_first(e, 0));
    const struct kind *kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(head, kinds[i].name)) kind = &kinds[i];
    if (!kind && !str_is(head, "nest"))
        die("%s: unknown kind of problem '%.*s'; known: %s|nest", where, (int)head.n, head.s, problem_kinds);
    memcpy(p->kind, head.s, head.n);
    struct env k = { .p = p, .where = where };
    if (kind) {
        p->op = kind->op;
        if (!strcmp(kind->name, "mm_bf16")) p->type = TYPE_BF16, p->group = 2;
        if (!strcmp(kind->name, "mm_u8s8")) p->type = TYPE_U8S8, p->group = 4;
        if (!strcmp(kind->name, "mm_s8s8")) p->type = TYPE_U8S8, p->group = 4, p->sign = true;
        if (!strncmp(kind->name, "mm_q4", 5)) p->q4 = Q4_STEPS, p->zeros = !strcmp(kind->name, "mm_q4z");
        k.param = kind->param;
        expand(&k, kind, e);
        if (p->q4) q4_strides(p, &k);
        if (!strncmp(kind->name, "conv", 4)) conv_strides(p, &k);
        if (p->pair) p->mid_scale = (float)(1 / sqrt((double)k.value[3]));
    } else {
        general(&k, e);
    }
    snode x = sexp_get(e, 0, "order");
    if (x != SEXP_NONE) order(&k, e, x);
    x = sexp_get(e, 0, "then");
    if (x != SEXP_NONE) then(&k, e, x);
    x = sexp_get(e, 0, "type");
    if (x != SEXP_NONE) type(&k, e, x);
    p->weights = p->group > 1 || p->q4;
    x = sexp_get(e, 0, "weights");
    if (x != SEXP_NONE) weights(&k, kind, e, x);
    canonical(p, e, where);
    sexp_close(r);
}

double problem_flops(const struct problem *p)
{
    double f = p->op == OP_FMA ? 2 * (p->q4 ? Q4_STEPS : p->group) : 1;
    if (!p->pair) {
        for (int v = 0; v < p->nvar; v++) f *= p->size[v];
        return f;
    }
    double first = f, second = f;
    for (int v = 0; v < p->nvar; v++) {
        if (p->stride[TENSOR_A][v] || p->stride[TENSOR_B][v]) first *= p->size[v];
        if (p->stride[TENSOR_V][v] || p->stride[TENSOR_C][v]) second *= p->size[v];
    }
    return first + second;
}
