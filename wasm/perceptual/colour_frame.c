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
    const int full = colour->full_range != 0;
    return (ColourMatrix){
        .black = full ? 0 : (float)(16 * (uint32_t)unit),
        .gain = 1 / (float)(full ? 256 * (uint32_t)unit - 1 : 219 * (uint32_t)unit),
        .red = (float)(2 * (1 - kr) * chroma),
        .green_cb = (float)(-2 * kb * (1 - kb) / kg * chroma),
        .green_cr = (float)(-2 * kr * (1 - kr) / kg * chroma),
        .blue = (float)(2 * (1 - kb) * chroma),
    };
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

/* Row y of plane `part`. */
static StoredRow stored_row(const Conversion *as, const AnyvmafPicture *picture, uint32_t part, uint32_t y)
{
    const AnyvmafPlane *plane = &picture->planes[part];
    return (StoredRow){(const uint8_t *)plane->samples + (size_t)y * plane->width * as->sample_bytes, as->bit_depth};
}

/* Row y of a chroma plane at the height of luma. */
static void narrow_row(const ColourDsp *dsp, const Conversion *as, const AnyvmafPicture *picture, uint32_t part,
                       uint32_t y, float *row)
{
    const uint32_t width = picture->planes[part].width;
    if (!as->halved_down) {
        dsp->scale(stored_row(as, picture, part, y), width, as->middle, 1, row);
        return;
    }
    const void *rows[CHROMA_TAPS];
    const int32_t first = (int32_t)(y / 2 + (y & 1)) - 2;
    for (int32_t k = 0; k < CHROMA_TAPS; k++) {
        const uint32_t at = mirrored(first + k, (int32_t)picture->planes[part].height);
        rows[k] = stored_row(as, picture, part, at).samples;
    }
    dsp->blend_rows(rows, as->bit_depth, width, as->down->phase[y & 1], as->middle, row);
}

