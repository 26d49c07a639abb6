/* adm.c - ADM in portable C: the definition that adm_simd.c must equal (spec 4). */
#include "adm.h"

#include "filters.h"

static inline int32_t abs32(int32_t v) { return v < 0 ? -v : v; }
static inline int64_t abs64(int64_t v) { return v < 0 ? -v : v; }

/* Source column of tap k for output j. */
static inline uint32_t tap(uint32_t j, uint32_t k, uint32_t width)
{
    return mirror_repeat_end((int32_t)(2 * j + k) - 1, (int32_t)width);
}

size_t adm_scratch_bytes(uint32_t width)
{
    size_t portable = 2 * (size_t)width * sizeof(int32_t);
    size_t simd = adm_simd_scratch_bytes(width);
    return portable > simd ? portable : simd;
}

void adm_wavelet_s0_c(const void *const rows[4], uint32_t width, uint32_t bit_depth, uint32_t from, uint32_t to,
                      int16_t *scratch, int16_t *const bands[4])
{
    int16_t *lo = scratch, *hi = scratch + width;
    /* Samples are centred first: the sum of the low-pass taps times the centre would leave int32 at 16 bit. */
    const int32_t centre = 1 << (bit_depth - 1);
    for (uint32_t j = 0; j < width; j++) {
        int32_t lo_sum = centre, hi_sum = centre;
        for (uint32_t k = 0; k < 4; k++) {
            int32_t s = bit_depth > 8 ? ((const uint16_t *)rows[k])[j] : ((const uint8_t *)rows[k])[j];
            lo_sum += adm_low[k] * (s - centre);
            hi_sum += adm_high[k] * (s - centre);
        }
        lo[j] = (int16_t)(lo_sum >> bit_depth);
        hi[j] = (int16_t)(hi_sum >> bit_depth);
    }
    for (uint32_t j = 0; j < (width + 1) / 2; j++) {
        int32_t a = 32768, h = 32768, v = 32768, d = 32768;
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t x = tap(j, k, width);
            a += adm_low[k] * lo[x];
            v += adm_high[k] * lo[x];
            h += adm_low[k] * hi[x];
            d += adm_high[k] * hi[x];
        }
        bands[0][j] = (int16_t)(a >> 16);
        if (j < from || j >= to)
            continue;
        bands[1][j] = (int16_t)(h >> 16);
        bands[2][j] = (int16_t)(v >> 16);
        bands[3][j] = (int16_t)(d >> 16);
    }
}

/* Second half of levels 1..3: rows of 32 bits to coefficients. */
static void wavelet_columns(const int32_t *lo, const int32_t *hi, uint32_t width, uint32_t shift, uint32_t from,
                            uint32_t to, int32_t *const bands[4])
{
    const int64_t round = (int64_t)1 << (shift - 1);
    for (uint32_t j = 0; j < (width + 1) / 2; j++) {
        int64_t a = round, h = round, v = round, d = round;
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t x = tap(j, k, width);
            a += (int64_t)adm_low[k] * lo[x];
            v += (int64_t)adm_high[k] * lo[x];
            h += (int64_t)adm_low[k] * hi[x];
            d += (int64_t)adm_high[k] * hi[x];
        }
        bands[0][j] = (int32_t)(a >> shift);
        if (j < from || j >= to)
            continue;
        bands[1][j] = (int32_t)(h >> shift);
        bands[2][j] = (int32_t)(v >> shift);
        bands[3][j] = (int32_t)(d >> shift);
    }
}

void adm_wavelet_s1_c(const int16_t *const rows[4], uint32_t width, uint32_t from, uint32_t to, int32_t *scratch,
                      int32_t *const bands[4])
{
    int32_t *lo = scratch, *hi = scratch + width;
    for (uint32_t j = 0; j < width; j++) {
        int32_t lo_sum = 0, hi_sum = 0;
        for (uint32_t k = 0; k < 4; k++) {
            lo_sum += adm_low[k] * rows[k][j];
            hi_sum += adm_high[k] * rows[k][j];
        }
        lo[j] = lo_sum;
        hi[j] = hi_sum;
    }
    wavelet_columns(lo, hi, width, 15, from, to, bands);
}

