/*
 * xpsnr_simd.c - the block sums of XPSNR in SIMD128, equal to xpsnr.c: integers, added up in another order.
 *
 * Lanes are twice as wide as samples: eight of 16 bits for 8-bit video, four of 32 bits for deeper video. Both spatial
 * filters are 16 times the core minus a sum of weights 16 or 64, parts of which serve the rows above and below too; it
 * is at most 64 * 255 in 16 bits. Magnitudes are at most 48 times the peak, on every second row, or 12 times: twice
 * 48 * 255 (8 bit) or once 48 * 65535, 364 times for the largest block, is below 2^32.
 */
#include <wasm_simd128.h>

#include <stddef.h>

#include "xpsnr.h"

typedef v128_t V;

#define INLINE static inline __attribute__((always_inline))

/* Lanes of a vector. */
#define LANES(wide) ((wide) ? 4U : 8U)

/* A sample in a plane of either width. */
INLINE const void *at(const void *plane, ptrdiff_t i, const int wide)
{
    return wide ? (const void *)((const uint16_t *)plane + i) : (const void *)((const uint8_t *)plane + i);
}

INLINE V add(V a, V b, const int wide) { return wide ? wasm_i32x4_add(a, b) : wasm_i16x8_add(a, b); }
INLINE V sub(V a, V b, const int wide) { return wide ? wasm_i32x4_sub(a, b) : wasm_i16x8_sub(a, b); }
INLINE V shl(V a, const uint32_t bits, const int wide)
{
    return wide ? wasm_i32x4_shl(a, bits) : wasm_i16x8_shl(a, bits);
}

/* One sample to a lane. */
INLINE V load(const void *plane, ptrdiff_t i, const int wide)
{
    const void *from = at(plane, i, wide);
    return wide ? wasm_u32x4_load16x4(from) : wasm_u16x8_load8x8(from);
}

/* All ones in the first n lanes. */
INLINE V first(uint32_t n, const int wide)
{
    return wide ? wasm_i32x4_lt(wasm_i32x4_const(0, 1, 2, 3), wasm_i32x4_splat((int32_t)n))
                : wasm_i16x8_lt(wasm_i16x8_const(0, 1, 2, 3, 4, 5, 6, 7), wasm_i16x8_splat((int16_t)n));
}

/* Four sums plus the magnitudes of the lanes in the mask. */
INLINE V add_magnitudes(V sums, V f, V mask, const int wide)
{
    const V size = wasm_v128_and(wide ? wasm_i32x4_abs(f) : wasm_i16x8_abs(f), mask);
    return wasm_i32x4_add(sums, wide ? size : wasm_i32x4_dot_i16x8(size, wasm_i16x8_const_splat(1)));
}

/* Two sums of 64 bits plus four of 32. */
INLINE V add_wide(V total, V sums)
{
    return wasm_i64x2_add(total, wasm_i64x2_add(wasm_u64x2_extend_low_u32x4(sums), wasm_u64x2_extend_high_u32x4(sums)));
}

INLINE uint64_t lane_sum(V total)
{
    return (uint64_t)wasm_i64x2_extract_lane(total, 0) + (uint64_t)wasm_i64x2_extract_lane(total, 1);
}

/* The mask of lanes from column x on, in a row that ends after n. */
INLINE V lanes_at(uint32_t x, uint32_t n, V last, const int wide)
{
    return x + LANES(wide) <= n ? wasm_i32x4_const_splat(-1) : last;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* ---- Squared error: row after row, through all blocks, since memory is read in that order ---- */

INLINE uint64_t squares_8(const uint8_t *a, const uint8_t *b, uint32_t n)
{
    const V last = first(n & 7, 0);
    V sums = wasm_i32x4_const_splat(0);
    for (uint32_t x = 0; x < n; x += 8) {
        const V e = wasm_i16x8_sub(wasm_u16x8_load8x8(a + x), wasm_u16x8_load8x8(b + x));
        const V valid = wasm_v128_and(e, lanes_at(x, n, last, 0));
        sums = wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(valid, valid));
    }
    return lane_sum(add_wide(wasm_i64x2_const_splat(0), sums));
}

INLINE uint64_t squares_16(const uint16_t *a, const uint16_t *b, uint32_t n)
{
    const V last = first(n & 7, 0);
    V total = wasm_i64x2_const_splat(0);
    for (uint32_t x = 0; x < n; x += 8) {
        const V p = wasm_v128_load(a + x), q = wasm_v128_load(b + x);
        /* |p - q| in 16 bits: one of the saturated differences is zero. */
        const V size = wasm_v128_or(wasm_u16x8_sub_sat(p, q), wasm_u16x8_sub_sat(q, p));
        const V e = wasm_v128_and(size, lanes_at(x, n, last, 0));
        total = add_wide(add_wide(total, wasm_u32x4_extmul_low_u16x8(e, e)), wasm_u32x4_extmul_high_u16x8(e, e));
    }
    return lane_sum(total);
}

