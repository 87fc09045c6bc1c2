#include "loop/search/curve.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char columns[] = "algo,episode,steps,updates,return,explore,loss,states,kind";

static void write_point(csvw *w, const struct curve *c, const struct point *x)
{
    csvw_cstr(w, c->algo);
    csvw_int(w, x->episode);
    csvw_int(w, x->steps);
    csvw_int(w, x->updates);
    csvw_num(w, x->total);
    csvw_num(w, x->explore);
    csvw_known(w, x->loss);
    csvw_known(w, x->states);
    csvw_cstr(w, c->kind);
    csvw_end(w);
}

void curve_open(struct curve *c, const char *algo, const char *kind)
{
    *c = (struct curve){ .algo = algo, .kind = kind, .w = csvw_open("-") };
    csvw_names(c->w, columns);
    csvw_end(c->w);
}

void curve_add(struct curve *c, struct point x)
{
    c->point = grow(c->point, c->n + 1, &c->cap, sizeof *c->point);
    c->point[c->n++] = x;
    write_point(c->w, c, &x);
    csvw_flush(c->w);
}

void curve_save(const struct curve *c, const char *checkpoint)
{
    char *path = xformat("%s.curve", checkpoint);
    csvw *w = csvw_open(path);
    csvw_names(w, columns);
    csvw_end(w);
    for (size_t i = 0; i < c->n; i++) write_point(w, c, &c->point[i]);
    csvw_close(w);
    free(path);
}

void curve_recall(struct curve *c, const char *checkpoint, long steps)
{
    char *path = xformat("%s.curve", checkpoint);
    csv *t = access(path, R_OK) ? NULL : csv_open(path);
    if (!t) {
        free(path);
        return;
    }
    int episode = csv_need(t, "episode"), at = csv_need(t, "steps"), updates = csv_need(t, "updates"),
        total = csv_need(t, "return"), explore = csv_need(t, "explore"), loss = csv_need(t, "loss"),
        states = csv_need(t, "states");
    while (csv_next(t)) {
        struct point x = { csv_int(t, episode), csv_int(t, at), csv_int(t, updates), csv_num(t, total),
                           csv_num(t, explore), csv_num_or(t, loss, NAN), csv_num_or(t, states, NAN) };
        if (x.steps <= steps) curve_add(c, x);
    }
    csv_close(t);
    free(path);                                          /* messages name it until then */
}

int curve_close(struct curve *c)
{
    free(c->point);
    return csvw_close(c->w);
}
