/* expr_run.c - see expr.h: the row at hand, and the machine that runs the steps for it. */
#include "base/checked.h"
#include "base/num.h"
#include "table/expr_code.h"
#include <math.h>
#include <string.h>

bool scope_row(struct scope *s)
{
    if (!csv_next(s->t)) return false;
    if (s->text.head) arena_reset(&s->text);
    s->row++;
    if (!s->nmemory && !s->ntotal) return true;
    size_t seen = s->groups.n;
    s->at = s->group.n ? intern(&s->groups, columns_key(s->t, s->group, &s->key)) : 0;
    if (s->group.n ? s->at != seen : s->row != 1) return true;
    if (s->nmemory) {
        s->memory = grow(s->memory, size_mul(s->at + 1, s->nmemory), &s->capmemory, sizeof *s->memory);
        memset(s->memory + s->at * s->nmemory, 0, s->nmemory * sizeof *s->memory);
    }
    if (!s->counts) return true;
    struct totals *all = s->totals;
    all->n = size_mul(s->at + 1, s->ntotal);
    all->memory = grow(all->memory, all->n, &all->cap, sizeof *all->memory);
    memset(all->memory + s->at * s->ntotal, 0, s->ntotal * sizeof *all->memory);
    return true;
}

static struct value total_of(const struct scope *s, int k)
{
    size_t at = s->at * s->ntotal + (size_t)k;           /* beyond the end: rows came that were not there before */
    if (s->counts || at >= s->totals->n) return (struct value){ .kind = NOT_KNOWN };
    return memory_sum(s->totals->memory + at);
}

void expr_count(const struct expr *e, struct scope *s)
{
    struct exact_number x;
    for (size_t k = 0; k < e->ntotal; k++) {
        struct value v = expr_run(e->total[k].of, s);
        if (value_exact(e, s, &v, &x)) memory_add(s->totals->memory + s->at * s->ntotal + e->total[k].at, x);
    }
}

/* ---- truth: 0, 1, or 2 for not known */

static int truth(const struct expr *e, struct scope *s, const struct value *v)
{
    double x;
    if (!value_number(e, s, v, &x)) return 2;
    return x != 0 && !isnan(x);
}

static struct value of_truth(int t)
{
    if (t == 2) return (struct value){ .kind = NOT_KNOWN };
    return number_value(t);
}

/* ---- comparison */

/* by the order of two things: < 0, 0, > 0 */
static bool holds(enum code c, int order)
{
    switch (c) {
    case EQUAL: return order == 0;
    case UNEQUAL: return order != 0;
    case LESS: return order < 0;
    case LESS_EQUAL: return order <= 0;
    case GREATER: return order > 0;
    default: return order >= 0;
    }
}

static struct value compare(const struct expr *e, struct scope *s, enum code c, const struct value *a,
                            const struct value *b)
{
    double u, v;
    struct exact_number x, y;
    if (a->kind == TEXT || b->kind == TEXT)
        return number_value(holds(c, str_cmp(value_text(s, a), value_text(s, b))));
    bool known = (a->kind == NUMBER || (a->kind == FIELD && a->text.n)) &&
                 (b->kind == NUMBER || (b->kind == FIELD && b->text.n));
    if (!known) return (struct value){ .kind = NOT_KNOWN };
    if (a->kind == FIELD && b->kind == FIELD &&
        !(num_parse(a->text.s, a->text.n, &u) && num_parse(b->text.s, b->text.n, &v)))
        return number_value(holds(c, str_cmp(a->text, b->text)));
    value_exact(e, s, a, &x);
    value_exact(e, s, b, &y);
    /* nan is unequal to all, and in no order */
    if (isnan(x.x) || isnan(y.x)) return number_value(c == UNEQUAL);
    return number_value(holds(c, exact_cmp(x, y)));
}

static struct value match(const struct expr *e, struct scope *s, const struct step *p, const struct value *a)
{
    str t = value_text(s, a);
    regmatch_t m = { .rm_so = 0, .rm_eo = (regoff_t)t.n };
    bool found = regexec(&e->pattern[p->at], t.s ? t.s : "", 1, &m, REG_STARTEND) == 0;
    return number_value(found == (p->code == MATCH));
}

/* ---- arithmetic */

