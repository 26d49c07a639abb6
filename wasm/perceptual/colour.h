/*
 * colour.h - from stored pictures to linear RGB in binary32, once for all metrics of a pair.
 *
 * A row at a time: stored rows of chroma are blended to the row of luma, then the columns of that row, both by the
 * filter of the upsampler at the phase of the siting. Luma and chroma become R'G'B', which the transfer curve turns
 * into light. Chroma is mirrored at the edges, the edge repeated, as in zimg.
 */
#ifndef PERCEPTUAL_COLOUR_H
#define PERCEPTUAL_COLOUR_H

#include "../include/perceptual.h"
#include "../src/memory.h"

/* Floats to allocate for a plane of `samples` samples: vectors may read and write past it, and starts stay aligned. */
static inline size_t float_plane(size_t samples) { return ((samples + 3) & ~(size_t)3) + 16; }
static inline size_t float_plane_bytes(size_t samples) { return float_plane(samples) * sizeof(float); }

/* Linear light: packed planes R, G and B, each float_plane(width * height). White is 1, for PQ 10,000 cd/m2. */
typedef struct LinearPicture {
    uint32_t width, height;
    float *planes[3];
    uint32_t serial; /* of the picture it was made of; 0: of none */
    uint32_t is_709; /* the primaries are BT.709's, though the colour's are others, and HLG is what a display shows */
    float background;
    AnyvmafColour colour;
    CoreBlock block; /* holds the planes */
} LinearPicture;

/* A row of stored samples: uint8_t for 8 bits, uint16_t for more. */
typedef struct StoredRow {
    const void *samples;
    uint32_t bit_depth;
} StoredRow;

#define CHROMA_TAPS 4

/*
 * How chroma doubles along an axis: output 2j is made of samples j - 2 to j + 1, output 2j + 1 of j - 1 to j + 2. The
 * weights are sums of powers of two down to 2^-7, so that blends of 8 bits are exact.
 */
typedef struct ChromaTaps {
    float phase[2][CHROMA_TAPS];
} ChromaTaps;

/* R' = y + red Cr, G' = y + green_cb Cb + green_cr Cr, B' = y + blue Cb, y = (luma - black) gain. */
typedef struct ColourMatrix {
    float black, gain, red, green_cb, green_cr, blue;
} ColourMatrix;

/*
 * The functions of this stage; see dsp.h of the core for how columns work. They read and write up to 8 values past n;
 * stored samples have ANYVMAF_PLANE_SLACK for that.
 */
typedef struct ColourDsp {
    /* (sample - black) gain of n samples. */
    void (*scale)(StoredRow row, size_t n, float black, float gain, float *out);
    /* Sum of weights times rows, minus `middle`. */
    void (*blend_rows)(const void *const rows[CHROMA_TAPS], uint32_t bit_depth, size_t n, const float *weights,
                       float middle, float *out);
    /* n columns of chroma; `row` is read from -2 to n / 2 + 6. */
    void (*blend_columns)(const float *row, size_t n, const ChromaTaps *taps, float *out);
    /* n values of R', G' and B'. */
    void (*to_rgb)(StoredRow luma, const float *cb, const float *cr, size_t n, const ColourMatrix *matrix,
                   float *const rgb[3]);
    /* alpha x + (1 - alpha) background for n values x, in place. */
    void (*blend_alpha)(float *values, const float *alpha, size_t n, float background);
    /* Linear light of n values of R'G'B' by AnyvmafTransfer, in place. */
    void (*linearise)(float *values, size_t n, uint32_t transfer);
} ColourDsp;

#define COLOUR_DSP(suffix)                                                                                             \
    {                                                                                                                  \
        .scale = colour_scale_##suffix, .blend_rows = blend_rows_##suffix, .blend_columns = blend_columns_##suffix,    \
        .to_rgb = to_rgb_##suffix, .blend_alpha = blend_alpha_##suffix, .linearise = linearise_##suffix,               \
    }

