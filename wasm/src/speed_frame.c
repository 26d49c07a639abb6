/* speed_frame.c - SpEED of chroma planes and of frame differences. */
#include <math.h>
#include <string.h>

#include "context.h"
#include "float_filter.h"
#include "picture.h"
#include "scale.h"
#include "speed.h"

/* log2(2 pi e): the entropy of a Gaussian of variance 1, doubled. */
static const double GAUSSIAN = 4.094191170361282;

/* Shapes that all signals of a frame share. */
typedef struct Shape {
    uint32_t width, height;             /* of the signal */
    uint32_t scaled_width, scaled_height;
    uint32_t low_width, low_height;     /* of the filtered picture */
    uint32_t across, down, blocks;      /* blocks of it */
    uint32_t samples;                   /* that the covariance is taken of */
    uint32_t taps, mean_taps;
} Shape;

/* Variance and entropy of each block of a signal. */
typedef struct Statistics {
    float *variance, *entropy;
    int singular;
} Statistics;

/* Scratch memory, laid out. */
typedef struct Scratch {
    float *signal, *scaled, *scaling, *filtering, *low, *mean, *y, *z, *solving;
    double *deviations;
    Statistics reference, distorted;
} Scratch;

static Shape shape_of(uint32_t width, uint32_t height, const AnyvmafSpeedOptions *options)
{
    Shape s = {.width = width, .height = height, .scaled_width = width, .scaled_height = height};
    if (fabs(options->prescale - 1) >= 1e-3) {
        s.scaled_width = scaled_size(width, options->prescale);
        s.scaled_height = scaled_size(height, options->prescale);
    }
    s.low_width = s.scaled_width / SPEED_STEP;
    s.low_height = s.scaled_height / SPEED_STEP;
    s.across = s.low_width / SPEED_BLOCK;
    s.down = s.low_height / SPEED_BLOCK;
    s.blocks = s.across * s.down;
    if (s.blocks)
        s.samples = (s.across * SPEED_BLOCK - SPEED_BLOCK + 1) * (s.down * SPEED_BLOCK - SPEED_BLOCK + 1);
    s.taps = gaussian_size(options->kernelscale, 1);
    s.mean_taps = gaussian_size(options->kernelscale, 4);
    return s;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Divides one block of memory among what a signal needs. */
static int lay_out(AnyvmafContext *context, const Shape *s, Scratch *scratch)
{
    const size_t low = (size_t)s->low_width * s->low_height;
    const size_t sizes[] = {
        (size_t)s->width * s->height,
        (size_t)s->scaled_width * s->scaled_height,
        scale_scratch(s->scaled_width, s->scaled_height),
        float_filter_scratch(larger(s->scaled_width, s->low_width)),
        low,
        low,
        (size_t)SPEED_N * s->blocks,
        (size_t)SPEED_N * s->blocks,
        (size_t)SPEED_N * s->blocks,
        (size_t)SPEED_STRIDE * s->samples * 2,
        s->blocks,
        s->blocks,
        s->blocks,
        s->blocks,
    };
    enum { PARTS = sizeof sizes / sizeof sizes[0] };
    size_t total = 0;
    for (uint32_t i = 0; i < PARTS; i++)
        total += area_bytes(float_plane_bytes(sizes[i]));
    uint8_t *next = core_scratch(context, total);
    if (!next)
        return 0;
    float *parts[PARTS];
    for (uint32_t i = 0; i < PARTS; i++)
        parts[i] = core_cut(&next, float_plane_bytes(sizes[i]));
    *scratch = (Scratch){
        .signal = parts[0], .scaled = parts[1], .scaling = parts[2], .filtering = parts[3], .low = parts[4],
        .mean = parts[5], .y = parts[6], .z = parts[7], .solving = parts[8], .deviations = (double *)parts[9],
        .reference = {.variance = parts[10], .entropy = parts[11]},
        .distorted = {.variance = parts[12], .entropy = parts[13]},
    };
    return 1;
}

/* Covariance of the samples at the 25 offsets inside a block, over all places a block can lie at. */
static void covariance_of(const AnyvmafDsp *dsp, const Shape *s, const Scratch *scratch,
                          float covariance[SPEED_N][SPEED_N])
{
    const uint32_t w = s->across * SPEED_BLOCK - SPEED_BLOCK + 1, h = s->down * SPEED_BLOCK - SPEED_BLOCK + 1;
    memset(scratch->deviations, 0, (size_t)s->samples * SPEED_STRIDE * sizeof(double));
    /* Each sum keeps its order; interleaved sums hide each other's latency. */
    float sums[SPEED_BLOCK][SPEED_BLOCK] = {{0}};
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t i = 0; i < SPEED_BLOCK; i++) {
            const float *from = scratch->low + (size_t)(y + i) * s->low_width;
            for (uint32_t x = 0; x < w; x++)
                for (uint32_t j = 0; j < SPEED_BLOCK; j++)
                    sums[i][j] += from[x + j];
        }
    for (uint32_t i = 0; i < SPEED_N; i++) {
        const float *from = scratch->low + (size_t)(i / SPEED_BLOCK) * s->low_width + i % SPEED_BLOCK;
        const double mean = sums[i / SPEED_BLOCK][i % SPEED_BLOCK] / (float)s->samples;
        double *to = scratch->deviations + i;
        for (uint32_t y = 0; y < h; y++)
            for (uint32_t x = 0; x < w; x++, to += SPEED_STRIDE)
                *to = from[(size_t)y * s->low_width + x] - mean;
    }
    double products[SPEED_N][SPEED_STRIDE];
    dsp->speed_products(scratch->deviations, s->samples, products);
    for (uint32_t i = 0; i < SPEED_N; i++)
        for (uint32_t j = i; j < SPEED_N; j++)
            covariance[i][j] = covariance[j][i] = (float)(products[i][j] / s->samples);
}

