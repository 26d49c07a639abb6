/* scale.h - resampling of binary32 planes, as the prescale options ask for. */
#ifndef ANYVMAF_SCALE_H
#define ANYVMAF_SCALE_H

#include "../include/anyvmaf.h"

/* Samples that a prescale makes of n. */
static inline uint32_t scaled_size(uint32_t n, double prescale) { return (uint32_t)(n * prescale + 0.5); }

/*
 * Resamples a packed plane to out_width x out_height; src and dst do not overlap.
 *   method   an AnyvmafResampling
 *   scratch  scale_scratch() floats
 */
void scale_plane(const float *src, uint32_t width, uint32_t height, uint32_t method, uint32_t out_width,
                 uint32_t out_height, float *scratch, float *dst);

/* Floats of scratch memory for scale_plane(). */
static inline size_t scale_scratch(uint32_t out_width, uint32_t out_height)
{
    return 16 * ((size_t)out_width + out_height);
}

#endif
