/* colour_frame.c - pictures in linear light: the rows of a picture go through the functions of colour.h. */
#include <string.h>

#include "colour.h"
#include "context.h"

/* Samples before and after a row of chroma, for its mirror image and for vectors. */
#define BEFORE 4
#define AFTER 12

/* Catmull-Rom, tent and box, at quarters (sited between luma samples) and at halves (sited on the even ones). */
static const ChromaTaps chroma_taps[3][2] = {
    [ANYVMAF_CHROMA_BICUBIC] = {{{{-3 / 128.0F, 29 / 128.0F, 111 / 128.0F, -9 / 128.0F},
                                  {-9 / 128.0F, 111 / 128.0F, 29 / 128.0F, -3 / 128.0F}}},
                                {{{0, 0, 1, 0}, {-1 / 16.0F, 9 / 16.0F, 9 / 16.0F, -1 / 16.0F}}}},
    [ANYVMAF_CHROMA_BILINEAR] = {{{{0, 0.25F, 0.75F, 0}, {0, 0.75F, 0.25F, 0}}}, {{{0, 0, 1, 0}, {0, 0.5F, 0.5F, 0}}}},
    /* The sample that covers a pixel, wherever it is sited: at halves two are as near. */
    [ANYVMAF_CHROMA_NEAREST] = {{{{0, 0, 1, 0}, {0, 1, 0, 0}}}, {{{0, 0, 1, 0}, {0, 1, 0, 0}}}},
};

/* A chroma plane. */
typedef struct ChromaPlane {
    const uint8_t *samples;
    float *narrow; /* a row as it is stored, with BEFORE and AFTER */
    float *wide;   /* the row at the width of luma */
} ChromaPlane;

/* How luma and chroma of a picture become R'G'B'. */
typedef struct Conversion {
    uint32_t bit_depth, width, chroma_width, chroma_height;
    size_t sample_bytes;
    int halved_across, halved_down;
    const ChromaTaps *across, *down;
    float middle; /* the sample of no colour */
    ColourMatrix matrix;
    ChromaPlane chroma[2]; /* Cb and Cr */
} Conversion;

/* What shows where a picture is not opaque. */
typedef struct Backdrop {
    const uint8_t *alpha; /* samples; NULL if the picture is taken as opaque */
    float background;
    float *row; /* alpha of a row */
} Backdrop;

/* Black and what multiplies (sample - black) of G, B, R and luma. */
static void luma_levels(const AnyvmafColour *colour, uint32_t bit_depth, float *black, float *gain)
{
    const uint32_t unit = 1U << (bit_depth - 8);
    *black = colour->full_range ? 0 : (float)(16 * unit);
    *gain = 1 / (float)(colour->full_range ? 256 * unit - 1 : 219 * unit);
}

/* ITU-T H.273, equations for matrix coefficients, solved for R'G'B'; samples of chroma are taken less their middle. */
static ColourMatrix matrix_of(const AnyvmafColour *colour, uint32_t bit_depth)
{
    static const double weights[][2] = {/* of red and blue */
                                        [ANYVMAF_BT709] = {0.2126, 0.0722},
                                        [ANYVMAF_BT601] = {0.299, 0.114},
                                        [ANYVMAF_BT2020] = {0.2627, 0.0593},
                                        [ANYVMAF_SMPTE240M] = {0.212, 0.087},
                                        [ANYVMAF_FCC] = {0.3, 0.11},
                                        [ANYVMAF_YCGCO] = {0.25, 0.25},
                                        /* G is Y', and R and B are 2 Cr and 2 Cb more. */
                                        [ANYVMAF_BT2020_CL] = {0, 0},
                                        /* I is half of L and half of M, which are R and G. */
                                        [ANYVMAF_ICTCP] = {0.5, 0}};
    const double kr = weights[(uint32_t)colour->matrix][0], kb = weights[(uint32_t)colour->matrix][1];
    const double kg = 1 - kr - kb, unit = 1U << (bit_depth - 8);
    /* H.273 makes Cg and Co of quantised R, G and B, so that they have the scale of luma. */
    const double limited = colour->matrix == ANYVMAF_YCGCO ? 219 : 224;
    const double chroma = 1 / (colour->full_range ? 256 * unit - 1 : limited * unit);
    ColourMatrix matrix = {
        .red = (float)(2 * (1 - kr) * chroma),
        .green_cb = (float)(-2 * kb * (1 - kb) / kg * chroma),
        .green_cr = (float)(-2 * kr * (1 - kr) / kg * chroma),
        .blue = (float)(2 * (1 - kb) * chroma),
    };
    luma_levels(colour, bit_depth, &matrix.black, &matrix.gain);
    return matrix;
}

