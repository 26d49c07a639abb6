/*
 * butteraugli_scale.c - Butteraugli of a pair at one scale, in stages that pass over all rows.
 *
 * Planes X, Y and B are divided in place: the stage of a band takes it out of them, measures its differences row by row
 * and leaves the rest to the next one. So a scale needs eight planes, and rings of the rows that filters reach. All
 * that is made of B is linear, so only the difference of both pictures in B is divided.
 */
#include <math.h>
#include <string.h>

#include "../src/memory.h"
#include "butteraugli.h"

enum { X, Y, B, SIDES = 2, PLANES = 3 };

static const ButteraugliWindow OPSIN_WINDOW = {1.2, 1}, LOW_WINDOW = {7.15593339443, 0},
                               MEDIUM_WINDOW = {3.22489901262, 0}, HIGH_WINDOW = {1.56416327805, 0},
                               MASK_WINDOW = {2.7, 0};

/* Weights of squared differences of X, Y and B. */
static const float HIGH_WEIGHTS[2] = {400 * 0.8F, 1.50815703118F * 0.8F};
static const float MEDIUM_WEIGHTS[3] = {2150, 10.6195433239F, 16.2176043152F};
#define ACTIVITY_WEIGHT 10

/* One scale at work. */
typedef struct Scale {
    const ButteraugliDsp *dsp;
    uint32_t width, height;
    float *planes[SIDES][PLANES]; /* their rows are padded with zeros */
    float *dc, *ac;
    uint8_t *rings; /* memory for the rings of a stage */
} Scale;

/* The padding of a row is that of the next one too. */
static size_t plane_bytes(uint32_t width, uint32_t height)
{
    return (BUTTERAUGLI_PAD + (butteraugli_stride(width) + BUTTERAUGLI_PAD) * height) * sizeof(float);
}

static size_t row_bytes(uint32_t width) { return butteraugli_stride(width) * sizeof(float); }

static float *row_of(const Scale *scale, float *plane, uint32_t y) { return butteraugli_row(plane, scale->width, y); }

/* Restores the padding behind a row that was written. */
static void close_row(const Scale *scale, float *row)
{
    const size_t end = butteraugli_stride(scale->width) + BUTTERAUGLI_PAD;
    memset(row + scale->width, 0, (end - scale->width) * sizeof *row);
}

/* A difference of two bands that is summed along lines. */
typedef struct Lines {
    ButteraugliContrast weights;
    int dense;
    ButteraugliRows rows;
} Lines;

typedef struct LineWeights {
    double weight, norm;
    int dense;
} LineWeights;

static const LineWeights ULTRA_LINES[2] = {{173.5, 5.0, 1}, {1.10039032555, 71.7800275169, 1}},
                         HIGH_LINES[2] = {{6923.99476109, 8051.15833247, 0}, {18.7237414387, 4498534.45232, 0}},
                         MEDIUM_LINES[2] = {{8246.75321353, 1009002.70582, 0}, {37.0819870399, 130262059.556, 0}};

static size_t lines_bytes(uint32_t width) { return butteraugli_rows_bytes(BUTTERAUGLI_LINE_ROWS, width); }

static void lines_open(Lines *lines, const LineWeights *weights, const Scale *scale, uint8_t **next)
{
    const double factor = (weights->dense ? 0.39905817637 : 0.611612573796) / (2 * 3.75 + 1) * weights->norm;
    lines->dense = weights->dense;
    lines->weights = (ButteraugliContrast){.two_sided = (float)(factor * sqrt(0.5 * weights->weight)),
                                           .one_sided = (float)(factor * sqrt(0.33 * weights->weight)),
                                           .norm = (float)weights->norm};
    butteraugli_rows_open(&lines->rows, BUTTERAUGLI_LINE_ROWS, 0, scale->width, scale->height, next);
}

/* Takes row y of the bands. */
static void lines_push(Lines *lines, const Scale *scale, const float *reference, const float *distorted, uint32_t y)
{
    float *row = butteraugli_rows_at(&lines->rows, (int32_t)y);
    scale->dsp->contrast(reference, distorted, &lines->weights, scale->width, row);
    butteraugli_rows_close(&lines->rows, y);
}

