/*
 * adm_simd.c - ADM in SIMD128, equal to adm.c to the last bit.
 *
 * Scale 0 holds three quarters of all coefficients and fits 16 bits: its coefficients are at most 22930 in size (a tap
 * set sums to 54822 in absolute value). Values outside the ranges for which the shortcuts below are proven go through the
 * portable function, eight coefficients or a row at a time.
 */
#include "adm.h"

#include <string.h>
#include <wasm_simd128.h>

#include "filters.h"
#include "opaque.h"

typedef v128_t V;
#define INLINE static inline __attribute__((always_inline))

/* ---- Wavelet ---- */

/* Two taps of a dot product. */
INLINE V taps(const int16_t *f)
{
    return wasm_i32x4_splat((int32_t)(((uint32_t)(uint16_t)f[1] << 16) | (uint16_t)f[0]));
}

/* First and last two taps of the low-pass and the high-pass filter. */
typedef struct Taps {
    V low[2], high[2];
} Taps;

INLINE Taps wavelet_taps(void)
{
    return (Taps){{taps(adm_low), taps(adm_low + 2)}, {taps(adm_high), taps(adm_high + 2)}};
}

INLINE V dot2(V first, V second, const V f[2])
{
    return wasm_i32x4_add(wasm_i32x4_dot_i16x8(first, f[0]), wasm_i32x4_dot_i16x8(second, f[1]));
}

INLINE V pairs_low(V a, V b) { return wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
INLINE V pairs_high(V a, V b) { return wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }

/* Stride of the scratch rows: `width` samples, and margins for the mirror and for vectors past the end. */
static uint32_t scratch_stride(uint32_t width) { return ((width + 7) & ~7u) + 16; }

/* Low-pass and high-pass, each in two halves at the levels above the first. */
size_t adm_simd_scratch_bytes(uint32_t width) { return 4 * scratch_stride(width) * sizeof(int16_t); }

/* The columns around a row that the first and last outputs touch. */
static void extend_row(int16_t *row, uint32_t width)
{
    row[-1] = row[mirror_repeat_end(-1, (int32_t)width)];
    row[width] = row[width - 1];
    row[width + 1] = row[mirror_repeat_end((int32_t)width + 1, (int32_t)width)];
}

/* Columns of the high-pass row that are needed for outputs `from` to `to`; the low-pass row is needed whole, for band a. */
typedef struct Part {
    uint32_t from, to;
} Part;

INLINE Part part_of(uint32_t from, uint32_t to, uint32_t width)
{
    if (from >= to)
        return (Part){width, width};
    return (Part){from ? (2 * from - 1) & ~7u : 0, 2 * to + 2 < width ? (2 * to + 2 + 7) & ~7u : width};
}

/*
 * Eight samples of a source row as signed 16 bits. Those of more than 8 bits are scaled to 16, x << (16 - depth), and
 * centred, so that they are filtered like 16-bit samples and all shifts are constant.
 */
INLINE V load_samples(const void *row, uint32_t j, const int wide, V unit)
{
    if (!wide)
        return wasm_u16x8_load8x8((const uint8_t *)row + j);
    V v = wasm_i16x8_mul(wasm_v128_load((const uint16_t *)row + j), unit);
    return wasm_v128_xor(v, wasm_i16x8_const_splat((int16_t)0x8000));
}

INLINE V shift_narrow(V low, V high, V round, const uint32_t shift)
{
    return wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(wasm_i32x4_add(low, round), shift),
                                   wasm_i32x4_shr(wasm_i32x4_add(high, round), shift));
}

/* Filters columns `from` to `to` of four rows, the high-pass where hi is wanted. */
INLINE void rows_s0(const void *const r[4], uint32_t from, uint32_t to, const int wide, V unit, int16_t *lo, int16_t *hi)
{
    const Taps f = wavelet_taps();
    const uint32_t shift = wide ? 16 : 8;
    /* Minus the centre times the sum of the low-pass taps; wide samples are already centred. */
    const V lo_round = wasm_i32x4_splat(wide ? 32768 : 128 - 46342 * 128);
    const V hi_round = wasm_i32x4_splat(wide ? 32768 : 128);
    for (uint32_t j = from; j < to; j += 8) {
        V r0 = load_samples(r[0], j, wide, unit), r1 = load_samples(r[1], j, wide, unit);
        V r2 = load_samples(r[2], j, wide, unit), r3 = load_samples(r[3], j, wide, unit);
        V a0 = pairs_low(r0, r1), a1 = pairs_high(r0, r1), b0 = pairs_low(r2, r3), b1 = pairs_high(r2, r3);
        wasm_v128_store(lo + j, shift_narrow(dot2(a0, b0, f.low), dot2(a1, b1, f.low), lo_round, shift));
        if (hi)
            wasm_v128_store(hi + j, shift_narrow(dot2(a0, b0, f.high), dot2(a1, b1, f.high), hi_round, shift));
    }
}

INLINE void wavelet_s0(const void *const rows[4], uint32_t width, Part part, const int wide, V unit, int16_t *lo,
                       int16_t *hi)
{
    const void *const r[4] = {rows[0], rows[1], rows[2], rows[3]};
    rows_s0(r, 0, part.from, wide, unit, lo, NULL);
    rows_s0(r, part.from, part.to, wide, unit, lo, hi);
    rows_s0(r, part.to, width, wide, unit, lo, NULL);
}

/* Outputs `from` to `to` of one filter along a row. */
INLINE void columns_s0(const int16_t *row, uint32_t from, uint32_t to, const V f[2], int16_t *band)
{
    const V round = wasm_i32x4_const_splat(32768);
    for (uint32_t j = from; j < to; j += 8) {
        const int16_t *x = row + 2 * j - 1;
        V low = dot2(wasm_v128_load(x), wasm_v128_load(x + 2), f);
        V high = dot2(wasm_v128_load(x + 8), wasm_v128_load(x + 10), f);
        wasm_v128_store(band + j, shift_narrow(low, high, round, 16));
    }
}

