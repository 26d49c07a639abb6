/*
 * float_adm_frame.c - floating-point ADM of a pair of pictures. Rows of a scale are
 * transformed, decoupled and weighed once each and kept in rings of three; only the low bands are whole planes.
 */
#include <math.h>

#include "context.h"
#include "filters.h"
#include "picture.h"

#define SCALES 4
#define RING 3

/* The columns and rows that are measured, half open. */
typedef struct Region {
    uint32_t left, right, top, bottom;
} Region;

static Region measured_region(uint32_t width, uint32_t height)
{
    const int32_t left = (int32_t)(width * 0.1 - 0.5), top = (int32_t)(height * 0.1 - 0.5);
    return (Region){(uint32_t)left, width - (uint32_t)left, (uint32_t)top, height - (uint32_t)top};
}

/* Three bands of one row. */
typedef struct Bands {
    float *band[3];
} Bands;

/* Stored data of a row: signals, and their masks. Part 0 is the restored picture, part 1 the additive one. */
typedef struct Row {
    Bands reference, part[2], centre[2], neighbour[2];
} Row;

static float *take(uint8_t **memory, size_t floats) { return core_cut(memory, float_plane_bytes(floats)); }
static size_t taken(size_t floats) { return area_bytes(float_plane_bytes(floats)); }

static Bands take_bands(uint8_t **memory, size_t floats)
{
    Bands bands;
    for (uint32_t b = 0; b < 3; b++)
        bands.band[b] = take(memory, floats);
    return bands;
}

/* Bands of a row: the reference's, two parts, and of each part two kinds of masks. */
#define ROW_BANDS (7 * 3)

typedef struct Scale {
    const AnyvmafDsp *dsp;
    const AnyvmafFloatAdmOptions *options;
    uint32_t scale;
    const float *source[2]; /* reference and distorted */
    float *next[2];         /* their low bands */
    uint32_t source_width, source_height, width, height;
    float *transform, *low_row;
    Bands distorted;
    Row ring[RING];
} Scale;

/* Transforms row y of both pictures. */
static void transform_row(const Scale *s, uint32_t y, const Bands *reference)
{
    for (uint32_t i = 0; i < 2; i++) {
        const float *rows[4];
        for (uint32_t k = 0; k < 4; k++)
            rows[k] = s->source[i] +
                      (size_t)mirror_repeat_end((int32_t)(2 * y + k) - 1, (int32_t)s->source_height) * s->source_width;
        float *const *details = i == 0 ? reference->band : s->distorted.band;
        float *const bands[4] = {s->next[i] + (size_t)y * s->width, details[0], details[1], details[2]};
        s->dsp->float_adm_wavelet(rows, s->source_width, s->transform, bands);
    }
}

/* Decouples a transformed row and makes its masks, with the samples beyond the ends. */
static void prepare_row(const Scale *s, const Row *row)
{
    const uint32_t n = s->width;
    const double *factor = s->options->factor[s->scale];
    const float *const reference[3] = {row->reference.band[0], row->reference.band[1], row->reference.band[2]};
    const float *const distorted[3] = {s->distorted.band[0], s->distorted.band[1], s->distorted.band[2]};
    s->dsp->float_adm_decouple(reference, distorted, n, s->options->enhn_gain_limit, row->part[0].band,
                               row->part[1].band);
    if (s->options->bypass_cm)
        return;
    for (uint32_t part = 0; part < 2; part++)
        for (uint32_t b = 0; b < 3; b++) {
            float *neighbour = row->neighbour[part].band[b];
            s->dsp->float_adm_mask(row->part[part].band[b], n, (float)factor[b == 2], row->centre[part].band[b],
                                   neighbour);
            neighbour[-1] = neighbour[n > 1];
            neighbour[n] = neighbour[n - 1];
        }
}

/* Adds a row of powers to totals in order, each band by itself. */
static void add_rows(float *const powers[3], uint32_t n, float totals[3])
{
    float sums[3] = {0};
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t b = 0; b < 3; b++)
            sums[b] += powers[b][j];
    for (uint32_t b = 0; b < 3; b++)
        totals[b] += sums[b];
}

/* Pools three bands: roots of their sums over a noise floor. */
static float pool(const float totals[3], double p, float floor)
{
    float sum = 0;
    for (uint32_t b = 0; b < 3; b++)
        sum += powf(totals[b], (float)(1.0 / p)) + floor;
    return sum;
}

static float noise_floor(const Region *region, double weight, double p)
{
    const double area = (double)((region->bottom - region->top) * (region->right - region->left));
    return powf((float)(area * weight), (float)(1.0 / p));
}

/* Sums over the region: of the reference, and of each part masked by the other. */
typedef struct Totals {
    float reference[3], part[2][3];
} Totals;

