/* ssim_frame.c - float_ssim and float_ms_ssim of a pair of pictures. */
#include "context.h"
#include "picture.h"
#include "power.h"
#include "ssim.h"

/* Mirror that repeats the edge sample: -1 -> 0, n -> n - 1. */
static uint32_t mirror_repeat(int32_t i, int32_t n)
{
    while (i < 0 || i >= n)
        i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return (uint32_t)i;
}

/* An odd width or height keeps its last sample. */
static uint32_t reduced(uint32_t n, uint32_t scale) { return n / scale + (n & 1); }

/* Means of scale x scale boxes. */
static void reduce(const float *src, uint32_t width, uint32_t height, uint32_t scale, float *dst)
{
    const float weight = 1.0f / (float)(scale * scale);
    const int32_t before = (int32_t)(scale / 2);
    const uint32_t w = reduced(width, scale), h = reduced(height, scale);
    for (uint32_t y = 0; y < h; y++) {
        const int32_t top = (int32_t)(scale * y) - before;
        for (uint32_t x = 0; x < w; x++) {
            const int32_t left = (int32_t)(scale * x) - before;
            const int inside = left >= 0 && left + (int32_t)scale <= (int32_t)width;
            double sum = 0;
            for (int32_t i = 0; i < (int32_t)scale; i++) {
                const float *row = src + (size_t)mirror_repeat(top + i, (int32_t)height) * width;
                if (inside)
                    for (int32_t j = 0; j < (int32_t)scale; j++)
                        sum += (double)(row[left + j] * weight);
                else
                    for (int32_t j = 0; j < (int32_t)scale; j++)
                        sum += (double)(row[mirror_repeat(left + j, (int32_t)width)] * weight);
            }
            *dst++ = (float)sum;
        }
    }
}

int32_t anyvmaf_float_ssim(AnyvmafContext *context, const AnyvmafFrames *frames,
                           const AnyvmafFloatSsimOptions *options, double *out)
{
    if (!context || !frames || !options || !out || !(options->scale >= 1 && options->scale <= 64))
        return ANYVMAF_EINVAL;
    const uint32_t scale = (uint32_t)options->scale;
    uint32_t width = context->width, height = context->height;
    if (reduced(width, scale) < SSIM_TAPS || reduced(height, scale) < SSIM_TAPS)
        return ANYVMAF_EINVAL;
    const size_t whole = float_plane_bytes((size_t)width * height);
    const size_t small = float_plane_bytes((size_t)reduced(width, scale) * reduced(height, scale));
    const size_t rows = ssim_scratch_bytes(reduced(width, scale));
    uint8_t *memory = core_scratch(context, area_bytes(whole) + 2 * area_bytes(small) + area_bytes(rows));
    if (!memory)
        return ANYVMAF_ENOMEM;
    float *samples = core_cut(&memory, whole), *a = core_cut(&memory, small), *b = core_cut(&memory, small);
    void *scratch = core_cut(&memory, rows);
    if (scale == 1) {
        picture_floats(frames->reference.planes, context->bit_depth, 0, a);
        picture_floats(frames->distorted.planes, context->bit_depth, 0, b);
    } else {
        picture_floats(frames->reference.planes, context->bit_depth, 0, samples);
        reduce(samples, width, height, scale, a);
        picture_floats(frames->distorted.planes, context->bit_depth, 0, samples);
        reduce(samples, width, height, scale, b);
        width = reduced(width, scale);
        height = reduced(height, scale);
    }
    SsimMeans means;
    ssim_means(context->dsp, a, b, width, height, scratch, &means);
    out[0] = means.ssim;
    out[1] = means.l;
    out[2] = means.c;
    out[3] = means.s;
    return 0;
}

#define SCALES 5
#define LEAST_SIDE 176
#define REACH 4
#define HALVE_ROWS 16 /* of the ring that halving keeps */

/* Low-passes a plane and keeps even rows and columns; works in place: rows are copied before they are written over. */
static void halve(const AnyvmafDsp *dsp, const float *src, uint32_t width, uint32_t height, uint8_t *scratch, float *dst)
{
    const uint32_t w = reduced(width, 2), h = reduced(height, 2);
    float *ring[HALVE_ROWS];
    for (uint32_t i = 0; i < HALVE_ROWS; i++)
        ring[i] = core_cut(&scratch, float_plane_bytes(width + 2 * REACH));
    uint32_t filled = 0;
    for (uint32_t y = 0; y < h; y++) {
        /* Padded copies of the rows up to the last of this window, by their number. */
        const uint32_t last = 2 * y + REACH < height - 1 ? 2 * y + REACH : height - 1;
        for (; filled <= last; filled++) {
            float *row = ring[filled % HALVE_ROWS];
            for (int32_t x = -REACH; x < 0; x++)
                row[x + REACH] = src[(size_t)filled * width + mirror_repeat(x, (int32_t)width)];
            for (uint32_t x = 0; x < width; x++)
                row[x + REACH] = src[(size_t)filled * width + x];
            for (uint32_t x = width; x < width + REACH; x++)
                row[x + REACH] = src[(size_t)filled * width + mirror_repeat((int32_t)x, (int32_t)width)];
        }
        const float *rows[2 * REACH + 1];
        for (int32_t i = 0; i <= 2 * REACH; i++)
            rows[i] = ring[mirror_repeat((int32_t)(2 * y) + i - REACH, (int32_t)height) % HALVE_ROWS];
        dsp->ssim_halve(rows, w, dst + (size_t)y * w);
    }
}

int32_t anyvmaf_float_ms_ssim(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out)
{
    static const float beta[SCALES] = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};
    (void)options;
    if (!context || !frames || !out || context->width < LEAST_SIDE || context->height < LEAST_SIDE)
        return ANYVMAF_EINVAL;
    uint32_t width = context->width, height = context->height;
    const size_t plane = float_plane_bytes((size_t)width * height);
    const size_t rows = HALVE_ROWS * area_bytes(float_plane_bytes(width + 2 * REACH)), means_bytes = ssim_scratch_bytes(width);
    const size_t work_bytes = means_bytes > rows ? means_bytes : rows;
    uint8_t *memory = core_scratch(context, 2 * area_bytes(plane) + area_bytes(work_bytes));
    if (!memory)
        return ANYVMAF_ENOMEM;
    float *a = core_cut(&memory, plane), *b = core_cut(&memory, plane);
    uint8_t *const work = core_cut(&memory, work_bytes);
    picture_floats(frames->reference.planes, context->bit_depth, 0, a);
    picture_floats(frames->distorted.planes, context->bit_depth, 0, b);
    double score = 1;
    for (uint32_t scale = 0; scale < SCALES; scale++) {
        SsimMeans means;
        ssim_means(context->dsp, a, b, width, height, work, &means);
        /* The means' exponents: luminance counts at the last scale only. */
        const double l = scale == SCALES - 1 ? power_fused(means.l, (double)beta[scale]) : 1;
        score *= l * power_fused(means.c, (double)beta[scale]) * power_fused(means.s, (double)beta[scale]);
        out[1 + 3 * scale] = means.l;
        out[2 + 3 * scale] = means.c;
        out[3 + 3 * scale] = means.s;
        if (scale == SCALES - 1)
            break;
        halve(context->dsp, a, width, height, work, a);
        halve(context->dsp, b, width, height, work, b);
        width = reduced(width, 2);
        height = reduced(height, 2);
    }
    out[0] = score;
    return 0;
}
