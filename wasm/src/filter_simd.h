/*
 * filter_simd.h - separable filters as dot products of sample pairs, shared by VIF and motion.
 *
 * i32x4.dot_i16x8 takes two taps of four outputs at a time. Rows are filtered as interleaved pairs (2p, 2p + 1), from
 * which output rows y and y + 1 (y even) are made at once, with taps shifted by one; columns need no interleaving, a
 * row already holds pairs, and even and odd outputs read the same ones.
 */
#ifndef ANYVMAF_FILTER_SIMD_H
#define ANYVMAF_FILTER_SIMD_H

#include <stdint.h>
#include <wasm_simd128.h>

#include "opaque.h"

typedef v128_t V;

#define INLINE static inline __attribute__((always_inline))

#define MAX_PAIRS 9

/* A filter as dot products with the pairs of a window. */
typedef struct Kernel {
    struct {
        V even; /* taps for the first output of two: row y, or an even column */
        V odd;  /* and for the second */
    } pair[MAX_PAIRS];
    uint32_t pairs;
    /* The centre tap of VIF scale 3 exceeds int16 and is 2^16 too small in the taps: its pair counts once more. */
    uint32_t wide_centre, centre;
} Kernel;

/* Pairs in the window of a VIF scale, and its first sample relative to the first output: a multiple of two. */
#define PAIRS(scale) ((scale) == 0 ? 9 : (scale) == 1 ? 5 : 3)
#define REACH(scale) (PAIRS(scale) - 1)

/*
 * The filter of a VIF scale, for a window whose first pair is at place `first` of a ring of as many pairs: rotating the
 * taps is cheaper than moving the samples.
 */
void make_kernel(uint32_t scale, uint32_t first, Kernel *kernel);

/*
 * The start of a sum: a rounding constant, plus 2^31 to undo the bias of samples (every filter sums to 2^16, so the bias of
 * 2^15 becomes 2^31).
 */
#define FROM_BIASED 0x80000000u

/* Outputs of one filter step: two signals a and b, two outputs of each, eight samples as two vectors. */
typedef struct Sums {
    V a[2][2], b[2][2];
} Sums;

/*
 * Filters eight samples of two signals, or of two places of one: a and b point at the first pair of the first sample,
 * pairs of a window lie `stride` samples apart. The sums are left in a00..b11, in the order of Sums.
 *
 * Eight accumulators and the data of one pair just fill the registers. The exit after each pair keeps compilers from loading
 * several pairs first, which spills: they do not know kernel->pairs. Neither do they know the position of the centre, so
 * that they do not keep earlier loads for it.
 */
#define FILTER_STEP(kernel, k, pa, pb, stride)                                                                         \
    {                                                                                                                  \
        const V even_ = (kernel)->pair[k].even, odd_ = (kernel)->pair[k].odd;                                          \
        V x_ = wasm_v128_load((pa) + (k) * (stride));                                                                  \
        a00 = wasm_i32x4_add(a00, wasm_i32x4_dot_i16x8(x_, even_));                                                    \
        a10 = wasm_i32x4_add(a10, wasm_i32x4_dot_i16x8(x_, odd_));                                                     \
        x_ = wasm_v128_load((pa) + (k) * (stride) + 8);                                                                \
        a01 = wasm_i32x4_add(a01, wasm_i32x4_dot_i16x8(x_, even_));                                                    \
        a11 = wasm_i32x4_add(a11, wasm_i32x4_dot_i16x8(x_, odd_));                                                     \
        x_ = wasm_v128_load((pb) + (k) * (stride));                                                                    \
        b00 = wasm_i32x4_add(b00, wasm_i32x4_dot_i16x8(x_, even_));                                                    \
        b10 = wasm_i32x4_add(b10, wasm_i32x4_dot_i16x8(x_, odd_));                                                     \
        x_ = wasm_v128_load((pb) + (k) * (stride) + 8);                                                                \
        b01 = wasm_i32x4_add(b01, wasm_i32x4_dot_i16x8(x_, even_));                                                    \
        b11 = wasm_i32x4_add(b11, wasm_i32x4_dot_i16x8(x_, odd_));                                                     \
        if ((kernel)->pairs == (k) + 1)                                                                                \
            break;                                                                                                     \
    }