static void measure_row(const Scale *s, const Region *region, uint32_t y, Bands *powers, Totals *totals)
{
    const uint32_t left = region->left, n = region->right - left;
    const float p = (float)s->options->p_norm;
    const double *given = s->options->factor[s->scale];
    const float factor[2] = {(float)given[0], (float)given[1]};
    const Row *row = s->ring + y % RING;
    const uint32_t above = y > 0 ? y - 1 : s->height > 1, below = y + 1 < s->height ? y + 1 : s->height - 1;
    for (uint32_t b = 0; b < 3; b++)
        s->dsp->float_adm_powers(row->reference.band[b] + left, n, factor[b == 2], p, powers->band[b]);
    add_rows(powers->band, n, totals->reference);
    for (uint32_t part = 0; part < 2; part++) {
        FloatAdmMask masks[3];
        for (uint32_t b = 0; b < 3; b++)
            masks[b] = (FloatAdmMask){{s->ring[above % RING].neighbour[1 - part].band[b] + left,
                                       row->neighbour[1 - part].band[b] + left,
                                       s->ring[below % RING].neighbour[1 - part].band[b] + left},
                                      row->centre[1 - part].band[b] + left};
        const float *const signal[3] = {row->part[part].band[0] + left, row->part[part].band[1] + left,
                                        row->part[part].band[2] + left};
        s->dsp->float_adm_contrast(signal, n, factor, s->options->bypass_cm ? NULL : masks, p, powers->band);
        add_rows(powers->band, n, totals->part[part]);
    }
}

int32_t anyvmaf_float_adm(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafFloatAdmOptions *options,
                          double *out)
{
    if (!context || !frames || !options || !out || !(options->p_norm >= 1 && options->p_norm <= 20))
        return ANYVMAF_EINVAL;
    const uint32_t width = context->width, height = context->height;
    const size_t n = (width + 1) / 2, small = n * ((height + 1) / 2);
    /* Masks are read one sample beyond both ends. */
    const size_t rows = taken(2 * (size_t)width + 32) + (RING * ROW_BANDS + 7) * taken(n + 8);
    uint8_t *memory = core_scratch(context, 2 * taken((size_t)width * height) + 2 * taken(small) + rows);
    if (!memory)
        return ANYVMAF_ENOMEM;
    float *planes[2][2];
    for (uint32_t i = 0; i < 2; i++)
        planes[0][i] = take(&memory, (size_t)width * height);
    for (uint32_t i = 0; i < 2; i++)
        planes[1][i] = take(&memory, small);
    picture_floats(frames->reference.planes, context->bit_depth, -128, planes[0][0]);
    picture_floats(frames->distorted.planes, context->bit_depth, -128, planes[0][1]);

    Scale s = {.dsp = context->dsp, .options = options, .width = width, .height = height};
    s.transform = take(&memory, 2 * (size_t)width + 32);
    s.distorted = take_bands(&memory, n);
    Bands powers = take_bands(&memory, n);
    for (uint32_t i = 0; i < RING; i++) {
        Row *row = s.ring + i;
        row->reference = take_bands(&memory, n);
        for (uint32_t part = 0; part < 2; part++) {
            row->part[part] = take_bands(&memory, n);
            row->centre[part] = take_bands(&memory, n);
            row->neighbour[part] = take_bands(&memory, n + 8);
            for (uint32_t b = 0; b < 3; b++)
                row->neighbour[part].band[b] += 4;
        }
    }

    for (s.scale = 0; s.scale < SCALES; s.scale++) {
        for (uint32_t i = 0; i < 2; i++) {
            s.source[i] = planes[s.scale & 1][i];
            s.next[i] = planes[~s.scale & 1][i];
        }
        s.source_width = s.width;
        s.source_height = s.height;
        s.width = (s.width + 1) / 2;
        s.height = (s.height + 1) / 2;
        const Region region = measured_region(s.width, s.height);
        const int skip = s.scale == 0 && options->skip_scale0;
        Totals totals = {{0}, {{0}}};
        for (uint32_t y = 0; y < s.height; y++) {
            const Row *row = s.ring + y % RING;
            transform_row(&s, y, &row->reference);
            if (skip || y + 1 < region.top || y > region.bottom)
                continue;
            prepare_row(&s, row);
            /* Measures a row once the one below it is known. */
            if (y > region.top && y <= region.bottom)
                measure_row(&s, &region, y - 1, &powers, &totals);
        }
        if (!skip && region.bottom == s.height)
            measure_row(&s, &region, s.height - 1, &powers, &totals);
        const double p = options->p_norm;
        const float floor = noise_floor(&region, options->noise_weight, p);
        out[s.scale] = skip ? 0 : pool(totals.part[0], p, floor);
        out[SCALES + s.scale] = skip ? (float)1e-10 : pool(totals.reference, p, floor);
        out[2 * SCALES + s.scale] = skip ? 0 : pool(totals.part[1], p, noise_floor(&region, 0, p));
    }
    return 0;
}