void adm_wavelet_s0_simd(const void *const rows[4], uint32_t width, uint32_t bit_depth, uint32_t from, uint32_t to,
                         int16_t *scratch, int16_t *const bands[4])
{
    int16_t *lo = scratch, *hi = scratch + scratch_stride(width);
    const V unit = wasm_i16x8_splat((int16_t)(1u << (16 - bit_depth)));
    const Part part = part_of(from, to, width);
    if (bit_depth == 8)
        wavelet_s0(rows, width, part, 0, unit, lo, hi);
    else
        wavelet_s0(rows, width, part, 1, unit, lo, hi);
    extend_row(lo, width);
    extend_row(hi, width);

    const Taps f = wavelet_taps();
    columns_s0(lo, 0, (width + 1) / 2, f.low, bands[0]);
    columns_s0(hi, from & ~7u, to, f.low, bands[1]);
    columns_s0(lo, from & ~7u, to, f.high, bands[2]);
    columns_s0(hi, from & ~7u, to, f.high, bands[3]);
}

/*
 * Values of 32 bits go in balanced halves, x = 2^16 h + l with l in int16. Then
 * (sum f*x + 2^15) >> 16 = sum f*h + ((sum f*l + 2^15) >> 16), and with >> 15 the first sum doubles.
 */
INLINE V upper_half(V v0, V v1)
{
    const V round = wasm_i32x4_const_splat(32768);
    return wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(wasm_i32x4_add(v0, round), 16),
                                   wasm_i32x4_shr(wasm_i32x4_add(v1, round), 16));
}
INLINE V lower_half(V v0, V v1) { return wasm_i16x8_shuffle(v0, v1, 0, 2, 4, 6, 8, 10, 12, 14); }

/* Rows of split values: low-pass and high-pass, each in two halves. */
typedef struct SplitRows {
    int16_t *lo[2], *hi[2];
} SplitRows;

static SplitRows split_rows(int32_t *scratch, uint32_t width)
{
    int16_t *rows = (int16_t *)scratch;
    const uint32_t stride = scratch_stride(width);
    return (SplitRows){{rows, rows + stride}, {rows + 2 * stride, rows + 3 * stride}};
}

INLINE void store_split(int16_t *const rows[2], uint32_t j, V v0, V v1)
{
    wasm_v128_store(rows[0] + j, upper_half(v0, v1));
    wasm_v128_store(rows[1] + j, lower_half(v0, v1));
}

/* Four coefficients from split rows. */
INLINE V split_dot(V h0, V h1, V l0, V l1, const V f[2], const int doubled)
{
    const V round = wasm_i32x4_splat(doubled ? 16384 : 32768);
    V high = dot2(h0, h1, f);
    V low = wasm_i32x4_add(dot2(l0, l1, f), round);
    return doubled ? wasm_i32x4_add(wasm_i32x4_add(high, high), wasm_i32x4_shr(low, 15))
                   : wasm_i32x4_add(high, wasm_i32x4_shr(low, 16));
}

/* Outputs `from` to `to` of one filter along a row of split values. */
INLINE void columns_split(int16_t *const row[2], uint32_t from, uint32_t to, const V f[2], const int doubled,
                          int32_t *band)
{
    for (uint32_t j = from; j < to; j += 4) {
        const int16_t *high = row[0] + 2 * j - 1, *low = row[1] + 2 * j - 1;
        wasm_v128_store(band + j, split_dot(wasm_v128_load(high), wasm_v128_load(high + 2), wasm_v128_load(low),
                                            wasm_v128_load(low + 2), f, doubled));
    }
}

INLINE void wavelet_columns(const SplitRows *rows, uint32_t width, uint32_t from, uint32_t to, const int doubled,
                            int32_t *const bands[4])
{
    const Taps f = wavelet_taps();
    for (int half = 0; half < 2; half++) {
        extend_row(rows->lo[half], width);
        extend_row(rows->hi[half], width);
    }
    columns_split(rows->lo, 0, (width + 1) / 2, f.low, doubled, bands[0]);
    columns_split(rows->hi, from & ~3u, to, f.low, doubled, bands[1]);
    columns_split(rows->lo, from & ~3u, to, f.high, doubled, bands[2]);
    columns_split(rows->hi, from & ~3u, to, f.high, doubled, bands[3]);
}

INLINE void rows_s1(const int16_t *const rows[4], uint32_t from, uint32_t to, const SplitRows *out, const int both)
{
    const Taps f = wavelet_taps();
    for (uint32_t j = from; j < to; j += 8) {
        V r0 = wasm_v128_load(rows[0] + j), r1 = wasm_v128_load(rows[1] + j);
        V r2 = wasm_v128_load(rows[2] + j), r3 = wasm_v128_load(rows[3] + j);
        V a0 = pairs_low(r0, r1), a1 = pairs_high(r0, r1), b0 = pairs_low(r2, r3), b1 = pairs_high(r2, r3);
        store_split(out->lo, j, dot2(a0, b0, f.low), dot2(a1, b1, f.low));
        if (both)
            store_split(out->hi, j, dot2(a0, b0, f.high), dot2(a1, b1, f.high));
    }
}

void adm_wavelet_s1_simd(const int16_t *const rows[4], uint32_t width, uint32_t from, uint32_t to, int32_t *scratch,
                         int32_t *const bands[4])
{
    const SplitRows out = split_rows(scratch, width);
    const Part part = part_of(from, to, width);
    rows_s1(rows, 0, part.from, &out, 0);
    rows_s1(rows, part.from, part.to, &out, 1);
    rows_s1(rows, part.to, width, &out, 0);
    wavelet_columns(&out, width, from, to, 1, bands);
}

