/* lib-num.c - numbers against strtod and against the shortest of all %.Ne texts. */
#include "base/num.h"
#include "base/rng.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* number of significant digits of a text, and the digits themselves */
static int digits_of(const char *s, char *d)
{
    int n = 0;
    for (; *s && *s != 'e'; s++) if (*s >= '0' && *s <= '9' && (n || *s != '0')) d[n++] = *s;
    while (n && d[n - 1] == '0') n--;
    d[n] = 0;
    return n;
}

/* the oracle: fewer digits are tried first, each rounded right by the C library */
static int shortest(double v, char *d)
{
    char t[64];
    for (int p = 0;; p++) {
        snprintf(t, sizeof t, "%.*e", p, v);
        if (p == 16 || strtod(t, NULL) == v) return digits_of(t, d);
    }
}

static double from_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* values of many kinds; kind 0 and 1 are the powers of two and their neighbours */
static double some_value(struct rng *r, int kind)
{
    uint64_t k = rng_u64(r);
    switch (kind) {
    case 0: return ldexp(1, (int)(k % 2098) - 1074);
    case 1: return nextafter(ldexp(1, (int)(k % 2098) - 1074), k >> 32 & 1 ? 0 : INFINITY);
    case 2: return from_bits(k);
    case 3: return (double)(int64_t)(k % 2000001) - 1000000;
    case 4: return (double)(k % 1000000) / 1000;
    case 5: return rng_unit(r);
    case 6: return from_bits(k >> 12);                   /* subnormal */
    case 7: return (double)(k % 1000) * pow(10, (double)(int)(k >> 32 & 511) - 256);
    case 8: return (double)(k >> 11);
    default: return -(double)(k >> 4);
    }
}

static void print_against_oracle(void)
{
    struct rng r = rng_for(1, str_of("num/print"));
    int unequal = 0, longer = 0, other = 0, bytes = 0;
    for (int i = 0; i < 60000; i++) {
        double v = some_value(&r, i % 10), back;
        if (!isfinite(v)) continue;
        char b[NUM_MAX + 1], got[64], want[64];
        size_t n = num_print(b, v);
        bytes += n > NUM_MAX - 4;
        b[n] = 0;
        unequal += strtod(b, NULL) != v || !num_parse(b, n, &back) || !same(back, v);
        int k = digits_of(b, got), best = shortest(v, want);
        longer += k > best && !(fabs(v) < 0x1p53 && v == floor(v));
        /* where the interval is lopsided, at powers of two, another text of the same length may be the nearer one */
        other += i % 10 > 1 && k == best && strcmp(got, want) != 0;
    }
    ok(unequal == 0, "60 000 values of ten kinds read back equal, by strtod and by num_parse");
    ok(longer == 0, "none is longer than needed");
    ok(other == 0, "the digits are those of the correctly rounded text");
    ok(bytes == 0, "NUM_MAX has room to spare");
}

static void parse_against_strtod(void)
{
    struct rng r = rng_for(1, str_of("num/parse"));
    int wrong = 0;
    for (int i = 0; i < 200000; i++) {
        char t[128];
        int n = 0;
        if (rng_below(&r, 4) == 0) t[n++] = '-';
        for (uint64_t k = rng_below(&r, i % 7 ? 12 : 40); k > 0; k--)
            t[n++] = (char)('0' + (rng_below(&r, 4) ? rng_below(&r, 10) : 0));
        t[n++] = (char)('0' + rng_below(&r, 10));
        if (rng_below(&r, 2)) t[n++] = '.';
        if (t[n - 1] == '.') for (uint64_t k = rng_below(&r, 25); k > 0; k--) t[n++] = (char)('0' + rng_below(&r, 10));
        if (rng_below(&r, 2))
            n += snprintf(t + n, 16, "%c%s%d", "eE"[i & 1], rng_below(&r, 3) ? "" : "+", (int)rng_below(&r, 330));
        else if (rng_below(&r, 2)) n += snprintf(t + n, 16, "e-%d", (int)rng_below(&r, 350));
        t[n] = 0;
        double got = 0, want = strtod(t, NULL);
        if (!num_parse(t, (size_t)n, &got) || !same(got, want)) {
            if (!wrong++) printf("# %s: got %.17g, want %.17g\n", t, got, want);
        }
    }
    ok(wrong == 0, "200 000 decimal texts are read as strtod reads them");
}

static bool accepts(const char *s)
{
    double v;
    return num_parse(s, strlen(s), &v);
}

static bool prints(double v, const char *want)
{
    char b[NUM_MAX];
    size_t n = num_print(b, v);
    if (n == strlen(want) && memcmp(b, want, n) == 0) return true;
    printf("# got %.*s, want %s\n", (int)n, b, want);
    return false;
}

