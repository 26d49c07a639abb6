/*
 * float_adm_simd.c - floating-point ADM in SIMD128, equal to float_adm.c: a lane is a coefficient and does the same in
 * the same order. Rows are read up to seven floats past their end; surplus lanes of a vector are not stored.
 */
#include <wasm_simd128.h>

#include "filters.h"
#include "float_adm.h"

typedef v128_t V;

#define INLINE static inline __attribute__((always_inline))

INLINE V load(const float *p) { return wasm_v128_load(p); }
INLINE V add(V x, V y) { return wasm_f32x4_add(x, y); }
INLINE V mul(V x, V y) { return wasm_f32x4_mul(x, y); }

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

INLINE V low(V x0, V x1, V x2, V x3)
{
    const V sum = add(mul(wasm_f32x4_const_splat(0.482962913144690f), x0),
                      mul(wasm_f32x4_const_splat(0.836516303737469f), x1));
    return add(add(sum, mul(wasm_f32x4_const_splat(0.224143868041857f), x2)),
               mul(wasm_f32x4_const_splat(-0.129409522550921f), x3));
}

INLINE V high(V x0, V x1, V x2, V x3)
{
    const V sum = add(mul(wasm_f32x4_const_splat(-0.129409522550921f), x0),
                      mul(wasm_f32x4_const_splat(-0.224143868041857f), x1));
    return add(add(sum, mul(wasm_f32x4_const_splat(0.836516303737469f), x2)),
               mul(wasm_f32x4_const_splat(-0.482962913144690f), x3));
}

/* Low and high half of a row that has one sample before it and some behind its end. */
INLINE void halve(const float *row, uint32_t n, float *lows, float *highs)
{
    for (uint32_t i = 0; i < n; i += 4) {
        const float *x = row + 2 * i - 1;
        const V a = load(x), b = load(x + 4), c = load(x + 2), d = load(x + 6);
        const V x0 = wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), x1 = wasm_i32x4_shuffle(a, b, 1, 3, 5, 7);
        const V x2 = wasm_i32x4_shuffle(c, d, 0, 2, 4, 6), x3 = wasm_i32x4_shuffle(c, d, 1, 3, 5, 7);
        store(lows + i, low(x0, x1, x2, x3), n - i);
        store(highs + i, high(x0, x1, x2, x3), n - i);
    }
}

void float_adm_wavelet_simd(const float *const rows[4], uint32_t width, float *scratch, float *const bands[4])
{
    float *lows = scratch + 4, *highs = lows + width + 12;
    for (uint32_t j = 0; j < width; j += 4) {
        const V x0 = load(rows[0] + j), x1 = load(rows[1] + j), x2 = load(rows[2] + j), x3 = load(rows[3] + j);
        store(lows + j, low(x0, x1, x2, x3), width - j);
        store(highs + j, high(x0, x1, x2, x3), width - j);
    }
    float *const halves[2] = {lows, highs};
    for (uint32_t i = 0; i < 2; i++) {
        float *row = halves[i];
        row[-1] = row[mirror_repeat_end(-1, (int32_t)width)];
        for (uint32_t k = 0; k < 2; k++)
            row[width + k] = row[mirror_repeat_end((int32_t)(width + k), (int32_t)width)];
    }
    halve(lows, (width + 1) / 2, bands[0], bands[2]);
    halve(highs, (width + 1) / 2, bands[1], bands[3]);
}

INLINE V wide_low(V x) { return wasm_f64x2_promote_low_f32x4(x); }
INLINE V wide_high(V x) { return wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(x, x, 2, 3, 2, 3)); }
INLINE V narrow(V x, V y)
{
    return wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero(x), wasm_f32x4_demote_f64x2_zero(y), 0, 1, 4, 5);
}

