/* nest.c - see nest.h */
#include "prof/nest.h"
#include <stdlib.h>

struct nest_level { int64_t end; const struct row *of; };

/* the piece from cursor to the end of this level, unless that is past; returns the later of the two */
static int64_t emit(struct pieces *p, int64_t cursor, const struct nest_level *l)
{
    if (l->end <= cursor) return cursor;
    p->v = grow(p->v, p->n + 1, &p->cap, sizeof *p->v);
    p->v[p->n++] = (struct event_piece){ cursor, l->end, l->of };
    return l->end;
}

void nest_flatten(struct pieces *p, const struct row *row, size_t n, enum event_kind kind, struct repairs *repairs)
{
    size_t depth = 0;
    int64_t cursor = 0;
    p->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &row[i];
        if (r->end <= r->start || r->kind != kind) continue;
        for (; depth && p->stack[depth - 1].end <= r->start; depth--) cursor = emit(p, cursor, &p->stack[depth - 1]);
        int64_t end = r->end;
        if (depth) {
            emit(p, cursor, &(struct nest_level){ r->start, p->stack[depth - 1].of });
            if (repairs && end > p->stack[depth - 1].end) {
                end = p->stack[depth - 1].end;
                repairs->misnested++;
            }
        }
        cursor = r->start;
        p->stack = grow(p->stack, depth + 1, &p->depth_cap, sizeof *p->stack);
        p->stack[depth++] = (struct nest_level){ end, r };
    }
    for (; depth; depth--) cursor = emit(p, cursor, &p->stack[depth - 1]);
}

bool next_thread(const struct rows *t, size_t *begin, size_t *end)
{
    if (*end >= t->n) return false;
    *begin = *end;
    while (*end < t->n && t->v[*end].proc == t->v[*begin].proc && t->v[*end].tid == t->v[*begin].tid) ++*end;
    return true;
}