/* Adds the squared sums of row y to ac; rows up to y + BUTTERAUGLI_LINE_REACH were pushed. */
static void lines_pull(const Lines *lines, const Scale *scale, uint32_t y)
{
    const float *rows[BUTTERAUGLI_LINE_ROWS];
    for (int32_t i = 0; i < BUTTERAUGLI_LINE_ROWS; i++)
        rows[i] = butteraugli_rows_at(&lines->rows, (int32_t)y + i - BUTTERAUGLI_LINE_REACH);
    float *ac = row_of(scale, scale->ac, y);
    if (lines->dense)
        scale->dsp->dense_lines(rows, scale->width, ac);
    else
        scale->dsp->sparse_lines(rows, scale->width, ac);
}

/* Whether row y, counted from `delay` rows ago, is one of the picture. */
static int delayed(const Scale *scale, uint32_t y, uint32_t delay)
{
    return y >= delay && y - delay < scale->height;
}

/* Linear light of a picture to its planes X, Y and B. */
static void opsin_stage(const Scale *scale, const ButteraugliPair *pair, uint32_t side)
{
    ButteraugliBlur blurs[PLANES];
    float *blurred[PLANES];
    uint8_t *next = scale->rings;
    for (uint32_t c = 0; c < PLANES; c++) {
        butteraugli_blur_open(&blurs[c], scale->dsp, &OPSIN_WINDOW, scale->width, scale->height, &next);
        blurred[c] = core_cut(&next, row_bytes(scale->width));
    }
    for (uint32_t y = 0; y < scale->height + blurs[0].radius; y++) {
        for (uint32_t c = 0; c < PLANES && y < scale->height; c++)
            butteraugli_blur_push(&blurs[c], pair->rgb[side][c] + pair->pitch * y, y);
        if (!delayed(scale, y, blurs[0].radius))
            continue;
        const uint32_t at = y - blurs[0].radius;
        const float *rgb[PLANES];
        float *xyb[PLANES];
        for (uint32_t c = 0; c < PLANES; c++) {
            butteraugli_blur_pull(&blurs[c], at, blurred[c]);
            rgb[c] = pair->rgb[side][c] + pair->pitch * at;
            xyb[c] = row_of(scale, scale->planes[side][c], at);
        }
        scale->dsp->opsin(rgb, (const float *const *)blurred, pair->nits[side], scale->width, xyb);
        for (uint32_t c = 0; c < PLANES; c++)
            close_row(scale, xyb[c]);
    }
}

/* Blurs of planes of both pictures, and a row of each. */
typedef struct Bands {
    uint32_t radius;
    uint32_t planes[SIDES]; /* X and Y, or all three */
    ButteraugliBlur blurs[SIDES][PLANES];
    float *low[SIDES][PLANES];  /* the blurred row */
    float *rest[SIDES][PLANES]; /* the row of the planes */
} Bands;

/* with_b: also the difference in B, as the third plane of the reference. */
static void bands_open(Bands *bands, const Scale *scale, const ButteraugliWindow *window, int with_b, uint8_t **next)
{
    bands->planes[0] = with_b ? 3 : 2;
    bands->planes[1] = 2;
    for (uint32_t side = 0; side < SIDES; side++)
        for (uint32_t c = 0; c < bands->planes[side]; c++) {
            butteraugli_blur_open(&bands->blurs[side][c], scale->dsp, window, scale->width, scale->height, next);
            bands->low[side][c] = core_cut(next, row_bytes(scale->width));
        }
    bands->radius = bands->blurs[0][0].radius;
}

static size_t bands_bytes(const ButteraugliWindow *window, int with_b, uint32_t width)
{
    return (with_b ? 5 : 4) * (butteraugli_blur_bytes(window, width) + area_bytes(row_bytes(width)));
}

/* Pushes row y; non-zero once there are rows y - radius. */
static int bands_step(Bands *bands, const Scale *scale, uint32_t y)
{
    const int ready = delayed(scale, y, bands->radius);
    for (uint32_t side = 0; side < SIDES; side++)
        for (uint32_t c = 0; c < bands->planes[side]; c++) {
            float *plane = scale->planes[side][c];
            if (y < scale->height)
                butteraugli_blur_push(&bands->blurs[side][c], row_of(scale, plane, y), y);
            if (!ready)
                continue;
            butteraugli_blur_pull(&bands->blurs[side][c], y - bands->radius, bands->low[side][c]);
            bands->rest[side][c] = row_of(scale, plane, y - bands->radius);
        }
    return ready;
}

