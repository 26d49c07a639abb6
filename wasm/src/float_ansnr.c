/* float_ansnr.c - energies of low-passed luma and of its difference. */
#include "context.h"
#include "filters.h"
#include "picture.h"

#define WIDEST 5

/* Square kernels of 3 and 5 taps a side. */
static const float light[9] = {1 / 16.0f, 2 / 16.0f, 1 / 16.0f, 2 / 16.0f, 4 / 16.0f,
                               2 / 16.0f, 1 / 16.0f, 2 / 16.0f, 1 / 16.0f};
#define N(tap) ((float)(tap / 571.0))
static const float strong[25] = {N(2),  N(7),  N(12),  N(7),  N(2),  N(7),  N(31), N(52), N(31),
                                 N(7),  N(12), N(52),  N(127), N(52), N(12), N(7), N(31), N(52),
                                 N(31), N(7),  N(2),   N(7),  N(12), N(7),  N(2)};

/* The square around each sample of a row: sums of its rows, added up. rows are mirrored at both ends already. */
static void filter_row(const float *const *rows, uint32_t width, const float *kernel, uint32_t n, float *dst)
{
    for (uint32_t j = 0; j < width; j++) {
        float total = 0;
        for (uint32_t i = 0; i < n; i++) {
            float sum = 0;
            for (uint32_t k = 0; k < n; k++)
                sum += kernel[i * n + k] * rows[i][j + k];
            total += sum;
        }
        dst[j] = total;
    }
}

/* A plane with `reach` mirrored samples around it: -k is k, but the last sample comes twice. */
static void framed(const AnyvmafPlane *plane, uint32_t bit_depth, uint32_t reach, float *samples, float *dst)
{
    const int32_t width = (int32_t)plane->width, height = (int32_t)plane->height, r = (int32_t)reach;
    picture_floats(plane, bit_depth, -128, samples);
    for (int32_t y = -r; y < height + r; y++) {
        const float *row = samples + (size_t)mirror_repeat_end(y, height) * plane->width;
        for (int32_t x = -r; x < 0; x++)
            *dst++ = row[mirror_repeat_end(x, width)];
        for (int32_t x = 0; x < width; x++)
            *dst++ = row[x];
        for (int32_t x = width; x < width + r; x++)
            *dst++ = row[mirror_repeat_end(x, width)];
    }
}

int32_t anyvmaf_float_ansnr(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out)
{
    (void)options;
    if (!context || !frames || !out)
        return ANYVMAF_EINVAL;
    const uint32_t width = context->width, height = context->height;
    const size_t plane = float_plane_bytes((size_t)(width + 4) * (height + 4)), row = float_plane_bytes(width);
    uint8_t *memory = core_scratch(context, 3 * area_bytes(plane) + 2 * area_bytes(row));
    if (!memory)
        return ANYVMAF_ENOMEM;
    float *samples = core_cut(&memory, plane), *reference = core_cut(&memory, plane);
    float *distorted = core_cut(&memory, plane), *ref = core_cut(&memory, row), *dis = core_cut(&memory, row);
    framed(frames->reference.planes, context->bit_depth, 1, samples, reference);
    framed(frames->distorted.planes, context->bit_depth, 2, samples, distorted);
    float signal = 0, noise = 0;
    for (uint32_t y = 0; y < height; y++) {
        const float *rows[WIDEST];
        for (uint32_t i = 0; i < 3; i++)
            rows[i] = reference + (size_t)(y + i) * (width + 2);
        filter_row(rows, width, light, 3, ref);
        for (uint32_t i = 0; i < 5; i++)
            rows[i] = distorted + (size_t)(y + i) * (width + 4);
        filter_row(rows, width, strong, 5, dis);
        float row_signal = 0, row_noise = 0;
        for (uint32_t x = 0; x < width; x++) {
            const float d = ref[x] - dis[x];
            row_signal += ref[x] * ref[x];
            row_noise += d * d;
        }
        signal += row_signal;
        noise += row_noise;
    }
    out[0] = signal;
    out[1] = noise;
    return 0;
}
