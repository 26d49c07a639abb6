/* speed_simd.c - the covariance of SpEED in SIMD128, equal to speed.c: a lane keeps the order of the rows. */
#include <wasm_simd128.h>

#include "speed.h"

/* Products of three variables from x on with eight from y on: 12 sums that stay in registers. */
static void tile(const double *rows, uint32_t count, uint32_t x, uint32_t y, double products[SPEED_N][SPEED_STRIDE])
{
    v128_t sums[3][4];
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 4; j++)
            sums[i][j] = wasm_f64x2_const_splat(0);
    for (uint32_t n = 0; n < count; n++, rows += SPEED_STRIDE)
        for (uint32_t j = 0; j < 4; j++) {
            const v128_t other = wasm_v128_load(rows + y + 2 * j);
            for (uint32_t i = 0; i < 3; i++)
                sums[i][j] = wasm_f64x2_add(sums[i][j], wasm_f64x2_mul(wasm_v128_load64_splat(rows + x + i), other));
        }
    for (uint32_t i = 0; i < 3 && x + i < SPEED_N; i++)
        for (uint32_t j = 0; j < 4; j++)
            wasm_v128_store(&products[x + i][y + 2 * j], sums[i][j]);
}

void speed_products_simd(const double *deviations, uint32_t count, double products[SPEED_N][SPEED_STRIDE])
{
    for (uint32_t x = 0; x < SPEED_N; x += 3)
        for (uint32_t y = x & ~1U; y < SPEED_N; y += 8)
            tile(deviations, count, x, y < SPEED_STRIDE - 8 ? y : SPEED_STRIDE - 8, products);
}
