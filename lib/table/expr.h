/* expr.h - expressions over the columns of a table: text, compiled once to a small stack program, run for every row.
 *
 * The grammar is in the help of csv-calc.  A value is not known (an empty field), a number, or text; a field is text
 * until it is used as a number.  What is computed from something not known is not known; && and || follow Kleene.
 * Integers stay integers (base/exact.h), other numbers are doubles.  A wrong expression is a usage error with its
 * position; a field that should be a number and is not ends the filter with file, line and column.  Texts in values
 * live until the next scope_row. */
#ifndef MILLRACE_EXPR_H
#define MILLRACE_EXPR_H
#include "table/columns.h"

struct value {
    enum { NOT_KNOWN, NUMBER, TEXT, FIELD } kind;        /* FIELD: text of a column, perhaps a number */
    int column;                                          /* of a FIELD, -1 for none */
    struct exact_number number;
    str text;
};

/* What names mean, and the row at hand.  Zero-initialise, set t and group; names are added, then expressions compiled,
 * then rows read. */
struct scope {
    csv *t;
    struct columns group;                                /* lag() and the running functions start anew in each */
    struct intern names;                                 /* beside the columns, and before them */
    struct value *named;
    struct arena text;                                   /* texts made for this row */
    size_t row;                                          /* 1 is the first */
    struct intern groups;
    struct buf key;
    size_t at, nmemory;                                  /* the row's group; memories of each group */
    size_t capnames, capmemory;
    struct memory *memory;                               /* memory[group * nmemory + k] */
    struct totals *totals;
    bool counts, *late;                                  /* late: names that need a total */
    size_t caplate, ntotal;
};

/* What total() and share() need: their arguments, and what these add up to over all rows of each group.  Rows are read
 * twice: by a scope whose `counts` is set, and by another with the same texts, groups and totals. */
struct totals { struct memory *memory; size_t n, cap; };

typedef struct expr expr;

/* "NAME=REST": the length of NAME; usage error when there is none */
size_t binding_name(const char *option, const char *binding);
size_t scope_define(struct scope *, str name);           /* index in named, the same for the same name */
expr *expr_compile(struct scope *, const char *option, const char *text);
bool scope_row(struct scope *);                          /* the next row of t; false at its end */
bool expr_late(const expr *);                            /* it needs a total, or a name that does */
void expr_count(const expr *, struct scope *);           /* add the row at hand to its totals */
struct value expr_run(const expr *, struct scope *);
bool expr_holds(const expr *, struct scope *);           /* true: not 0, not nan, and known */
str value_text(struct scope *, const struct value *);    /* of something not known: empty */
void value_write(csvw *, const struct value *);
#endif
