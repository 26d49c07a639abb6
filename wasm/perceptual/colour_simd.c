/* colour_simd.c - the colour stage in SIMD128, equal to colour.c: the same operations in the same order. */
#include <wasm_simd128.h>

#include "../src/opaque.h"
#include "colour.h"
#include "curves.h"
#include "powers_simd.h"

#define INLINE static inline __attribute__((always_inline))
#define LOAD wasm_v128_load
#define STORE wasm_v128_store
#define ALL wasm_f32x4_splat

/* Eight samples as two vectors. OPAQUE: clang turns the conversions into unsigned ones, and those into scalar ones. */
INLINE void load8(const void *samples, size_t i, int wide, v128_t out[2])
{
    const v128_t v = wide ? LOAD((const uint16_t *)samples + i) : wasm_u16x8_load8x8((const uint8_t *)samples + i);
    v128_t low = wasm_u32x4_extend_low_u16x8(v), high = wasm_u32x4_extend_high_u16x8(v);
    OPAQUE(low);
    OPAQUE(high);
    out[0] = wasm_f32x4_convert_i32x4(low);
    out[1] = wasm_f32x4_convert_i32x4(high);
}

INLINE void scale(const void *row, size_t n, int wide, v128_t black, v128_t gain, float *out)
{
    for (size_t i = 0; i < n; i += 8) {
        v128_t v[2];
        load8(row, i, wide, v);
        for (uint32_t k = 0; k < 2; k++)
            STORE(out + i + 4 * k, MUL(SUB(v[k], black), gain));
    }
}

void colour_scale_simd(StoredRow row, size_t n, float black, float gain, float *out)
{
    if (row.bit_depth > 8)
        scale(row.samples, n, 1, ALL(black), ALL(gain), out);
    else
        scale(row.samples, n, 0, ALL(black), ALL(gain), out);
}

INLINE void blend_rows(const void *const rows[CHROMA_TAPS], size_t n, int wide, const float *weights, float middle,
                       float *out)
{
    const v128_t w0 = ALL(weights[0]), w1 = ALL(weights[1]), w2 = ALL(weights[2]), w3 = ALL(weights[3]);
    const v128_t m = ALL(middle);
    const void *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2], *const r3 = rows[3];
    for (size_t i = 0; i < n; i += 8) {
        v128_t a[2], b[2], c[2], d[2];
        load8(r0, i, wide, a);
        load8(r1, i, wide, b);
        load8(r2, i, wide, c);
        load8(r3, i, wide, d);
        for (uint32_t k = 0; k < 2; k++) {
            const v128_t sum = ADD(ADD(ADD(MUL(a[k], w0), MUL(b[k], w1)), MUL(c[k], w2)), MUL(d[k], w3));
            STORE(out + i + 4 * k, SUB(sum, m));
        }
    }
}

void blend_rows_simd(const void *const rows[CHROMA_TAPS], uint32_t bit_depth, size_t n, const float *weights,
                     float middle, float *out)
{
    if (bit_depth > 8)
        blend_rows(rows, n, 1, weights, middle, out);
    else
        blend_rows(rows, n, 0, weights, middle, out);
}

INLINE v128_t blend4(v128_t a, v128_t b, v128_t c, v128_t d, const v128_t w[CHROMA_TAPS])
{
    return ADD(ADD(ADD(MUL(a, w[0]), MUL(b, w[1])), MUL(c, w[2])), MUL(d, w[3]));
}

void blend_columns_simd(const float *row, size_t n, const ChromaTaps *taps, float *out)
{
    v128_t even[CHROMA_TAPS], odd[CHROMA_TAPS];
    for (uint32_t k = 0; k < CHROMA_TAPS; k++) {
        even[k] = ALL(taps->phase[0][k]);
        odd[k] = ALL(taps->phase[1][k]);
    }
    for (size_t x = 0; x < n; x += 8) {
        const float *from = row + x / 2;
        const v128_t a = LOAD(from - 2), b = LOAD(from - 1), c = LOAD(from), d = LOAD(from + 1), e = LOAD(from + 2);
        const v128_t left = blend4(a, b, c, d, even), right = blend4(b, c, d, e, odd);
        STORE(out + x, wasm_i32x4_shuffle(left, right, 0, 4, 1, 5));
        STORE(out + x + 4, wasm_i32x4_shuffle(left, right, 2, 6, 3, 7));
    }
}

