/*
 * psnr_hvs_simd.c - PSNR-HVS in SIMD128, equal to psnr_hvs.c: eight blocks side by side, one in each lane, so that every
 * sum keeps its order.
 *
 * The transform runs in 16 bits: r(x, c, n) is a q15 multiplication by c * 2^(15-n), which all constants allow. No step
 * of it, in rows after columns, exceeds 8.0002 times the largest sample by its linear form, plus what rounding adds; the
 * only step that comes near is DC. Samples up to 4064 therefore stay below 2^15, and larger ones, which only 12 bits
 * have, go through the portable block.
 */
#include <wasm_simd128.h>

#include "psnr_hvs.h"

enum { LANES = 8, LARGEST = 4064 };

/* Half of x, rounded towards zero. */
static inline v128_t half(v128_t x) { return wasm_i16x8_shr(wasm_i16x8_sub(x, wasm_i16x8_shr(x, 15)), 1); }

static inline v128_t scaled(v128_t x, int16_t c) { return wasm_i16x8_q15mulr_sat(x, wasm_i16x8_splat(c)); }

#define ADD wasm_i16x8_add
#define SUB wasm_i16x8_sub

static void transform(v128_t *x, uint32_t stride)
{
    v128_t t0 = x[0], t4 = x[stride], t2 = x[2 * stride], t6 = x[3 * stride];
    v128_t t7 = x[4 * stride], t3 = x[5 * stride], t5 = x[6 * stride], t1 = x[7 * stride];
    /* Butterflies between mirrored samples. */
    t1 = SUB(t0, t1);
    const v128_t a = half(t1);
    t0 = SUB(t0, a);
    t4 = ADD(t4, t5);
    const v128_t b = half(t4);
    t5 = SUB(t5, b);
    t3 = SUB(t2, t3);
    t2 = SUB(t2, half(t3));
    t6 = ADD(t6, t7);
    const v128_t c = half(t6);
    t7 = SUB(c, t7);
    t0 = ADD(t0, c);
    t6 = SUB(t0, t6);
    t2 = SUB(b, t2);
    t4 = SUB(t2, t4);
    /* Even half. */
    t0 = SUB(t0, scaled(t4, 13573));
    t4 = ADD(t4, scaled(t0, 11585 * 2));
    t0 = SUB(t0, scaled(t4, 13573));
    t6 = SUB(t6, scaled(t2, 21895));
    t2 = ADD(t2, scaled(t6, 15137 * 2));
    t6 = SUB(t6, scaled(t2, 21895));
    /* Odd half. */
    t3 = ADD(t3, scaled(t5, 19195));
    t5 = ADD(t5, scaled(t3, 11585 * 2));
    t3 = SUB(t3, scaled(t5, 7489 * 4));
    t7 = SUB(half(t5), t7);
    t5 = SUB(t5, t7);
    t3 = SUB(a, t3);
    t1 = SUB(t1, t3);
    t7 = ADD(t7, scaled(t1, 3227));
    t1 = SUB(t1, scaled(t7, 6393));
    t7 = ADD(t7, scaled(t1, 3227));
    t5 = ADD(t5, scaled(t3, 2485 * 4));
    t3 = SUB(t3, scaled(t5, 18205));
    t5 = ADD(t5, scaled(t3, 2485 * 4));
    x[0] = t0;
    x[stride] = t1;
    x[2 * stride] = t2;
    x[3 * stride] = t3;
    x[4 * stride] = t4;
    x[5 * stride] = t5;
    x[6 * stride] = t6;
    x[7 * stride] = t7;
}

/* Rows become columns, 8x8. */
static inline void transpose(const v128_t a[8], v128_t *to)
{
#define LOW16(x, y) wasm_i16x8_shuffle(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH16(x, y) wasm_i16x8_shuffle(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW32(x, y) wasm_i32x4_shuffle(x, y, 0, 4, 1, 5)
#define HIGH32(x, y) wasm_i32x4_shuffle(x, y, 2, 6, 3, 7)
#define LOW64(x, y) wasm_i64x2_shuffle(x, y, 0, 2)
#define HIGH64(x, y) wasm_i64x2_shuffle(x, y, 1, 3)
    const v128_t b0 = LOW16(a[0], a[1]), b1 = HIGH16(a[0], a[1]), b2 = LOW16(a[2], a[3]), b3 = HIGH16(a[2], a[3]);
    const v128_t b4 = LOW16(a[4], a[5]), b5 = HIGH16(a[4], a[5]), b6 = LOW16(a[6], a[7]), b7 = HIGH16(a[6], a[7]);
    const v128_t c0 = LOW32(b0, b2), c1 = HIGH32(b0, b2), c2 = LOW32(b4, b6), c3 = HIGH32(b4, b6);
    const v128_t c4 = LOW32(b1, b3), c5 = HIGH32(b1, b3), c6 = LOW32(b5, b7), c7 = HIGH32(b5, b7);
    to[0] = LOW64(c0, c2);
    to[1] = HIGH64(c0, c2);
    to[2] = LOW64(c1, c3);
    to[3] = HIGH64(c1, c3);
    to[4] = LOW64(c4, c6);
    to[5] = HIGH64(c4, c6);
    to[6] = LOW64(c5, c7);
    to[7] = HIGH64(c5, c7);
}

