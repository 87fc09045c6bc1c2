/* lib-str.c - slices, buffers, interning, stable hashes, arenas. */
#include "base/message.h"
#include "base/rng.h"
#include "base/str.h"
#include "dies.h"
#include "tap.h"
#include <stdint.h>

static void slices(void)
{
    str none = { NULL, 0 };
    ok(str_eq(none, str_of("")) && str_cmp(none, str_of("")) == 0, "a NULL slice is the empty one");
    ok(str_is(str_of("ab"), "ab") && !str_is(str_of("ab"), "abc") && !str_is(str_of("abc"), "ab"),
       "equality needs equal length");
    ok(str_cmp(str_of("a"), str_of("ab")) < 0 && str_cmp(str_of("b"), str_of("ab")) > 0,
       "order by bytes, shorter first");
    ok(str_cmp(str_of("\xc3"), str_of("z")) > 0, "bytes are unsigned");
}

/* every sequence of up to 4 bytes of these: is it the UTF-8 of a number, the shortest there is? */
static void characters(void)
{
    static const unsigned char byte[] = { 0, 'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf,
                                          0xe0, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff };
    enum { B = sizeof byte };
    int wrong = 0;
    for (int i = 0; i < B * B * B * B; i++) {
        unsigned char t[4] = { byte[i % B], byte[i / B % B], byte[i / B / B % B], byte[i / B / B / B] };
        size_t want = 0;
        for (size_t n = 1; n < 5; n++) {
            static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
            uint32_t u = n == 1 ? t[0] : t[0] & (0x7fu >> n);
            bool good = n == 1 ? t[0] < 0x80 : (unsigned)t[0] >> (7 - n) == (2u << n) - 2;
            for (size_t k = 1; k < n; k++) good &= t[k] >> 6 == 2, u = u << 6 | (t[k] & 0x3f);
            if (good && u >= least[n] && u < 0x110000 && (u < 0xd800 || u > 0xdfff)) want = n;
        }
        for (size_t n = 1; n < 5; n++) wrong += str_character((str){ (char *)t, n }) != (want <= n ? want : 0);
    }
    ok(!wrong, "characters of UTF-8");
}

static void buffers(void)
{
    struct buf b = { 0 };
    for (int i = 0; i < 1000; i++) buf_format(&b, "%d,", i);
    buf_char(&b, 'x');
    buf_str(&b, (str){ NULL, 0 });
    buf_add(&b, "yz", 2);
    ok(b.n == 10 * 2 + 90 * 3 + 900 * 4 + 3 && strlen(b.s) == b.n && strcmp(b.s + b.n - 7, "999,xyz") == 0,
       "a buffer grows and ends in NUL");
    free(b.s);
}

/* against a plain list searched from the front */
static void interning(void)
{
    struct intern t = { 0 };
    struct rng r = rng_for(1, str_of("intern"));
    char first[500][12];
    uint32_t seen = 0, wrong = 0;
    ok(intern_find(&t, str_of("a")) == -1, "nothing is in an empty table");
    for (int i = 0; i < 5000; i++) {
        char s[12];
        int n = snprintf(s, sizeof s, "n%d", (int)rng_below(&r, 400));
        uint32_t want = 0;
        while (want < seen && strcmp(first[want], s) != 0) want++;
        wrong += intern_find(&t, (str){ s, (size_t)n }) != (want < seen ? (long)want : -1);
        if (want == seen) memcpy(first[seen++], s, sizeof s);
        wrong += intern(&t, (str){ s, (size_t)n }) != want;
    }
    ok(wrong == 0 && t.n == seen, "numbers in order of first appearance");
    const char *kept = t.name[0].s;
    for (int i = 0; i < 100000; i++) {
        char s[16];
        intern(&t, (str){ s, (size_t)snprintf(s, sizeof s, "more%d", i) });
    }
    ok(t.name[0].s == kept && str_is(t.name[0], first[0]), "names stay where they are");
    ok(intern(&t, (str){ "a\0b", 3 }) != intern(&t, (str){ "a\0c", 3 }), "NUL bytes count");
    intern_free(&t);
    ok(t.n == 0 && intern_find(&t, str_of("n1")) == -1, "an emptied table is empty");
}