void colour_scale_c(StoredRow row, size_t n, float black, float gain, float *out);
void colour_scale_simd(StoredRow row, size_t n, float black, float gain, float *out);
void blend_rows_c(const void *const rows[CHROMA_TAPS], uint32_t bit_depth, size_t n, const float *weights, float middle,
                  float *out);
void blend_rows_simd(const void *const rows[CHROMA_TAPS], uint32_t bit_depth, size_t n, const float *weights,
                     float middle, float *out);
void blend_columns_c(const float *row, size_t n, const ChromaTaps *taps, float *out);
void blend_columns_simd(const float *row, size_t n, const ChromaTaps *taps, float *out);
void to_rgb_c(StoredRow luma, const float *cb, const float *cr, size_t n, const ColourMatrix *matrix,
              float *const rgb[3]);
void to_rgb_simd(StoredRow luma, const float *cb, const float *cr, size_t n, const ColourMatrix *matrix,
                 float *const rgb[3]);
void blend_alpha_c(float *values, const float *alpha, size_t n, float background);
void blend_alpha_simd(float *values, const float *alpha, size_t n, float background);
void linearise_c(float *values, size_t n, uint32_t transfer);
void linearise_simd(float *values, size_t n, uint32_t transfer);

/* G' of Y' in the second plane, by BT.2020 with constant luminance; the others are R' and B'. The same in both columns. */
void solve_green(float *const rgb[3], size_t n);

/* What BT.2100 multiplies light of this luminance by on a display of 1,000 cd/m2. */
float hlg_gain(float luminance);

/* Linear light of BT.709's primaries of that of others, by AnyvmafPrimaries; from the chromaticities of H.273. */
extern const float colour_to_709[][3][3];

/* No background: alpha is not read. */
#define OPAQUE_BACKGROUND (-1.0F)

/* Whether a picture of the pair has an alpha plane that is not opaque everywhere. */
int has_alpha(const AnyvmafContext *context, const AnyvmafFrames *frames);

/* How the samples of a picture are to be read. */
typedef enum ColourPlanes { OF_GREY, OF_GBR, OF_CHROMA } ColourPlanes;

/* How pictures of one format and colour become linear light. */
typedef struct Conversion {
    AnyvmafColour colour;
    uint32_t bit_depth, width;
    size_t sample_bytes;
    ColourPlanes planes;
    float background; /* OPAQUE_BACKGROUND where alpha is not read */
    int halved_across, halved_down;
    const ChromaTaps *across, *down;
    float middle; /* the sample of no colour */
    ColourMatrix matrix;
    float *narrow[2], *wide[2]; /* rows of chroma as it is stored, and at the width of luma */
    float *alpha;               /* of a row */
    int has_table;
    float light[256];
} Conversion;

/*
 * How to convert pictures like this one, by their alpha on a grey of R'G'B', 0 to 1, or OPAQUE_BACKGROUND. 0, or
 * ANYVMAF_EINVAL if the colour is invalid or planes do not fit it, ANYVMAF_ENOMEM if memory is short. Valid until
 * pictures of another width are converted. Leaves the context's scratch memory alone.
 */
int32_t conversion_of(AnyvmafContext *context, const AnyvmafPicture *picture, const AnyvmafColour *colour,
                      float background, Conversion *as);

/* Linear light of row y of a picture: R, G and B. */
void linear_row(const AnyvmafContext *context, const Conversion *as, const AnyvmafPicture *picture, uint32_t y,
                float *const rgb[3]);

/*
 * Converts a picture to linear light, as conversion_of() has it. `into` starts zeroed; its owner frees its block. Does
 * nothing if `into` already holds this picture, by its serial, in this colour on this background.
 */
int32_t linear_of(AnyvmafContext *context, const AnyvmafPicture *picture, const AnyvmafColour *colour,
                  float background, LinearPicture *into);

/*
 * Both pictures of a pair in linear light by the primaries of BT.709; colours beyond them are negative. HLG is shown by a
 * display of 1,000 cd/m2. They stay in the context until the next pair. Fails as linear_of() does.
 */
int32_t linear_pair(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafColours *colours,
                    float background, const LinearPicture **reference, const LinearPicture **distorted);

#endif
