/* ssimulacra2_frame.c - SSIMULACRA 2.1 of a pair of pictures. */
#include "ssimulacra2.h"

#include <math.h>
#include <string.h>

#include "context.h"

#define CHANNELS 3
#define SCALES 6

/* Rows that are kept: of channels before a blur, and of exact planes after the horizontal one. */
#define RAW_ROWS (3 * SSIM2_STRIP)
#define BLURRED_ROWS (4 * SSIM2_STRIP)
#define STATE_ROWS 6

/* Of channel, then scale, then norm (1, 4), then map. */
static const double WEIGHTS[CHANNELS * SCALES * SSIM2_SUMS] = {
    0, 0.0007376606707406586, 0, 0, 0.0007793481682867309, 0, 0, 0.0004371155730107379, 0, 1.1041726426657346,
    0.00066284834129271, 0.00015231632783718752, 0, 0.0016406437456599754, 0, 1.8422455520539298, 11.441172603757666,
    0, 0.0007989109436015163, 0.000176816438078653, 0, 1.8787594979546387, 10.94906990605142, 0,
    0.0007289346991508072, 0.9677937080626833, 0, 0.00014003424285435884, 0.9981766977854967, 0.00031949755934435053,
    0.0004550992113792063, 0, 0, 0.0013648766163243398, 0, 0, 0, 0, 0, 7.466890328078848, 0, 17.445833984131262,
    0.0006235601634041466, 0, 0, 6.683678146179332, 0.00037724407979611296, 1.027889937768264, 225.20515300849274, 0,
    0, 19.213238186143016, 0.0011401524586618361, 0.001237755635509985, 176.39317598450694, 0, 0, 24.43300999870476,
    0.28520802612117757, 0.0004485436923833408, 0, 0, 0, 34.77906344483772, 44.835625328877896, 0, 0, 0, 0, 0, 0, 0,
    0, 0.0008680556573291698, 0, 0, 0, 0, 0, 0.0005313191874358747, 0, 0.00016533814161379112, 0, 0, 0, 0, 0,
    0.0004179171803251336, 0.0017290828234722833, 0, 0.0020827005846636437, 0, 0, 8.826982764996862,
    23.19243343998926, 0, 95.1080498811086, 0.9863978034400682, 0.9834382792465353, 0.0012286405048278493,
    171.2667255897307, 0.9807858872435379, 0, 0, 0, 0.0005130064588990679, 0, 0.00010854057858411537,

};

/* One size of both pictures, in linear light, and where the next size goes. */
typedef struct Level {
    uint32_t width, height;
    const float *rgb[2][3];
    float *half[2][3]; /* NULL at the last scale */
} Level;

/* Rings of rows, in which row y has the place y modulo their number of rows. */
typedef struct Work {
    const Ssim2Dsp *dsp;
    int exact;
    uint32_t parts[CHANNELS]; /* Ssim2Parts to measure */
    float *rows;              /* all memory for rows */
    uint32_t row_count;
    size_t stride;                                 /* floats from a row to the next */
    float *raw[CHANNELS][SSIM2_FAST_PLANES];       /* a, b; fast: their squares() too */
    float *blurred[CHANNELS][SSIM2_EXACT_PLANES];  /* exact: blurred horizontally */
    float *state[CHANNELS][SSIM2_EXACT_PLANES];    /* exact: of the vertical recursion */
    float *products, *outputs[SSIM2_EXACT_PLANES]; /* of one strip */
} Work;

/* Takes the planes of a channel through the strip of rows from `first` on and measures the strip before it. */
typedef void MeasureStrip(const Work *work, uint32_t channel, uint32_t first, const Level *level,
                          double sums[SSIM2_SUMS]);

static inline float *row_at(const Work *work, float *ring, int32_t rows, int32_t y)
{
    return ring + (size_t)((y + rows) % rows) * work->stride;
}
static inline float *raw_row(const Work *work, uint32_t channel, uint32_t plane, int32_t y)
{
    return row_at(work, work->raw[channel][plane], RAW_ROWS, y);
}

/* An odd number of cache lines, so that columns do not fall on the same sets. */
static inline size_t row_floats(uint32_t width) { return ((width + SSIM2_LEFT + SSIM2_RIGHT + 15) & ~(size_t)15) | 16; }

