/* num.c - see num.h.  Printing is Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2020).
 * Parsing multiplies by a 128-bit power of ten and keeps the answer when both ends of its error interval round
 * alike (the idea of Clinger, 1990, and Lemire, 2021); the rare rest goes to strtod. */
#include "base/num.h"
#include "base/mem.h"
#include "pow10.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;

static int floor_log2_pow10(int k)
{
    return (k * 1741647) >> 19;
}

/* ---- parsing */

/* Round the 192-bit number hi:mid:lo, whose top bit is bit 191 or 190, to 53 bits, ties to even.
 * *e is the exponent of bit 191 on entry, of the result's leading bit on return. */
static uint64_t round53(uint64_t hi, uint64_t mid, uint64_t lo, int *e)
{
    int shift = __builtin_clzll(hi);
    if (shift) {
        hi = hi << 1 | mid >> 63;
        mid = mid << 1 | lo >> 63;
        lo <<= 1;
    }
    *e -= shift;
    uint64_t m = hi >> 11, rest = hi & 0x7ff;
    bool sticky = mid | lo;
    m += rest > 0x400 || (rest == 0x400 && (sticky || (m & 1)));
    if (m >> 53) {
        m >>= 1;
        ++*e;
    }
    return m;
}

/* *v = w * 10^k when that is certain; false: ask strtod */
static bool scale10(uint64_t w, int k, double *v)
{
    if (w == 0) {
        *v = 0;
        return true;
    }
    if (k < -330 || k > 308) return false;
    const uint64_t *g = pow10_g[k - POW10_MIN];          /* 10^k <= g * 2^x < 10^k + 2^x */
    int z = __builtin_clzll(w);
    w <<= z;
    u128 low = (u128)w * g[1], high = (u128)w * g[0] + (uint64_t)(low >> 64);
    uint64_t lo = (uint64_t)low, mid = (uint64_t)high, hi = (uint64_t)(high >> 64);
    int top = 64 - z + floor_log2_pow10(k), e = top;
    uint64_t m = round53(hi, mid, lo, &e);
    if (k < 0 || k > 55) {                               /* g was rounded up: try the other end of the interval */
        int e2 = top;
        uint64_t lo2 = lo - w, mid2 = mid - (lo < w), hi2 = hi - (mid < (uint64_t)(lo < w));
        if (round53(hi2, mid2, lo2, &e2) != m || e2 != e) return false;
    }
    if (e < -1022 || e > 1023) return false;
    uint64_t bits = (uint64_t)(e + 1023) << 52 | (m & ((1ull << 52) - 1));
    memcpy(v, &bits, sizeof *v);
    return true;
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static bool parse_slow(const char *s, size_t n, double *v)
{
    char some[512], *t = some, *end;
    if (n == 0 || (unsigned char)*s <= ' ' || memchr(s, 'x', n) || memchr(s, 'X', n) || memchr(s, '(', n)) return false;
    if (n >= sizeof some) t = xmalloc(n + 1, 1);
    memcpy(t, s, n);
    t[n] = 0;
    *v = strtod(t, &end);
    bool whole = end == t + n;
    if (t != some) free(t);
    return whole;
}

bool num_parse(const char *s, size_t n, double *v)
{
    static const double ten[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    if (n == 0) return false;                            /* s may be NULL then */
    const char *p = s, *end = s + n;
    bool negative = *p == '-';
    p += negative;
    const char *first = p;
    uint64_t m = 0;
    while (p < end && is_digit(*p)) m = m * 10 + (unsigned char)(*p++ - '0');
    size_t digits = (size_t)(p - first);
    int k = 0;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        while (p < end && is_digit(*p)) m = m * 10 + (unsigned char)(*p++ - '0');
        k = -(int)(p - fraction);
        digits += (size_t)(p - fraction);
    }
    /* leading zeros are no digits: half of all %.17g of [0,1) begin so */
    if (digits > 19) {
        for (; digits > 19 && (*first == '0' || *first == '.'); first++) digits -= *first == '0';
    }
    if (digits == 0 || digits > 19) return parse_slow(s, n, v);
    if (p < end && (*p == 'e' || *p == 'E')) {
        bool minus = ++p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) p++;
        int x = 0;
        const char *exponent = p;
        while (p < end && is_digit(*p) && x < 10000) x = x * 10 + (*p++ - '0');
        if (p == exponent) return false;
        k += minus ? -x : x;
    }
    if (p != end) return parse_slow(s, n, v);
    if (m < 1ull << 53 && k >= -22 && k <= 22) *v = k < 0 ? (double)m / ten[-k] : (double)m * ten[k];
    else if (!scale10(m, k, v)) return parse_slow(s, n, v);
    if (negative) *v = -*v;
    return true;
}

