/*
 * powers.h - powers, exponentials and logarithms in binary32, operation by operation the same as powers_simd.h.
 *
 * The series are minimax fits of this project. Largest relative errors against binary64, over every seventh binary32
 * number: power_of() 2.5e-7 for exponents up to 2.8 and 4.2e-7 for 6.28, from 1e-5 to 4; exp2_of() and exp2_minus_1()
 * 1.1e-7; log2_of() 9e-8 of the larger of 1 and its result. The tests check the curves that are made of them.
 */
#ifndef PERCEPTUAL_POWERS_H
#define PERCEPTUAL_POWERS_H

#include <math.h>
#include <stdint.h>

#define LOG_SERIES 3
#define EXP2_SERIES 7
#define EXP2_MINUS_1_SERIES 5

/* Constants, in memory: engines build a vector constant anew, of several instructions, at each use. */
typedef struct PowerNumbers {
    float half, one, two, log2_e;
    int32_t root_half; /* the bits of sqrt(1/2), where mantissas begin */
    float least;       /* the exponent of 0 */
    float into_bits;   /* 1.5 * 2^23 + 127: the sum with an integer k ends in the bits of k + 127 */
    /* (ln((1 + s) / (1 - s)) - 2s) / s^3 by s^2, for |s| up to 3 - 2 sqrt 2: to 1.9e-7, 1e-9 of the logarithm. */
    float log[LOG_SERIES];
    /* 2^x for |x| up to 1/2: to 2e-9. */
    float exp2[EXP2_SERIES];
    /* (2^x - 1) / x for x from -0.275 to 0.02: to 1e-9. */
    float exp2_minus_1[EXP2_MINUS_1_SERIES];
} PowerNumbers;

#define POWER_NUMBERS                                                                                                  \
    {                                                                                                                  \
        .half = 0.5F, .one = 1, .two = 2, .log2_e = 1.44269504088896340736F,                                           \
        .root_half = 0x3f3504f3, .least = -127, .into_bits = 12582912 + 127,                                           \
        .log = {6.666668621e-01F, 3.998859112e-01F, 2.958551165e-01F},                                                 \
        .exp2 = {1, 6.931472057e-01F, 2.402264689e-01F, 5.550328777e-02F, 9.618488958e-03F, 1.339993136e-03F,          \
                 1.534581204e-04F},                                                                                    \
        .exp2_minus_1 = {6.931471811e-01F, 2.402264868e-01F, 5.550262472e-02F, 9.598476015e-03F, 1.239321213e-03F},    \
    }
static const PowerNumbers power_numbers = POWER_NUMBERS;

/* An exponent as a sum: products of `high`, a multiple of 1/512 below 8, with the exponent of a binary32 are exact. */
typedef struct Power {
    float whole, high, low;
} Power;

/* The initialiser of a Power; in_512ths is the exponent times 512, rounded. */
#define POWER_PARTS(exponent, in_512ths)                                                                               \
    {                                                                                                                  \
        (float)(exponent), (in_512ths) / 512.0F, (float)((exponent) - (in_512ths) / 512.0)                             \
    }

static inline float float_of_bits(int32_t bits)
{
    union { int32_t bits; float value; } of = {bits};
    return of.value;
}

static inline int32_t bits_of_float(float value)
{
    union { float value; int32_t bits; } of = {value};
    return of.bits;
}

/* Sum of c[i] x^i. */
static inline float series_of(float x, const float *c, int n)
{
    float sum = c[n - 1];
    for (int i = n - 2; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* log2 of the mantissa, -1/2 to 1/2, and the exponent of x; 0 and -127 for 0. */
static inline float log2_parts(float x, float *exponent)
{
    const int32_t k = (bits_of_float(x) - power_numbers.root_half) >> 23;
    const float f = float_of_bits(bits_of_float(x) - (int32_t)((uint32_t)k << 23)) - 1;
    const float s = f / (2 + f), s2 = s * s;
    const float tail = s2 * series_of(s2, power_numbers.log, LOG_SERIES);
    /* f - f^2/2 + ..., where f is exact, rather than 2s + ..., where s is not. */
    const float half_square = 0.5F * f * f;
    *exponent = (float)k;
    return (f - (half_square - s * (half_square + tail))) * power_numbers.log2_e;
}

/* Of x > 0, normal. */
static inline float log2_of(float x)
{
    float exponent;
    const float mantissa = log2_parts(x, &exponent);
    return exponent + mantissa;
}

/* 2^(whole + rest), for whole an integer below 128 and |rest| up to 1/2; 0 where whole is below -126. */
static inline float exp2_parts(float whole, float rest)
{
    const int32_t k = (int32_t)(power_numbers.least < whole ? whole : power_numbers.least);
    return series_of(rest, power_numbers.exp2, EXP2_SERIES) * float_of_bits((int32_t)((uint32_t)(k + 127) << 23));
}

/* 2^x for x below 127. */
static inline float exp2_of(float x)
{
    const float whole = rintf(x);
    return exp2_parts(whole, x - whole);
}

/* 2^x - 1, without cancellation, for x from -0.275 to 0.02. */
static inline float exp2_minus_1(float x)
{
    return x * series_of(x, power_numbers.exp2_minus_1, EXP2_MINUS_1_SERIES);
}

/* x^p for x >= 0 and p from 1 to 8, with results below 2^127. */
static inline float power_of(float x, const Power *p)
{
    float exponent;
    const float mantissa = log2_parts(x, &exponent);
    /* The exponent's part of p log2(x) is exact until the integer is taken from it. */
    const float coarse = exponent * p->high, fine = mantissa * p->whole + exponent * p->low;
    const float whole = rintf(coarse + fine);
    return exp2_parts(whole, (coarse - whole) + fine);
}

#endif