static uint32_t rows_needed(int exact)
{
    const uint32_t fast_rows = CHANNELS * SSIM2_FAST_PLANES * RAW_ROWS + SSIM2_FAST_PLANES * SSIM2_STRIP;
    const uint32_t exact_rows = CHANNELS * (2 * RAW_ROWS + SSIM2_EXACT_PLANES * (BLURRED_ROWS + STATE_ROWS)) +
                                (1 + SSIM2_EXACT_PLANES) * SSIM2_STRIP;
    return exact ? exact_rows : fast_rows;
}

static float *take_rows(const Work *work, float **next, uint32_t rows)
{
    float *first = *next + SSIM2_LEFT;
    *next += rows * work->stride;
    return first;
}

/* Divides the memory for rows of this width, all zero. */
static void lay_out(Work *work, uint32_t width)
{
    const int exact = work->exact;
    work->stride = row_floats(width);
    memset(work->rows, 0, work->row_count * work->stride * sizeof *work->rows);
    float *next = work->rows;
    for (uint32_t c = 0; c < CHANNELS; c++) {
        for (uint32_t p = 0; p < (exact ? 2 : SSIM2_FAST_PLANES); p++)
            work->raw[c][p] = take_rows(work, &next, RAW_ROWS);
        for (uint32_t p = 0; exact && p < SSIM2_EXACT_PLANES; p++) {
            work->blurred[c][p] = take_rows(work, &next, BLURRED_ROWS);
            work->state[c][p] = take_rows(work, &next, STATE_ROWS);
        }
    }
    if (exact)
        work->products = take_rows(work, &next, SSIM2_STRIP);
    for (uint32_t p = 0; p < (exact ? SSIM2_EXACT_PLANES : SSIM2_FAST_PLANES); p++)
        work->outputs[p] = take_rows(work, &next, SSIM2_STRIP);
}

/* Four rows of XYB, zero below the picture, and the rows of the next scale that are made of the same. */
static void fill_strip(const Work *work, const Level *level, uint32_t first)
{
    const uint32_t width = level->width, height = level->height;
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t y = first; y < first + SSIM2_STRIP; y++) {
            float *xyb[CHANNELS];
            for (uint32_t c = 0; c < CHANNELS; c++)
                xyb[c] = raw_row(work, c, side, (int32_t)y);
            const size_t at = (size_t)y * width, below = y + 1 < height ? at + width : at;
            if (y < height) {
                const float *const rgb[3] = {level->rgb[side][0] + at, level->rgb[side][1] + at,
                                             level->rgb[side][2] + at};
                (work->exact ? work->dsp->exact_xyb : work->dsp->xyb)(rgb, width, xyb);
            }
            for (uint32_t c = 0; c < CHANNELS; c++) {
                const uint32_t inside = y < height ? width : 0;
                memset(xyb[c] + inside, 0, (width - inside + 4) * sizeof *xyb[c]);
            }
            if (y < height && y % 2 == 0 && level->half[side][0])
                for (uint32_t c = 0; c < 3; c++) {
                    const float *plane = level->rgb[side][c];
                    work->dsp->halve(plane + at, plane + below, width,
                                     level->half[side][c] + (size_t)(y / 2) * ((width + 1) / 2));
                }
        }
}

static void fast_strip(const Work *work, uint32_t channel, uint32_t first, const Level *level, double sums[SSIM2_SUMS])
{
    const uint32_t parts = work->parts[channel], width = level->width;
    const uint32_t planes = parts & SSIM2_SSIM ? SSIM2_FAST_PLANES : 2;
    if (parts & SSIM2_SSIM)
        for (int32_t y = (int32_t)first; y < (int32_t)first + SSIM2_STRIP; y++)
            work->dsp->squares(raw_row(work, channel, 0, y), raw_row(work, channel, 1, y), width,
                               raw_row(work, channel, 2, y), raw_row(work, channel, 3, y));
    if (first == 0)
        return;
    const int32_t top = (int32_t)first - SSIM2_STRIP;
    for (uint32_t p = 0; p < planes; p++) {
        const float *rows[SSIM2_STRIP + 2 * SSIM2_REACH];
        for (int32_t k = 0; k < SSIM2_STRIP + 2 * SSIM2_REACH; k++)
            rows[k] = raw_row(work, channel, p, top - SSIM2_REACH + k);
        float *dst[SSIM2_STRIP];
        for (uint32_t i = 0; i < SSIM2_STRIP; i++)
            dst[i] = work->outputs[p] + i * work->stride;
        work->dsp->columns(rows, width, dst);
    }
    for (uint32_t i = 0; i < SSIM2_STRIP && (uint32_t)top + i < level->height; i++) {
        const int32_t y = top + (int32_t)i;
        const float *const ab[2] = {raw_row(work, channel, 0, y), raw_row(work, channel, 1, y)};
        const float *blurred[SSIM2_FAST_PLANES];
        for (uint32_t p = 0; p < SSIM2_FAST_PLANES; p++)
            blurred[p] = work->outputs[p] + i * work->stride;
        work->dsp->terms(blurred, ab, width, parts, sums);
    }
}

