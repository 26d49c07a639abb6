/* float_vif.h - the twins of floating-point VIF; see dsp.h for what each does. */
#ifndef ANYVMAF_FLOAT_VIF_H
#define ANYVMAF_FLOAT_VIF_H

#include "dsp.h"

#define FLOAT_VIF_TWINS(suffix)                                                                                        \
    void float_vif_columns_##suffix(const float *const *a, const float *const *b, const float *taps, uint32_t n,       \
                                    uint32_t width, float *const out[FLOAT_VIF_SIGNALS]);                              \
    void float_vif_terms_##suffix(const float *const signals[FLOAT_VIF_SIGNALS], uint32_t n,                           \
                                  const FloatVifNoise *noise, float *num, float *den);

FLOAT_VIF_TWINS(c)
FLOAT_VIF_TWINS(simd)

#endif
