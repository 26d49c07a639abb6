/*
 * cvvdp_frame.c - ColorVideoVDP of a pair of pictures with those before it: colours and filters over time, then
 * contrast, masking and pooling over space, band by band of a pyramid.
 */
#include <math.h>
#include <string.h>

#include "context.h"
#include "cvvdp_model.h"

/* Floats before and behind those of a row that filters and vectors reach. */
#define ROW_FRONT 8
#define ROW_BACK 24

/* The factor of masks, of the parameter mask_c: 10^c. */
#define MASK_FACTOR 0.16014112526741573

/* A row of the next level is made of five: the rows around it up to so far. */
#define REDUCE_REACH 2
/* Rows of the picture that are kept: those of a reduction, and the next, into which a vector may write. */
#define KEPT_ROWS 8

typedef struct Level {
    uint32_t width, height;
    uint32_t mask; /* row y is at y & mask: of the picture only some rows are kept */
    float *planes[CVVDP_PLANES];
} Level;

static float *row_of(const Level *level, uint32_t plane, uint32_t y)
{
    return level->planes[plane] + (size_t)(y & level->mask) * level->width;
}

/* Rows of one call, as wide as the picture. */
typedef struct Rows {
    float *line;     /* between the passes of a filter */
    float *light[3]; /* linear R, G and B */
    float *coarse[CVVDP_PLANES];
    float *common[CVVDP_CHANNELS], *mask[CVVDP_CHANNELS];
    float *blurred[BLUR_TAPS][CVVDP_CHANNELS];         /* by row % 13 */
    float *difference[BLUR_REACH + 1][CVVDP_CHANNELS]; /* by row % 7 */
} Rows;

/* Pictures of one video, newest first, and how they become light. */
typedef struct Clip {
    const AnyvmafPicture *pictures;
    uint32_t count;
    float weights[CVVDP_MAX_TAPS][CVVDP_CHANNELS];
    Conversion conversion;
    CvvdpLight light;
    const LinearPicture *still; /* the only picture as all metrics of colour share it; NULL of a video */
} Clip;

typedef struct Pair {
    const AnyvmafContext *context;
    const CvvdpDsp *dsp;
    uint32_t channels;
    Clip clips[2];   /* of the reference and of the distorted video */
    Level levels[3]; /* the picture; then the others in turn */
    Rows rows;
} Pair;

static size_t row_bytes(uint32_t width) { return ((size_t)width + ROW_FRONT + ROW_BACK) * sizeof(float); }

static void cut_rows(uint8_t **next, uint32_t width, uint32_t count, float **rows)
{
    for (uint32_t i = 0; i < count; i++)
        rows[i] = (float *)core_cut(next, row_bytes(width)) + ROW_FRONT;
}

/* Whether a channel of this plane exists. */
static int holds(const Pair *pair, uint32_t plane) { return plane % CVVDP_CHANNELS < pair->channels; }

/* Divides scratch memory; of planes that do not exist it has none. A picture that is a band by itself is kept whole. */
static int allocate(AnyvmafContext *context, uint32_t bands, Pair *pair)
{
    const uint32_t width = context->width, height = context->height, half = (width + 1) / 2, low = (height + 1) / 2;
    const uint32_t kept = bands == 1 ? height : KEPT_ROWS;
    const size_t bytes[3] = {float_plane_bytes((size_t)width * kept), float_plane_bytes((size_t)half * low),
                             float_plane_bytes((size_t)((half + 1) / 2) * ((low + 1) / 2))};
    const uint32_t rows = sizeof(Rows) / sizeof(float *);
    const size_t levels = area_bytes(bytes[0]) + area_bytes(bytes[1]) + area_bytes(bytes[2]);
    uint8_t *next = context_scratch(context, 2 * pair->channels * levels + rows * area_bytes(row_bytes(width)));
    if (!next)
        return 0;
    for (uint32_t l = 0; l < 3; l++) {
        pair->levels[l].mask = l == 0 && bands > 1 ? KEPT_ROWS - 1 : UINT32_MAX;
        for (uint32_t p = 0; p < CVVDP_PLANES; p++)
            pair->levels[l].planes[p] = holds(pair, p) ? core_cut(&next, bytes[l]) : NULL;
    }
    pair->levels[0].width = width;
    pair->levels[0].height = height;
    Rows *const r = &pair->rows;
    cut_rows(&next, width, 1, &r->line);
    cut_rows(&next, width, 3, r->light);
    cut_rows(&next, width, CVVDP_PLANES, r->coarse);
    cut_rows(&next, width, CVVDP_CHANNELS, r->common);
    cut_rows(&next, width, CVVDP_CHANNELS, r->mask);
    for (uint32_t i = 0; i < BLUR_TAPS; i++)
        cut_rows(&next, width, CVVDP_CHANNELS, r->blurred[i]);
    for (uint32_t i = 0; i <= BLUR_REACH; i++)
        cut_rows(&next, width, CVVDP_CHANNELS, r->difference[i]);
    return 1;
}

