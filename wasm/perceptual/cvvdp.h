/*
 * cvvdp.h - the twins of ColorVideoVDP 0.5.6 and what they share. The method, its parameters and its table are of
 * gfxdisp/ColorVideoVDP, MIT licence; the code is our own.
 *
 * Colours are in DKL: channel 0 is light and dark, 1 red and green, 2 yellow and violet, all sustained, and 3 is light
 * and dark once more, transient, which stills lack. Rows are read and written up to a vector beyond their end.
 */
#ifndef PERCEPTUAL_CVVDP_H
#define PERCEPTUAL_CVVDP_H

#include <stddef.h>
#include <stdint.h>

#define CVVDP_CHANNELS 4
/* Planes of a level: the channels of the distorted picture, then those of the reference. */
#define CVVDP_PLANES (2 * CVVDP_CHANNELS)
#define CVVDP_REFERENCE CVVDP_CHANNELS
/* Frames that one frame is made of, at the highest frame rate. */
#define CVVDP_MAX_RATE 240
#define CVVDP_MAX_TAPS 61
/* Bands of the largest picture. */
#define CVVDP_MAX_BANDS 14

/* Nodes of the table of sensitivities, by frequency and by luminance. */
#define CSF_NODES 32

/* Every power x^p of the method is (x + e)^p - e^p. */
#define POWER_START 1e-5F
/* No background is darker, cd/m2. */
#define DARKEST 0.01F
/* Contrast ends here. */
#define MOST_CONTRAST 1000.0F
/* Where differences saturate. */
#define MOST_DIFFERENCE 366.644745F
/* No luminance of HLG's scene is taken for darker, so that black has a logarithm. */
#define DARKEST_SCENE 1e-9F

/* How much channel k masks channel c, [k][c]. */
static const float cvvdp_cross_masking[CVVDP_CHANNELS][CVVDP_CHANNELS] = {
    {0.876908958F, 0.0160403438F, 0.0501242988F, 0.2620368F},
    {5.9198451F, 1.26932991F, 0.151811555F, 0.708557844F},
    {14.0435638F, 0.498211205F, 0.697692096F, 0.675784528F},
    {0.00752146076F, 0.0216851216F, 0.0877387673F, 0.235198393F},
};

/* Luminance of RGB with the primaries of BT.2020. */
static const float cvvdp_luminance_2020[3] = {0.2627F, 0.6780F, 0.0593F};

/* Half of the blur of masks, from its centre to its edge: 13 taps. */
#define BLUR_REACH 6
#define BLUR_TAPS (2 * BLUR_REACH + 1)
typedef struct CvvdpBlur {
    float taps[BLUR_REACH + 1];
} CvvdpBlur;

/* The display: what it emits for linear RGB, as DKL. */
typedef struct CvvdpLight {
    float low, high;    /* RGB is cut off there */
    float ootf;         /* exponent of HLG's luminance of the scene; 0: the display has no such curve */
    float matrix[3][3]; /* RGB to DKL */
    float offset[3];    /* DKL of black, with the light that the screen reflects */
} CvvdpLight;

/* Sensitivity of the channels in one band: log2 of it by log2 of the background's luminance. */
typedef struct CvvdpSensitivity {
    float scale, offset; /* from that logarithm to a place among the nodes */
    /* At the nodes, and from each to the next. */
    float node[CSF_NODES][CVVDP_CHANNELS], step[CSF_NODES][CVVDP_CHANNELS];
} CvvdpSensitivity;

