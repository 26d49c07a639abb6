/*
 * xpsnr_simd.c - the block sums of XPSNR in SIMD128, equal to xpsnr.c: all of it is integers, added up in another order.
 *
 * Lanes are twice as wide as samples: eight of 16 bits for 8-bit video, four of 32 bits for deeper video. Every lane of a
 * strip or a row adds up in 32 bits, at most twice 48 * 255 (8 bit) or once 48 * 65535 for each of the 728 rows or 364
 * pairs of rows of the largest block, which is below 2^32. Both spatial filters are 16 times the core minus a sum of
 * weights 16 or 64, so that parts of that sum serve the rows above and below too. It is at most 64 * 255 in 16 bits.
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
INLINE V shl(V a, const uint32_t bits, const int wide) { return wide ? wasm_i32x4_shl(a, bits) : wasm_i16x8_shl(a, bits); }

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

/* ---- Squared error ---- */

INLINE V squares_8(const void *a, const void *b, V mask, V sums)
{
    const V e = wasm_v128_and(wasm_i16x8_sub(wasm_u16x8_load8x8(a), wasm_u16x8_load8x8(b)), mask);
    return wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(e, e));
}

static uint64_t sse_8(const uint8_t *a, const uint8_t *b, uint32_t stride, uint32_t width, uint32_t height)
{
    const uint32_t whole = width & ~7u;
    const V mask = first(width - whole, 0), all = wasm_i16x8_const_splat(-1);
    V total = wasm_i64x2_const_splat(0);
    for (uint32_t y = 0; y < height; y++, a += stride, b += stride) {
        V sums = wasm_i32x4_const_splat(0);
        for (uint32_t x = 0; x < whole; x += 8)
            sums = squares_8(a + x, b + x, all, sums);
        if (whole < width)
            sums = squares_8(a + whole, b + whole, mask, sums);
        total = add_wide(total, sums);
    }
    return lane_sum(total);
}

INLINE V squares_16(const void *a, const void *b, V mask, V total)
{
    const V x = wasm_v128_load(a), y = wasm_v128_load(b);
    /* |x - y| in 16 bits: one of the saturated differences is zero. */
    const V e = wasm_v128_and(wasm_v128_or(wasm_u16x8_sub_sat(x, y), wasm_u16x8_sub_sat(y, x)), mask);
    return add_wide(add_wide(total, wasm_u32x4_extmul_low_u16x8(e, e)), wasm_u32x4_extmul_high_u16x8(e, e));
}

static uint64_t sse_16(const uint16_t *a, const uint16_t *b, uint32_t stride, uint32_t width, uint32_t height)
{
    const uint32_t whole = width & ~7u;
    const V mask = first(width - whole, 0), all = wasm_i16x8_const_splat(-1);
    V total = wasm_i64x2_const_splat(0);
    for (uint32_t y = 0; y < height; y++, a += stride, b += stride) {
        for (uint32_t x = 0; x < whole; x += 8)
            total = squares_16(a + x, b + x, all, total);
        if (whole < width)
            total = squares_16(a + whole, b + whole, mask, total);
    }
    return lane_sum(total);
}

uint64_t xpsnr_sse_simd(const void *a, const void *b, uint32_t stride, uint32_t width, uint32_t height,
                        uint32_t bit_depth)
{
    return bit_depth > 8 ? sse_16(a, b, stride, width, height) : sse_8(a, b, stride, width, height);
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

/* ---- Temporal activity: row after row ---- */

/* Sums of two columns and two rows. */
INLINE V sums_of_four(const void *block, ptrdiff_t stride, const int wide)
{
    const V a = wasm_v128_load(block), b = wasm_v128_load(at(block, stride, wide));
    return wide ? wasm_i32x4_add(wasm_u32x4_extadd_pairwise_u16x8(a), wasm_u32x4_extadd_pairwise_u16x8(b))
                : wasm_i16x8_add(wasm_u16x8_extadd_pairwise_u8x16(a), wasm_u16x8_extadd_pairwise_u8x16(b));
}

/* Where the rows of three pictures begin. */
typedef struct Times {
    const void *rows[3];
    ptrdiff_t strides[3];
} Times;

/* The difference in time from column x on. */
INLINE V change(const Times *t, ptrdiff_t x, const uint32_t order, const int big, const int wide)
{
#define PART(k) (big ? sums_of_four(at(t->rows[k], x, wide), t->strides[k], wide) : load(t->rows[k], x, wide))
    const V now = PART(0), before = PART(1), difference = sub(now, before, wide);
    return order == 1 ? difference : add(difference, sub(PART(2), before, wide), wide);
#undef PART
}

INLINE uint64_t temporal(const void *const blocks[3], const uint32_t strides[3], uint32_t width, uint32_t height,
                         const uint32_t order, const int big, const int wide)
{
    const uint32_t step = big ? 2 : 1, columns = width / step, rows = height / step;
    const uint32_t whole = columns & ~(LANES(wide) - 1);
    const V mask = first(columns - whole, wide), all = wasm_i32x4_const_splat(-1);
    Times t = {{blocks[0], blocks[1], blocks[2]}, {strides[0], strides[1], strides[2]}};
    V total = wasm_i64x2_const_splat(0);
    for (uint32_t y = 0; y < rows; y++) {
        V sums = wasm_i32x4_const_splat(0);
        for (uint32_t x = 0; x < whole; x += LANES(wide))
            sums = add_magnitudes(sums, change(&t, step * x, order, big, wide), all, wide);
        if (whole < columns)
            sums = add_magnitudes(sums, change(&t, step * whole, order, big, wide), mask, wide);
        total = add_wide(total, sums);
        for (uint32_t k = 0; k <= order; k++)
            t.rows[k] = at(t.rows[k], (ptrdiff_t)step * t.strides[k], wide);
    }
    return lane_sum(total);
}

#define OF_ORDER(big, wide)                                                                                            \
    (order == 1 ? temporal(blocks, strides, width, height, 1, big, wide)                                               \
                : temporal(blocks, strides, width, height, 2, big, wide))

uint64_t xpsnr_temporal_simd(const void *const blocks[3], const uint32_t strides[3], uint32_t order, uint32_t width,
                             uint32_t height, uint32_t bit_depth)
{
    return bit_depth > 8 ? OF_ORDER(0, 1) : OF_ORDER(0, 0);
}

uint64_t xpsnr_temporal_big_simd(const void *const blocks[3], const uint32_t strides[3], uint32_t order,
                                 uint32_t width, uint32_t height, uint32_t bit_depth)
{
    return bit_depth > 8 ? OF_ORDER(1, 1) : OF_ORDER(1, 0);
}