INLINE void rows_s23(const int32_t *const rows[4], uint32_t from, uint32_t to, const SplitRows *out, const int both)
{
    const Taps f = wavelet_taps();
    for (uint32_t j = from; j < to; j += 8) {
        V high[4], low[4];
        for (int k = 0; k < 4; k++) {
            V v0 = wasm_v128_load(rows[k] + j), v1 = wasm_v128_load(rows[k] + j + 4);
            high[k] = upper_half(v0, v1);
            low[k] = lower_half(v0, v1);
        }
        V h0 = pairs_low(high[0], high[1]), h1 = pairs_low(high[2], high[3]);
        V l0 = pairs_low(low[0], low[1]), l1 = pairs_low(low[2], low[3]);
        V h2 = pairs_high(high[0], high[1]), h3 = pairs_high(high[2], high[3]);
        V l2 = pairs_high(low[0], low[1]), l3 = pairs_high(low[2], low[3]);
        store_split(out->lo, j, split_dot(h0, h1, l0, l1, f.low, 0), split_dot(h2, h3, l2, l3, f.low, 0));
        if (both)
            store_split(out->hi, j, split_dot(h0, h1, l0, l1, f.high, 0), split_dot(h2, h3, l2, l3, f.high, 0));
    }
}

void adm_wavelet_s23_simd(const int32_t *const rows[4], uint32_t width, uint32_t scale, uint32_t from, uint32_t to,
                          int32_t *scratch, int32_t *const bands[4])
{
    const SplitRows out = split_rows(scratch, width);
    const Part part = part_of(from, to, width);
    rows_s23(rows, 0, part.from, &out, 0);
    rows_s23(rows, part.from, part.to, &out, 1);
    rows_s23(rows, part.to, width, &out, 0);
    if (scale == 2)
        wavelet_columns(&out, width, from, to, 0, bands);
    else
        wavelet_columns(&out, width, from, to, 1, bands);
}

/* ---- Decoupling ---- */

/*
 * Which of four gradients kept their direction, in single precision, from their product and the squares of their lengths.
 * The result is biased towards yes and *surely towards no; where they differ, the portable function decides. A product
 * below zero may count as 0: then no gradient is zero, and the other side is above.
 */
INLINE V similar_single(V dp, V om, V tm, const float bias, V *surely)
{
    V x = wasm_f32x4_pmax(wasm_f32x4_const_splat(0), dp);
    V left = wasm_f32x4_mul(x, x);
    V right = wasm_f32x4_mul(wasm_f32x4_mul(wasm_f32x4_splat((float)ADM_COS_1DEG_SQ * (1 - bias)), om), tm);
    *surely = wasm_f32x4_ge(left, wasm_f32x4_mul(right, wasm_f32x4_splat(1 + 2 * bias)));
    return wasm_f32x4_ge(left, right);
}

/* From exact 32-bit products: the error is below 2^-22. */
INLINE V similar_s0(V o, V t, V *surely)
{
    return similar_single(wasm_f32x4_convert_i32x4(wasm_i32x4_dot_i16x8(o, t)),
                          wasm_f32x4_convert_i32x4(wasm_i32x4_dot_i16x8(o, o)),
                          wasm_f32x4_convert_i32x4(wasm_i32x4_dot_i16x8(t, t)), 0x1p-20f, surely);
}

INLINE V upper_two(V v) { return wasm_i32x4_shuffle(v, v, 2, 3, 2, 3); }

/* trunc(o * gain) of eight coefficients, saturated to 16 bits. */
INLINE V enhanced(V o, double gain_limit)
{
    const V gain = wasm_f64x2_splat(gain_limit);
    const V low = wasm_i32x4_extend_low_i16x8(o), high = wasm_i32x4_extend_high_i16x8(o);
    V parts[4] = {low, upper_two(low), high, upper_two(high)};
    for (int i = 0; i < 4; i++)
        parts[i] = wasm_i32x4_trunc_sat_f64x2_zero(wasm_f64x2_mul(wasm_f64x2_convert_low_i32x4(parts[i]), gain));
    return wasm_i16x8_narrow_i32x4(wasm_i64x2_shuffle(parts[0], parts[1], 0, 2),
                                   wasm_i64x2_shuffle(parts[2], parts[3], 0, 2));
}

/* How far the restored coefficient may go beyond the reference. */
enum Enhancement { NONE, BY_WHOLE_GAIN, BY_ANY_GAIN };

/*
 * For |o| <= 16384 the restored coefficient is t clamped between 0 and o, without a division. With the fixed-point gain
 * k = (floor(2^30 / o) * t + 2^14) >> 15, k*o / 2^15 = t + e where e = rho*o / 2^15 - eps*t*o / 2^30, |rho| <= 1/2 and
 * 0 <= eps < 1: for t < o that is -1/2 < e <= 1/4, so rounding gives t; for t >= o, k saturates. And k > 0 exactly when
 * the result is not 0. So enhancement can only show where t is beyond o, and is a clamp between 0 and trunc(o * gain).
 */
