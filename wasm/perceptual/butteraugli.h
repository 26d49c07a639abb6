/*
 * butteraugli.h - Butteraugli of libjxl since 0.8 (BSD-3-Clause; constants and formulas of lib/jxl/butteraugli).
 *
 * Both pictures become opponent colours X, Y and B after adaptation. These are divided into four bands: low (LF),
 * medium (MF), high (HF) and ultra high (UHF). Differences of bands are weighed, summed along lines ("Malta") and
 * masked by what the reference has there. Stages go through pictures by rows and keep those that their filters reach.
 */
#ifndef PERCEPTUAL_BUTTERAUGLI_H
#define PERCEPTUAL_BUTTERAUGLI_H

#include <stddef.h>
#include <stdint.h>

enum {
    BUTTERAUGLI_LEAST_SIDE = 8,  /* smaller pictures are extended */
    BUTTERAUGLI_LANES = 16,      /* functions of rows may write up to a multiple of this */
    BUTTERAUGLI_PAD = 16,        /* floats on both sides of a padded row */
    BUTTERAUGLI_MAX_RADIUS = 16, /* at most BUTTERAUGLI_PAD */
    BUTTERAUGLI_LINE_REACH = 4,  /* rows and columns that lines reach from their centre */
    BUTTERAUGLI_LINE_ROWS = 9,
    BUTTERAUGLI_EROSION = 3, /* distance of the neighbours that erode the mask */
};

/* Width of a row with what functions may write behind it. */
static inline size_t butteraugli_stride(uint32_t width)
{
    return (width + BUTTERAUGLI_LANES - 1) & ~(size_t)(BUTTERAUGLI_LANES - 1);
}

/* How the difference of two bands is scaled before it is summed along lines. */
typedef struct ButteraugliContrast {
    float two_sided, one_sided; /* weights of the difference, and of its part beyond what the reference explains */
    float norm;
} ButteraugliContrast;

/* Columns of functions for rows of n values; see dsp.h of the core for how columns work. */
typedef struct ButteraugliDsp {
    /*
     * dst[x] = scale[x] * sum of taps[|k|] * row[x + k] for |k| <= radius, from the centre outwards. Reads radius
     * floats before the row, and as many behind its stride.
     */
    void (*blur_row)(const float *row, const float *taps, uint32_t radius, const float *scale, uint32_t n, float *dst);
    /* The same down 2 * radius + 1 rows, with one scale for all of them. */
    void (*blur_column)(const float *const *rows, const float *taps, uint32_t radius, float scale, uint32_t n,
                        float *dst);

    /* X, Y and B of linear light, where 1 is `nits` cd/m2; adapted to the blurred light around. */
    void (*opsin)(const float *const rgb[3], const float *const blurred[3], float nits, uint32_t n,
                  float *const xyb[3]);

    /* a -= b. */
    void (*subtract)(float *a, const float *b, uint32_t n);
    /* sum = squared differences of the low bands, of which B is a difference already. */
    void (*low)(const float *const reference[2], const float *const distorted[2], const float *b, uint32_t n,
                float *sum);
    /* Takes the medium band out of X and Y, which leaves HF and UHF; then weighs both. */
    void (*medium)(float *const xy[2], float *const medium[2], uint32_t n);
    /* Divides X and Y into UHF, which stays, and HF, whose blurred values high holds. */
    void (*high)(float *const xy[2], float *const high[2], uint32_t n);

    /* sum = weight * d^2. */
    void (*square)(const float *d, float weight, uint32_t n, float *sum);
    /* sum += weight * (p - q)^2. */
    void (*squares)(const float *p, const float *q, float weight, uint32_t n, float *sum);
    /* The same, and once more for the part of q outside of 0.4 p .. p. */
    void (*one_sided)(const float *p, const float *q, float weight, uint32_t n, float *sum);
    /* The difference of two bands as lines sum it. */
    void (*contrast)(const float *p, const float *q, const ButteraugliContrast *weights, uint32_t n, float *dst);
    /* sum += squared sums along the lines through each value of the middle row, over 5 of 9 values. */
    void (*sparse_lines)(const float *const rows[BUTTERAUGLI_LINE_ROWS], uint32_t n, float *sum);
    /* The same over all 9 or 7. */
    void (*dense_lines)(const float *const rows[BUTTERAUGLI_LINE_ROWS], uint32_t n, float *sum);

    /* How much a picture hides differences, before the blur. */
    void (*activity)(const float *const ultra[2], const float *const high[2], uint32_t n, float *dst);
    /*
     * The difference of each pixel. activity: the blurred rows BUTTERAUGLI_EROSION above, at and below it, readable as
     * far on both sides. ac and difference may be the same.
     */
    void (*difference)(const float *const activity[3], const float *dc, const float *ac, uint32_t n, float *difference);
} ButteraugliDsp;

#define BUTTERAUGLI_DSP(suffix)                                                                                        \
    {                                                                                                                  \
        .blur_row = butteraugli_blur_row_##suffix, .blur_column = butteraugli_blur_column_##suffix,                    \
        .opsin = butteraugli_opsin_##suffix, .subtract = butteraugli_subtract_##suffix,                                \
        .low = butteraugli_low_##suffix, .medium = butteraugli_medium_##suffix, .high = butteraugli_high_##suffix,     \
        .square = butteraugli_square_##suffix, .squares = butteraugli_squares_##suffix,                                \
        .one_sided = butteraugli_one_sided_##suffix,                                                                   \
        .contrast = butteraugli_contrast_##suffix, .sparse_lines = butteraugli_sparse_lines_##suffix,                  \
        .dense_lines = butteraugli_dense_lines_##suffix, .activity = butteraugli_activity_##suffix,                    \
        .difference = butteraugli_difference_##suffix,                                                                 \
    }

