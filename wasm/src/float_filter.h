/* float_filter.h - Gaussian low-pass filters of binary32 planes. */
#ifndef ANYVMAF_FLOAT_FILTER_H
#define ANYVMAF_FLOAT_FILTER_H

#include "dsp.h"

/* Most taps a kernel has: those of scale 0, 17 usually, at the largest kernel scale, 360 / 97. */
#define FLOAT_MAX_TAPS 65

/* Taps of the kernel of a scale (0..4) at a kernel scale. */
uint32_t gaussian_size(double kernelscale, uint32_t scale);
/* Gaussian of n taps and standard deviation sigma, normalised to 1. */
void gaussian_taps(uint32_t n, float sigma, float *taps);

/* Floats of scratch memory for float_filter_plane(). */
static inline size_t float_filter_scratch(uint32_t width) { return 2 * ((size_t)width + FLOAT_MAX_TAPS + 16); }

/*
 * Filters a plane, rows before columns, both in the order of the taps with whole-sample mirrors, and keeps every
 * `step`-th row and column: dst is (width / step) x (height / step).
 */
void float_filter_plane(const AnyvmafDsp *dsp, const float *src, uint32_t width, uint32_t height, const float *taps,
                        uint32_t n, uint32_t step, float *scratch, float *dst);

/* Rows of a window around row y, mirrored. */
void mirrored_rows(const float *plane, uint32_t width, uint32_t height, uint32_t y, uint32_t n, const float **rows);
/* Writes the mirrored samples before and after a row of `width` samples that starts at row[0]. */
void mirror_ends(float *row, uint32_t width, uint32_t reach);

#define FLOAT_FILTER_TWINS(suffix)                                                                                     \
    void float_columns_##suffix(const float *const *rows, const float *taps, uint32_t n, uint32_t width, float *dst);  \
    void float_row_##suffix(const float *row, const float *taps, uint32_t n, uint32_t width, float *dst);

FLOAT_FILTER_TWINS(c)
FLOAT_FILTER_TWINS(simd)

#endif
