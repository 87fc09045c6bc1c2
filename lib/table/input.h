/* input.h - tables as people have them: options of a filter for another separator, for words that stand for nothing,
 * and for a header that is missing.
 *
 * A filter that has CSV_INPUT among its options takes them; csvio.c obeys in every table that is opened.  A file whose
 * name ends in .tsv is separated by tabs without being told. */
#ifndef MILLRACE_INPUT_H
#define MILLRACE_INPUT_H
#include "base/filter.h"

extern struct csv_input { const char *delimiter, *header; struct list na; } csv_input;

#define CSV_INPUT                                                                                                      \
    { 0, "delimiter", STR, &csv_input.delimiter, "C", "what separates fields of the input, or the word tab", 0, 0 },   \
    { 0, "na", LIST, &csv_input.na, "WORD", "fields of the input that say WORD are empty", 0, 0 },                 \
    { 0, "header", STR, &csv_input.header, "NAMES", "the input has no header: these are its columns", 0, 0 }
#endif
