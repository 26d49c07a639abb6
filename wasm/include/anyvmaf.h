/*
 * anyvmaf.h - the complete interface of the CPU core.
 *
 * The core measures one pair of pictures at a time. It has no I/O, no threads and no global state: all state is in a
 * context, which one thread at a time may use. The arithmetic is bit-exact with libvmaf 3.2.0's portable C path.
 *
 * Pictures. A plane is packed, row after row without padding: uint8_t samples for a bit depth of 8, native
 * (little endian) uint16_t for 9..16 with the value in the low bits. Every plane pointer must be 16-byte aligned and
 * ANYVMAF_PLANE_SLACK bytes after the plane's last sample must be readable (their values do not matter);
 * anyvmaf_plane_bytes() includes that slack.
 *
 * Return codes: 0 for success, a negative ANYVMAF_E* otherwise.
 */
#ifndef ANYVMAF_H
#define ANYVMAF_H

#include <stddef.h>
#include <stdint.h>

#define ANYVMAF_ABI_VERSION 3

/* Bytes that must be readable after the last sample of a plane. */
#define ANYVMAF_PLANE_SLACK 64

/* Smallest side of a picture. */
#define ANYVMAF_MIN_SIDE 17
/* Largest side of a picture. */
#define ANYVMAF_MAX_SIDE 16384

#define ANYVMAF_EINVAL (-22) /* an argument out of its range */
#define ANYVMAF_ENOMEM (-12) /* no memory */

/* Which column of the function table a context uses. */
enum AnyvmafImplementation {
    ANYVMAF_PORTABLE = 0, /* plain C: the oracle */
    ANYVMAF_SIMD128 = 1,  /* the same functions in 128-bit SIMD: what ships */
};

typedef struct AnyvmafContext AnyvmafContext;

/* ANYVMAF_ABI_VERSION of the module. */
uint32_t anyvmaf_abi_version(void);

/* 16-byte aligned memory; NULL if memory is short. */
void *anyvmaf_alloc(size_t bytes);
void anyvmaf_free(void *memory);

/* Bytes to allocate for a plane of width x height samples, slack included. */
size_t anyvmaf_plane_bytes(uint32_t width, uint32_t height, uint32_t bit_depth);

/*
 * A context for luma planes of width x height samples of bit_depth (8..16) bits. NULL if an argument is out of range or
 * memory is short. A metric allocates its scratch memory when it first runs.
 */
AnyvmafContext *anyvmaf_open(uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t implementation);
void anyvmaf_close(AnyvmafContext *context);

/*
 * VIF: statistics at four scales for `count` gain limits at once.
 *   gain_limits  count (1..16) values, each 1..100
 *   first_scale  0, or 1 to skip scale 0 (its results are then 0 / -1)
 *   out          count x 8 doubles: numerator of scales 0..3, denominator of scales 0..3, each a binary32 value
 */
int32_t anyvmaf_vif(AnyvmafContext *context, const void *reference, const void *distorted, const double *gain_limits,
                    uint32_t count, uint32_t first_scale, double *out);

/* One parameter set of ADM. Index [scale][0] is for bands h and v, [scale][1] for band d. */
typedef struct AnyvmafAdmVariant {
    double gain_limit;   /* 1..100 */
    double noise_weight; /* 0..1500 */
    float rf[4][2];      /* CSF factors, used by the denominator */
    uint32_t fi[4][2];   /* the same in fixed point, used by the numerators: uint16 at scale 0, uint32 at 1..3 */
    uint32_t skip_aim;   /* non-zero: the AIM numerators are 0 */
    uint32_t skip_scale0;
} AnyvmafAdmVariant;

/*
 * ADM: `count` (1..64) parameter sets on one pair; common parts are computed once.
 *   out  count x 12 doubles: numerator, denominator and AIM numerator of scales 0..3, each a binary32 value
 */
int32_t anyvmaf_adm(AnyvmafContext *context, const void *reference, const void *distorted,
                    const AnyvmafAdmVariant *variants, uint32_t count, double *out);

/*
 * Maps: where in the picture the sums of VIF and ADM come from. Slow: they run the portable functions.
 *
 * The picture is cut into cells, squares of `block` pixels (a power of two, 1..ANYVMAF_MAX_BLOCK). At scale s a cell has a
 * side of block >> s pixels of VIF, of block >> (s + 1) coefficients of ADM, and of 1 where that would be 0. A scale has
 * ceil(width_s / side) x ceil(height_s / side) cells, row after row; width_s is width >> s for VIF, and for ADM width halved
 * upwards s + 1 times. Sums of the cells are integers. Their totals are exactly the sums from which the frame's numerators
 * and denominators are computed.
 */
#define ANYVMAF_MAX_BLOCK 256