void xpsnr_sse_simd(const void *a, const void *b, uint32_t width, uint32_t rows, uint32_t block, uint32_t bit_depth,
                    uint64_t *sums)
{
    const int wide = bit_depth > 8;
    for (uint32_t y = 0; y < rows; y++, a = at(a, width, wide), b = at(b, width, wide))
        for (uint32_t x = 0, k = 0; x < width; x += block, k++) {
            const uint32_t n = least(block, width - x);
            sums[k] += wide ? squares_16(at(a, x, 1), at(b, x, 1), n) : squares_8(at(a, x, 0), at(b, x, 0), n);
        }
}

/* ---- Spatial activity: columns of a strip, row after row ---- */

/* Weights 1 2 1 of a row; *centre is its sample. */
INLINE V smooth(const void *plane, ptrdiff_t i, V *centre, const int wide)
{
    *centre = load(plane, i, wide);
    const V sides = add(load(plane, i - 1, wide), load(plane, i + 1, wide), wide);
    return add(sides, shl(*centre, 1, wide), wide);
}

INLINE uint64_t spatial(const void *window, ptrdiff_t stride, uint32_t width, uint32_t height, const int wide)
{
    V total = wasm_i64x2_const_splat(0);
    for (uint32_t x = 0; x < width; x += LANES(wide)) {
        const V mask = first(width - x, wide);
        const void *column = at(window, x, wide);
        V centre, next, sums = wasm_i32x4_const_splat(0);
        V above = smooth(column, -stride, &centre, wide), middle = smooth(column, 0, &centre, wide);
        for (uint32_t y = 0; y < height; y++, centre = next) {
            column = at(column, stride, wide);
            const V below = smooth(column, 0, &next, wide);
            const V around = add(add(above, below, wide), shl(middle, 1, wide), wide);
            sums = add_magnitudes(sums, sub(shl(centre, 4, wide), around, wide), mask, wide);
            above = middle, middle = below;
        }
        total = add_wide(total, sums);
    }
    return lane_sum(total);
}

uint64_t xpsnr_spatial_simd(const void *window, uint32_t stride, uint32_t width, uint32_t height, uint32_t bit_depth)
{
    return bit_depth > 8 ? spatial(window, stride, width, height, 1) : spatial(window, stride, width, height, 0);
}

/* Of each two columns in a row: both, with one to either side, with two to either side. */
typedef struct Spans {
    V two, four, six;
} Spans;

INLINE V evens(V v, const int wide)
{
    return wasm_v128_and(v, wide ? wasm_i32x4_const_splat(0xffff) : wasm_i16x8_const_splat(0xff));
}
INLINE V odds(V v, const int wide) { return wide ? wasm_u32x4_shr(v, 16) : wasm_u16x8_shr(v, 8); }

INLINE Spans spans(const void *plane, ptrdiff_t i, const int wide)
{
    const V left = wasm_v128_load(at(plane, i - 2, wide)), here = wasm_v128_load(at(plane, i, wide));
    const V right = wasm_v128_load(at(plane, i + 2, wide));
    Spans s;
    s.two = add(evens(here, wide), odds(here, wide), wide);
    s.four = add(s.two, add(odds(left, wide), evens(right, wide), wide), wide);
    s.six = add(s.four, add(evens(left, wide), odds(right, wide), wide), wide);
    return s;
}

/*
 * What two rows give: their core; the weights of the upper half around it and of the lower half. The filter is 16 cores
 * minus both halves, minus the lower half of the rows above and the upper half of those below.
 */
typedef struct Rows {
    V core, upper, lower;
} Rows;

INLINE Rows two_rows(const void *plane, ptrdiff_t stride, const int wide)
{
    const Spans a = spans(plane, 0, wide), b = spans(plane, stride, wide);
    const V both = add(a.four, b.four, wide);
    return (Rows){add(a.two, b.two, wide), add(both, add(a.six, a.two, wide), wide),
                  add(both, add(b.six, b.two, wide), wide)};
}

