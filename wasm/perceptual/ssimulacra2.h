/*
 * ssimulacra2.h - the parts of SSIMULACRA 2.1 and their twins. Recipe and constants: cloudinary/ssimulacra2 81feacf and
 * libjxl, BSD-3-Clause.
 *
 * All functions take rows of binary32 values. "Padded" rows have SSIM2_LEFT readable floats before their start and
 * SSIM2_RIGHT after their end. Twins may write up to three floats past the end of a padded row; the driver clears them.
 */
#ifndef PERCEPTUAL_SSIMULACRA2_H
#define PERCEPTUAL_SSIMULACRA2_H

#include <stddef.h>
#include <stdint.h>

#define SSIM2_LEFT 12
#define SSIM2_RIGHT 20

/* Rows that are filtered together; outputs of the filters lag behind by as many. */
#define SSIM2_STRIP 4

/* Rows above and below that the blur reads. */
#define SSIM2_REACH 4

#define SSIM2_FAST_PLANES 4
#define SSIM2_EXACT_PLANES 5

/* The maps of a channel that have a weight. */
enum Ssim2Parts {
    SSIM2_SSIM = 1,
    SSIM2_EDGES = 2,
};

/* Sums over a map and over its fourth powers, in the order of the weights. */
enum Ssim2Sum {
    SSIM2_ERROR,
    SSIM2_ARTIFACT,
    SSIM2_LOST,
    SSIM2_ERROR4,
    SSIM2_ARTIFACT4,
    SSIM2_LOST4,
    SSIM2_SUMS,
};

/* Stabilises the quotient of variances. */
#define SSIM2_C2 0.0009F

/* LMS of linear RGB, and its bias with the cube root of that. */
#define SSIM2_M02 0.078F
#define SSIM2_M00 0.30F
#define SSIM2_M01 (1.0F - SSIM2_M02 - SSIM2_M00)
#define SSIM2_M12 0.078F
#define SSIM2_M10 0.23F
#define SSIM2_M11 (1.0F - SSIM2_M12 - SSIM2_M10)
#define SSIM2_M20 0.24342268924547819F
#define SSIM2_M21 0.20476744424496821F
#define SSIM2_M22 (1.0F - SSIM2_M20 - SSIM2_M21)
#define SSIM2_BIAS 0.0037930732552754493F
#define SSIM2_BIAS_ROOT 0.155954197F

/* Fast: the bits of 1 / cbrt(x) are about this less a third of the bits of x. */
#define SSIM2_ROOT_GUESS 0x54ac6000

/* The blur's impulse response from its centre: a sum of three truncated cosines that fits a Gaussian of sigma 1.5. */
static const float ssim2_taps[SSIM2_REACH + 1] = {0.264621109F, 0.212928593F, 0.109335370F, 0.0360111147F,
                                                  0.00941436738F};

/* The same blur as three recursions v[n] = GAIN * s[n] - DECAY * v[n-1] - v[n-2], where s is the sum of two samples. */
#define SSIM2_GAIN1 0.05529523572608661
#define SSIM2_GAIN3 (-0.05883668702694999)
#define SSIM2_GAIN5 0.012955819110517068
#define SSIM2_DECAY1 (-1.902113032590307)
#define SSIM2_DECAY3 (-1.1755705045849463)
#define SSIM2_DECAY5 (-1.2246467991473532e-16)

/* A recursion unrolled by four: v[n+i] from s[n..n+i], v[n-1] and v[n-2]. */
typedef struct Ssim2Recursion {
    float sums[4];    /* of s[n+i], s[n+i-1], ... */
    float last[4];    /* of v[n-1], by i */
    float earlier[4]; /* of v[n-2] */
} Ssim2Recursion;

#define SSIM2_RECURSION(g, d)                                                                                          \
    {                                                                                                                  \
        .sums = {(float)(g), (float)(-(d) * (g)), (float)((d) * (d) * (g) - (g)),                                      \
                 (float)(-(d) * (d) * (d) * (g) + 2 * (d) * (g))},                                                     \
        .last = {(float)-(d), (float)((d) * (d)-1), (float)(-(d) * (d) * (d) + 2 * (d)),                               \
                 (float)((d) * (d) * (d) * (d)-3 * (d) * (d) + 1)},                                                    \
        .earlier = {-1, (float)(d), (float)(-(d) * (d) + 1), (float)((d) * (d) * (d)-2 * (d))},                        \
    }

static const Ssim2Recursion ssim2_recursions[3] = {
    SSIM2_RECURSION(SSIM2_GAIN1, SSIM2_DECAY1),
    SSIM2_RECURSION(SSIM2_GAIN3, SSIM2_DECAY3),
    SSIM2_RECURSION(SSIM2_GAIN5, SSIM2_DECAY5),
};

