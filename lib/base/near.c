/* near.c - see near.h */
#include "base/near.h"
#include <string.h>

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(str a, str b)
{
    size_t d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= a.n; i++) d[i][0] = i;
    for (size_t j = 0; j <= b.n; j++) d[0][j] = j;
    for (size_t i = 1; i <= a.n; i++)
        for (size_t j = 1; j <= b.n; j++) {
            d[i][j] = least(d[i - 1][j - 1] + (a.s[i - 1] != b.s[j - 1]), least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a.s[i - 1] == b.s[j - 2] && a.s[i - 2] == b.s[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.n][b.n];
}

void near_offer(struct near *x, str name)
{
    str a = x->want, b = name;
    if (!a.n || !b.n || a.n > LONGEST || b.n > LONGEST) return;
    size_t shorter = least(a.n, b.n), most = 1 + shorter / 4, d = distance(a, b);
    bool begins = shorter >= 2 && memcmp(a.s, b.s, shorter) == 0;
    if (d > most && begins) d = most;
    if (d > most || d >= shorter || (x->best.n && d >= x->distance)) return;
    x->best = name;
    x->distance = d;
}
