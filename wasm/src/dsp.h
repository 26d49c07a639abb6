/*
 * dsp.h - the table of functions a metric is made of. Two columns exist: portable C, which defines the result, and
 * SIMD128, which must equal it to the last bit (test/wasm compares them on random and extreme input).
 */
#ifndef ANYVMAF_DSP_H
#define ANYVMAF_DSP_H

#include <stddef.h>
#include <stdint.h>

/* One scale of VIF: a pair of packed planes. */
typedef struct VifInput {
    const void *reference; /* uint8_t at scale 0 of 8-bit video, uint16_t otherwise */
    const void *distorted;
    uint32_t width, height;
    uint32_t bit_depth; /* of the video; the planes of scales 1..3 hold 16 bits whatever it is */
    uint32_t scale;     /* 0..3 */
} VifInput;

#define VIF_MAX_GAINS 16

/* Sums over all pixels of a scale (spec 3.5). */
typedef struct VifSums {
    int64_t num_log[VIF_MAX_GAINS]; /* per gain limit */
    int64_t den_log;
    int64_t num_non_log;
    int64_t den_non_log;
} VifSums;

/* Tables of the VIF logarithm (spec 3.4), built by vif_build_tables(). */
#define VIF_LOG_ENTRIES 32768
typedef struct VifTables {
    uint16_t log2[VIF_LOG_ENTRIES]; /* 2048 * log2(i) for i = 32768..65535 */
    /* Difference of the table to the line through its upper bits: log2[m] - 30720 - (m >> 4). */
    uint8_t offsets[VIF_LOG_ENTRIES];
} VifTables;

typedef struct AdmRegion {
    /* Columns left..right and rows top..bottom (half open) are measured; the grown region around them is decoupled. */
    uint32_t left, right, top, bottom;
    uint32_t grown_left, grown_right, grown_top, grown_bottom;
} AdmRegion;

/* Windows of floating-point VIF. */
#define FLOAT_VIF_SIGNALS 5
typedef struct FloatVifNoise {
    double sigma_nsq, gain_limit;
    float sigma_max_inv;
} FloatVifNoise;

/* Floating-point ADM: rows above, at and below of one band's neighbour terms, readable from -1 to n, and its sizes. */
#define FLOAT_ADM_NEIGHBOUR 0.0333333351
#define FLOAT_ADM_CENTRE 0.0666666701
typedef struct FloatAdmMask {
    const float *rows[3];
    const float *centre;
} FloatAdmMask;

struct HvsTables;  /* psnr_hvs.h */
struct CambiField; /* cambi.h */
struct CambiSight; /* cambi.h */
struct CiedeRow;    /* ciede.h */
struct CiedeFormat; /* ciede.h */
struct CiedeTables; /* ciede.h */

