/* verdicts.c - see verdicts.h */
#include "inline/verdicts.h"
#include "table/csvio.h"
#include <stdlib.h>

static void key_of(struct buf *b, str callee, str chain)
{
    b->n = 0;
    buf_str(b, callee);
    buf_char(b, ' ');
    buf_str(b, chain);
}

void verdicts_read(struct intern *wanted, const char *path, const char *column)
{
    csv *t = csv_open(path);
    int callee = csv_need(t, "callee"), chain = csv_need(t, "chain"), verdict = csv_need(t, column);
    struct buf b = { 0 };
    while (csv_next(t)) {
        str v = csv_str(t, verdict);
        if (v.n && !str_is(v, "yes") && !str_is(v, "no")) csv_die(t, verdict, "yes, no or empty");
        key_of(&b, csv_str(t, callee), csv_str(t, chain));
        if (str_is(v, "yes")) intern(wanted, (str){ b.s, b.n });
    }
    csv_close(t);
    free(b.s);
}

bool verdicts_yes(void *closure, const struct call_row *row)
{
    struct buf b = { 0 };
    key_of(&b, row->callee, row->chain);
    bool found = intern_find(closure, (str){ b.s, b.n }) >= 0;
    free(b.s);
    return found;
}
