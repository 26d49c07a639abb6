/*
 * ssim_simd.c - SSIM in SIMD128, equal to ssim.c: products of four lanes in single precision, added up in two vectors of
 * doubles in the order of the taps, so that every lane does what the loop does. Rows are read, and outputs written, up
 * to three floats beyond their end.
 */
#include <wasm_simd128.h>

#include "ssim.h"

typedef v128_t V;

#define INLINE static inline __attribute__((always_inline))

INLINE V load(const float *p) { return wasm_v128_load(p); }
INLINE V wide_low(V x) { return wasm_f64x2_promote_low_f32x4(x); }
INLINE V wide_high(V x) { return wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(x, x, 2, 3, 2, 3)); }
INLINE V narrow(V low, V high)
{
    return wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high), 0, 1, 4, 5);
}

/* Four sums in double. */
typedef struct Sum4 {
    V low, high;
} Sum4;

INLINE void add(Sum4 *sum, V product)
{
    sum->low = wasm_f64x2_add(sum->low, wide_low(product));
    sum->high = wasm_f64x2_add(sum->high, wide_high(product));
}

/* Stores the first n of four floats. */
INLINE void store(float *dst, V x, uint32_t n)
{
    if (n >= 4) {
        wasm_v128_store(dst, x);
        return;
    }
    dst[0] = wasm_f32x4_extract_lane(x, 0);
    if (n > 1)
        dst[1] = wasm_f32x4_extract_lane(x, 1);
    if (n > 2)
        dst[2] = wasm_f32x4_extract_lane(x, 2);
}

#define EACH_TAP(STEP)                                                                                                 \
    STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10)

#define WINDOW(VALUE)                                                                                                  \
    ({                                                                                                                 \
        Sum4 sum_ = {wasm_f64x2_const_splat(0), wasm_f64x2_const_splat(0)};                                            \
        EACH_TAP(VALUE)                                                                                                \
        narrow(sum_.low, sum_.high);                                                                                   \
    })

void ssim_rows_simd(const float *a, const float *b, uint32_t n, float *const out[SSIM_SIGNALS])
{
    for (uint32_t j = 0; j < n; j += 4) {
        const float *x = a + j, *y = b + j;
#define TAP(k) wasm_f32x4_splat(ssim_window[k < 6 ? k : 10 - k])
#define OF_A(k) add(&sum_, wasm_f32x4_mul(load(x + k), TAP(k)));
#define OF_B(k) add(&sum_, wasm_f32x4_mul(load(y + k), TAP(k)));
#define OF_AA(k) add(&sum_, wasm_f32x4_mul(wasm_f32x4_mul(load(x + k), load(x + k)), TAP(k)));
#define OF_BB(k) add(&sum_, wasm_f32x4_mul(wasm_f32x4_mul(load(y + k), load(y + k)), TAP(k)));
#define OF_AB(k) add(&sum_, wasm_f32x4_mul(wasm_f32x4_mul(load(x + k), load(y + k)), TAP(k)));
        store(out[0] + j, WINDOW(OF_A), n - j);
        store(out[1] + j, WINDOW(OF_B), n - j);
        store(out[2] + j, WINDOW(OF_AA), n - j);
        store(out[3] + j, WINDOW(OF_BB), n - j);
        store(out[4] + j, WINDOW(OF_AB), n - j);
    }
}

/* The means of l, c, s and their product of two columns; the lanes are added to sums in order. */
INLINE void add_terms(V l, V c, V s, uint32_t n, double sums[4])
{
    const V product = wasm_f64x2_mul(wasm_f64x2_mul(l, c), s);
    sums[0] += wasm_f64x2_extract_lane(product, 0);
    sums[1] += wasm_f64x2_extract_lane(l, 0);
    sums[2] += wasm_f64x2_extract_lane(c, 0);
    sums[3] += wasm_f64x2_extract_lane(s, 0);
    if (n < 2)
        return;
    sums[0] += wasm_f64x2_extract_lane(product, 1);
    sums[1] += wasm_f64x2_extract_lane(l, 1);
    sums[2] += wasm_f64x2_extract_lane(c, 1);
    sums[3] += wasm_f64x2_extract_lane(s, 1);
}