/* the last n of eight digits at once, behind those of *m: timestamps are two such groups (twice as fast) */
static inline bool eight_digits(const char *p, size_t n, uint64_t *m)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    static const uint64_t ten[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };
    uint64_t x;
    memcpy(&x, p, 8);
    if (n < 8) {                                         /* those in front count as zeros */
        uint64_t before = (UINT64_C(1) << (64 - 8 * n)) - 1;
        x = (x & ~before) | (0x3030303030303030 & before);
    }
    if (((x & (x + 0x0606060606060606)) & 0xf0f0f0f0f0f0f0f0) != 0x3030303030303030) return false;
    x -= 0x3030303030303030;
    x = x * 10 + (x >> 8);                               /* in every second byte: two digits */
    uint64_t low = (x & 0xff000000ff) * (100 + (1000000ull << 32));
    uint64_t high = (x >> 16 & 0xff000000ff) * (1 + (10000ull << 32));
    *m = *m * ten[n] + ((low + high) >> 32);
    return true;
#else
    (void)p;
    (void)n;
    (void)m;
    return false;
#endif
}

const char *num_wrong(const char *s, size_t n, double *v)
{
    if (!num_parse(s, n, v)) return "a number";
    return isinf(*v) && !isalpha((unsigned char)s[n - 1]) ? "a finite number" : NULL;
}

bool int_parse(const char *s, size_t n, int64_t *v)
{
    const char *p = s, *end = s + n;
    bool negative = n && *p == '-';
    p += negative;
    if (p == end || end - p > 19) return false;
    uint64_t m = 0;
    while (end - p >= 8 && eight_digits(p, 8, &m)) p += 8;
    if (p < end && end - p < 8 && end - s >= 8 && eight_digits(end - 8, (size_t)(end - p), &m)) p = end;
    for (; p < end; p++) {
        if (!is_digit(*p)) return false;
        m = m * 10 + (unsigned char)(*p - '0');          /* 19 digits fit */
    }
    if (m > (uint64_t)INT64_MAX + negative) return false;
    *v = (int64_t)(negative ? -m : m);
    return true;
}

bool size_parse(const char *s, size_t n, uint64_t *v)
{
    static const char unit[] = "kmgtp";
    if (n && (s[n - 1] == 'B' || s[n - 1] == 'b')) n--;
    bool binary = n >= 2 && s[n - 1] == 'i';
    if (binary) n--;
    double factor = 1, x;
    if (n) {
        const char *u = memchr(unit, s[n - 1] | 0x20, sizeof unit - 1);
        if (u) {
            for (long i = u - unit; i >= 0; i--) factor *= binary ? 1024 : 1000;
            n--;
        } else if (binary) return false;
    }
    if (!num_parse(s, n, &x) || !(x >= 0) || x * factor >= 0x1p63) return false;
    *v = (uint64_t)(x * factor + 0.5);
    return true;
}

/* ---- printing */

