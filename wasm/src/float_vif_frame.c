/* float_vif_frame.c - floating-point VIF of a pair of pictures: prescale and pyramid (cli-formats-metrics D.14). */
#include "context.h"
#include "float_filter.h"
#include "picture.h"
#include "scale.h"

#define SCALES 4

/* Numerator and denominator of a scale: sums of rows, added up, in single precision. */
static void statistics(const AnyvmafDsp *dsp, const float *a, const float *b, uint32_t width, uint32_t height,
                       const float *taps, uint32_t n, const FloatVifNoise *noise, float *scratch, float sums[2])
{
    const float *rows_a[FLOAT_MAX_TAPS], *rows_b[FLOAT_MAX_TAPS];
    const size_t stride = float_plane((size_t)width + FLOAT_MAX_TAPS);
    const uint32_t reach = n / 2;
    float *padded[FLOAT_VIF_SIGNALS], *columns[FLOAT_VIF_SIGNALS], *filtered[FLOAT_VIF_SIGNALS];
    for (uint32_t i = 0; i < FLOAT_VIF_SIGNALS; i++) {
        padded[i] = scratch + i * stride;
        columns[i] = padded[i] + reach;
        filtered[i] = scratch + (FLOAT_VIF_SIGNALS + i) * stride;
    }
    float *num = scratch + 2 * FLOAT_VIF_SIGNALS * stride, *den = num + stride;
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
    const size_t source = scaled ? float_plane((size_t)context->width * context->height) : 0;
    const size_t plane = float_plane((size_t)width * height);
    const size_t rows = (2 * FLOAT_VIF_SIGNALS + 2) * float_plane((size_t)width + FLOAT_MAX_TAPS);
    const size_t resampling = scaled ? scale_scratch(width, height) : 0;
    /* Two pairs of planes take turns: one scale is filtered into the next, which is a quarter of it. */
    float *scratch = core_scratch(
        context, (source + 2 * plane + 2 * float_plane(plane / 4) + (rows > resampling ? rows : resampling)) *
                     sizeof(float));
    if (!scratch)
        return ANYVMAF_ENOMEM;
    float *pairs[2][2] = {{scratch, scratch + plane}, {scratch + 2 * plane, scratch + 2 * plane + float_plane(plane / 4)}};
    float *work = pairs[1][1] + float_plane(plane / 4);
    const AnyvmafPicture *pictures[2] = {&frames->reference, &frames->distorted};
    for (uint32_t i = 0; i < 2; i++) {
        if (!scaled) {
            picture_floats(pictures[i]->planes, context->bit_depth, -128, pairs[0][i]);
            continue;
        }
        float *samples = work + (rows > resampling ? rows : resampling);
        picture_floats(pictures[i]->planes, context->bit_depth, -128, samples);
        scale_plane(samples, context->width, context->height, (uint32_t)options->prescale_method, width, height, work,
                    pairs[0][i]);
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
                float_filter_plane(context->dsp, larger[i], width, height, taps, n, 2, work, pair[i]);
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