void ssim_terms_simd(const float *const *const rows[SSIM_SIGNALS], uint32_t n, double sums[4])
{
    const float q1 = 0.01f * 255, q2 = 0.03f * 255;
    const float f1 = q1 * q1, f2 = q2 * q2, f3 = f2 / 2;
    const V c1 = wasm_f32x4_splat(f1), c2 = wasm_f32x4_splat(f2), c3 = wasm_f32x4_splat(f3);
    const V wide_c1 = wasm_f64x2_splat(f1), wide_c2 = wasm_f64x2_splat(f2);
    const V two = wasm_f64x2_const_splat(2), zero = wasm_f32x4_const_splat(0);
    for (uint32_t j = 0; j < n; j += 4) {
        V signal[SSIM_SIGNALS];
        for (uint32_t i = 0; i < SSIM_SIGNALS; i++) {
            const float *const *window = rows[i];
#define OF_ROWS(k) add(&sum_, wasm_f32x4_mul(load(window[k] + j), TAP(k)));
            signal[i] = WINDOW(OF_ROWS);
        }
        const V m1 = signal[0], m2 = signal[1];
        const V m11 = wasm_f32x4_mul(m1, m1), m22 = wasm_f32x4_mul(m2, m2);
        const V v1 = wasm_f32x4_pmax(zero, wasm_f32x4_sub(signal[2], m11));
        const V v2 = wasm_f32x4_pmax(zero, wasm_f32x4_sub(signal[3], m22));
        const V covariance = wasm_f32x4_sub(signal[4], wasm_f32x4_mul(m1, m2));
        /* A square root rounded to double and then to single equals one rounded once. */
        const V deviation = wasm_f32x4_sqrt(wasm_f32x4_mul(v1, v2));
        const V none = wasm_v128_and(wasm_f32x4_lt(covariance, zero), wasm_f32x4_le(deviation, zero));
        const V s = wasm_f32x4_div(wasm_f32x4_add(wasm_v128_andnot(covariance, none), c3), wasm_f32x4_add(deviation, c3));
        const V below_l = wasm_f32x4_add(wasm_f32x4_add(m11, m22), c1);
        const V below_c = wasm_f32x4_add(wasm_f32x4_add(v1, v2), c2);
#define HALF(wide, count)                                                                                              \
    add_terms(wasm_f64x2_div(wasm_f64x2_add(wasm_f64x2_mul(wasm_f64x2_mul(two, wide(m1)), wide(m2)), wide_c1),         \
                             wide(below_l)),                                                                           \
              wasm_f64x2_div(wasm_f64x2_add(wasm_f64x2_mul(two, wide(deviation)), wide_c2), wide(below_c)), wide(s),   \
              count, sums);
        HALF(wide_low, n - j)
        if (n - j > 2)
            HALF(wide_high, n - j - 2)
    }
}

void ssim_halve_simd(const float *const rows[9], uint32_t n, float *dst)
{
    for (uint32_t x = 0; x < n; x += 4) {
        Sum4 sum = {wasm_f64x2_const_splat(0), wasm_f64x2_const_splat(0)};
        for (uint32_t i = 0; i < 9; i++) {
            const float *row = rows[i] + 2 * x, *taps = ssim_halving[i < 5 ? i : 8 - i];
            /* Samples 0..11 as even and odd ones: every tap is a window into them. */
            const V v0 = load(row), v1 = load(row + 4), v2 = load(row + 8), v3 = load(row + 12);
            const V even0 = wasm_i32x4_shuffle(v0, v1, 0, 2, 4, 6), even1 = wasm_i32x4_shuffle(v2, v3, 0, 2, 4, 6);
            const V odd0 = wasm_i32x4_shuffle(v0, v1, 1, 3, 5, 7), odd1 = wasm_i32x4_shuffle(v2, v3, 1, 3, 5, 7);
            add(&sum, wasm_f32x4_mul(even0, wasm_f32x4_splat(taps[0])));
            add(&sum, wasm_f32x4_mul(odd0, wasm_f32x4_splat(taps[1])));
            add(&sum, wasm_f32x4_mul(wasm_i32x4_shuffle(even0, even1, 1, 2, 3, 4), wasm_f32x4_splat(taps[2])));
            add(&sum, wasm_f32x4_mul(wasm_i32x4_shuffle(odd0, odd1, 1, 2, 3, 4), wasm_f32x4_splat(taps[3])));
            add(&sum, wasm_f32x4_mul(wasm_i32x4_shuffle(even0, even1, 2, 3, 4, 5), wasm_f32x4_splat(taps[4])));
            add(&sum, wasm_f32x4_mul(wasm_i32x4_shuffle(odd0, odd1, 2, 3, 4, 5), wasm_f32x4_splat(taps[3])));
            add(&sum, wasm_f32x4_mul(wasm_i32x4_shuffle(even0, even1, 3, 4, 5, 6), wasm_f32x4_splat(taps[2])));
            add(&sum, wasm_f32x4_mul(wasm_i32x4_shuffle(odd0, odd1, 3, 4, 5, 6), wasm_f32x4_splat(taps[1])));
            add(&sum, wasm_f32x4_mul(even1, wasm_f32x4_splat(taps[0])));
        }
        store(dst + x, narrow(sum.low, sum.high), n - x);
    }
}