static uint64_t round_to_odd(const uint64_t g[2], uint64_t c)
{
    u128 x = (u128)g[1] * c, y = (u128)g[0] * c + (uint64_t)(x >> 64);
    return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

static size_t print_digits(char *b, uint64_t v)
{
    static const char pair[] =
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
        "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    char t[24];
    int i = 24;
    while (v >= 100000000) {                             /* eight at a time: short divisions that wait for nobody */
        uint32_t low = (uint32_t)(v % 100000000), a = low / 10000, c = low % 10000;
        v /= 100000000;
        i -= 8;
        memcpy(t + i, pair + 2 * (a / 100), 2);
        memcpy(t + i + 2, pair + 2 * (a % 100), 2);
        memcpy(t + i + 4, pair + 2 * (c / 100), 2);
        memcpy(t + i + 6, pair + 2 * (c % 100), 2);
    }
    uint32_t x = (uint32_t)v;
    while (x >= 100) {
        i -= 2;
        memcpy(t + i, pair + 2 * (x % 100), 2);
        x /= 100;
    }
    if (x >= 10) memcpy(t + (i -= 2), pair + 2 * x, 2);
    else t[--i] = (char)('0' + x);
    size_t n = (size_t)(24 - i);
    copy_short(b, t + i, n);
    return n;
}

/* the shortest decimal d * 10^*exponent that lies in the rounding interval of c * 2^q */
static uint64_t shortest(uint64_t c, int q, bool lower_is_closer, int *exponent)
{
    bool odd = c & 1;
    int k = (q * 1262611 - (lower_is_closer ? 524031 : 0)) >> 22;
    int h = q + floor_log2_pow10(-k) + 1;
    const uint64_t *g = pow10_g[-k - POW10_MIN];
    uint64_t lower = round_to_odd(g, (4 * c - 2 + lower_is_closer) << h) + odd;
    uint64_t middle = round_to_odd(g, 4 * c << h);
    uint64_t upper = round_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = middle / 4;
    *exponent = k;
    if (s >= 10) {
        uint64_t t = s / 10;
        bool below = lower <= 40 * t, above = 40 * t + 40 <= upper;
        if (below != above) {
            *exponent = k + 1;
            return t + above;
        }
    }
    bool below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    if (below != above) return s + above;
    return s + (middle > 4 * s + 2 || (middle == 4 * s + 2 && (s & 1)));
}

/* digits d (no trailing zeros) times 10^k, plain when short, else with an exponent */
static char *layout(char *p, uint64_t d, int k)
{
    char t[20];
    int n = (int)print_digits(t, d), point = n + k;      /* the value is 0.t * 10^point */
    if (point > 0 && point <= 17) {
        if (k >= 0) {
            memcpy(p, t, (size_t)n);
            memset(p + n, '0', (size_t)k);
            return p + point;
        }
        memcpy(p, t, (size_t)point);
        p[point] = '.';
        memcpy(p + point + 1, t + point, (size_t)(n - point));
        return p + n + 1;
    }
    if (point <= 0 && point > -5) {
        *p++ = '0';
        *p++ = '.';
        memset(p, '0', (size_t)-point);
        p -= point;
        memcpy(p, t, (size_t)n);
        return p + n;
    }
    *p++ = t[0];
    if (n > 1) {
        *p++ = '.';
        memcpy(p, t + 1, (size_t)(n - 1));
        p += n - 1;
    }
    *p++ = 'e';
    int x = point - 1;
    *p++ = x < 0 ? '-' : '+';
    if (x < 0) x = -x;
    if (x < 10) *p++ = '0';
    return p + print_digits(p, (uint64_t)x);
}

size_t num_print(char b[NUM_MAX], double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    int biased = bits >> 52 & 0x7ff;
    uint64_t fraction = bits & ((1ull << 52) - 1);
    char *p = b;
    if (biased == 0x7ff && fraction) {
        memcpy(b, "nan", 3);
        return 3;
    }
    if (bits >> 63) *p++ = '-';
    if (biased == 0x7ff) {
        memcpy(p, "inf", 3);
        return (size_t)(p + 3 - b);
    }
    double a = bits >> 63 ? -v : v;
    if (a < 0x1p53 && a == (double)(uint64_t)a) return (size_t)(p - b) + print_digits(p, (uint64_t)a);
    int k;
    uint64_t d = biased ? shortest(1ull << 52 | fraction, biased - 1075, fraction == 0 && biased > 1, &k)
                        : shortest(fraction, -1074, false, &k);
    while (d % 10 == 0) {
        d /= 10;
        k++;
    }
    return (size_t)(layout(p, d, k) - b);
}

size_t int_print(char b[NUM_MAX], int64_t v)
{
    size_t n = 0;
    if (v < 0) b[n++] = '-';
    return n + print_digits(b + n, v < 0 ? -(uint64_t)v : (uint64_t)v);
}
