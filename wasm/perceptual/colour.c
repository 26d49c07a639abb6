/* colour.c - the colour stage in portable C, and its driver. */
#include "colour.h"

#include <math.h>
#include <string.h>

#include "context.h"

/* sRGB's curve above its linear part, p(x) / q(x), lowest power first; of libjxl, BSD-3-Clause. */
static const float SRGB_P[5] = {2.200248328e-04F, 1.043637593e-02F, 1.624820318e-01F, 7.961564959e-01F, 8.210152774e-01F};
static const float SRGB_Q[5] = {2.631846970e-01F, 1.076976492e+00F, 4.987528350e-01F, -5.512498495e-02F,
                                6.521209011e-03F};

static inline float srgb(float x)
{
    if (!(x > 0.04045F))
        return x * (1 / 12.92F);
    float p = SRGB_P[4], q = SRGB_Q[4];
    for (int i = 3; i >= 0; i--) {
        p = p * x + SRGB_P[i];
        q = q * x + SRGB_Q[i];
    }
    return p / q;
}

/* SMPTE ST 2084. */
static inline float pq(float x)
{
    const float t = powf(x, 1 / 78.84375F), above = t - 0.8359375F;
    return powf((above < 0 ? 0 : above) / (18.8515625F - 18.6875F * t), 1 / 0.1593017578125F);
}

/* ARIB STD-B67, the inverse of the camera's curve. */
static inline float hlg(float x)
{
    return x <= 0.5F ? x * x / 3 : (expf((x - 0.55991073F) / 0.17883277F) + 0.28466892F) / 12;
}

void linearise_c(float *values, size_t n, uint32_t transfer)
{
    for (size_t i = 0; i < n; i++)
        values[i] = transfer == ANYVMAF_PQ    ? pq(values[i])
                    : transfer == ANYVMAF_HLG ? hlg(values[i])
                                              : srgb(values[i]);
}

void linearise_simd(float *values, size_t n, uint32_t transfer) { linearise_c(values, n, transfer); }

static inline float sample(const void *samples, size_t i, uint32_t bit_depth)
{
    return bit_depth > 8 ? ((const uint16_t *)samples)[i] : ((const uint8_t *)samples)[i];
}

int32_t linear_of(AnyvmafContext *context, const AnyvmafPicture *picture, const AnyvmafColour *colour,
                  LinearPicture *linear)
{
    if (linear->serial == picture->serial && !memcmp(&linear->colour, colour, sizeof *colour))
        return 0;
    for (uint32_t p = 0; p < 3; p++)
        if (!picture->planes[p].samples)
            return ANYVMAF_EINVAL;
    const uint32_t width = picture->planes[0].width, height = picture->planes[0].height;
    const size_t samples = (size_t)width * height;
    uint8_t *next = block_reserve(&linear->block, 3 * area_bytes(float_plane_bytes(samples)));
    linear->serial = 0;
    if (!next)
        return ANYVMAF_ENOMEM;
    if (colour->matrix != ANYVMAF_GBR)
        return ANYVMAF_EINVAL;
    linear->width = width;
    linear->height = height;
    const float scale = 1 / (float)((1U << context->bit_depth) - 1);
    for (uint32_t p = 0; p < 3; p++) {
        /* G, B, R. */
        float *plane = linear->planes[(p + 1) % 3] = core_cut(&next, float_plane_bytes(samples));
        for (size_t i = 0; i < samples; i++)
            plane[i] = sample(picture->planes[p].samples, i, context->bit_depth) * scale;
        context->dsp->colour.linearise(plane, samples, (uint32_t)colour->transfer);
    }
    linear->colour = *colour;
    linear->serial = picture->serial;
    return 0;
}

int32_t linear_pair(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafColours *colours,
                    const LinearPicture **reference, const LinearPicture **distorted)
{
    *reference = &context->linear[0];
    *distorted = &context->linear[1];
    const int32_t failed = linear_of(context, &frames->reference, &colours->reference, &context->linear[0]);
    return failed ? failed : linear_of(context, &frames->distorted, &colours->distorted, &context->linear[1]);
}

int32_t anyvmaf_linear(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafColours *options, float *out)
{
    const LinearPicture *pictures[2];
    const int32_t failed = linear_pair(context, frames, options, &pictures[0], &pictures[1]);
    if (failed)
        return failed;
    const size_t samples = (size_t)pictures[0]->width * pictures[0]->height;
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t p = 0; p < 3; p++, out += samples)
            memcpy(out, pictures[side]->planes[p], samples * sizeof *out);
    return 0;
}
