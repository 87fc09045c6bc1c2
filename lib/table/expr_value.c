/* expr_value.c - see expr.h: values as text, as fields and as numbers. */
#include "base/message.h"
#include "table/expr_code.h"

str value_text(struct scope *s, const struct value *v)
{
    char b[EXACT_MAX];
    size_t n;
    switch (v->kind) {
    case TEXT: case FIELD: return v->text;
    case NUMBER:
        n = exact_print(b, v->number);
        return (str){ arena_copy(&s->text, b, n), n };
    case NOT_KNOWN: break;
    }
    return (str){ "", 0 };
}

void value_write(csvw *w, const struct value *v)
{
    switch (v->kind) {
    case TEXT: case FIELD: csvw_str(w, v->text); break;
    case NUMBER: csvw_exact(w, v->number); break;
    case NOT_KNOWN: csvw_empty(w); break;
    }
}

bool value_exact(const struct expr *e, struct scope *s, const struct value *v, struct exact_number *number)
{
    if (v->kind == NUMBER) {
        *number = v->number;
        return true;
    }
    if (v->kind == NOT_KNOWN || !v->text.n) return false;
    const char *expected = exact_wrong(v->text.s, v->text.n, number);
    if (!expected) return true;
    if (v->kind == FIELD && v->column >= 0) csv_die(s->t, v->column, expected);
    die_at(csv_file(s->t), csv_line(s->t), "%s '%s': '%.*s' is not %s", e->option, e->text,
           v->text.n > 200 ? 200 : (int)v->text.n, v->text.s, expected);
}

bool value_number(const struct expr *e, struct scope *s, const struct value *v, double *number)
{
    struct exact_number x;
    if (!value_exact(e, s, v, &x)) return false;
    *number = x.x;
    return true;
}
