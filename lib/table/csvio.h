/* csvio.h - read and write CSV with a header row, one record at a time, at GB/s.
 *
 * Strict: a header always, unique names, equal field counts, LF or CRLF in and LF out; zero bytes of input, a ragged
 * row, a stray quote and a NUL byte are errors that name file and line.  A row that is the header again, as between
 * tables that were put one behind the other, is left out, with a note.  Memory is one record.  Before the reader
 * blocks in read(2) it flushes all open writers, so live pipes see every row at once (as in daemontools).
 * libcsv judges records with quotes; others are split in place.  Slices borrow from the record and die with
 * csv_next.  Other separators and words for an empty field: input.h.  What is written is CSV always. */
#ifndef MILLRACE_CSVIO_H
#define MILLRACE_CSVIO_H
#include "base/exact.h"
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct csv csv;
csv *csv_open(const char *path);                         /* "-" is stdin; reads the header; dies on error */
csv *csv_open_fd(int fd, const char *name);              /* name is for messages */
/* NULL-terminated operands as one table, headers must agree; none: stdin */
csv *csv_files(char **paths);
int csv_ncol(const csv *);
str csv_name(const csv *, int col);
int csv_find(const csv *, const char *name);             /* -1 if absent */
int csv_need(const csv *, const char *name);             /* dies if absent */
int csv_need_of(const csv *, const char *name, const char *what);   /* the same; what: the table that is wanted */
char *csv_no_column(const csv *, str name);              /* what to say then; caller frees */
bool csv_next(csv *);                                    /* false at end; dies on a malformed record */
const char *csv_separator_hint(const csv *);             /* what a header in one piece seems to have; NULL: none */
size_t csv_headers(const csv *, size_t *line);           /* rows so far that were the header again; the first's line */
str csv_str(const csv *, int col);
const char *csv_cstr(const csv *, int col, struct arena *);   /* a NUL-terminated copy */
bool csv_has(const csv *, int col);                      /* not empty */
double csv_num(const csv *, int col);                    /* dies at file:line with column and value unless a number */
struct exact_number csv_exact(const csv *, int col);            /* the same, integers beyond 2^53 included */
int64_t csv_int(const csv *, int col);
double csv_num_or(const csv *, int col, double missing); /* the same, but an empty field, or col -1, is `missing` */
const char *csv_file(const csv *);
size_t csv_line(const csv *);                            /* line on which the current record starts */
_Noreturn void csv_die(const csv *, int col, const char *expected);   /* "file:line: column 'c': 'v' is not EXPECTED" */
void csv_close(csv *);

typedef struct csvw csvw;
csvw *csvw_open(const char *path);                       /* atomic, see out.h; "-" or NULL is stdout */
csvw *csvw_fd(int fd);                                   /* does not close fd */
/* Append-only results: creates with header "a,b,c", or checks that the header agrees, drops a torn last row, then
 * appends; each csvw_end reaches the file by one write. */
csvw *csvw_append(const char *path, const char *names);
void csvw_str(csvw *, str);                              /* quoted only when it must be */
void csvw_cstr(csvw *, const char *);                    /* NULL writes an empty field */
void csvw_format(csvw *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* integers plain, others shortest that reads back equal; nan is "nan" */
void csvw_num(csvw *, double);
void csvw_int(csvw *, int64_t);
void csvw_exact(csvw *, struct exact_number);
void csvw_empty(csvw *);                                 /* not known */
void csvw_known(csvw *, double);                         /* as csvw_num, but nan is written as not known */
/* n fields as they stand in a file, side by side, made by csv_quote: for texts that come again and again */
void csvw_fields(csvw *, str, size_t n);
void csv_quote(struct buf *, str);                       /* appends a field, quoted only when it must be */
void csvw_copy(csvw *, const csv *, int col);            /* a field of the current record, byte for byte */
void csvw_copy_all(csvw *, const csv *);                 /* all of them; csvw_end is still to come */
void csvw_copy_names(csvw *, const csv *);               /* the header fields; csvw_end is still to come */
void csvw_names(csvw *, const char *names);              /* header fields from "a,b,c"; csvw_end is still to come */
void csvw_end(csvw *);                                   /* end the record */
void csvw_flush(csvw *);
int csvw_close(csvw *);                                  /* flush, check, commit; EXIT_OK, or dies */
#endif
