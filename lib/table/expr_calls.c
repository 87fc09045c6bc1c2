/* expr_calls.c - the functions that expressions may call; the table at the end is all there is. */
#include "base/message.h"
#include "base/near.h"
#include "table/expr_code.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_OF const struct expr *e, struct scope *s, const struct value *arg, int n
#define UNUSED (void)e, (void)s, (void)arg, (void)n

enum { LAG_MAX = 1000000, PLACES_MAX = 300 };

static const struct value not_known = { .kind = NOT_KNOWN };

static bool is_known(const struct value *v)
{
    return v->kind == NUMBER || v->kind == TEXT || (v->kind == FIELD && v->text.n);
}

static struct value of_text(str t)
{
    return (struct value){ .kind = TEXT, .column = -1, .text = t };
}

static struct value of_buf(struct scope *s, struct buf *b)
{
    str t = { arena_copy(&s->text, b->s ? b->s : "", b->n), b->n };
    free(b->s);
    return of_text(t);
}

/* argument k as a whole number from lo to hi; false: not known */
static bool whole(const struct expr *e, struct scope *s, const struct value *v, long lo, long hi, long *to)
{
    double x;
    if (!value_number(e, s, v, &x)) return false;
    if (!(x >= (double)lo && x <= (double)hi) || x != floor(x))
        die_at(csv_file(s->t), csv_line(s->t), "%s '%s': %g is not a whole number from %ld to %ld", e->option,
               e->text, x, lo, hi);
    *to = (long)x;
    return true;
}

/* ---- numbers */

static double sign(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}

static double is_nan(double x)
{
    return isnan(x);
}

static struct value extreme(CALL_OF, bool greatest)
{
    struct exact_number best = { .x = NAN }, x;
    for (int k = 0; k < n; k++) {
        if (!value_exact(e, s, arg + k, &x)) return not_known;
        if (isnan(x.x)) return exact_value(x);
        if (k == 0 || (greatest ? exact_cmp(x, best) > 0 : exact_cmp(x, best) < 0)) best = x;
    }
    return exact_value(best);
}

static struct value least(CALL_OF)
{
    return extreme(e, s, arg, n, false);
}

static struct value greatest(CALL_OF)
{
    return extreme(e, s, arg, n, true);
}

/* decimals by way of text, so that what is rounded is what would be printed */
static size_t decimals(char *b, size_t cap, bool significant, long places, double x)
{
    int k = significant ? snprintf(b, cap, "%.*g", (int)places, x) : snprintf(b, cap, "%.*f", (int)places, x);
    return (size_t)k;
}

static struct value to_places(CALL_OF)
{
    struct exact_number x;
    long places = 0;
    char b[700];
    if (!value_exact(e, s, arg, &x) || (n > 1 && !whole(e, s, arg + 1, 0, PLACES_MAX, &places))) return not_known;
    if (x.big || !isfinite(x.x)) return exact_value(x);
    decimals(b, sizeof b, false, places, x.x);
    return number_value(strtod(b, NULL));
}

static struct value fixed(CALL_OF)
{
    struct exact_number x;
    long places;
    char b[700];
    (void)n;
    if (!value_exact(e, s, arg, &x) || !whole(e, s, arg + 1, 0, PLACES_MAX, &places)) return not_known;
    bool rounds = !x.big && isfinite(x.x);
    size_t k = rounds ? decimals(b, sizeof b, false, places, x.x) : exact_print(b, x);
    if (x.big && places) k += (size_t)snprintf(b + k, sizeof b - k, ".%0*d", (int)places, 0);
    return of_text((str){ arena_copy(&s->text, b, k), k });
}

static struct value digits(CALL_OF)
{
    struct exact_number x;
    long places;
    char b[700];
    (void)n;
    if (!value_exact(e, s, arg, &x) || !whole(e, s, arg + 1, 1, PLACES_MAX, &places)) return not_known;
    if (!isfinite(x.x)) return number_value(x.x);
    if (x.big && exact_print(b, x) <= (size_t)places + (*b == '-')) return exact_value(x);
    decimals(b, sizeof b, true, places, x.x);
    return number_value(strtod(b, NULL));
}

/* ---- what is known */

static struct value known(CALL_OF)
{
    UNUSED;
    return number_value(is_known(arg));
}

static struct value first_known(CALL_OF)
{
    UNUSED;
    for (int k = 0; k < n; k++) if (is_known(arg + k)) return arg[k];
    return not_known;
}

static struct value to_number(CALL_OF)
{
    UNUSED;
    struct exact_number x;
    if (arg->kind == NUMBER) return *arg;
    return is_known(arg) && !exact_wrong(arg->text.s, arg->text.n, &x) ? exact_value(x) : not_known;
}

