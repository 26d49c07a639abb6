/* sse_simd.c - squared error in SIMD128, equal to sse.c. */
#include <wasm_simd128.h>

#include "sse.h"

static uint64_t sse_8(const uint8_t *a, const uint8_t *b, uint32_t n)
{
    v128_t total = wasm_i64x2_const_splat(0);
    uint32_t i = 0;
    while (i + 16 <= n) {
        /* Each step adds at most 4 * 255^2 to a lane: 4096 steps stay below 2^31. */
        uint32_t end = n - i > 65536 ? i + 65536 : i + ((n - i) & ~15u);
        v128_t sum = wasm_i32x4_const_splat(0);
        for (; i < end; i += 16) {
            v128_t x = wasm_v128_load(a + i), y = wasm_v128_load(b + i);
            v128_t low = wasm_i16x8_sub(wasm_u16x8_extend_low_u8x16(x), wasm_u16x8_extend_low_u8x16(y));
            v128_t high = wasm_i16x8_sub(wasm_u16x8_extend_high_u8x16(x), wasm_u16x8_extend_high_u8x16(y));
            sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(low, low));
            sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(high, high));
        }
        total = wasm_i64x2_add(total, wasm_i64x2_add(wasm_u64x2_extend_low_u32x4(sum), wasm_u64x2_extend_high_u32x4(sum)));
    }
    uint64_t rest = sse_c(a + i, b + i, n - i, 8);
    return rest + (uint64_t)wasm_i64x2_extract_lane(total, 0) + (uint64_t)wasm_i64x2_extract_lane(total, 1);
}

static uint64_t sse_16(const uint16_t *a, const uint16_t *b, uint32_t n)
{
    v128_t total = wasm_i64x2_const_splat(0);
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        v128_t x = wasm_v128_load(a + i), y = wasm_v128_load(b + i);
        /* |x - y| in 16 bits: one of the saturated differences is zero. */
        v128_t e = wasm_v128_or(wasm_u16x8_sub_sat(x, y), wasm_u16x8_sub_sat(y, x));
        v128_t low = wasm_u32x4_extmul_low_u16x8(e, e), high = wasm_u32x4_extmul_high_u16x8(e, e);
        total = wasm_i64x2_add(total, wasm_i64x2_add(wasm_u64x2_extend_low_u32x4(low), wasm_u64x2_extend_high_u32x4(low)));
        total = wasm_i64x2_add(total, wasm_i64x2_add(wasm_u64x2_extend_low_u32x4(high), wasm_u64x2_extend_high_u32x4(high)));
    }
    uint64_t rest = sse_c(a + i, b + i, n - i, 16);
    return rest + (uint64_t)wasm_i64x2_extract_lane(total, 0) + (uint64_t)wasm_i64x2_extract_lane(total, 1);
}

uint64_t sse_simd(const void *a, const void *b, uint32_t n, uint32_t bit_depth)
{
    return bit_depth > 8 ? sse_16(a, b, n) : sse_8(a, b, n);
}