/* A plane of a strip before any blur: a, b, a*a, b*b or a*b. The next product takes this one's memory. */
static void exact_plane(const Work *work, uint32_t channel, uint32_t plane, int32_t first, uint32_t width,
                        const float *src[SSIM2_STRIP])
{
    static const uint8_t FACTORS[SSIM2_EXACT_PLANES][2] = {{0, 0}, {0, 0}, {0, 0}, {1, 1}, {0, 1}};
    for (int32_t i = 0; i < SSIM2_STRIP; i++) {
        if (plane < 2) {
            src[i] = raw_row(work, channel, plane, first + i);
            continue;
        }
        float *product = work->products + (size_t)i * work->stride;
        work->dsp->products(raw_row(work, channel, FACTORS[plane][0], first + i),
                            raw_row(work, channel, FACTORS[plane][1], first + i), width, product);
        src[i] = product;
    }
}

static void exact_strip(const Work *work, uint32_t channel, uint32_t first, const Level *level,
                        double sums[SSIM2_SUMS])
{
    const uint32_t parts = work->parts[channel], width = level->width;
    const uint32_t planes = parts & SSIM2_SSIM ? SSIM2_EXACT_PLANES : 2;
    const int32_t top = (int32_t)first - SSIM2_STRIP;
    for (uint32_t p = 0; p < planes; p++) {
        const float *src[SSIM2_STRIP], *above[SSIM2_STRIP];
        float *below[SSIM2_STRIP], *dst[SSIM2_STRIP], *state[STATE_ROWS];
        exact_plane(work, channel, p, (int32_t)first, width, src);
        for (int32_t i = 0; i < SSIM2_STRIP; i++) {
            above[i] = row_at(work, work->blurred[channel][p], BLURRED_ROWS, top + i - SSIM2_REACH - 2);
            below[i] = row_at(work, work->blurred[channel][p], BLURRED_ROWS, top + i + SSIM2_REACH);
            dst[i] = work->outputs[p] + (size_t)i * work->stride;
        }
        for (uint32_t k = 0; k < STATE_ROWS; k++)
            state[k] = work->state[channel][p] + k * work->stride;
        work->dsp->exact_rows(src, width, below);
        const float *const below_const[SSIM2_STRIP] = {below[0], below[1], below[2], below[3]};
        work->dsp->exact_columns(above, below_const, width, state, dst);
    }
    for (uint32_t i = 0; first > 0 && i < SSIM2_STRIP && (uint32_t)top + i < level->height; i++) {
        const int32_t y = top + (int32_t)i;
        const float *const ab[2] = {raw_row(work, channel, 0, y), raw_row(work, channel, 1, y)};
        const float *blurred[SSIM2_EXACT_PLANES];
        for (uint32_t p = 0; p < SSIM2_EXACT_PLANES; p++)
            blurred[p] = work->outputs[p] + i * work->stride;
        work->dsp->exact_terms(blurred, ab, width, parts, sums);
    }
}

/* Sums of all maps with a weight at one scale. The strip below the last is empty and flushes the one before it. */
static void measure_level(Work *work, const Level *level, double sums[CHANNELS][SSIM2_SUMS])
{
    MeasureStrip *const measure = work->exact ? exact_strip : fast_strip;
    lay_out(work, level->width);
    for (uint32_t first = 0; first < level->height + SSIM2_STRIP; first += SSIM2_STRIP) {
        fill_strip(work, level, first);
        for (uint32_t c = 0; c < CHANNELS; c++)
            if (work->parts[c])
                measure(work, c, first, level, sums[c]);
    }
}

/*
 * Scales of a picture: one, and one more while neither side is shorter than 8. Weights are taken one after the other,
 * so with fewer scales than six they belong to other maps, as in the reference. Its program refuses pictures below 8x8,
 * and its function would give any pair of them 100; here they are measured at one scale.
 */
