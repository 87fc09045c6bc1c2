/* filter.h - the command line of a filter: one table gives parsing, --help, completion and the man page.
 *
 * The first comment of bin/NAME.c is the help text; the Makefile turns it into a string, which the file gets by
 * `#include HELP` as `static const char help[]`.  The value a variable has before filter_init is its default and is
 * what --help shows; LONG_MIN, nan and, of a WORD, -1 stand for none.  Every filter also knows -h, --help, --version,
 * --quiet and (for completion) --_options and --_words. */
#ifndef MILLRACE_FILTER_H
#define MILLRACE_FILTER_H
#include "base/mem.h"
#include "base/message.h"
#include <stdbool.h>

struct list { const char **v; int n; };                  /* values of an option given many times */

struct opt {
    char c;                                              /* short name, 0 for none */
    const char *name;                                    /* long name; a NULL one ends the table */
    /* SIZE: bytes with K, M, G, Ki ...; WORD: which of arg's words, from 0 */
    enum { FLAG, INT, NUM, SIZE, STR, WORD, LIST } type;
    /* bool, long, double, uint64_t, const char *, int or enum, struct list */
    void *to;
    const char *arg, *help;                              /* "N", "FILE"; for WORD the legal words, "a|b|c" */
    double min, max;                                     /* legal range of INT, NUM, SIZE; unchecked when both are 0 */
};

/* A row that many tables have; others are beside what they set: LEVEL_OPTION, FAST_MEMORY .. */
#define OUTPUT_OPTION(output) { 'o', "out", STR, &(output), "FILE", "write here instead of standard output" }

extern bool quiet;                                       /* --quiet: no progress, no notes */

/* Options may stand before, between and after operands.  Operands end up in argv[i .. argc-1], i is returned. */
int filter_init(int argc, char **argv, const char *help, const struct opt *);

/* For filters that take a command to run: stop at the first operand. */
int filter_init_strict(int argc, char **argv, const char *help, const struct opt *);

/* The word that the WORD option stored at `to` has now, for messages, columns and files; NULL: none. */
const char *option_word(const void *to);

/* The single operand or "-"; usage() when there are more. */
const char *filter_operand(int argc, char **argv, int i);
#endif