/* Variances and entropies of the blocks of scratch->signal. */
static void measure(const AnyvmafDsp *dsp, const Shape *s, const AnyvmafSpeedOptions *options, const Scratch *scratch,
                    Statistics *result)
{
    float taps[FLOAT_MAX_TAPS];
    const float *signal = scratch->signal;
    if (s->scaled_width != s->width || s->scaled_height != s->height) {
        scale_plane(signal, s->width, s->height, (uint32_t)options->prescale_method, s->scaled_width, s->scaled_height,
                    scratch->scaling, scratch->scaled);
        signal = scratch->scaled;
    }
    gaussian_taps(s->taps, (float)(2 * s->taps / 5.0), taps);
    float_filter_plane(dsp, signal, s->scaled_width, s->scaled_height, taps, s->taps, SPEED_STEP, scratch->filtering,
                       scratch->low);
    gaussian_taps(s->mean_taps, (float)(s->mean_taps / 5.0), taps);
    float_filter_plane(dsp, scratch->low, s->low_width, s->low_height, taps, s->mean_taps, 1, scratch->filtering,
                       scratch->mean);
    for (size_t i = 0; i < (size_t)s->low_width * s->low_height; i++)
        scratch->low[i] -= scratch->mean[i];

    float covariance[SPEED_N][SPEED_N], eigenvalues[SPEED_N];
    covariance_of(dsp, s, scratch, covariance);
    speed_eigenvalues(covariance, eigenvalues);
    result->singular = 0;
    for (uint32_t k = 0; k < SPEED_N; k++)
        result->singular |= !(eigenvalues[k] >= 1e-6);

    for (uint32_t k = 0; k < SPEED_N; k++)
        for (uint32_t b = 0; b < s->blocks; b++) {
            const uint32_t y = b / s->across * SPEED_BLOCK + k / SPEED_BLOCK;
            const uint32_t x = b % s->across * SPEED_BLOCK + k % SPEED_BLOCK;
            scratch->y[(size_t)k * s->blocks + b] = scratch->low[(size_t)y * s->low_width + x];
        }
    if (!result->singular)
        result->singular = speed_solve(covariance, scratch->y, s->blocks, scratch->solving, scratch->z) != 0;
    if (result->singular)
        memset(scratch->z, 0, (size_t)SPEED_N * s->blocks * sizeof(float));

    const float sigma = (float)options->sigma_nn;
    for (uint32_t b = 0; b < s->blocks; b++) {
        float variance = 0, entropy = 0;
        for (uint32_t k = 0; k < SPEED_N; k++) {
            const size_t at = (size_t)k * s->blocks + b;
            variance += scratch->z[at] * scratch->y[at] / SPEED_N;
        }
        for (uint32_t k = 0; k < SPEED_N; k++) {
            const float gain = eigenvalues[k] > 0 ? eigenvalues[k] : 0;
            entropy = (float)(entropy + (log2((double)(gain * variance + sigma)) + GAUSSIAN));
        }
        result->variance[b] = variance;
        result->entropy[b] = entropy;
    }
}

/* log2(1 + x), the argument rounded to binary32: the weight of a variance. */
static double rounded_weight(float x) { return log2((double)(1 + x)); }

/* The same of a mix of both variances, not rounded. */
static double mixed_weight(double x) { return log2(1 + x); }

/* Weights of the entropies of both by weight_var_mode. */
static void weigh(uint32_t mode, float r, float d, double *r_weight, double *d_weight)
{
    switch (mode) {
    case 1:
        *r_weight = *d_weight = rounded_weight(r);
        break;
    case 2:
        *r_weight = *d_weight = rounded_weight(d);
        break;
    case 3:
        *r_weight = *d_weight = mixed_weight((double)(r + d) / 2);
        break;
    case 4:
        *r_weight = rounded_weight(r);
        *d_weight = mixed_weight((double)(r + d) / 2);
        break;
    case 5:
        *r_weight = rounded_weight(r);
        *d_weight = mixed_weight(0.75 * r + 0.25 * d);
        break;
    case 6:
        *r_weight = rounded_weight(r);
        *d_weight = mixed_weight(0.25 * r + 0.75 * d);
        break;
    default:
        *r_weight = rounded_weight(r);
        *d_weight = rounded_weight(d);
    }
}