INLINE void rows_to_rgb(const void *luma, int wide, const float *cb, const float *cr, size_t n,
                        const ColourMatrix *matrix, float *const rgb[3])
{
    const v128_t black = ALL(matrix->black), gain = ALL(matrix->gain), red = ALL(matrix->red);
    const v128_t green_cb = ALL(matrix->green_cb), green_cr = ALL(matrix->green_cr), blue = ALL(matrix->blue);
    float *const r = rgb[0], *const g = rgb[1], *const b = rgb[2];
    for (size_t i = 0; i < n; i += 8) {
        v128_t y[2];
        load8(luma, i, wide, y);
        for (uint32_t k = 0; k < 2; k++) {
            const size_t at = i + 4 * k;
            const v128_t u = LOAD(cb + at), v = LOAD(cr + at), light = MUL(SUB(y[k], black), gain);
            STORE(r + at, ADD(light, MUL(v, red)));
            STORE(g + at, ADD(ADD(light, MUL(u, green_cb)), MUL(v, green_cr)));
            STORE(b + at, ADD(light, MUL(u, blue)));
        }
    }
}

void to_rgb_simd(StoredRow luma, const float *cb, const float *cr, size_t n, const ColourMatrix *matrix,
                 float *const rgb[3])
{
    if (luma.bit_depth > 8)
        rows_to_rgb(luma.samples, 1, cb, cr, n, matrix, rgb);
    else
        rows_to_rgb(luma.samples, 0, cb, cr, n, matrix, rgb);
}

void blend_alpha_simd(float *values, const float *alpha, size_t n, float background)
{
    const v128_t one = ALL(1), grey = ALL(background);
    for (size_t i = 0; i < n; i += 4) {
        const v128_t a = LOAD(alpha + i);
        STORE(values + i, ADD(MUL(a, LOAD(values + i)), MUL(SUB(one, a), grey)));
    }
}

INLINE v128_t positive(v128_t x) { return wasm_f32x4_pmax(wasm_i32x4_const_splat(0), x); }

/* A loop of its own: the constants of the quotient stay in registers. */
static void srgb(float *values, size_t n)
{
    const CurveNumbers *numbers = &curve_numbers;
    OPAQUE(numbers);
    v128_t p[SRGB_TERMS], q[SRGB_TERMS];
    for (uint32_t k = 0; k < SRGB_TERMS; k++) {
        p[k] = OF(numbers->srgb.p[k]);
        q[k] = OF(numbers->srgb.q[k]);
    }
    const v128_t knee = OF(numbers->srgb.knee), slope = OF(numbers->srgb.slope), last = OF(numbers->srgb.last);
    for (size_t i = 0; i < n; i += 4) {
        const v128_t x = positive(LOAD(values + i)), beyond = wasm_f32x4_gt(x, last);
        v128_t above = p[SRGB_TERMS - 1], below = q[SRGB_TERMS - 1];
        for (int k = SRGB_TERMS - 2; k >= 0; k--) {
            above = ADD(MUL(above, x), p[k]);
            below = ADD(MUL(below, x), q[k]);
        }
        v128_t light = WHERE(wasm_f32x4_gt(x, knee), DIV(above, below), MUL(x, slope));
        if (wasm_v128_any_true(beyond)) {
            const v128_t base = MUL(ADD(x, OF(numbers->srgb.excess)), OF(numbers->srgb.base));
            light = WHERE(beyond, power_of_x4(base, &numbers->srgb.power, &numbers->powers), light);
        }
        STORE(values + i, light);
    }
}

/*
 * Values that take each step of a curve together. A whole curve is so long a chain of operations that the processor
 * holds only one or two; in steps it works on several at a time, which saves a third of the time.
 */
#define BLOCK 256

/* x^p, in two steps. */
INLINE void powers(float *values, size_t n, const Power *p, const CurveNumbers *numbers)
{
    v128_t whole[BLOCK / 4];
    for (size_t i = 0; i < n; i += 4)
        STORE(values + i, power_parts_x4(LOAD(values + i), p, &whole[i / 4], &numbers->powers));
    for (size_t i = 0; i < n; i += 4)
        STORE(values + i, exp2_parts_x4(whole[i / 4], LOAD(values + i), &numbers->powers));
}

