/*
 * xpsnr_frame.c - XPSNR of a pair of pictures: weights of blocks from the activity of the reference, and the weighted
 * squared error of each plane.
 *
 * The model is Helmrich et al., "XPSNR: a low-complexity extension of the perceptually weighted peak signal-to-noise
 * ratio", ICASSP 2020. Constants and the order of operations are facts from FFmpeg's libavfilter/vf_xpsnr.c (LGPL
 * 2.1+); the code is our own. Sums are integers, and what is made of them is double in one fixed order.
 */
#include <math.h>
#include <string.h>

#include "context.h"
#include "xpsnr.h"

/* Up to this size a weight is limited by those of its neighbours. */
#define SMOOTHED_SAMPLES (640 * 480)
/* Above this size activity is measured on groups of two by two samples. */
#define BIG_SAMPLES (2048 * 1152)
/* The side of a block is a multiple of this; pictures too small for one have no weights. */
#define LEAST_BLOCK 4

/* Blocks of a picture, and how their activity is measured. */
typedef struct Grid {
    uint32_t width, height, bit_depth;
    uint32_t block, columns, rows;
    uint32_t border; /* samples that spatial activity leaves out at the picture's borders; 2 in big pictures */
    uint32_t order;  /* of the difference in time */
    double scale;    /* makes weighted errors comparable with errors */
} Grid;

static Grid grid_of(const AnyvmafContext *context, uint32_t order)
{
    const uint32_t w = context->width, h = context->height, depth = context->bit_depth;
    const double share = (double)w * h / (3840.0 * 2160.0);
    const uint32_t block = LEAST_BLOCK * (uint32_t)(32 * sqrt(share) + 0.5);
    return (Grid){
        .width = w, .height = h, .bit_depth = depth, .block = block,
        .columns = block ? (w + block - 1) / block : 0, .rows = block ? (h + block - 1) / block : 0,
        .border = w * h > BIG_SAMPLES ? 2 : 1, .order = order,
        .scale = sqrt(16.0 * ldexp(1, 2 * (int)depth - 9) / sqrt(share > 0.00001 ? share : 0.00001)),
    };
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

/*
 * The weight of the block whose first sample is (x, y). changes: its sum of differences in time. At odd sides of big
 * pictures FFmpeg reads past the border; here windows end before it.
 */
static double weight_of(const AnyvmafDsp *dsp, const Grid *g, const uint8_t *luma, uint32_t x, uint32_t y,
                        uint64_t changes)
{
    const uint32_t w = least(g->block, g->width - x), h = least(g->block, g->height - y), b = g->border;
    const uint32_t left = x > 0 ? 0 : b, top = y > 0 ? 0 : b;
    const uint32_t right = least(w, g->width - x > b ? g->width - x - b : 0);
    const uint32_t bottom = least(h, g->height - y > b ? g->height - y - b : 0);
    if (right <= left || bottom <= top)
        return 1;
    const size_t bytes = g->bit_depth > 8 ? 2 : 1;
    const uint8_t *window = luma + ((size_t)(y + top) * g->width + x + left) * bytes;
    uint64_t details = 0;
    if (b == 1)
        details = dsp->xpsnr_spatial(window, g->width, right - left, bottom - top, g->bit_depth);
    else if (right > 12) /* FFmpeg counts nothing in narrower windows. */
        details = dsp->xpsnr_spatial_big(window, g->width, right - left, bottom - top, g->bit_depth);
    double activity = (double)details / ((double)(right - left) * (bottom - top));
    activity += (double)(2 * changes) / ((double)w * h);
    activity = larger(activity, (double)(1U << (g->bit_depth - 6)));
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

/* Weights of all blocks. history: luma of the reference, and of the pictures before it or NULL. */
static void weigh_blocks(const AnyvmafDsp *dsp, const Grid *g, const void *const history[3], uint64_t *changes,
                         double *weights)
{
    const int smoothed = g->width * g->height <= SMOOTHED_SAMPLES;
    const size_t bytes = g->bit_depth > 8 ? 2 : 1;
    for (uint32_t k = 0; k < g->columns * g->rows; k++) {
        const uint32_t column = k % g->columns, y = k / g->columns * g->block;
        if (column == 0) {
            const void *starts[3];
            for (uint32_t i = 0; i < 3; i++)
                starts[i] = history[i] ? (const uint8_t *)history[i] + (size_t)y * g->width * bytes : NULL;
            memset(changes, 0, g->columns * sizeof *changes);
            (g->border == 1 ? dsp->xpsnr_temporal : dsp->xpsnr_temporal_big)(
                starts, g->order, g->width, least(g->block, g->height - y), g->block, g->bit_depth, changes);
        }
        weights[k] = weight_of(dsp, g, history[0], column * g->block, y, changes[column]);
        if (smoothed)
            smooth_weights(g, weights, k);
    }
}

/*
 * The weighted error of a plane, rounded to an integer. Blocks of chroma lie where those of luma do; an odd side of
 * luma may leave the last of them without samples.
 */
static double weighted_error(const AnyvmafDsp *dsp, const Grid *g, const AnyvmafPlane *a, const AnyvmafPlane *b,
                             const double *weights, uint64_t *errors)
{
    const uint32_t across = a->width < g->width ? g->block / 2 : g->block;
    const uint32_t down = a->height < g->height ? g->block / 2 : g->block;
    const size_t row = a->width * (size_t)(g->bit_depth > 8 ? 2 : 1);
    double sum = 0;
    for (uint32_t y = 0; y < a->height; y += down, weights += g->columns) {
        memset(errors, 0, g->columns * sizeof *errors);
        dsp->xpsnr_sse((const uint8_t *)a->samples + y * row, (const uint8_t *)b->samples + y * row, a->width,
                       least(down, a->height - y), across, g->bit_depth, errors);
        for (uint32_t k = 0; k < g->columns; k++)
            sum += (double)errors[k] * weights[k];
    }
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
    const size_t weights_bytes = (size_t)g.columns * g.rows * sizeof(double), row_bytes = g.columns * sizeof(uint64_t);
    uint8_t *memory = core_scratch(context, area_bytes(weights_bytes) + area_bytes(row_bytes));
    if (!memory)
        return ANYVMAF_ENOMEM;
    double *weights = core_cut(&memory, weights_bytes);
    uint64_t *sums = core_cut(&memory, row_bytes);
    const void *history[3] = {reference[0].samples, frames->earlier_reference.planes[0].samples, second_earlier};
    weigh_blocks(context->dsp, &g, history, sums, weights);
    for (uint32_t p = 0; p < 3; p++)
        if (reference[p].samples)
            out[p] = weighted_error(context->dsp, &g, &reference[p], &distorted[p], weights, sums);
    return 0;
}