static const float *const *constant(float *const rows[PLANES]) { return (const float *const *)rows; }

/* Sets dc. */
static void low_stage(const Scale *scale)
{
    Bands bands;
    uint8_t *next = scale->rings;
    bands_open(&bands, scale, &LOW_WINDOW, 1, &next);
    for (uint32_t y = 0; y < scale->height + bands.radius; y++) {
        if (!bands_step(&bands, scale, y))
            continue;
        for (uint32_t side = 0; side < SIDES; side++)
            for (uint32_t c = 0; c < bands.planes[side]; c++) {
                scale->dsp->subtract(bands.rest[side][c], bands.low[side][c], scale->width);
                close_row(scale, bands.rest[side][c]);
            }
        scale->dsp->low(constant(bands.low[0]), constant(bands.low[1]), bands.low[0][B], scale->width,
                        row_of(scale, scale->dc, y - bands.radius));
    }
}

/* Sets ac. */
static void medium_stage(const Scale *scale)
{
    Bands bands;
    Lines lines[2];
    uint8_t *next = scale->rings;
    bands_open(&bands, scale, &MEDIUM_WINDOW, 1, &next);
    for (uint32_t c = 0; c < 2; c++)
        lines_open(&lines[c], &MEDIUM_LINES[c], scale, &next);
    const uint32_t delay = bands.radius + BUTTERAUGLI_LINE_REACH;
    for (uint32_t y = 0; y < scale->height + delay; y++) {
        if (bands_step(&bands, scale, y)) {
            const uint32_t at = y - bands.radius;
            for (uint32_t side = 0; side < SIDES; side++) {
                scale->dsp->medium(bands.rest[side], bands.low[side], scale->width);
                for (uint32_t c = 0; c < 2; c++)
                    close_row(scale, bands.rest[side][c]);
            }
            float *ac = row_of(scale, scale->ac, at);
            scale->dsp->square(bands.low[0][B], MEDIUM_WEIGHTS[B], scale->width, ac);
            for (uint32_t c = 0; c < 2; c++) {
                scale->dsp->squares(bands.low[0][c], bands.low[1][c], MEDIUM_WEIGHTS[c], scale->width, ac);
                lines_push(&lines[c], scale, bands.low[0][c], bands.low[1][c], at);
            }
        }
        for (uint32_t c = 0; c < 2 && delayed(scale, y, delay); c++)
            lines_pull(&lines[c], scale, y - delay);
    }
}

/* Adds to ac, and puts the activity of both pictures into their planes of B, which has no higher bands. */
static void high_stage(const Scale *scale)
{
    Bands bands;
    Lines ultra[2], high[2];
    uint8_t *next = scale->rings;
    bands_open(&bands, scale, &HIGH_WINDOW, 0, &next);
    for (uint32_t c = 0; c < 2; c++) {
        lines_open(&ultra[c], &ULTRA_LINES[c], scale, &next);
        lines_open(&high[c], &HIGH_LINES[c], scale, &next);
    }
    const uint32_t delay = bands.radius + BUTTERAUGLI_LINE_REACH;
    for (uint32_t y = 0; y < scale->height + delay; y++) {
        if (bands_step(&bands, scale, y)) {
            const uint32_t at = y - bands.radius;
            for (uint32_t side = 0; side < SIDES; side++) {
                float *activity = row_of(scale, scale->planes[side][B], at);
                scale->dsp->high(bands.rest[side], bands.low[side], scale->width);
                scale->dsp->activity(constant(bands.rest[side]), constant(bands.low[side]), scale->width, activity);
                close_row(scale, activity);
            }
            float *ac = row_of(scale, scale->ac, at);
            for (uint32_t c = 0; c < 2; c++) {
                scale->dsp->one_sided(bands.low[0][c], bands.low[1][c], HIGH_WEIGHTS[c], scale->width, ac);
                lines_push(&ultra[c], scale, bands.rest[0][c], bands.rest[1][c], at);
                lines_push(&high[c], scale, bands.low[0][c], bands.low[1][c], at);
            }
        }
        for (uint32_t c = 0; c < 2 && delayed(scale, y, delay); c++) {
            lines_pull(&ultra[c], scale, y - delay);
            lines_pull(&high[c], scale, y - delay);
        }
    }
}