/* The functions of the metric; n counts samples of a row unless told otherwise. */
typedef struct CvvdpDsp {
    /* Adds the DKL colours of n samples, channel by channel times its weight. channels: 3 without the transient one. */
    void (*light)(const float *const rgb[3], size_t n, const CvvdpLight *light, const float weights[CVVDP_CHANNELS],
                  uint32_t channels, float *const out[CVVDP_CHANNELS]);
    /* Five rows of a level as one. */
    void (*reduce_rows)(const float *const rows[5], uint32_t n, float *out);
    /* Every second sample of a row, of 2n + 3 samples from row[-2]. */
    void (*reduce_columns)(const float *row, uint32_t n, float *out);
    /* The row of the next level between three rows. */
    void (*expand_rows)(const float *const rows[3], const float weights[3], uint32_t n, float *out);
    /* 2n samples of n + 2 from row[-1]. */
    void (*expand_columns)(const float *row, uint32_t n, float *out);
    /*
     * Contrast of both pictures as it is seen: the difference of theirs, and what is common to both. fine: rows of the
     * level, coarse: of the next one, expanded.
     */
    void (*contrast)(const float *const fine[CVVDP_PLANES], const float *const coarse[CVVDP_PLANES], uint32_t n,
                     const CvvdpSensitivity *sensitivity, uint32_t channels, float *const difference[CVVDP_CHANNELS],
                     float *const common[CVVDP_CHANNELS]);
    /* The blur of n + 12 samples from row[-6]. */
    void (*blur_columns)(const float *row, const CvvdpBlur *blur, uint32_t n, float *out);
    void (*blur_rows)(const float *const rows[BLUR_TAPS], const CvvdpBlur *blur, uint32_t n, float *out);
    /* (x + e)^exponent - e^exponent, in place, for x from 0. */
    void (*power)(float *values, uint32_t n, float exponent);
    /* Adds the squares of masked differences to four sums for each channel, sample i to sum i % 4. */
    void (*pool)(const float *const difference[CVVDP_CHANNELS], const float *const mask[CVVDP_CHANNELS], uint32_t n,
                 uint32_t channels, double sums[CVVDP_CHANNELS][4]);
} CvvdpDsp;

#define CVVDP_DSP(suffix)                                                                                              \
    {                                                                                                                  \
        .light = cvvdp_light_##suffix, .reduce_rows = cvvdp_reduce_rows_##suffix,                                      \
        .reduce_columns = cvvdp_reduce_columns_##suffix, .expand_rows = cvvdp_expand_rows_##suffix,                    \
        .expand_columns = cvvdp_expand_columns_##suffix, .contrast = cvvdp_contrast_##suffix,                          \
        .blur_columns = cvvdp_blur_columns_##suffix, .blur_rows = cvvdp_blur_rows_##suffix,                            \
        .power = cvvdp_power_##suffix, .pool = cvvdp_pool_##suffix,                                                    \
    }

#define CVVDP_TWINS(suffix)                                                                                            \
    void cvvdp_light_##suffix(const float *const rgb[3], size_t n, const CvvdpLight *light,                            \
                              const float weights[CVVDP_CHANNELS], uint32_t channels,                                  \
                              float *const out[CVVDP_CHANNELS]);                                                       \
    void cvvdp_reduce_rows_##suffix(const float *const rows[5], uint32_t n, float *out);                               \
    void cvvdp_reduce_columns_##suffix(const float *row, uint32_t n, float *out);                                      \
    void cvvdp_expand_rows_##suffix(const float *const rows[3], const float weights[3], uint32_t n, float *out);       \
    void cvvdp_expand_columns_##suffix(const float *row, uint32_t n, float *out);                                      \
    void cvvdp_contrast_##suffix(const float *const fine[CVVDP_PLANES], const float *const coarse[CVVDP_PLANES],       \
                                 uint32_t n, const CvvdpSensitivity *sensitivity, uint32_t channels,                   \
                                 float *const difference[CVVDP_CHANNELS], float *const common[CVVDP_CHANNELS]);        \
    void cvvdp_blur_columns_##suffix(const float *row, const CvvdpBlur *blur, uint32_t n, float *out);                 \
    void cvvdp_blur_rows_##suffix(const float *const rows[BLUR_TAPS], const CvvdpBlur *blur, uint32_t n, float *out);  \
    void cvvdp_power_##suffix(float *values, uint32_t n, float exponent);                                              \
    void cvvdp_pool_##suffix(const float *const difference[CVVDP_CHANNELS], const float *const mask[CVVDP_CHANNELS],   \
                             uint32_t n, uint32_t channels, double sums[CVVDP_CHANNELS][4]);

CVVDP_TWINS(c)
CVVDP_TWINS(simd)

#endif