/* ---- text */

static struct value to_text(CALL_OF)
{
    (void)e, (void)n;
    return is_known(arg) ? of_text(value_text(s, arg)) : not_known;
}

static struct value concat(CALL_OF)
{
    (void)e;
    struct buf b = { 0 };
    for (int k = 0; k < n; k++) buf_str(&b, value_text(s, arg + k));
    return of_buf(s, &b);
}

static bool begins_character(char c)
{
    return (c & 0xc0) != 0x80;
}

static struct value length(CALL_OF)
{
    (void)e, (void)n;
    if (!is_known(arg)) return not_known;
    str t = value_text(s, arg);
    size_t k = 0;
    for (size_t i = 0; i < t.n; i++) k += begins_character(t.s[i]);
    return number_value((double)k);
}

static struct value recase(CALL_OF, char from, char to)
{
    (void)e, (void)n;
    if (!is_known(arg)) return not_known;
    str t = value_text(s, arg);
    char *c = arena_copy(&s->text, t.s, t.n);
    for (size_t i = 0; i < t.n; i++) if (c[i] >= from && c[i] < from + 26) c[i] = (char)(c[i] - from + to);
    return of_text((str){ c, t.n });
}

static struct value lower(CALL_OF)
{
    return recase(e, s, arg, n, 'A', 'a');
}

static struct value upper(CALL_OF)
{
    return recase(e, s, arg, n, 'a', 'A');
}

static struct value trim(CALL_OF)
{
    (void)e, (void)n;
    if (!is_known(arg)) return not_known;
    str t = value_text(s, arg);
    for (; t.n && strchr(" \t", t.s[0]); t.s++) t.n--;
    while (t.n && strchr(" \t", t.s[t.n - 1])) t.n--;
    return of_text(t);
}

/* where `what` lies in t, or -1 */
static long find(str t, str what)
{
    const char *at = what.n ? memmem(t.s, t.n, what.s, what.n) : t.s;
    return at ? at - t.s : -1;
}

static struct value contains(CALL_OF)
{
    (void)e, (void)n;
    if (!is_known(arg) || !is_known(arg + 1)) return not_known;
    return number_value(find(value_text(s, arg), value_text(s, arg + 1)) >= 0);
}

static struct value starts(CALL_OF)
{
    (void)e, (void)n;
    if (!is_known(arg) || !is_known(arg + 1)) return not_known;
    str t = value_text(s, arg), p = value_text(s, arg + 1);
    return number_value(p.n <= t.n && str_eq((str){ t.s, p.n }, p));
}

static struct value ends(CALL_OF)
{
    (void)e, (void)n;
    if (!is_known(arg) || !is_known(arg + 1)) return not_known;
    str t = value_text(s, arg), p = value_text(s, arg + 1);
    return number_value(p.n <= t.n && str_eq((str){ t.s + (t.n - p.n), p.n }, p));
}

static str behind(str t, long at, str what)
{
    return (str){ t.s + at + what.n, t.n - (size_t)at - what.n };
}

/* the n-th of the pieces between separators, from the end for n < 0 */
static struct value part(CALL_OF)
{
    (void)n;
    long which = 0, count = 1;
    if (!is_known(arg) || !is_known(arg + 1) || !whole(e, s, arg + 2, -LAG_MAX, LAG_MAX, &which)) return not_known;
    str t = value_text(s, arg), by = value_text(s, arg + 1);
    if (!by.n) die_at(csv_file(s->t), csv_line(s->t), "%s '%s': part() needs a separator", e->option, e->text);
    if (which < 0) {
        str rest = t;
        for (long at; (at = find(rest, by)) >= 0; count++) rest = behind(rest, at, by);
        which += count + 1;
    }
    if (which < 1) return not_known;
    for (;; which--) {
        long at = find(t, by);
        if (which == 1) return of_text(at < 0 ? t : (str){ t.s, (size_t)at });
        if (at < 0) return not_known;
        t = behind(t, at, by);
    }
}

/* n characters from the one numbered `from`, 1 the first */
static struct value slice(CALL_OF)
{
    long from, count = LONG_MAX;
    if (!is_known(arg) || !whole(e, s, arg + 1, 1, LAG_MAX, &from)) return not_known;
    if (n > 2 && !whole(e, s, arg + 2, 0, LAG_MAX, &count)) return not_known;
    str t = value_text(s, arg);
    size_t i = 0, begin;
    for (; i < t.n; i++) if (begins_character(t.s[i]) && --from == 0) break;
    for (begin = i; i < t.n; i++) if (begins_character(t.s[i]) && count-- == 0) break;
    return of_text((str){ t.s + begin, i - begin });
}

