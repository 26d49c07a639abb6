/* xpsnr.h - the twins of XPSNR's block sums; see dsp.h for what each does. */
#ifndef ANYVMAF_XPSNR_H
#define ANYVMAF_XPSNR_H

#include <stdint.h>

#define XPSNR_TWINS(suffix)                                                                                            \
    void xpsnr_sse_##suffix(const void *a, const void *b, uint32_t width, uint32_t rows, uint32_t block,               \
                            uint32_t bit_depth, uint64_t *sums);                                                       \
    uint64_t xpsnr_spatial_##suffix(const void *window, uint32_t stride, uint32_t width, uint32_t height,              \
                                    uint32_t bit_depth);                                                               \
    uint64_t xpsnr_spatial_big_##suffix(const void *window, uint32_t stride, uint32_t width, uint32_t height,          \
                                        uint32_t bit_depth);                                                           \
    void xpsnr_temporal_##suffix(const void *const starts[3], uint32_t order, uint32_t width, uint32_t rows,           \
                                 uint32_t block, uint32_t bit_depth, uint64_t *sums);                                  \
    void xpsnr_temporal_big_##suffix(const void *const starts[3], uint32_t order, uint32_t width, uint32_t rows,       \
                                     uint32_t block, uint32_t bit_depth, uint64_t *sums);

XPSNR_TWINS(c)
XPSNR_TWINS(simd)

#endif