INLINE void decouple_s0(const int16_t *const reference[3], const int16_t *const distorted[3], uint32_t n,
                        double gain_limit, const enum Enhancement way, int16_t *const restored[3],
                        int16_t *const additive[3])
{
    const V zero = wasm_i16x8_const_splat(0);
    /* If |o| is above the greatest, its multiple is beyond 32767 - 100, and so beyond t. */
    const int16_t whole = (int16_t)gain_limit, most = (int16_t)(32767 / whole);
    const V gain = wasm_i16x8_splat(whole), greatest = wasm_i16x8_splat(most), least = wasm_i16x8_splat((int16_t)-most);
    for (uint32_t j = 0; j < n; j += 8) {
        const V o0 = wasm_v128_load(reference[0] + j), t0 = wasm_v128_load(distorted[0] + j);
        const V o1 = wasm_v128_load(reference[1] + j), t1 = wasm_v128_load(distorted[1] + j);
        const V o2 = wasm_v128_load(reference[2] + j), t2 = wasm_v128_load(distorted[2] + j);
        const V o[3] = {o0, o1, o2}, t[3] = {t0, t1, t2};
        V size = wasm_v128_or(wasm_v128_or(wasm_i16x8_abs(o0), wasm_i16x8_abs(o1)), wasm_i16x8_abs(o2));
        V doubtful = wasm_v128_and(size, wasm_i16x8_const_splat(16384)), similar = zero;
        if (way != NONE) {
            V o_low = pairs_low(o0, o1), t_low = pairs_low(t0, t1), sure_low;
            V o_high = pairs_high(o0, o1), t_high = pairs_high(t0, t1), sure_high;
            V low = similar_s0(o_low, t_low, &sure_low), high = similar_s0(o_high, t_high, &sure_high);
            similar = wasm_i16x8_narrow_i32x4(low, high);
            doubtful = wasm_v128_or(doubtful, wasm_v128_xor(similar, wasm_i16x8_narrow_i32x4(sure_low, sure_high)));
        }
        if (wasm_v128_any_true(doubtful)) {
            const int16_t *const from_o[3] = {reference[0] + j, reference[1] + j, reference[2] + j};
            const int16_t *const from_t[3] = {distorted[0] + j, distorted[1] + j, distorted[2] + j};
            int16_t *const to_r[3] = {restored[0] + j, restored[1] + j, restored[2] + j};
            int16_t *const to_a[3] = {additive[0] + j, additive[1] + j, additive[2] + j};
            adm_decouple_s0_c(from_o, from_t, n - j < 8 ? n - j : 8, gain_limit, to_r, to_a);
            continue;
        }
        for (int band = 0; band < 3; band++) {
            V limit = o[band];
            if (way == BY_WHOLE_GAIN) {
                V e = wasm_i16x8_mul(wasm_i16x8_max(wasm_i16x8_min(limit, greatest), least), gain);
                limit = wasm_v128_bitselect(e, limit, similar);
            } else if (way == BY_ANY_GAIN) {
                limit = wasm_v128_bitselect(enhanced(limit, gain_limit), limit, similar);
            }
            V r = wasm_i16x8_min(wasm_i16x8_max(t[band], wasm_i16x8_min(limit, zero)), wasm_i16x8_max(limit, zero));
            wasm_v128_store(restored[band] + j, r);
            wasm_v128_store(additive[band] + j, wasm_i16x8_sub(t[band], r));
        }
    }
}

void adm_decouple_s0_simd(const int16_t *const reference[3], const int16_t *const distorted[3], uint32_t n,
                          double gain_limit, int16_t *const restored[3], int16_t *const additive[3])
{
    if (gain_limit == 1)
        decouple_s0(reference, distorted, n, gain_limit, NONE, restored, additive);
    else if (gain_limit == (double)(int)gain_limit)
        decouple_s0(reference, distorted, n, gain_limit, BY_WHOLE_GAIN, restored, additive);
    else
        decouple_s0(reference, distorted, n, gain_limit, BY_ANY_GAIN, restored, additive);
}

/*
 * From coefficients of 32 bits. Each conversion, product and sum adds an error of 2^-24 of the lengths' product; together,
 * with those of the definition, they stay below 2^-19.
 */
INLINE V similar_s123(V o0, V o1, V t0, V t1, V *surely)
{
    o0 = wasm_f32x4_convert_i32x4(o0), o1 = wasm_f32x4_convert_i32x4(o1);
    t0 = wasm_f32x4_convert_i32x4(t0), t1 = wasm_f32x4_convert_i32x4(t1);
    return similar_single(wasm_f32x4_add(wasm_f32x4_mul(o0, t0), wasm_f32x4_mul(o1, t1)),
                          wasm_f32x4_add(wasm_f32x4_mul(o0, o0), wasm_f32x4_mul(o1, o1)),
                          wasm_f32x4_add(wasm_f32x4_mul(t0, t0), wasm_f32x4_mul(t1, t1)), 0x1p-18f, surely);
}

/*
 * The size of the restored coefficient of two pixels (spec 4.5) whose o and t are sizes, t of 0 where the signs differ; the
 * lower 32 bits count. All products stay below 2^53 where they matter.
 *   half     1/2 with the sign of o: where k*|o| is halfway between two results, the greater one is that of the definition
 *   differs  all ones where the gradient turned, which excludes enhancement
 *   gain     the gain limit over 2^15
 * o = 0 divides by 0; pmin turns the quotient into a k of 32768, so the result is 0.
 */
INLINE V restore(V o, V t, V half, V differs, V gain)
{
    const V one_half = wasm_f64x2_const_splat(0.5), unit = wasm_f64x2_const_splat(0x1.8p67);
    /* |o| loses its low bits down to 15: 2^-shift from the exponent, 1 below 2^15. */
    const V exponent_bits = wasm_i64x2_const_splat(0x7ffLL << 52);
    const V exponent = wasm_v128_and(wasm_f64x2_pmax(o, wasm_f64x2_const_splat(16384)), exponent_bits);
    const V scale = wasm_i64x2_sub(wasm_i64x2_const_splat((2 * 1023 + 14LL) << 52), exponent);
    const V scale_15 = wasm_i64x2_sub(wasm_i64x2_const_splat((2 * 1023 + 14 - 15LL) << 52), exponent);
    const V m = wasm_f64x2_floor(wasm_f64x2_add(wasm_f64x2_mul(o, scale), one_half));
    const V reciprocal = wasm_f64x2_trunc(wasm_f64x2_div(wasm_f64x2_const_splat(0x1p30), m));
    const V k = wasm_f64x2_floor(wasm_f64x2_add(wasm_f64x2_mul(wasm_f64x2_mul(reciprocal, t), scale_15), one_half));
    /* r times 2^15: an addend of 2^67 and more rounds to that. */
    V r = wasm_f64x2_mul(wasm_f64x2_pmin(wasm_f64x2_const_splat(32768), k), o);
    r = wasm_f64x2_sub(wasm_f64x2_add(wasm_f64x2_add(r, half), unit), unit);
    /* r * gain or t, whichever is less; r alone where the gradient turned, when t is NaN. */
    const V same = wasm_f64x2_const_splat(0x1p-15);
    const V factor = wasm_v128_xor(gain, wasm_v128_and(differs, wasm_v128_xor(gain, same)));
    const V nearer = wasm_f64x2_pmin(wasm_f64x2_mul(r, factor), wasm_v128_or(t, differs));
    return wasm_f64x2_add(wasm_f64x2_trunc(nearer), wasm_f64x2_const_splat(0x1.8p52));
}

