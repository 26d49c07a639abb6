/*
 * adm_simd.c - ADM in SIMD128, equal to adm.c to the last bit.
 *
 * Scale 0 holds three quarters of all coefficients and fits 16 bits: its coefficients are at most 22930 in size (a tap
 * set sums to 54822 in absolute value). Whatever leaves the ranges that the shortcuts below are proven for goes through
 * the portable function, eight coefficients or a row at a time.
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

/* Distance between the scratch rows: `width` samples, margins for the mirror and for vectors that run over. */
static uint32_t scratch_stride(uint32_t width) { return ((width + 7) & ~7u) + 16; }

/* The columns around a row that the first and last outputs touch. */
static void extend_row(int16_t *row, uint32_t width)
{
    row[-1] = row[mirror_repeat_end(-1, (int32_t)width)];
    row[width] = row[width - 1];
    row[width + 1] = row[mirror_repeat_end((int32_t)width + 1, (int32_t)width)];
}

/* n values of which whole vectors are stored; the rest goes through a buffer. */
INLINE void store_16(int16_t *to, V v, uint32_t left)
{
    if (left >= 8) {
        wasm_v128_store(to, v);
    } else {
        int16_t rest[8];
        wasm_v128_store(rest, v);
        for (uint32_t i = 0; i < left; i++)
            to[i] = rest[i];
    }
}

INLINE void store_32(int32_t *to, V v, uint32_t left)
{
    if (left >= 4) {
        wasm_v128_store(to, v);
    } else {
        int32_t rest[4];
        wasm_v128_store(rest, v);
        for (uint32_t i = 0; i < left; i++)
            to[i] = rest[i];
    }
}

/*
 * Eight samples of a source row as signed 16 bits. Those of more than 8 are brought to 16, x << (16 - depth), and centred:
 * then they are filtered like 16-bit samples, and no shift is a variable.
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

INLINE void wavelet_s0(const void *const rows[4], uint32_t width, const int wide, V unit, int16_t *lo, int16_t *hi)
{
    const Taps f = wavelet_taps();
    const uint32_t shift = wide ? 16 : 8;
    /* Less the centre times the sum of the low-pass taps; already gone from wide samples. */
    const V lo_round = wasm_i32x4_splat(wide ? 32768 : 128 - 46342 * 128);
    const V hi_round = wasm_i32x4_splat(wide ? 32768 : 128);
    const void *const r[4] = {rows[0], rows[1], rows[2], rows[3]};
    for (uint32_t j = 0; j < width; j += 8) {
        V r0 = load_samples(r[0], j, wide, unit), r1 = load_samples(r[1], j, wide, unit);
        V r2 = load_samples(r[2], j, wide, unit), r3 = load_samples(r[3], j, wide, unit);
        V a0 = pairs_low(r0, r1), a1 = pairs_high(r0, r1), b0 = pairs_low(r2, r3), b1 = pairs_high(r2, r3);
        wasm_v128_store(lo + j, shift_narrow(dot2(a0, b0, f.low), dot2(a1, b1, f.low), lo_round, shift));
        wasm_v128_store(hi + j, shift_narrow(dot2(a0, b0, f.high), dot2(a1, b1, f.high), hi_round, shift));
    }
}

