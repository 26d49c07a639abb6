/* filter_simd.c - the inner loop of every filter. */
#include "filter_simd.h"

#include "filters.h"

/* The two taps of a dot product. */
static V taps(int32_t first, int32_t second)
{
    return wasm_i32x4_splat((int32_t)(((uint32_t)second << 16) | ((uint32_t)first & 0xffff)));
}

void make_kernel(uint32_t scale, Kernel *kernel)
{
    const int32_t first = REACH(scale) - (int32_t)vif_taps[scale] / 2;
    for (int32_t k = 0; k < PAIRS(scale); k++) {
        int32_t f[3];
        for (int32_t i = 0; i < 3; i++) {
            const int32_t tap = 2 * k - 1 + i - first;
            f[i] = tap >= 0 && tap < (int32_t)vif_taps[scale] ? vif_filter[scale][tap] : 0;
        }
        kernel->pair[k].even = taps(f[1], f[2]);
        kernel->pair[k].odd = taps(f[0], f[1]);
    }
}

/*
 * A function and a loop of its own for the sake of registers: eight accumulators and what one pair needs just fill
 * them. Unrolled or inlined, compilers load several pairs first or keep constants, and spill.
 */
void filter_pairs(const Kernel *kernel, uint32_t scale, const int16_t *a, uint32_t start_a, const int16_t *b,
                  uint32_t start_b, uint32_t stride, uint32_t step, uint32_t blocks, Sums *out)
{
    const V *const end = &kernel->pair[PAIRS(scale)].even;
    for (; blocks; blocks--) {
        V a00 = wasm_i32x4_splat((int32_t)start_a), a01 = a00, a10 = a00, a11 = a00;
        V b00 = wasm_i32x4_splat((int32_t)start_b), b01 = b00, b10 = b00, b11 = b00;
        const int16_t *pa = a, *pb = b;
        const V *k = &kernel->pair[0].even;
#pragma clang loop unroll(disable)
        do {
            V even = wasm_v128_load(k), odd = wasm_v128_load(k + 1);
            V x = wasm_v128_load(pa);
            a00 = wasm_i32x4_add(a00, wasm_i32x4_dot_i16x8(x, even));
            a10 = wasm_i32x4_add(a10, wasm_i32x4_dot_i16x8(x, odd));
            x = wasm_v128_load(pa + 8);
            a01 = wasm_i32x4_add(a01, wasm_i32x4_dot_i16x8(x, even));
            a11 = wasm_i32x4_add(a11, wasm_i32x4_dot_i16x8(x, odd));
            x = wasm_v128_load(pb);
            b00 = wasm_i32x4_add(b00, wasm_i32x4_dot_i16x8(x, even));
            b10 = wasm_i32x4_add(b10, wasm_i32x4_dot_i16x8(x, odd));
            x = wasm_v128_load(pb + 8);
            b01 = wasm_i32x4_add(b01, wasm_i32x4_dot_i16x8(x, even));
            b11 = wasm_i32x4_add(b11, wasm_i32x4_dot_i16x8(x, odd));
            pa += stride;
            pb += stride;
            k += 2;
        } while (k != end);
        out->a[0][0] = a00, out->a[0][1] = a01, out->a[1][0] = a10, out->a[1][1] = a11;
        out->b[0][0] = b00, out->b[0][1] = b01, out->b[1][0] = b10, out->b[1][1] = b11;
        if (scale == 3) {
            /* Scale 3: 2^16 times the centre sample, the first of its pair for even outputs, the second for odd. */
            const V second = wasm_i32x4_const_splat((int32_t)0xffff0000);
            for (int half = 0; half < 2; half++) {
                V x = wasm_v128_load(a + stride + 8 * half), y = wasm_v128_load(b + stride + 8 * half);
                out->a[0][half] = wasm_i32x4_add(out->a[0][half], wasm_i32x4_shl(x, 16));
                out->a[1][half] = wasm_i32x4_add(out->a[1][half], wasm_v128_and(x, second));
                out->b[0][half] = wasm_i32x4_add(out->b[0][half], wasm_i32x4_shl(y, 16));
                out->b[1][half] = wasm_i32x4_add(out->b[1][half], wasm_v128_and(y, second));
            }
        }
        a += step;
        b += step;
        out++;
    }
}
