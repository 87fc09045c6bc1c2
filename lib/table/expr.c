/* expr.c - see expr.h.  Recursive descent, one function a level of the grammar, which writes the steps as it goes. */
#include "table/expr.h"
#include "base/message.h"
#include "table/expr_code.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTED_MAX = 500, NEAR = 100 };                    /* calls within calls; of a text, in messages */

struct parser {
    struct scope *scope;
    expr *e;
    const char *p;                                       /* what is still to be read */
    int depth, nested;                                   /* values on the stack, calls within calls */
    bool in_total;
};

static _Noreturn void wrong(const struct parser *x, const char *at, const char *what)
{
    const char *text = x->e->text;
    size_t n = strlen(text), k = (size_t)(at - text), from = k > NEAR ? k - NEAR : 0, to = n - k > NEAR ? k + NEAR : n;
    usage("%s: character %zu of '%s%.*s%s': %s", x->e->option, k + 1, from ? ".." : "", (int)(to - from), text + from,
          to < n ? ".." : "", what);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(struct parser *x)
{
    while (*x->p == ' ' || *x->p == '\t' || *x->p == '\n') x->p++;
}

static bool accept(struct parser *x, const char *sign)
{
    skip_blanks(x);
    size_t n = strlen(sign);
    if (strncmp(x->p, sign, n) != 0) return false;
    x->p += n;
    return true;
}

static void need(struct parser *x, const char *sign, const char *what)
{
    if (!accept(x, sign)) wrong(x, x->p, what);
}

/* ---- writing steps */

static size_t emit(struct parser *x, enum code code, int at, int change)
{
    expr *e = x->e;
    e->step = grow(e->step, e->nstep + 1, &e->capstep, sizeof *e->step);
    e->step[e->nstep] = (struct step){ .code = code, .at = at };
    x->depth += change;
    if (x->depth > EXPR_DEPTH) wrong(x, x->p, "too many values wait for their operator");
    return e->nstep++;
}

static void emit_constant(struct parser *x, struct value v)
{
    expr *e = x->e;
    e->constant = grow(e->constant, e->nconstant + 1, &e->capconstant, sizeof *e->constant);
    e->constant[e->nconstant] = v;
    emit(x, PUSH, (int)e->nconstant++, 1);
}

static void land(struct parser *x, size_t jump)
{
    x->e->step[jump].at = (int)x->e->nstep;
}

static int add_pattern(struct parser *x, const char *at, str text)
{
    expr *e = x->e;
    e->pattern = grow(e->pattern, e->npattern + 1, &e->cappattern, sizeof *e->pattern);
    char *pattern = xformat("%.*s", (int)text.n, text.s), why[200];
    /* what may match a character of several bytes; other patterns are quicker without */
    bool wide = strpbrk(pattern, ".\\") || strstr(pattern, "[^") || strstr(pattern, "[:");
    for (const char *s = pattern; *s; s++) wide |= (unsigned char)*s > 127;
    setlocale(LC_CTYPE, wide ? "C.UTF-8" : "C");
    int bad = regcomp(&e->pattern[e->npattern], pattern, REG_EXTENDED);
    setlocale(LC_CTYPE, "C.UTF-8");                      /* for regexec */
    if (bad) {
        regerror(bad, &e->pattern[e->npattern], why, sizeof why);
        wrong(x, at, why);
    }
    free(pattern);
    return (int)e->npattern++;
}

/* ---- values */

/* 'text', a quote inside is doubled */
static str quoted(struct parser *x)
{
    const char *begin = x->p, quote = *x->p++;
    struct buf b = { 0 };
    buf_add(&b, "", 0);
    for (;; x->p++) {
        if (!*x->p) wrong(x, begin, "this quote is never closed");
        if (*x->p == quote && *++x->p != quote) return (str){ b.s, b.n };
        buf_char(&b, *x->p);
    }
}

static void number(struct parser *x)
{
    const char *s = x->p;
    while (is_digit(*x->p) || *x->p == '.') x->p++;
    if ((*x->p == 'e' || *x->p == 'E') && x->p > s) {
        x->p++;
        if (*x->p == '+' || *x->p == '-') x->p++;
        while (is_digit(*x->p)) x->p++;
    }
    struct exact_number v;
    const char *expected = exact_wrong(s, (size_t)(x->p - s), &v);
    if (expected) wrong(x, s, xformat("this is not %s", expected));
    if (is_letter(*x->p)) wrong(x, x->p, "a letter right after a number (a unit? numbers are plain)");
    emit_constant(x, exact_value(v));
}

static void is_late(struct parser *x, const char *at)
{
    if (x->in_total) wrong(x, at, "a total of what needs a total itself: csv-calc twice, with a pipe between, does it");
    x->e->late = true;
}

static void column(struct parser *x, const char *at, str name)
{
    long k = intern_find(&x->scope->names, name);
    if (k >= 0) {
        if (x->scope->late[k]) is_late(x, at);
        emit(x, PUSH_NAMED, (int)k, 1);
        return;
    }
    csv *t = x->scope->t;
    for (int i = 0; i < csv_ncol(t); i++) {
        if (!str_eq(csv_name(t, i), name)) continue;
        emit(x, PUSH_FIELD, i, 1);
        return;
    }
    char *why = xformat("%s; a text stands in quotes", csv_no_column(t, name));
    wrong(x, at, why);
}

static void expression(struct parser *x);

/* the pattern of a function must be there when the program is made */
static void take_pattern(struct parser *x, const char *at, size_t from, size_t to)
{
    expr *e = x->e;
    if (to != from + 1 || e->step[from].code != PUSH || e->constant[e->step[from].at].kind != TEXT)
        wrong(x, at, "a pattern has to be a text in quotes");
    str *text = &e->constant[e->step[from].at].text;
    e->constant[e->step[from].at].number.x = add_pattern(x, at, *text);
}

/* total(a), share(a), which is a / total(a): a is a program of its own, run over all rows before these */
static void total(struct parser *x, const char *at, bool share)
{
    expr *e = x->e, *of = xcalloc(1, sizeof *of);
    const char *begin = x->p;
    int depth = x->depth;
    is_late(x, at);
    *of = (expr){ .option = e->option, .text = e->text };
    x->e = of;
    x->in_total = true;
    expression(x);
    x->e = e;
    x->in_total = false;
    x->depth = depth;
    if (share) {
        x->p = begin;
        expression(x);
    }
    need(x, ")", "a ')' is missing before this");
    e->total = grow(e->total, e->ntotal + 1, &e->captotal, sizeof *e->total);
    e->total[e->ntotal].of = of;
    e->total[e->ntotal++].at = x->scope->ntotal;
    emit(x, TOTAL, (int)x->scope->ntotal++, 1);
    if (share) emit(x, DIVIDE, 0, -1);
}

static void call(struct parser *x, const char *at, str name)
{
    if (str_is(name, "total") || str_is(name, "share")) {
        total(x, at, str_is(name, "share"));
        return;
    }
    const struct function *f = function_find(name);
    if (!f) {
        wrong(x, at, function_missing(name));
    }
    int n = 0;
    if (!accept(x, ")")) {
        do {
            skip_blanks(x);
            const char *arg = x->p;
            size_t from = x->e->nstep;
            expression(x);
            if (++n == f->pattern) take_pattern(x, arg, from, x->e->nstep);
        } while (accept(x, ","));
        need(x, ")", "a ')' or ',' is missing before this");
    }
    if (n < f->least || (f->most >= 0 && n > f->most)) {
        char *why = xformat(f->most < 0 ? "%s() takes %d arguments or more" :
                            f->least == f->most ? "%s() takes %d" : "%s() takes %d to %d", f->name, f->least, f->most);
        wrong(x, at, why);
    }
    size_t k = emit(x, f->recall ? RECALL : CALL, 0, 1 - n);
    x->e->step[k].n = n;
    x->e->step[k].f = f;
    if (f->recall) x->e->step[k].k = (int)x->scope->nmemory++;
}

static void word(struct parser *x)
{
    const char *at = x->p;
    while (is_letter(*x->p) || is_digit(*x->p)) x->p++;
    str name = { at, (size_t)(x->p - at) };
    if (accept(x, "(")) call(x, at, name);
    else if (str_is(name, "missing")) emit_constant(x, (struct value){ .kind = NOT_KNOWN });
    else if (str_is(name, "nan")) emit_constant(x, number_value(NAN));
    else if (str_is(name, "inf")) emit_constant(x, number_value(INFINITY));
    else column(x, at, name);
}

static void atom(struct parser *x)
{
    skip_blanks(x);
    const char *at = x->p;
    if (++x->nested > NESTED_MAX) wrong(x, at, "nested too deeply");
    if (is_digit(*at) || (*at == '.' && is_digit(at[1]))) number(x);
    else if (*at == '\'' || *at == '"') emit_constant(x, (struct value){ .kind = TEXT, .text = quoted(x) });
    else if (is_letter(*at)) word(x);
    else if (*at == '[') {
        size_t n = strcspn(at, "]");
        if (!at[n]) wrong(x, at, "this bracket is never closed");
        x->p = at + n + 1;
        column(x, at, (str){ at + 1, n - 1 });
    } else if (accept(x, "(")) {
        expression(x);
        need(x, ")", "a ')' is missing before this");
    } else wrong(x, at, *at ? "a value is missing before this" : "a value is missing at the end");
    x->nested--;
}

/* ---- operators, the ones that bind most first */

static void unary(struct parser *x);

static void power(struct parser *x)
{
    atom(x);
    if (!accept(x, "^")) return;
    unary(x);
    emit(x, POWER, 0, -1);
}

static void unary(struct parser *x)
{
    if (++x->nested > NESTED_MAX) wrong(x, x->p, "nested too deeply");
    if (accept(x, "-")) {
        unary(x);
        emit(x, NEGATE, 0, 0);
    } else power(x);
    x->nested--;
}

struct operator { const char *sign; enum code code; };

static bool one_of(struct parser *x, const struct operator *ops, enum code *code)
{
    for (; ops->sign; ops++) {
        if (!accept(x, ops->sign)) continue;
        *code = ops->code;
        return true;
    }
    return false;
}

static void product(struct parser *x)
{
    static const struct operator ops[] = { { "*", MULTIPLY }, { "/", DIVIDE }, { "%", MODULO }, { 0 } };
    enum code code;
    unary(x);
    while (one_of(x, ops, &code)) {
        unary(x);
        emit(x, code, 0, -1);
    }
}

static void sum(struct parser *x)
{
    static const struct operator ops[] = { { "+", ADD }, { "-", SUBTRACT }, { 0 } };
    enum code code;
    product(x);
    while (one_of(x, ops, &code)) {
        product(x);
        emit(x, code, 0, -1);
    }
}

static void comparison(struct parser *x)
{
    static const struct operator ops[] = { { "==", EQUAL }, { "!=", UNEQUAL }, { "<=", LESS_EQUAL },
        { ">=", GREATER_EQUAL }, { "<", LESS }, { ">", GREATER }, { "!~", UNMATCH }, { "~", MATCH }, { 0 } };
    enum code code;
    sum(x);
    if (!one_of(x, ops, &code)) return;
    skip_blanks(x);
    const char *at = x->p;
    if (code == MATCH || code == UNMATCH) {
        if (*at != '\'' && *at != '"') wrong(x, at, "a pattern has to be a text in quotes");
        emit(x, code, add_pattern(x, at, quoted(x)), 0);
    } else {
        sum(x);
        emit(x, code, 0, -1);
    }
    skip_blanks(x);
    if (one_of(x, ops, &code)) wrong(x, at, "comparisons do not chain; write a < b && b < c");
    if (*x->p == '=') wrong(x, x->p, "'=' alone compares nothing, '==' does");
}

static void negation(struct parser *x)
{
    skip_blanks(x);
    if (++x->nested > NESTED_MAX) wrong(x, x->p, "nested too deeply");
    if (x->p[0] == '!' && x->p[1] != '=' && x->p[1] != '~') {
        x->p++;
        negation(x);
        emit(x, NOT, 0, 0);
    } else comparison(x);
    x->nested--;
}

/* what is decided by its left side is not computed on its right */
static void chain(struct parser *x, const char *word, enum code unless, enum code code, void (*side)(struct parser *))
{
    side(x);
    while (accept(x, word)) {
        size_t decided = emit(x, unless, 0, 0);
        side(x);
        emit(x, code, 0, -1);
        land(x, decided);
    }
}

static void all_of(struct parser *x)
{
    chain(x, "&&", UNLESS_FALSE, AND, negation);
}

static void any_of(struct parser *x)
{
    chain(x, "||", UNLESS_TRUE, OR, all_of);
}

static void expression(struct parser *x)
{
    if (++x->nested > NESTED_MAX) wrong(x, x->p, "nested too deeply");
    any_of(x);
    if (accept(x, "?")) {
        size_t otherwise = emit(x, BRANCH, 0, -1);
        expression(x);
        size_t end = emit(x, JUMP, 0, -1);
        need(x, ":", "a ':' is missing before this, CONDITION ? THIS : THAT");
        land(x, otherwise);
        expression(x);
        land(x, end);
        x->e->step[otherwise].n = (int)x->e->nstep;      /* where a condition that is not known goes */
    }
    x->nested--;
}

expr *expr_compile(struct scope *scope, const char *option, const char *text)
{
    struct parser x = { .scope = scope, .e = xcalloc(1, sizeof *x.e), .p = text };
    x.e->option = option;
    x.e->text = text;
    expression(&x);
    skip_blanks(&x);
    if (*x.p == '=') wrong(&x, x.p, "'=' alone compares nothing, '==' does");
    if (*x.p) wrong(&x, x.p, "an operator is missing before this");
    return x.e;
}

bool expr_late(const expr *e)
{
    return e->late;
}

/* ---- names */

size_t binding_name(const char *option, const char *binding)
{
    size_t n = strcspn(binding, "=");
    if (!n || !binding[n]) usage("%s: '%s' is not of the form NAME=...", option, binding);
    return n;
}

size_t scope_define(struct scope *s, str name)
{
    size_t k = intern(&s->names, name);
    s->named = grow(s->named, s->names.n, &s->capnames, sizeof *s->named);
    s->late = grow(s->late, s->names.n, &s->caplate, sizeof *s->late);
    s->late[k] = false;
    return k;
}