INLINE V words_low(V a, V b) { return wasm_i32x4_shuffle(a, b, 0, 4, 1, 5); }
INLINE V words_high(V a, V b) { return wasm_i32x4_shuffle(a, b, 2, 6, 3, 7); }

/* Restored and additive parts of a band. differs: all ones where the gradient turned. */
INLINE void restore_band(const int32_t *reference, const int32_t *distorted, const int32_t *differs, uint32_t n,
                         double gain_limit, int32_t *restored, int32_t *additive)
{
    const V zero = wasm_i32x4_const_splat(0), gain = wasm_f64x2_splat(gain_limit * 0x1p-15);
    for (uint32_t j = 0; j < n; j += 4) {
        const V o = wasm_v128_load(reference + j), t = wasm_v128_load(distorted + j), turned = wasm_v128_load(differs + j);
        const V sign = wasm_i32x4_shr(o, 31), size = wasm_i32x4_abs(o);
        const V directed = wasm_i32x4_max(wasm_i32x4_sub(wasm_v128_xor(t, sign), sign), zero);
        /* The upper words of doubles. */
        const V half = wasm_v128_or(wasm_v128_and(o, wasm_i32x4_const_splat(INT32_MIN)), wasm_i32x4_const_splat(0x3fe00000));
        const V low = restore(wasm_f64x2_convert_low_i32x4(size), wasm_f64x2_convert_low_i32x4(directed),
                              words_low(zero, half), words_low(turned, turned), gain);
        const V high = restore(wasm_f64x2_convert_low_i32x4(upper_two(size)),
                               wasm_f64x2_convert_low_i32x4(upper_two(directed)), words_high(zero, half),
                               words_high(turned, turned), gain);
        const V r = wasm_i32x4_sub(wasm_v128_xor(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6), sign), sign);
        wasm_v128_store(restored + j, r);
        wasm_v128_store(additive + j, wasm_i32x4_sub(t, r));
    }
}

/* Columns that are decoupled together, one band after the other. */
#define DECOUPLED 256

void adm_decouple_s123_simd(const int32_t *const reference[3], const int32_t *const distorted[3], uint32_t n,
                            double gain_limit, int32_t *const restored[3], int32_t *const additive[3])
{
    for (uint32_t from = 0; from < n; from += DECOUPLED) {
        const uint32_t columns = n - from < DECOUPLED ? n - from : DECOUPLED;
        const int32_t *const o[3] = {reference[0] + from, reference[1] + from, reference[2] + from};
        const int32_t *const t[3] = {distorted[0] + from, distorted[1] + from, distorted[2] + from};
        int32_t differs[DECOUPLED];
        uint32_t doubtful[DECOUPLED / 4], doubts = 0;
        for (uint32_t j = 0; j < columns; j += 4) {
            V surely;
            const V similar = similar_s123(wasm_v128_load(o[0] + j), wasm_v128_load(o[1] + j), wasm_v128_load(t[0] + j),
                                           wasm_v128_load(t[1] + j), &surely);
            wasm_v128_store(differs + j, wasm_v128_not(similar));
            doubtful[doubts] = j;
            doubts += wasm_v128_any_true(wasm_v128_xor(similar, surely));
        }
        for (int band = 0; band < 3; band++)
            restore_band(o[band], t[band], differs, columns, gain_limit, restored[band] + from, additive[band] + from);
        for (uint32_t i = 0; i < doubts; i++) {
            const uint32_t j = doubtful[i], at = from + j;
            const int32_t *const from_o[3] = {o[0] + j, o[1] + j, o[2] + j};
            const int32_t *const from_t[3] = {t[0] + j, t[1] + j, t[2] + j};
            int32_t *const to_r[3] = {restored[0] + at, restored[1] + at, restored[2] + at};
            int32_t *const to_a[3] = {additive[0] + at, additive[1] + at, additive[2] + at};
            adm_decouple_s123_c(from_o, from_t, columns - j < 4 ? columns - j : 4, gain_limit, to_r, to_a);
        }
    }
}

/* ---- Masking ---- */

/* Largest factor of scale 0 for which |C| stays below 30720, where Q would leave 16 bits: 22930 * 43899 < 30720 * 2^15. */
#define MAX_FACTOR_S0 43899
/* Of band d: two halves of 16 bits each. */
#define MAX_FACTOR_DIAGONAL 65534
/* For scales 1..3: |x| < 2^31 times a factor below 2^28 keeps C in 31 bits. */
#define MAX_FACTOR_S123 (1u << 28)

/* x times a factor of up to 16 bits, exactly: as two halves of a dot product with (x, x). */
INLINE V factor_taps(uint32_t fi)
{
    return wasm_i32x4_splat((int32_t)(((fi - fi / 2) << 16) | (fi / 2)));
}
INLINE V times_low(V x, V factor) { return wasm_i32x4_dot_i16x8(pairs_low(x, x), factor); }

/*
 * Masking signals of four columns from bands h, v, d, each coefficient twice. With P = 4369 * |C|, Q = (P + 2048) >> 12, and
 * M = (8738 * |C| + 2048) >> 12 = (P + 1024) >> 11, of which 16 bits count.
 */