/* Whether a picture can be converted as another one. */
static int is_alike(const AnyvmafPicture *picture, const AnyvmafPicture *other)
{
    for (uint32_t p = 0; p < 3; p++) {
        const AnyvmafPlane *const a = &picture->planes[p], *const b = &other->planes[p];
        if (!a->samples != !b->samples || a->width != b->width || a->height != b->height)
            return 0;
    }
    return 1;
}

/* The pictures of a side that its frame is seen with, and their weights. */
static int32_t open_clip(AnyvmafContext *context, const AnyvmafPicture *pictures, uint32_t held, uint32_t side,
                         const AnyvmafCvvdpOptions *options, Clip *clip)
{
    const AnyvmafColour *const colour = side == 0 ? &options->colours.reference : &options->colours.distorted;
    const int still = options->frame_rate == 0;
    const uint32_t taps = still ? 1 : cvvdp_temporal(options->frame_rate, clip->weights);
    if (still)
        memcpy(clip->weights[0], (const float[CVVDP_CHANNELS]){1, 1, 1, 0}, sizeof clip->weights[0]);
    clip->pictures = pictures;
    clip->count = held < taps ? held : taps;
    /* Before a clip its first frame is shown. */
    for (uint32_t k = clip->count; k < taps; k++)
        for (uint32_t c = 0; c < CVVDP_CHANNELS; c++)
            clip->weights[clip->count - 1][c] += clip->weights[k][c];
    for (uint32_t i = 0; i < clip->count; i++)
        if (pictures[i].planes[0].width != context->width || pictures[i].planes[0].height != context->height ||
            !is_alike(&pictures[i], &pictures[0]))
            return ANYVMAF_EINVAL;
    cvvdp_display(options, colour, &clip->light);
    clip->still = still ? &context->linear[side] : NULL;
    return still ? linear_of(context, pictures, colour, OPAQUE_BACKGROUND, &context->linear[side])
                 : conversion_of(context, pictures, colour, OPAQUE_BACKGROUND, &clip->conversion);
}

static int32_t open_clips(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafHistory *history,
                          const AnyvmafCvvdpOptions *options, Pair *pair)
{
    if (options->frame_rate == 0) {
        const int32_t failed = open_clip(context, &frames->reference, 1, 0, options, &pair->clips[0]);
        return failed ? failed : open_clip(context, &frames->distorted, 1, 1, options, &pair->clips[1]);
    }
    const int32_t failed = open_clip(context, history->reference, history->count, 0, options, &pair->clips[0]);
    return failed ? failed : open_clip(context, history->distorted, history->count, 1, options, &pair->clips[1]);
}

