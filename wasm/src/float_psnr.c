/* float_psnr.c - squared error and moments of luma in floating point. */
#include "context.h"
#include "picture.h"

/* A sample in units of 8-bit levels. */
static inline float level(const void *plane, size_t i, uint32_t bit_depth, float unit)
{
    return bit_depth > 8 ? (float)((const uint16_t *)plane)[i] * unit : (float)((const uint8_t *)plane)[i];
}

static inline float level_unit(uint32_t bit_depth) { return 1.0f / (float)(1u << (bit_depth - 8)); }

/* Up to 12 bits squares are whole multiples of 2^-8 below 2^16: exact in single precision, and so are their sums. */
static inline int squares_are_exact(uint32_t bit_depth) { return bit_depth <= 12; }

/* What a unit of a square of samples is in squares of 8-bit levels. */
static inline double square_unit(uint32_t bit_depth)
{
    const double unit = level_unit(bit_depth);
    return unit * unit;
}

int32_t anyvmaf_float_psnr(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out)
{
    (void)options;
    if (!context || !frames || !out)
        return ANYVMAF_EINVAL;
    const AnyvmafPlane *reference = frames->reference.planes, *distorted = frames->distorted.planes;
    const size_t n = plane_samples(reference);
    const uint32_t depth = context->bit_depth;
    double noise = 0;
    if (squares_are_exact(depth)) {
        noise = (double)context->dsp->sse(reference->samples, distorted->samples, (uint32_t)n, depth) * square_unit(depth);
    } else {
        const float unit = level_unit(depth);
        for (size_t i = 0; i < n; i++) {
            const float d = level(reference->samples, i, depth, unit) - level(distorted->samples, i, depth, unit);
            noise += (double)(d * d);
        }
    }
    *out = noise / ((double)reference->width * reference->height);
    return 0;
}

static void moments(const AnyvmafPlane *plane, uint32_t bit_depth, double *first, double *second)
{
    const size_t n = plane_samples(plane);
    const double area = (double)plane->width * plane->height;
    const float unit = level_unit(bit_depth);
    if (squares_are_exact(bit_depth)) {
        uint64_t sum = 0, squares = 0;
        if (bit_depth == 8) {
            const uint8_t *src = plane->samples;
            for (size_t i = 0; i < n; i++)
                sum += src[i], squares += (uint64_t)src[i] * src[i];
        } else {
            const uint16_t *src = plane->samples;
            for (size_t i = 0; i < n; i++)
                sum += src[i], squares += (uint64_t)src[i] * src[i];
        }
        *first = (double)sum * (double)unit / area;
        *second = (double)squares * square_unit(bit_depth) / area;
        return;
    }
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        const float p = level(plane->samples, i, bit_depth, unit);
        sum += (double)p;
        squares += (double)(p * p);
    }
    *first = sum / area;
    *second = squares / area;
}

int32_t anyvmaf_float_moment(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out)
{
    (void)options;
    if (!context || !frames || !out)
        return ANYVMAF_EINVAL;
    moments(frames->reference.planes, context->bit_depth, out, out + 2);
    moments(frames->distorted.planes, context->bit_depth, out + 1, out + 3);
    return 0;
}
