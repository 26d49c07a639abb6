/* float_adm.h - the twins of floating-point ADM; see dsp.h for what each does. */
#ifndef ANYVMAF_FLOAT_ADM_H
#define ANYVMAF_FLOAT_ADM_H

#include "dsp.h"

#define FLOAT_ADM_TWINS(suffix)                                                                                        \
    void float_adm_wavelet_##suffix(const float *const rows[4], uint32_t width, float *scratch,                        \
                                    float *const bands[4]);                                                            \
    void float_adm_decouple_##suffix(const float *const reference[3], const float *const distorted[3], uint32_t n,     \
                                     double gain_limit, float *const restored[3], float *const additive[3]);           \
    void float_adm_mask_##suffix(const float *masker, uint32_t n, float factor, float *centre, float *neighbour);      \
    void float_adm_contrast_##suffix(const float *const signal[3], uint32_t n, const float factor[2],                  \
                                     const FloatAdmMask masks[3], float p, float *const powers[3]);                    \
    void float_adm_powers_##suffix(const float *signal, uint32_t n, float factor, float p, float *powers);

FLOAT_ADM_TWINS(c)
FLOAT_ADM_TWINS(simd)

#endif
