/* psnr_hvs.c - PSNR-HVS in portable C: the definition that psnr_hvs_simd.c must equal. */
#include "psnr_hvs.h"

#include <math.h>

static inline int32_t sample(const void *plane, size_t i, uint32_t bit_depth)
{
    return bit_depth > 8 ? ((const uint16_t *)plane)[i] : ((const uint8_t *)plane)[i];
}

/* Half of x, rounded towards zero. */
static inline int32_t half(int32_t x) { return (x + (x < 0)) >> 1; }

/* x * c / 2^n, rounded. */
static inline int32_t scaled(int32_t x, int32_t c, uint32_t n) { return (x * c + (1 << (n - 1))) >> n; }

/* The lifting steps of an 8-point DCT on x[0], x[stride], ... */
static void transform(int32_t *x, uint32_t stride)
{
    int32_t t0 = x[0], t4 = x[stride], t2 = x[2 * stride], t6 = x[3 * stride];
    int32_t t7 = x[4 * stride], t3 = x[5 * stride], t5 = x[6 * stride], t1 = x[7 * stride];
    /* Butterflies between mirrored samples. */
    t1 = t0 - t1;
    int32_t a = half(t1);
    t0 -= a;
    t4 += t5;
    int32_t b = half(t4);
    t5 -= b;
    t3 = t2 - t3;
    t2 -= half(t3);
    t6 += t7;
    int32_t c = half(t6);
    t7 = c - t7;
    t0 += c;
    t6 = t0 - t6;
    t2 = b - t2;
    t4 = t2 - t4;
    /* Even half. */
    t0 -= scaled(t4, 13573, 15);
    t4 += scaled(t0, 11585, 14);
    t0 -= scaled(t4, 13573, 15);
    t6 -= scaled(t2, 21895, 15);
    t2 += scaled(t6, 15137, 14);
    t6 -= scaled(t2, 21895, 15);
    /* Odd half. */
    t3 += scaled(t5, 19195, 15);
    t5 += scaled(t3, 11585, 14);
    t3 -= scaled(t5, 7489, 13);
    t7 = half(t5) - t7;
    t5 -= t7;
    t3 = a - t3;
    t1 -= t3;
    t7 += scaled(t1, 3227, 15);
    t1 -= scaled(t7, 6393, 15);
    t7 += scaled(t1, 3227, 15);
    t5 += scaled(t3, 2485, 13);
    t3 -= scaled(t5, 18205, 15);
    t5 += scaled(t3, 2485, 13);
    const int32_t y[HVS_SIDE] = {t0, t1, t2, t3, t4, t5, t6, t7};
    for (uint32_t k = 0; k < HVS_SIDE; k++)
        x[k * stride] = y[k];
}

/* The share of a block's variance inside its quadrants: small if the block has an edge. */
static float activity(const int32_t block[64])
{
    float mean = 0, means[4] = {0}, all = 0, parts[4] = {0};
    for (uint32_t i = 0; i < 64; i++) {
        mean += (float)block[i];
        means[(i >> 5) + ((i & 4) >> 1)] += (float)block[i];
    }
    mean /= 64;
    for (uint32_t q = 0; q < 4; q++)
        means[q] /= 16;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t q = (i >> 5) + ((i & 4) >> 1);
        float x = (float)block[i];
        all += (x - mean) * (x - mean);
        parts[q] += (x - means[q]) * (x - means[q]);
    }
    all *= 1.0F / 63 * 64;
    for (uint32_t q = 0; q < 4; q++)
        parts[q] *= 1.0F / 15 * 16;
    return all > 0 ? (parts[0] + parts[1] + parts[2] + parts[3]) / all : all;
}

/* Transforms the block in place and returns the error that it masks. */
static float mask(int32_t block[64], const HvsTables *tables)
{
    float gain = activity(block), energy = 0;
    for (uint32_t j = 0; j < HVS_SIDE; j++)
        transform(block + j, HVS_SIDE);
    for (uint32_t i = 0; i < HVS_SIDE; i++)
        transform(block + i * HVS_SIDE, 1);
    for (uint32_t i = 1; i < 64; i++)
        energy += (float)(block[i] * block[i]) * tables->mask[i];
    return (float)sqrt((double)(energy * gain)) / 32;
}

void hvs_block(const void *reference, const void *distorted, uint32_t width, uint32_t bit_depth,
               const HvsTables *tables, float errors[64])
{
    int32_t r[64], d[64];
    for (uint32_t i = 0; i < 64; i++) {
        size_t at = (size_t)(i / HVS_SIDE) * width + i % HVS_SIDE;
        r[i] = sample(reference, at, bit_depth);
        d[i] = sample(distorted, at, bit_depth);
    }
    const float r_mask = mask(r, tables), d_mask = mask(d, tables);
    const float hidden = d_mask > r_mask ? d_mask : r_mask;
    for (uint32_t i = 0; i < 64; i++) {
        float error = (float)(r[i] > d[i] ? r[i] - d[i] : d[i] - r[i]);
        if (i > 0) {
            const float threshold = hidden / tables->mask[i];
            error = error < threshold ? 0 : error - threshold;
        }
        const float seen = error * tables->csf[i];
        errors[i] = seen * seen;
    }
}

float hvs_sum_c(const void *reference, const void *distorted, uint32_t width, uint32_t height, uint32_t bit_depth,
                const HvsTables *tables)
{
    const size_t bytes = bit_depth > 8 ? 2 : 1;
    float sum = 0;
    for (uint32_t y = 0; y + HVS_STEP < height; y += HVS_STEP)
        for (uint32_t x = 0; x + HVS_STEP < width; x += HVS_STEP) {
            const size_t at = ((size_t)y * width + x) * bytes;
            float errors[64];
            hvs_block((const char *)reference + at, (const char *)distorted + at, width, bit_depth, tables, errors);
            for (uint32_t i = 0; i < 64; i++)
                sum += errors[i];
        }
    return sum;
}