/* Makes row y of the channels: that of each picture becomes light, one after another, and is added with its weights. */
static void make_row(const Pair *pair, uint32_t y)
{
    const Level *const level = &pair->levels[0];
    const uint32_t width = level->width;
    for (uint32_t side = 0; side < 2; side++) {
        const Clip *const clip = &pair->clips[side];
        float *channels[CVVDP_CHANNELS];
        for (uint32_t c = 0; c < pair->channels; c++) {
            channels[c] = row_of(level, (side == 0 ? CVVDP_REFERENCE : 0) + c, y);
            memset(channels[c], 0, width * sizeof(float));
        }
        for (uint32_t i = clip->count; i-- > 0;) {
            const float *rgb[3];
            for (uint32_t p = 0; p < 3; p++)
                rgb[p] = clip->still ? clip->still->planes[p] + (size_t)y * width : pair->rows.light[p];
            if (!clip->still)
                linear_row(pair->context, &clip->conversion, &clip->pictures[i], y, pair->rows.light);
            pair->dsp->light(rgb, width, &clip->light, clip->weights[i], pair->channels, channels);
        }
    }
}

/* A sample before or behind n of them is that as far inside, edges repeated. */
static uint32_t repeat_edge(int32_t i, uint32_t n)
{
    return (uint32_t)(i < 0 ? -1 - i : i >= (int32_t)n ? 2 * (int32_t)n - 1 - i : i);
}

/* The two samples behind a row. The authors' code takes the case of the width from whether the height is odd. */
static void extend_right(float *row, uint32_t width, uint32_t height)
{
    float *const end = row + width;
    const int odd_width = width & 1, odd_height = height & 1;
    end[0] = odd_width == odd_height ? end[-1] : odd_height ? 5 * end[-1] + end[-2] : 0;
    end[1] = odd_width == odd_height ? end[-2] : end[-1];
}

/* Makes row y of the next level, which has half the size, rounded up. */
static void reduce_row(const Pair *pair, const Level *from, const Level *to, uint32_t y)
{
    float *const line = pair->rows.line;
    for (uint32_t p = 0; p < CVVDP_PLANES; p++) {
        if (!holds(pair, p))
            continue;
        const float *rows[2 * REDUCE_REACH + 1];
        for (int32_t k = 0; k <= 2 * REDUCE_REACH; k++)
            rows[k] = row_of(from, p, repeat_edge((int32_t)(2 * y) + k - REDUCE_REACH, from->height));
        pair->dsp->reduce_rows(rows, from->width, line);
        line[-1] = line[0];
        line[-2] = line[1];
        extend_right(line, from->width, from->height);
        pair->dsp->reduce_columns(line, to->width, row_of(to, p, y));
    }
}

/* Row y of the level before `level`, of what is left in it. */
static void expand_row(const Pair *pair, const Level *level, uint32_t plane, uint32_t y, float *out)
{
    static const float EVEN[3] = {0.1F, 0.8F, 0.1F}, ODD[3] = {0, 0.5F, 0.5F};
    const uint32_t width = level->width, row = y / 2;
    const float *const here = row_of(level, plane, row);
    const float *const rows[3] = {row > 0 ? here - width : here, here, row + 1 < level->height ? here + width : here};
    float *const line = pair->rows.line;
    pair->dsp->expand_rows(rows, y & 1 ? ODD : EVEN, width, line);
    line[-1] = line[0];
    line[width] = line[width - 1];
    pair->dsp->expand_columns(line, width, out);
}

/* Where the blur finds a sample beyond an edge: mirrored, without the edge. Without a blur any place will do. */
static uint32_t mirror(int32_t i, uint32_t n, int blurred)
{
    const int32_t last = (int32_t)n - 1;
    if (!blurred)
        return (uint32_t)(i < 0 ? 0 : i > last ? last : i);
    return (uint32_t)(i < 0 ? -i : i > last ? 2 * last - i : i);
}

/* A band of the pyramid while its rows pass. */
typedef struct Band {
    const Level *fine;
    Level *coarse;
    CvvdpSensitivity sensitivity;
    int blurred;
    CvvdpBlur columns, rows;
} Band;

