/* How numbers are stored, what a word makes of one and of its error, as the two that judge have it, oracle.c of
 * lib/loop/code and selftest.c: nothing here is shared with what makes or carries code. */
static double judge_exp(double x) __attribute__((unused)), judge_gelu(double x);           /* of each its own */

/* a number of so many bits of exponent, of which all ones are no number, and digits behind the first */
static double judge_bits(unsigned bits, int exponent, int digits)
{
    const unsigned e = bits >> digits & ((1u << exponent) - 1), m = bits & ((1u << digits) - 1);
    union { double d; uint64_t u; } x = { .u = (uint64_t)0x7ff << 52 | (uint64_t)m << (52 - digits) };
    if (e < (1u << exponent) - 1) {
        x.u = (uint64_t)(1024 - (1 << (exponent - 1)) - digits + (int)(e ? e : 1)) << 52;
        x.d *= (e ? 1u << digits : 0) + m;
    }
    return bits >> (exponent + digits) & 1 ? -x.d : x.d;
}

/* number i of a tensor that is stored so */
static double judge_stored(int store, const void *x, int64_t i)
{
    const uint8_t *byte = (const uint8_t *)x + i, *two = byte + i;
    switch (store) {
    case CARRY_HALVES_F16: return judge_bits(two[0] | two[1] << 8, 5, 10);
    case CARRY_HALVES_BF16: return judge_bits(two[0] | two[1] << 8, 8, 7);
    case CARRY_HALVES_E5M2: return judge_bits(byte[0], 5, 2);
    }
    return ((const float *)x)[i];
}

/* a number after a word that makes one of one; or as it was, where the word does something else */
static double judge_word(int which, const double *arg, double y)
{
    switch (which) {
    case CARRY_RELU: return y > 0 ? y : 0;
    case CARRY_GELU: return judge_gelu(y);
    case CARRY_CLIP: y = y > arg[0] ? y : arg[0]; return y < arg[1] ? y : arg[1];
    case CARRY_BIAS: case CARRY_SCALE: case CARRY_RESIDUAL: case CARRY_OVER: case CARRY_LAYERNORM: case CARRY_RMSNORM:
    case CARRY_CAST: case CARRY_CAST_F16: case CARRY_CAUSAL: case CARRY_SOFTMAX: return y;
    }
    return __builtin_nan("");
}

/* how far a float may be off after a word, where it was y and off by so much before; gelu(-5) is of numbers near 5 */
static double judge_error(int which, double y, double off)
{
    if (which == CARRY_GELU) return 1.13 * off + 3 * 0x1p-24 * (y < 0 ? -y : y);
    return off;
}
