/* words.h - how inputs are stored, and what may follow a sum: (then ..), or (mid ..) between two contractions.
 *
 * A word that makes a number of a number is one line in each of the three lists below, or of the third none, and one
 * in lib/loop/code/guest/judge.c, by which tests and NAME_test judge and which shares nothing with this; one more is
 * there, of errors, where it rounds or its slope may be above 1.  t/lib-encode.c draws words.  Text travels with
 * emitted C, too: nothing here needs more than the preprocessor. */
#ifndef MILLRACE_WORDS_H
#define MILLRACE_WORDS_H

/* X(NAME, its text, bytes, bits to a float, a float to bits): A, B and V are stored so and become floats as they are
 * read.  Those of one byte stand at the end.  The functions are in lib/loop/code/guest/half.c; judge.c has its own. */
#define CARRY_STORES(X) X(F16, "f16", 2, half_f16, cast1_f16) X(BF16, "bf16", 2, half, cast1) \
    X(E5M2, "e5m2", 1, half_e5m2, cast1_e5m2)

/* X(WORD, its text, how many integers stand behind it as in (over 8), may it follow a sum of doubles, is it for mid).
 * Numbers of words travel with kernels.  Those from CAUSAL on are for (mid ..) alone. */
#define CARRY_ALL_WORDS(X) \
    X(BIAS, "bias", 0, 1, 0) X(RESIDUAL, "residual", 0, 1, 0) X(RELU, "relu", 0, 1, 1) X(GELU, "gelu", 0, 0, 1) \
    X(OVER, "over", 1, 1, 1) X(CAST, "bf16", 0, 0, 0) X(CAST_F16, "f16", 0, 0, 0) X(LAYERNORM, "layernorm", 0, 0, 0) \
    X(RMSNORM, "rmsnorm", 0, 0, 0) X(CLIP, "clip", 2, 1, 1) X(SCALE, "scale", 0, 1, 0) \
    X(CAUSAL, "causal", 0, 0, 1) X(SOFTMAX, "softmax", 0, 0, 1)
enum { CARRY_ARGUMENTS = 2, CARRY_WORDS_ROOM = 16 };            /* so many integers, so many words, at most */

/* X(WORD, cycles for a vector, the number that it makes of y): by S##_of(number), S##_gelu, S##_power (2^x of x from
 * -126 to 0), and S##_add, _mul, _div, _most, _least of two; of a NaN and a number the latter two are the second.
 * arg: the integers behind the word; without them it may come twice.  S is of vectors, or of one. */
#define CARRY_ELEMENTS(X, S) \
    X(RELU, 0, S##_most(y, S##_of(0))) \
    X(GELU, 16, S##_gelu(y)) \
    X(CLIP, 0, S##_least(S##_most(y, S##_of(arg[0])), S##_of(arg[1])))

/* X(WORD, INSTRUCTION, with what): how it is done in registers, step by step; one that is not here is called.  With a
 * vector or tensor along C, 0, or an integer behind the word: FROM_BIAS, FROM_SCALE, FROM_RESIDUAL, FROM_ZERO, FROM_ARG
 * and FROM_ARG + 1. */
#define CARRY_STEPS(X) \
    X(BIAS, PLUS, FROM_BIAS) X(SCALE, TIMES, FROM_SCALE) X(RESIDUAL, PLUS, FROM_RESIDUAL) X(RELU, MAX, FROM_ZERO) \
    X(CLIP, MAX, FROM_ARG) X(CLIP, MIN, FROM_ARG + 1)
#endif
