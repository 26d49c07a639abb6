/* vif.h - the twins of the VIF functions; see dsp.h for what each does. */
#ifndef ANYVMAF_VIF_H
#define ANYVMAF_VIF_H

#include "dsp.h"

void vif_statistics_c(const VifInput *input, const VifTables *tables, const double *gain_limits, uint32_t count,
                      void *scratch, VifSums *sums);
void vif_decimate_c(const void *src, uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t scale,
                    void *scratch, uint16_t *dst);

size_t vif_simd_scratch_bytes(uint32_t width, uint32_t height);
void vif_statistics_simd(const VifInput *input, const VifTables *tables, const double *gain_limits, uint32_t count,
                         void *scratch, VifSums *sums);
void vif_decimate_simd(const void *src, uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t scale,
                       void *scratch, uint16_t *dst);

#endif
