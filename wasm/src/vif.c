/* vif.c - VIF in portable C: the definition that vif_simd.c must equal (spec 3). */
#include "vif.h"

#include <math.h>
#include <string.h>

#include "filters.h"

#define NSQ 131072 /* noise variance 2.0 in Q16 */

void vif_build_tables(VifTables *tables)
{
    /* The reference rounds log2 to single precision first; 2^-10 moves the 38 entries in which that matters. */
    for (uint32_t i = 0; i < VIF_LOG_ENTRIES; i++)
        tables->log2[i] = (uint16_t)floor(2048.0 * log2((double)(i + 32768)) + 0.5 + 0x1p-10);
    for (uint32_t m = 0; m < VIF_LOG_ENTRIES; m++)
        tables->offsets[m] = (uint8_t)(tables->log2[m] - 30720u - (m >> 4));
}

size_t vif_scratch_bytes(uint32_t width, uint32_t height)
{
    size_t portable = (size_t)width * (2 * sizeof(uint16_t) + 3 * sizeof(uint32_t));
    size_t simd = vif_simd_scratch_bytes(width, height);
    return portable > simd ? portable : simd;
}

static inline uint32_t sample(const void *plane, size_t i, int wide)
{
    return wide ? ((const uint16_t *)plane)[i] : ((const uint8_t *)plane)[i];
}

/* 2048 * log2 of x >= 2^16, low bits truncated. */
static inline int32_t fixed_log2(const VifTables *tables, uint64_t x)
{
    uint32_t k = bits64(x) - 16;
    return tables->log2[(x >> k) - 32768] + 2048 * (int32_t)k;
}

/* One pixel's share of the sums. */
static void accumulate(const VifTables *tables, int32_t s1, int32_t s2, int32_t s12, const double *gain_limits,
                       uint32_t count, VifSums *sums)
{
    if (s2 < 0)
        s2 = 0;
    if (s1 < NSQ) {
        sums->num_non_log += s2;
        sums->den_non_log += 1;
        return;
    }
    sums->den_log += fixed_log2(tables, (uint64_t)NSQ + (uint32_t)s1) - 2048 * 17;
    if (s12 <= 0 || s2 <= 0)
        return;
    double g = (double)s12 / ((double)s1 + 65536 * 1.0e-10);
    int32_t sv = (int32_t)((double)s2 - g * (double)s12);
    if (sv < 0)
        sv = 0;
    uint32_t q = (uint32_t)sv + NSQ;
    for (uint32_t k = 0; k < count; k++) {
        double limited = g < gain_limits[k] ? g : gain_limits[k];
        int64_t p = (int64_t)((limited * limited) * (double)s1) + q;
        sums->num_log[k] += fixed_log2(tables, (uint64_t)p) - fixed_log2(tables, q);
    }
}

void vif_statistics_c(const VifInput *input, const VifTables *tables, const double *gain_limits, uint32_t count,
                      void *scratch, VifSums *sums)
{
    vif_cells(input, tables, gain_limits, count, scratch, VIF_ONE_CELL, sums);
}

