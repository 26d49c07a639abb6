/*
 * exp2.h - binary logarithms and powers of 2 in binary32, by arithmetic alone: vectors do the same operations in the same
 * order and get the same bits. Coefficients are minimax fits of our own.
 */
#ifndef PERCEPTUAL_EXP2_H
#define PERCEPTUAL_EXP2_H

#include <stdint.h>
#include <string.h>

/* log2((1 + s) / (1 - s)) over s by s^2, lowest power first, for |s| up to 0.172: within 7e-10 of it. */
static const float LOG2_SERIES[4] = {2.88539004F, 0.961798847F, 0.57671386F, 0.431747615F};
/* (2^f - 1) over f, lowest power first, for |f| up to 0.5: 2^f is within 2e-9 of itself. */
static const float EXP2_SERIES[6] = {0.693147182F, 0.240226477F, 0.0555033237F, 0.00961843692F, 0.0013398875F,
                                     0.00015353362F};

/* Bits of sqrt(1/2): mantissas are taken from there to sqrt(2), where the series are most exact. */
#define LOG2_SPLIT 0x3f3504f3
/* Adding it rounds to an integer and leaves that in the low bits. */
#define EXP2_ROUND 12582912.0F
/* Beyond them 2^x is no normal number. */
#define EXP2_LOW (-126.0F)
#define EXP2_HIGH 127.0F

static inline uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float bits_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Of a normal x above 0. The error is within 1.5e-7, or 1.5 units in the last place where that is more. */
static inline float float_log2(float x)
{
    const int32_t exponent = (int32_t)(float_bits(x) - LOG2_SPLIT) >> 23;
    const float m = bits_float(float_bits(x) - ((uint32_t)exponent << 23));
    const float s = (m - 1) / (m + 1), s2 = s * s;
    float sum = LOG2_SERIES[3];
    for (int i = 2; i >= 0; i--)
        sum = sum * s2 + LOG2_SERIES[i];
    return (float)exponent + sum * s;
}

/* The relative error is within 1.5e-7. */
static inline float float_exp2(float x)
{
    x = EXP2_LOW > x ? EXP2_LOW : x;
    x = EXP2_HIGH < x ? EXP2_HIGH : x;
    const float rounded = x + EXP2_ROUND, f = x - (rounded - EXP2_ROUND);
    float sum = EXP2_SERIES[5];
    for (int i = 4; i >= 0; i--)
        sum = sum * f + EXP2_SERIES[i];
    return bits_float(float_bits(1 + f * sum) + (float_bits(rounded) << 23));
}

#endif
