/* colour.c - the colour stage in portable C: the definition that colour_simd.c must equal. */
#include "colour.h"

#include "curves.h"

static inline float sample(const void *samples, size_t i, uint32_t bit_depth)
{
    return bit_depth > 8 ? ((const uint16_t *)samples)[i] : ((const uint8_t *)samples)[i];
}

void colour_scale_c(StoredRow row, size_t n, float black, float gain, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (sample(row.samples, i, row.bit_depth) - black) * gain;
}

void blend_rows_c(const void *const rows[CHROMA_TAPS], uint32_t bit_depth, size_t n, const float *weights, float middle,
                  float *out)
{
    for (size_t i = 0; i < n; i++) {
        float sum = sample(rows[0], i, bit_depth) * weights[0];
        for (uint32_t k = 1; k < CHROMA_TAPS; k++)
            sum += sample(rows[k], i, bit_depth) * weights[k];
        out[i] = sum - middle;
    }
}

void blend_columns_c(const float *row, size_t n, const ChromaTaps *taps, float *out)
{
    for (size_t x = 0; x < n; x++) {
        const float *weights = taps->phase[x & 1], *from = row + (x >> 1) + (x & 1) - 2;
        float sum = from[0] * weights[0];
        for (uint32_t k = 1; k < CHROMA_TAPS; k++)
            sum += from[k] * weights[k];
        out[x] = sum;
    }
}

void to_rgb_c(StoredRow luma, const float *cb, const float *cr, size_t n, const ColourMatrix *matrix,
              float *const rgb[3])
{
    for (size_t i = 0; i < n; i++) {
        const float y = (sample(luma.samples, i, luma.bit_depth) - matrix->black) * matrix->gain;
        rgb[0][i] = y + cr[i] * matrix->red;
        rgb[1][i] = (y + cb[i] * matrix->green_cb) + cr[i] * matrix->green_cr;
        rgb[2][i] = y + cb[i] * matrix->blue;
    }
}

void blend_alpha_c(float *values, const float *alpha, size_t n, float background)
{
    for (size_t i = 0; i < n; i++)
        values[i] = alpha[i] * values[i] + (1 - alpha[i]) * background;
}

static inline float positive(float x) { return 0 < x ? x : 0; }

static inline float srgb(float value, const CurveNumbers *numbers)
{
    const float x = positive(value);
    if (!(x > numbers->srgb.knee))
        return x * numbers->srgb.slope;
    if (x > numbers->srgb.last)
        return power_of((x + numbers->srgb.excess) * numbers->srgb.base, &numbers->srgb.power);
    return series_of(x, numbers->srgb.p, SRGB_TERMS) / series_of(x, numbers->srgb.q, SRGB_TERMS);
}

static inline float bt1886(float value, const CurveNumbers *numbers)
{
    return power_of(positive(value), &numbers->bt1886);
}

static inline float gamma22(float value, const CurveNumbers *numbers)
{
    return power_of(positive(value), &numbers->gamma22);
}

static inline float gamma28(float value, const CurveNumbers *numbers)
{
    return power_of(positive(value), &numbers->gamma28);
}

static inline float bt709(float value, const CurveNumbers *numbers)
{
    const float x = positive(value);
    return x > numbers->bt709.knee ? power_of((x + numbers->bt709.excess) * numbers->bt709.base, &numbers->bt709.power)
                                   : x * numbers->bt709.slope;
}

static inline float pq(float value, const CurveNumbers *numbers)
{
    const float above = numbers->pq.least < value ? value : numbers->pq.least, x = above < 1 ? above : 1;
    const float t = exp2_minus_1(log2_of(x) * numbers->pq.first_power);
    return power_of(positive(numbers->pq.rest + t) / (numbers->pq.rest - numbers->pq.c3 * t), &numbers->pq.power);
}

static inline float hlg(float value, const CurveNumbers *numbers)
{
    const float x = positive(value);
    return x > numbers->hlg.knee
               ? (exp2_of((x - numbers->hlg.c) * numbers->hlg.rate) + numbers->hlg.b) * numbers->hlg.scale
               : x * x * numbers->hlg.square;
}

static inline void each(float *values, size_t n, float (*curve)(float, const CurveNumbers *))
{
    for (size_t i = 0; i < n; i++)
        values[i] = curve(values[i], &curve_numbers);
}

void linearise_c(float *values, size_t n, uint32_t transfer)
{
    switch (transfer) {
    case ANYVMAF_SRGB: each(values, n, srgb); break;
    case ANYVMAF_BT1886: each(values, n, bt1886); break;
    case ANYVMAF_GAMMA22: each(values, n, gamma22); break;
    case ANYVMAF_GAMMA28: each(values, n, gamma28); break;
    case ANYVMAF_BT709_OETF: each(values, n, bt709); break;
    case ANYVMAF_PQ: each(values, n, pq); break;
    case ANYVMAF_HLG: each(values, n, hlg); break;
    default: break; /* linear */
    }
}
