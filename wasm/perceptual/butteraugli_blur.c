/* butteraugli_blur.c - Gaussian blurs by rows, and rings of padded rows. */
#include <math.h>
#include <string.h>

#include "../src/memory.h"
#include "butteraugli.h"

static size_t row_floats(uint32_t width) { return butteraugli_stride(width) + 2 * BUTTERAUGLI_PAD; }

/* libjxl cuts its windows off where they are below exp(-2.25^2 / 2). */
static uint32_t radius_of(const ButteraugliWindow *window) { return (uint32_t)(2.25 * window->sigma); }

size_t butteraugli_blur_bytes(const ButteraugliWindow *window, uint32_t width)
{
    const size_t row = row_floats(width) * sizeof(float);
    return 3 * area_bytes(row) + area_bytes((2 * radius_of(window) + 1) * row);
}

/* What makes up for the taps of output i that lie outside of n samples. */
static float border_scale(const ButteraugliBlur *blur, uint32_t i, uint32_t n)
{
    if (blur->mirrored || (i >= blur->radius && i + blur->radius < n))
        return 1;
    double inside = 0, all = 0;
    for (int32_t k = -(int32_t)blur->radius; k <= (int32_t)blur->radius; k++) {
        const double tap = (double)blur->taps[k < 0 ? -k : k];
        const int64_t at = (int64_t)i + k;
        all += tap;
        inside += at >= 0 && at < n ? tap : 0;
    }
    return (float)(all / inside);
}

/*
 * In binary32 from end to end as libjxl does: how far the sum of the taps is from 1 shows in flat parts, where a band
 * is almost nothing.
 */
static void set_taps(ButteraugliBlur *blur, double sigma)
{
    const int32_t radius = (int32_t)blur->radius;
    float sum = 0;
    for (int32_t k = -radius; k <= radius; k++)
        sum += blur->taps[k < 0 ? -k : k] = (float)exp(-(double)(k * k) / (2 * sigma * sigma));
    const float scale = 1 / sum;
    for (uint32_t k = 0; k <= blur->radius; k++)
        blur->taps[k] *= scale;
}

void butteraugli_blur_open(ButteraugliBlur *blur, const ButteraugliDsp *dsp, const ButteraugliWindow *window,
                           uint32_t width, uint32_t height, uint8_t **next)
{
    const size_t row = row_floats(width) * sizeof(float);
    *blur = (ButteraugliBlur){.dsp = dsp,
                              .width = width,
                              .height = height,
                              .radius = radius_of(window),
                              .mirrored = window->mirrored,
                              .scale = core_cut(next, row),
                              .source = core_cut(next, row),
                              .outside = core_cut(next, row),
                              .ring = core_cut(next, (2 * radius_of(window) + 1) * row)};
    set_taps(blur, window->sigma);
    memset(blur->source, 0, row);
    memset(blur->outside, 0, row);
    for (uint32_t x = 0; x < row_floats(width); x++)
        blur->scale[x] = x < width ? border_scale(blur, x, width) : 1;
}

static float *ring_row(const ButteraugliBlur *blur, uint32_t y)
{
    return blur->ring + y % (2 * blur->radius + 1) * row_floats(blur->width);
}

void butteraugli_blur_push(ButteraugliBlur *blur, const float *row, uint32_t y)
{
    const uint32_t width = blur->width;
    if (blur->mirrored) {
        float *source = blur->source + BUTTERAUGLI_PAD;
        memcpy(source, row, width * sizeof *row);
        for (uint32_t k = 0; k < blur->radius; k++) {
            source[-1 - (ptrdiff_t)k] = row[k];
            source[width + k] = row[width - 1 - k];
        }
        row = source;
    }
    blur->dsp->blur_row(row, blur->taps, blur->radius, blur->scale, width, ring_row(blur, y));
}

void butteraugli_blur_pull(const ButteraugliBlur *blur, uint32_t y, float *dst)
{
    const float *rows[2 * BUTTERAUGLI_MAX_RADIUS + 1];
    const int32_t radius = (int32_t)blur->radius, height = (int32_t)blur->height;
    for (int32_t k = -radius; k <= radius; k++) {
        int32_t at = (int32_t)y + k;
        if (blur->mirrored)
            at = at < 0 ? -1 - at : at >= height ? 2 * height - 1 - at : at;
        rows[k + radius] = at < 0 || at >= height ? blur->outside : ring_row(blur, (uint32_t)at);
    }
    blur->dsp->blur_column(rows, blur->taps, blur->radius, border_scale(blur, y, blur->height), blur->width, dst);
}

size_t butteraugli_rows_bytes(uint32_t count, uint32_t width)
{
    const size_t row = row_floats(width) * sizeof(float);
    return area_bytes(count * row) + area_bytes(row);
}

void butteraugli_rows_open(ButteraugliRows *rows, uint32_t count, float padding, uint32_t width, uint32_t height,
                           uint8_t **next)
{
    const size_t floats = row_floats(width);
    *rows = (ButteraugliRows){.width = width,
                              .height = height,
                              .count = count,
                              .padding = padding,
                              .ring = core_cut(next, count * floats * sizeof(float)),
                              .outside = core_cut(next, floats * sizeof(float))};
    for (size_t i = 0; i < count * floats; i++)
        rows->ring[i] = padding;
    for (size_t i = 0; i < floats; i++)
        rows->outside[i] = padding;
}

float *butteraugli_rows_at(const ButteraugliRows *rows, int32_t y)
{
    if (y < 0 || y >= (int32_t)rows->height)
        return rows->outside + BUTTERAUGLI_PAD;
    return rows->ring + (uint32_t)y % rows->count * row_floats(rows->width) + BUTTERAUGLI_PAD;
}

void butteraugli_rows_close(const ButteraugliRows *rows, uint32_t y)
{
    float *row = butteraugli_rows_at(rows, (int32_t)y);
    for (size_t x = rows->width; x < butteraugli_stride(rows->width); x++)
        row[x] = rows->padding;
}
