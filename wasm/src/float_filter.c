/* float_filter.c - Gaussian filters in portable C: the definition that float_filter_simd.c must equal. */
#include "float_filter.h"

#include <math.h>
#include <string.h>

#include "filters.h"

uint32_t gaussian_size(double kernelscale, uint32_t scale)
{
    const float size = (float)((1u << (4 - scale)) + 1) * (float)kernelscale;
    uint32_t n = (uint32_t)ceilf(size);
    n += !(n & 1);
    return n < 3 ? 3 : n;
}

/* The normaliser divides where one would multiply: another last bit otherwise. */
static float density(float x, float sigma)
{
    return (float)exp(-0.5 * x / sigma * x / sigma) / (float)(1.0 / (sigma * sqrt(2.0 * 3.14159265358979323846)));
}

void gaussian_taps(uint32_t n, float sigma, float *taps)
{
    float sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        taps[i] = density((float)i - (float)(n - 1) / 2, sigma);
        sum += taps[i];
    }
    for (uint32_t i = 0; i < n; i++)
        taps[i] /= sum;
}

void float_columns_c(const float *const *rows, const float *taps, uint32_t n, uint32_t width, float *dst)
{
    for (uint32_t j = 0; j < width; j++) {
        float sum = 0;
        for (uint32_t k = 0; k < n; k++)
            sum += taps[k] * rows[k][j];
        dst[j] = sum;
    }
}

void float_row_c(const float *row, const float *taps, uint32_t n, uint32_t width, float *dst)
{
    for (uint32_t j = 0; j < width; j++) {
        float sum = 0;
        for (uint32_t k = 0; k < n; k++)
            sum += taps[k] * row[j + k];
        dst[j] = sum;
    }
}

void mirrored_rows(const float *plane, uint32_t width, uint32_t height, uint32_t y, uint32_t n, const float **rows)
{
    for (uint32_t k = 0; k < n; k++)
        rows[k] = plane + (size_t)mirror((int32_t)(y + k) - (int32_t)(n / 2), (int32_t)height) * width;
}

void mirror_ends(float *row, uint32_t width, uint32_t reach)
{
    for (int32_t k = 1; k <= (int32_t)reach; k++) {
        row[-k] = row[mirror(-k, (int32_t)width)];
        row[(int32_t)width - 1 + k] = row[mirror((int32_t)width - 1 + k, (int32_t)width)];
    }
}

void float_filter_plane(const AnyvmafDsp *dsp, const float *src, uint32_t width, uint32_t height, const float *taps,
                        uint32_t n, uint32_t step, float *scratch, float *dst)
{
    const float *rows[FLOAT_MAX_TAPS];
    const uint32_t reach = n / 2, out_width = width / step;
    float *padded = scratch, *filtered = padded + width + FLOAT_MAX_TAPS + 15;
    for (uint32_t y = 0; y < height / step; y++, dst += out_width) {
        mirrored_rows(src, width, height, y * step, n, rows);
        dsp->float_columns(rows, taps, n, width, padded + reach);
        mirror_ends(padded + reach, width, reach);
        if (step == 1) {
            dsp->float_row(padded, taps, n, width, dst);
        } else if (step == 2) {
            dsp->float_row(padded, taps, n, width, filtered);
            for (uint32_t x = 0; x < out_width; x++)
                dst[x] = filtered[2 * x];
        } else {
            for (uint32_t x = 0; x < out_width; x++)
                float_row_c(padded + x * step, taps, n, 1, dst + x);
        }
    }
}