#define BUTTERAUGLI_FUNCTIONS(suffix)                                                                                  \
    void butteraugli_blur_row_##suffix(const float *, const float *, uint32_t, const float *, uint32_t, float *);      \
    void butteraugli_blur_column_##suffix(const float *const *, const float *, uint32_t, float, uint32_t, float *);    \
    void butteraugli_opsin_##suffix(const float *const[3], const float *const[3], float, uint32_t, float *const[3]);   \
    void butteraugli_subtract_##suffix(float *, const float *, uint32_t);                                              \
    void butteraugli_low_##suffix(const float *const[2], const float *const[2], const float *, uint32_t, float *);     \
    void butteraugli_medium_##suffix(float *const[2], float *const[2], uint32_t);                                      \
    void butteraugli_high_##suffix(float *const[2], float *const[2], uint32_t);                                        \
    void butteraugli_square_##suffix(const float *, float, uint32_t, float *);                                         \
    void butteraugli_squares_##suffix(const float *, const float *, float, uint32_t, float *);                         \
    void butteraugli_one_sided_##suffix(const float *, const float *, float, uint32_t, float *);                       \
    void butteraugli_contrast_##suffix(const float *, const float *, const ButteraugliContrast *, uint32_t, float *);  \
    void butteraugli_sparse_lines_##suffix(const float *const[BUTTERAUGLI_LINE_ROWS], uint32_t, float *);              \
    void butteraugli_dense_lines_##suffix(const float *const[BUTTERAUGLI_LINE_ROWS], uint32_t, float *);               \
    void butteraugli_activity_##suffix(const float *const[2], const float *const[2], uint32_t, float *);               \
    void butteraugli_difference_##suffix(const float *const[3], const float *, const float *, uint32_t, float *);

BUTTERAUGLI_FUNCTIONS(c)
BUTTERAUGLI_FUNCTIONS(simd)

/* A Gaussian blur of a plane by rows. Rows are pushed in order; row y can be pulled once row y + radius was pushed. */
typedef struct ButteraugliBlur {
    const ButteraugliDsp *dsp;
    uint32_t width, height, radius;
    int mirrored;                           /* at borders; otherwise only what lies inside is averaged */
    float taps[BUTTERAUGLI_MAX_RADIUS + 1]; /* from the centre outwards */
    float *scale;                           /* of each column, for what lies outside */
    float *source;                          /* a mirrored row */
    float *ring;                            /* 2 * radius + 1 rows, blurred along x */
    float *outside;                         /* a row of zeros */
} ButteraugliBlur;

typedef struct ButteraugliWindow {
    double sigma;
    int mirrored;
} ButteraugliWindow;

size_t butteraugli_blur_bytes(const ButteraugliWindow *window, uint32_t width);
/* Takes its memory from *next. */
void butteraugli_blur_open(ButteraugliBlur *blur, const ButteraugliDsp *dsp, const ButteraugliWindow *window,
                           uint32_t width, uint32_t height, uint8_t **next);
/* Unless the blur is mirrored, the row has BUTTERAUGLI_PAD zeros before it, and as many behind its stride. */
void butteraugli_blur_push(ButteraugliBlur *blur, const float *row, uint32_t y);
void butteraugli_blur_pull(const ButteraugliBlur *blur, uint32_t y, float *dst);

/* The last rows of a plane, padded with a value on all sides. */
typedef struct ButteraugliRows {
    uint32_t width, height, count;
    float padding;
    float *ring, *outside;
} ButteraugliRows;

size_t butteraugli_rows_bytes(uint32_t count, uint32_t width);
void butteraugli_rows_open(ButteraugliRows *rows, uint32_t count, float padding, uint32_t width, uint32_t height,
                           uint8_t **next);
/* Where row y stands or goes; a row of padding for one outside the plane. */
float *butteraugli_rows_at(const ButteraugliRows *rows, int32_t y);
/* Restores the padding behind a row that was written. */
void butteraugli_rows_close(const ButteraugliRows *rows, uint32_t y);

/* A pair at one scale: planes R, G and B of both pictures, whose rows begin `pitch` floats apart. */
typedef struct ButteraugliPair {
    const float *rgb[2][3];
    uint32_t width, height; /* both at least BUTTERAUGLI_LEAST_SIDE */
    size_t pitch;
    float nits[2];
} ButteraugliPair;

size_t butteraugli_scale_bytes(uint32_t width, uint32_t height);
/* Row y of a plane whose rows are padded. */
static inline float *butteraugli_row(float *plane, uint32_t width, uint32_t y)
{
    return plane + BUTTERAUGLI_PAD + (butteraugli_stride(width) + BUTTERAUGLI_PAD) * y;
}

/* The difference of each pixel at one scale, as a plane of padded rows that lies in the memory given. */
float *butteraugli_scale(const ButteraugliDsp *dsp, const ButteraugliPair *pair, uint8_t *memory);

#endif
