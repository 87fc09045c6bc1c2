#include "alike.h"
#include "base/num.h"
#include <math.h>

bool alike(str a, str b, double tol, double absolute, double *error)
{
    double x, y;
    *error = NAN;
    if (str_eq(a, b)) return true;
    if (!num_parse(a.s, a.n, &x) || !num_parse(b.s, b.n, &y)) return false;
    if (x == y || (isnan(x) && isnan(y))) return true;
    double gap = fabs(x - y), size = fmax(fabs(x), fabs(y));
    *error = gap / size;
    return gap <= fmax(absolute, tol * size) && isfinite(gap);
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
