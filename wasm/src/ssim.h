/* ssim.h - the parts of SSIM that float_ssim and float_ms_ssim share, and their twins. */
#ifndef ANYVMAF_SSIM_H
#define ANYVMAF_SSIM_H

#include "dsp.h"

#define SSIM_TAPS 11
#define SSIM_SIGNALS 5

/* Half of the window, from its edge to its centre. */
static const float ssim_window[6] = {0.001028f, 0.007599f, 0.036001f, 0.109361f, 0.213006f, 0.266012f};

static inline float ssim_tap(uint32_t k) { return ssim_window[k < 6 ? k : 10 - k]; }

/* The low-pass of MS-SSIM: upper left quarter of the kernel with its centre; symmetric in both axes. */
static const float ssim_halving[5][5] = {
    {0.000714f, -0.000450f, -0.002090f, 0.007132f, 0.016114f},
    {-0.000450f, 0.000283f, 0.001316f, -0.004490f, -0.010146f},
    {-0.002090f, 0.001316f, 0.006115f, -0.020867f, -0.047149f},
    {0.007132f, -0.004490f, -0.020867f, 0.071207f, 0.160885f},
    {0.016114f, -0.010146f, -0.047149f, 0.160885f, 0.363505f},
};

/* Means over a picture, binary32 values. */
typedef struct SsimMeans {
    float ssim, l, c, s;
} SsimMeans;

/* Bytes of scratch memory for ssim_means(). */
size_t ssim_scratch_bytes(uint32_t width);

/* SSIM of two packed planes of at least 11x11 samples. */
void ssim_means(const AnyvmafDsp *dsp, const float *a, const float *b, uint32_t width, uint32_t height, void *scratch,
                SsimMeans *means);

#define SSIM_TWINS(suffix)                                                                                             \
    void ssim_rows_##suffix(const float *a, const float *b, uint32_t n, float *const out[SSIM_SIGNALS]);               \
    void ssim_terms_##suffix(const float *const *const rows[SSIM_SIGNALS], uint32_t n, double sums[4]);                \
    void ssim_halve_##suffix(const float *const rows[9], uint32_t n, float *dst);

SSIM_TWINS(c)
SSIM_TWINS(simd)

#endif
