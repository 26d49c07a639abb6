/*
 * cvvdp_simd.c - ColorVideoVDP row by row in SIMD128, equal to cvvdp.c: four samples at a time, with the operations of
 * the portable twin in its order. Both keep four sums, one for each lane, so that the order of addition is the same.
 */
#include <wasm_simd128.h>

#include "../src/opaque.h"
#include "cvvdp.h"
#include "powers_simd.h"

typedef v128_t V;

#define INLINE static inline __attribute__((always_inline))

INLINE V load(const float *p) { return wasm_v128_load(p); }
INLINE V of(float x) { return wasm_f32x4_splat(x); }
INLINE V plus(V a, V b) { return wasm_f32x4_add(a, b); }
INLINE V minus(V a, V b) { return wasm_f32x4_sub(a, b); }
INLINE V times(V a, V b) { return wasm_f32x4_mul(a, b); }
INLINE V over(V a, V b) { return wasm_f32x4_div(a, b); }
/* pmax(a, b) is a < b ? b : a, pmin(a, b) is b < a ? b : a. */
INLINE V larger(V a, V b) { return wasm_f32x4_pmax(a, b); }
INLINE V smaller(V a, V b) { return wasm_f32x4_pmin(a, b); }

void cvvdp_light_simd(const float *const rgb[3], size_t n, const CvvdpLight *light, const float weights[CVVDP_CHANNELS],
                      uint32_t channels, float *const out[CVVDP_CHANNELS])
{
    const PowerNumbers *numbers = &power_numbers;
    OPAQUE(numbers);
    const V low = of(light->low), high = of(light->high);
    const float *const luminance = cvvdp_luminance_2020;
    for (size_t i = 0; i < n; i += 4) {
        V v[3], dkl[CVVDP_CHANNELS];
        for (uint32_t p = 0; p < 3; p++)
            v[p] = smaller(larger(load(rgb[p] + i), low), high);
        if (light->ootf != 0) {
            const V scene = plus(plus(times(v[0], of(luminance[0])), times(v[1], of(luminance[1]))),
                                 times(v[2], of(luminance[2])));
            const V log = log2_of_x4(larger(scene, of(DARKEST_SCENE)), numbers);
            const V gain = exp2_of_x4(times(log, of(light->ootf)), numbers);
            for (uint32_t p = 0; p < 3; p++)
                v[p] = times(v[p], gain);
        }
        for (uint32_t c = 0; c < 3; c++) {
            const float *const row = light->matrix[c];
            dkl[c] = plus(plus(plus(times(of(row[0]), v[0]), times(of(row[1]), v[1])), times(of(row[2]), v[2])),
                          of(light->offset[c]));
        }
        for (uint32_t c = 0; c < 3; c++)
            wasm_v128_store(out[c] + i, plus(load(out[c] + i), times(dkl[c], of(weights[c]))));
        if (channels > 3)
            wasm_v128_store(out[3] + i, plus(load(out[3] + i), times(dkl[0], of(weights[3]))));
    }
}

INLINE V reduce(V a, V b, V c, V d, V e)
{
    return plus(plus(times(plus(a, e), of(0.05F)), times(plus(b, d), of(0.25F))), times(c, of(0.4F)));
}

void cvvdp_reduce_rows_simd(const float *const rows[5], uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i += 4)
        wasm_v128_store(out + i, reduce(load(rows[0] + i), load(rows[1] + i), load(rows[2] + i), load(rows[3] + i),
                                        load(rows[4] + i)));
}

void cvvdp_reduce_columns_simd(const float *row, uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i += 4, row += 8) {
        const V a = load(row - 2), b = load(row + 2), c = load(row + 6);
        const V even = wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), odd = wasm_i32x4_shuffle(a, b, 1, 3, 5, 7);
        const V even2 = wasm_i32x4_shuffle(b, c, 0, 2, 4, 6), odd2 = wasm_i32x4_shuffle(b, c, 1, 3, 5, 7);
        wasm_v128_store(out + i, reduce(even, odd, wasm_i32x4_shuffle(even, even2, 1, 2, 3, 6),
                                        wasm_i32x4_shuffle(odd, odd2, 1, 2, 3, 6), even2));
    }
}

