/* filter_simd.c - filters as dot products. */
#include "filter_simd.h"

#include "filters.h"

/* The two taps of a dot product. */
static V taps(int32_t first, int32_t second)
{
    return wasm_i32x4_splat((int32_t)(((uint32_t)second << 16) | ((uint32_t)first & 0xffff)));
}

void make_kernel(uint32_t scale, Kernel *kernel)
{
    kernel->pairs = PAIRS(scale);
    kernel->wide_centre = scale == 3;
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