/* Sample i of every block into block[i]; x[b] is the first column of block b. Gives the largest. */
static v128_t load(const void *plane, uint32_t width, uint32_t y, const uint32_t x[LANES], uint32_t bit_depth,
                   v128_t block[64])
{
    v128_t largest = wasm_i16x8_const_splat(0);
    for (uint32_t i = 0; i < HVS_SIDE; i++) {
        const size_t row = (size_t)(y + i) * width;
        v128_t rows[LANES];
        for (uint32_t b = 0; b < LANES; b++) {
            const size_t at = row + x[b];
            rows[b] = bit_depth > 8 ? wasm_v128_load((const uint16_t *)plane + at)
                                    : wasm_u16x8_load8x8((const uint8_t *)plane + at);
            largest = wasm_u16x8_max(largest, rows[b]);
        }
        transpose(rows, block + i * HVS_SIDE);
    }
    return largest;
}

/* Binary32 of four lanes, low or high. */
static inline v128_t floats(v128_t x, int high)
{
    return wasm_f32x4_convert_i32x4(high ? wasm_i32x4_extend_high_i16x8(x) : wasm_i32x4_extend_low_i16x8(x));
}

static inline v128_t add_square(v128_t sum, v128_t x, v128_t mean)
{
    const v128_t e = wasm_f32x4_sub(x, mean);
    return wasm_f32x4_add(sum, wasm_f32x4_mul(e, e));
}

/* See activity() in psnr_hvs.c; the means are exact, as sums of at most 64 samples of 12 bits. */
static void activity(const v128_t block[64], v128_t gain[2])
{
    v128_t sums[4];
    for (uint32_t q = 0; q < 4; q++) {
        const v128_t *from = block + (q & 1) * 32 + (q & 2) * 2;
        sums[q] = wasm_i16x8_const_splat(0);
        for (uint32_t i = 0; i < 16; i++)
            sums[q] = ADD(sums[q], from[i / 4 * 8 + i % 4]);
    }
    for (int high = 0; high < 2; high++) {
        v128_t mean = wasm_f32x4_const_splat(0), means[4], all = mean, parts[4] = {mean, mean, mean, mean};
        for (uint32_t q = 0; q < 4; q++) {
            /* Sixteen samples of 12 bits fill 16 bits without a sign. */
            const v128_t sum = high ? wasm_u32x4_extend_high_u16x8(sums[q]) : wasm_u32x4_extend_low_u16x8(sums[q]);
            means[q] = wasm_f32x4_convert_i32x4(sum);
            mean = wasm_f32x4_add(mean, means[q]);
            means[q] = wasm_f32x4_mul(means[q], wasm_f32x4_const_splat(0.0625F));
        }
        mean = wasm_f32x4_mul(mean, wasm_f32x4_const_splat(0.015625F));
        for (uint32_t i = 0; i < 64; i++) {
            const uint32_t q = (i >> 5) + ((i & 4) >> 1);
            const v128_t x = floats(block[i], high);
            all = add_square(all, x, mean);
            parts[q] = add_square(parts[q], x, means[q]);
        }
        all = wasm_f32x4_mul(all, wasm_f32x4_splat(1.0F / 63 * 64));
        v128_t sum = wasm_f32x4_mul(parts[0], wasm_f32x4_splat(1.0F / 15 * 16));
        for (uint32_t q = 1; q < 4; q++)
            sum = wasm_f32x4_add(sum, wasm_f32x4_mul(parts[q], wasm_f32x4_splat(1.0F / 15 * 16)));
        /* 0 where the block is flat. */
        gain[high] = wasm_v128_and(wasm_f32x4_div(sum, all), wasm_f32x4_gt(all, wasm_f32x4_const_splat(0)));
    }
}

/* Transforms the blocks in place and returns the errors that they mask. */
static void mask(v128_t block[64], const HvsTables *tables, v128_t hidden[2])
{
    activity(block, hidden);
    for (uint32_t j = 0; j < HVS_SIDE; j++)
        transform(block + j, HVS_SIDE);
    for (uint32_t i = 0; i < HVS_SIDE; i++)
        transform(block + i * HVS_SIDE, 1);
    v128_t low = wasm_f32x4_const_splat(0), high = low;
    for (uint32_t i = 1; i < 64; i++) {
        const v128_t weight = wasm_v128_load32_splat(&tables->mask[i]), x = block[i];
        low = wasm_f32x4_add(low, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(wasm_i32x4_extmul_low_i16x8(x, x)), weight));
        high = wasm_f32x4_add(high, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(wasm_i32x4_extmul_high_i16x8(x, x)), weight));
    }
    /* Rounding the root of a binary32 value once or twice is the same. */
    const v128_t scale = wasm_f32x4_const_splat(0.03125F);
    hidden[0] = wasm_f32x4_mul(wasm_f32x4_sqrt(wasm_f32x4_mul(low, hidden[0])), scale);
    hidden[1] = wasm_f32x4_mul(wasm_f32x4_sqrt(wasm_f32x4_mul(high, hidden[1])), scale);
}