void float_adm_decouple_simd(const float *const reference[3], const float *const distorted[3], uint32_t n,
                             double gain_limit, float *const restored[3], float *const additive[3])
{
    const V zero = wasm_f32x4_const_splat(0), one = wasm_f32x4_const_splat(1), tiny = wasm_f32x4_const_splat(1e-30f);
    const V cosine_squared = wasm_f32x4_splat((float)(0.99984769515639123916 * 0.99984769515639123916));
    const V limit = wasm_f64x2_splat(gain_limit);
    for (uint32_t j = 0; j < n; j += 4) {
        const V oh = load(reference[0] + j), ov = load(reference[1] + j);
        const V th = load(distorted[0] + j), tv = load(distorted[1] + j);
        const V dot = add(mul(oh, th), mul(ov, tv));
        const V o_size = add(mul(oh, oh), mul(ov, ov)), t_size = add(mul(th, th), mul(tv, tv));
        const V similar =
            wasm_v128_and(wasm_f32x4_ge(dot, zero),
                          wasm_f32x4_ge(mul(dot, dot), mul(mul(cosine_squared, o_size), t_size)));
        for (uint32_t b = 0; b < 3; b++) {
            const V o = load(reference[b] + j), t = load(distorted[b] + j);
            V k = wasm_f32x4_div(t, add(o, tiny));
            k = wasm_v128_andnot(k, wasm_f32x4_lt(k, zero));
            k = wasm_v128_bitselect(one, k, wasm_f32x4_gt(k, one));
            V r = mul(k, o);
            const V up = wasm_v128_and(similar, wasm_f32x4_gt(r, zero));
            const V down = wasm_v128_and(similar, wasm_f32x4_lt(r, zero));
            /* Rounding keeps order, and t is single already: limits may be taken after it. */
            const V gained = narrow(wasm_f64x2_mul(wide_low(r), limit), wasm_f64x2_mul(wide_high(r), limit));
            r = wasm_v128_bitselect(wasm_f32x4_pmin(gained, t), r, up);
            r = wasm_v128_bitselect(wasm_f32x4_pmax(gained, t), r, down);
            store(restored[b] + j, r, n - j);
            store(additive[b] + j, wasm_f32x4_sub(t, r), n - j);
        }
    }
}

void float_adm_mask_simd(const float *masker, uint32_t n, float factor, float *centre, float *neighbour)
{
    const V f = wasm_f32x4_splat(factor), share = wasm_f64x2_const_splat(FLOAT_ADM_NEIGHBOUR);
    for (uint32_t j = 0; j < n; j += 4) {
        const V size = wasm_f32x4_abs(mul(f, load(masker + j)));
        store(centre + j, size, n - j);
        store(neighbour + j, narrow(wasm_f64x2_mul(share, wide_low(size)), wasm_f64x2_mul(share, wide_high(size))),
              n - j);
    }
}

void float_adm_contrast_simd(const float *const signal[3], uint32_t n, const float factor[2],
                             const FloatAdmMask masks[3], float p, float *const powers[3])
{
    if (p != 3) {
        float_adm_contrast_c(signal, n, factor, masks, p, powers);
        return;
    }
    const V zero = wasm_f32x4_const_splat(0), share = wasm_f64x2_const_splat(FLOAT_ADM_CENTRE);
    for (uint32_t j = 0; j < n; j += 4) {
        V threshold = zero;
        for (uint32_t b = 0; masks && b < 3; b++) {
            const float *above = masks[b].rows[0] + j, *row = masks[b].rows[1] + j, *below = masks[b].rows[2] + j;
            V sum = add(add(load(above - 1), load(above)), load(above + 1));
            sum = add(sum, load(row - 1));
            const V size = load(masks[b].centre + j);
            sum = narrow(wasm_f64x2_add(wide_low(sum), wasm_f64x2_mul(share, wide_low(size))),
                         wasm_f64x2_add(wide_high(sum), wasm_f64x2_mul(share, wide_high(size))));
            sum = add(sum, load(row + 1));
            sum = add(add(add(sum, load(below - 1)), load(below)), load(below + 1));
            threshold = add(threshold, sum);
        }
        for (uint32_t b = 0; b < 3; b++) {
            const V size = wasm_f32x4_abs(mul(wasm_f32x4_splat(factor[b == 2]), load(signal[b] + j)));
            const V value = wasm_f32x4_pmax(zero, wasm_f32x4_sub(size, threshold));
            store(powers[b] + j, mul(mul(value, value), value), n - j);
        }
    }
}

void float_adm_powers_simd(const float *signal, uint32_t n, float factor, float p, float *powers)
{
    if (p != 3) {
        float_adm_powers_c(signal, n, factor, p, powers);
        return;
    }
    const V f = wasm_f32x4_splat(factor);
    for (uint32_t j = 0; j < n; j += 4) {
        const V size = wasm_f32x4_abs(mul(f, load(signal + j)));
        store(powers + j, mul(mul(size, size), size), n - j);
    }
}