static void hashes(void)
{
    /* stored in results of earlier versions: these may never change */
    static const struct { const char *s; uint64_t seed, hash;
    } known[] = { { "", 0, 0x247c67d4fab4e199 },
                  { "a", 0, 0x721ef2c65f496fd5 },
                  { "a", 1, 0x990c6a2181245073 },
                  { "millrace measures", 7, 0x2c476603060aeb6e } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t h = hash_bytes(known[i].s, strlen(known[i].s), known[i].seed);
        if (!ok(h == known[i].hash, "a stored hash stays valid"))
            printf("# %zu: 0x%016llx\n", i, (unsigned long long)h);
    }
    char text[64] = { 0 };
    int weak = 0;
    for (size_t bit = 0; bit < sizeof text * 8; bit++) {
        uint64_t h = hash_bytes(text, sizeof text, 0);
        text[bit / 8] ^= (char)(1 << bit % 8);
        int changed = __builtin_popcountll(h ^ hash_bytes(text, sizeof text, 0));
        text[bit / 8] ^= (char)(1 << bit % 8);
        weak += changed < 12 || changed > 52;            /* 5 sigma about 32 */
    }
    ok(weak == 0, "one bit of input changes about half of the hash");
    ok(hash_bytes("ab\0", 3, 0) != hash_bytes("ab", 2, 0), "length counts");
}

static void arenas(void)
{
    struct arena a = { 0 };
    struct rng r = rng_for(1, str_of("arena"));
    enum { N = 2000 };
    unsigned char *p[N];
    size_t n[N], crooked = 0, spoilt = 0;
    for (int i = 0; i < N; i++) {
        n[i] = rng_below(&r, i % 100 ? 200 : 200000);
        p[i] = arena_get(&a, n[i]);
        crooked += (uintptr_t)p[i] % 16 != 0;
        memset(p[i], i & 255, n[i]);
    }
    for (int i = 0; i < N; i++) for (size_t k = 0; k < n[i]; k++) spoilt += p[i][k] != (i & 255);
    ok(crooked == 0, "arena memory is aligned to 16 bytes");
    ok(spoilt == 0, "pieces do not overlap");
    char *s = arena_copy(&a, "abc", 3);
    ok(strcmp(s, "abc") == 0 && *arena_copy(&a, NULL, 0) == 0, "copies end in NUL");
    arena_reset(&a);
    arena_get(&a, 10);
    arena_free(&a);
    ok(!a.head, "a freed arena is empty");
}

static void too_much(const void *p) { free(xmalloc(SIZE_MAX / 4, *(const size_t *)p)); }
static void too_much_zeroed(const void *p) { free(xcalloc(SIZE_MAX / 4, *(const size_t *)p)); }
static void too_long(const void *p) { struct arena a = { 0 }; arena_get(&a, SIZE_MAX - *(const size_t *)p); }

static void say_odd(const void *p)
{
    (void)p;
    die_at("f\033[2J.csv", 7, "value '%s'", "a\nb");
}

int main(void)
{
    slices();
    characters();
    buffers();
    interning();
    hashes();
    arenas();
    size_t size = 8;
    ok(dies(too_much, &size, 1, "out of memory"), "a product that overflows is out of memory");
    ok(dies(too_much_zeroed, &size, 1, "out of memory"), "also for zeroed memory");
    ok(dies(too_long, &size, 1, "out of memory"), "also in an arena");
    ok(dies(say_odd, &size, 1, "millrace: f?[2J.csv:7: value 'a?b'\n"),
       "control bytes of data do not reach the terminal");
    return done();
}
