/* picture.h - planes as binary32, as the floating-point metrics see them. */
#ifndef ANYVMAF_PICTURE_H
#define ANYVMAF_PICTURE_H

#include "../include/anyvmaf.h"

/* Samples of a plane. */
static inline size_t plane_samples(const AnyvmafPlane *plane) { return (size_t)plane->width * plane->height; }

/* Floats to allocate for a plane of `samples` samples: vectors may read and write past it, and starts stay aligned. */
static inline size_t float_plane(size_t samples) { return ((samples + 3) & ~(size_t)3) + 16; }
static inline size_t float_plane_bytes(size_t samples) { return float_plane(samples) * sizeof(float); }

/* Samples in units of 8-bit levels, plus `offset`: exact. */
void picture_floats(const AnyvmafPlane *plane, uint32_t bit_depth, float offset, float *dst);

#endif