void cvvdp_expand_rows_simd(const float *const rows[3], const float weights[3], uint32_t n, float *out)
{
    const V a = of(weights[0]), b = of(weights[1]), c = of(weights[2]);
    for (uint32_t i = 0; i < n; i += 4)
        wasm_v128_store(out + i, plus(plus(times(load(rows[0] + i), a), times(load(rows[1] + i), b)),
                                      times(load(rows[2] + i), c)));
}

void cvvdp_expand_columns_simd(const float *row, uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i += 4) {
        const V left = load(row + (int32_t)i - 1), here = load(row + i), right = load(row + i + 1);
        const V even = plus(times(plus(left, right), of(0.1F)), times(here, of(0.8F)));
        const V odd = times(plus(here, right), of(0.5F));
        wasm_v128_store(out + 2 * i, wasm_i32x4_shuffle(even, odd, 0, 4, 1, 5));
        wasm_v128_store(out + 2 * i + 4, wasm_i32x4_shuffle(even, odd, 2, 6, 3, 7));
    }
}

/* The sensitivities of four samples at a place among the nodes each, channel by channel. */
INLINE void sensitivities(V place, const CvvdpSensitivity *sensitivity, const PowerNumbers *numbers,
                          V s[CVVDP_CHANNELS])
{
    const V node = wasm_i32x4_trunc_sat_f32x4(smaller(place, of(CSF_NODES - 2)));
    const V beyond = minus(place, wasm_f32x4_convert_i32x4(node));
    /* A node holds all channels of one sample; samples turn into lanes afterwards. */
#define SAMPLE(k)                                                                                                      \
    plus(load(sensitivity->node[wasm_i32x4_extract_lane(node, k)]),                                                    \
         times(wasm_i32x4_shuffle(beyond, beyond, k, k, k, k),                                                         \
               load(sensitivity->step[wasm_i32x4_extract_lane(node, k)])))
    const V s0 = SAMPLE(0), s1 = SAMPLE(1), s2 = SAMPLE(2), s3 = SAMPLE(3);
    const V low01 = wasm_i32x4_shuffle(s0, s1, 0, 4, 1, 5), low23 = wasm_i32x4_shuffle(s2, s3, 0, 4, 1, 5);
    const V high01 = wasm_i32x4_shuffle(s0, s1, 2, 6, 3, 7), high23 = wasm_i32x4_shuffle(s2, s3, 2, 6, 3, 7);
    s[0] = exp2_of_x4(wasm_i32x4_shuffle(low01, low23, 0, 1, 4, 5), numbers);
    s[1] = exp2_of_x4(wasm_i32x4_shuffle(low01, low23, 2, 3, 6, 7), numbers);
    s[2] = exp2_of_x4(wasm_i32x4_shuffle(high01, high23, 0, 1, 4, 5), numbers);
    s[3] = exp2_of_x4(wasm_i32x4_shuffle(high01, high23, 2, 3, 6, 7), numbers);
}

void cvvdp_contrast_simd(const float *const fine[CVVDP_PLANES], const float *const coarse[CVVDP_PLANES], uint32_t n,
                         const CvvdpSensitivity *sensitivity, uint32_t channels,
                         float *const difference[CVVDP_CHANNELS], float *const common[CVVDP_CHANNELS])
{
    const PowerNumbers *numbers = &power_numbers;
    OPAQUE(numbers);
    const V scale = of(sensitivity->scale), offset = of(sensitivity->offset), most = of(MOST_CONTRAST);
    for (uint32_t i = 0; i < n; i += 4) {
        const V dark = larger(load(coarse[CVVDP_REFERENCE] + i), of(DARKEST));
        const V of_d = over(of(1), larger(load(coarse[0] + i), of(DARKEST))), of_r = over(of(1), dark);
        const V at = plus(times(log2_of_x4(dark, numbers), scale), offset);
        V s[CVVDP_CHANNELS];
        sensitivities(smaller(larger(at, of(0)), of(CSF_NODES - 1)), sensitivity, numbers, s);
        for (uint32_t c = 0; c < CVVDP_CHANNELS; c++) {
            if (c == channels)
                break;
            const uint32_t r = CVVDP_REFERENCE + c;
            const V fine_d = minus(load(fine[c] + i), load(coarse[c] + i));
            const V fine_r = minus(load(fine[r] + i), load(coarse[r] + i));
            const V d = times(smaller(times(fine_d, of_d), most), s[c]);
            const V e = times(smaller(times(fine_r, of_r), most), s[c]);
            wasm_v128_store(difference[c] + i, wasm_f32x4_abs(minus(d, e)));
            wasm_v128_store(common[c] + i, smaller(wasm_f32x4_abs(d), wasm_f32x4_abs(e)));
        }
    }
}

