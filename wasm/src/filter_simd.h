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

typedef v128_t V;

#define INLINE static inline __attribute__((always_inline))

#define MAX_PAIRS 9

/* A filter as dot products with the pairs of a window. */
typedef struct Kernel {
    struct {
        V even; /* taps for the first output of two: row y, or an even column */
        V odd;  /* and for the second */
    } pair[MAX_PAIRS];
} Kernel;

/* Pairs in the window of a VIF scale, and its first sample relative to the first output: a multiple of two. */
#define PAIRS(scale) ((scale) == 0 ? 9 : (scale) == 1 ? 5 : 3)
#define REACH(scale) (PAIRS(scale) - 1)

/* Outputs of one filter step: two signals a and b, two outputs of each, eight samples as two vectors. */
typedef struct Sums {
    V a[2][2], b[2][2];
} Sums;

/* The filter of a VIF scale. The centre tap of scale 3 exceeds int16 and is 2^16 too small here; filter_pairs adds it. */
void make_kernel(uint32_t scale, Kernel *kernel);

/*
 * What a sum starts from: a rounding constant, and 2^31 where biased samples have taken as much from the sum (every
 * filter sums to 2^16, so that the bias of 2^15 becomes 2^31).
 */
#define FROM_BIASED 0x80000000u

/*
 * Filters `blocks` blocks of two signals with the kernel of `scale`: a and b point at the first pair of the first
 * block, pairs of a window lie `stride` samples apart, blocks `step` samples. Sums start from start_a and start_b.
 */
void filter_pairs(const Kernel *kernel, uint32_t scale, const int16_t *a, uint32_t start_a, const int16_t *b,
                  uint32_t start_b, uint32_t stride, uint32_t step, uint32_t blocks, Sums *out);

/* Biased samples, x - 2^15, and back. */
INLINE V flip16(V v) { return wasm_v128_xor(v, wasm_i16x8_const_splat((int16_t)0x8000)); }

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
