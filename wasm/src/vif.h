/* vif.h - the twins of the VIF functions; see dsp.h for what each does. */
#ifndef ANYVMAF_VIF_H
#define ANYVMAF_VIF_H

#include "dsp.h"

void vif_statistics_c(const VifInput *input, const VifTables *tables, const double *gain_limits, uint32_t count,
                      void *scratch, VifSums *sums);
void vif_decimate_c(const void *src, uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t scale,
                    void *scratch, uint16_t *dst);

/*
 * vif_statistics_c with sums apart for every cell, a square of 2^cell_bits pixels: row after row of them, the last ones
 * cut off at the border. VIF_ONE_CELL: all pixels together.
 */
#define VIF_ONE_CELL 31
void vif_cells(const VifInput *input, const VifTables *tables, const double *gain_limits, uint32_t count,
               void *scratch, uint32_t cell_bits, VifSums *cells);

size_t vif_simd_scratch_bytes(uint32_t width, uint32_t height);
void vif_statistics_simd(const VifInput *input, const VifTables *tables, const double *gain_limits, uint32_t count,
                         void *scratch, VifSums *sums);
void vif_decimate_simd(const void *src, uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t scale,
                       void *scratch, uint16_t *dst);

#endif
