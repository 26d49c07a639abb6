/* cambi.h - the parts of CAMBI: the measure of a plane, its tables and the twins of its passes; see dsp.h. */
#ifndef ANYVMAF_CAMBI_H
#define ANYVMAF_CAMBI_H

#include <stddef.h>
#include <stdint.h>

/* Largest number of contrasts: 2^max_log_contrast with max_log_contrast 0..5. */
#define CAMBI_MAX_CONTRASTS 32
/* Samples are 0..1024: rounding to ten bits is not clipped. */
#define CAMBI_LEVELS 1025
#define CAMBI_MAX_WINDOW 65
#define CAMBI_SCALES 5

/* Parameters common to reference and distorted. */
typedef struct CambiSight {
    uint32_t contrasts;                   /* 1, 2, 4 ... 32 */
    int32_t limits[CAMBI_MAX_CONTRASTS];  /* brightest sample at which a step of i + 1 is seen */
    int32_t floor;                        /* darker samples are not seen */
    float reciprocals[CAMBI_MAX_WINDOW * CAMBI_MAX_WINDOW + 1];
} CambiSight;

/* eotf: 0 BT.1886, 1 PQ. */
void cambi_build_sight(uint32_t contrasts, double tvi_threshold, double luminance_threshold, uint32_t eotf,
                       CambiSight *sight);

/* One plane of one size. */
typedef struct CambiPlane {
    uint32_t width, height, bit_depth;    /* of the samples handed in */
    uint32_t to_width, to_height;         /* they are resampled to this size first */
    uint32_t window;                      /* odd, at most CAMBI_MAX_WINDOW */
    uint32_t blur;                        /* non-zero: undo dithering, as for pictures encoded at less than ten bits */
    uint32_t halve;                       /* non-zero: measure half the size, the high resolution speed-up */
    double top;                           /* share of the samples that count, the most visible first */
} CambiPlane;

size_t cambi_scratch_bytes(uint32_t to_width, uint32_t to_height);

struct AnyvmafDsp;

/*
 * Banding of a plane, 0 if none. scratch: cambi_scratch_bytes(). heat: NULL, or the output for the contrasts of all scales.
 * ANYVMAF_EINVAL if a sample needs more bits than bit_depth.
 */
int32_t cambi_measure(const struct AnyvmafDsp *dsp, const void *plane, const CambiPlane *shape, const CambiSight *sight,
                      void *scratch, uint16_t *heat, double *out);

/* Maximum columns by which a window extends past one side. */
#define CAMBI_MAX_REACH (CAMBI_MAX_WINDOW / 2)

/*
 * If a scale is narrower than half its window, libvmaf reads up to that half, where larger scales left samples, since
 * pictures are halved in place. Each such sample counts in all windows of its rows. Column x of row y is at
 * y * CAMBI_MAX_REACH + x.
 */
typedef struct CambiBeyond {
    uint16_t *image;
    uint8_t *mask;
    uint32_t end; /* columns up to here count */
} CambiBeyond;

/* One scale of a plane: samples, a mask of those flat enough to show banding, and data shared by its rows. */
typedef struct CambiField {
    const uint16_t *image;
    const uint8_t *mask; /* 0 or 1 */
    uint32_t width, height, window;
    CambiBeyond beyond;
    void *counts; /* cambi_counts_bytes() for what one row leaves for the next */
} CambiField;

/* Counted values: every sample value, with the largest contrast above and below. */
#define CAMBI_COUNTED (CAMBI_LEVELS + CAMBI_MAX_CONTRASTS)
/* Counts of a value: one per column, with room for windows past the sides. */
static inline size_t cambi_counts_stride(uint32_t width) { return (size_t)width + 2 * CAMBI_MAX_WINDOW + 8; }
size_t cambi_counts_bytes(uint32_t width);
/* Scratch memory of the passes over rows. */
size_t cambi_rows_bytes(uint32_t width);

/* Weights of the contrasts 1..32. */
extern const uint8_t cambi_weights[CAMBI_MAX_CONTRASTS];

/* The most visible step from a sample to those in its window; counts of value v lie at counts[v * stride]. */
static inline float cambi_contrast_at(const CambiSight *sight, uint32_t sample, const uint16_t *counts, size_t stride)
{
    const int32_t own = counts[sample * stride];
    float most = 0;
    for (uint32_t i = 0; i < sight->contrasts; i++) {
        const uint32_t step = i + 1;
        if ((int32_t)sample > sight->limits[i] || (int32_t)(sample + sight->contrasts + step) <= sight->floor)
            continue;
        const int32_t above = counts[(sample + step) * stride];
        const int32_t below = sample >= step ? counts[(sample - step) * stride] : 0;
        const int32_t other = above > below ? above : below;
        const float c = (float)(cambi_weights[i] * own * other) * sight->reciprocals[own + other];
        if (c > most)
            most = c;
    }
    return most;
}

/* The value of two of the three, else the smallest. */
static inline uint16_t cambi_mode3(uint16_t a, uint16_t b, uint16_t c)
{
    if (a == b || a == c)
        return a;
    if (b == c)
        return b;
    const uint16_t least = a < b ? a : b;
    return least < c ? least : c;
}

uint32_t cambi_load_c(const void *src, uint32_t n, uint32_t bit_depth, uint16_t *dst);
uint32_t cambi_load_simd(const void *src, uint32_t n, uint32_t bit_depth, uint16_t *dst);
void cambi_blur_c(uint16_t *row, const uint16_t *below, uint32_t n);
void cambi_blur_simd(uint16_t *row, const uint16_t *below, uint32_t n);
void cambi_mask_c(const uint16_t *image, uint32_t width, uint32_t height, uint32_t threshold, void *scratch,
                  uint8_t *mask);
void cambi_mask_simd(const uint16_t *image, uint32_t width, uint32_t height, uint32_t threshold, void *scratch,
                     uint8_t *mask);
void cambi_mode_c(uint16_t *image, uint32_t width, uint32_t height, void *scratch);
void cambi_mode_simd(uint16_t *image, uint32_t width, uint32_t height, void *scratch);
uint32_t cambi_contrast_c(const CambiField *field, const CambiSight *sight, uint32_t y, float *contrast);
uint32_t cambi_contrast_simd(const CambiField *field, const CambiSight *sight, uint32_t y, float *contrast);

#endif
