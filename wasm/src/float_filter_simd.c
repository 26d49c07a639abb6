/*
 * float_filter_simd.c - Gaussian filters in SIMD128, equal to float_filter.c: a lane is an output sample, which adds its
 * taps in the same order. Vectors may read and write up to 15 floats beyond a row.
 */
#include <wasm_simd128.h>

#include "float_filter.h"

/* Sixteen outputs at once: four chains of additions hide each other's latency. */
#define FILTER_16(SAMPLES)                                                                                             \
    for (uint32_t j = 0; j < width; j += 16) {                                                                         \
        v128_t s0 = wasm_f32x4_const_splat(0), s1 = s0, s2 = s0, s3 = s0;                                              \
        for (uint32_t k = 0; k < n; k++) {                                                                             \
            const v128_t tap = wasm_v128_load32_splat(taps + k);                                                       \
            const float *x = SAMPLES;                                                                                  \
            s0 = wasm_f32x4_add(s0, wasm_f32x4_mul(tap, wasm_v128_load(x)));                                           \
            s1 = wasm_f32x4_add(s1, wasm_f32x4_mul(tap, wasm_v128_load(x + 4)));                                       \
            s2 = wasm_f32x4_add(s2, wasm_f32x4_mul(tap, wasm_v128_load(x + 8)));                                       \
            s3 = wasm_f32x4_add(s3, wasm_f32x4_mul(tap, wasm_v128_load(x + 12)));                                      \
        }                                                                                                              \
        const v128_t sums[4] = {s0, s1, s2, s3};                                                                       \
        store(dst + j, sums, width - j);                                                                               \
    }

/* Stores the first `n` of sixteen floats. */
static inline void store(float *dst, const v128_t sums[4], uint32_t n)
{
    if (n >= 16) {
        wasm_v128_store(dst, sums[0]);
        wasm_v128_store(dst + 4, sums[1]);
        wasm_v128_store(dst + 8, sums[2]);
        wasm_v128_store(dst + 12, sums[3]);
        return;
    }
    const float *src = (const float *)sums;
    for (uint32_t i = 0; i < n; i++)
        dst[i] = src[i];
}

void float_columns_simd(const float *const *rows, const float *taps, uint32_t n, uint32_t width, float *dst)
{
    FILTER_16(rows[k] + j)
}

void float_row_simd(const float *row, const float *taps, uint32_t n, uint32_t width, float *dst)
{
    FILTER_16(row + j + k)
}
