/* phrase.h - fields of rows that come again and again, put together once: half of what writing an event costs.
 *
 * Rows of events differ in little but their times.  A phrase is some fields side by side as they stand in the file,
 * kept under the numbers that tell its texts apart.  Keeps PHRASES phrases, in 200 KiB and their texts; one takes the
 * place of another of the same hash.  Zero-initialise. */
#ifndef MILLRACE_PHRASE_H
#define MILLRACE_PHRASE_H
#include "table/csvio.h"

enum { PHRASES = 2048, PHRASE_FIELDS = 12 };
struct phrase { uint32_t key[PHRASE_FIELDS]; struct buf text; };
struct phrases { struct phrase *slot; };
/* Writes n <= PHRASE_FIELDS fields; the same key always comes with the same fields. */
void phrase_put(struct phrases *, csvw *, const uint32_t *key, const str *field, size_t n);
void phrases_free(struct phrases *);
#endif