void adm_wavelet_s23_c(const int32_t *const rows[4], uint32_t width, uint32_t scale, uint32_t from, uint32_t to,
                       int32_t *scratch, int32_t *const bands[4])
{
    int32_t *lo = scratch, *hi = scratch + width;
    for (uint32_t j = 0; j < width; j++) {
        int64_t lo_sum = 32768, hi_sum = 32768;
        for (uint32_t k = 0; k < 4; k++) {
            lo_sum += (int64_t)adm_low[k] * rows[k][j];
            hi_sum += (int64_t)adm_high[k] * rows[k][j];
        }
        lo[j] = (int32_t)(lo_sum >> 16);
        hi[j] = (int32_t)(hi_sum >> 16);
    }
    wavelet_columns(lo, hi, width, scale == 2 ? 16 : 15, from, to, bands);
}

/* Do the gradients (oh, ov) and (th, tv) point the same way, within one degree? */
static inline int similar_angle(int64_t oh, int64_t ov, int64_t th, int64_t tv)
{
    double x = (double)(float)(oh * th + ov * tv) / 4096.0;
    double om = (double)(float)(oh * oh + ov * ov) / 4096.0;
    double tm = (double)(float)(th * th + tv * tv) / 4096.0;
    return x >= 0 && x * x >= ((double)ADM_COS_1DEG_SQ * om) * tm;
}

/* The restored part, enhanced by at most gain_limit where the gradient kept its direction. */
static inline int32_t limit_enhancement(int32_t r, int32_t o, int32_t t, double gain_limit)
{
    double e = (double)r * gain_limit;
    if (o > 0)
        return (int32_t)(e < (double)t ? e : (double)t);
    return (int32_t)(e > (double)t ? e : (double)t);
}

static inline int32_t clamp_gain(int64_t k) { return k < 0 ? 0 : k > 32768 ? 32768 : (int32_t)k; }

void adm_decouple_s0_c(const int16_t *const reference[3], const int16_t *const distorted[3], uint32_t n,
                       double gain_limit, int16_t *const restored[3], int16_t *const additive[3])
{
    for (uint32_t j = 0; j < n; j++) {
        int similar = similar_angle(reference[0][j], reference[1][j], distorted[0][j], distorted[1][j]);
        for (int band = 0; band < 3; band++) {
            int32_t o = reference[band][j], t = distorted[band][j];
            int32_t k = 32768;
            if (o) {
                int32_t reciprocal = (1 << 30) / abs32(o) * (o < 0 ? -1 : 1);
                k = clamp_gain(((int64_t)reciprocal * t + 16384) >> 15);
            }
            int32_t r = (int16_t)((k * o + 16384) >> 15);
            if (similar && k > 0 && o)
                r = (int16_t)limit_enhancement(r, o, t, gain_limit);
            restored[band][j] = (int16_t)r;
            additive[band][j] = (int16_t)(t - r);
        }
    }
}

void adm_decouple_s123_c(const int32_t *const reference[3], const int32_t *const distorted[3], uint32_t n,
                         double gain_limit, int32_t *const restored[3], int32_t *const additive[3])
{
    for (uint32_t j = 0; j < n; j++) {
        int similar = similar_angle(reference[0][j], reference[1][j], distorted[0][j], distorted[1][j]);
        for (int band = 0; band < 3; band++) {
            int32_t o = reference[band][j], t = distorted[band][j];
            int32_t k = 32768;
            if (o) {
                uint32_t m = (uint32_t)abs32(o), shift = 0;
                if (m >= 32768) {
                    shift = bits32(m) - 15;
                    m = (m + (1u << (shift - 1))) >> shift;
                }
                int64_t reciprocal = (int64_t)((1u << 30) / m) * (o < 0 ? -1 : 1);
                k = clamp_gain((reciprocal * t + ((int64_t)1 << (14 + shift))) >> (15 + shift));
            }
            int32_t r = (int32_t)(((int64_t)k * o + 16384) >> 15);
            if (similar && k > 0 && o)
                r = limit_enhancement(r, o, t, gain_limit);
            restored[band][j] = r;
            additive[band][j] = (int32_t)((uint32_t)t - (uint32_t)r);
        }
    }
}

void adm_mask_s0_c(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2], int32_t *neighbour,
                   int32_t *centre)
{
    for (uint32_t j = 0; j < n; j++) {
        int32_t q = 0, m = 0;
        for (int band = 0; band < 3; band++) {
            const int diagonal = band == 2;
            /* 65535, not 65536, is the reference's rounding of the diagonal band. */
            uint32_t product = fi[diagonal] * (uint32_t)(int32_t)bands[band][j] + (diagonal ? 65535 : 16384);
            int32_t c = abs32((int16_t)((int32_t)product >> (diagonal ? 17 : 15)));
            q += (int16_t)((4369 * c + 2048) >> 12);
            m += (int16_t)((8738 * c + 2048) >> 12);
        }
        neighbour[j] = q;
        centre[j] = m - q;
    }
}