INLINE void gamma(float *values, size_t n, const Power *p, const CurveNumbers *numbers)
{
    for (size_t i = 0; i < n; i += 4)
        STORE(values + i, positive(LOAD(values + i)));
    powers(values, n, p, numbers);
}

INLINE void bt1886(float *values, size_t n, const CurveNumbers *numbers)
{
    gamma(values, n, &numbers->bt1886, numbers);
}

INLINE void gamma22(float *values, size_t n, const CurveNumbers *numbers)
{
    gamma(values, n, &numbers->gamma22, numbers);
}

INLINE void gamma28(float *values, size_t n, const CurveNumbers *numbers)
{
    gamma(values, n, &numbers->gamma28, numbers);
}

INLINE void bt709(float *values, size_t n, const CurveNumbers *numbers)
{
    v128_t signal[BLOCK / 4];
    for (size_t i = 0; i < n; i += 4) {
        const v128_t x = positive(LOAD(values + i));
        signal[i / 4] = x;
        STORE(values + i, MUL(ADD(x, OF(numbers->bt709.excess)), OF(numbers->bt709.base)));
    }
    powers(values, n, &numbers->bt709.power, numbers);
    for (size_t i = 0; i < n; i += 4) {
        const v128_t x = signal[i / 4], straight = MUL(x, OF(numbers->bt709.slope));
        STORE(values + i, WHERE(wasm_f32x4_gt(x, OF(numbers->bt709.knee)), LOAD(values + i), straight));
    }
}

INLINE void pq(float *values, size_t n, const CurveNumbers *numbers)
{
    for (size_t i = 0; i < n; i += 4) {
        const v128_t above = wasm_f32x4_pmax(OF(numbers->pq.least), LOAD(values + i));
        const v128_t log = log2_of_x4(wasm_f32x4_pmin(OF(numbers->powers.one), above), &numbers->powers);
        STORE(values + i, MUL(log, OF(numbers->pq.first_power)));
    }
    for (size_t i = 0; i < n; i += 4) {
        const v128_t t = exp2_minus_1_x4(LOAD(values + i), &numbers->powers), rest = OF(numbers->pq.rest);
        STORE(values + i, DIV(positive(ADD(rest, t)), SUB(rest, MUL(OF(numbers->pq.c3), t))));
    }
    powers(values, n, &numbers->pq.power, numbers);
}

INLINE void hlg(float *values, size_t n, const CurveNumbers *numbers)
{
    for (size_t i = 0; i < n; i += 4) {
        const v128_t x = positive(LOAD(values + i)), square = MUL(MUL(x, x), OF(numbers->hlg.square));
        const v128_t power = exp2_of_x4(MUL(SUB(x, OF(numbers->hlg.c)), OF(numbers->hlg.rate)), &numbers->powers);
        const v128_t curved = MUL(ADD(power, OF(numbers->hlg.b)), OF(numbers->hlg.scale));
        STORE(values + i, WHERE(wasm_f32x4_gt(x, OF(numbers->hlg.knee)), curved, square));
    }
}

INLINE void each(float *values, size_t n, void (*curve)(float *, size_t, const CurveNumbers *))
{
    const CurveNumbers *numbers = &curve_numbers;
    OPAQUE(numbers);
    for (size_t i = 0; i < n; i += BLOCK)
        curve(values + i, n - i < BLOCK ? n - i : BLOCK, numbers);
}

void linearise_simd(float *values, size_t n, uint32_t transfer)
{
    switch (transfer) {
    case ANYVMAF_SRGB: srgb(values, n); break;
    case ANYVMAF_BT1886: each(values, n, bt1886); break;
    case ANYVMAF_GAMMA22: each(values, n, gamma22); break;
    case ANYVMAF_GAMMA28: each(values, n, gamma28); break;
    case ANYVMAF_BT709_OETF: each(values, n, bt709); break;
    case ANYVMAF_PQ: each(values, n, pq); break;
    case ANYVMAF_HLG: each(values, n, hlg); break;
    default: break; /* linear */
    }
}
