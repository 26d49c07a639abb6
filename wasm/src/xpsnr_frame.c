/*
 * xpsnr_frame.c - XPSNR of a pair of pictures: weights of blocks from the activity of the reference, and the weighted squared
 * error of each plane.
 *
 * The model is Helmrich et al., "XPSNR: a low-complexity extension of the perceptually weighted peak signal-to-noise
 * ratio", ICASSP 2020; constants and the order of operations are facts from FFmpeg's libavfilter/vf_xpsnr.c (LGPL 2.1+).
 * The code is our own. Sums are integers, and what is made of them is double in one fixed order.
 */
#include <math.h>
#include <string.h>

#include "context.h"
#include "xpsnr.h"

/* Up to this size a weight is limited by those of its neighbours. */
#define SMOOTHED_SAMPLES (640 * 480)
/* Above this size activity is measured on groups of two by two samples. */
#define BIG_SAMPLES (2048 * 1152)
/* Sides are multiples of this; without a whole one there are no weights. */
#define LEAST_BLOCK 4

/* Blocks of a picture, and how their activity is measured. */
typedef struct Grid {
    uint32_t width, height, bit_depth;
    uint32_t block, columns, rows;
    uint32_t border; /* samples that spatial activity leaves out at the picture's borders; 2 in big pictures */
    uint32_t order;  /* of the difference in time */
    double scale;    /* makes weighted errors comparable with errors */
} Grid;

/* Luma of the reference and of the pictures before it, zeros where there are none. */
typedef struct History {
    const uint8_t *planes[3];
    uint32_t strides[3];
} History;

