/* calls.h - WORK/calls.csv and WORK/never.csv, as the adapters of compilers write them (see work.h). */
#ifndef MILLRACE_CALLS_H
#define MILLRACE_CALLS_H
#include "base/str.h"
#include "table/csvio.h"
#include <stdint.h>

/* a row of calls.csv, in source order; cost and threshold nan where not known */
struct call_row {
    str callee, caller, chain, file;
    uint32_t line, column;
    double cost, threshold;
};
#define CALL_COLUMNS "callee,caller,chain,file,line,column,cost,threshold"
struct call_tables {
    csvw *calls, *never;
}; /* headers written */
struct call_tables call_tables_open(const char *work);
void call_tables_close(struct call_tables *);
#endif