void adm_wavelet_s0_simd(const void *const rows[4], uint32_t width, uint32_t bit_depth, int16_t *scratch,
                         int16_t *const bands[4])
{
    int16_t *lo = scratch, *hi = scratch + scratch_stride(width);
    const V unit = wasm_i16x8_splat((int16_t)(1u << (16 - bit_depth)));
    if (bit_depth == 8)
        wavelet_s0(rows, width, 0, unit, lo, hi);
    else
        wavelet_s0(rows, width, 1, unit, lo, hi);
    extend_row(lo, width);
    extend_row(hi, width);

    const Taps f = wavelet_taps();
    const V round = wasm_i32x4_const_splat(32768);
    const uint32_t n = (width + 1) / 2;
    for (uint32_t j = 0; j < n; j += 8) {
        const int16_t *l = lo + 2 * j - 1, *h = hi + 2 * j - 1;
        V l0 = wasm_v128_load(l), l1 = wasm_v128_load(l + 2), l2 = wasm_v128_load(l + 8), l3 = wasm_v128_load(l + 10);
        V h0 = wasm_v128_load(h), h1 = wasm_v128_load(h + 2), h2 = wasm_v128_load(h + 8), h3 = wasm_v128_load(h + 10);
        store_16(bands[0] + j, shift_narrow(dot2(l0, l1, f.low), dot2(l2, l3, f.low), round, 16), n - j);
        store_16(bands[1] + j, shift_narrow(dot2(h0, h1, f.low), dot2(h2, h3, f.low), round, 16), n - j);
        store_16(bands[2] + j, shift_narrow(dot2(l0, l1, f.high), dot2(l2, l3, f.high), round, 16), n - j);
        store_16(bands[3] + j, shift_narrow(dot2(h0, h1, f.high), dot2(h2, h3, f.high), round, 16), n - j);
    }
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

INLINE void wavelet_columns(const SplitRows *rows, uint32_t width, const int doubled, int32_t *const bands[4])
{
    const Taps f = wavelet_taps();
    const uint32_t n = (width + 1) / 2;
    for (int half = 0; half < 2; half++) {
        extend_row(rows->lo[half], width);
        extend_row(rows->hi[half], width);
    }
    for (uint32_t j = 0; j < n; j += 4) {
        const uint32_t at = 2 * j;
        V lh0 = wasm_v128_load(rows->lo[0] + at - 1), lh1 = wasm_v128_load(rows->lo[0] + at + 1);
        V ll0 = wasm_v128_load(rows->lo[1] + at - 1), ll1 = wasm_v128_load(rows->lo[1] + at + 1);
        V hh0 = wasm_v128_load(rows->hi[0] + at - 1), hh1 = wasm_v128_load(rows->hi[0] + at + 1);
        V hl0 = wasm_v128_load(rows->hi[1] + at - 1), hl1 = wasm_v128_load(rows->hi[1] + at + 1);
        store_32(bands[0] + j, split_dot(lh0, lh1, ll0, ll1, f.low, doubled), n - j);
        store_32(bands[1] + j, split_dot(hh0, hh1, hl0, hl1, f.low, doubled), n - j);
        store_32(bands[2] + j, split_dot(lh0, lh1, ll0, ll1, f.high, doubled), n - j);
        store_32(bands[3] + j, split_dot(hh0, hh1, hl0, hl1, f.high, doubled), n - j);
    }
}

void adm_wavelet_s1_simd(const int16_t *const rows[4], uint32_t width, int32_t *scratch, int32_t *const bands[4])
{
    const Taps f = wavelet_taps();
    const SplitRows out = split_rows(scratch, width);
    for (uint32_t j = 0; j < width; j += 8) {
        V r0 = wasm_v128_load(rows[0] + j), r1 = wasm_v128_load(rows[1] + j);
        V r2 = wasm_v128_load(rows[2] + j), r3 = wasm_v128_load(rows[3] + j);
        V a0 = pairs_low(r0, r1), a1 = pairs_high(r0, r1), b0 = pairs_low(r2, r3), b1 = pairs_high(r2, r3);
        store_split(out.lo, j, dot2(a0, b0, f.low), dot2(a1, b1, f.low));
        store_split(out.hi, j, dot2(a0, b0, f.high), dot2(a1, b1, f.high));
    }
    wavelet_columns(&out, width, 1, bands);
}

void adm_wavelet_s23_simd(const int32_t *const rows[4], uint32_t width, uint32_t scale, int32_t *scratch,
                          int32_t *const bands[4])
{
    const Taps f = wavelet_taps();
    const SplitRows out = split_rows(scratch, width);
    for (uint32_t j = 0; j < width; j += 8) {
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
        store_split(out.lo, j, split_dot(h0, h1, l0, l1, f.low, 0), split_dot(h2, h3, l2, l3, f.low, 0));
        store_split(out.hi, j, split_dot(h0, h1, l0, l1, f.high, 0), split_dot(h2, h3, l2, l3, f.high, 0));
    }
    if (scale == 2)
        wavelet_columns(&out, width, 0, bands);
    else
        wavelet_columns(&out, width, 1, bands);
}

/* ---- Decoupling ---- */

/*
 * Which of four gradients kept their direction, from exact 32-bit products. Single precision decides unless the two
 * sides of the comparison are within 2^-20 of each other (its own error is below 2^-22); *doubtful tells those.
 */
INLINE V similar_single(V dp, V om, V tm, V *doubtful)
{
    V x = wasm_f32x4_convert_i32x4(dp);
    V left = wasm_f32x4_mul(x, x);
    V right = wasm_f32x4_mul(wasm_f32x4_mul(wasm_f32x4_const_splat(ADM_COS_1DEG_SQ), wasm_f32x4_convert_i32x4(om)),
                             wasm_f32x4_convert_i32x4(tm));
    V distance = wasm_f32x4_abs(wasm_f32x4_sub(left, right));
    *doubtful = wasm_f32x4_lt(distance, wasm_f32x4_mul(right, wasm_f32x4_const_splat(0x1p-20f)));
    return wasm_v128_and(wasm_i32x4_ge(dp, wasm_i32x4_const_splat(0)), wasm_f32x4_ge(left, right));
}

/* trunc(o * gain) of eight coefficients, saturated to 16 bits. */
INLINE V enhanced(V o, double gain_limit)
{
    const V gain = wasm_f64x2_splat(gain_limit);
    V low = wasm_i32x4_extend_low_i16x8(o), high = wasm_i32x4_extend_high_i16x8(o);
    V parts[4];
    parts[0] = wasm_f64x2_mul(wasm_f64x2_convert_low_i32x4(low), gain);
    parts[1] = wasm_f64x2_mul(wasm_f64x2_convert_low_i32x4(wasm_i32x4_shuffle(low, low, 2, 3, 2, 3)), gain);
    parts[2] = wasm_f64x2_mul(wasm_f64x2_convert_low_i32x4(high), gain);
    parts[3] = wasm_f64x2_mul(wasm_f64x2_convert_low_i32x4(wasm_i32x4_shuffle(high, high, 2, 3, 2, 3)), gain);
    for (int i = 0; i < 4; i++)
        parts[i] = wasm_i32x4_trunc_sat_f64x2_zero(parts[i]);
    return wasm_i16x8_narrow_i32x4(wasm_i64x2_shuffle(parts[0], parts[1], 0, 2),
                                   wasm_i64x2_shuffle(parts[2], parts[3], 0, 2));
}

/*
 * For |o| <= 16384 the restored coefficient is t clamped between 0 and o, without a division. With the fixed-point gain
 * k = (floor(2^30 / o) * t + 2^14) >> 15, k*o / 2^15 = t + e where e = rho*o / 2^15 - eps*t*o / 2^30, |rho| <= 1/2 and
 * 0 <= eps < 1: for t < o that is -1/2 < e <= 1/4, so rounding gives t; for t >= o, k saturates. And k > 0 exactly when
 * the result is not 0. So enhancement can only show where t is beyond o.
 */
void adm_decouple_s0_simd(const int16_t *const reference[3], const int16_t *const distorted[3], uint32_t n,
                          double gain_limit, int16_t *const restored[3], int16_t *const additive[3])
{
    const V zero = wasm_i16x8_const_splat(0), limit = wasm_i16x8_const_splat(16384);
    const int enhances = gain_limit > 1;
    for (uint32_t j = 0; j < n; j += 8) {
        V o[3], t[3], r[3], large = zero, beyond[3], any_beyond = zero;
        for (int band = 0; band < 3; band++) {
            o[band] = wasm_v128_load(reference[band] + j);
            t[band] = wasm_v128_load(distorted[band] + j);
            large = wasm_v128_or(large, wasm_i16x8_gt(wasm_i16x8_abs(o[band]), limit));
            V floor = wasm_i16x8_min(o[band], zero), ceiling = wasm_i16x8_max(o[band], zero);
            r[band] = wasm_i16x8_min(wasm_i16x8_max(t[band], floor), ceiling);
            /* Same sign, further from zero: the clamp changed t, but not to 0. */
            beyond[band] = wasm_v128_andnot(wasm_i16x8_ne(r[band], t[band]), wasm_i16x8_eq(r[band], zero));
            any_beyond = wasm_v128_or(any_beyond, beyond[band]);
        }
        if (wasm_v128_any_true(large)) {
            const int16_t *const from_o[3] = {reference[0] + j, reference[1] + j, reference[2] + j};
            const int16_t *const from_t[3] = {distorted[0] + j, distorted[1] + j, distorted[2] + j};
            int16_t *const to_r[3] = {restored[0] + j, restored[1] + j, restored[2] + j};
            int16_t *const to_a[3] = {additive[0] + j, additive[1] + j, additive[2] + j};
            adm_decouple_s0_c(from_o, from_t, n - j < 8 ? n - j : 8, gain_limit, to_r, to_a);
            continue;
        }
        if (enhances && wasm_v128_any_true(any_beyond)) {
            V similar[2], doubtful[2];
            for (int half = 0; half < 2; half++) {
                V oo = half ? pairs_high(o[0], o[1]) : pairs_low(o[0], o[1]);
                V tt = half ? pairs_high(t[0], t[1]) : pairs_low(t[0], t[1]);
                similar[half] = similar_single(wasm_i32x4_dot_i16x8(oo, tt), wasm_i32x4_dot_i16x8(oo, oo),
                                               wasm_i32x4_dot_i16x8(tt, tt), &doubtful[half]);
            }
            V mask = wasm_i16x8_narrow_i32x4(similar[0], similar[1]);
            V doubt = wasm_i16x8_narrow_i32x4(doubtful[0], doubtful[1]);
            if (wasm_v128_any_true(wasm_v128_and(doubt, any_beyond))) {
                const int16_t *const from_o[3] = {reference[0] + j, reference[1] + j, reference[2] + j};
                const int16_t *const from_t[3] = {distorted[0] + j, distorted[1] + j, distorted[2] + j};
                int16_t *const to_r[3] = {restored[0] + j, restored[1] + j, restored[2] + j};
                int16_t *const to_a[3] = {additive[0] + j, additive[1] + j, additive[2] + j};
                adm_decouple_s0_c(from_o, from_t, n - j < 8 ? n - j : 8, gain_limit, to_r, to_a);
                continue;
            }
            for (int band = 0; band < 3; band++) {
                /* t lies beyond o, so the limit is o * gain or t, whichever is nearer to zero. */
                V e = enhanced(o[band], gain_limit);
                V nearer = wasm_v128_bitselect(wasm_i16x8_min(e, t[band]), wasm_i16x8_max(e, t[band]),
                                               wasm_i16x8_gt(o[band], zero));
                r[band] = wasm_v128_bitselect(nearer, r[band], wasm_v128_and(mask, beyond[band]));
            }
        }
        for (int band = 0; band < 3; band++) {
            wasm_v128_store(restored[band] + j, r[band]);
            wasm_v128_store(additive[band] + j, wasm_i16x8_sub(t[band], r[band]));
        }
    }
}

/* Two 32-bit values as doubles, and four integral doubles as 32-bit values: the lower bits beside 1.5 * 2^52. */
INLINE V to_double(V v) { return wasm_f64x2_convert_low_i32x4(v); }
INLINE V load_two(const int32_t *p) { return wasm_v128_load64_zero(p); }
INLINE V from_doubles(V low, V high)
{
    const V unit = wasm_f64x2_const_splat(0x1.8p52);
    return wasm_i32x4_shuffle(wasm_f64x2_add(low, unit), wasm_f64x2_add(high, unit), 0, 2, 4, 6);
}

/*
 * The restored coefficient of two pixels (spec 4.5), enhanced where `similar`. All products stay below 2^53.
 *
 * t with the sign of o is clamped to 0..2|o|, which changes nothing: below, the gain k is 0, and from about |o| on it
 * saturates. Where r is 0, with a gain or without, the enhanced coefficient is 0 too. o = 0 divides by 0, and pmin turns
 * what comes of it into a k of 32768: r is 0.
 */
INLINE V restore(V o, V t, V similar, V gain)
{
    const V one_half = wasm_f64x2_const_splat(0.5), zero = wasm_f64x2_const_splat(0);
    const V sign = wasm_v128_and(o, wasm_f64x2_const_splat(-0.0)), size = wasm_f64x2_abs(o);
    /* |o| loses its low bits down to 15: 2^-shift from the exponent, 1 below 2^15. */
    const V exponent = wasm_v128_and(wasm_f64x2_pmax(size, wasm_f64x2_const_splat(16384)), wasm_i64x2_const_splat(0x7ffLL << 52));
    const V scale = wasm_i64x2_sub(wasm_i64x2_const_splat((2 * 1023 + 14LL) << 52), exponent);
    const V scale_15 = wasm_i64x2_sub(wasm_i64x2_const_splat((2 * 1023 + 14 - 15LL) << 52), exponent);
    const V m = wasm_f64x2_floor(wasm_f64x2_add(wasm_f64x2_mul(size, scale), one_half));
    const V reciprocal = wasm_f64x2_trunc(wasm_f64x2_div(wasm_f64x2_const_splat(0x1p30), m));
    const V directed = wasm_v128_xor(t, sign);
    const V ts = wasm_f64x2_pmax(zero, wasm_f64x2_pmin(wasm_f64x2_add(size, size), directed));
    V k = wasm_f64x2_floor(wasm_f64x2_add(wasm_f64x2_mul(wasm_f64x2_mul(reciprocal, ts), scale_15), one_half));
    k = wasm_f64x2_pmin(wasm_f64x2_const_splat(32768), k);
    V r = wasm_f64x2_floor(wasm_f64x2_add(wasm_f64x2_mul(wasm_f64x2_mul(k, o), wasm_f64x2_const_splat(0x1p-15)), one_half));
    /* With signs turned as if o were positive: r * gain or t, whichever is less. */
    V nearer = wasm_f64x2_pmin(directed, wasm_v128_xor(wasm_f64x2_mul(r, gain), sign));
    nearer = wasm_f64x2_trunc(wasm_v128_xor(nearer, sign));
    return wasm_v128_bitselect(nearer, r, wasm_v128_and(similar, wasm_f64x2_ne(r, zero)));
}

/* Which of two gradients kept their direction; what is too close to tell in doubles is added to *doubtful. */
INLINE V similar_double(const V o[3], const V t[3], V *doubtful)
{
    V p = wasm_f64x2_add(wasm_f64x2_mul(o[0], t[0]), wasm_f64x2_mul(o[1], t[1]));
    V om = wasm_f64x2_add(wasm_f64x2_mul(o[0], o[0]), wasm_f64x2_mul(o[1], o[1]));
    V tm = wasm_f64x2_add(wasm_f64x2_mul(t[0], t[0]), wasm_f64x2_mul(t[1], t[1]));
    V left = wasm_f64x2_mul(p, p);
    V right = wasm_f64x2_mul(wasm_f64x2_mul(wasm_f64x2_const_splat(ADM_COS_1DEG_SQ), om), tm);
    V distance = wasm_f64x2_abs(wasm_f64x2_sub(left, right));
    *doubtful = wasm_v128_or(*doubtful, wasm_f64x2_lt(distance, wasm_f64x2_mul(right, wasm_f64x2_const_splat(0x1p-20))));
    return wasm_v128_and(wasm_f64x2_ge(p, wasm_f64x2_const_splat(0)), wasm_f64x2_ge(left, right));
}

void adm_decouple_s123_simd(const int32_t *const reference[3], const int32_t *const distorted[3], uint32_t n,
                            double gain_limit, int32_t *const restored[3], int32_t *const additive[3])
{
    const V gain = wasm_f64x2_splat(gain_limit);
    for (uint32_t j = 0; j < n; j += 4) {
        V r[2][3], doubtful = wasm_i32x4_const_splat(0);
        for (uint32_t half = 0; half < 2; half++) {
            V o[3], t[3];
            for (int band = 0; band < 3; band++) {
                o[band] = to_double(load_two(reference[band] + j + 2 * half));
                t[band] = to_double(load_two(distorted[band] + j + 2 * half));
            }
            const V similar = similar_double(o, t, &doubtful);
            for (int band = 0; band < 3; band++)
                r[half][band] = restore(o[band], t[band], similar, gain);
        }
        if (wasm_v128_any_true(doubtful)) {
            const int32_t *const from_o[3] = {reference[0] + j, reference[1] + j, reference[2] + j};
            const int32_t *const from_t[3] = {distorted[0] + j, distorted[1] + j, distorted[2] + j};
            int32_t *const to_r[3] = {restored[0] + j, restored[1] + j, restored[2] + j};
            int32_t *const to_a[3] = {additive[0] + j, additive[1] + j, additive[2] + j};
            adm_decouple_s123_c(from_o, from_t, n - j < 4 ? n - j : 4, gain_limit, to_r, to_a);
            continue;
        }
        for (int band = 0; band < 3; band++) {
            const V whole = from_doubles(r[0][band], r[1][band]);
            wasm_v128_store(restored[band] + j, whole);
            wasm_v128_store(additive[band] + j, wasm_i32x4_sub(wasm_v128_load(distorted[band] + j), whole));
        }
    }
}

/* ---- Masking ---- */

/* Largest factor of scale 0 for which no 16-bit or 32-bit value below overflows: 22930 * 46825 < 2^15 * 2^15. */
#define MAX_FACTOR_S0 46825
/* Of band d: two halves of 16 bits each. */
#define MAX_FACTOR_DIAGONAL 65534
/* Likewise for scales 1..3: |x| < 2^31 times a factor below 2^28 keeps C in 31 bits. */
#define MAX_FACTOR_S123 (1u << 28)

/* x times a factor of up to 16 bits, exactly: as two halves of a dot product with (x, x). */
INLINE V factor_taps(uint32_t fi)
{
    return wasm_i32x4_splat((int32_t)(((fi - fi / 2) << 16) | (fi / 2)));
}
INLINE V times_low(V x, V factor) { return wasm_i32x4_dot_i16x8(pairs_low(x, x), factor); }
INLINE V times_high(V x, V factor) { return wasm_i32x4_dot_i16x8(pairs_high(x, x), factor); }

/* Sum of three bands, 16 to 32 bits. */
INLINE V sum_low(const V v[3])
{
    return wasm_i32x4_add(wasm_i32x4_add(wasm_i32x4_extend_low_i16x8(v[0]), wasm_i32x4_extend_low_i16x8(v[1])),
                          wasm_i32x4_extend_low_i16x8(v[2]));
}
INLINE V sum_high(const V v[3])
{
    return wasm_i32x4_add(wasm_i32x4_add(wasm_i32x4_extend_high_i16x8(v[0]), wasm_i32x4_extend_high_i16x8(v[1])),
                          wasm_i32x4_extend_high_i16x8(v[2]));
}

/*
 * In q15 products, (a*b + 2^14) >> 15: with fi = 2^15 + f, (fi*x + 2^14) >> 15 = x + q15(x, f);
 * 4369 = 2^12 + 273 and 8738 = 2^13 + 546 over 2^12 likewise, 273 * 8 = 2184 and 546 * 8 = 4368.
 */
void adm_mask_s0_simd(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2], int32_t *neighbour,
                      int32_t *centre)
{
    if (fi[0] > MAX_FACTOR_S0 || fi[1] > MAX_FACTOR_DIAGONAL) {
        adm_mask_s0_c(bands, n, fi, neighbour, centre);
        return;
    }
    const int above_one = fi[0] >= 32768;
    const V f = wasm_i16x8_splat((int16_t)(above_one ? fi[0] - 32768 : fi[0]));
    const V whole = wasm_i16x8_splat(above_one ? -1 : 0);
    const V diagonal = factor_taps(fi[1]), diagonal_round = wasm_i32x4_const_splat(65535);
    for (uint32_t j = 0; j < n; j += 8) {
        V c[3], q[3], m[3];
        for (int band = 0; band < 2; band++) {
            V x = wasm_v128_load(bands[band] + j);
            c[band] = wasm_i16x8_add(wasm_v128_and(x, whole), wasm_i16x8_q15mulr_sat(x, f));
        }
        V x = wasm_v128_load(bands[2] + j);
        c[2] = wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(wasm_i32x4_add(times_low(x, diagonal), diagonal_round), 17),
                                       wasm_i32x4_shr(wasm_i32x4_add(times_high(x, diagonal), diagonal_round), 17));
        for (int band = 0; band < 3; band++) {
            V size = wasm_i16x8_abs(c[band]);
            q[band] = wasm_i16x8_add(size, wasm_i16x8_q15mulr_sat(size, wasm_i16x8_const_splat(2184)));
            m[band] = wasm_i16x8_add(wasm_i16x8_add(size, size),
                                     wasm_i16x8_q15mulr_sat(size, wasm_i16x8_const_splat(4368)));
        }
        V q_low = sum_low(q), q_high = sum_high(q);
        wasm_v128_store(neighbour + j, q_low);
        wasm_v128_store(neighbour + j + 4, q_high);
        wasm_v128_store(centre + j, wasm_i32x4_sub(sum_low(m), q_low));
        wasm_v128_store(centre + j + 4, wasm_i32x4_sub(sum_high(m), q_high));
    }
}