INLINE void mask_s0(V h, V v, V d, V factor, V diagonal, int32_t *neighbour, int32_t *centre)
{
    const V round = wasm_i32x4_const_splat(16384), diagonal_round = wasm_i32x4_const_splat(65535);
    const V c[3] = {wasm_i32x4_shr(wasm_i32x4_add(wasm_i32x4_dot_i16x8(h, factor), round), 15),
                    wasm_i32x4_shr(wasm_i32x4_add(wasm_i32x4_dot_i16x8(v, factor), round), 15),
                    wasm_i32x4_shr(wasm_i32x4_add(wasm_i32x4_dot_i16x8(d, diagonal), diagonal_round), 17)};
    V q[3], m[3];
    for (int band = 0; band < 3; band++) {
        const V p = wasm_i32x4_dot_i16x8(wasm_i32x4_abs(c[band]), wasm_i32x4_const_splat(4369));
        q[band] = wasm_i32x4_shr(wasm_i32x4_add(p, wasm_i32x4_const_splat(2048)), 12);
        m[band] = wasm_i32x4_shr(wasm_i32x4_shl(wasm_i32x4_add(p, wasm_i32x4_const_splat(1024)), 5), 16);
    }
    const V q_sum = wasm_i32x4_add(wasm_i32x4_add(q[0], q[1]), q[2]);
    const V m_sum = wasm_i32x4_add(wasm_i32x4_add(m[0], m[1]), m[2]);
    wasm_v128_store(neighbour, q_sum);
    wasm_v128_store(centre, wasm_i32x4_sub(m_sum, q_sum));
}

void adm_mask_s0_simd(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2], int32_t *neighbour,
                      int32_t *centre)
{
    if (fi[0] > MAX_FACTOR_S0 || fi[1] > MAX_FACTOR_DIAGONAL) {
        adm_mask_s0_c(bands, n, fi, neighbour, centre);
        return;
    }
    const V factor = factor_taps(fi[0]), diagonal = factor_taps(fi[1]);
    const int16_t *const h = bands[0], *const v = bands[1], *const d = bands[2];
    for (uint32_t j = 0; j < n; j += 8) {
        const V x = wasm_v128_load(h + j), y = wasm_v128_load(v + j), z = wasm_v128_load(d + j);
        mask_s0(pairs_low(x, x), pairs_low(y, y), pairs_low(z, z), factor, diagonal, neighbour + j, centre + j);
        mask_s0(pairs_high(x, x), pairs_high(y, y), pairs_high(z, z), factor, diagonal, neighbour + j + 4,
                centre + j + 4);
    }
}

/* A factor below 2^28 as 2^16 h + l, l in int16, beside the balanced halves of coefficients: h*h, h*l + l*h and l*l. */
typedef struct Factor {
    V upper, middle, lower;
} Factor;

INLINE Factor split_factor(uint32_t fi)
{
    const uint32_t low = fi & 0xffff, high = (fi + 0x8000) >> 16;
    return (Factor){wasm_i32x4_splat((int32_t)(high << 16)), wasm_i32x4_splat((int32_t)(low << 16 | high)),
                    wasm_i32x4_splat((int32_t)low)};
}

/*
 * |C| of four coefficients, C = (fi*x + 2^27) >> 28 = 16*hh + ((hl + lh + ((ll + 2^27) >> 16)) >> 12), where the middle sum
 * is at most 2^30 + 2^27.
 */
INLINE V weighted_size(V x, const Factor *f)
{
    const V half = wasm_i32x4_const_splat(0x8000), round = wasm_i32x4_const_splat(1 << 27);
    /* The upper half, corrected for the sign of the lower half, and the lower half unchanged. */
    const V halves = wasm_i16x8_shuffle(x, wasm_i32x4_add(x, half), 0, 9, 2, 11, 4, 13, 6, 15);
    const V carry = wasm_i32x4_shr(wasm_i32x4_add(wasm_i32x4_dot_i16x8(halves, f->lower), round), 16);
    const V rest = wasm_i32x4_shr(wasm_i32x4_add(wasm_i32x4_dot_i16x8(halves, f->middle), carry), 12);
    return wasm_i32x4_abs(wasm_i32x4_add(wasm_i32x4_shl(wasm_i32x4_dot_i16x8(halves, f->upper), 4), rest));
}

/*
 * Q = (143165577 * c - 2^31) >> 32 and M = (286331153 * c - 2^31) >> 32 are c / 30 and c / 15, rounded, less 1. In doubles
 * an addend of 2^52 and more rounds, and the integer stands in the lower bits. For c below MAX_SIZE both quotients are
 * further than 1/300 from the middle between two integers, but for Q of c = 15 (mod 30), a little above it as it should.
 */
#define MAX_SIZE (1 << 28)
INLINE V rounded(V c, const double factor)
{
    const V less_one = wasm_f64x2_const_splat(0x1.8p52 - 1);
    return wasm_f64x2_add(wasm_f64x2_mul(c, wasm_f64x2_splat(factor)), less_one);
}

void adm_mask_s123_simd(const int32_t *const bands[3], uint32_t n, const uint32_t fi[2], int32_t *const sizes[3],
                        int32_t *neighbour, int32_t *centre)
{
    V over = wasm_i32x4_splat(fi[0] < MAX_FACTOR_S123 && fi[1] < MAX_FACTOR_S123 ? 0 : -1);
    const Factor sides = split_factor(fi[0]), diagonal = split_factor(fi[1]);
    for (uint32_t j = 0; j < n; j += 4) {
        /* The lower 32 bits of each 64 count. */
        V q_low = wasm_i32x4_const_splat(0), q_high = q_low, m_low = q_low, m_high = q_low;
        for (int band = 0; band < 3; band++) {
            const V c = weighted_size(wasm_v128_load(bands[band] + j), band == 2 ? &diagonal : &sides);
            wasm_v128_store(sizes[band] + j, c);
            over = wasm_v128_or(over, c);
            const V low = wasm_f64x2_convert_low_i32x4(c);
            const V high = wasm_f64x2_convert_low_i32x4(upper_two(c));
            q_low = wasm_i32x4_add(q_low, rounded(low, 143165577 * 0x1p-32));
            q_high = wasm_i32x4_add(q_high, rounded(high, 143165577 * 0x1p-32));
            m_low = wasm_i32x4_add(m_low, rounded(low, 286331153 * 0x1p-32));
            m_high = wasm_i32x4_add(m_high, rounded(high, 286331153 * 0x1p-32));
        }
        const V q = wasm_i32x4_shuffle(q_low, q_high, 0, 2, 4, 6), m = wasm_i32x4_shuffle(m_low, m_high, 0, 2, 4, 6);
        wasm_v128_store(neighbour + j, q);
        wasm_v128_store(centre + j, wasm_i32x4_sub(m, q));
    }
    if (wasm_v128_any_true(wasm_v128_and(over, wasm_i32x4_const_splat(-MAX_SIZE))))
        adm_mask_s123_c(bands, n, fi, sizes, neighbour, centre);
}