/* Puts row y of the band's contrast, and of its blurred common part, where measure_row() finds them. */
static void add_row(const Pair *pair, const Band *band, uint32_t y)
{
    const Rows *const r = &pair->rows;
    const uint32_t width = band->fine->width;
    const float *fine[CVVDP_PLANES], *coarse[CVVDP_PLANES];
    for (uint32_t p = 0; p < CVVDP_PLANES; p++) {
        if (!holds(pair, p))
            continue;
        fine[p] = row_of(band->fine, p, y);
        coarse[p] = r->coarse[p];
        expand_row(pair, band->coarse, p, y, r->coarse[p]);
    }
    pair->dsp->contrast(fine, coarse, width, &band->sensitivity, pair->channels, r->difference[y % (BLUR_REACH + 1)],
                        r->common);
    for (uint32_t c = 0; c < pair->channels; c++) {
        float *const row = r->common[c];
        for (int32_t k = 1; k <= BLUR_REACH; k++) {
            const int32_t right = (int32_t)width - 1 + k;
            row[-k] = row[mirror(-k, width, band->blurred)];
            row[right] = row[mirror(right, width, band->blurred)];
        }
        pair->dsp->blur_columns(row, &band->columns, width, r->blurred[y % BLUR_TAPS][c]);
    }
}

/* Adds row y, when six more rows were added, or all. */
static void measure_row(const Pair *pair, const Band *band, uint32_t y, double sums[CVVDP_CHANNELS][4])
{
    static const float MASK_POWER[CVVDP_CHANNELS] = {1.30262268F, 2.88859081F, 3.68077135F, 3.58878732F};
    static const float DIFFERENCE_POWER = 2.26435518F;
    const Rows *const r = &pair->rows;
    const uint32_t width = band->fine->width;
    float *const *const difference = r->difference[y % (BLUR_REACH + 1)];
    const float *differences[CVVDP_CHANNELS], *masks[CVVDP_CHANNELS];
    for (uint32_t c = 0; c < pair->channels; c++) {
        const float *rows[BLUR_TAPS];
        for (int32_t k = 0; k < BLUR_TAPS; k++)
            rows[k] = r->blurred[mirror((int32_t)y + k - BLUR_REACH, band->fine->height, band->blurred) % BLUR_TAPS][c];
        pair->dsp->blur_rows(rows, &band->rows, width, r->mask[c]);
        pair->dsp->power(r->mask[c], width, MASK_POWER[c]);
        pair->dsp->power(difference[c], width, DIFFERENCE_POWER);
        masks[c] = r->mask[c];
        differences[c] = difference[c];
    }
    pair->dsp->pool(differences, masks, width, pair->channels, sums);
}

/*
 * Norms over space of the channels in a band with another below it, which is made on the way: rows of the picture as
 * they are needed, a row of the next level once the rows around it are there, and contrast between the two.
 */
static void measure_band(const Pair *pair, Band *band, double norms[CVVDP_CHANNELS])
{
    const Level *const fine = band->fine;
    Level *const coarse = band->coarse;
    const uint32_t width = fine->width, height = fine->height;
    /* Row y is expanded from the row of the next level around it and that behind, which is made up to row y + 4. */
    const uint32_t behind = 2 * REDUCE_REACH;
    coarse->width = (width + 1) / 2;
    coarse->height = (height + 1) / 2;
    band->blurred = width > BLUR_REACH && height > BLUR_REACH;
    cvvdp_blur(band->blurred, 1, &band->columns);
    cvvdp_blur(band->blurred, MASK_FACTOR, &band->rows);
    double sums[CVVDP_CHANNELS][4] = {{0}};
    uint32_t reduced = 0;
    for (uint32_t y = 0; y < height + behind + BLUR_REACH; y++) {
        if (y < height && fine == &pair->levels[0])
            make_row(pair, y);
        for (; reduced < coarse->height && (2 * reduced + REDUCE_REACH <= y || y + 1 >= height); reduced++)
            reduce_row(pair, fine, coarse, reduced);
        if (y >= behind && y - behind < height)
            add_row(pair, band, y - behind);
        if (y >= behind + BLUR_REACH)
            measure_row(pair, band, y - behind - BLUR_REACH, sums);
    }
    for (uint32_t c = 0; c < pair->channels; c++) {
        const double sum = sums[c][0] + sums[c][1] + (sums[c][2] + sums[c][3]);
        norms[c] = cvvdp_power(sum / ((double)width * height), 0.5);
    }
}

