/* float_motion.c - mean difference of successive blurred reference pictures. */
#include <math.h>

#include "context.h"
#include "float_filter.h"
#include "picture.h"
#include "scale.h"

static const float taps5[5] = {0.054488685f, 0.244201342f, 0.402619947f, 0.244201342f, 0.054488685f};
static const float taps3[3] = {0.166378498f, 0.667243004f, 0.166378498f};

/* The blurred planes of the two latest pictures: each is blurred once. They follow this head. */
typedef struct Kept {
    uint32_t serial[2];
    double options[2];
} Kept;

/* Bytes of a blurred plane. */
static size_t kept_bytes(const AnyvmafPlane *plane) { return float_plane_bytes(plane_samples(plane)); }

/* dst: a plane after the other. */
static void blurred(AnyvmafContext *context, const AnyvmafPicture *picture, uint32_t filter_size, uint32_t planes,
                    uint8_t *scratch, float *const dst[3])
{
    float *samples = core_cut(&scratch, kept_bytes(picture->planes));
    float *rows = core_cut(&scratch, float_filter_scratch(context->width) * sizeof(float));
    for (uint32_t p = 0; p < planes; p++) {
        const AnyvmafPlane *plane = picture->planes + p;
        if (filter_size == 1) {
            picture_floats(plane, context->bit_depth, -128, dst[p]);
        } else {
            picture_floats(plane, context->bit_depth, -128, samples);
            float_filter_plane(context->dsp, samples, plane->width, plane->height, filter_size == 3 ? taps3 : taps5,
                               filter_size == 3 ? 3 : 5, 1, rows, dst[p]);
        }
    }
}

/*
 * Mean absolute difference: sums of rows, added up, all in single precision. Four rows at once: each adds its samples in
 * order, and the chains of additions hide each other's latency.
 */
static float distance(const float *a, const float *b, uint32_t width, uint32_t height)
{
    float total = 0;
    uint32_t y = 0;
    for (; y + 4 <= height; y += 4, a += 4 * (size_t)width, b += 4 * (size_t)width) {
        const float *a1 = a + width, *a2 = a1 + width, *a3 = a2 + width;
        const float *b1 = b + width, *b2 = b1 + width, *b3 = b2 + width;
        float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (uint32_t x = 0; x < width; x++) {
            s0 += fabsf(a[x] - b[x]);
            s1 += fabsf(a1[x] - b1[x]);
            s2 += fabsf(a2[x] - b2[x]);
            s3 += fabsf(a3[x] - b3[x]);
        }
        total += s0;
        total += s1;
        total += s2;
        total += s3;
    }
    for (; y < height; y++, a += width, b += width) {
        float sum = 0;
        for (uint32_t x = 0; x < width; x++)
            sum += fabsf(a[x] - b[x]);
        total += sum;
    }
    return (float)((double)total / ((double)width * height));
}

static inline uint32_t aligned(uint32_t width) { return (width + 7) & ~7u; }

/*
 * The plane as libvmaf's reduction of chroma reads it: rows are stored with the stride of luma, padded with zeros, and
 * read with the stride of chroma.
 */
static const float *misread(const float *plane, uint32_t width, uint32_t height, uint32_t luma_width, float *dst)
{
    const size_t stored = aligned(luma_width), read = aligned(width);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            const size_t at = y * read + x, column = at % stored;
            dst[(size_t)y * width + x] = column < width ? plane[at / stored * width + column] : 0;
        }
    return dst;
}

static float small_distance(const float *a, const float *b, uint32_t width, uint32_t height, uint32_t luma_width,
                            uint8_t *scratch)
{
    const uint32_t w = scaled_size(width, 0.5), h = scaled_size(height, 0.5);
    float *whole = core_cut(&scratch, float_plane_bytes((size_t)width * height)), *small[2];
    const float *planes[2] = {a, b};
    for (uint32_t i = 0; i < 2; i++) {
        const float *plane = aligned(width) == aligned(luma_width)
                                 ? planes[i]
                                 : misread(planes[i], width, height, luma_width, whole);
        small[i] = core_cut(&scratch, float_plane_bytes((size_t)w * h));
        scale_plane(plane, width, height, ANYVMAF_BILINEAR, w, h, NULL, small[i]);
    }
    return distance(small[0], small[1], w, h);
}

int32_t anyvmaf_float_motion(AnyvmafContext *context, const AnyvmafFrames *frames,
                             const AnyvmafFloatMotionOptions *options, double *out)
{
    if (!context || !frames || !options || !out || !frames->earlier_reference.planes[0].samples)
        return ANYVMAF_EINVAL;
    const AnyvmafPicture *pictures[2] = {&frames->reference, &frames->earlier_reference};
    const uint32_t planes = options->add_uv ? 3 : 1, filter_size = (uint32_t)options->filter_size;
    size_t picture_bytes = 0;
    for (uint32_t p = 0; p < planes; p++) {
        if (!pictures[0]->planes[p].samples || !pictures[1]->planes[p].samples)
            return ANYVMAF_EINVAL;
        picture_bytes += area_bytes(kept_bytes(pictures[0]->planes + p));
    }
    uint8_t *slot = core_slot(context, SLOT_FLOAT_MOTION, area_bytes(sizeof(Kept)) + 2 * picture_bytes);
    /* A plane, and rows to filter it or its two halves. */
    const size_t luma = area_bytes(kept_bytes(pictures[0]->planes));
    uint8_t *scratch = core_scratch(context, 2 * luma + area_bytes(float_filter_scratch(context->width) * sizeof(float)) +
                                                 2 * area_bytes(64 * sizeof(float)));
    if (!slot || !scratch)
        return ANYVMAF_ENOMEM;
    Kept *kept = core_cut(&slot, sizeof *kept);
    if (kept->options[0] != options->filter_size || kept->options[1] != options->add_uv)
        *kept = (Kept){.options = {options->filter_size, options->add_uv}};
    float *store[2][3] = {{NULL}};
    for (uint32_t i = 0; i < 2 * planes; i++)
        store[i / planes][i % planes] = core_cut(&slot, kept_bytes(pictures[0]->planes + i % planes));

    /* A picture keeps its place; a new one takes that of neither. */
    uint32_t place[2];
    for (uint32_t i = 0; i < 2; i++)
        place[i] = kept->serial[0] == pictures[i]->serial ? 0 : kept->serial[1] == pictures[i]->serial ? 1 : 2;
    for (uint32_t i = 0; i < 2; i++) {
        if (place[i] < 2)
            continue;
        place[i] = place[1 - i] < 2 ? 1 - place[1 - i] : i;
        kept->serial[place[i]] = pictures[i]->serial;
        blurred(context, pictures[i], filter_size, planes, scratch, store[place[i]]);
    }

    double sum = 0;
    for (uint32_t p = 0; p < planes; p++) {
        const AnyvmafPlane *plane = pictures[0]->planes + p;
        const float *a = store[place[1]][p], *b = store[place[0]][p];
        float difference = distance(a, b, plane->width, plane->height);
        if (options->add_scale1)
            difference += small_distance(a, b, plane->width, plane->height, context->width, scratch);
        sum += difference;
    }
    *out = sum;
    return 0;
}
