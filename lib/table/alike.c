#include "table/alike.h"
#include "base/exact.h"
#include "base/message.h"
#include "base/num.h"
#include <math.h>
#include <string.h>

/* digits of an integer of any length, without the zeros before them; empty: something else */
static str integer(str s)
{
    if (s.n > 1 && *s.s == '-') s.s++, s.n--;
    for (size_t i = 0; i < s.n; i++) if (s.s[i] < '0' || s.s[i] > '9') return (str){ "", 0 };
    while (s.n > 1 && *s.s == '0') s.s++, s.n--;
    return s;
}

/* "inf" in any spelling, not 1e999 */
static bool is_infinity(str s) { return s.n && (s.s[s.n - 1] < '0' || s.s[s.n - 1] > '9'); }

bool alike(str a, str b, double tol, double absolute, double *error)
{
    double u, v;
    struct exact_number x, y;
    *error = NAN;
    if (str_eq(a, b)) return true;
    if (!num_parse(a.s, a.n, &u) || !num_parse(b.s, b.n, &v)) return false;
    if (isnan(u) || isnan(v)) return isnan(u) && isnan(v);
    if (isinf(u) || isinf(v)) return u == v && is_infinity(a) && is_infinity(b);
    if (exact_wrong(a.s, a.n, &x) || exact_wrong(b.s, b.n, &y)) return false;
    str i = integer(a), j = integer(b);
    bool same = exact_cmp(x, y) == 0;
    if (same && (!i.n || !j.n || str_eq(i, j) || fmax(absolute, tol) > 0)) return true;
    double gap = fabs(exact_sub(x, y).x), size = fmax(fabs(u), fabs(v));
    *error = gap / size;
    return !same && gap <= fmax(absolute, tol * size) && isfinite(gap);
}

static bool is_finite(str s)
{
    double v;
    return num_parse(s.s, s.n, &v) && isfinite(v);
}

bool alike_kind(str a, str b)
{
    return !a.n == !b.n && is_finite(a) == is_finite(b);
}

struct intern alike_names(const char *list)
{
    struct intern names = { 0 };
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
        intern(&names, (str){ p, strcspn(p, ",") });
    return names;
}

static void need_all(const struct table *from, const char *file, const struct table *in, const char *in_file,
                     const struct intern *ignored)
{
    struct intern names = { 0 };
    for (int i = 0; i < in->ncol; i++) intern(&names, in->name[i]);
    for (int i = 0; i < from->ncol; i++) {
        str name = from->name[i];
        if (intern_find(&names, name) < 0 && intern_find(ignored, name) < 0)
            die_at(in_file, 1, "no column '%.*s', which %s has", (int)name.n, name.s, file);
    }
    intern_free(&names);
}

int *alike_columns(const struct table *left, const struct table *right, char *const file[2], const char *ignore)
{
    int *to = xmalloc((size_t)left->ncol, sizeof *to);
    struct intern ignored = alike_names(ignore), names = { 0 };
    need_all(left, file[0], right, file[1], &ignored);
    need_all(right, file[1], left, file[0], &ignored);
    for (int i = 0; i < right->ncol; i++) intern(&names, right->name[i]);
    for (int i = 0; i < left->ncol; i++)
        to[i] = intern_find(&ignored, left->name[i]) >= 0 ? -1 : (int)intern_find(&names, left->name[i]);
    intern_free(&names);
    intern_free(&ignored);
    return to;
}