#define FILTER_BLOCK(kernel, pa, start_a, pb, start_b, stride)                                                         \
    const Kernel *taps_ = (kernel);                                                                                    \
    OPAQUE(taps_);                                                                                                     \
    V a00 = wasm_i32x4_splat((int32_t)(start_a)), a01 = a00, a10 = a00, a11 = a00;                                     \
    V b00 = wasm_i32x4_splat((int32_t)(start_b)), b01 = b00, b10 = b00, b11 = b00;                                     \
    do {                                                                                                               \
        FILTER_STEP(taps_, 0, pa, pb, stride)                                                                          \
        FILTER_STEP(taps_, 1, pa, pb, stride)                                                                          \
        FILTER_STEP(taps_, 2, pa, pb, stride)                                                                          \
        FILTER_STEP(taps_, 3, pa, pb, stride)                                                                          \
        FILTER_STEP(taps_, 4, pa, pb, stride)                                                                          \
        FILTER_STEP(taps_, 5, pa, pb, stride)                                                                          \
        FILTER_STEP(taps_, 6, pa, pb, stride)                                                                          \
        FILTER_STEP(taps_, 7, pa, pb, stride)                                                                          \
        FILTER_STEP(taps_, 8, pa, pb, stride)                                                                          \
    } while (0);                                                                                                       \
    if (taps_->wide_centre) {                                                                                          \
        /* 2^16 times the centre: the first sample of its pair for even outputs, the second for odd ones. */           \
        const V second_ = wasm_i32x4_const_splat((int32_t)0xffff0000);                                                 \
        const int16_t *centre_ = (pa) + taps_->centre * (stride);                                                      \
        OPAQUE(centre_);                                                                                               \
        V x_ = wasm_v128_load(centre_), y_ = wasm_v128_load(centre_ + 8);                                              \
        a00 = wasm_i32x4_add(a00, wasm_i32x4_shl(x_, 16)), a01 = wasm_i32x4_add(a01, wasm_i32x4_shl(y_, 16));          \
        a10 = wasm_i32x4_add(a10, wasm_v128_and(x_, second_)), a11 = wasm_i32x4_add(a11, wasm_v128_and(y_, second_));  \
        centre_ = (pb) + taps_->centre * (stride);                                                                     \
        OPAQUE(centre_);                                                                                               \
        x_ = wasm_v128_load(centre_), y_ = wasm_v128_load(centre_ + 8);                                                \
        b00 = wasm_i32x4_add(b00, wasm_i32x4_shl(x_, 16)), b01 = wasm_i32x4_add(b01, wasm_i32x4_shl(y_, 16));          \
        b10 = wasm_i32x4_add(b10, wasm_v128_and(x_, second_)), b11 = wasm_i32x4_add(b11, wasm_v128_and(y_, second_));  \
    }

/* Filters `blocks` blocks that lie `step` samples apart and stores their sums. */
INLINE void filter_blocks(const Kernel *kernel, const int16_t *a, uint32_t start_a, const int16_t *b, uint32_t start_b,
                          const uint32_t stride, const uint32_t step, uint32_t blocks, Sums *out)
{
    for (; blocks; blocks--, a += step, b += step, out++) {
        FILTER_BLOCK(kernel, a, start_a, b, start_b, stride)
        *out = (Sums){{{a00, a01}, {a10, a11}}, {{b00, b01}, {b10, b11}}};
    }
}

/* Biased samples, x - 2^15, and back. */
INLINE V flip16(V v) { return wasm_v128_xor(v, wasm_i16x8_const_splat((int16_t)0x8000)); }

INLINE V flip8(V v) { return wasm_v128_xor(v, wasm_i8x16_const_splat((int8_t)0x80)); }

/* Interleaved pairs of two rows of eight samples: the first four columns, the last four. */
INLINE V pairs_low(V row0, V row1) { return wasm_i16x8_shuffle(row0, row1, 0, 8, 1, 9, 2, 10, 3, 11); }
INLINE V pairs_high(V row0, V row1) { return wasm_i16x8_shuffle(row0, row1, 4, 12, 5, 13, 6, 14, 7, 15); }

/* The same of two rows of 8-bit samples, as bytes: columns 0..7. */
INLINE V byte_pairs(const uint8_t *row0, const uint8_t *row1)
{
    return wasm_i8x16_shuffle(wasm_v128_load64_zero(row0), wasm_v128_load64_zero(row1), 0, 16, 1, 17, 2, 18, 3, 19, 4,
                              20, 5, 21, 6, 22, 7, 23);
}

#endif