static int is_choice(double value, uint32_t choices)
{
    return value >= 0 && value < choices && value == (uint32_t)value;
}

static int is_colour(const AnyvmafColour *colour)
{
    const int hdr = colour->transfer == ANYVMAF_PQ || colour->transfer == ANYVMAF_HLG;
    if (colour->matrix == (hdr ? ANYVMAF_BT2020_CL : ANYVMAF_ICTCP))
        return 0;
    return is_choice(colour->matrix, ANYVMAF_ICTCP + 1) && is_choice(colour->transfer, ANYVMAF_HLG + 1) &&
           is_choice(colour->siting, ANYVMAF_TOP_LEFT + 1) &&
           is_choice(colour->upsampling, ANYVMAF_CHROMA_NEAREST + 1) &&
           is_choice(colour->primaries, ANYVMAF_PRIMARIES_SMPTE170M + 1);
}

/* No chroma, or none of its samples: a single column or row of 4:2:0. */
static int is_grey(const AnyvmafPlane planes[3])
{
    return !planes[1].samples || !planes[1].width || !planes[1].height;
}

/* Whether chroma has the size of luma, or half of it rounded down, along both axes. */
static int is_subsampling(const AnyvmafPlane planes[3])
{
    const AnyvmafPlane *y = &planes[0], *u = &planes[1], *v = &planes[2];
    return v->samples && u->width == v->width && u->height == v->height &&
           (u->width == y->width || u->width == y->width / 2) && (u->height == y->height || u->height == y->height / 2);
}

/* Place i of n, mirrored at the edges; clamped where a plane is too small for its mirror image. */
static uint32_t mirrored(int32_t i, int32_t n)
{
    i = i < 0 ? -1 - i : i;
    i = i < n ? i : 2 * n - 1 - i;
    return (uint32_t)(i < 0 ? 0 : i < n ? i : n - 1);
}

/* Row y of a chroma plane at the height of luma. */
static void narrow_row(const AnyvmafContext *context, const Conversion *as, const ChromaPlane *chroma, uint32_t y)
{
    const size_t stride = as->chroma_width * as->sample_bytes;
    float *const row = chroma->narrow + BEFORE;
    if (as->halved_down) {
        const void *rows[CHROMA_TAPS];
        const int32_t first = (int32_t)(y / 2 + (y & 1)) - 2;
        for (int32_t k = 0; k < CHROMA_TAPS; k++)
            rows[k] = chroma->samples + mirrored(first + k, (int32_t)as->chroma_height) * stride;
        context->dsp->colour.blend_rows(rows, as->bit_depth, as->chroma_width, as->down->phase[y & 1], as->middle, row);
    } else {
        const StoredRow stored = {chroma->samples + y * stride, as->bit_depth};
        context->dsp->colour.scale(stored, as->chroma_width, as->middle, 1, row);
    }
}

/* Row y of a chroma plane at the size of luma. */
static float *chroma_row(const AnyvmafContext *context, const Conversion *as, const ChromaPlane *chroma,
                               uint32_t y)
{
    narrow_row(context, as, chroma, y);
    float *const row = chroma->narrow + BEFORE;
    if (!as->halved_across)
        return row;
    const int32_t n = (int32_t)as->chroma_width;
    for (int32_t i = 1; i < CHROMA_TAPS; i++) {
        row[-i] = row[mirrored(-i, n)];
        row[n + i - 1] = row[mirrored(n + i - 1, n)];
    }
    context->dsp->colour.blend_columns(row, as->width, as->across, chroma->wide);
    return chroma->wide;
}

/* What chroma of other kinds is as Cb and Cr by the weights of matrix_of(), as two rows of factors. */
static const float (*chroma_factors(const AnyvmafColour *colour))[2]
{
    /* Luma is half green and a quarter red and blue: B' - Y' = -Cg - Co, R' - Y' = Co - Cg. */
    static const float ycgco[2][2] = {{-2 / 3.0F, -2 / 3.0F}, {-2 / 3.0F, 2 / 3.0F}};
    /* The inverses of BT.2100's matrices: half of what S is more than I, and what L is. */
    static const float pq[2][2] = {{0.28001567F, -0.16031359F}, {0.0086090370F, 0.11102963F}};
    static const float hlg[2][2] = {{0.51063554F, -0.30263725F}, {0.015718581F, 0.20958107F}};
    return colour->matrix == ANYVMAF_YCGCO ? ycgco : colour->transfer == ANYVMAF_PQ ? pq : hlg;
}