/*
 * |C| of four coefficients, C = (fi*x + 2^27) >> 28 rounding down: for negative x that is
 * (fi*|x| + 2^27 - 1) >> 28 in magnitude.
 */
INLINE V weighted_size(V x, V fi)
{
    OPAQUE(fi);
    V negative = wasm_i32x4_shr(x, 31), size = wasm_i32x4_abs(x);
    const V round = wasm_i64x2_const_splat(1 << 27);
    V low = wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(size, fi), wasm_i64x2_add(wasm_i64x2_extend_low_i32x4(negative), round));
    V high = wasm_i64x2_add(wasm_u64x2_extmul_high_u32x4(size, fi), wasm_i64x2_add(wasm_i64x2_extend_high_i32x4(negative), round));
    return wasm_i32x4_shuffle(wasm_u64x2_shr(low, 28), wasm_u64x2_shr(high, 28), 0, 2, 4, 6);
}

/* (c * factor + 2^31) >> 32, one more than the definition's rounding. */
INLINE V upper_product(V c, V factor)
{
    OPAQUE(factor);
    const V round = wasm_i64x2_const_splat(0x80000000LL);
    return wasm_i32x4_shuffle(wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(c, factor), round),
                              wasm_i64x2_add(wasm_u64x2_extmul_high_u32x4(c, factor), round), 1, 3, 5, 7);
}

