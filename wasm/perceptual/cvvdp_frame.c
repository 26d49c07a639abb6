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

typedef struct Level {
    uint32_t width, height;
    float *planes[CVVDP_PLANES];
} Level;

/* Rows of one call, as wide as the picture. */
typedef struct Rows {
    float *line; /* between the passes of a filter */
    float *coarse[CVVDP_PLANES];
    float *common[CVVDP_CHANNELS], *mask[CVVDP_CHANNELS];
    float *blurred[BLUR_TAPS][CVVDP_CHANNELS];         /* by row % 13 */
    float *difference[BLUR_REACH + 1][CVVDP_CHANNELS]; /* by row % 7 */
} Rows;

typedef struct Pair {
    const CvvdpDsp *dsp;
    uint32_t channels;
    Level levels[2]; /* the one that is measured and the next */
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

/* Divides scratch memory; of planes that do not exist it has none. */
static int allocate(AnyvmafContext *context, Pair *pair)
{
    const uint32_t width = context->width, height = context->height;
    const size_t bytes[2] = {float_plane_bytes((size_t)width * height),
                             float_plane_bytes((size_t)((width + 1) / 2) * ((height + 1) / 2))};
    const uint32_t rows = sizeof(Rows) / sizeof(float *);
    uint8_t *next = context_scratch(context, 2 * pair->channels * (area_bytes(bytes[0]) + area_bytes(bytes[1])) +
                                                 rows * area_bytes(row_bytes(width)));
    if (!next)
        return 0;
    for (uint32_t l = 0; l < 2; l++)
        for (uint32_t p = 0; p < CVVDP_PLANES; p++)
            pair->levels[l].planes[p] = holds(pair, p) ? core_cut(&next, bytes[l]) : NULL;
    pair->levels[0].width = width;
    pair->levels[0].height = height;
    Rows *const r = &pair->rows;
    cut_rows(&next, width, 1, &r->line);
    cut_rows(&next, width, CVVDP_PLANES, r->coarse);
    cut_rows(&next, width, CVVDP_CHANNELS, r->common);
    cut_rows(&next, width, CVVDP_CHANNELS, r->mask);
    for (uint32_t i = 0; i < BLUR_TAPS; i++)
        cut_rows(&next, width, CVVDP_CHANNELS, r->blurred[i]);
    for (uint32_t i = 0; i <= BLUR_REACH; i++)
        cut_rows(&next, width, CVVDP_CHANNELS, r->difference[i]);
    return 1;
}

/* Pictures of one video, newest first, and their weights. */
typedef struct Clip {
    const AnyvmafPicture *pictures;
    uint32_t count, taps;
    float (*weights)[CVVDP_CHANNELS];
} Clip;

/* Makes the channels of a side: each picture becomes light, one after another, and is added with its weights. */
static int32_t filter_clip(AnyvmafContext *context, Pair *pair, uint32_t side, const Clip *clip,
                           const AnyvmafColour *colour, const CvvdpLight *light)
{
    const size_t samples = (size_t)context->width * context->height;
    float *const *const planes = pair->levels[0].planes + (side == 0 ? CVVDP_REFERENCE : 0);
    for (uint32_t c = 0; c < pair->channels; c++)
        memset(planes[c], 0, samples * sizeof(float));
    /* Earlier pictures of both sides share the memory of one. */
    LinearPicture *const linear = &context->linear[clip->taps == 1 ? side : 1];
    for (uint32_t i = clip->count; i-- > 0;) {
        float weights[CVVDP_CHANNELS];
        memcpy(weights, clip->weights[i], sizeof weights);
        /* Before a clip its first frame is shown. */
        for (uint32_t k = clip->count; i == clip->count - 1 && k < clip->taps; k++)
            for (uint32_t c = 0; c < CVVDP_CHANNELS; c++)
                weights[c] += clip->weights[k][c];
        const int32_t failed = linear_of(context, &clip->pictures[i], colour, OPAQUE_BACKGROUND, linear);
        if (failed)
            return failed;
        if (linear->width != context->width || linear->height != context->height)
            return ANYVMAF_EINVAL;
        const float *const rgb[3] = {linear->planes[0], linear->planes[1], linear->planes[2]};
        pair->dsp->light(rgb, samples, light, weights, pair->channels, planes);
    }
    return 0;
}

static int32_t make_channels(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafHistory *history,
                             const AnyvmafCvvdpOptions *options, Pair *pair)
{
    float weights[CVVDP_MAX_TAPS][CVVDP_CHANNELS] = {{1, 1, 1, 0}};
    const int still = options->frame_rate == 0;
    const uint32_t taps = still ? 1 : cvvdp_temporal(options->frame_rate, weights);
    const uint32_t count = still ? 1 : history->count < taps ? history->count : taps;
    for (uint32_t side = 0; side < 2; side++) {
        const AnyvmafPicture *const now = side == 0 ? &frames->reference : &frames->distorted;
        const AnyvmafPicture *const before = still ? now : side == 0 ? history->reference : history->distorted;
        const AnyvmafColour *const colour = side == 0 ? &options->colours.reference : &options->colours.distorted;
        CvvdpLight light;
        cvvdp_display(options, colour, &light);
        const Clip clip = {before, count, taps, weights};
        const int32_t failed = filter_clip(context, pair, side, &clip, colour, &light);
        if (failed)
            return failed;
    }
    return 0;
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

/* Makes the next level: half the size, rounded up. */
static void reduce(const Pair *pair, const Level *from, Level *to)
{
    const uint32_t width = from->width, height = from->height;
    to->width = (width + 1) / 2;
    to->height = (height + 1) / 2;
    float *const line = pair->rows.line;
    for (uint32_t p = 0; p < CVVDP_PLANES; p++) {
        if (!holds(pair, p))
            continue;
        for (uint32_t y = 0; y < to->height; y++) {
            const float *rows[5];
            for (uint32_t k = 0; k < 5; k++)
                rows[k] = from->planes[p] + (size_t)repeat_edge((int32_t)(2 * y + k) - 2, height) * width;
            pair->dsp->reduce_rows(rows, width, line);
            line[-1] = line[0];
            line[-2] = line[1];
            extend_right(line, width, height);
            pair->dsp->reduce_columns(line, to->width, to->planes[p] + (size_t)y * to->width);
        }
    }
}

/* Row y of the level before `level`, of what is left in it. */
static void expand_row(const Pair *pair, const Level *level, uint32_t plane, uint32_t y, float *out)
{
    static const float EVEN[3] = {0.1F, 0.8F, 0.1F}, ODD[3] = {0, 0.5F, 0.5F};
    const uint32_t width = level->width, row = y / 2;
    const float *const here = level->planes[plane] + (size_t)row * width;
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
    const Level *fine, *coarse;
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
        fine[p] = band->fine->planes[p] + (size_t)y * width;
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

/* Norms over space of the channels in a band with another below it. */
static void measure_band(const Pair *pair, Band *band, double norms[CVVDP_CHANNELS])
{
    const uint32_t width = band->fine->width, height = band->fine->height;
    band->blurred = width > BLUR_REACH && height > BLUR_REACH;
    cvvdp_blur(band->blurred, 1, &band->columns);
    cvvdp_blur(band->blurred, MASK_FACTOR, &band->rows);
    double sums[CVVDP_CHANNELS][4] = {{0}};
    for (uint32_t y = 0; y < height + BLUR_REACH; y++) {
        if (y < height)
            add_row(pair, band, y);
        if (y >= BLUR_REACH)
            measure_row(pair, band, y - BLUR_REACH, sums);
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
    Pair pair = {.dsp = &context->dsp->cvvdp, .channels = still ? 3 : 4};
    if (!allocate(context, &pair))
        return ANYVMAF_ENOMEM;
    const int32_t failed = make_channels(context, frames, history, options, &pair);
    if (failed)
        return failed;
    const uint32_t side = context->width < context->height ? context->width : context->height;
    const uint32_t bands = cvvdp_bands(options->pixels_per_degree, side);
    double norms[CVVDP_CHANNELS][CVVDP_MAX_BANDS], of_band[CVVDP_CHANNELS];
    for (uint32_t b = 0; b < bands; b++) {
        Level *const fine = &pair.levels[b % 2], *const coarse = &pair.levels[1 - b % 2];
        Band band = {.fine = fine, .coarse = coarse};
        cvvdp_sensitivity(options->pixels_per_degree, b, bands, &band.sensitivity);
        if (b == bands - 1) {
            measure_base(&pair, fine, &band.sensitivity, of_band);
        } else {
            reduce(&pair, fine, coarse);
            measure_band(&pair, &band, of_band);
        }
        for (uint32_t c = 0; c < pair.channels; c++)
            norms[c][b] = of_band[c];
    }
    out[0] = cvvdp_pooled(norms, pair.channels, bands) * (still ? OF_STILL : 1);
    return 0;
}