void cvvdp_blur_columns_simd(const float *row, const CvvdpBlur *blur, uint32_t n, float *out)
{
    const float *const taps = blur->taps;
    for (uint32_t i = 0; i < n; i += 4, row += 4) {
        V sum = times(load(row), of(taps[0]));
        for (int32_t k = 1; k <= BLUR_REACH; k++)
            sum = plus(sum, times(plus(load(row - k), load(row + k)), of(taps[k])));
        wasm_v128_store(out + i, sum);
    }
}

void cvvdp_blur_rows_simd(const float *const rows[BLUR_TAPS], const CvvdpBlur *blur, uint32_t n, float *out)
{
    const float *const taps = blur->taps;
    for (uint32_t i = 0; i < n; i += 4) {
        V sum = times(load(rows[BLUR_REACH] + i), of(taps[0]));
        for (uint32_t k = 1; k <= BLUR_REACH; k++)
            sum = plus(sum, times(plus(load(rows[BLUR_REACH - k] + i), load(rows[BLUR_REACH + k] + i)), of(taps[k])));
        wasm_v128_store(out + i, sum);
    }
}

void cvvdp_power_simd(float *values, uint32_t n, float exponent)
{
    const PowerNumbers *numbers = &power_numbers;
    OPAQUE(numbers);
    const V start = of(exp2_of(log2_of(POWER_START) * exponent));
    for (uint32_t i = 0; i < n; i += 4) {
        const V log = log2_of_x4(plus(load(values + i), of(POWER_START)), numbers);
        const V raised = exp2_of_x4(times(log, of(exponent)), numbers);
        wasm_v128_store(values + i, minus(raised, start));
    }
}

/* Adds four floats to four doubles. */
INLINE void add_lanes(double sums[4], V x)
{
    const V high = wasm_i32x4_shuffle(x, x, 2, 3, 2, 3);
    wasm_v128_store(sums, wasm_f64x2_add(wasm_v128_load(sums), wasm_f64x2_promote_low_f32x4(x)));
    wasm_v128_store(sums + 2, wasm_f64x2_add(wasm_v128_load(sums + 2), wasm_f64x2_promote_low_f32x4(high)));
}

void cvvdp_pool_simd(const float *const difference[CVVDP_CHANNELS], const float *const mask[CVVDP_CHANNELS], uint32_t n,
                     uint32_t channels, double sums[CVVDP_CHANNELS][4])
{
    const V most = of(MOST_DIFFERENCE);
    for (uint32_t i = 0; i < n; i += 4) {
        /* Lanes beyond the row add 0, which changes no sum. */
        const V inside = wasm_i32x4_lt(wasm_i32x4_make(0, 1, 2, 3), wasm_i32x4_splat((int32_t)(n - i)));
        for (uint32_t c = 0; c < channels; c++) {
            V masking = of(1);
            for (uint32_t k = 0; k < channels; k++)
                masking = plus(masking, times(load(mask[k] + i), of(cvvdp_cross_masking[k][c])));
            const V d = load(difference[c] + i);
            const V x = over(times(most, d), plus(times(most, masking), d));
            add_lanes(sums[c], wasm_v128_and(times(x, plus(x, of(2 * POWER_START))), inside));
        }
    }
}
