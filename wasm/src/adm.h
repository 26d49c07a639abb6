/* adm.h - the twins of the ADM functions; see dsp.h for what each does. */
#ifndef ANYVMAF_ADM_H
#define ANYVMAF_ADM_H

#include "dsp.h"

/* cos^2 of one degree in single precision: two gradients closer than that count as parallel (spec 4.5). */
#define ADM_COS_1DEG_SQ 0x1.ffd814p-1f

#define ADM_TWINS(suffix)                                                                                              \
    void adm_wavelet_s0_##suffix(const void *const rows[4], uint32_t width, uint32_t bit_depth, uint32_t from,         \
                                 uint32_t to, int16_t *scratch, int16_t *const bands[4]);                             \
    void adm_wavelet_s1_##suffix(const int16_t *const rows[4], uint32_t width, uint32_t from, uint32_t to,             \
                                 int32_t *scratch, int32_t *const bands[4]);                                          \
    void adm_wavelet_s23_##suffix(const int32_t *const rows[4], uint32_t width, uint32_t scale, uint32_t from,         \
                                  uint32_t to, int32_t *scratch, int32_t *const bands[4]);                            \
    void adm_decouple_s0_##suffix(const int16_t *const reference[3], const int16_t *const distorted[3], uint32_t n,    \
                                  double gain_limit, int16_t *const restored[3], int16_t *const additive[3]);         \
    void adm_decouple_s123_##suffix(const int32_t *const reference[3], const int32_t *const distorted[3], uint32_t n,  \
                                    double gain_limit, int32_t *const restored[3], int32_t *const additive[3]);       \
    void adm_mask_s0_##suffix(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2], int32_t *neighbour,     \
                              int32_t *centre);                                                                       \
    void adm_mask_s123_##suffix(const int32_t *const bands[3], uint32_t n, const uint32_t fi[2],                       \
                                int32_t *const sizes[3], int32_t *neighbour, int32_t *centre);                        \
    void adm_contrast_s0_##suffix(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2],                     \
                                  const int32_t *const rows[3], const int32_t *centre, const uint32_t shift[2],       \
                                  int64_t sums[3]);                                                                   \
    void adm_contrast_s123_##suffix(const int32_t *const sizes[3], uint32_t n, const int32_t *const rows[3],           \
                                    const int32_t *centre, uint32_t shift, int64_t sums[3]);                          \
    void adm_cubes_s0_##suffix(const int16_t *const bands[3], uint32_t n, uint64_t sums[3]);                           \
    void adm_cubes_s123_##suffix(const int32_t *const bands[3], uint32_t n, uint32_t square_shift, uint32_t shift,     \
                                 uint64_t sums[3]);

ADM_TWINS(c)
ADM_TWINS(simd)

size_t adm_simd_scratch_bytes(uint32_t width);

#endif