/* ---- Contrast ---- */

/* Neighbours of four columns, rows added up. */
INLINE V column_sums(const int32_t *const rows[3], int32_t j)
{
    return wasm_i32x4_add(wasm_i32x4_add(wasm_v128_load(rows[0] + j), wasm_v128_load(rows[1] + j)),
                          wasm_v128_load(rows[2] + j));
}

/* Thresholds of four columns, from column sums of the four before, these and the next four. */
INLINE V threshold(V before, V here, V next, V centre)
{
    V sides = wasm_i32x4_add(wasm_i32x4_shuffle(before, here, 3, 4, 5, 6), wasm_i32x4_shuffle(here, next, 1, 2, 3, 4));
    return wasm_i32x4_add(wasm_i32x4_add(sides, here), centre);
}

INLINE int64_t sum_of(V v) { return wasm_i64x2_extract_lane(v, 0) + wasm_i64x2_extract_lane(v, 1); }
INLINE V rounding(uint32_t shift) { return wasm_i64x2_splat(shift ? (int64_t)1 << (shift - 1) : 0); }

INLINE V shift_right(V v, uint32_t n)
{
    if (!__builtin_constant_p(n))
        OPAQUE(n);
    return wasm_u64x2_shr(v, n);
}

/* ((y*y + half) >> square_shift) * y, rounded and shifted, of four values for which no step exceeds 32 or 64 bits. */
INLINE V cubes(V y, const uint32_t square_shift, V round, uint32_t shift)
{
    const V square_round = wasm_i64x2_splat((int64_t)1 << (square_shift - 1));
    V low = wasm_u64x2_shr(wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(y, y), square_round), square_shift);
    V high = wasm_u64x2_shr(wasm_i64x2_add(wasm_u64x2_extmul_high_u32x4(y, y), square_round), square_shift);
    V square = wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
    V sum = shift_right(wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(square, y), round), shift);
    return wasm_i64x2_add(sum, shift_right(wasm_i64x2_add(wasm_u64x2_extmul_high_u32x4(square, y), round), shift));
}

/* Shuffles that bring the lanes of a mask to the front. */
#define LANE(i) 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3
static const uint8_t to_front[16][16] __attribute__((aligned(16))) = {
    {0},       {LANE(0)},          {LANE(1)},          {LANE(0), LANE(1)},
    {LANE(2)}, {LANE(0), LANE(2)}, {LANE(1), LANE(2)}, {LANE(0), LANE(1), LANE(2)},
    {LANE(3)}, {LANE(0), LANE(3)}, {LANE(1), LANE(3)}, {LANE(0), LANE(1), LANE(3)},
    {LANE(2), LANE(3)}, {LANE(0), LANE(2), LANE(3)}, {LANE(1), LANE(2), LANE(3)},
    {LANE(0), LANE(1), LANE(2), LANE(3)},
};

/*
 * Often few coefficients are above the threshold, and branches on them are unpredictable. So these are gathered first, some
 * columns at a time, and cubed afterwards.
 */
#define GATHERED 512

/* Appends those of four sizes that are above the thresholds; returns their mask. */
INLINE uint32_t gather(int32_t **end, V size, V thr)
{
    const V below = wasm_i32x4_sub(thr, size);
    const uint32_t lanes = wasm_i32x4_bitmask(below);
    wasm_v128_store(*end, wasm_i8x16_swizzle(wasm_i32x4_abs(below), wasm_v128_load(to_front[lanes])));
    *end += __builtin_popcount(lanes);
    return lanes;
}

/* Adds the cubes of gathered values to the total, and their bits to *bits. */
INLINE V sum_cubes(const int32_t *y, int32_t *end, V total, V *bits, const uint32_t square_shift, uint32_t shift)
{
    const V round = rounding(shift);
    wasm_v128_store(end, wasm_i32x4_const_splat(0));
    for (; y < end; y += 4) {
        const V four = wasm_v128_load(y);
        *bits = wasm_v128_or(*bits, four);
        total = wasm_i64x2_add(total, cubes(four, square_shift, round, shift));
    }
    return total;
}

/*
 * Row sums of cubes above the threshold. narrow: coefficients of scale 0, which are weighted here; sizes otherwise. side: the
 * shift of bands h and v. Returns non-zero if a value is too large: negative thresholds can raise it until the definition's
 * int32 wraps. Below 2^30, squares fit 32 bits and products 64.
 */