void vif_cells(const VifInput *input, const VifTables *tables, const double *gain_limits, uint32_t count,
               void *scratch, uint32_t cell_bits, VifSums *cells)
{
    const uint32_t w = input->width, h = input->height;
    const uint32_t taps = vif_taps[input->scale];
    const int32_t half = (int32_t)taps / 2;
    const uint16_t *filter = vif_filter[input->scale];
    const int wide = input->scale > 0 || input->bit_depth > 8;
    const uint32_t mean_shift = input->scale ? 16 : input->bit_depth;
    const uint32_t square_shift = input->scale ? 16 : 2 * (input->bit_depth - 8);

    uint32_t *xx = scratch, *yy = xx + w, *xy = yy + w;
    uint16_t *m1 = (uint16_t *)(xy + w), *m2 = m1 + w;

    const uint32_t columns = ((w - 1) >> cell_bits) + 1, rows = ((h - 1) >> cell_bits) + 1;
    memset(cells, 0, (size_t)columns * rows * sizeof *cells);
    for (uint32_t i = 0; i < h; i++) {
        VifSums *row = cells + (size_t)(i >> cell_bits) * columns;
        for (uint32_t j = 0; j < w; j++) {
            uint32_t r_sum = 0, d_sum = 0;
            uint64_t rr_sum = 0, dd_sum = 0, rd_sum = 0;
            for (uint32_t k = 0; k < taps; k++) {
                size_t at = (size_t)mirror((int32_t)(i + k) - half, (int32_t)h) * w + j;
                uint32_t r = sample(input->reference, at, wide);
                uint32_t d = sample(input->distorted, at, wide);
                uint32_t fr = filter[k] * r, fd = filter[k] * d;
                r_sum += fr;
                d_sum += fd;
                rr_sum += (uint64_t)fr * r;
                dd_sum += (uint64_t)fd * d;
                rd_sum += (uint64_t)fr * d;
            }
            m1[j] = (uint16_t)round_shift_u(r_sum, mean_shift);
            m2[j] = (uint16_t)round_shift_u(d_sum, mean_shift);
            xx[j] = (uint32_t)round_shift_u(rr_sum, square_shift);
            yy[j] = (uint32_t)round_shift_u(dd_sum, square_shift);
            xy[j] = (uint32_t)round_shift_u(rd_sum, square_shift);
        }
        for (uint32_t j = 0; j < w; j++) {
            uint32_t a = 0, b = 0;
            uint64_t sxx = 0, syy = 0, sxy = 0;
            for (uint32_t k = 0; k < taps; k++) {
                uint32_t at = mirror((int32_t)(j + k) - half, (int32_t)w);
                a += (uint32_t)filter[k] * m1[at];
                b += (uint32_t)filter[k] * m2[at];
                sxx += (uint64_t)filter[k] * xx[at];
                syy += (uint64_t)filter[k] * yy[at];
                sxy += (uint64_t)filter[k] * xy[at];
            }
            uint32_t m11 = (uint32_t)round_shift_u((uint64_t)a * a, 32);
            uint32_t m22 = (uint32_t)round_shift_u((uint64_t)b * b, 32);
            uint32_t m12 = (uint32_t)round_shift_u((uint64_t)a * b, 32);
            int32_t s1 = (int32_t)((uint32_t)round_shift_u(sxx, 16) - m11);
            int32_t s2 = (int32_t)((uint32_t)round_shift_u(syy, 16) - m22);
            int32_t s12 = (int32_t)((uint32_t)round_shift_u(sxy, 16) - m12);
            accumulate(tables, s1, s2, s12, gain_limits, count, row + (j >> cell_bits));
        }
    }
}

void vif_decimate_c(const void *src, uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t scale,
                    void *scratch, uint16_t *dst)
{
    const uint32_t taps = vif_taps[scale];
    const int32_t half = (int32_t)taps / 2;
    const uint16_t *filter = vif_filter[scale];
    const int wide = scale > 1 || bit_depth > 8;
    const uint32_t shift = scale > 1 ? 16 : bit_depth;
    uint16_t *row = scratch;

    for (uint32_t i = 0; i < height / 2; i++) {
        for (uint32_t j = 0; j < width; j++) {
            uint32_t sum = 0;
            for (uint32_t k = 0; k < taps; k++) {
                size_t y = mirror((int32_t)(2 * i + k) - half, (int32_t)height);
                sum += filter[k] * sample(src, y * width + j, wide);
            }
            row[j] = (uint16_t)round_shift_u(sum, shift);
        }
        for (uint32_t j = 0; j < width / 2; j++) {
            uint32_t sum = 0;
            for (uint32_t k = 0; k < taps; k++)
                sum += (uint32_t)filter[k] * row[mirror((int32_t)(2 * j + k) - half, (int32_t)width)];
            *dst++ = (uint16_t)round_shift_u(sum, 16);
        }
    }
}
