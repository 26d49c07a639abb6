/* cambi_frame.c - CAMBI of a picture: visibility, the five scales and the pooling. */
#include <math.h>
#include <string.h>

#include "cambi.h"
#include "context.h"
#include "filters.h"

const uint8_t cambi_weights[CAMBI_MAX_CONTRASTS] = {1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8,
                                                    8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

/* The ten-bit codes of black and white. */
enum { BLACK = 64, WHITE = 940 };

/* cd/m2 of a ten-bit code. */
static double luminance(int32_t code, uint32_t eotf)
{
    int32_t clamped = code < BLACK ? BLACK : code > WHITE ? WHITE : code;
    double v = (double)(clamped - BLACK) / (WHITE - BLACK);
    if (eotf == 0) {
        const double gamma = 2.4, white = pow(300, 1 / gamma), black = pow(0.01, 1 / gamma);
        return pow(white - black, gamma) * pow(fmax(v + black / (white - black), 0), gamma);
    }
    const double m1 = 0.1593017578125, m2 = 78.84375, c1 = 0.8359375, c2 = 18.8515625, c3 = 18.6875;
    double p = pow(v, 1 / m2);
    return 10000 * pow(fmax(p - c1, 0) / (c2 - c3 * p), 1 / m1);
}

static int is_seen(int32_t code, int32_t step, double threshold, uint32_t eotf)
{
    double low = luminance(code, eotf);
    return luminance(code + step, eotf) - low > threshold * low;
}

/* -1 if a larger code is visible too, 1 if this one is not visible, 0 at the last visible one. */
static int32_t side_of_limit(int32_t code, int32_t step, double threshold, uint32_t eotf)
{
    if (!is_seen(code, step, threshold, eotf))
        return 1;
    return is_seen(code + 1, step, threshold, eotf) ? -1 : 0;
}

/* The brightest code at which a step is visible. */
static int32_t brightest_seen(int32_t step, double threshold, uint32_t eotf)
{
    int32_t low = BLACK, high = WHITE - step - 1;
    int32_t at_low = side_of_limit(low, step, threshold, eotf);
    if (at_low >= 0)
        return at_low ? 0 : low;
    int32_t at_high = side_of_limit(high, step, threshold, eotf);
    if (at_high <= 0)
        return at_high ? 1023 : high;
    for (;;) {
        int32_t middle = low + (high - low) / 2;
        int32_t side = side_of_limit(middle, step, threshold, eotf);
        if (side == 0 || middle == low)
            return middle;
        if (side > 0)
            high = middle;
        else
            low = middle;
    }
}

void cambi_build_sight(uint32_t contrasts, double tvi_threshold, double luminance_threshold, uint32_t eotf,
                       CambiSight *sight)
{
    sight->contrasts = contrasts;
    for (uint32_t i = 0; i < contrasts; i++)
        sight->limits[i] = brightest_seen((int32_t)i + 1, tvi_threshold, eotf);
    int32_t code = BLACK;
    while (code < WHITE && luminance(code, eotf) < luminance_threshold)
        code++;
    sight->floor = code == BLACK ? 0 : code;
    /* 1/n as in libvmaf's source, with nine significant digits. */
    sight->reciprocals[0] = 0;
    sight->reciprocals[1] = 1;
    uint64_t unit = 1000000000; /* 10^9 n^-1 has nine digits for n up to 10, 10^10 for n up to 100, ... */
    for (uint32_t n = 2; n <= CAMBI_MAX_WINDOW * CAMBI_MAX_WINDOW; n++) {
        if (unit / n < 100000000)
            unit *= 10;
        sight->reciprocals[n] = (float)((double)((2 * unit + n) / (2 * n)) / (double)unit);
    }
}

size_t cambi_counts_bytes(uint32_t width)
{
    return CAMBI_COUNTED * cambi_counts_stride(width) * sizeof(uint16_t);
}

size_t cambi_rows_bytes(uint32_t width) { return 8 * ((size_t)width + 48); }

/* With room for vectors that read ahead. */
static size_t padded(size_t bytes) { return bytes + 64; }

/* Samples of what scales leave beyond their right side: of all but the first, which is twice as high. */
static size_t beyond_samples(uint32_t height) { return (size_t)((height + 1) / 2) * CAMBI_MAX_REACH; }

size_t cambi_scratch_bytes(uint32_t to_width, uint32_t to_height)
{
    const size_t samples = (size_t)to_width * to_height;
    const size_t sizes[] = {samples * sizeof(uint16_t), samples, samples * sizeof(float), to_width * sizeof(float),
                            cambi_rows_bytes(to_width), cambi_counts_bytes(to_width),
                            beyond_samples(to_height) * sizeof(uint16_t), beyond_samples(to_height)};
    size_t bytes = 0;
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        bytes += area_bytes(padded(sizes[i]));
    return bytes;
}

/* Nearest samples at ten bits, or all of them when the size stays. */
static uint32_t load(const AnyvmafDsp *dsp, const void *plane, const CambiPlane *shape, uint16_t *image)
{
    const uint32_t w = shape->width, h = shape->height;
    if (shape->to_width == w && shape->to_height == h)
        return dsp->cambi_load(plane, w * h, shape->bit_depth, image);
    const float across = (float)w / (float)shape->to_width, down = (float)h / (float)shape->to_height;
    const size_t bytes = shape->bit_depth > 8 ? 2 : 1;
    uint32_t wrong = 0;
    /* Checks all samples, also skipped ones. */
    for (uint32_t i = 0; i < w * h; i += shape->to_width) {
        uint32_t n = w * h - i < shape->to_width ? w * h - i : shape->to_width;
        wrong |= dsp->cambi_load((const char *)plane + i * bytes, n, shape->bit_depth, image);
    }
    float y = down / 2 - 0.5F;
    for (uint32_t i = 0; i < shape->to_height; i++, y += down) {
        const char *row = (const char *)plane + (size_t)(int32_t)((double)y + 0.5) * w * bytes;
        float x = across / 2 - 0.5F;
        for (uint32_t j = 0; j < shape->to_width; j++, x += across)
            cambi_load_c(row + (size_t)(int32_t)((double)x + 0.5) * bytes, 1, shape->bit_depth, image++);
    }
    return wrong;
}

/* Stores the samples past the right side of the next scale, which halving would lose, up to the window's reach. */
static void keep_beyond(const uint16_t *image, const uint8_t *mask, uint32_t width, uint32_t height, CambiBeyond *beyond)
{
    const uint32_t first = (width + 1) >> 1, end = beyond->end < width ? beyond->end : width;
    for (uint32_t y = 0; y < (height + 1) >> 1; y++)
        for (uint32_t x = first; x < end; x++) {
            beyond->image[(size_t)y * CAMBI_MAX_REACH + x] = image[(size_t)y * width + x];
            beyond->mask[(size_t)y * CAMBI_MAX_REACH + x] = mask[(size_t)y * width + x];
        }
}

/* Keeps even rows and columns, in place. */
static void decimate(uint16_t *image, uint8_t *mask, uint32_t width, uint32_t height)
{
    uint16_t *to = image;
    uint8_t *mask_to = mask;
    for (uint32_t y = 0; y < height; y += 2)
        for (uint32_t x = 0; x < width; x += 2) {
            *to++ = image[(size_t)y * width + x];
            *mask_to++ = mask[(size_t)y * width + x];
        }
}

/* Contrasts are multiples of this, being at least half of 1 - 2^-24 and binary32. */
static const double CONTRAST_UNITS = 33554432;

static uint64_t units(float contrast) { return (uint64_t)(int64_t)((double)contrast * CONTRAST_UNITS); }

/* A sum of contrasts in units, and all bits that are set in any of them. */
typedef struct ContrastSum {
    uint64_t units, bits;
} ContrastSum;

static inline void add_contrast(ContrastSum *sum, float contrast)
{
    const uint64_t value = units(contrast);
    sum->units += value;
    sum->bits |= value;
}

/* Whether doubles give the sum in any order: all its parts fit 53 bits as multiples of the lowest bit. */
static int is_exact(ContrastSum sum)
{
    return !sum.bits || sum.units >> 53 < (sum.bits & -sum.bits);
}

/* The sum of the `keep` largest of n contrasts. Reorders them. */
static ContrastSum sum_largest(float *values, size_t n, size_t keep)
{
    ContrastSum sum = {0, 0};
    while (n > keep) {
        /* Splits around a middle value: larger ones first, smaller ones last. */
        const float pivot = values[n / 2];
        size_t larger = 0, equal = 0;
        for (size_t i = 0; i < n; i++) {
            const float v = values[i];
            if (v >= pivot) {
                values[i] = values[larger + equal];
                if (v > pivot) {
                    values[larger + equal] = pivot;
                    values[larger++] = v;
                } else {
                    values[larger + equal++] = v;
                }
            }
        }
        if (keep <= larger) {
            n = larger;
            continue;
        }
        for (size_t i = 0; i < larger; i++)
            add_contrast(&sum, values[i]);
        keep -= larger;
        const size_t taken = keep < equal ? keep : equal;
        sum.units += taken * units(pivot);
        sum.bits |= units(pivot);
        keep -= taken;
        if (!keep)
            return sum;
        values += larger + equal;
        n -= larger + equal;
    }
    for (size_t i = 0; i < n; i++)
        add_contrast(&sum, values[i]);
    return sum;
}

/* Swaps until no value behind index k is larger than one before it: Hoare's FIND (Algorithm 65, 1961), descending. */
static void find(float *values, size_t n, size_t k)
{
    ptrdiff_t left = 0, right = (ptrdiff_t)n - 1;
    const ptrdiff_t middle = (ptrdiff_t)k;
    while (left < right) {
        const float pivot = values[middle];
        ptrdiff_t i = left, j = right;
        while (i <= j) {
            for (; values[i] > pivot; i++)
                ;
            for (; values[j] < pivot; j--)
                ;
            if (i > j)
                break;
            const float larger = values[j];
            values[j--] = values[i];
            values[i++] = larger;
        }
        if (j < middle)
            left = i;
        if (i > middle)
            right = j;
    }
}

/*
 * The sum of the `keep` largest contrasts of a scale, rounded in libvmaf's order: that in which FIND leaves the contrasts of
 * all samples. Needed for large pictures full of banding, whose sums depend on it.
 */
static double sum_in_order(const AnyvmafDsp *dsp, const CambiField *field, const CambiSight *sight, size_t keep, float *row,
                           float *contrasts)
{
    const size_t samples = (size_t)field->width * field->height;
    for (uint32_t y = 0; y < field->height; y++) {
        dsp->cambi_contrast(field, sight, y, row);
        memcpy(contrasts + (size_t)y * field->width, row, field->width * sizeof *row);
    }
    if (keep < samples)
        find(contrasts, samples, keep);
    double sum = 0;
    for (size_t i = 0; i < keep; i++)
        sum += contrasts[i];
    return sum;
}

/* Full scale of a heatmap is the largest possible contrast, rounded down: tiny windows exceed it and wrap. */
static double heat_scale(const CambiSight *sight, uint32_t area)
{
    const uint32_t largest = (uint32_t)cambi_weights[sight->contrasts - 1] * area / 4;
    return largest ? 65535.0 / largest : 0;
}

int32_t cambi_measure(const AnyvmafDsp *dsp, const void *plane, const CambiPlane *shape, const CambiSight *sight,
                      void *scratch, uint16_t *heat, double *out)
{
    uint32_t w = shape->to_width, h = shape->to_height;
    const size_t samples = (size_t)w * h;
    uint8_t *next = scratch;
    uint16_t *image = core_cut(&next, padded(samples * sizeof *image));
    uint8_t *mask = core_cut(&next, padded(samples));
    float *contrasts = core_cut(&next, padded(samples * sizeof *contrasts));
    float *row = core_cut(&next, padded(w * sizeof *row));
    void *rows = core_cut(&next, padded(cambi_rows_bytes(w)));
    void *counts = core_cut(&next, padded(cambi_counts_bytes(w)));
    /* Outside the picture, libvmaf has samples with a mask of 0. */
    const uint32_t reach = shape->window / 2;
    CambiBeyond beyond = {.end = reach < w ? reach : w};
    beyond.image = core_cut(&next, padded(beyond_samples(h) * sizeof *beyond.image));
    beyond.mask = core_cut(&next, padded(beyond_samples(h)));

    if (load(dsp, plane, shape, image))
        return ANYVMAF_EINVAL;
    if (shape->blur)
        for (uint32_t y = 0; y < h; y++)
            dsp->cambi_blur(image + (size_t)y * w, y + 1 < h ? image + (size_t)(y + 1) * w : NULL, w);
    const uint32_t tiles = (w >> 6) * (h >> 6);
    const uint32_t threshold = (49 + 3 * (tiles ? ceil_log2(tiles) : 0) - 33 - 1) >> 1;
    dsp->cambi_mask(image, w, h, threshold, rows, mask);

    const uint32_t area = shape->window * shape->window;
    const double full = heat_scale(sight, area);
    double score = 0;
    for (uint32_t scale = 0; scale < CAMBI_SCALES; scale++) {
        if (scale > 0 || shape->halve) {
            keep_beyond(image, mask, w, h, &beyond);
            decimate(image, mask, w, h);
            w = (w + 1) >> 1;
            h = (h + 1) >> 1;
        }
        dsp->cambi_mode(image, w, h, rows);
        const CambiField field = {.image = image, .mask = mask, .width = w, .height = h, .window = shape->window,
                                  .beyond = beyond, .counts = counts};
        size_t shown = 0;
        for (uint32_t y = 0; y < h; y++) {
            const uint32_t masked = dsp->cambi_contrast(&field, sight, y, row);
            for (uint32_t x = 0; masked && x < w; x++) {
                contrasts[shown] = row[x];
                shown += row[x] > 0;
            }
            for (uint32_t x = 0; heat && x < w; x++)
                *heat++ = (uint16_t)(int32_t)(full * row[x]);
        }
        const double wanted = shape->top * (double)(w * h);
        const size_t keep = wanted < 1 ? 1 : wanted > (double)(w * h) ? (size_t)w * h : (size_t)wanted;
        const ContrastSum exact = sum_largest(contrasts, shown, keep);
        const double sum = is_exact(exact) ? (double)exact.units / CONTRAST_UNITS
                                           : sum_in_order(dsp, &field, sight, keep, row, contrasts);
        score += (double)(16 >> scale) * (sum / (double)keep);
    }
    *out = score / area;
    return 0;
}

/* Data that stays the same from frame to frame, and the options that it depends on. */
typedef struct CambiState {
    AnyvmafCambiOptions options;
    CambiSight sight;
} CambiState;

/* Largest squared window with stored reciprocals. */
enum { MAX_AREA = CAMBI_MAX_WINDOW * CAMBI_MAX_WINDOW };

/* A side from the options: 0 means the picture's. */
typedef struct Size {
    uint32_t width, height;
} Size;

/* Pictures this small on both sides are not measured. */
enum { LEAST_SIDE = 216 };

/* The speed-up halves pictures from the size that the option names. */
static uint32_t is_halved(uint32_t option, Size size)
{
    const uint32_t width = option == 1080 ? 1920 : option == 1440 ? 2560 : option == 2160 ? 3840 : 0;
    return width && size.width * size.height >= width * option;
}

static uint32_t window_of(uint32_t window_size, Size size, uint32_t halved)
{
    const uint32_t window = ((window_size * (size.width + size.height)) / 375) >> 4;
    return (halved ? (window + 1) >> 1 : window) | 1;
}

int32_t anyvmaf_cambi(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafCambiOptions *options,
                      double *out)
{
    return anyvmaf_cambi_map(context, frames, options, NULL, out);
}

int32_t anyvmaf_cambi_map(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafCambiOptions *options,
                          uint16_t *heat, double *out)
{
    const AnyvmafPlane *distorted = &frames->distorted.planes[0], *reference = &frames->reference.planes[0];
    const Size own = {distorted->width, distorted->height};
    Size enc = {(uint32_t)options->enc_width, (uint32_t)options->enc_height};
    if (!enc.width || !enc.height || enc.width > own.width || enc.height > own.height)
        enc = own;
    Size src = {(uint32_t)options->src_width, (uint32_t)options->src_height};
    if (!src.width || !src.height)
        src = own;
    if ((enc.width < LEAST_SIDE && enc.height < LEAST_SIDE) || (src.width < LEAST_SIDE && src.height < LEAST_SIDE) ||
        (src.width > enc.width && src.height < enc.height) || (src.width < enc.width && src.height > enc.height))
        return ANYVMAF_EINVAL;
    const uint32_t halved = is_halved((uint32_t)options->high_res_speedup, enc);
    const uint32_t enc_window = window_of((uint32_t)options->window_size, enc, halved);
    const uint32_t src_window = window_of((uint32_t)options->window_size, src, halved);
    const uint32_t window = enc_window > src_window ? enc_window : src_window;
    if (window * window > MAX_AREA)
        return ANYVMAF_EINVAL;

    CambiState *state = core_slot(context, SLOT_CAMBI, sizeof *state);
    const uint64_t samples = (uint64_t)src.width * src.height;
    const size_t bytes = options->full_ref != 0 && samples > (uint64_t)enc.width * enc.height
                             ? cambi_scratch_bytes(src.width, src.height)
                             : cambi_scratch_bytes(enc.width, enc.height);
    void *scratch = core_scratch(context, bytes);
    if (!state || !scratch)
        return ANYVMAF_ENOMEM;
    if (memcmp(&state->options, options, sizeof *options) != 0) {
        state->options = *options;
        cambi_build_sight(1U << (uint32_t)options->max_log_contrast, options->tvi_threshold, options->vis_lum_threshold,
                          options->pq != 0, &state->sight);
    }
    const uint32_t depth = options->enc_bitdepth != 0 ? (uint32_t)options->enc_bitdepth : context->bit_depth;
    const CambiPlane encoded = {
        .width = own.width, .height = own.height, .bit_depth = context->bit_depth, .to_width = enc.width,
        .to_height = enc.height, .window = enc_window, .blur = depth < 10, .halve = halved, .top = options->topk,
    };
    out[1] = NAN;
    const int32_t status = cambi_measure(context->dsp, distorted->samples, &encoded, &state->sight, scratch, heat,
                                         &out[0]);
    if (status != 0 || options->full_ref == 0)
        return status;
    CambiPlane source = encoded;
    source.to_width = src.width;
    source.to_height = src.height;
    source.window = src_window;
    return cambi_measure(context->dsp, reference->samples, &source, &state->sight, scratch, NULL, &out[1]);
}