/* Mean difference of the weighted entropies. */
static float compare(const Shape *s, const AnyvmafSpeedOptions *options, uint32_t mode, const Statistics *r,
                     const Statistics *d)
{
    if (r->singular != d->singular)
        return 0;
    const float noise = (float)(1 + options->nn_floor) * (float)options->sigma_nn;
    const float base = (float)(SPEED_N * (log2((double)noise) + GAUSSIAN));
    float sum = 0;
    for (uint32_t b = 0; b < s->blocks; b++) {
        if (r->entropy[b] < base && d->entropy[b] < base)
            continue;
        double r_weight, d_weight;
        weigh(mode, r->variance[b], d->variance[b], &r_weight, &d_weight);
        sum += fabsf((float)(r->entropy[b] * r_weight) - (float)(d->entropy[b] * d_weight));
    }
    return sum / (float)s->blocks;
}

int32_t anyvmaf_speed_chroma(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafSpeedOptions *options,
                             double *out)
{
    const AnyvmafPlane *reference = frames->reference.planes, *distorted = frames->distorted.planes;
    if (!reference[1].samples || !reference[2].samples || !distorted[1].samples || !distorted[2].samples)
        return ANYVMAF_EINVAL;
    const Shape s = shape_of(reference[1].width, reference[1].height, options);
    Scratch scratch;
    if (s.blocks == 0)
        return ANYVMAF_EINVAL;
    if (!lay_out(context, &s, &scratch))
        return ANYVMAF_ENOMEM;
    float scores[2];
    for (uint32_t i = 0; i < 2; i++) {
        picture_floats(&reference[i + 1], context->bit_depth, -128, scratch.signal);
        measure(context->dsp, &s, options, &scratch, &scratch.reference);
        picture_floats(&distorted[i + 1], context->bit_depth, -128, scratch.signal);
        measure(context->dsp, &s, options, &scratch, &scratch.distorted);
        out[i] = scores[i] =
            compare(&s, options, (uint32_t)options->weight_var_mode, &scratch.reference, &scratch.distorted);
        out[i + 3] = scratch.reference.singular || scratch.distorted.singular;
    }
    /* A plane that says nothing leaves the word to the other. */
    if (out[3] != out[4])
        out[2] = out[3] != 0 ? out[1] : out[0];
    else
        out[2] = (scores[0] + scores[1]) / 2;
    return 0;
}

/* The earlier picture minus the current one. */
static void difference(const AnyvmafPlane *before, const AnyvmafPlane *now, uint32_t bit_depth, float *dst)
{
    const size_t n = plane_samples(now);
    const float unit = 1.0f / (float)(1u << (bit_depth - 8));
    if (bit_depth == 8) {
        const uint8_t *a = before->samples, *b = now->samples;
        for (size_t i = 0; i < n; i++)
            dst[i] = (float)(a[i] - b[i]);
    } else {
        const uint16_t *a = before->samples, *b = now->samples;
        for (size_t i = 0; i < n; i++)
            dst[i] = (float)(a[i] - b[i]) * unit;
    }
}

int32_t anyvmaf_speed_temporal(AnyvmafContext *context, const AnyvmafFrames *frames,
                               const AnyvmafSpeedOptions *options, double *out)
{
    const AnyvmafPlane *reference = &frames->reference.planes[0], *distorted = &frames->distorted.planes[0];
    const AnyvmafPlane *reference_before = &frames->earlier_reference.planes[0];
    const AnyvmafPlane *distorted_before = &frames->earlier_distorted.planes[0];
    const Shape s = shape_of(reference->width, reference->height, options);
    out[0] = out[1] = 0;
    if (!reference->samples || !distorted->samples || s.blocks == 0)
        return ANYVMAF_EINVAL;
    if (!reference_before->samples || !distorted_before->samples)
        return 0;
    Scratch scratch;
    if (!lay_out(context, &s, &scratch))
        return ANYVMAF_ENOMEM;
    difference(reference_before, reference, context->bit_depth, scratch.signal);
    measure(context->dsp, &s, options, &scratch, &scratch.reference);
    difference(distorted_before, options->use_ref_diff != 0 ? reference : distorted, context->bit_depth,
               scratch.signal);
    measure(context->dsp, &s, options, &scratch, &scratch.distorted);
    out[0] = compare(&s, options, 0, &scratch.reference, &scratch.distorted);
    out[1] = scratch.reference.singular || scratch.distorted.singular;
    return 0;
}