void adm_mask_s123_simd(const int32_t *const bands[3], uint32_t n, const uint32_t fi[2], int32_t *const sizes[3],
                        int32_t *neighbour, int32_t *centre)
{
    if (fi[0] >= MAX_FACTOR_S123 || fi[1] >= MAX_FACTOR_S123) {
        adm_mask_s123_c(bands, n, fi, sizes, neighbour, centre);
        return;
    }
    const V factors[3] = {wasm_i32x4_splat((int32_t)fi[0]), wasm_i32x4_splat((int32_t)fi[0]),
                          wasm_i32x4_splat((int32_t)fi[1])};
    for (uint32_t j = 0; j < n; j += 4) {
        /* Three bands, each one too many. */
        V q = wasm_i32x4_const_splat(-3), m = q;
        for (int band = 0; band < 3; band++) {
            V c = weighted_size(wasm_v128_load(bands[band] + j), factors[band]);
            wasm_v128_store(sizes[band] + j, c);
            q = wasm_i32x4_add(q, upper_product(c, wasm_i32x4_const_splat(143165577)));
            m = wasm_i32x4_add(m, upper_product(c, wasm_i32x4_const_splat(286331153)));
        }
        wasm_v128_store(neighbour + j, q);
        wasm_v128_store(centre + j, wasm_i32x4_sub(m, q));
    }
}

