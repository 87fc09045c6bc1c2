/* kind.c - see kind.h */
#include "table/kind.h"
#include <stdio.h>
#include <string.h>

static const char *const word[] = { "real", "emulated", "simulated", "published" };
enum { WORDS = sizeof word / sizeof *word, LONGEST = 48 };

unsigned kind_parse(str s)
{
    unsigned kinds = 0;
    if (!s.n) return KIND_NOT_KNOWN;
    for (bool more = true; more;) {
        const char *plus = memchr(s.s, '+', s.n);
        str one = { s.s, plus ? (size_t)(plus - s.s) : s.n };
        unsigned k = str_is(one, "model") ? KIND_SIMULATED : 0;
        for (unsigned i = 0; i < WORDS; i++) if (str_is(one, word[i])) k = 1u << i;
        if (!k) return 0;
        kinds |= k;
        more = plus;
        s = (str){ s.s + one.n + 1, more ? s.n - one.n - 1 : 0 };
    }
    return kinds;
}

unsigned kind_of_row(const csv *t, int col)
{
    if (col < 0) return KIND_NOT_KNOWN;
    unsigned k = kind_parse(csv_str(t, col));
    if (!k) csv_die(t, col, "real, emulated, simulated or published");
    return k;
}

const char *kind_name(unsigned kinds)
{
    static char name[1 << WORDS][LONGEST];
    if (!kinds || kinds >= 1u << WORDS) return "";
    char *to = name[kinds];
    size_t n = 0;
    for (unsigned i = 0; i < WORDS; i++)
        if (kinds >> i & 1) n += (size_t)snprintf(to + n, LONGEST - n, "%s%s", n ? "+" : "", word[i]);
    return to;
}

void kind_write(csvw *w, unsigned kinds)
{
    csvw_cstr(w, kind_name(kinds));
}