/*
 * VIF by cells, for one gain limit.
 *   cells  for scales 0..3 and each cell: logarithms of the numerator, logarithms of the denominator (both in 1/2048),
 *          variance of the pixels without structure (16384 * 65025 make 1), their number
 *          numerator = (float)(c0 / 2048.0 + (c3 - (c2 / 16384.0) / 65025.0)), denominator = (float)(c1 / 2048.0 + c3)
 */
int32_t anyvmaf_vif_map(AnyvmafContext *context, const void *reference, const void *distorted, double gain_limit,
                        uint32_t block, int64_t *cells);

/*
 * ADM by cells, for one parameter set, ignoring skip_aim and skip_scale0. Only the inner region is measured; cells outside
 * are 0.
 *   cells  for scales 0..3 and each cell: sums of cubes of the numerator's bands h, v, d, and of the denominator's, in
 *          units that depend on scale and size; libvmaf's rounding of rows is distributed to cells so that the sum is exact
 *   out    numerators of scales 0..3 and denominators of scales 0..3 from the cells' sums, equal to anyvmaf_adm's
 */
int32_t anyvmaf_adm_map(AnyvmafContext *context, const void *reference, const void *distorted,
                        const AnyvmafAdmVariant *variant, uint32_t block, int64_t *cells, double *out);

/* Motion: sum over all samples of |blur(earlier - current)|, an integer below 2^53. Both are reference planes. */
int32_t anyvmaf_motion(AnyvmafContext *context, const void *earlier, const void *current, double *out);

/* Motion as in libvmaf up to 3.0: sum of |blur(earlier) - blur(current)|. */
int32_t anyvmaf_motion_legacy(AnyvmafContext *context, const void *earlier, const void *current, double *out);

/*
 * Sum of squared differences of two packed planes of `samples` samples, of any size; the context determines bit depth
 * and implementation. out: high and low 32 bits of the sum.
 */
int32_t anyvmaf_sse(AnyvmafContext *context, const void *a, const void *b, uint32_t samples, double *out);

/*
 * The other metrics. Each is one function of the form
 *
 *   int32_t anyvmaf_NAME(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafNameOptions *options,
 *                        double *out);
 *
 * so that a host can call it knowing only its name, options and number of results. Options are structs of doubles only
 * (also for integers and flags), in the order of libvmaf's option tables; the host checks their ranges. A metric without
 * options ignores the pointer. Metrics return measurements; the host computes decibels, clips, blends and combines
 * neighbouring frames.
 *
 * To add one: declare it here, which also exports it. Write its body in src/NAME.c, with scratch memory from
 * core_scratch() and state between frames in core_slot() (context.h). Write src/metrics/NAME.ts with options, features,
 * the call and how results become features, and list it in src/metrics/index.ts.
 */

/* A plane of a picture; samples is NULL if the host does not have it. */
typedef struct AnyvmafPlane {
    const void *samples;
    uint32_t width, height;
} AnyvmafPlane;

/*
 * A picture: luma, Cb, Cr, and alpha for metrics of colour. A serial is unique to a picture; metrics may cache derived data
 * under it.
 */
typedef struct AnyvmafPicture {
    uint32_t serial;
    AnyvmafPlane planes[4];
} AnyvmafPicture;

/* The pair to measure and the pair before it, whose planes are NULL if absent or not needed. */
typedef struct AnyvmafFrames {
    AnyvmafPicture reference, distorted;
    AnyvmafPicture earlier_reference, earlier_distorted;
} AnyvmafFrames;

/* Ways to resample for a prescale option. */
enum AnyvmafResampling {
    ANYVMAF_NEAREST = 0,
    ANYVMAF_BILINEAR = 1,
    ANYVMAF_BICUBIC = 2,
    ANYVMAF_LANCZOS4 = 3,
};

/* Mean squared error of luma in units of 8-bit levels. out: 1. */
int32_t anyvmaf_float_psnr(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out);

/* Mean of luma and of its squares. out: 4: first moment of reference and distorted, second of both. */
int32_t anyvmaf_float_moment(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out);

/* Energy of the filtered reference and of its difference to the filtered distorted. out: 2 binary32 values. */
int32_t anyvmaf_float_ansnr(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out);

typedef struct AnyvmafFloatSsimOptions {
    double scale; /* 1..64: both pictures are reduced by it first */
} AnyvmafFloatSsimOptions;

/* SSIM. out: 4 binary32 values: SSIM and the means of l, c, s. EINVAL if the reduced picture is below 11x11. */
int32_t anyvmaf_float_ssim(AnyvmafContext *context, const AnyvmafFrames *frames,
                           const AnyvmafFloatSsimOptions *options, double *out);

/* Multi-scale SSIM. out: 16: the score, then l, c, s (binary32 values) of scale 0, of scale 1, ..., 4. Sides from 176. */
int32_t anyvmaf_float_ms_ssim(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out);

typedef struct AnyvmafFloatMotionOptions {
    double filter_size; /* 3, 1 for none; anything else is 5 */
    double add_scale1;  /* non-zero: add the same of half-size pictures */
    double add_uv;      /* non-zero: add the same of both chroma planes */
} AnyvmafFloatMotionOptions;

