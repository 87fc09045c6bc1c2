#include "loop/search/picks.h"
#include "loop/nest/rows.h"

static void pick(void *k, const struct evaluator *v, const struct nest *t)
{
    struct picks *to = k;
    csvw_cstr(to->w, v->p->text);
    csvw_cstr(to->w, to->name);
    rows_write_tree(to->w, v->p, t);
    csvw_end(to->w);
}

void picks_watch(struct picks *k, struct evaluator *v, struct csvw *w, const char *name)
{
    *k = (struct picks){ w, name };
    csvw_names(w, "problem,algo,tree");
    csvw_end(w);
    v->model = true;
    v->watch = pick;
    v->watching = k;
}
