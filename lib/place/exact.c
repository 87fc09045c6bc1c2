/* exact.c - see exact.h */
#include "place/exact.h"
#include "place/lp.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/out.h"
#include "measure/child.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *create(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) die_errno("%s", path);
    return f;
}

static void complete(FILE *f, const char *path)
{
    if (ferror(f) | fclose(f)) die_errno("%s", path);
}

static double number_after(const char *log, const char *words, double missing)
{
    const char *at = strstr(log, words);
    return at ? strtod(at + strlen(words), NULL) : missing;
}

static struct ran run(const char *model, const char *start, const char *answer, double seconds)
{
    char *text = xformat("cbc\n%s\n-mipstart\n%s\n-seconds\n%.0f\n-ratioGap\n1e-7\n-increment\n1e-12\n-solve\n"
                         "-solution\n%s\n-quit", model, start, ceil(seconds), answer);
    char *argv[20] = { NULL }, *rest = text;
    for (int i = 0; i < 19 && rest; i++) argv[i] = strsep(&rest, "\n");
    struct child c = { .argv = argv, .keep_output = true, .limits.wall_seconds = 10 * seconds + 60 };
    struct ran r = child_run(&c);
    free(text);
    return r;
}

/* of what CBC printed */
static struct exact judge(const struct ran *r)
{
    if (r->how == RAN_NOT_STARTED) die("cbc cannot be run: %s (Debian's package is coinor-cbc)", strerror(r->error));
    if (r->how == RAN_SIGNAL) die("cbc died of signal %d", r->signal);
    if (r->how != RAN_EXIT || r->code != 0) die("cbc failed: %s", ran_word(r));
    char *log = xformat("%.*s", (int)r->output.n, r->output.s ? r->output.s : "");
    double objective = number_after(log, "\nObjective value:", INFINITY) / LP_UNITS;
    double root = number_after(log, "\nContinuous objective value is", 0) / LP_UNITS;
    if (strstr(log, "\nResult - Optimal solution found")) root = objective;
    double bound = number_after(log, "\nLower bound:", root * LP_UNITS) / LP_UNITS;   /* rounded by CBC */
    struct exact e = { objective, fmin(objective, bound) };
    free(log);
    return e;
}

struct exact exact_placing(const struct placing *p, double seconds, struct placement *x)
{
    char *folder = out_scratch("cbc");
    char *model = xformat("%s/model.lp", folder), *start = xformat("%s/start", folder),
         *answer = xformat("%s/answer", folder);
    FILE *f = create(model);
    placing_write_lp(p, f);
    complete(f, model);
    f = create(start);
    placing_write_start(p, x, f);
    complete(f, start);
    struct ran r = run(model, start, answer, seconds);
    struct placement *theirs = placement_new(p);
    int node = 0;
    bool had = (f = fopen(answer, "r")) && placing_read_answer(p, f, theirs);
    if (f) fclose(f);
    bool faster = p->beside || placement_seconds(p, theirs) < placement_seconds(p, x);   /* beside: the layout says */
    if (had && placement_overload(p, theirs, &node) <= 0 && faster)
        placement_copy(p, x, theirs);
    placement_free(theirs);
    unlink(model);
    unlink(start);
    unlink(answer);
    rmdir(folder);
    free_all(model, start, answer, folder);
    struct exact e = judge(&r);
    free(r.output.s);
    return e;
}
