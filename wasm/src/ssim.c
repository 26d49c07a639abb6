/* ssim.c - SSIM in portable C: the definition that ssim_simd.c must equal. */
#include "ssim.h"

#include <math.h>

#include "memory.h"
#include "picture.h"

/* Products in single precision, added up in double, as every convolution of SSIM does. */
static inline float weigh(const float *x, size_t stride)
{
    double sum = 0;
    for (uint32_t k = 0; k < SSIM_TAPS; k++)
        sum += (double)(x[k * stride] * ssim_tap(k));
    return (float)sum;
}

void ssim_rows_c(const float *a, const float *b, uint32_t n, float *const out[SSIM_SIGNALS])
{
    for (uint32_t j = 0; j < n; j++) {
        float aa[SSIM_TAPS], bb[SSIM_TAPS], ab[SSIM_TAPS];
        for (uint32_t k = 0; k < SSIM_TAPS; k++) {
            aa[k] = a[j + k] * a[j + k];
            bb[k] = b[j + k] * b[j + k];
            ab[k] = a[j + k] * b[j + k];
        }
        out[0][j] = weigh(a + j, 1);
        out[1][j] = weigh(b + j, 1);
        out[2][j] = weigh(aa, 1);
        out[3][j] = weigh(bb, 1);
        out[4][j] = weigh(ab, 1);
    }
}

void ssim_terms_c(const float *const *const rows[SSIM_SIGNALS], uint32_t n, double sums[4])
{
    const float q1 = 0.01f * 255, q2 = 0.03f * 255;
    const float c1 = q1 * q1, c2 = q2 * q2, c3 = c2 / 2;
    for (uint32_t j = 0; j < n; j++) {
        float signal[SSIM_SIGNALS];
        for (uint32_t i = 0; i < SSIM_SIGNALS; i++) {
            double sum = 0;
            for (uint32_t k = 0; k < SSIM_TAPS; k++)
                sum += (double)(rows[i][k][j] * ssim_tap(k));
            signal[i] = (float)sum;
        }
        const float m1 = signal[0], m2 = signal[1];
        const float d1 = signal[2] - m1 * m1, d2 = signal[3] - m2 * m2;
        const float v1 = d1 > 0 ? d1 : 0, v2 = d2 > 0 ? d2 : 0;
        const float covariance = signal[4] - m1 * m2;
        const float deviation = (float)sqrt((double)(v1 * v2));
        const double l = (2.0 * m1 * m2 + c1) / (double)(m1 * m1 + m2 * m2 + c1);
        const double c = (2.0 * deviation + c2) / (double)(v1 + v2 + c2);
        const float clamped = covariance < 0 && deviation <= 0 ? 0 : covariance;
        const double s = (double)((clamped + c3) / (deviation + c3));
        sums[0] += l * c * s;
        sums[1] += l;
        sums[2] += c;
        sums[3] += s;
    }
}

size_t ssim_scratch_bytes(uint32_t width)
{
    return SSIM_SIGNALS * SSIM_TAPS * area_bytes(float_plane_bytes(width));
}

void ssim_means(const AnyvmafDsp *dsp, const float *a, const float *b, uint32_t width, uint32_t height, void *scratch,
                SsimMeans *means)
{
    const uint32_t n = width - (SSIM_TAPS - 1), lines = height - (SSIM_TAPS - 1);
    float *ring[SSIM_SIGNALS][SSIM_TAPS];
    uint8_t *memory = scratch;
    for (uint32_t i = 0; i < SSIM_SIGNALS; i++)
        for (uint32_t k = 0; k < SSIM_TAPS; k++)
            ring[i][k] = core_cut(&memory, float_plane_bytes(width));
    double sums[4] = {0};
    for (uint32_t y = 0; y < height; y++) {
        float *out[SSIM_SIGNALS];
        for (uint32_t i = 0; i < SSIM_SIGNALS; i++)
            out[i] = ring[i][y % SSIM_TAPS];
        dsp->ssim_rows(a + (size_t)y * width, b + (size_t)y * width, n, out);
        if (y < SSIM_TAPS - 1)
            continue;
        const float *window[SSIM_SIGNALS][SSIM_TAPS];
        for (uint32_t i = 0; i < SSIM_SIGNALS; i++)
            for (uint32_t k = 0; k < SSIM_TAPS; k++)
                window[i][k] = ring[i][(y + 1 + k) % SSIM_TAPS];
        const float *const *const rows[SSIM_SIGNALS] = {window[0], window[1], window[2], window[3], window[4]};
        dsp->ssim_terms(rows, n, sums);
    }
    const double area = (double)n * lines;
    *means = (SsimMeans){(float)(sums[0] / area), (float)(sums[1] / area), (float)(sums[2] / area),
                         (float)(sums[3] / area)};
}

void ssim_halve_c(const float *const rows[9], uint32_t n, float *dst)
{
    for (uint32_t x = 0; x < n; x++) {
        double sum = 0;
        for (uint32_t i = 0; i < 9; i++)
            for (uint32_t j = 0; j < 9; j++)
                sum += (double)(rows[i][2 * x + j] * ssim_halving[i < 5 ? i : 8 - i][j < 5 ? j : 8 - j]);
        dst[x] = (float)sum;
    }
}