/* ---- Contrast ---- */

/* Neighbours of four columns, rows added up. */
INLINE V column_sums(const int32_t *const rows[3], int32_t j)
{
    return wasm_i32x4_add(wasm_i32x4_add(wasm_v128_load(rows[0] + j), wasm_v128_load(rows[1] + j)), wasm_v128_load(rows[2] + j));
}

/* Thresholds of four columns, from column sums of the four before, these and the next four. */
INLINE V threshold(V before, V here, V next, V centre)
{
    V sides = wasm_i32x4_add(wasm_i32x4_shuffle(before, here, 3, 4, 5, 6), wasm_i32x4_shuffle(here, next, 1, 2, 3, 4));
    return wasm_i32x4_add(wasm_i32x4_add(sides, here), centre);
}

/* Lanes of a row that count: all but those behind the n-th. */
INLINE V counted(uint32_t j, uint32_t n)
{
    return wasm_i32x4_lt(wasm_i32x4_add(wasm_i32x4_const(0, 1, 2, 3), wasm_i32x4_splat((int32_t)j)), wasm_i32x4_splat((int32_t)n));
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

/* Largest y whose square, shifted, still fits 31 bits: sqrt(2^31 * 2^29), and times 2^30. */
#define MAX_Y_29 1073741823
#define MAX_Y_30 1518500249

/*
 * Few coefficients are above the threshold, and which is hard to predict. So the vectors in which one is are gathered
 * first, some columns at a time, and their cubes taken after that.
 */
#define GATHERED 64
typedef struct Gathered {
    int32_t y[3][GATHERED];
    uint32_t n[3];
} Gathered;

INLINE void gather(Gathered *g, const V y[3])
{
    for (int band = 0; band < 3; band++) {
        wasm_v128_store(g->y[band] + g->n[band], y[band]);
        g->n[band] += (uint32_t)wasm_v128_any_true(y[band]) << 2;
    }
}

INLINE V sum_cubes(const Gathered *g, int band, V total, const uint32_t square_shift, uint32_t shift)
{
    const V round = rounding(shift);
    const int32_t *y = g->y[band], *const end = y + g->n[band];
    for (; y < end; y += 4)
        total = wasm_i64x2_add(total, cubes(wasm_v128_load(y), square_shift, round, shift));
    return total;
}

/* side: the shift of bands h and v, band d has one more; non-zero when a value is too large. */
INLINE int contrast_s0(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2], const int32_t *const rows[3],
                       const int32_t *centre, uint32_t side, int64_t sums[3])
{
    const V zero = wasm_i32x4_const_splat(0);
    const V factors[2] = {factor_taps(fi[0]), factor_taps(fi[1])};
    V totals[3] = {zero, zero, zero}, over = zero;
    V before = column_sums(rows, -4), here = column_sums(rows, 0);
    Gathered g;
    for (uint32_t from = 0; from < n; from += GATHERED) {
        const uint32_t to = n - from < GATHERED ? n : from + GATHERED;
        g.n[0] = g.n[1] = g.n[2] = 0;
        for (uint32_t j = from; j < to; j += 4) {
            const V next = column_sums(rows, (int32_t)j + 4);
            const V thr = threshold(before, here, next, wasm_v128_load(centre + j));
            before = here, here = next;
            V y[3];
            for (int band = 0; band < 3; band++) {
                V x = wasm_v128_load64_zero(bands[band] + j);
                V size = wasm_i32x4_abs(times_low(x, factors[band == 2]));
                y[band] = wasm_i32x4_max(wasm_i32x4_sub(size, wasm_i32x4_shl(thr, band == 2 ? 12 : 10)), zero);
                if (j + 4 > n)
                    y[band] = wasm_v128_and(y[band], counted(j, n));
            }
            /* Thresholds below zero can lift a value so far that the definition's int32 wraps. */
            over = wasm_v128_or(over, wasm_v128_or(wasm_i32x4_gt(wasm_v128_or(y[0], y[1]), wasm_i32x4_const_splat(MAX_Y_29)),
                                                   wasm_i32x4_gt(y[2], wasm_i32x4_const_splat(MAX_Y_30))));
            gather(&g, y);
        }
        totals[0] = sum_cubes(&g, 0, totals[0], 29, side);
        totals[1] = sum_cubes(&g, 1, totals[1], 29, side);
        totals[2] = sum_cubes(&g, 2, totals[2], 30, side + 1);
    }
    for (int band = 0; band < 3; band++)
        sums[band] = sum_of(totals[band]);
    return wasm_v128_any_true(over);
}

