/* verdicts.c - see verdicts.h */
#include "inline/verdicts.h"
#include "decisions/site.h"
#include "table/csvio.h"
#include <stdlib.h>

void verdicts_read(struct intern *wanted, const char *path, const char *column)
{
    csv *t = csv_open(path);
    int callee = csv_need(t, "callee"), chain = csv_need(t, "chain"), verdict = csv_need(t, column);
    struct buf b = { 0 };
    while (csv_next(t)) {
        str v = csv_str(t, verdict);
        if (v.n && !str_is(v, "yes") && !str_is(v, "no")) csv_die(t, verdict, "yes, no or empty");
        site_key(&b, (struct site){ csv_str(t, callee), csv_str(t, chain) });
        if (str_is(v, "yes")) intern(wanted, (str){ b.s, b.n });
    }
    csv_close(t);
    free(b.s);
}

bool verdicts_yes(void *closure, const struct call_row *row)
{
    struct buf b = { 0 };
    site_key(&b, (struct site){ row->callee, row->chain });
    bool found = intern_find(closure, (str){ b.s, b.n }) >= 0;
    free(b.s);
    return found;
}