static void known(void)
{
    static const char *const bad[] = { "",   " 1",  "1 ",  "1x",    "0x10", "-",      ".",  "e5",
                                       "1e", "1e+", "--1", "1.2.3", "1,5",  "nan(1)", "\t1" };
    static const char *const good[] = { "0",   "-0",  "1.",   ".5",    "1e5",   "1E-5",
                                        "nan", "inf", "-inf", "1e400", "00012", "123456789012345678901234567890" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!ok(!accepts(bad[i]), "a text that is no number is refused")) printf("# '%s'\n", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!ok(accepts(good[i]), "a number is read")) printf("# '%s'\n", good[i]);
    double v;
    ok(!num_wrong("-inf", 4, &v) && isinf(v) && !num_wrong("1e308", 5, &v) && v == 1e308, "infinity has a name");
    ok(strcmp(num_wrong("1e999", 5, &v), "a finite number") == 0 &&
           strcmp(num_wrong("-1e999", 6, &v), "a finite number") == 0 &&
           strcmp(num_wrong("1e", 2, &v), "a number") == 0,
       "what is too large for a double is none");
    ok(prints(0.1, "0.1") && prints(1e21, "1e+21") && prints(5e-324, "5e-324") &&
           prints(1.7976931348623157e308, "1.7976931348623157e+308"),
       "known shortest texts");
    ok(prints(9007199254740991, "9007199254740991") && prints(-12, "-12") && prints(100, "100") && prints(0, "0"),
       "integers are plain");
    ok(prints(-0.0, "-0") && prints(NAN, "nan") && prints(-INFINITY, "-inf"), "minus zero, nan and infinity");
    ok(prints(0.0001, "0.0001") && prints(2.5e-7, "2.5e-07") && prints(9.5367431640625e-07, "9.5367431640625e-07"),
       "small numbers");
}

static bool is_int(const char *s, bool valid, int64_t want)
{
    int64_t v = 0;
    char b[NUM_MAX];
    if (int_parse(s, strlen(s), &v) != valid) return false;
    if (!valid) return true;
    char again[NUM_MAX];
    size_t n = (size_t)snprintf(again, sizeof again, "%lld", (long long)want);
    return v == want && int_print(b, v) == n && memcmp(b, again, n) == 0;
}

static bool is_size(const char *s, bool valid, uint64_t want)
{
    uint64_t v = 0;
    bool got = size_parse(s, strlen(s), &v);
    if (got == valid && (!valid || v == want)) return true;
    printf("# %s: got %d, %llu\n", s, got, (unsigned long long)v);
    return false;
}

/* every length and, at every place, every byte */
static bool every_digit(void)
{
    char text[24];
    for (size_t n = 1; n <= 19; n++) {
        struct rng r = rng_for(n, str_of("integers"));
        for (int k = 0; k < 200; k++) {
            for (size_t i = 0; i < n; i++) text[i] = (char)('0' + rng_below(&r, n == 19 && i == 0 ? 9 : 10));
            text[n] = '\0';
            if (!is_int(text, true, strtoll(text, NULL, 10))) return false;
        }
        for (size_t i = 0; i < n; i++) {
            char old = text[i];
            for (int c = 1; c < 256; c++) {
                text[i] = (char)c;
                bool valid = (c >= '0' && c <= '9') || (i == 0 && c == '-' && n > 1);
                int64_t v;
                if (n < 19 && int_parse(text, n, &v) != valid) return false;
            }
            text[i] = old;
        }
    }
    return true;
}

static void integers_and_sizes(void)
{
    char b[NUM_MAX];
    ok(every_digit(), "integers of every length, and each byte at each place");
    ok(is_int("0", true, 0) && is_int("-12", true, -12) && is_int("9223372036854775807", true, INT64_MAX), "integers");
    ok(is_int("-9223372036854775808", true, INT64_MIN) && is_int("9223372036854775808", false, 0), "the ends of int64");
    ok(is_int("", false, 0) && is_int("-", false, 0) && is_int("1.0", false, 0) && is_int("+1", false, 0) &&
           is_int("1e3", false, 0) && is_int("99999999999999999999", false, 0),
       "texts that are no integers");
    ok(int_print(b, INT64_MIN) == 20 && memcmp(b, "-9223372036854775808", 20) == 0, "the least integer is printed");
    ok(is_size("4096", true, 4096) && is_size("64M", true, 64000000) && is_size("2Gi", true, 2147483648) &&
           is_size("1.5KiB", true, 1536) && is_size("3kB", true, 3000) && is_size("12B", true, 12) &&
           is_size("1T", true, 1000000000000),
       "sizes");
    ok(is_size("-1", false, 0) && is_size("", false, 0) && is_size("K", false, 0) && is_size("5i", false, 0) &&
           is_size("1X", false, 0) && is_size("nan", false, 0) && is_size("1e30", false, 0) &&
           is_size("8388607Ti", true, 8388607ULL << 40) &&
           is_size("8388608Ti", false, 0) && is_size("9223372036854775807", false, 0),
       "texts that are no sizes");
}

int main(void)
{
    print_against_oracle();
    parse_against_strtod();
    known();
    integers_and_sizes();
    return done();
}