INLINE uint64_t spatial_big(const void *window, ptrdiff_t stride, uint32_t width, uint32_t height, const int wide)
{
    const uint32_t columns = width / 2, rows = height / 2;
    V total = wasm_i64x2_const_splat(0);
    for (uint32_t x = 0; x < columns; x += LANES(wide)) {
        const V mask = first(columns - x, wide);
        const void *column = at(window, 2 * x, wide);
        V sums = wasm_i32x4_const_splat(0);
        V above = two_rows(at(column, -2 * stride, wide), stride, wide).lower;
        Rows here = two_rows(column, stride, wide);
        for (uint32_t y = 0; y < rows; y++) {
            column = at(column, 2 * stride, wide);
            const Rows below = two_rows(column, stride, wide);
            const V around = add(add(above, here.upper, wide), add(here.lower, below.upper, wide), wide);
            sums = add_magnitudes(sums, sub(shl(here.core, 4, wide), around, wide), mask, wide);
            above = here.lower;
            here = below;
        }
        total = add_wide(total, sums);
    }
    return lane_sum(total);
}

uint64_t xpsnr_spatial_big_simd(const void *window, uint32_t stride, uint32_t width, uint32_t height,
                                uint32_t bit_depth)
{
    return bit_depth > 8 ? spatial_big(window, stride, width, height, 1)
                         : spatial_big(window, stride, width, height, 0);
}

/* ---- Temporal activity: row after row, as squared error ---- */

/* Sums of two columns and two rows. */
INLINE V sums_of_four(const void *row, ptrdiff_t stride, const int wide)
{
    const V a = wasm_v128_load(row), b = wasm_v128_load(at(row, stride, wide));
    return wide ? wasm_i32x4_add(wasm_u32x4_extadd_pairwise_u16x8(a), wasm_u32x4_extadd_pairwise_u16x8(b))
                : wasm_i16x8_add(wasm_u16x8_extadd_pairwise_u8x16(a), wasm_u16x8_extadd_pairwise_u8x16(b));
}

/* Where rows of the pictures begin; one that is missing has an empty mask, and another's rows. */
typedef struct Times {
    const void *rows[3];
    V there[3];
} Times;

INLINE V at_time(const Times *t, uint32_t k, ptrdiff_t i, ptrdiff_t stride, const int big, const int wide)
{
    const void *from = at(t->rows[k], i, wide);
    return wasm_v128_and(big ? sums_of_four(from, stride, wide) : load(from, 0, wide), t->there[k]);
}

/* Sum of the magnitudes of n differences in time from sample i on. */
INLINE uint64_t changes(const Times *t, ptrdiff_t i, ptrdiff_t stride, uint32_t n, const uint32_t order, const int big,
                        const int wide)
{
    const V last = first(n & (LANES(wide) - 1), wide);
    V sums = wasm_i32x4_const_splat(0);
    for (uint32_t x = 0; x < n; x += LANES(wide), i += big ? 2 * LANES(wide) : LANES(wide)) {
        const V before = at_time(t, 1, i, stride, big, wide);
        V f = sub(at_time(t, 0, i, stride, big, wide), before, wide);
        if (order == 2)
            f = add(f, sub(at_time(t, 2, i, stride, big, wide), before, wide), wide);
        sums = add_magnitudes(sums, f, lanes_at(x, n, last, wide), wide);
    }
    return lane_sum(add_wide(wasm_i64x2_const_splat(0), sums));
}

INLINE void temporal(const void *const starts[3], const uint32_t order, uint32_t width, uint32_t rows, uint32_t block,
                     uint64_t *sums, const int big, const int wide)
{
    const uint32_t step = big ? 2 : 1;
    Times t;
    for (uint32_t k = 0; k < 3; k++) {
        t.rows[k] = starts[k] ? starts[k] : starts[0];
        t.there[k] = wasm_i32x4_splat(starts[k] ? -1 : 0);
    }
    for (uint32_t y = 0; y + step <= rows; y += step) {
        for (uint32_t x = 0, k = 0; x < width; x += block, k++)
            sums[k] += changes(&t, x, width, least(block, width - x) / step, order, big, wide);
        for (uint32_t k = 0; k < 3; k++)
            t.rows[k] = at(t.rows[k], (ptrdiff_t)step * width, wide);
    }
}

#define OF_ORDER(big, wide)                                                                                            \
    if (order == 1)                                                                                                    \
        temporal(starts, 1, width, rows, block, sums, big, wide);                                                      \
    else                                                                                                               \
        temporal(starts, 2, width, rows, block, sums, big, wide);

void xpsnr_temporal_simd(const void *const starts[3], uint32_t order, uint32_t width, uint32_t rows, uint32_t block,
                         uint32_t bit_depth, uint64_t *sums)
{
    if (bit_depth > 8) {
        OF_ORDER(0, 1)
    } else {
        OF_ORDER(0, 0)
    }
}

void xpsnr_temporal_big_simd(const void *const starts[3], uint32_t order, uint32_t width, uint32_t rows,
                             uint32_t block, uint32_t bit_depth, uint64_t *sums)
{
    if (bit_depth > 8) {
        OF_ORDER(1, 1)
    } else {
        OF_ORDER(1, 0)
    }
}
