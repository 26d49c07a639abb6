/*
 * anyvmaf.h - the whole interface of the CPU core.
 *
 * The core measures one pair of pictures at a time. It has no I/O, no threads, no global state: everything it
 * remembers lives in a context, and a context may be used by one thread at a time. Arithmetic is defined by libvmaf
 * 3.2.0's portable C path, to the last bit.
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

#define ANYVMAF_ABI_VERSION 1

/* Bytes that must be readable behind the last sample of a plane. */
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

/* 16-byte aligned memory, NULL when there is none. */
void *anyvmaf_alloc(size_t bytes);
void anyvmaf_free(void *memory);

/* Bytes to allocate for a plane of width x height samples, slack included. */
size_t anyvmaf_plane_bytes(uint32_t width, uint32_t height, uint32_t bit_depth);

/*
 * A context for luma planes of width x height samples of bit_depth (8..16) bits. NULL when an argument is out of range
 * or memory is short. Scratch memory for a metric is taken when that metric first runs.
 */
AnyvmafContext *anyvmaf_open(uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t implementation);
void anyvmaf_close(AnyvmafContext *context);

/*
 * VIF: statistics at four scales for `count` gain limits at once.
 *   gain_limits  count (1..16) values, each 1..100
 *   first_scale  0, or 1 to leave out scale 0 (its results are then 0 / -1)
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
 * ADM: `count` (1..64) parameter sets on one pair; what they have in common is computed once.
 *   out  count x 12 doubles: numerator, denominator and AIM numerator of scales 0..3, each a binary32 value
 */
int32_t anyvmaf_adm(AnyvmafContext *context, const void *reference, const void *distorted,
                    const AnyvmafAdmVariant *variants, uint32_t count, double *out);

/* Motion: sum over all samples of |blur(earlier - current)|, an integer below 2^53. Both are reference planes. */
int32_t anyvmaf_motion(AnyvmafContext *context, const void *earlier, const void *current, double *out);

/* The same as libvmaf up to 3.0 computed it: sum of |blur(earlier) - blur(current)|. */
int32_t anyvmaf_motion_legacy(AnyvmafContext *context, const void *earlier, const void *current, double *out);

/*
 * Sum of squared differences of two packed planes of `samples` samples; any plane size, the context gives bit depth
 * and implementation. out: high and low 32 bits of the sum.
 */
int32_t anyvmaf_sse(AnyvmafContext *context, const void *a, const void *b, uint32_t samples, double *out);

#endif
