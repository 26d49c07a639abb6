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

static inline float camera(float light)
{
    return light > 0.018053968510807F
               ? 1.09929682680944F * exp2_of(log2_of(light) * 0.45F) - curve_numbers.bt709.excess
               : light * 4.5F;
}

void solve_green(float *const rgb[3], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float r = bt709(rgb[0][i], &curve_numbers), y = bt709(rgb[1][i], &curve_numbers);
        const float b = bt709(rgb[2][i], &curve_numbers);
        rgb[1][i] = camera((y - 0.2627F * r - 0.0593F * b) * (1 / 0.678F));
    }
}

float hlg_gain(float luminance) { return luminance > 1e-12F ? exp2_of(log2_of(luminance) * 0.2F) : 0; }

const float colour_to_709[][3][3] = {
    [ANYVMAF_PRIMARIES_BT709] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    [ANYVMAF_PRIMARIES_BT2020] = {{1.660491F, -0.58764114F, -0.072849863F},
                                  {-0.12455047F, 1.1328999F, -0.0083494226F},
                                  {-0.018150763F, -0.1005789F, 1.1187297F}},
    [ANYVMAF_PRIMARIES_P3] = {{1.2249402F, -0.2249402F, 0},
                              {-0.042056955F, 1.042056955F, 0},
                              {-0.019637555F, -0.078636046F, 1.0982736F}},
    [ANYVMAF_PRIMARIES_DCI_P3] = {{1.1575164F, -0.15496238F, -0.0025540281F},
                                  {-0.041500072F, 1.0455679F, -0.0040678516F},
                                  {-0.018050039F, -0.078578273F, 1.0966283F}},
    [ANYVMAF_PRIMARIES_BT470M] = {{1.4861569F, -0.40355491F, -0.08260194F},
                                  {-0.025101109F, 0.95402469F, 0.071076423F},
                                  {-0.027224002F, -0.044095233F, 1.0713192F}},
    [ANYVMAF_PRIMARIES_BT470BG] = {{1.0440432F, -0.044043209F, 0}, {0, 1, 0}, {0, 0.011793378F, 0.98820662F}},
    [ANYVMAF_PRIMARIES_SMPTE170M] = {{0.93954206F, 0.050181357F, 0.010276579F},
                                     {0.017772223F, 0.96579286F, 0.016434914F},
                                     {-0.0016215999F, -0.0043697497F, 1.0059913F}},
};

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
