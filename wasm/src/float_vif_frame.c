/* float_vif_frame.c - floating-point VIF of a pair of pictures: prescale and pyramid. */
#include "context.h"
#include "float_filter.h"
#include "picture.h"
#include "scale.h"

#define SCALES 4

/* A row with the samples beyond its ends. */
static size_t row_bytes(uint32_t width) { return float_plane_bytes((size_t)width + FLOAT_MAX_TAPS); }

/* Numerator and denominator of a scale: sums of rows, added up, in single precision. */
static void statistics(const AnyvmafDsp *dsp, const float *a, const float *b, uint32_t width, uint32_t height,
                       const float *taps, uint32_t n, const FloatVifNoise *noise, uint8_t *work, float sums[2])
{
    const float *rows_a[FLOAT_MAX_TAPS], *rows_b[FLOAT_MAX_TAPS];
    const uint32_t reach = n / 2;
    float *padded[FLOAT_VIF_SIGNALS], *columns[FLOAT_VIF_SIGNALS], *filtered[FLOAT_VIF_SIGNALS];
    for (uint32_t i = 0; i < FLOAT_VIF_SIGNALS; i++) {
        padded[i] = core_cut(&work, row_bytes(width));
        columns[i] = padded[i] + reach;
        filtered[i] = core_cut(&work, row_bytes(width));
    }
    float *num = core_cut(&work, row_bytes(width)), *den = core_cut(&work, row_bytes(width));
    sums[0] = sums[1] = 0;
    for (uint32_t y = 0; y < height; y++) {
        mirrored_rows(a, width, height, y, n, rows_a);
        mirrored_rows(b, width, height, y, n, rows_b);
        dsp->float_vif_columns(rows_a, rows_b, taps, n, width, columns);
        for (uint32_t i = 0; i < FLOAT_VIF_SIGNALS; i++) {
            mirror_ends(columns[i], width, reach);
            dsp->float_row(padded[i], taps, n, width, filtered[i]);
        }
        const float *const signals[FLOAT_VIF_SIGNALS] = {filtered[0], filtered[1], filtered[2], filtered[3],
                                                         filtered[4]};
        dsp->float_vif_terms(signals, width, noise, num, den);
        float row_num = 0, row_den = 0;
        for (uint32_t x = 0; x < width; x++) {
            row_num += num[x];
            row_den += den[x];
        }
        sums[0] += row_num;
        sums[1] += row_den;
    }
}

/* The working memory as one area. */
static float *float_area(uint8_t *work, size_t floats) { return core_cut(&work, floats * sizeof(float)); }

int32_t anyvmaf_float_vif(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafFloatVifOptions *options,
                          double *out)
{
    if (!context || !frames || !options || !out || !(options->kernelscale >= 0.1 && options->kernelscale <= 3.75) ||
        !(options->prescale >= 0.1 && options->prescale <= 4))
        return ANYVMAF_EINVAL;
    uint32_t width = scaled_size(context->width, options->prescale);
    uint32_t height = scaled_size(context->height, options->prescale);
    if (width < 1 << (SCALES - 1) || height < 1 << (SCALES - 1))
        return ANYVMAF_EINVAL;
    const int scaled = width != context->width || height != context->height;
    const size_t source = scaled ? float_plane_bytes((size_t)context->width * context->height) : 0;
    /* Two pairs of planes take turns: one scale is filtered into the next, which is a quarter of it. */
    const size_t plane = float_plane_bytes((size_t)width * height);
    const size_t quarter = float_plane_bytes((size_t)(width / 2) * (height / 2));
    /* What rows, filters and resampling need, one after the other. */
    size_t work_bytes = (2 * FLOAT_VIF_SIGNALS + 2) * area_bytes(row_bytes(width));
    const size_t filtering = area_bytes(float_filter_scratch(width) * sizeof(float));
    const size_t resampling = scaled ? area_bytes(scale_scratch(width, height) * sizeof(float)) : 0;
    work_bytes = filtering > work_bytes ? filtering : work_bytes;
    work_bytes = resampling > work_bytes ? resampling : work_bytes;
    uint8_t *memory = core_scratch(
        context, area_bytes(source) + 2 * area_bytes(plane) + 2 * area_bytes(quarter) + area_bytes(work_bytes));
    if (!memory)
        return ANYVMAF_ENOMEM;
    float *samples = core_cut(&memory, source);
    float *pairs[2][2];
    for (uint32_t i = 0; i < 4; i++)
        pairs[i / 2][i % 2] = core_cut(&memory, i < 2 ? plane : quarter);
    uint8_t *const work = core_cut(&memory, work_bytes);
    const AnyvmafPicture *pictures[2] = {&frames->reference, &frames->distorted};
    for (uint32_t i = 0; i < 2; i++) {
        if (!scaled) {
            picture_floats(pictures[i]->planes, context->bit_depth, -128, pairs[0][i]);
            continue;
        }
        picture_floats(pictures[i]->planes, context->bit_depth, -128, samples);
        scale_plane(samples, context->width, context->height, (uint32_t)options->prescale_method, width, height,
                    float_area(work, scale_scratch(width, height)), pairs[0][i]);
    }

    const float nsq = (float)options->sigma_nsq;
    const FloatVifNoise noise = {
        .sigma_nsq = options->sigma_nsq,
        .gain_limit = options->enhn_gain_limit,
        /* Squared in single precision, as powf does. */
        .sigma_max_inv = (float)((double)(nsq * nsq) / (255.0 * 255.0)),
    };
    for (uint32_t scale = 0; scale < SCALES; scale++) {
        float taps[FLOAT_MAX_TAPS];
        const uint32_t n = gaussian_size(options->kernelscale, scale);
        gaussian_taps(n, (float)n / 5, taps);
        float **pair = pairs[scale & 1];
        if (scale > 0) {
            float **larger = pairs[~scale & 1];
            for (uint32_t i = 0; i < 2; i++)
                float_filter_plane(context->dsp, larger[i], width, height, taps, n, 2,
                                   float_area(work, float_filter_scratch(width)), pair[i]);
            width /= 2;
            height /= 2;
        }
        float sums[2] = {0, -1};
        if (scale > 0 || !options->skip_scale0)
            statistics(context->dsp, pair[0], pair[1], width, height, taps, n, &noise, work, sums);
        out[scale] = sums[0];
        out[SCALES + scale] = sums[1];
    }
    return 0;
}