typedef struct AnyvmafDsp {
    /*
     * Statistics of one scale. scratch: vif_scratch_bytes(). sums are overwritten.
     * gain_limits: `count` (1..VIF_MAX_GAINS) values of 1..100.
     */
    void (*vif_statistics)(const VifInput *input, const VifTables *tables, const double *gain_limits, uint32_t count,
                           void *scratch, VifSums *sums);

    /*
     * Low-passes a plane with the filter of `scale` (1..3) and keeps even rows and columns:
     * dst is (width / 2) x (height / 2). src is uint8_t when scale is 1 and bit_depth 8, uint16_t otherwise.
     */
    void (*vif_decimate)(const void *src, uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t scale,
                         void *scratch, uint16_t *dst);

    /*
     * One row of the first wavelet level. rows: the four source rows, reflection already resolved.
     * Band a has (width + 1) / 2 coefficients; of h, v, d only columns from..to - 1 are wanted, none if to is 0. Up to 7
     * further coefficients may be written on both sides. scratch: adm_scratch_bytes().
     */
    void (*adm_wavelet_s0)(const void *const rows[4], uint32_t width, uint32_t bit_depth, uint32_t from, uint32_t to,
                           int16_t *scratch, int16_t *const bands[4]);
    /* The same for level 1 (from the int16_t band a of level 0). */
    void (*adm_wavelet_s1)(const int16_t *const rows[4], uint32_t width, uint32_t from, uint32_t to, int32_t *scratch,
                           int32_t *const bands[4]);
    /* The same for levels 2 and 3. */
    void (*adm_wavelet_s23)(const int32_t *const rows[4], uint32_t width, uint32_t scale, uint32_t from, uint32_t to,
                            int32_t *scratch, int32_t *const bands[4]);

    /* Splits n distorted coefficients of bands h, v, d into restored and additive parts (spec 4.5). */
    void (*adm_decouple_s0)(const int16_t *const reference[3], const int16_t *const distorted[3], uint32_t n,
                            double gain_limit, int16_t *const restored[3], int16_t *const additive[3]);
    void (*adm_decouple_s123)(const int32_t *const reference[3], const int32_t *const distorted[3], uint32_t n,
                              double gain_limit, int32_t *const restored[3], int32_t *const additive[3]);

    /*
     * Masking signals of n coefficients (spec 4.7, 4.8): neighbour = sum over the bands of Q,
     * centre = sum over the bands of M minus that of Q, so that a threshold is a 3x3 sum of neighbours plus centre.
     */
    void (*adm_mask_s0)(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2], int32_t *neighbour,
                        int32_t *centre);
    /* The same for scales 1..3, where |C| is what contrast measures too: sizes receives it, band by band. */
    void (*adm_mask_s123)(const int32_t *const bands[3], uint32_t n, const uint32_t fi[2], int32_t *const sizes[3],
                          int32_t *neighbour, int32_t *centre);

    /*
     * Row sums of cubes of n coefficients above the threshold (spec 4.8), for bands h, v, d.
     * rows: neighbours of the row above, the row itself and the row below, each readable from -1 to n.
     * shift: c of band h and v, and of band d.
     */
    void (*adm_contrast_s0)(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2],
                            const int32_t *const rows[3], const int32_t *centre, const uint32_t shift[2],
                            int64_t sums[3]);
    /* The same for scales 1..3, from sizes that adm_mask_s123 gave. */
    void (*adm_contrast_s123)(const int32_t *const sizes[3], uint32_t n, const int32_t *const rows[3],
                              const int32_t *centre, uint32_t shift, int64_t sums[3]);

    /* Row sums of the cubes of n reference coefficients (spec 4.9). */
    void (*adm_cubes_s0)(const int16_t *const bands[3], uint32_t n, uint64_t sums[3]);
    void (*adm_cubes_s123)(const int32_t *const bands[3], uint32_t n, uint32_t square_shift, uint32_t shift,
                           uint64_t sums[3]);

    /* Sum of |blur(earlier - current)| (spec 2.1) and of |blur(earlier) - blur(current)| (spec 2.4). */
    uint64_t (*motion_sad)(const void *earlier, const void *current, uint32_t width, uint32_t height,
                           uint32_t bit_depth, void *scratch);
    uint64_t (*motion_sad_legacy)(const void *earlier, const void *current, uint32_t width, uint32_t height,
                                  uint32_t bit_depth, void *scratch);

    /* Sum of squared differences of n samples; uint8_t when bit_depth is 8, uint16_t otherwise. */
    uint64_t (*sse)(const void *a, const void *b, uint32_t n, uint32_t bit_depth);

    /*
     * Floating-point metrics. Each output is computed alone and its terms are
     * added in the order given, so that lanes equal loops. Rows are readable, and where stated writable, to a multiple
     * of 16 floats past their end.
     */
    /* dst[j] = sum over k < n of taps[k] * rows[k][j]. */
    void (*float_columns)(const float *const *rows, const float *taps, uint32_t n, uint32_t width, float *dst);
    /* dst[j] = sum over k < n of taps[k] * row[j + k]. */
    void (*float_row)(const float *row, const float *taps, uint32_t n, uint32_t width, float *dst);

    /* Columns of a, b, a * a, b * b and a * b. */
    void (*float_vif_columns)(const float *const *a, const float *const *b, const float *taps, uint32_t n,
                              uint32_t width, float *const out[FLOAT_VIF_SIGNALS]);
    /* Numerator and denominator of each of n samples from their filtered signals. */
    void (*float_vif_terms)(const float *const signals[FLOAT_VIF_SIGNALS], uint32_t n, const FloatVifNoise *noise,
                            float *num, float *den);

    /* One row of a wavelet level, bands a, h, v, d of (width + 1) / 2. scratch: two rows and 32 floats. */
    void (*float_adm_wavelet)(const float *const rows[4], uint32_t width, float *scratch, float *const bands[4]);
    /* Splits n distorted coefficients of bands h, v, d into restored and additive parts. */
    void (*float_adm_decouple)(const float *const reference[3], const float *const distorted[3], uint32_t n,
                               double gain_limit, float *const restored[3], float *const additive[3]);
    /* Weighted sizes of a band, and their contributions to their neighbours' thresholds. */
    void (*float_adm_mask)(const float *masker, uint32_t n, float factor, float *centre, float *neighbour);
    /* Powers p of the parts of n coefficients of three bands above the threshold. masks: NULL for none. */
    void (*float_adm_contrast)(const float *const signal[3], uint32_t n, const float factor[2],
                               const FloatAdmMask masks[3], float p, float *const powers[3]);
    /* Powers p of n weighted coefficients of a band. */
    void (*float_adm_powers)(const float *signal, uint32_t n, float factor, float p, float *powers);

    /* The window of SSIM along a row of a, b, a * a, b * b and a * b: n outputs from n + 10 samples. */
    void (*ssim_rows)(const float *a, const float *b, uint32_t n, float *const out[5]);
    /* The window down eleven such rows; adds n values of SSIM, l, c and s to sums, in order. */
    void (*ssim_terms)(const float *const *const rows[5], uint32_t n, double sums[4]);
    /* n outputs of MS-SSIM's low-pass: output x from samples 2x .. 2x + 8 of nine rows. */
    void (*ssim_halve)(const float *const rows[9], uint32_t n, float *dst);

    /*
     * PSNR-HVS of a plane before normalising: weighted, masked squared differences of all
     * blocks, added up in binary32 in the order of blocks and coefficients. At least 8 x 8 samples of 8..12 bits.
     */
    float (*hvs_sum)(const void *reference, const void *distorted, uint32_t width, uint32_t height,
                     uint32_t bit_depth, const struct HvsTables *tables);

    /* The passes of CAMBI. Brings n samples to ten bits; non-zero if one is out of range. */
    uint32_t (*cambi_load)(const void *src, uint32_t n, uint32_t bit_depth, uint16_t *dst);
    /* Averages n samples with their right and lower neighbours, in place. below: NULL for the last row. */
    void (*cambi_blur)(uint16_t *row, const uint16_t *below, uint32_t n);
    /* 1 where more than threshold samples of the 7x7 around equal their right and lower neighbours. */
    void (*cambi_mask)(const uint16_t *image, uint32_t width, uint32_t height, uint32_t threshold, void *scratch,
                       uint8_t *mask);
    /* Mode of three in rows, then in columns, in place; first and last row stay. scratch: three rows of samples. */
    void (*cambi_mode)(uint16_t *image, uint32_t width, uint32_t height, void *scratch);
    /* The contrast of row y, 0 where the mask is, one row after the other; gives the number of masked samples. */
    uint32_t (*cambi_contrast)(const struct CambiField *field, const struct CambiSight *sight, uint32_t y, float *contrast);

    /* CIEDE2000 of each pixel of a row. */
    void (*ciede_row)(const struct CiedeRow *reference, const struct CiedeRow *distorted,
                      const struct CiedeFormat *format, const struct CiedeTables *tables, float *differences);

    /*
     * Sums over `count` rows of 25 doubles (28 with padding zeros) of the products of each two, j >= i of products[i][j],
     * each in the order of the rows.
     */
    void (*speed_products)(const double *rows, uint32_t count, double (*products)[28]);

    /*
     * Sums of blocks for XPSNR. A row of blocks is `rows` packed rows of `width` samples, cut into blocks of `block`
     * columns, the last of which may have fewer; each block's sum is added to its place in sums. Blocks have at most
     * 728 rows and columns, block is even, and rows are readable to 16 samples past their end. Squared differences:
     */
    void (*xpsnr_sse)(const void *a, const void *b, uint32_t width, uint32_t rows, uint32_t block, uint32_t bit_depth,
                      uint64_t *sums);
    /* Gives the sum of |high-passed samples| of a window in rows of `stride`; reads one sample around it too. */
    uint64_t (*xpsnr_spatial)(const void *window, uint32_t stride, uint32_t width, uint32_t height, uint32_t bit_depth);
    /* The same for groups of two by two samples; reads two samples around the window too. An odd rest is left out. */
    uint64_t (*xpsnr_spatial_big)(const void *window, uint32_t stride, uint32_t width, uint32_t height,
                                  uint32_t bit_depth);
    /*
     * Magnitudes of differences in time of an order, 1 or 2. starts: of the picture, of the one before, and for order 2
     * of the one before that; NULL for zeros.
     */
    void (*xpsnr_temporal)(const void *const starts[3], uint32_t order, uint32_t width, uint32_t rows, uint32_t block,
                           uint32_t bit_depth, uint64_t *sums);
    /* The same for sums of two by two samples. An odd rest is left out. */
    void (*xpsnr_temporal_big)(const void *const starts[3], uint32_t order, uint32_t width, uint32_t rows,
                               uint32_t block, uint32_t bit_depth, uint64_t *sums);
} AnyvmafDsp;

/* The column of the table for an implementation; NULL for an unknown one. */
const AnyvmafDsp *anyvmaf_dsp(uint32_t implementation);

/* Bytes of scratch memory that the functions of a metric need for planes of this size. */
size_t vif_scratch_bytes(uint32_t width, uint32_t height);
size_t motion_scratch_bytes(uint32_t width, uint32_t height);
/* For a row of `width` samples or coefficients; 16 bytes before it may be written too. */
size_t adm_scratch_bytes(uint32_t width);

void vif_build_tables(VifTables *tables);

#endif
