/* filters.h - filter taps and index rules that portable and SIMD code share. */
#ifndef ANYVMAF_FILTERS_H
#define ANYVMAF_FILTERS_H

#include <stdint.h>

/* VIF low-pass filters by scale; each sums to 65536 (spec 3.1). */
static const uint16_t vif_filter[4][17] = {
    {489, 935, 1640, 2640, 3896, 5274, 6547, 7455, 7784, 7455, 6547, 5274, 3896, 2640, 1640, 935, 489},
    {1244, 3663, 7925, 12590, 14692, 12590, 7925, 3663, 1244},
    {3571, 16004, 26386, 16004, 3571},
    {10904, 43728, 10904},
};
static const uint32_t vif_taps[4] = {17, 9, 5, 3};

/* The blur of motion: the filter of VIF scale 2. */
static const int32_t motion_filter[5] = {3571, 16004, 26386, 16004, 3571};

/* Wavelet taps of ADM (spec 4.3). */
static const int16_t adm_low[4] = {15826, 27411, 7345, -4240};
static const int16_t adm_high[4] = {-4240, -7345, 27411, -15826};

/* Whole-sample mirror: -1 -> 1, n -> n - 2; repeated for planes smaller than the filter. */
static inline uint32_t mirror(int32_t i, int32_t n)
{
    if (n == 1)
        return 0;
    while (i < 0 || i >= n)
        i = i < 0 ? -i : 2 * n - 2 - i;
    return (uint32_t)i;
}

/* Mirror of legacy motion and of the wavelet: -1 -> 1 at the start, the edge sample repeated at the end. */
static inline uint32_t mirror_repeat_end(int32_t i, int32_t n)
{
    while (i < 0 || i >= n)
        i = i < 0 ? -i : 2 * n - 1 - i;
    return (uint32_t)i;
}

/* Number of significant bits: 0 for 0. */
static inline uint32_t bits32(uint32_t v) { return v ? 32u - (uint32_t)__builtin_clz(v) : 0; }
static inline uint32_t bits64(uint64_t v) { return v ? 64u - (uint32_t)__builtin_clzll(v) : 0; }

/* ceil(log2(n)) for n >= 1. */
static inline uint32_t ceil_log2(uint32_t n) { return bits32(n - 1); }

/* Rounding shift by n >= 0. */
static inline int64_t round_shift(int64_t v, uint32_t n) { return n ? (v + ((int64_t)1 << (n - 1))) >> n : v; }
static inline uint64_t round_shift_u(uint64_t v, uint32_t n) { return n ? (v + ((uint64_t)1 << (n - 1))) >> n : v; }

#endif
