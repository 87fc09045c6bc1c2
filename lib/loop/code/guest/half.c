/* Numbers of one or two bytes to floats and back: CARRY_STORES. */
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#define NARROW __attribute__((target("avx2,fma,f16c")))
#define WIDE   __attribute__((target("avx512f,avx512vl,avx512bw,avx2,fma,f16c")))
#else
#define NARROW                                           /* by neon.c; nothing is WIDE */
#endif

typedef double eight __attribute__((may_alias));
typedef uint16_t half_word __attribute__((may_alias));
typedef int32_t word __attribute__((may_alias));

static inline float half(uint32_t bits)                  /* the number of a bf16: the upper half of a float */
{
    union { uint32_t u; float f; } x = { bits << 16 };
    return x.f;
}

static inline float half_f16(uint32_t h)
{
    uint32_t e = h >> 10 & 31, m = h & 1023;
    union { uint32_t u; float f; } x = { (e == 31 ? 255 : e + 112) << 23 | m << 13 };
    if (!e) x.f = (float)m * 0x1p-24f;
    x.u |= (h & 0x8000) << 16;
    return x.f;
}

static inline float half_e5m2(uint32_t h)                /* the upper half of an f16 */
{
    return half_f16(h << 8);
}

static inline int bytes_stored(int store)                /* of an element that becomes a float, or 0 */
{
#define CARRY_BYTES_OF(name, text, bytes, ...) store == CARRY_HALVES_##name ? bytes :
    return CARRY_STORES(CARRY_BYTES_OF) 0;
}

static inline float wide1(int store, const void *x, int64_t i)
{
#define CARRY_FLOAT_OF(name, text, bytes, of, to) store == CARRY_HALVES_##name ? of(h) :
    const uint32_t h = bytes_stored(store) == 1 ? ((const uint8_t *)x)[i] : ((const half_word *)x)[i];
    return CARRY_STORES(CARRY_FLOAT_OF) 0;
}

static inline uint16_t cast1(float y)
{
    union { float f; uint32_t u; } x = { y };
    if (y != y) return (uint16_t)(x.u >> 16 | 64);       /* a NaN, which rounding may make a number of */
    return (uint16_t)((x.u + 0x7fff + (x.u >> 16 & 1)) >> 16);
}

static inline uint16_t cast1_f16(float y)
{
    union { float f; uint32_t u; } x = { y };
    uint32_t sign = x.u >> 16 & 0x8000;
    x.u &= 0x7fffffff;
    if (x.u > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (x.u >> 13 & 0x3ff));
    if (x.u >= 0x477ff000) return (uint16_t)(sign | 0x7c00);             /* 65520 and more: infinite */
    if (x.u >= 0x38800000) return (uint16_t)(sign | (x.u - (112u << 23) + 0xfff + (x.u >> 13 & 1)) >> 13);
    x.f += 0.5f;                                         /* whose last bit is 2^-24, that of what is denormal */
    return (uint16_t)(sign | (x.u - 0x3f000000));
}

/* a byte of so many digits behind the first; a float from `least` on, as bits, becomes `over`, a NaN all ones */
static inline uint16_t cast1_byte(float y, uint32_t bias, uint32_t digits, uint32_t least, uint32_t over)
{
    union { float f; uint32_t u; } x = { y }, last = { 0 };
    const uint32_t sign = x.u >> 24 & 0x80, shift = 23 - digits;
    x.u &= 0x7fffffff;
    last.u = (151 - bias - digits) << 23;                /* whose last bit is that of what is denormal */
    if (x.u >= least) return (uint16_t)(sign | (x.u > 0x7f800000 ? 0x7f : over));
    if (x.u >= (128 - bias) << 23)
        return (uint16_t)(sign | (x.u - ((127 - bias) << 23) + (1u << (shift - 1)) - 1 + (x.u >> shift & 1)) >> shift);
    x.f += last.f;
    return (uint16_t)(sign | (x.u - last.u));
}

static inline uint16_t cast1_e5m2(float y) { return cast1_byte(y, 15, 2, 0x47700000, 0x7c); }     /* 61440: infinite */

void carry_widen(enum carry_store store, const void *from, float *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = wide1((int)store, from, i);
}

uint16_t carry_narrow(enum carry_store store, float y)
{
#define CARRY_BITS_OF(name, text, bytes, of, to) store == CARRY_HALVES_##name ? to(y) :
    return CARRY_STORES(CARRY_BITS_OF) 0;
}