/* Mean absolute difference of the blurred reference to the blurred earlier one. out: 1. */
int32_t anyvmaf_float_motion(AnyvmafContext *context, const AnyvmafFrames *frames,
                             const AnyvmafFloatMotionOptions *options, double *out);

typedef struct AnyvmafFloatVifOptions {
    double enhn_gain_limit; /* 1..100 */
    double kernelscale;     /* 0.1..3.75 */
    double prescale;        /* 0.1..4 */
    double prescale_method; /* AnyvmafResampling */
    double sigma_nsq;       /* 0..5 */
    double skip_scale0;     /* non-zero: results of scale 0 are 0 / -1 */
} AnyvmafFloatVifOptions;

/* VIF in floating point. out: 8 binary32 values: numerator of scales 0..3, denominator of scales 0..3. */
int32_t anyvmaf_float_vif(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafFloatVifOptions *options,
                          double *out);

typedef struct AnyvmafFloatAdmOptions {
    double enhn_gain_limit; /* 1..100 */
    double noise_weight;    /* 0..1500 */
    double p_norm;          /* 1..20 */
    double bypass_cm;       /* non-zero: no contrast masking */
    double skip_scale0;     /* non-zero: results of scale 0 are 0 / 1e-10, and 0 for AIM */
    double factor[4][2];    /* CSF factors, binary32 values: [scale][0] bands h and v, [scale][1] band d */
} AnyvmafFloatAdmOptions;

/* ADM in floating point. out: 12 binary32 values: numerator, denominator and AIM numerator of scales 0..3. */
int32_t anyvmaf_float_adm(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafFloatAdmOptions *options,
                          double *out);

/*
 * PSNR-HVS. out: 3 binary32 values: the weighted, normalised squared error of each plane. Depths up to 12. EINVAL
 * without chroma.
 */
int32_t anyvmaf_psnr_hvs(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out);

/* CIEDE2000. out: 1: mean colour difference of all pixels. EINVAL without chroma. */
int32_t anyvmaf_ciede(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out);

typedef struct AnyvmafCambiOptions {
    double enc_width, enc_height; /* 0 for the picture's own */
    double enc_bitdepth;          /* 6..16, 0 for the picture's own */
    double src_width, src_height; /* 0 for the picture's own */
    double window_size;           /* 15..127 */
    double topk;                  /* 0.0001..1, the effective one of the two options */
    double tvi_threshold;         /* 0.0001..1 */
    double vis_lum_threshold;     /* 0..300 */
    double max_log_contrast;      /* 0..5 */
    double pq;                    /* non-zero: EOTF is PQ, otherwise BT.1886 */
    double high_res_speedup;      /* 0..2160 */
    double full_ref;              /* non-zero: measure the reference too */
} AnyvmafCambiOptions;

/* CAMBI, not limited. out: 2: of the distorted picture; of the reference with full_ref, otherwise NaN. */
int32_t anyvmaf_cambi(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafCambiOptions *options,
                      double *out);

/*
 * The same, with the contrast of every sample of the distorted picture. heat: NULL, or five consecutive scales, each half
 * the size of the previous, rounded up; the first has the encode's size, or half of it with an active speed-up.
 */
int32_t anyvmaf_cambi_map(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafCambiOptions *options,
                          uint16_t *heat, double *out);

typedef struct AnyvmafSpeedOptions {
    double kernelscale;     /* 0.1..4 */
    double prescale;        /* 0.1..4 */
    double prescale_method; /* AnyvmafResampling */
    double sigma_nn;        /* 0.1..2 */
    double nn_floor;        /* 0..1 */
    double weight_var_mode; /* 0..6; chroma only */
    double use_ref_diff;    /* temporal only */
} AnyvmafSpeedOptions;

/*
 * SpEED of both chroma planes, not limited. out: 5: u, v, uv, then for u and for v 1 if the reference's or the
 * distorted's covariance is singular, else 0. EINVAL without chroma.
 */
int32_t anyvmaf_speed_chroma(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafSpeedOptions *options,
                             double *out);

/* SpEED of luma differences to the earlier pair. out: 2: the score; 1 if a covariance is singular, else 0. */
int32_t anyvmaf_speed_temporal(AnyvmafContext *context, const AnyvmafFrames *frames,
                               const AnyvmafSpeedOptions *options, double *out);

typedef struct AnyvmafXpsnrOptions {
    double order; /* of the difference in time: 1 below 32 frames a second, 2 from there on */
} AnyvmafXpsnrOptions;

/*
 * XPSNR. second_earlier is the reference's luma two pairs back, read for order 2 only; NULL, and an absent earlier
 * pair, stand for pictures of zeros. out: 3: the weighted sum of squared errors of each plane, an integer; 0 for absent
 * planes.
 */
int32_t anyvmaf_xpsnr(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafXpsnrOptions *options,
                      const void *second_earlier, double *out);

#endif