static uint32_t scales_of(uint32_t width, uint32_t height)
{
    uint32_t scales = 1;
    for (; scales < SCALES && width >= 8 && height >= 8; scales++) {
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    return scales;
}

static const double *weights_of(uint32_t channel, uint32_t scale, uint32_t scales)
{
    return WEIGHTS + (size_t)(channel * scales + scale) * SSIM2_SUMS;
}

static uint32_t parts_of(const double *weights)
{
    uint32_t parts = 0;
    for (uint32_t k = 0; k < SSIM2_SUMS; k++)
        if (weights[k] > 0)
            parts |= k == SSIM2_ERROR || k == SSIM2_ERROR4 ? SSIM2_SSIM : SSIM2_EDGES;
    return parts;
}

/* Weighted norms of all maps, then the fit to opinion scores. */
static double score_of(double sums[SCALES][CHANNELS][SSIM2_SUMS], const double *pixels, uint32_t scales)
{
    double total = 0;
    for (uint32_t c = 0; c < CHANNELS; c++)
        for (uint32_t s = 0; s < scales; s++)
            for (uint32_t k = 0; k < SSIM2_SUMS; k++) {
                const double mean = 1 / pixels[s] * sums[s][c][k];
                total += weights_of(c, s, scales)[k] * (k < SSIM2_ERROR4 ? mean : sqrt(sqrt(mean)));
            }
    total *= 0.9562382616834844;
    total = 2.326765642916932 * total - 0.020884521182843837 * total * total +
            6.248496625763138e-05 * total * total * total;
    return total > 0 ? 100 - 10 * pow(total, 0.6276336467831387) : 100;
}

/* The planes of the next scale, which take turns in two sets of planes. */
static void halve_into(Level *level, uint8_t *memory, size_t plane_bytes)
{
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t p = 0; p < 3; p++)
            level->half[side][p] = core_cut(&memory, plane_bytes);
}

static size_t halved_bytes(uint32_t width, uint32_t height, uint32_t times)
{
    for (; times; times--) {
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    return float_plane_bytes((size_t)width * height);
}

static int32_t score_on(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafSsimulacra2Options *options,
                        float background, double *out)
{
    const LinearPicture *pictures[2];
    const int32_t failed = linear_pair(context, frames, &options->colours, background, &pictures[0], &pictures[1]);
    if (failed)
        return failed;
    Level level = {.width = pictures[0]->width, .height = pictures[0]->height};
    for (uint32_t side = 0; side < 2; side++)
        memcpy(level.rgb[side], pictures[side]->planes, sizeof level.rgb[side]);
    const int exact = options->exact != 0;
    const uint32_t scales = scales_of(level.width, level.height), row_count = rows_needed(exact);
    const size_t row_bytes = row_count * row_floats(level.width) * sizeof(float);
    const size_t sizes[2] = {halved_bytes(level.width, level.height, 1), halved_bytes(level.width, level.height, 2)};
    const size_t sets[2] = {6 * area_bytes(sizes[0]), 6 * area_bytes(sizes[1])};
    uint8_t *memory = context_scratch(context, area_bytes(row_bytes) + sets[0] + sets[1]);
    if (!memory)
        return ANYVMAF_ENOMEM;
    Work work = {.dsp = &context->dsp->ssimulacra2, .exact = exact, .row_count = row_count};
    work.rows = core_cut(&memory, row_bytes);
    double sums[SCALES][CHANNELS][SSIM2_SUMS] = {{{0}}}, pixels[SCALES];
    for (uint32_t s = 0; s < scales; s++) {
        for (uint32_t c = 0; c < CHANNELS; c++)
            work.parts[c] = parts_of(weights_of(c, s, scales));
        memset(level.half, 0, sizeof level.half);
        if (s + 1 < scales)
            halve_into(&level, memory + (s % 2 ? sets[0] : 0), sizes[s % 2]);
        measure_level(&work, &level, sums[s]);
        pixels[s] = (double)level.width * level.height;
        memcpy(level.rgb, level.half, sizeof level.rgb);
        level.width = (level.width + 1) / 2;
        level.height = (level.height + 1) / 2;
    }
    *out = score_of(sums, pixels, scales);
    return 0;
}

int32_t anyvmaf_ssimulacra2(AnyvmafContext *context, const AnyvmafFrames *frames,
                            const AnyvmafSsimulacra2Options *options, double *out)
{
    if (!has_alpha(context, frames))
        return score_on(context, frames, options, OPAQUE_BACKGROUND, out);
    if (options->opaque_reference)
        return score_on(context, frames, options, 0.5F, out);
    double dark, bright;
    int32_t failed = score_on(context, frames, options, 0.1F, &dark);
    if (!failed)
        failed = score_on(context, frames, options, 0.9F, &bright);
    if (!failed)
        *out = bright < dark ? bright : dark;
    return failed;
}
