/* float_adm.c - floating-point ADM in portable C: the definition that float_adm_simd.c must equal. */
#include "float_adm.h"

#include <math.h>

#include "filters.h"

/* Daubechies wavelet of two vanishing moments. */
static const float low[4] = {0.482962913144690f, 0.836516303737469f, 0.224143868041857f, -0.129409522550921f};
static const float high[4] = {-0.129409522550921f, -0.224143868041857f, 0.836516303737469f, -0.482962913144690f};

static inline float weigh(const float *taps, float x0, float x1, float x2, float x3)
{
    return taps[0] * x0 + taps[1] * x1 + taps[2] * x2 + taps[3] * x3;
}

void float_adm_wavelet_c(const float *const rows[4], uint32_t width, float *scratch, float *const bands[4])
{
    float *lows = scratch, *highs = scratch + width;
    for (uint32_t j = 0; j < width; j++) {
        lows[j] = weigh(low, rows[0][j], rows[1][j], rows[2][j], rows[3][j]);
        highs[j] = weigh(high, rows[0][j], rows[1][j], rows[2][j], rows[3][j]);
    }
    for (uint32_t i = 0; i < (width + 1) / 2; i++) {
        uint32_t at[4];
        for (uint32_t k = 0; k < 4; k++)
            at[k] = mirror_repeat_end((int32_t)(2 * i + k) - 1, (int32_t)width);
        bands[0][i] = weigh(low, lows[at[0]], lows[at[1]], lows[at[2]], lows[at[3]]);
        bands[1][i] = weigh(low, highs[at[0]], highs[at[1]], highs[at[2]], highs[at[3]]);
        bands[2][i] = weigh(high, lows[at[0]], lows[at[1]], lows[at[2]], lows[at[3]]);
        bands[3][i] = weigh(high, highs[at[0]], highs[at[1]], highs[at[2]], highs[at[3]]);
    }
}

void float_adm_decouple_c(const float *const reference[3], const float *const distorted[3], uint32_t n,
                          double gain_limit, float *const restored[3], float *const additive[3])
{
    const float cosine_squared = (float)(0.99984769515639123916 * 0.99984769515639123916); /* of one degree */
    for (uint32_t j = 0; j < n; j++) {
        const float oh = reference[0][j], ov = reference[1][j], th = distorted[0][j], tv = distorted[1][j];
        const float dot = oh * th + ov * tv;
        const float o_size = oh * oh + ov * ov, t_size = th * th + tv * tv;
        const int similar = dot >= 0 && dot * dot >= cosine_squared * o_size * t_size;
        for (uint32_t b = 0; b < 3; b++) {
            const float o = reference[b][j], t = distorted[b][j];
            float k = t / (o + 1e-30f);
            k = k < 0 ? 0 : k > 1 ? 1 : k;
            float r = k * o;
            if (similar && r > 0)
                r = (float)fmin(r * gain_limit, t);
            else if (similar && r < 0)
                r = (float)fmax(r * gain_limit, t);
            restored[b][j] = r;
            additive[b][j] = t - r;
        }
    }
}

void float_adm_mask_c(const float *masker, uint32_t n, float factor, float *centre, float *neighbour)
{
    for (uint32_t j = 0; j < n; j++) {
        const float size = fabsf(factor * masker[j]);
        centre[j] = size;
        neighbour[j] = (float)(FLOAT_ADM_NEIGHBOUR * (double)size);
    }
}

static inline float power(float x, float p) { return p == 3 ? x * x * x : powf(x, p); }

void float_adm_contrast_c(const float *const signal[3], uint32_t n, const float factor[2], const FloatAdmMask masks[3],
                          float p, float *const powers[3])
{
    for (uint32_t j = 0; j < n; j++) {
        float threshold = 0;
        for (uint32_t b = 0; masks && b < 3; b++) {
            const float *const *rows = masks[b].rows;
            float sum = 0;
            for (int32_t x = -1; x <= 1; x++)
                sum += rows[0][(int32_t)j + x];
            sum += rows[1][(int32_t)j - 1];
            sum = (float)(sum + FLOAT_ADM_CENTRE * (double)masks[b].centre[j]);
            sum += rows[1][(int32_t)j + 1];
            for (int32_t x = -1; x <= 1; x++)
                sum += rows[2][(int32_t)j + x];
            threshold += sum;
        }
        for (uint32_t b = 0; b < 3; b++) {
            const float value = fabsf(factor[b == 2] * signal[b][j]) - threshold;
            powers[b][j] = value > 0 ? power(value, p) : 0;
        }
    }
}

void float_adm_powers_c(const float *signal, uint32_t n, float factor, float p, float *powers)
{
    for (uint32_t j = 0; j < n; j++)
        powers[j] = power(fabsf(factor * signal[j]), p);
}
