/* filter_simd.c - filters as dot products. */
#include "filter_simd.h"

#include "filters.h"

/* The two taps of a dot product. */
static V taps(int32_t first, int32_t second)
{
    return wasm_i32x4_splat((int32_t)(((uint32_t)second << 16) | ((uint32_t)first & 0xffff)));
}

void make_kernel(uint32_t scale, uint32_t first, Kernel *kernel)
{
    const int32_t lead = REACH(scale) - (int32_t)vif_taps[scale] / 2; /* samples of the window before the first tap */
    kernel->pairs = PAIRS(scale);
    kernel->wide_centre = scale == 3;
    kernel->centre = (1 + first) % PAIRS(scale);
    for (uint32_t k = 0; k < PAIRS(scale); k++) {
        int32_t f[3];
        for (int32_t i = 0; i < 3; i++) {
            const int32_t tap = 2 * (int32_t)k - 1 + i - lead;
            f[i] = tap >= 0 && tap < (int32_t)vif_taps[scale] ? vif_filter[scale][tap] : 0;
        }
        const uint32_t place = (k + first) % PAIRS(scale);
        kernel->pair[place].even = taps(f[1], f[2]);
        kernel->pair[place].odd = taps(f[0], f[1]);
    }
}
