/*
 * powers_simd.h - powers.h for four values at a time; see there.
 *
 * `numbers` is a pointer to power_numbers that the compiler must not see through (opaque.h).
 */
#ifndef PERCEPTUAL_POWERS_SIMD_H
#define PERCEPTUAL_POWERS_SIMD_H

#include <wasm_simd128.h>

#include "powers.h"

#define ADD wasm_f32x4_add
#define SUB wasm_f32x4_sub
#define MUL wasm_f32x4_mul
#define DIV wasm_f32x4_div
#define WHERE(condition, yes, no) wasm_v128_bitselect(yes, no, condition)
/* A constant from memory. */
#define OF(number) wasm_v128_load32_splat(&(number))

static inline v128_t series_x4(v128_t x, const float *c, int n)
{
    v128_t sum = OF(c[n - 1]);
    for (int i = n - 2; i >= 0; i--)
        sum = ADD(MUL(sum, x), OF(c[i]));
    return sum;
}

static inline v128_t log2_parts_x4(v128_t x, v128_t *exponent, const PowerNumbers *numbers)
{
    const v128_t k = wasm_i32x4_shr(wasm_i32x4_sub(x, OF(numbers->root_half)), 23);
    const v128_t f = SUB(wasm_i32x4_sub(x, wasm_i32x4_shl(k, 23)), OF(numbers->one));
    const v128_t s = DIV(f, ADD(OF(numbers->two), f)), s2 = MUL(s, s);
    const v128_t tail = MUL(s2, series_x4(s2, numbers->log, LOG_SERIES));
    const v128_t half_square = MUL(MUL(OF(numbers->half), f), f);
    *exponent = wasm_f32x4_convert_i32x4(k);
    return MUL(SUB(f, SUB(half_square, MUL(s, ADD(half_square, tail)))), OF(numbers->log2_e));
}

static inline v128_t log2_of_x4(v128_t x, const PowerNumbers *numbers)
{
    v128_t exponent;
    const v128_t mantissa = log2_parts_x4(x, &exponent, numbers);
    return ADD(exponent, mantissa);
}

static inline v128_t exp2_parts_x4(v128_t whole, v128_t rest, const PowerNumbers *numbers)
{
    /* The integer by its bits: conversions that saturate are long on x86. */
    const v128_t k = ADD(wasm_f32x4_pmax(OF(numbers->least), whole), OF(numbers->into_bits));
    return MUL(series_x4(rest, numbers->exp2, EXP2_SERIES), wasm_i32x4_shl(k, 23));
}

static inline v128_t exp2_of_x4(v128_t x, const PowerNumbers *numbers)
{
    const v128_t whole = wasm_f32x4_nearest(x);
    return exp2_parts_x4(whole, SUB(x, whole), numbers);
}

static inline v128_t exp2_minus_1_x4(v128_t x, const PowerNumbers *numbers)
{
    return MUL(x, series_x4(x, numbers->exp2_minus_1, EXP2_MINUS_1_SERIES));
}

/* What exp2_parts_x4() needs for x^p: the rest, and *whole. */
static inline v128_t power_parts_x4(v128_t x, const Power *p, v128_t *whole, const PowerNumbers *numbers)
{
    v128_t exponent;
    const v128_t mantissa = log2_parts_x4(x, &exponent, numbers);
    const v128_t coarse = MUL(exponent, OF(p->high));
    const v128_t fine = ADD(MUL(mantissa, OF(p->whole)), MUL(exponent, OF(p->low)));
    *whole = wasm_f32x4_nearest(ADD(coarse, fine));
    return ADD(SUB(coarse, *whole), fine);
}

static inline v128_t power_of_x4(v128_t x, const Power *p, const PowerNumbers *numbers)
{
    v128_t whole;
    const v128_t rest = power_parts_x4(x, p, &whole, numbers);
    return exp2_parts_x4(whole, rest, numbers);
}

#endif