/* Row y of a chroma plane at the size of luma. */
static float *chroma_row(const ColourDsp *dsp, const Conversion *as, const AnyvmafPicture *picture, uint32_t part,
                         uint32_t y)
{
    float *const row = as->narrow[part - 1] + BEFORE;
    narrow_row(dsp, as, picture, part, y, row);
    if (!as->halved_across)
        return row;
    const int32_t n = (int32_t)picture->planes[part].width;
    for (int32_t i = 1; i < CHROMA_TAPS; i++) {
        row[-i] = row[mirrored(-i, n)];
        row[n + i - 1] = row[mirrored(n + i - 1, n)];
    }
    dsp->blend_columns(row, as->width, as->across, as->wide[part - 1]);
    return as->wide[part - 1];
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

/* Light of row y of R', G' or B', in place. */
static void finish_row(const ColourDsp *dsp, const Conversion *as, const AnyvmafPicture *picture, uint32_t y,
                       float *values)
{
    if (as->background >= 0) {
        const float gain = 1 / (float)((1U << as->bit_depth) - 1);
        dsp->scale(stored_row(as, picture, 3, y), as->width, 0, gain, as->alpha);
        dsp->blend_alpha(values, as->alpha, as->width, as->background);
    }
    dsp->linearise(values, as->width, (uint32_t)as->colour.transfer);
}

/* Light of row y of a plane whose samples are R', G' or B' by themselves. */
static void plain_row(const ColourDsp *dsp, const Conversion *as, const AnyvmafPicture *picture, uint32_t part,
                      uint32_t y, float *out)
{
    const StoredRow row = stored_row(as, picture, part, y);
    if (as->has_table) {
        for (uint32_t x = 0; x < as->width; x++)
            out[x] = as->light[((const uint8_t *)row.samples)[x]];
        return;
    }
    dsp->scale(row, as->width, as->matrix.black, as->matrix.gain, out);
    finish_row(dsp, as, picture, y, out);
}

/* The inverse of BT.2100's cones of BT.2020's primaries. */
static const float rgb_of_lms[3][3] = {{3.4366067F, -2.5064521F, 0.069845424F},
                                       {-0.79132956F, 1.9836005F, -0.1922709F},
                                       {-0.0259499F, -0.098913715F, 1.1248636F}};

void linear_row(const AnyvmafContext *context, const Conversion *as, const AnyvmafPicture *picture, uint32_t y,
                float *const rgb[3])
{
    const ColourDsp *const dsp = &context->dsp->colour;
    if (as->planes == OF_GREY) {
        plain_row(dsp, as, picture, 0, y, rgb[0]);
        memcpy(rgb[1], rgb[0], as->width * sizeof(float));
        memcpy(rgb[2], rgb[0], as->width * sizeof(float));
        return;
    }
    if (as->planes == OF_GBR) {
        for (uint32_t p = 0; p < 3; p++)
            plain_row(dsp, as, picture, p, y, rgb[(p + 1) % 3]);
        return;
    }
    float *const cb = chroma_row(dsp, as, picture, 1, y), *const cr = chroma_row(dsp, as, picture, 2, y);
    usual_chroma(&as->colour, cb, cr, as->width);
    dsp->to_rgb(stored_row(as, picture, 0, y), cb, cr, as->width, &as->matrix, rgb);
    if (as->colour.matrix == ANYVMAF_BT2020_CL)
        solve_green(rgb, as->width);
    for (uint32_t p = 0; p < 3; p++)
        finish_row(dsp, as, picture, y, rgb[p]);
    if (as->colour.matrix == ANYVMAF_ICTCP)
        multiply(rgb_of_lms, rgb, as->width);
}

static int is_convertible(const AnyvmafPlane planes[4], const AnyvmafColour *colour)
{
    const uint32_t width = planes[0].width, height = planes[0].height;
    if (!planes[0].samples || !width || !height || !is_colour(colour))
        return 0;
    if (!is_grey(planes) && (!is_subsampling(planes) ||
                             (colour->matrix == ANYVMAF_GBR && (planes[1].width < width || planes[1].height < height))))
        return 0;
    return !planes[3].samples || (planes[3].width == width && planes[3].height == height);
}

/* Rows of every conversion of this width are in the same memory. */
static int cut_rows(AnyvmafContext *context, Conversion *as)
{
    const size_t narrow = float_plane_bytes(BEFORE + as->width + AFTER), wide = float_plane_bytes(as->width);
    uint8_t *memory = context_slot(context, SLOT_COLOUR, 2 * area_bytes(narrow) + 3 * area_bytes(wide));
    if (!memory)
        return 0;
    for (uint32_t i = 0; i < 2; i++) {
        as->narrow[i] = core_cut(&memory, narrow);
        as->wide[i] = core_cut(&memory, wide);
    }
    as->alpha = core_cut(&memory, wide);
    return 1;
}

/* Light of each sample, where 8 bits are R', G' or B' by themselves. */
static void make_table(const ColourDsp *dsp, Conversion *as)
{
    uint8_t codes[256];
    as->has_table = as->bit_depth == 8 && as->background < 0 && as->planes != OF_CHROMA;
    if (!as->has_table)
        return;
    for (uint32_t i = 0; i < 256; i++)
        codes[i] = (uint8_t)i;
    dsp->scale((StoredRow){codes, 8}, 256, as->matrix.black, as->matrix.gain, as->light);
    dsp->linearise(as->light, 256, (uint32_t)as->colour.transfer);
}

int32_t conversion_of(AnyvmafContext *context, const AnyvmafPicture *picture, const AnyvmafColour *colour,
                      float background, Conversion *as)
{
    const AnyvmafPlane *const luma = &picture->planes[0], *const cb = &picture->planes[1];
    if (!is_convertible(picture->planes, colour))
        return ANYVMAF_EINVAL;
    const uint32_t siting = (uint32_t)colour->siting;
    const ChromaTaps *const taps = chroma_taps[(uint32_t)colour->upsampling];
    *as = (Conversion){
        .colour = *colour, .width = luma->width,
        .bit_depth = context->bit_depth, .sample_bytes = context->bit_depth > 8 ? 2 : 1,
        .background = picture->planes[3].samples ? background : OPAQUE_BACKGROUND,
        .planes = is_grey(picture->planes) ? OF_GREY : colour->matrix == ANYVMAF_GBR ? OF_GBR : OF_CHROMA,
        .halved_across = cb->width < luma->width, .halved_down = cb->height < luma->height,
        .across = &taps[siting != ANYVMAF_CENTRE], .down = &taps[siting == ANYVMAF_TOP_LEFT],
        .middle = (float)(128U << (context->bit_depth - 8)),
        .matrix = matrix_of(colour, context->bit_depth),
    };
    if (!cut_rows(context, as))
        return ANYVMAF_ENOMEM;
    make_table(&context->dsp->colour, as);
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
    if (holds(into, picture, colour, background, 0))
        return 0;
    Conversion as;
    const int32_t failed = conversion_of(context, picture, colour, background, &as);
    if (failed)
        return failed;
    const uint32_t width = as.width, height = picture->planes[0].height;
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
    for (uint32_t y = 0; y < height; y++) {
        const size_t at = (size_t)y * width;
        float *const rgb[3] = {into->planes[0] + at, into->planes[1] + at, into->planes[2] + at};
        linear_row(context, &as, picture, y, rgb);
    }
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