/* Chroma of other kinds as Cb and Cr, in place. */
static void usual_chroma(const AnyvmafColour *colour, float *cb, float *cr, size_t n)
{
    if (colour->matrix == ANYVMAF_BT2020_CL) {
        /* H.273's P and N of both, by the camera's curve. */
        for (size_t i = 0; i < n; i++) {
            cb[i] *= cb[i] > 0 ? 0.79098542F : 0.97017165F;
            cr[i] *= cr[i] > 0 ? 0.4969148F : 0.85912099F;
        }
    } else if (colour->matrix >= ANYVMAF_YCGCO) {
        const float(*const by)[2] = chroma_factors(colour);
        for (size_t i = 0; i < n; i++) {
            const float u = cb[i], v = cr[i];
            cb[i] = u * by[0][0] + v * by[0][1];
            cr[i] = u * by[1][0] + v * by[1][1];
        }
    }
}

/* Multiplies n colours by a matrix, in place. */
static void multiply(const float rows[3][3], float *const rgb[3], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float r = rgb[0][i], g = rgb[1][i], b = rgb[2][i];
        for (uint32_t p = 0; p < 3; p++)
            rgb[p][i] = rows[p][0] * r + rows[p][1] * g + rows[p][2] * b;
    }
}

static Backdrop backdrop_of(const AnyvmafPicture *picture, float background, float *row)
{
    const uint8_t *alpha = background < 0 ? NULL : picture->planes[3].samples;
    return (Backdrop){alpha, background, row};
}

/* Light of a row of R', G' or B' that begins with sample `at` of the picture. */
static void finish_row(const AnyvmafContext *context, const Backdrop *backdrop, size_t at, size_t n, uint32_t transfer,
                       float *values)
{
    const ColourDsp *dsp = &context->dsp->colour;
    const uint32_t bit_depth = context->bit_depth;
    if (backdrop->alpha) {
        const StoredRow alpha = {backdrop->alpha + at * (bit_depth > 8 ? 2 : 1), bit_depth};
        dsp->scale(alpha, n, 0, 1 / (float)((1U << bit_depth) - 1), backdrop->row);
        dsp->blend_alpha(values, backdrop->row, n, backdrop->background);
    }
    dsp->linearise(values, n, transfer);
}

/* The inverse of BT.2100's cones of BT.2020's primaries. */
static const float rgb_of_lms[3][3] = {{3.4366067F, -2.5064521F, 0.069845424F},
                                       {-0.79132956F, 1.9836005F, -0.1922709F},
                                       {-0.0259499F, -0.098913715F, 1.1248636F}};

static int32_t convert_chroma(AnyvmafContext *context, const AnyvmafPicture *picture, const AnyvmafColour *colour,
                              float background, LinearPicture *into)
{
    const AnyvmafPlane *luma = &picture->planes[0], *cb = &picture->planes[1];
    const uint32_t siting = (uint32_t)colour->siting, bit_depth = context->bit_depth;
    const ChromaTaps *taps = chroma_taps[(uint32_t)colour->upsampling];
    Conversion as = {
        .bit_depth = bit_depth, .width = luma->width, .chroma_width = cb->width, .chroma_height = cb->height,
        .sample_bytes = bit_depth > 8 ? 2 : 1,
        .halved_across = cb->width < luma->width, .halved_down = cb->height < luma->height,
        .across = &taps[siting != ANYVMAF_CENTRE], .down = &taps[siting == ANYVMAF_TOP_LEFT],
        .middle = (float)(128U << (bit_depth - 8)),
        .matrix = matrix_of(colour, bit_depth),
    };
    const size_t narrow = float_plane_bytes(BEFORE + as.chroma_width + AFTER), wide = float_plane_bytes(as.width);
    uint8_t *memory = context_slot(context, SLOT_COLOUR, 2 * area_bytes(narrow) + 3 * area_bytes(wide));
    if (!memory)
        return ANYVMAF_ENOMEM;
    for (uint32_t i = 0; i < 2; i++) {
        float *const stored = core_cut(&memory, narrow);
        as.chroma[i] = (ChromaPlane){picture->planes[1 + i].samples, stored, core_cut(&memory, wide)};
    }
    const Backdrop backdrop = backdrop_of(picture, background, core_cut(&memory, wide));
    for (uint32_t y = 0; y < luma->height; y++) {
        const size_t at = (size_t)y * as.width;
        const StoredRow stored = {(const uint8_t *)luma->samples + at * as.sample_bytes, bit_depth};
        float *u = chroma_row(context, &as, &as.chroma[0], y), *v = chroma_row(context, &as, &as.chroma[1], y);
        usual_chroma(colour, u, v, as.width);
        float *const rgb[3] = {into->planes[0] + at, into->planes[1] + at, into->planes[2] + at};
        context->dsp->colour.to_rgb(stored, u, v, as.width, &as.matrix, rgb);
        if (colour->matrix == ANYVMAF_BT2020_CL)
            solve_green(rgb, as.width);
        for (uint32_t p = 0; p < 3; p++)
            finish_row(context, &backdrop, at, as.width, (uint32_t)colour->transfer, rgb[p]);
        if (colour->matrix == ANYVMAF_ICTCP)
            multiply(rgb_of_lms, rgb, as.width);
    }
    return 0;
}