/* Mean luminance of a plane, no sample darker than the darkest background. */
static double mean_luminance(const float *plane, size_t samples)
{
    double sum = 0;
    for (size_t i = 0; i < samples; i++)
        sum += plane[i] < DARKEST ? DARKEST : plane[i];
    return sum / (double)samples;
}

/* The same of the last level: contrast to its own mean, without masking. */
static void measure_base(const Pair *pair, const Level *level, const CvvdpSensitivity *sensitivity,
                         double norms[CVVDP_CHANNELS])
{
    const size_t samples = (size_t)level->width * level->height;
    const double of_d = mean_luminance(level->planes[0], samples);
    const double of_r = mean_luminance(level->planes[CVVDP_REFERENCE], samples);
    for (uint32_t c = 0; c < pair->channels; c++) {
        const float *const distorted = level->planes[c], *const reference = level->planes[CVVDP_REFERENCE + c];
        const double s = cvvdp_sensitivity_at(sensitivity, c, of_r);
        double sum = 0;
        for (size_t i = 0; i < samples; i++) {
            const double d = fmin(distorted[i] / of_d, MOST_CONTRAST), r = fmin(reference[i] / of_r, MOST_CONTRAST);
            const double x = fabs(d - r) * s;
            sum += x * (x + 2 * (double)POWER_START);
        }
        norms[c] = cvvdp_power(sum / (double)samples, 0.5);
    }
}

static int is_valid(const AnyvmafContext *context, const AnyvmafHistory *history, const AnyvmafCvvdpOptions *options)
{
    return context->width >= ANYVMAF_CVVDP_MIN_SIDE && context->height >= ANYVMAF_CVVDP_MIN_SIDE &&
           options->frame_rate >= 0 && options->frame_rate <= CVVDP_MAX_RATE &&
           (options->frame_rate == 0 || history->count > 0) && options->peak > 0 && options->peak <= 10000 &&
           options->contrast > 1 && options->ambient >= 0 && options->reflectivity >= 0 &&
           options->pixels_per_degree > 0;
}

int32_t anyvmaf_cvvdp(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafHistory *history,
                      const AnyvmafCvvdpOptions *options, double *out)
{
    /* What the authors multiply a still by, which is seen for longer than a frame. */
    static const double OF_STILL = 0.577918291091919;
    if (!is_valid(context, history, options))
        return ANYVMAF_EINVAL;
    const int still = options->frame_rate == 0;
    Pair pair = {.context = context, .dsp = &context->dsp->cvvdp, .channels = still ? 3 : 4};
    const uint32_t side = context->width < context->height ? context->width : context->height;
    const uint32_t bands = cvvdp_bands(options->pixels_per_degree, side);
    if (!allocate(context, bands, &pair))
        return ANYVMAF_ENOMEM;
    const int32_t failed = open_clips(context, frames, history, options, &pair);
    if (failed)
        return failed;
    for (uint32_t y = 0; bands == 1 && y < context->height; y++)
        make_row(&pair, y);
    double norms[CVVDP_CHANNELS][CVVDP_MAX_BANDS], of_band[CVVDP_CHANNELS];
    for (uint32_t b = 0; b < bands; b++) {
        /* The picture is level 0, the next 1, then 2, 1 and so on. */
        Band band = {.fine = &pair.levels[b == 0 ? 0 : 2 - b % 2], .coarse = &pair.levels[1 + b % 2]};
        cvvdp_sensitivity(options->pixels_per_degree, b, bands, &band.sensitivity);
        if (b == bands - 1)
            measure_base(&pair, band.fine, &band.sensitivity, of_band);
        else
            measure_band(&pair, &band, of_band);
        for (uint32_t c = 0; c < pair.channels; c++)
            norms[c][b] = of_band[c];
    }
    out[0] = cvvdp_pooled(norms, pair.channels, bands) * (still ? OF_STILL : 1);
    return 0;
}
