/* input.h - tables as people have them: options of a filter for another separator and for words that stand for nothing.
 *
 * A filter that has CSV_INPUT among its options takes them; csvio.c obeys in every table that is opened.  A file whose
 * name ends in .tsv is separated by tabs without being told. */
#ifndef MILLRACE_INPUT_H
#define MILLRACE_INPUT_H
#include "base/filter.h"

extern struct csv_input { const char *delimiter; struct list na; } csv_input;

#define CSV_INPUT                                                                                                      \
    { 0, "delimiter", STR, &csv_input.delimiter, "C", "what separates fields of the input, or the word tab", 0, 0 },   \
    { 0, "na", LIST, &csv_input.na, "WORD", "fields of the input that say WORD are empty", 0, 0 }
#endif