/* The visible error of four lanes at coefficient i. */
static inline v128_t seen(v128_t error, v128_t hidden, const HvsTables *tables, uint32_t i)
{
    if (i > 0) {
        const v128_t threshold = wasm_f32x4_div(hidden, wasm_v128_load32_splat(&tables->mask[i]));
        error = wasm_f32x4_max(wasm_f32x4_sub(error, threshold), wasm_f32x4_const_splat(0));
    }
    const v128_t weighted = wasm_f32x4_mul(error, wasm_v128_load32_splat(&tables->csf[i]));
    return wasm_f32x4_mul(weighted, weighted);
}

/* Adds the errors of the first `count` lanes, lane after lane; most are 0 and change nothing. */
static float add_up(float sum, const float errors[64][LANES], const uint8_t present[64], uint32_t count)
{
    for (uint32_t b = 0; b < count; b++) {
        uint64_t bits = 0;
        for (uint32_t i = 0; i < 64; i += 16) {
            const v128_t at_top = wasm_i8x16_shl(wasm_v128_load(present + i), 7 - b);
            bits |= (uint64_t)wasm_i8x16_bitmask(at_top) << i;
        }
        for (; bits; bits &= bits - 1)
            sum += errors[__builtin_ctzll(bits)][b];
    }
    return sum;
}

float hvs_sum_simd(const void *reference, const void *distorted, uint32_t width, uint32_t height, uint32_t bit_depth,
                   const HvsTables *tables)
{
    const uint32_t columns = hvs_blocks(width);
    const size_t bytes = bit_depth > 8 ? 2 : 1;
    float sum = 0;
    for (uint32_t y = 0; y + HVS_STEP < height; y += HVS_STEP)
        for (uint32_t first = 0; first < columns; first += LANES) {
            const uint32_t count = columns - first < LANES ? columns - first : LANES;
            uint32_t x[LANES];
            for (uint32_t b = 0; b < LANES; b++)
                x[b] = (first + (b < count ? b : count - 1)) * HVS_STEP;
            v128_t r[64], d[64], r_hidden[2], d_hidden[2];
            const v128_t largest =
                wasm_u16x8_max(load(reference, width, y, x, bit_depth, r), load(distorted, width, y, x, bit_depth, d));
            if (wasm_v128_any_true(wasm_u16x8_gt(largest, wasm_i16x8_const_splat(LARGEST)))) {
                for (uint32_t b = 0; b < count; b++) {
                    const size_t at = ((size_t)y * width + x[b]) * bytes;
                    float errors[64];
                    hvs_block((const char *)reference + at, (const char *)distorted + at, width, bit_depth, tables,
                              errors);
                    for (uint32_t i = 0; i < 64; i++)
                        sum += errors[i];
                }
                continue;
            }
            mask(r, tables, r_hidden);
            mask(d, tables, d_hidden);
            const v128_t hidden_low = wasm_f32x4_max(r_hidden[0], d_hidden[0]);
            const v128_t hidden_high = wasm_f32x4_max(r_hidden[1], d_hidden[1]);
            float errors[64][LANES];
            uint8_t present[64];
            for (uint32_t i = 0; i < 64; i++) {
                /* Coefficients need 16 bits and a sign, their difference one more. */
                const v128_t low = wasm_i32x4_abs(
                    wasm_i32x4_sub(wasm_i32x4_extend_low_i16x8(r[i]), wasm_i32x4_extend_low_i16x8(d[i])));
                const v128_t high = wasm_i32x4_abs(
                    wasm_i32x4_sub(wasm_i32x4_extend_high_i16x8(r[i]), wasm_i32x4_extend_high_i16x8(d[i])));
                const v128_t a = seen(wasm_f32x4_convert_i32x4(low), hidden_low, tables, i);
                const v128_t b = seen(wasm_f32x4_convert_i32x4(high), hidden_high, tables, i);
                const v128_t zero = wasm_f32x4_const_splat(0);
                present[i] = (uint8_t)(wasm_i32x4_bitmask(wasm_f32x4_ne(a, zero)) |
                                       wasm_i32x4_bitmask(wasm_f32x4_ne(b, zero)) << 4);
                wasm_v128_store(&errors[i][0], a);
                wasm_v128_store(&errors[i][4], b);
            }
            sum = add_up(sum, errors, present, count);
        }
    return sum;
}