void adm_contrast_s0_simd(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2],
                          const int32_t *const rows[3], const int32_t *centre, const uint32_t shift[2],
                          int64_t sums[3])
{
    int wrong = fi[0] > MAX_FACTOR_S0 || fi[1] > MAX_FACTOR_DIAGONAL || shift[1] != shift[0] + 1;
    /* Of pictures 513 to 4096 wide, and of all others. */
    if (!wrong)
        wrong = shift[0] == 5   ? contrast_s0(bands, n, fi, rows, centre, 5, sums)
                : shift[0] == 6 ? contrast_s0(bands, n, fi, rows, centre, 6, sums)
                : shift[0] == 7 ? contrast_s0(bands, n, fi, rows, centre, 7, sums)
                                : contrast_s0(bands, n, fi, rows, centre, shift[0], sums);
    if (wrong)
        adm_contrast_s0_c(bands, n, fi, rows, centre, shift, sums);
}

void adm_contrast_s123_simd(const int32_t *const sizes[3], uint32_t n, const int32_t *const rows[3],
                            const int32_t *centre, uint32_t shift, int64_t sums[3])
{
    const V zero = wasm_i32x4_const_splat(0);
    V totals[3] = {zero, zero, zero}, over = zero;
    V before = column_sums(rows, -4), here = column_sums(rows, 0);
    Gathered g;
    for (uint32_t from = 0; from < n; from += GATHERED) {
        const uint32_t to = n - from < GATHERED ? n : from + GATHERED;
        g.n[0] = g.n[1] = g.n[2] = 0;
        for (uint32_t j = from; j < to; j += 4) {
            const V next = column_sums(rows, (int32_t)j + 4);
            const V thr = threshold(before, here, next, wasm_v128_load(centre + j));
            before = here, here = next;
            V y[3];
            for (int band = 0; band < 3; band++) {
                y[band] = wasm_i32x4_max(wasm_i32x4_sub(wasm_v128_load(sizes[band] + j), thr), zero);
                if (j + 4 > n)
                    y[band] = wasm_v128_and(y[band], counted(j, n));
                over = wasm_v128_or(over, wasm_i32x4_gt(y[band], wasm_i32x4_const_splat(MAX_Y_30)));
            }
            gather(&g, y);
        }
        for (int band = 0; band < 3; band++)
            totals[band] = sum_cubes(&g, band, totals[band], 30, shift);
    }
    if (wasm_v128_any_true(over)) {
        adm_contrast_s123_c(sizes, n, rows, centre, shift, sums);
        return;
    }
    for (int band = 0; band < 3; band++)
        sums[band] = sum_of(totals[band]);
}

/* ---- Denominator ---- */

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