/* The fixed-point factor times a coefficient of scales 1..3. */
static inline int32_t weight(uint32_t fi, int32_t x) { return (int32_t)(((int64_t)fi * x + (1 << 27)) >> 28); }

void adm_mask_s123_c(const int32_t *const bands[3], uint32_t n, const uint32_t fi[2], int32_t *const sizes[3],
                     int32_t *neighbour, int32_t *centre)
{
    for (uint32_t j = 0; j < n; j++) {
        uint32_t q = 0, m = 0;
        for (int band = 0; band < 3; band++) {
            int64_t c = abs64(weight(fi[band == 2], bands[band][j]));
            sizes[band][j] = (int32_t)c;
            /* The reference's rounding constant is minus a half: zero gives -1. */
            q += (uint32_t)((143165577 * c - ((int64_t)1 << 31)) >> 32);
            m += (uint32_t)((286331153 * c - ((int64_t)1 << 31)) >> 32);
        }
        neighbour[j] = (int32_t)q;
        centre[j] = (int32_t)(m - q);
    }
}

static inline uint32_t threshold(const int32_t *const rows[3], const int32_t *centre, int64_t j)
{
    uint32_t sum = (uint32_t)centre[j];
    for (int row = 0; row < 3; row++)
        sum += (uint32_t)rows[row][j - 1] + (uint32_t)rows[row][j] + (uint32_t)rows[row][j + 1];
    return sum;
}

/* The part of a magnitude above the threshold; wraps like the reference's int32. */
static inline int32_t above(uint32_t size, uint32_t thr)
{
    int32_t y = (int32_t)(size - thr);
    return y < 0 ? 0 : y;
}

void adm_contrast_s0_c(const int16_t *const bands[3], uint32_t n, const uint32_t fi[2], const int32_t *const rows[3],
                       const int32_t *centre, const uint32_t shift[2], int64_t sums[3])
{
    sums[0] = sums[1] = sums[2] = 0;
    for (uint32_t j = 0; j < n; j++) {
        uint32_t thr = threshold(rows, centre, j);
        for (int band = 0; band < 3; band++) {
            const int diagonal = band == 2;
            uint32_t x = (uint32_t)(int32_t)bands[band][j] * fi[diagonal];
            int64_t y = above((int32_t)x < 0 ? 0u - x : x, thr << (diagonal ? 12 : 10));
            int32_t y2 = (int32_t)round_shift(y * y, diagonal ? 30 : 29);
            sums[band] += round_shift(y2 * y, shift[diagonal]);
        }
    }
}

void adm_contrast_s123_c(const int32_t *const sizes[3], uint32_t n, const int32_t *const rows[3],
                         const int32_t *centre, uint32_t shift, int64_t sums[3])
{
    sums[0] = sums[1] = sums[2] = 0;
    for (uint32_t j = 0; j < n; j++) {
        uint32_t thr = threshold(rows, centre, j);
        for (int band = 0; band < 3; band++) {
            int64_t y = above((uint32_t)sizes[band][j], thr);
            int32_t y2 = (int32_t)round_shift(y * y, 30);
            sums[band] += round_shift(y2 * y, shift);
        }
    }
}

void adm_cubes_s0_c(const int16_t *const bands[3], uint32_t n, uint64_t sums[3])
{
    for (int band = 0; band < 3; band++) {
        uint64_t sum = 0;
        for (uint32_t j = 0; j < n; j++) {
            uint64_t z = (uint64_t)abs32(bands[band][j]);
            sum += z * z * z;
        }
        sums[band] = sum;
    }
}

void adm_cubes_s123_c(const int32_t *const bands[3], uint32_t n, uint32_t square_shift, uint32_t shift,
                      uint64_t sums[3])
{
    for (int band = 0; band < 3; band++) {
        uint64_t sum = 0;
        for (uint32_t j = 0; j < n; j++) {
            uint64_t z = (uint64_t)abs64(bands[band][j]);
            /* Adds a full unit before the shift, not a half, like the reference. */
            uint64_t square = (z * z + ((uint64_t)1 << square_shift)) >> square_shift;
            sum += round_shift_u(square * z, shift);
        }
        sums[band] = sum;
    }
}