/* Light of a plane whose samples are R', G' or B' by themselves. */
static void convert_plane(const AnyvmafContext *context, const AnyvmafPlane *plane, const AnyvmafColour *colour,
                          const Backdrop *backdrop, float *out)
{
    const ColourDsp *dsp = &context->dsp->colour;
    const uint32_t transfer = (uint32_t)colour->transfer, width = plane->width, bit_depth = context->bit_depth;
    const size_t samples = (size_t)width * plane->height;
    float black, gain;
    luma_levels(colour, bit_depth, &black, &gain);
    if (bit_depth > 8 || backdrop->alpha) {
        for (size_t at = 0; at < samples; at += width) {
            const StoredRow row = {(const uint8_t *)plane->samples + at * (bit_depth > 8 ? 2 : 1), bit_depth};
            dsp->scale(row, width, black, gain, out + at);
            finish_row(context, backdrop, at, width, transfer, out + at);
        }
        return;
    }
    uint8_t codes[256];
    float light[256];
    for (uint32_t i = 0; i < 256; i++)
        codes[i] = (uint8_t)i;
    dsp->scale((StoredRow){codes, 8}, 256, black, gain, light);
    dsp->linearise(light, 256, transfer);
    const uint8_t *stored = plane->samples;
    for (size_t i = 0; i < samples; i++)
        out[i] = light[stored[i]];
}

static int32_t convert(AnyvmafContext *context, const AnyvmafPicture *picture, const AnyvmafColour *colour,
                       float background, LinearPicture *into)
{
    const AnyvmafPlane *planes = picture->planes;
    const int grey = is_grey(planes);
    if (!grey && colour->matrix != ANYVMAF_GBR)
        return convert_chroma(context, picture, colour, background, into);
    uint8_t *row = context_slot(context, SLOT_COLOUR, area_bytes(float_plane_bytes(into->width)));
    if (!row)
        return ANYVMAF_ENOMEM;
    const Backdrop backdrop = backdrop_of(picture, background, core_cut(&row, float_plane_bytes(into->width)));
    if (!grey) {
        for (uint32_t p = 0; p < 3; p++)
            convert_plane(context, &planes[p], colour, &backdrop, into->planes[(p + 1) % 3]);
        return 0;
    }
    convert_plane(context, &planes[0], colour, &backdrop, into->planes[0]);
    const size_t bytes = (size_t)into->width * into->height * sizeof(float);
    memcpy(into->planes[1], into->planes[0], bytes);
    memcpy(into->planes[2], into->planes[0], bytes);
    return 0;
}

/* Whether a sample of alpha is below the largest value. */
static int lets_through(const AnyvmafPlane *alpha, uint32_t bit_depth)
{
    const size_t samples = alpha->samples ? (size_t)alpha->width * alpha->height : 0;
    const uint32_t opaque = (1U << bit_depth) - 1;
    for (size_t i = 0; i < samples; i++)
        if ((bit_depth > 8 ? ((const uint16_t *)alpha->samples)[i] : ((const uint8_t *)alpha->samples)[i]) < opaque)
            return 1;
    return 0;
}

int has_alpha(const AnyvmafContext *context, const AnyvmafFrames *frames)
{
    return lets_through(&frames->reference.planes[3], context->bit_depth) ||
           lets_through(&frames->distorted.planes[3], context->bit_depth);
}

