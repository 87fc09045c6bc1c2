/* say.c - see say.h */
#include "measure/say.h"
#include <math.h>
#include <string.h>

/* "9.1 % less", "0.3 % more", "no more"; more than double as "2.3 times" */
static void put_change(FILE *f, double log_ratio)
{
    double r = exp(log_ratio), percent = 100 * fabs(r - 1);
    if (!isfinite(r)) fputs("any amount more", f);
    else if (r >= 2) fprintf(f, "%.3g times", r);
    else if (percent < 0.005) fputs("no more", f);
    else fprintf(f, "%.3g %% %s", percent, r < 1 ? "less" : "more");
}

/* both ends in one unit where they have one: "12.9 to 13.4 % less" */
static void put_range(FILE *f, double lower, double upper)
{
    double a = exp(lower), b = exp(upper);
    if (a <= 0.99995 && b <= 0.99995) fprintf(f, "%.3g to %.3g %% less", 100 * (1 - b), 100 * (1 - a));
    else if (a >= 1.00005 && b < 2) fprintf(f, "%.3g to %.3g %% more", 100 * (a - 1), 100 * (b - 1));
    else if (a >= 2 && isfinite(b)) fprintf(f, "%.3g to %.3g times", a, b);
    else {
        put_change(f, lower);
        fputs(" to ", f);
        put_change(f, upper);
    }
}

static const char *how(enum verdict v)
{
    switch (v) {
    case FASTER: return "is faster than";
    case SLOWER: return "is slower than";
    case SAME: return "is as fast as";
    default: return "may be faster or slower than";
    }
}

void comparison_say(FILE *f, const struct runs *r, const struct compare_options *o, const struct comparison *x)
{
    const char *base = r->label.name[o->base].s, *label = r->label.name[x->label].s;
    str benchmark = r->benchmark.n ? r->benchmark.name[x->benchmark] : (str){ "", 0 };
    if (benchmark.n) fprintf(f, "%.*s: ", (int)benchmark.n, benchmark.s);
    if (x->verdict == INVALID) {
        fprintf(f, "%s cannot be compared with %s: a run failed, see above\n", label, base);
        return;
    }
    fprintf(f, "%s %s %s: it takes ", label, how(x->verdict), base);
    put_change(f, x->p.log_ratio.point);
    bool times = exp(x->p.log_ratio.point) >= 2;         /* "2.5 times the CPU time" */
    fprintf(f, "%s %s time (", times ? " the" : "", strcmp(r->metric, "cpu") == 0 ? "CPU" : r->metric);
    put_range(f, x->p.log_ratio.lower, x->p.log_ratio.upper);
    fprintf(f, ", %g %% interval, %zu rounds)\n", 100 * o->confidence, (size_t)x->p.n);
}
