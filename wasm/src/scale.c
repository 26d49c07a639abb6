/* scale.c - nearest, bilinear, bicubic and Lanczos resampling, last bits included. */
#include "scale.h"

#include <math.h>
#include <string.h>

#include "filters.h"

#define PI 3.14159265358979323846

/* Where an output sample lies between input samples. */
typedef struct Position {
    float centre;
    int32_t base; /* floor of centre */
} Position;

static Position position(uint32_t x, float ratio)
{
    const float centre = (float)((x + 0.5) * ratio - 0.5);
    return (Position){centre, (int32_t)floorf(centre)};
}

static void nearest(const float *src, uint32_t width, uint32_t out_width, uint32_t out_height, float rx, float ry,
                    float *dst)
{
    for (uint32_t y = 0; y < out_height; y++) {
        const float *row = src + (size_t)(uint32_t)((float)y * ry) * width;
        for (uint32_t x = 0; x < out_width; x++)
            *dst++ = row[(uint32_t)((float)x * rx)];
    }
}

static void bilinear(const float *src, uint32_t width, uint32_t height, uint32_t out_width, uint32_t out_height,
                     float rx, float ry, float *dst)
{
    for (uint32_t y = 0; y < out_height; y++) {
        const Position row = position(y, ry);
        const uint32_t y1 = mirror(row.base, (int32_t)height);
        const uint32_t y2 = mirror((int32_t)ceilf(row.centre), (int32_t)height);
        const float dy = row.centre - (float)y1;
        const float *top = src + (size_t)y1 * width, *bottom = src + (size_t)y2 * width;
        for (uint32_t x = 0; x < out_width; x++) {
            const Position column = position(x, rx);
            const uint32_t x1 = mirror(column.base, (int32_t)width);
            const uint32_t x2 = mirror((int32_t)ceilf(column.centre), (int32_t)width);
            const float dx = column.centre - (float)x1;
            *dst++ = (1 - dy) * (1 - dx) * top[x1] + (1 - dy) * dx * top[x2] + dy * (1 - dx) * bottom[x1] +
                     dy * dx * bottom[x2];
        }
    }
}

static float cubic(float t)
{
    const float a = -0.75f;
    t = fabsf(t);
    if (t < 1)
        return ((a + 2) * t - (a + 3)) * t * t + 1;
    if (t < 2)
        return (((t - 5) * t + 8) * t - 4) * a;
    return 0;
}

static float lanczos(float t)
{
    if (t == 0)
        return 1;
    if (t <= -4 || t >= 4)
        return 0;
    return (float)(4 * sin(PI * t) * sin(PI * t / 4) / (PI * PI * t * t));
}

/* Weights of the taps first..last of every output position. */
static void weigh(uint32_t n, float ratio, int32_t first, int32_t last, float (*kernel)(float), float *weights)
{
    for (uint32_t x = 0; x < n; x++) {
        const Position at = position(x, ratio);
        const float d = at.centre - (float)at.base;
        for (int32_t i = first; i <= last; i++)
            *weights++ = kernel(d - (float)i);
    }
}

/* Bicubic and Lanczos: the weighted taps of a square, rows outer. */
static void windowed(const float *src, uint32_t width, uint32_t height, uint32_t method, uint32_t out_width,
                     uint32_t out_height, float rx, float ry, float *scratch, float *dst)
{
    const int32_t lanczos4 = method == ANYVMAF_LANCZOS4;
    const int32_t first = lanczos4 ? -4 : -1, last = lanczos4 ? 4 : 2, taps = last - first + 1;
    float *columns = scratch, *rows = scratch + (size_t)taps * out_width;
    weigh(out_width, rx, first, last, lanczos4 ? lanczos : cubic, columns);
    weigh(out_height, ry, first, last, lanczos4 ? lanczos : cubic, rows);
    for (uint32_t y = 0; y < out_height; y++, rows += taps) {
        const int32_t top = position(y, ry).base + first;
        for (uint32_t x = 0; x < out_width; x++) {
            const int32_t left = position(x, rx).base + first;
            const float *wx = columns + (size_t)taps * x;
            float sum = 0, total = 0;
            for (int32_t i = 0; i < taps; i++) {
                const float *row = src + (size_t)mirror(top + i, (int32_t)height) * width;
                for (int32_t j = 0; j < taps; j++) {
                    const float weight = wx[j] * rows[i];
                    sum += row[mirror(left + j, (int32_t)width)] * weight;
                    total += weight;
                }
            }
            *dst++ = lanczos4 ? sum / total : sum;
        }
    }
}

void scale_plane(const float *src, uint32_t width, uint32_t height, uint32_t method, uint32_t out_width,
                 uint32_t out_height, float *scratch, float *dst)
{
    const float rx = (float)width / (float)out_width, ry = (float)height / (float)out_height;
    if (width == out_width && height == out_height)
        memcpy(dst, src, (size_t)width * height * sizeof(float));
    else if (method == ANYVMAF_NEAREST)
        nearest(src, width, out_width, out_height, rx, ry, dst);
    else if (method == ANYVMAF_BILINEAR)
        bilinear(src, width, height, out_width, out_height, rx, ry, dst);
    else
        windowed(src, width, height, method, out_width, out_height, rx, ry, scratch, dst);
}