INLINE int contrast(const void *const bands[3], const int narrow, uint32_t n, const V factors[2],
                    const int32_t *const rows[3], const int32_t *centre, uint32_t side, int64_t sums[3])
{
    V totals[3] = {wasm_i64x2_const_splat(0), wasm_i64x2_const_splat(0), wasm_i64x2_const_splat(0)};
    V bits = wasm_i32x4_const_splat(0);
    V before = column_sums(rows, -4), here = column_sums(rows, 0);
    for (uint32_t from = 0; from < n; from += GATHERED) {
        const uint32_t to = n - from < GATHERED ? n : from + GATHERED;
        int32_t y[3][GATHERED + 4], *end[3] = {y[0], y[1], y[2]};
        uint32_t last[3] = {0};
        for (uint32_t j = from; j < to; j += 4) {
            const V next = column_sums(rows, (int32_t)j + 4);
            const V thr = threshold(before, here, next, wasm_v128_load(centre + j));
            before = here, here = next;
            for (int band = 0; band < 3; band++) {
                if (narrow) {
                    const V x = wasm_v128_load64_zero((const int16_t *)bands[band] + j);
                    const V size = wasm_i32x4_abs(times_low(x, factors[band == 2]));
                    last[band] = gather(&end[band], size, wasm_i32x4_shl(thr, band == 2 ? 12 : 10));
                } else {
                    last[band] = gather(&end[band], wasm_v128_load((const int32_t *)bands[band] + j), thr);
                }
            }
        }
        for (int band = 0; band < 3; band++) {
            const int diagonal = narrow && band == 2;
            /* Ignore lanes after the n-th. */
            if (to % 4)
                end[band] -= __builtin_popcount(last[band] >> to % 4);
            totals[band] = sum_cubes(y[band], end[band], totals[band], &bits, narrow && !diagonal ? 29 : 30, side + diagonal);
        }
    }
    for (int band = 0; band < 3; band++)
        sums[band] = sum_of(totals[band]);
    return wasm_v128_any_true(wasm_v128_and(bits, wasm_i32x4_const_splat((int32_t)0xc0000000)));
}

void adm_contrast_s0_simd(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2],
                          const int32_t *const rows[3], const int32_t *centre, const uint32_t shift[2],
                          int64_t sums[3])
{
    const void *const from[3] = {bands[0], bands[1], bands[2]};
    const V factors[2] = {factor_taps(fi[0]), factor_taps(fi[1])};
    int wrong = fi[0] > MAX_FACTOR_S0 || fi[1] > MAX_FACTOR_DIAGONAL || shift[1] != shift[0] + 1;
    /* For pictures 513 to 4096 wide, and for all others. */
    if (!wrong)
        wrong = shift[0] == 5   ? contrast(from, 1, n, factors, rows, centre, 5, sums)
                : shift[0] == 6 ? contrast(from, 1, n, factors, rows, centre, 6, sums)
                : shift[0] == 7 ? contrast(from, 1, n, factors, rows, centre, 7, sums)
                                : contrast(from, 1, n, factors, rows, centre, shift[0], sums);
    if (wrong)
        adm_contrast_s0_c(bands, n, fi, rows, centre, shift, sums);
}

void adm_contrast_s123_simd(const int32_t *const sizes[3], uint32_t n, const int32_t *const rows[3],
                            const int32_t *centre, uint32_t shift, int64_t sums[3])
{
    const void *const from[3] = {sizes[0], sizes[1], sizes[2]};
    if (contrast(from, 0, n, NULL, rows, centre, shift, sums))
        adm_contrast_s123_c(sizes, n, rows, centre, shift, sums);
}

/* ---- Denominator ---- */

/* Valid lanes of a row: all up to the n-th. */
INLINE V counted(uint32_t j, uint32_t n)
{
    return wasm_i32x4_lt(wasm_i32x4_add(wasm_i32x4_const(0, 1, 2, 3), wasm_i32x4_splat((int32_t)j)), wasm_i32x4_splat((int32_t)n));
}

void adm_cubes_s0_simd(const int16_t *const bands[3], uint32_t n, uint64_t sums[3])
{
    for (int band = 0; band < 3; band++) {
        V total = wasm_i64x2_const_splat(0);
        uint32_t j = 0;
        for (; j + 8 <= n; j += 8) {
            V z = wasm_i16x8_abs(wasm_v128_load(bands[band] + j));
            V low = wasm_u32x4_extmul_low_u16x8(z, z), high = wasm_u32x4_extmul_high_u16x8(z, z);
            V z_low = wasm_u32x4_extend_low_u16x8(z), z_high = wasm_u32x4_extend_high_u16x8(z);
            total = wasm_i64x2_add(total, wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(low, z_low),
                                                         wasm_u64x2_extmul_high_u32x4(low, z_low)));
            total = wasm_i64x2_add(total, wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(high, z_high),
                                                         wasm_u64x2_extmul_high_u32x4(high, z_high)));
        }
        uint64_t sum = (uint64_t)sum_of(total);
        for (; j < n; j++) {
            uint64_t z = (uint64_t)(bands[band][j] < 0 ? -bands[band][j] : bands[band][j]);
            sum += z * z * z;
        }
        sums[band] = sum;
    }
}

INLINE void cubes_s123(const int32_t *const bands[3], uint32_t n, const uint32_t square_shift, uint32_t shift,
                       uint64_t sums[3])
{
    const V unit = wasm_i64x2_splat((int64_t)1 << square_shift), round = rounding(shift);
    for (int band = 0; band < 3; band++) {
        V total = wasm_i64x2_const_splat(0);
        for (uint32_t j = 0; j < n; j += 4) {
            V z = wasm_i32x4_abs(wasm_v128_load(bands[band] + j));
            if (j + 4 > n)
                z = wasm_v128_and(z, counted(j, n));
            V low = wasm_u64x2_shr(wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(z, z), unit), square_shift);
            V high = wasm_u64x2_shr(wasm_i64x2_add(wasm_u64x2_extmul_high_u32x4(z, z), unit), square_shift);
            V square = wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
            V products = shift_right(wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(square, z), round), shift);
            total = wasm_i64x2_add(total, products);
            products = shift_right(wasm_i64x2_add(wasm_u64x2_extmul_high_u32x4(square, z), round), shift);
            total = wasm_i64x2_add(total, products);
        }
        sums[band] = (uint64_t)sum_of(total);
    }
}

void adm_cubes_s123_simd(const int32_t *const bands[3], uint32_t n, uint32_t square_shift, uint32_t shift,
                         uint64_t sums[3])
{
    if (square_shift == 30)
        cubes_s123(bands, n, 30, shift, sums);
    else
        cubes_s123(bands, n, 31, shift, sums);
}
