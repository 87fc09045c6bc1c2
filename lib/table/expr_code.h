/* expr_code.h - the program that an expression becomes; between expr.c, which writes it, and expr_run.c. */
#ifndef MILLRACE_EXPR_CODE_H
#define MILLRACE_EXPR_CODE_H
#include "table/expr.h"
#include <regex.h>

enum { EXPR_DEPTH = 64 };                                /* values on the stack, and nesting */

enum code {
    PUSH,                                                /* constant[at] */
    PUSH_FIELD,                                          /* column at */
    PUSH_NAMED,                                          /* named[at] */
    NEGATE, NOT,
    ADD, SUBTRACT, MULTIPLY, DIVIDE, MODULO, POWER,
    EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL,
    MATCH, UNMATCH,                                      /* pattern[at] */
    UNLESS_FALSE, UNLESS_TRUE,                           /* of && and ||: the left side decides: go to step `at` */
    AND, OR,
    BRANCH,                                              /* take the condition; false: go to step `at` */
    JUMP,
    CALL,                                                /* f with n arguments */
    RECALL,                                              /* the same for one with a memory, which is memory `k` */
    TOTAL                                                /* of the row's group, number `at` of all totals */
};

struct step { enum code code; int at, n, k; const struct function *f; };

struct expr {
    const char *option, *text;                           /* for messages */
    struct step *step;
    size_t nstep, capstep;
    struct value *constant;
    size_t nconstant, capconstant;
    regex_t *pattern;
    size_t npattern, cappattern;
    struct { struct expr *of; size_t at; } *total;       /* its own totals */
    size_t ntotal, captotal;
    bool late;
};

/* what a running function keeps for one group: numbers, or the last values in a ring */
struct memory {
    size_t n, cap;
    double sum, lost;
    struct exact_number whole;                           /* the sum of integers, or an extreme */
    struct kept { struct value v; struct buf text; } *kept;
};

struct function {
    const char *name;
    int least, most;                                     /* arguments; -1: any number */
    int pattern;                                         /* which argument is a pattern, a text in quotes; 0: none */
    double (*of_number)(double);                         /* or one of these */
    struct value (*call)(const struct expr *, struct scope *, const struct value *arg, int n);
    struct value (*recall)(const struct expr *, struct scope *, const struct value *arg, int n, struct memory *);
};

const struct function *function_find(str name);          /* NULL: there is none */
char *function_missing(str name);                        /* what to say of a name that is none */

/* sums: of integers exact, of others compensated; what is not known adds nothing */
void memory_add(struct memory *, struct exact_number);
struct value memory_sum(const struct memory *);          /* not known: nothing was added */

/* false: not known; dies when it is text that is no number */
bool value_exact(const struct expr *, struct scope *, const struct value *, struct exact_number *number);
bool value_number(const struct expr *, struct scope *, const struct value *, double *number);

static inline struct value exact_value(struct exact_number v)
{
    return (struct value){ .kind = NUMBER, .number = v };
}

static inline struct value number_value(double v)
{
    return exact_value(exact_of(v));
}
#endif