static Grid grid_of(const AnyvmafContext *context, uint32_t order)
{
    const uint32_t w = context->width, h = context->height, depth = context->bit_depth;
    const double share = (double)w * h / (3840.0 * 2160.0);
    const uint32_t block = LEAST_BLOCK * (uint32_t)(32 * sqrt(share) + 0.5);
    const uint32_t side = block ? block : w > h ? w : h;
    return (Grid){
        .width = w, .height = h, .bit_depth = depth, .block = block,
        .columns = (w + side - 1) / side, .rows = (h + side - 1) / side,
        .border = w * h > BIG_SAMPLES ? 2 : 1, .order = order,
        .scale = sqrt(16.0 * ldexp(1, 2 * (int)depth - 9) / sqrt(share > 0.00001 ? share : 0.00001)),
    };
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

/* The weight of the block whose first sample is (x, y). */
static double weight_of(const AnyvmafDsp *dsp, const Grid *g, const History *history, uint32_t x, uint32_t y)
{
    const uint32_t w = least(g->block, g->width - x), h = least(g->block, g->height - y), b = g->border;
    const uint32_t left = x > 0 ? 0 : b, top = y > 0 ? 0 : b;
    const uint32_t right = least(w, g->width - x > b ? g->width - x - b : 0);
    const uint32_t bottom = least(h, g->height - y > b ? g->height - y - b : 0);
    if (right <= left || bottom <= top)
        return 1;
    const size_t bytes = g->bit_depth > 8 ? 2 : 1;
    const void *blocks[3];
    for (uint32_t k = 0; k < 3; k++)
        blocks[k] = history->planes[k] + (history->strides[k] ? ((size_t)y * g->width + x) * bytes : 0);
    const void *window = (const uint8_t *)blocks[0] + ((size_t)top * g->width + left) * bytes;
    uint64_t spatial = 0, temporal;
    if (b == 1) {
        spatial = dsp->xpsnr_spatial(window, g->width, right - left, bottom - top, g->bit_depth);
        temporal = dsp->xpsnr_temporal(blocks, history->strides, g->order, w, h, g->bit_depth);
    } else {
        /* FFmpeg counts nothing in narrower windows. */
        if (right > 12)
            spatial = dsp->xpsnr_spatial_big(window, g->width, right - left, bottom - top, g->bit_depth);
        temporal = dsp->xpsnr_temporal_big(blocks, history->strides, g->order, w, h, g->bit_depth);
    }
    double activity = (double)spatial / ((double)(right - left) * (bottom - top));
    activity += (double)(2 * temporal) / ((double)w * h);
    const double floor_of_depth = (double)(1U << (g->bit_depth - 6));
    activity = larger(activity, floor_of_depth);
    return 1 / sqrt(activity * activity);
}

/* Limits the weights before block k by their neighbours, once block k has its own. */
static void smooth_weights(const Grid *g, double *weights, uint32_t k)
{
    const uint32_t columns = g->columns, column = k % columns;
    if (k > 0) {
        double most;
        if (column == 0)
            most = k > 1 ? weights[k - 2] : 0;
        else
            most = column > 1 ? larger(weights[k - 2], weights[k]) : weights[k];
        if (k > columns)
            most = larger(most, weights[k - 1 - columns]);
        if (weights[k - 1] > most)
            weights[k - 1] = most;
    }
    if (k + 1 == columns * g->rows && k > columns) {
        const double most = larger(weights[k - 1], weights[k - columns]);
        if (weights[k] > most)
            weights[k] = most;
    }
}

/* Weights of all blocks, and the squared errors of luma, so that a block is in the cache for both. */
static void measure_luma(const AnyvmafDsp *dsp, const Grid *g, const History *history, const uint8_t *distorted,
                         double *weights, double *errors)
{
    const int smoothed = g->width * g->height <= SMOOTHED_SAMPLES;
    const size_t bytes = g->bit_depth > 8 ? 2 : 1;
    for (uint32_t k = 0; k < g->columns * g->rows; k++) {
        const uint32_t x = k % g->columns * g->block, y = k / g->columns * g->block;
        const uint32_t w = least(g->block, g->width - x), h = least(g->block, g->height - y);
        const size_t at = ((size_t)y * g->width + x) * bytes;
        errors[k] = (double)dsp->xpsnr_sse(history->planes[0] + at, distorted + at, g->width, w, h, g->bit_depth);
        weights[k] = weight_of(dsp, g, history, x, y);
        if (smoothed)
            smooth_weights(g, weights, k);
    }
}

/*
 * Squared errors of the blocks of a chroma plane. They lie where the blocks of luma do; an odd side of luma may leave the
 * last one without samples.
 */
static void measure_chroma(const AnyvmafDsp *dsp, const Grid *g, const AnyvmafPlane *reference,
                           const AnyvmafPlane *distorted, double *errors)
{
    const uint32_t width = reference->width, height = reference->height;
    const uint32_t across = width < g->width ? g->block / 2 : g->block;
    const uint32_t down = height < g->height ? g->block / 2 : g->block;
    const size_t bytes = g->bit_depth > 8 ? 2 : 1;
    for (uint32_t k = 0; k < g->columns * g->rows; k++) {
        const uint32_t x = k % g->columns * across, y = k / g->columns * down;
        const uint32_t w = x < width ? least(across, width - x) : 0, h = y < height ? least(down, height - y) : 0;
        const size_t at = ((size_t)y * width + x) * bytes;
        errors[k] = (double)dsp->xpsnr_sse((const uint8_t *)reference->samples + at,
                                           (const uint8_t *)distorted->samples + at, width, w, h, g->bit_depth);
    }
}

/* The weighted error of a plane, rounded to an integer. */
static double weighted_sum(const Grid *g, const double *weights, const double *errors)
{
    double sum = 0;
    for (uint32_t k = 0; k < g->columns * g->rows; k++)
        sum += errors[k] * weights[k];
    return floor(sum * g->scale + 0.5);
}

/* Planes of pictures too small for blocks. */
static void measure_plain(const AnyvmafContext *context, const AnyvmafFrames *frames, double out[3])
{
    for (uint32_t p = 0; p < 3; p++) {
        const AnyvmafPlane *a = &frames->reference.planes[p], *b = &frames->distorted.planes[p];
        if (a->samples)
            out[p] = (double)context->dsp->sse(a->samples, b->samples, a->width * a->height, context->bit_depth);
    }
}

int32_t anyvmaf_xpsnr(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafXpsnrOptions *options,
                      const void *second_earlier, double *out)
{
    if (!context || !frames || !options || !out || (options->order != 1 && options->order != 2))
        return ANYVMAF_EINVAL;
    const AnyvmafPlane *reference = frames->reference.planes, *distorted = frames->distorted.planes;
    for (uint32_t p = 0; p < 3; p++)
        if (!reference[p].samples != !distorted[p].samples || (p == 0 && !reference[p].samples))
            return ANYVMAF_EINVAL;
    out[0] = out[1] = out[2] = 0;
    const Grid g = grid_of(context, (uint32_t)options->order);
    if (g.block == 0) {
        measure_plain(context, frames, out);
        return 0;
    }
    const size_t blocks = (size_t)g.columns * g.rows * sizeof(double);
    const size_t zeros = anyvmaf_plane_bytes(g.block, 1, g.bit_depth);
    uint8_t *memory = core_scratch(context, 2 * area_bytes(blocks) + area_bytes(zeros));
    if (!memory)
        return ANYVMAF_ENOMEM;
    double *weights = core_cut(&memory, blocks), *errors = core_cut(&memory, blocks);
    const void *nothing = memset(core_cut(&memory, zeros), 0, zeros);
    const void *planes[3] = {reference[0].samples, frames->earlier_reference.planes[0].samples, second_earlier};
    History history;
    for (uint32_t k = 0; k < 3; k++) {
        history.planes[k] = planes[k] ? planes[k] : nothing;
        history.strides[k] = planes[k] ? g.width : 0;
    }
    measure_luma(context->dsp, &g, &history, distorted[0].samples, weights, errors);
    out[0] = weighted_sum(&g, weights, errors);
    for (uint32_t p = 1; p < 3; p++) {
        if (!reference[p].samples)
            continue;
        measure_chroma(context->dsp, &g, &reference[p], &distorted[p], errors);
        out[p] = weighted_sum(&g, weights, errors);
    }
    return 0;
}
