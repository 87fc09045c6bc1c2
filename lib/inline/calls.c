/* calls.c - see calls.h */
#include "inline/calls.h"

struct call_tables call_tables_open(const char *work)
{
    struct call_tables t = { csvw_open(xformat("%s/calls.csv", work)), csvw_open(xformat("%s/never.csv", work)) };
    csvw_names(t.calls, CALL_COLUMNS);
    csvw_end(t.calls);
    csvw_names(t.never, "callee,reason");
    csvw_end(t.never);
    return t;
}

void call_tables_close(struct call_tables *t)
{
    csvw_close(t->never);
    csvw_close(t->calls);
}
