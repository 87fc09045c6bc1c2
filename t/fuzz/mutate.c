/* mutate.c - changes of an input that keep to the grammar of s-expressions and of tables, so that it gets past the
 * first reader: values at the edge of what a number may be, subtrees and columns doubled, dropped, exchanged, nested.
 * Every second change is still libFuzzer's own.
 *
 * A target whose first byte selects something says so by fuzz_prefix. */
#include "fuzz.h"
#include <stdbool.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
extern const size_t fuzz_prefix;
__attribute__((weak)) const size_t fuzz_prefix = 0;

static const char *const edge[] = {
    "0", "1", "-1", "2", "63", "64", "255", "65536", "2147483647", "2147483648", "4294967296", "-2147483649",
    "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
    "18446744073709551616", "1e308", "-1e308", "1e309", "5e-324", "nan", "inf", "-inf", "-0", "0.1", "", "real",
    "simulated", "true", "x", "\"\"", "()", "\"a,b\"", "a;b", "0x10", "1e9", "99999999999999999999999999999999" };
enum { EDGES = sizeof edge / sizeof *edge, DEPTH = 3000 };

static uint32_t state;
static size_t draw(size_t n)                             /* xorshift, below n */
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return n ? state % n : 0;
}

struct text { uint8_t *s; size_t n, max; };

static bool replace(struct text *t, size_t at, size_t old, const uint8_t *with, size_t n)
{
    static uint8_t copy[1 << 16];
    if (n > sizeof copy || t->n - old + n > t->max) return false;
    if (n) memcpy(copy, with, n);                        /* it may be part of the text */
    memmove(t->s + at + n, t->s + at + old, t->n - at - old);
    if (n) memcpy(t->s + at, copy, n);
    t->n += n - old;
    return true;
}

static bool separates(uint8_t c)
{
    return !c || strchr(" \t\r\n,()\":;{}[]=>", c) != NULL;
}

struct span { size_t at, n; };

static struct span token(const struct text *t)           /* n is 0 where there is none */
{
    size_t at = draw(t->n), end;
    for (size_t k = 0; k < t->n && separates(t->s[at]); k++) at = (at + 1) % t->n;
    if (separates(t->s[at])) return (struct span){ at, 0 };
    while (at > 0 && !separates(t->s[at - 1])) at--;
    for (end = at; end < t->n && !separates(t->s[end]); end++) {}
    return (struct span){ at, end - at };
}

static struct span subtree(const struct text *t)
{
    size_t at = draw(t->n), depth = 0, end;
    for (size_t k = 0; k < t->n && t->s[at] != '('; k++) at = (at + 1) % t->n;
    for (end = at; end < t->n; end++) {
        depth += t->s[end] == '(';
        depth -= t->s[end] == ')';
        if (!depth) break;
    }
    return (struct span){ at, end < t->n && t->s[at] == '(' ? end + 1 - at : 0 };
}

static struct span line(const struct text *t)            /* with its end */
{
    size_t at = draw(t->n), end;
    while (at > 0 && t->s[at - 1] != '\n') at--;
    for (end = at; end < t->n && t->s[end] != '\n'; end++) {}
    return (struct span){ at, end + (end < t->n) - at };
}

/* the k-th field of a line; quotes are not looked at */
static struct span field(const struct text *t, size_t begin, size_t end, size_t k)
{
    size_t at = begin;
    for (; k && at < end; at++) k -= t->s[at] == ',';
    size_t to = at;
    while (to < end && t->s[to] != ',' && t->s[to] != '\n') to++;
    return (struct span){ at, k ? 0 : to - at };
}

/* the same column of every row: doubled, emptied, dropped or all of one value */
static void column(struct text *t)
{
    size_t columns = 1, how = draw(4), value = draw(EDGES);
    for (size_t i = 0; i < t->n && t->s[i] != '\n'; i++) columns += t->s[i] == ',';
    size_t k = draw(columns);
    for (size_t begin = 0, row = 0; begin < t->n && row < 1000; row++) {
        uint8_t *nl = memchr(t->s + begin, '\n', t->n - begin);
        size_t end = nl ? (size_t)(nl - t->s) : t->n, before = t->n;
        struct span f = field(t, begin, end, k);
        if (how == 0 && k > 0 && f.at + f.n <= end && f.at > begin) replace(t, f.at - 1, f.n + 1, NULL, 0);
        if (how == 1) replace(t, f.at, 0, (const uint8_t *)"z,", 2);
        if (how == 2 && row) replace(t, f.at, f.n, NULL, 0);
        if (how == 3 && row) replace(t, f.at, f.n, (const uint8_t *)edge[value], strlen(edge[value]));
        begin = end + 1 + t->n - before;
    }
}

static void change(struct text *t)
{
    struct span a, b;
    switch (draw(12)) {
    case 0: case 1: case 2: {
        const char *e = edge[draw(EDGES)];
        a = token(t);
        if (a.n) replace(t, a.at, a.n, (const uint8_t *)e, strlen(e));
        break;
    }
    case 3:
        a = token(t), b = token(t);
        if (a.n && b.n) replace(t, a.at, a.n, t->s + b.at, b.n);
        break;
    case 4: case 5:                                      /* a subtree in another's place */
        a = subtree(t), b = subtree(t);
        if (a.n && b.n) replace(t, a.at, a.n, t->s + b.at, b.n);
        break;
    case 6:
        a = subtree(t);
        if (a.n) replace(t, draw(2) ? a.at : a.at + a.n, 0, t->s + a.at, a.n);
        break;
    case 7:
        a = subtree(t);
        if (a.n) replace(t, a.at, a.n, NULL, 0);
        break;
    case 8: {                                            /* nested in itself, or in nothing */
        static uint8_t deep[2 * DEPTH];
        size_t n = 1 + draw(draw(4) ? 8 : DEPTH);
        a = subtree(t);
        memset(deep, '(', n);
        memset(deep + n, ')', n);
        if (a.n && replace(t, a.at + a.n, 0, deep + n, n)) replace(t, a.at, 0, deep, n);
        break;
    }
    case 9:                                              /* a line doubled, dropped, in another's place */
        a = line(t), b = line(t);
        if (draw(2)) replace(t, a.at, 0, t->s + b.at, b.n);
        else replace(t, a.at, a.n, t->s + b.at, draw(3) ? b.n : 0);
        break;
    case 10: column(t); break;
    default: {
        a = line(t);
        struct span f = field(t, a.at, a.at + a.n, draw(8));
        const char *e = edge[draw(EDGES)];
        replace(t, f.at, f.n, (const uint8_t *)e, strlen(e));
    }
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    state = seed | 1;
    if (draw(2) || size <= fuzz_prefix) return LLVMFuzzerMutate(data, size, max);
    struct text t = { data + fuzz_prefix, size - fuzz_prefix, max - fuzz_prefix };
    for (size_t k = 1 + draw(3); k && t.n; k--) change(&t);
    return t.n + fuzz_prefix;
}
