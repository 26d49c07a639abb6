/* butteraugli_frame.c - Butteraugli of a pair of pictures: two scales, and the norms of their difference. */
#include <math.h>
#include <string.h>

#include "context.h"

/* How much of its own scale, and of the half one, the difference of a pixel has. */
#define OWN_SHARE 0.85F
#define HALF_SHARE 0.5F

enum { SIDES = 2, PLANES = 3 };

static uint32_t halved(uint32_t n) { return (n + 1) / 2; }
static uint32_t extended(uint32_t n) { return n < BUTTERAUGLI_LEAST_SIDE ? BUTTERAUGLI_LEAST_SIDE : n; }
/* Samples in front of those of a picture that is extended. */
static uint32_t border(uint32_t n) { return (extended(n) - n) / 2; }

static int has_half(const ButteraugliPair *pair)
{
    return halved(pair->width) >= BUTTERAUGLI_LEAST_SIDE && halved(pair->height) >= BUTTERAUGLI_LEAST_SIDE;
}

/* A packed plane; functions of rows read up to BUTTERAUGLI_LANES - 1 floats beyond the last one. */
static size_t packed_bytes(uint32_t width, uint32_t height) { return float_plane_bytes((size_t)width * height); }

static uint32_t clamped(uint32_t i, uint32_t before, uint32_t n)
{
    const uint32_t at = i > before ? i - before : 0;
    return at < n ? at : n - 1;
}

/* Repeats the borders of small pictures, which libjxl's comparison of images does too. */
static void extend(ButteraugliPair *pair, uint8_t **memory)
{
    const uint32_t width = pair->width, height = pair->height, left = border(width), top = border(height);
    const uint32_t w = extended(width), h = extended(height);
    for (uint32_t i = 0; i < SIDES * PLANES; i++) {
        const float *src = pair->rgb[i / PLANES][i % PLANES];
        float *dst = core_cut(memory, packed_bytes(w, h));
        pair->rgb[i / PLANES][i % PLANES] = dst;
        for (uint32_t y = 0; y < h; y++)
            for (uint32_t x = 0; x < w; x++)
                *dst++ = src[clamped(y, top, height) * pair->pitch + clamped(x, left, width)];
    }
    pair->width = w;
    pair->height = h;
    pair->pitch = w;
}

/* Means of 2 x 2 samples; the last of an odd side count twice. */
static void halve(ButteraugliPair *pair, uint8_t **memory)
{
    const uint32_t width = pair->width, height = pair->height, w = halved(width), h = halved(height);
    for (uint32_t i = 0; i < SIDES * PLANES; i++) {
        const float *src = pair->rgb[i / PLANES][i % PLANES];
        float *dst = core_cut(memory, packed_bytes(w, h));
        pair->rgb[i / PLANES][i % PLANES] = dst;
        for (uint32_t y = 0; y < h; y++, dst += w) {
            const float *a = src + 2 * y * pair->pitch, *b = 2 * y + 1 < height ? a + pair->pitch : a;
            for (uint32_t x = 0; x < width / 2; x++)
                dst[x] = (a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1]) * 0.25F;
            if (width & 1)
                dst[w - 1] = (a[width - 1] + b[width - 1]) * 0.5F;
        }
    }
    pair->width = w;
    pair->height = h;
    pair->pitch = w;
}

static size_t half_bytes(const ButteraugliPair *pair)
{
    const uint32_t w = halved(pair->width), h = halved(pair->height);
    return SIDES * PLANES * area_bytes(packed_bytes(w, h)) + butteraugli_scale_bytes(w, h);
}

/* The difference at half the size, packed. */
static void measure_half(const ButteraugliDsp *dsp, ButteraugliPair pair, uint8_t *memory, float *half)
{
    halve(&pair, &memory);
    float *difference = butteraugli_scale(dsp, &pair, memory);
    for (uint32_t y = 0; y < pair.height; y++)
        memcpy(half + (size_t)pair.width * y, butteraugli_row(difference, pair.width, y), pair.width * sizeof *half);
}

/* Sums over all pixels, in their order. */
typedef struct Norms {
    double maximum, cubes, sixths, twelfths;
} Norms;

static void add_row(Norms *norms, const float *row, uint32_t n)
{
    for (uint32_t x = 0; x < n; x++) {
        const double d = (double)row[x], cube = d * d * d, sixth = cube * cube;
        norms->maximum = d > norms->maximum ? d : norms->maximum;
        norms->cubes += cube;
        norms->sixths += sixth;
        norms->twelfths += sixth * sixth;
    }
}

