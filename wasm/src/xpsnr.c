/*
 * xpsnr.c - the block sums of XPSNR in portable C: the definition that xpsnr_simd.c must equal.
 *
 * The filters are facts from FFmpeg's libavfilter/vf_xpsnr.c (LGPL 2.1+); the code is our own.
 */
#include "xpsnr.h"

#include <stddef.h>
#include <stdlib.h>

static inline int32_t sample(const void *plane, ptrdiff_t i, uint32_t bit_depth)
{
    return bit_depth > 8 ? ((const uint16_t *)plane)[i] : ((const uint8_t *)plane)[i];
}

void xpsnr_sse_c(const void *a, const void *b, uint32_t width, uint32_t rows, uint32_t block, uint32_t bit_depth,
                 uint64_t *sums)
{
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < width; x++) {
            const ptrdiff_t i = (ptrdiff_t)y * width + x;
            const int64_t e = sample(a, i, bit_depth) - sample(b, i, bit_depth);
            sums[x / block] += (uint64_t)(e * e);
        }
}

uint64_t xpsnr_spatial_c(const void *window, uint32_t stride, uint32_t width, uint32_t height, uint32_t bit_depth)
{
    static const int32_t taps[3][3] = {{-1, -2, -1}, {-2, 12, -2}, {-1, -2, -1}};
    uint64_t sum = 0;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            int32_t f = 0;
            for (int32_t i = 0; i < 3; i++)
                for (int32_t j = 0; j < 3; j++)
                    f += taps[i][j] * sample(window, ((ptrdiff_t)y + i - 1) * stride + x + j - 1, bit_depth);
            sum += (uint64_t)abs(f);
        }
    return sum;
}

uint64_t xpsnr_spatial_big_c(const void *window, uint32_t stride, uint32_t width, uint32_t height, uint32_t bit_depth)
{
    static const int32_t taps[6][6] = {{0, -1, -1, -1, -1, 0},   {-1, -2, -3, -3, -2, -1}, {-1, -3, 12, 12, -3, -1},
                                       {-1, -3, 12, 12, -3, -1}, {-1, -2, -3, -3, -2, -1}, {0, -1, -1, -1, -1, 0}};
    uint64_t sum = 0;
    for (uint32_t y = 0; y + 1 < height; y += 2)
        for (uint32_t x = 0; x + 1 < width; x += 2) {
            int32_t f = 0;
            for (int32_t i = 0; i < 6; i++)
                for (int32_t j = 0; j < 6; j++)
                    f += taps[i][j] * sample(window, ((ptrdiff_t)y + i - 2) * stride + x + j - 2, bit_depth);
            sum += (uint64_t)abs(f);
        }
    return sum;
}

/* The difference in time at sample i. */
static inline int32_t change(const void *const starts[3], uint32_t order, ptrdiff_t i, uint32_t bit_depth)
{
    int32_t s[3];
    for (uint32_t k = 0; k < 3; k++)
        s[k] = k <= order && starts[k] ? sample(starts[k], i, bit_depth) : 0;
    return order == 1 ? s[0] - s[1] : s[0] - 2 * s[1] + s[2];
}

void xpsnr_temporal_c(const void *const starts[3], uint32_t order, uint32_t width, uint32_t rows, uint32_t block,
                      uint32_t bit_depth, uint64_t *sums)
{
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < width; x++)
            sums[x / block] += (uint64_t)abs(change(starts, order, (ptrdiff_t)y * width + x, bit_depth));
}

void xpsnr_temporal_big_c(const void *const starts[3], uint32_t order, uint32_t width, uint32_t rows, uint32_t block,
                          uint32_t bit_depth, uint64_t *sums)
{
    for (uint32_t y = 0; y + 1 < rows; y += 2)
        for (uint32_t x = 0; x + 1 < width; x += 2) {
            int32_t t = 0;
            for (uint32_t i = 0; i < 4; i++)
                t += change(starts, order, (ptrdiff_t)(y + (i >> 1)) * width + x + (i & 1), bit_depth);
            sums[x / block] += (uint64_t)abs(t);
        }
}