static struct exact_number arithmetic(enum code c, struct exact_number a, struct exact_number b)
{
    switch (c) {
    case ADD: return exact_add(a, b);
    case SUBTRACT: return exact_sub(a, b);
    case MULTIPLY: return exact_mul(a, b);
    case DIVIDE: return exact_div(a, b);
    case MODULO: return exact_mod(a, b);
    default: return exact_pow(a, b);
    }
}

static void calculate(const struct expr *e, struct scope *s, enum code c, struct value *a, const struct value *b)
{
    struct exact_number x, y;
    bool first = value_exact(e, s, a, &x), second = value_exact(e, s, b, &y);
    *a = first && second ? exact_value(arithmetic(c, x, y)) : (struct value){ .kind = NOT_KNOWN };
}

static struct value apply(const struct expr *e, struct scope *s, const struct step *p, const struct value *arg)
{
    const struct function *f = p->f;
    struct exact_number x;
    if (p->code == RECALL) return f->recall(e, s, arg, p->n, s->memory + s->at * s->nmemory + p->k);
    if (!f->of_number) return f->call(e, s, arg, p->n);
    if (!value_exact(e, s, arg, &x)) return (struct value){ .kind = NOT_KNOWN };
    /* what rounds leaves integers as they are; of others the functions are those of doubles */
    bool rounds = f->of_number == ceil || f->of_number == floor || f->of_number == trunc;
    if (x.big && rounds) return exact_value(x);
    if (x.big && f->of_number == fabs) return exact_value(x.x < 0 ? exact_sub(exact_of(0), x) : x);
    return number_value(f->of_number(x.x));
}

struct value expr_run(const expr *e, struct scope *s)
{
    struct value stack[EXPR_DEPTH + 1], *top = stack;     /* stack[0] stays empty */
    struct exact_number x;
    int t;
    for (size_t i = 0; i < e->nstep; i++) {
        const struct step *p = &e->step[i];
        switch (p->code) {
        case PUSH: *++top = e->constant[p->at]; break;
        case PUSH_FIELD: *++top = (struct value){ .kind = FIELD, .column = p->at, .text = csv_str(s->t, p->at) }; break;
        case PUSH_NAMED: *++top = s->named[p->at]; break;
        case NEGATE:
            *top = !value_exact(e, s, top, &x) ? (struct value){ .kind = NOT_KNOWN }
                   : x.x == 0                  ? number_value(-x.x)
                                               : exact_value(exact_sub(exact_of(0), x));
            break;
        case NOT: t = truth(e, s, top); *top = of_truth(t == 2 ? 2 : !t); break;
        case ADD: case SUBTRACT: case MULTIPLY: case DIVIDE: case MODULO: case POWER:
            top--;
            calculate(e, s, p->code, top, top + 1);
            break;
        case EQUAL: case UNEQUAL: case LESS: case LESS_EQUAL: case GREATER: case GREATER_EQUAL:
            top--;
            *top = compare(e, s, p->code, top, top + 1);
            break;
        case MATCH: case UNMATCH: *top = match(e, s, p, top); break;
        case UNLESS_FALSE: case UNLESS_TRUE:
            t = truth(e, s, top);
            *top = of_truth(t);
            if (t == (p->code == UNLESS_TRUE)) i = (size_t)p->at - 1;
            break;
        case AND:
            t = truth(e, s, top--);
            *top = t == 0 ? of_truth(0) : t == 2 ? of_truth(2) : *top;
            break;
        case OR:
            t = truth(e, s, top--);
            *top = t == 1 ? of_truth(1) : t == 2 ? of_truth(2) : *top;
            break;
        case BRANCH:
            t = truth(e, s, top--);
            if (t == 2) *++top = of_truth(2);
            if (t != 1) i = (size_t)(t == 2 ? p->n : p->at) - 1;
            break;
        case JUMP: i = (size_t)p->at - 1; break;
        case CALL: case RECALL:
            top -= p->n - 1;
            *top = apply(e, s, p, top);
            break;
        case TOTAL: *++top = total_of(s, p->at); break;
        }
    }
    // cppcheck-suppress uninitvar
    return *top;                                         /* a program is at least one step, and its first pushes */
}

bool expr_holds(const expr *e, struct scope *s)
{
    struct value v = expr_run(e, s);
    return truth(e, s, &v) == 1;
}
