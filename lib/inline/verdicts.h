/* verdicts.h - a table of calls with a verdict, yes or no: columns callee, chain and one more. */
#ifndef MILLRACE_VERDICTS_H
#define MILLRACE_VERDICTS_H
#include "base/str.h"
#include "inline/calls.h"
#include <stdbool.h>

void verdicts_read(struct intern *yes, const char *path, const char *column);        /* dies at file:line */
bool verdicts_yes(void *yes, const struct call_row *);   /* what the table does not name is a no */
#endif
