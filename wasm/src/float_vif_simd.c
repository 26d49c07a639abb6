/*
 * float_vif_simd.c - floating-point VIF in SIMD128, equal to float_vif.c: a lane is a sample and does the same in the
 * same order. Rows are read, and outputs written, up to seven floats beyond their end.
 */
#include <wasm_simd128.h>

#include "float_vif.h"

typedef v128_t V;

#define INLINE static inline __attribute__((always_inline))

INLINE V load(const float *p) { return wasm_v128_load(p); }

/* Stores the first n of four floats. */
INLINE void store(float *dst, V x, uint32_t n)
{
    if (n >= 4) {
        wasm_v128_store(dst, x);
        return;
    }
    const float *src = (const float *)&x;
    for (uint32_t i = 0; i < n; i++)
        dst[i] = src[i];
}

void float_vif_columns_simd(const float *const *a, const float *const *b, const float *taps, uint32_t n, uint32_t width,
                            float *const out[FLOAT_VIF_SIGNALS])
{
    for (uint32_t j = 0; j < width; j += 4) {
        V s0 = wasm_f32x4_const_splat(0), s1 = s0, s2 = s0, s3 = s0, s4 = s0;
        for (uint32_t k = 0; k < n; k++) {
            const V tap = wasm_v128_load32_splat(taps + k);
            const V x = load(a[k] + j), y = load(b[k] + j);
            s0 = wasm_f32x4_add(s0, wasm_f32x4_mul(tap, x));
            s1 = wasm_f32x4_add(s1, wasm_f32x4_mul(tap, y));
            s2 = wasm_f32x4_add(s2, wasm_f32x4_mul(tap, wasm_f32x4_mul(x, x)));
            s3 = wasm_f32x4_add(s3, wasm_f32x4_mul(tap, wasm_f32x4_mul(y, y)));
            s4 = wasm_f32x4_add(s4, wasm_f32x4_mul(tap, wasm_f32x4_mul(x, y)));
        }
        const uint32_t left = width - j;
        store(out[0] + j, s0, left);
        store(out[1] + j, s1, left);
        store(out[2] + j, s2, left);
        store(out[3] + j, s3, left);
        store(out[4] + j, s4, left);
    }
}

INLINE V log2_approximate(V x)
{
    static const float coefficients[8] = {-0.012671635276421f, 0.064841182402670f, -0.157048836463065f,
                                          0.257167726303123f,  -0.353800560300520f, 0.480131410397451f,
                                          -0.721314327952201f, 1.442694803896991f};
    const V exponent = wasm_f32x4_convert_i32x4(wasm_i32x4_sub(
        wasm_v128_and(wasm_u32x4_shr(x, 23), wasm_i32x4_const_splat(0xff)), wasm_i32x4_const_splat(127)));
    const V bits = wasm_v128_or(wasm_v128_and(x, wasm_i32x4_const_splat(0x7fffff)), wasm_i32x4_const_splat(0x3f800000));
    const V mantissa = wasm_f32x4_sub(bits, wasm_f32x4_const_splat(1));
    V sum = wasm_f32x4_const_splat(0);
    for (uint32_t i = 0; i < 8; i++)
        sum = wasm_f32x4_add(wasm_f32x4_mul(sum, mantissa), wasm_f32x4_splat(coefficients[i]));
    return wasm_f32x4_add(exponent, wasm_f32x4_mul(sum, mantissa));
}

INLINE V wide_low(V x) { return wasm_f64x2_promote_low_f32x4(x); }
INLINE V wide_high(V x) { return wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(x, x, 2, 3, 2, 3)); }
INLINE V narrow(V low, V high)
{
    return wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high), 0, 1, 4, 5);
}
INLINE V narrow_mask(V low, V high) { return wasm_i32x4_shuffle(low, high, 0, 2, 4, 6); }

void float_vif_terms_simd(const float *const signals[FLOAT_VIF_SIGNALS], uint32_t n, const FloatVifNoise *noise,
                          float *num, float *den)
{
    const V zero = wasm_f32x4_const_splat(0), one = wasm_f32x4_const_splat(1), wide_one = wasm_f64x2_const_splat(1);
    const V epsilon = wasm_f32x4_const_splat(1.0e-10f);
    const V nsq = wasm_f64x2_splat(noise->sigma_nsq), limit = wasm_f64x2_splat(noise->gain_limit);
    const V narrow_limit = wasm_f32x4_splat((float)noise->gain_limit), inverse = wasm_f32x4_splat(noise->sigma_max_inv);
    for (uint32_t j = 0; j < n; j += 4) {
        const V m1 = load(signals[0] + j), m2 = load(signals[1] + j);
        V s1 = wasm_f32x4_sub(load(signals[2] + j), wasm_f32x4_mul(m1, m1));
        V s2 = wasm_f32x4_sub(load(signals[3] + j), wasm_f32x4_mul(m2, m2));
        const V s12 = wasm_f32x4_sub(load(signals[4] + j), wasm_f32x4_mul(m1, m2));
        s1 = wasm_v128_and(s1, wasm_f32x4_gt(s1, zero));
        s2 = wasm_v128_and(s2, wasm_f32x4_gt(s2, zero));
        V g = wasm_f32x4_div(s12, wasm_f32x4_add(s1, epsilon));
        V v = wasm_f32x4_sub(s2, wasm_f32x4_mul(g, s12));
        const V flat = wasm_f32x4_lt(s1, epsilon), plain = wasm_f32x4_lt(s2, epsilon);
        v = wasm_v128_bitselect(s2, v, flat);
        g = wasm_v128_andnot(g, flat);
        s1 = wasm_v128_andnot(s1, flat);
        v = wasm_v128_andnot(v, plain);
        g = wasm_v128_andnot(g, plain);
        const V opposed = wasm_f32x4_lt(g, zero);
        v = wasm_v128_bitselect(s2, v, opposed);
        g = wasm_v128_andnot(g, opposed);
        v = wasm_v128_bitselect(v, epsilon, wasm_f32x4_gt(v, epsilon));
        const V within = narrow_mask(wasm_f64x2_lt(wide_low(g), limit), wasm_f64x2_lt(wide_high(g), limit));
        g = wasm_v128_bitselect(g, narrow_limit, within);
        const V gain = wasm_f32x4_mul(wasm_f32x4_mul(g, g), s1);
        const V low = wide_low(s1), high = wide_high(s1);
#define NUM(wide) wasm_f64x2_add(wide_one, wasm_f64x2_div(wide(gain), wasm_f64x2_add(wide(v), nsq)))
        const V x = wasm_v128_andnot(log2_approximate(narrow(NUM(wide_low), NUM(wide_high))), wasm_f32x4_lt(s12, zero));
        const V y = log2_approximate(narrow(wasm_f64x2_add(wide_one, wasm_f64x2_div(low, nsq)),
                                            wasm_f64x2_add(wide_one, wasm_f64x2_div(high, nsq))));
        const V quiet = narrow_mask(wasm_f64x2_lt(low, nsq), wasm_f64x2_lt(high, nsq));
        store(num + j, wasm_v128_bitselect(wasm_f32x4_sub(one, wasm_f32x4_mul(s2, inverse)), x, quiet), n - j);
        store(den + j, wasm_v128_bitselect(one, y, quiet), n - j);
    }
}