static int holds(const LinearPicture *linear, const AnyvmafPicture *picture, const AnyvmafColour *colour,
                 float background, uint32_t is_709)
{
    return linear->serial && linear->serial == picture->serial && linear->is_709 == is_709 &&
           linear->background == background && !memcmp(&linear->colour, colour, sizeof *colour);
}

int32_t linear_of(AnyvmafContext *context, const AnyvmafPicture *picture, const AnyvmafColour *colour,
                  float background, LinearPicture *into)
{
    const AnyvmafPlane *planes = picture->planes;
    if (holds(into, picture, colour, background, 0))
        return 0;
    const uint32_t width = planes[0].width, height = planes[0].height;
    if (!planes[0].samples || !width || !height || !is_colour(colour))
        return ANYVMAF_EINVAL;
    if (!is_grey(planes) && (!is_subsampling(planes) ||
                             (colour->matrix == ANYVMAF_GBR && (planes[1].width < width || planes[1].height < height))))
        return ANYVMAF_EINVAL;
    if (planes[3].samples && (planes[3].width != width || planes[3].height != height))
        return ANYVMAF_EINVAL;
    const size_t plane = float_plane_bytes((size_t)width * height);
    into->serial = 0;
    into->is_709 = 0;
    uint8_t *next = block_reserve(&into->block, 3 * area_bytes(plane));
    if (!next)
        return ANYVMAF_ENOMEM;
    for (uint32_t p = 0; p < 3; p++)
        into->planes[p] = core_cut(&next, plane);
    into->width = width;
    into->height = height;
    const int32_t failed = convert(context, picture, colour, background, into);
    if (failed)
        return failed;
    into->colour = *colour;
    into->background = background;
    into->serial = picture->serial;
    return 0;
}

/* To the primaries of BT.709, in place, HLG as the display of BT.2100 with 1,000 cd/m2 shows it. */
static void show_by_709(LinearPicture *picture)
{
    const float(*const rows)[3] = colour_to_709[(uint32_t)picture->colour.primaries];
    float *const *rgb = picture->planes;
    const size_t samples = (size_t)picture->width * picture->height;
    if (picture->colour.transfer == ANYVMAF_HLG) {
        float of[3];
        for (uint32_t p = 0; p < 3; p++)
            of[p] = 0.21263901F * rows[0][p] + 0.71516868F * rows[1][p] + 0.072192315F * rows[2][p];
        for (size_t i = 0; i < samples; i++) {
            const float gain = hlg_gain(of[0] * rgb[0][i] + of[1] * rgb[1][i] + of[2] * rgb[2][i]);
            for (uint32_t p = 0; p < 3; p++)
                rgb[p][i] *= gain;
        }
    }
    multiply(rows, rgb, samples);
    picture->is_709 = 1;
}

static int32_t shown_of(AnyvmafContext *context, const AnyvmafPicture *picture, const AnyvmafColour *colour,
                         float background, LinearPicture *into)
{
    if (holds(into, picture, colour, background, 1))
        return 0;
    const int32_t failed = linear_of(context, picture, colour, background, into);
    if (!failed && (colour->primaries != ANYVMAF_PRIMARIES_BT709 || colour->transfer == ANYVMAF_HLG))
        show_by_709(into);
    return failed;
}

int32_t linear_pair(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafColours *colours,
                    float background, const LinearPicture **reference, const LinearPicture **distorted)
{
    LinearPicture *const linear = context->linear;
    *reference = &linear[0];
    *distorted = &linear[1];
    const int32_t failed = shown_of(context, &frames->reference, &colours->reference, background, &linear[0]);
    return failed ? failed : shown_of(context, &frames->distorted, &colours->distorted, background, &linear[1]);
}

int32_t anyvmaf_linear(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafLinearOptions *options,
                       float *out)
{
    const AnyvmafPicture *const pictures[2] = {&frames->reference, &frames->distorted};
    const AnyvmafColour *const colours[2] = {&options->colours.reference, &options->colours.distorted};
    for (uint32_t side = 0; side < 2; side++) {
        LinearPicture *linear = &context->linear[side];
        const int32_t failed = (options->shown ? shown_of : linear_of)(context, pictures[side], colours[side],
                                                                       OPAQUE_BACKGROUND, linear);
        if (failed)
            return failed;
        const size_t samples = (size_t)linear->width * linear->height;
        for (uint32_t p = 0; p < 3; p++, out += samples)
            memcpy(out, linear->planes[p], samples * sizeof *out);
    }
    return 0;
}
