/* picture.c - planes as binary32. */
#include "picture.h"

void picture_floats(const AnyvmafPlane *plane, uint32_t bit_depth, float offset, float *dst)
{
    const size_t n = plane_samples(plane);
    if (bit_depth == 8) {
        const uint8_t *src = plane->samples;
        for (size_t i = 0; i < n; i++)
            dst[i] = (float)src[i] + offset;
        return;
    }
    /* A power of two: as exact as a division. */
    const float unit = 1.0f / (float)(1u << (bit_depth - 8));
    const uint16_t *src = plane->samples;
    for (size_t i = 0; i < n; i++)
        dst[i] = (float)src[i] * unit + offset;
}
