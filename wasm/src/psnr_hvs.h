/* psnr_hvs.h - the twins of PSNR-HVS's block sum and what they share; see dsp.h. */
#ifndef ANYVMAF_PSNR_HVS_H
#define ANYVMAF_PSNR_HVS_H

#include <stddef.h>
#include <stdint.h>

/* Side of a block and the step from one to the next. */
#define HVS_SIDE 8
#define HVS_STEP 7

/* Contrast sensitivity of a plane and the weight of its squared coefficients in the mask, raster order. */
typedef struct HvsTables {
    float csf[64];
    float mask[64];
} HvsTables;

/* plane: 0 luma, 1 Cb, 2 Cr. */
void hvs_build_tables(uint32_t plane, HvsTables *tables);

/* Blocks along a side of n samples. */
static inline uint32_t hvs_blocks(uint32_t n) { return n > HVS_STEP ? (n - 1) / HVS_STEP : 0; }

/* Weighted, masked squared differences of the block that starts at both pointers, raster order. */
void hvs_block(const void *reference, const void *distorted, uint32_t width, uint32_t bit_depth,
               const HvsTables *tables, float errors[64]);

/*
 * Weighted, masked squared difference of all blocks, added up in binary32 in the order of blocks and coefficients.
 * Planes of width x height >= 8 x 8 samples of bit_depth 8..12.
 */
float hvs_sum_c(const void *reference, const void *distorted, uint32_t width, uint32_t height, uint32_t bit_depth,
                const HvsTables *tables);
float hvs_sum_simd(const void *reference, const void *distorted, uint32_t width, uint32_t height, uint32_t bit_depth,
                   const HvsTables *tables);

#endif
