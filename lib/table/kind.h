/* kind.h - how a number was obtained, from the row it came in by to the title of the figure.
 *
 * The words are real (measured as it is), emulated (measured on something slowed down or replaced on purpose),
 * simulated (computed by a model) and published (from a paper). A table of results says them in its column `kind`;
 * what is made of several rows has the kinds of all of them, written with + between, weakest last: real+simulated.
 * Nothing said, an empty field or no such column, is "not known": it is passed on as an empty field and never becomes
 * real. A filter reads by kind_of_row, joins by |, writes by kind_write; only what measures by itself writes
 * KIND_REAL. `model`, a word of older tables, reads as simulated. A plot says `call "kind.gp" TABLE` and has `kind`
 * for its title. */
#ifndef MILLRACE_KIND_H
#define MILLRACE_KIND_H
#include "table/csvio.h"

enum { KIND_REAL = 1, KIND_EMULATED = 2, KIND_SIMULATED = 4, KIND_PUBLISHED = 8, KIND_NOT_KNOWN = 16 };

unsigned kind_parse(str s);                              /* 0: not in the vocabulary */
unsigned kind_of_row(const csv *, int col);              /* col -1: no column; dies at file:line on another word */
const char *kind_name(unsigned kinds);                   /* "real+emulated"; empty where some of it is not known */
void kind_write(csvw *, unsigned kinds);
#endif