static bool search(const struct expr *e, const struct value *pattern, str t, size_t from, regmatch_t *m, size_t nm)
{
    m[0] = (regmatch_t){ .rm_so = (regoff_t)from, .rm_eo = (regoff_t)t.n };
    int flags = REG_STARTEND | (from ? REG_NOTBOL : 0);
    return regexec(&e->pattern[(size_t)pattern->number.x], t.s ? t.s : "", nm, m, flags) == 0;
}

static struct value replace(CALL_OF)
{
    (void)n;
    if (!is_known(arg) || !is_known(arg + 2)) return not_known;
    str t = value_text(s, arg), by = value_text(s, arg + 2);
    struct buf b = { 0 };
    regmatch_t m;
    size_t at = 0;
    while (at <= t.n && search(e, arg + 1, t, at, &m, 1)) {
        buf_add(&b, t.s + at, (size_t)m.rm_so - at);
        buf_str(&b, by);
        at = (size_t)m.rm_eo;
        if (m.rm_eo > m.rm_so) continue;
        do if (at < t.n) buf_char(&b, t.s[at]);          /* nothing was matched: go on behind the next character */
        while (++at < t.n && !begins_character(t.s[at]));
    }
    if (at < t.n) buf_add(&b, t.s + at, t.n - at);
    return of_buf(s, &b);
}

/* what matches, or what its first pair of brackets holds */
static struct value extract(CALL_OF)
{
    (void)n;
    if (!is_known(arg)) return not_known;
    str t = value_text(s, arg);
    regmatch_t m[2] = { 0 };
    if (!search(e, arg + 1, t, 0, m, 2)) return not_known;
    regmatch_t *g = m + (e->pattern[(size_t)arg[1].number.x].re_nsub > 0);
    return g->rm_so < 0 ? not_known : of_text((str){ t.s + g->rm_so, (size_t)(g->rm_eo - g->rm_so) });
}

/* ---- rows */

static struct value row(CALL_OF)
{
    UNUSED;
    return number_value((double)s->row);
}

#define RECALL_OF CALL_OF, struct memory *m

static void keep(struct kept *k, const struct value *v)
{
    k->v = *v;
    if (v->kind != TEXT && v->kind != FIELD) return;
    k->text.n = 0;
    buf_str(&k->text, v->text);
    k->v.text = (str){ k->text.s, k->text.n };
}

static void kept_room(struct memory *m, size_t n)
{
    if (m->kept) return;
    m->cap = n;
    m->kept = xcalloc(n, sizeof *m->kept);
}

static struct value lag(RECALL_OF)
{
    long by = 1;
    if (n > 1 && !whole(e, s, arg + 1, 1, LAG_MAX, &by)) return not_known;
    kept_room(m, (size_t)by);
    if (m->cap != (size_t)by)
        die_at(csv_file(s->t), csv_line(s->t), "%s '%s': the distance of lag() is %zu and then %ld", e->option,
               e->text, m->cap, by);
    struct kept *k = &m->kept[m->n++ % m->cap];
    struct value v = m->n > m->cap ? k->v : not_known;
    if (v.kind == TEXT || v.kind == FIELD) v.text.s = arena_copy(&s->text, v.text.s, v.text.n);
    keep(k, arg);
    return v;
}

static struct value first(RECALL_OF)
{
    (void)e, (void)s, (void)n;
    kept_room(m, 1);
    if (!m->n++) keep(m->kept, arg);
    return m->kept->v;
}

static struct value run_count(RECALL_OF)
{
    UNUSED;
    return number_value((double)++m->n);
}

/* compensated (Neumaier, 1974) */
void memory_add(struct memory *m, struct exact_number v)
{
    double x = v.x, sum = m->sum + x;
    __int128 i;
    if (isfinite(sum)) m->lost += fabs(m->sum) >= fabs(x) ? (m->sum - sum) + x : (x - sum) + m->sum;
    m->sum = sum;
    m->whole = exact_integer(v, &i) ? exact_add(m->whole, v) : exact_of(NAN);
    m->n++;
}

struct value memory_sum(const struct memory *m)
{
    __int128 i;
    if (!m->n) return not_known;
    if (exact_integer(m->whole, &i)) return exact_value(m->whole);
    return number_value(isfinite(m->sum) ? m->sum + m->lost : m->sum);
}

static struct value run_sum(RECALL_OF)
{
    struct exact_number v;
    (void)n;
    if (value_exact(e, s, arg, &v)) memory_add(m, v);
    return memory_sum(m);
}

