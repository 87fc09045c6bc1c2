/* A large B comes from far, each block once: while one is used, again and again in a loop, the next is asked for, into
 * the second cache, a few lines with each body.  Of a B that is packed all lies together, and processors find it. */
#include "loop/code/walk.h"
#include "loop/code/machine.h"
#include <math.h>

enum { MOST_LINES = 32 };

bool stream_may(const struct loop_plan *q)
{
    const struct plan_part *x = &q->part[0];
    return q->split < 0 && !q->target->tiles && !x->lanes && !x->both && x->held == BASE_B && !q->given &&
           !q->view[TENSOR_B].half &&
           (double)q->p->elements[TENSOR_B] * q->p->bytes > machine_here()->cache[1].bytes / 2;
}

/* do this block and the next stay in the second cache, half of it, or of its sets that such rows reach? */
static bool both_stay(const struct plan_walk *w)
{
    const struct loop_machine *m = machine_here();
    const double line = w->stream_lines * 64.0, way = m->cache[1].way;
    double room = m->cache[1].bytes / 2;
    if (way > 0 && (double)w->stream_row > line) {
        double apart = fmin(way / walk_common((int32_t)way, (int32_t)w->stream_row), way / line);
        room = fmin(room, apart * line * m->cache[1].bytes / way);
    }
    return 2 * w->stream_rows * line <= room;
}

/* The next block begins where the next outer loop through B leads.  Inside of loop d, which does not move through B. */
bool stream_put(struct plan_walk *w, int d, const int32_t *e)
{
    const struct loop_plan *q = w->q;
    const struct plan_part *x = w->of;
    const int64_t *stride = q->p->stride[TENSOR_B];
    if (!q->streams || w->stream_rows > 0 || w->packed[TENSOR_B] || stride[x->loop[d].var]) return false;
    const struct plan_view *b = &q->view[w->now[TENSOR_B]];
    int next = d - 1, row = -1, fast = -1;
    while (next >= 0 && (!stride[x->loop[next].var] || x->loop[next].size < 2)) next--;
    if (next < 0) return false;
    for (int v = 0; v < q->p->nvar; v++) {
        if (b->stride[v] == q->p->bytes) fast = v;
        else if (!stride[v] || e[v] < 2) continue;
        else if (row >= 0) return false;
        else row = v;
    }
    if (row < 0 || fast < 0) return false;
    w->stream_row = b->stride[row];
    w->stream_lines = (e[fast] * q->p->bytes + 63 + 32) / 64;
    w->stream_rows = e[row];
    w->stream_times = w->times;
    if (w->stream_lines > MOST_LINES || !both_stay(w)) w->stream_rows = 0;
    if (!(w->stream_rows > 0)) return false;
    w->q->asked = true;
    walk_node(w, NODE_STREAM, (int32_t)(x->inner[next] * b->stride[x->loop[next].var]));
    return true;
}