/* Turns ac into the difference of each pixel. */
static void mask_stage(const Scale *scale)
{
    ButteraugliBlur blurs[SIDES];
    ButteraugliRows reference;
    uint8_t *next = scale->rings;
    for (uint32_t side = 0; side < SIDES; side++)
        butteraugli_blur_open(&blurs[side], scale->dsp, &MASK_WINDOW, scale->width, scale->height, &next);
    butteraugli_rows_open(&reference, 2 * BUTTERAUGLI_EROSION + 1, INFINITY, scale->width, scale->height, &next);
    float *distorted = core_cut(&next, row_bytes(scale->width));
    const uint32_t radius = blurs[0].radius, delay = radius + BUTTERAUGLI_EROSION;
    for (uint32_t y = 0; y < scale->height + delay; y++) {
        for (uint32_t side = 0; side < SIDES && y < scale->height; side++)
            butteraugli_blur_push(&blurs[side], row_of(scale, scale->planes[side][B], y), y);
        if (delayed(scale, y, radius)) {
            const uint32_t at = y - radius;
            float *row = butteraugli_rows_at(&reference, (int32_t)at);
            butteraugli_blur_pull(&blurs[0], at, row);
            butteraugli_rows_close(&reference, at);
            butteraugli_blur_pull(&blurs[1], at, distorted);
            scale->dsp->squares(row, distorted, ACTIVITY_WEIGHT, scale->width, row_of(scale, scale->ac, at));
        }
        if (!delayed(scale, y, delay))
            continue;
        const uint32_t at = y - delay;
        const float *rows[3];
        for (int32_t i = 0; i < 3; i++)
            rows[i] = butteraugli_rows_at(&reference, (int32_t)at + (i - 1) * BUTTERAUGLI_EROSION);
        float *ac = row_of(scale, scale->ac, at);
        scale->dsp->difference(rows, row_of(scale, scale->dc, at), ac, scale->width, ac);
    }
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Memory for the rings of any stage. */
static size_t rings_bytes(uint32_t width)
{
    const size_t row = area_bytes(row_bytes(width)), lines = lines_bytes(width);
    const size_t opsin = PLANES * (butteraugli_blur_bytes(&OPSIN_WINDOW, width) + row);
    const size_t low = bands_bytes(&LOW_WINDOW, 1, width);
    const size_t medium = bands_bytes(&MEDIUM_WINDOW, 1, width) + 2 * lines;
    const size_t high = bands_bytes(&HIGH_WINDOW, 0, width) + 4 * lines;
    const size_t mask = SIDES * butteraugli_blur_bytes(&MASK_WINDOW, width) +
                        butteraugli_rows_bytes(2 * BUTTERAUGLI_EROSION + 1, width) + row;
    return larger(larger(larger(opsin, low), larger(medium, high)), mask);
}

size_t butteraugli_scale_bytes(uint32_t width, uint32_t height)
{
    return (SIDES * PLANES + 2) * area_bytes(plane_bytes(width, height)) + rings_bytes(width);
}

float *butteraugli_scale(const ButteraugliDsp *dsp, const ButteraugliPair *pair, uint8_t *memory)
{
    Scale scale = {.dsp = dsp, .width = pair->width, .height = pair->height};
    const size_t bytes = plane_bytes(pair->width, pair->height);
    scale.ac = core_cut(&memory, bytes);
    scale.dc = core_cut(&memory, bytes);
    for (uint32_t side = 0; side < SIDES; side++)
        for (uint32_t c = 0; c < PLANES; c++)
            scale.planes[side][c] = memset(core_cut(&memory, bytes), 0, BUTTERAUGLI_PAD * sizeof(float));
    scale.rings = memory;
    for (uint32_t side = 0; side < SIDES; side++)
        opsin_stage(&scale, pair, side);
    for (uint32_t y = 0; y < scale.height; y++)
        dsp->subtract(row_of(&scale, scale.planes[0][B], y), row_of(&scale, scale.planes[1][B], y), scale.width);
    low_stage(&scale);
    medium_stage(&scale);
    high_stage(&scale);
    mask_stage(&scale);
    return scale.ac;
}