typedef struct Ssim2Dsp {
    /* "Positive" XYB of n pixels of linear RGB. Exact: with the reference's cube root. */
    void (*xyb)(const float *const rgb[3], uint32_t n, float *const xyb[3]);
    void (*exact_xyb)(const float *const rgb[3], uint32_t n, float *const xyb[3]);
    /* Means of 2x2 samples of two rows of `width` samples; an odd last column counts twice. */
    void (*halve)(const float *upper, const float *lower, uint32_t width, float *dst);

    /* Fast: a*a + b*b and (a - b)^2. */
    void (*squares)(const float *a, const float *b, uint32_t n, float *sum, float *difference);
    /* Fast: the vertical blur of four rows, rows[SSIM2_REACH] being the first of them. */
    void (*columns)(const float *const rows[SSIM2_STRIP + 2 * SSIM2_REACH], uint32_t n,
                    float *const dst[SSIM2_STRIP]);
    /*
     * Fast: blurs padded rows of a, b and their squares() horizontally and adds to sums the row's maps. ab: the row
     * before any blur. Each sum of a row is four binary32 sums, of columns 0, 4, 8, ... to 3, 7, 11, ...
     */
    void (*terms)(const float *const blurred[SSIM2_FAST_PLANES], const float *const ab[2], uint32_t n, uint32_t parts,
                  double sums[SSIM2_SUMS]);

    /* Exact: a*b. */
    void (*products)(const float *a, const float *b, uint32_t n, float *product);
    /* Exact: the horizontal blur of four padded rows. */
    void (*exact_rows)(const float *const src[SSIM2_STRIP], uint32_t n, float *const dst[SSIM2_STRIP]);
    /*
     * Exact: the vertical blur of four rows from horizontally blurred rows above and below them; state has rows v[n-1]
     * and v[n-2] of each recursion.
     */
    void (*exact_columns)(const float *const above[SSIM2_STRIP], const float *const below[SSIM2_STRIP], uint32_t n,
                          float *const state[6], float *const dst[SSIM2_STRIP]);
    /*
     * Exact: adds the maps of a row to sums; blurred: a, b, a*a, b*b, a*b. Each sum of a row is two binary64 sums, of
     * even and of odd columns.
     */
    void (*exact_terms)(const float *const blurred[SSIM2_EXACT_PLANES], const float *const ab[2], uint32_t n,
                        uint32_t parts, double sums[SSIM2_SUMS]);
} Ssim2Dsp;

#define SSIMULACRA2_DSP(suffix)                                                                                        \
    {                                                                                                                  \
        .xyb = ssim2_xyb_##suffix, .exact_xyb = ssim2_exact_xyb_##suffix, .halve = ssim2_halve_##suffix,               \
        .squares = ssim2_squares_##suffix, .columns = ssim2_columns_##suffix, .terms = ssim2_terms_##suffix,           \
        .products = ssim2_products_##suffix, .exact_rows = ssim2_exact_rows_##suffix,                                  \
        .exact_columns = ssim2_exact_columns_##suffix, .exact_terms = ssim2_exact_terms_##suffix,                      \
    }

#define SSIM2_TWINS(suffix)                                                                                            \
    void ssim2_xyb_##suffix(const float *const rgb[3], uint32_t n, float *const xyb[3]);                               \
    void ssim2_exact_xyb_##suffix(const float *const rgb[3], uint32_t n, float *const xyb[3]);                         \
    void ssim2_halve_##suffix(const float *upper, const float *lower, uint32_t width, float *dst);                     \
    void ssim2_squares_##suffix(const float *a, const float *b, uint32_t n, float *sum, float *difference);            \
    void ssim2_columns_##suffix(const float *const rows[SSIM2_STRIP + 2 * SSIM2_REACH], uint32_t n,                    \
                                float *const dst[SSIM2_STRIP]);                                                        \
    void ssim2_terms_##suffix(const float *const blurred[SSIM2_FAST_PLANES], const float *const ab[2], uint32_t n,     \
                              uint32_t parts, double sums[SSIM2_SUMS]);                                                \
    void ssim2_products_##suffix(const float *a, const float *b, uint32_t n, float *product);                          \
    void ssim2_exact_rows_##suffix(const float *const src[SSIM2_STRIP], uint32_t n, float *const dst[SSIM2_STRIP]);    \
    void ssim2_exact_columns_##suffix(const float *const above[SSIM2_STRIP], const float *const below[SSIM2_STRIP],    \
                                      uint32_t n, float *const state[6], float *const dst[SSIM2_STRIP]);               \
    void ssim2_exact_terms_##suffix(const float *const blurred[SSIM2_EXACT_PLANES], const float *const ab[2],          \
                                    uint32_t n, uint32_t parts, double sums[SSIM2_SUMS]);

SSIM2_TWINS(c)
SSIM2_TWINS(simd)

#endif
