/* json.h - read and write JSON (RFC 8259) of any size: one token at a time, memory of one token, GB-sized files at disk
   speed.
 *
 * Reader: values follow each other at the top level without separators too (JSON lines).  gzip input is recognised.
 * Text is given as it stands, without a check of its UTF-8; a lone surrogate becomes U+FFFD.  A token is at most 64
 * MiB, nesting at most a million.  Errors name file, line and column (in bytes). */
#ifndef MILLRACE_JSON_H
#define MILLRACE_JSON_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json {
    JSON_END,
    JSON_OBJECT,
    JSON_OBJECT_END,
    JSON_ARRAY,
    JSON_ARRAY_END,
    JSON_KEY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
};

typedef struct jsonr jsonr;
jsonr *json_open(const char *path);                      /* "-" is stdin; dies if it cannot be opened */
jsonr *json_open_text(const char *text, size_t n, const char *name);   /* text is borrowed */
/* Keep what is there: from now on a malformed or truncated input is no error but an early JSON_END; then json_fault is
   set. */
void json_tolerate(jsonr *);
const char *json_fault(const jsonr *);                   /* "file:line:column: what", NULL if all was well */
bool json_truncated(const jsonr *);                      /* the fault is that the input ended too early */
/* bytes read so far, of what gzip unpacked; with a fault: before it */
size_t json_offset(const jsonr *);

enum json json_next(jsonr *);                            /* JSON_END at the end of input, for ever */
/* of KEY and STRING decoded, of NUMBER as written; until the next token */
str json_str(const jsonr *);
double json_num(const jsonr *);                          /* of NUMBER; dies at file:line:column for another token */
/* Skip the value that comes next (after a KEY, or in an array).  Brackets are counted, the inside is not checked
   further. */
void json_skip(jsonr *);
/* After OBJECT or ARRAY: go on behind its end. */
void json_leave(jsonr *);
/* In an object: the next key, false at its end.  Use after JSON_OBJECT:  while (json_key(j, &k)) ... one value ... */
bool json_key(jsonr *, str *key);
/* The next key if it is the one expected, spelled "name": without blanks; else false and nothing happened.  For files
 * in which one object has the keys of the one before: json_expect makes the expectation, which holds for names up to 13
 * bytes. */
struct json_expected { char bytes[16]; unsigned mask, n; };
bool json_expect(struct json_expected *, str name);
bool json_key_is(jsonr *, const struct json_expected *);
_Noreturn void json_die(const jsonr *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void json_close(jsonr *);

/* Writer: commas and colons come by themselves; bytes that are not UTF-8 become U+FFFD. */
typedef struct jsonw jsonw;
jsonw *jsonw_open(const char *path);                     /* atomic, see out.h; "-" or NULL is stdout */
void jsonw_begin(jsonw *, char bracket);                 /* '{' or '[' */
void jsonw_end(jsonw *);
void jsonw_key(jsonw *, const char *);
void jsonw_key_str(jsonw *, str);
void jsonw_str(jsonw *, str);
void jsonw_num(jsonw *, double);                         /* nan and infinities, which JSON lacks, as null */
void jsonw_int(jsonw *, int64_t);
void jsonw_raw(jsonw *, str);                            /* a number as text, true, false or null */
void jsonw_line(jsonw *);                                /* break the line before the next item */
int jsonw_close(jsonw *);                                /* flush, check, commit; EXIT_OK, or dies */
#endif