static void finish(const Norms *norms, double pixels, double *out)
{
    out[0] = norms->maximum;
    out[1] = (cbrt(norms->cubes / pixels) + sqrt(cbrt(norms->sixths / pixels)) +
              sqrt(sqrt(cbrt(norms->twelfths / pixels)))) / 3;
}

/* The pair in linear light, and what its 1 is. */
static void take_pair(const LinearPicture *const pictures[SIDES], const AnyvmafButteraugliOptions *options,
                      ButteraugliPair *pair)
{
    const AnyvmafColour *colours[SIDES] = {&options->colours.reference, &options->colours.distorted};
    *pair = (ButteraugliPair){
        .width = pictures[0]->width, .height = pictures[0]->height, .pitch = pictures[0]->width};
    for (uint32_t side = 0; side < SIDES; side++) {
        memcpy(pair->rgb[side], pictures[side]->planes, sizeof pair->rgb[side]);
        const double transfer = colours[side]->transfer;
        const float own = transfer == ANYVMAF_PQ ? 10000 : transfer == ANYVMAF_HLG ? 1000 : 0;
        pair->nits[side] = own > 0 ? own : (float)options->intensity_target;
    }
}

/*
 * Measures the pair on a background.
 * map: NULL, or width x height differences; with `again` those of another background are there, and the larger ones stay
 */
static int32_t measure_on(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafButteraugliOptions *options,
                          float background, int again, float *map, double *out)
{
    const LinearPicture *pictures[SIDES];
    const int32_t failed = linear_pair(context, frames, &options->colours, background, &pictures[0], &pictures[1]);
    if (failed)
        return failed;
    const uint32_t width = pictures[0]->width, height = pictures[0]->height;
    const uint32_t w = extended(width), h = extended(height);
    ButteraugliPair pair;
    take_pair(pictures, options, &pair);
    const int small = w != width || h != height;
    const size_t copies = small ? SIDES * PLANES * area_bytes(packed_bytes(w, h)) : 0;
    const size_t half_plane = area_bytes(packed_bytes(halved(w), halved(h)));
    const size_t own = butteraugli_scale_bytes(w, h), half_scale = half_bytes(&pair);
    uint8_t *memory = context_scratch(context, copies + half_plane + (own > half_scale ? own : half_scale));
    if (!memory)
        return ANYVMAF_ENOMEM;
    if (small)
        extend(&pair, &memory);
    const ButteraugliDsp *dsp = &context->dsp->butteraugli;
    float *half = core_cut(&memory, packed_bytes(halved(w), halved(h)));
    const int halves = has_half(&pair);
    if (halves)
        measure_half(dsp, pair, memory, half);
    float *difference = butteraugli_scale(dsp, &pair, memory);
    Norms norms = {0};
    for (uint32_t y = border(height); y < border(height) + height; y++) {
        float *row = butteraugli_row(difference, w, y), *own_part = row + border(width);
        for (uint32_t x = 0; x < w && halves; x++)
            row[x] = row[x] * OWN_SHARE + half[(size_t)halved(w) * (y / 2) + x / 2] * HALF_SHARE;
        float *mapped = map ? map + (size_t)width * (y - border(height)) : NULL;
        for (uint32_t x = 0; x < width && again; x++)
            own_part[x] = own_part[x] < mapped[x] ? mapped[x] : own_part[x];
        add_row(&norms, own_part, width);
        if (map)
            memcpy(mapped, own_part, width * sizeof *map);
    }
    finish(&norms, (double)width * height, out);
    return 0;
}

int32_t anyvmaf_butteraugli_map(AnyvmafContext *context, const AnyvmafFrames *frames,
                                const AnyvmafButteraugliOptions *options, float *map, double *out)
{
    if (!context || !frames || !options || !out || !(options->intensity_target > 0))
        return ANYVMAF_EINVAL;
    if (!has_alpha(context, frames))
        return measure_on(context, frames, options, OPAQUE_BACKGROUND, 0, map, out);
    if (!map)
        map = context_slot(context, SLOT_BUTTERAUGLI, (size_t)context->width * context->height * sizeof *map);
    if (!map)
        return ANYVMAF_ENOMEM;
    const int32_t failed = measure_on(context, frames, options, 0, 0, map, out);
    return failed ? failed : measure_on(context, frames, options, 1, 1, map, out);
}

int32_t anyvmaf_butteraugli(AnyvmafContext *context, const AnyvmafFrames *frames,
                            const AnyvmafButteraugliOptions *options, double *out)
{
    return anyvmaf_butteraugli_map(context, frames, options, NULL, out);
}
