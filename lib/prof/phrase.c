/* phrase.c - see phrase.h */
#include "prof/phrase.h"
#include <stdlib.h>
#include <string.h>

void phrase_put(struct phrases *p, csvw *w, const uint32_t *key, const str *field, size_t n)
{
    if (!p->slot) p->slot = xcalloc(PHRASES, sizeof *p->slot);
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++) hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15u;
    struct phrase *s = &p->slot[hash >> 32 & (PHRASES - 1)];
    bool same = s->text.s != NULL;
    for (size_t i = 0; i < n; i++) same &= s->key[i] == key[i];
    if (!same) {
        memcpy(s->key, key, n * sizeof *key);
        s->text.n = 0;
        for (size_t i = 0; i < n; i++) {
            if (i) buf_char(&s->text, ',');
            csv_quote(&s->text, field[i]);
        }
    }
    csvw_fields(w, (str){ s->text.s, s->text.n }, n);
}

void phrases_free(struct phrases *p)
{
    for (size_t i = 0; p->slot && i < PHRASES; i++) free(p->slot[i].text.s);
    free(p->slot);
    p->slot = NULL;
}
