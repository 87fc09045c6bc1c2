/* recorded.h - a program's compilations as its own build made them: from a program built through inline-cc (wrap.h), or
 * from a compile_commands.json, which does not say what is linked.  A program's units are those that are in it. */
#ifndef MILLRACE_RECORDED_H
#define MILLRACE_RECORDED_H
#include "inline/program.h"

struct recorded {
    struct unit *unit;                                   /* in the order of the link where the record tells it */
    size_t n, cap, ordered;
    char **libraries;
};

/* The program NAME in the directory or below, or, NAME NULL, the file itself.  Dies with a sentence where there is
 * none, or where it holds no record. */
void recorded_of_build(struct recorded *, const char *directory, const char *name);
void recorded_of_commands(struct recorded *, const char *json); /* dies at file:line:column */
#endif