static struct value run_extreme(RECALL_OF, bool greatest)
{
    struct exact_number x;
    (void)n;
    if (value_exact(e, s, arg, &x) && !(m->n && isnan(m->whole.x))) {
        int order = m->n && !isnan(x.x) ? exact_cmp(x, m->whole) : 0;
        if (!m->n++ || isnan(x.x) || (greatest ? order > 0 : order < 0)) m->whole = x;
    }
    return m->n ? exact_value(m->whole) : not_known;
}

static struct value run_min(RECALL_OF)
{
    return run_extreme(e, s, arg, n, m, false);
}

static struct value run_max(RECALL_OF)
{
    return run_extreme(e, s, arg, n, m, true);
}

/* ---- all of them, in order of name */

static const struct function functions[] = {
    { "abs", 1, 1, 0, fabs, 0, 0 }, { "ceil", 1, 1, 0, ceil, 0, 0 }, { "concat", 1, -1, 0, 0, concat, 0 },
    { "contains", 2, 2, 0, 0, contains, 0 }, { "digits", 2, 2, 0, 0, digits, 0 }, { "ends", 2, 2, 0, 0, ends, 0 },
    { "exp", 1, 1, 0, exp, 0, 0 }, { "extract", 2, 2, 2, 0, extract, 0 }, { "first", 1, 1, 0, 0, 0, first },
    { "fixed", 2, 2, 0, 0, fixed, 0 }, { "floor", 1, 1, 0, floor, 0, 0 }, { "isnan", 1, 1, 0, is_nan, 0, 0 },
    { "known", 1, 1, 0, 0, known, 0 }, { "lag", 1, 2, 0, 0, 0, lag }, { "length", 1, 1, 0, 0, length, 0 },
    { "log", 1, 1, 0, log, 0, 0 }, { "log10", 1, 1, 0, log10, 0, 0 }, { "log2", 1, 1, 0, log2, 0, 0 },
    { "lower", 1, 1, 0, 0, lower, 0 }, { "max", 1, -1, 0, 0, greatest, 0 }, { "min", 1, -1, 0, 0, least, 0 },
    { "number", 1, 1, 0, 0, to_number, 0 }, { "or", 1, -1, 0, 0, first_known, 0 }, { "part", 3, 3, 0, 0, part, 0 },
    { "replace", 3, 3, 2, 0, replace, 0 }, { "round", 1, 2, 0, 0, to_places, 0 }, { "row", 0, 0, 0, 0, row, 0 },
    { "run_count", 0, 0, 0, 0, 0, run_count }, { "run_max", 1, 1, 0, 0, 0, run_max },
    { "run_min", 1, 1, 0, 0, 0, run_min }, { "run_sum", 1, 1, 0, 0, 0, run_sum }, { "sign", 1, 1, 0, sign, 0, 0 },
    { "slice", 2, 3, 0, 0, slice, 0 }, { "sqrt", 1, 1, 0, sqrt, 0, 0 }, { "starts", 2, 2, 0, 0, starts, 0 },
    { "text", 1, 1, 0, 0, to_text, 0 }, { "trim", 1, 1, 0, 0, trim, 0 }, { "trunc", 1, 1, 0, trunc, 0, 0 },
    { "upper", 1, 1, 0, 0, upper, 0 } };

enum { NFUNCTION = sizeof functions / sizeof *functions };

const struct function *function_find(str name)
{
    for (int i = 0; i < NFUNCTION; i++) if (str_is(name, functions[i].name)) return functions + i;
    return NULL;
}

char *function_missing(str name)
{
    /* names of other languages, and what they are here */
    static const char *const here[][2] = {
        { "sum", "total(), or run_sum() up to the row at hand" }, { "cumsum", "run_sum()" },
        { "if", "CONDITION ? A : B" },
        { "avg", "csv-group --stat=mean" }, { "mean", "csv-group --stat=mean" }, { "len", "length()" },
        { "count", "run_count(), or csv-group" }, { "substr", "slice()" }, { "split", "part()" },
        { "coalesce", "or()" }, { "pow", "A ^ B" }, { "float", "number()" }, { "int", "trunc()" } };
    struct near near = { .want = name };
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        if (str_is(name, here[i][0])) return xformat("no function '%s'; it is %s", here[i][0], here[i][1]);
    for (int i = 0; i < NFUNCTION; i++) near_offer(&near, str_of(functions[i].name));
    return near.best.n ? xformat("no function '%.*s'; did you mean %s()?", (int)name.n, name.s, near.best.s)
                       : xformat("no function '%.*s', see --help", (int)name.n, name.s);
}
