/*
 * motion_simd.c - motion in SIMD128, equal to motion.c to the last bit.
 *
 * Samples are brought to one depth first, x << (D - depth), so that every shift below is a constant: the definition's
 * (sum K*x + 2^(depth-1)) >> depth is (sum K*(x << (D - depth)) + 2^(D-1)) >> D.
 *
 * Up to 14 bits a difference and the sum of two fit 16. The vertical result v of a difference needs 17, but seldom: rows
 * in which it does, and wider samples, are filtered in two parts. With v = 2h + l the horizontal sum splits into two that
 * fit 32 bits: (sum K*v + 2^15) >> 16 = (sum K*h + ((sum K*l + 2^15) >> 1)) >> 15. The same split serves the 17-bit
 * differences of 16-bit samples vertically.
 */
#include "motion.h"

#include "filter_simd.h"
#include "filters.h"

#define SCALE 2  /* the blur is the filter of VIF scale 2 */
#define WINDOW 3 /* its pairs */
#define MARGIN 8
#define NARROW 14 /* bits of samples whose differences are filtered as they are */
#define RING 6    /* rows of differences that two rows of results need */

/* Samples of a buffered row: margins for the mirror, and what vectors may run over. */
static uint32_t row_samples(uint32_t width) { return ((width + 15) & ~15u) + 2 * MARGIN + 16; }
static uint32_t blocks_of(uint32_t width) { return (width + 15) / 16; }

/* Buffers of one call, cut from the scratch memory. */
typedef struct Buffers {
    Kernel *kernels;     /* for a window that starts at each place of the ring */
    int16_t *pairs[2];   /* rings of WINDOW rows of pairs, or one of RING rows */
    Sums *sums;          /* a row of them */
    int16_t *rows[2][2]; /* two rows of two signals */
} Buffers;

size_t motion_simd_scratch_bytes(uint32_t width, uint32_t height)
{
    (void)height;
    const size_t row = row_samples(width);
    return WINDOW * sizeof(Kernel) + 2 * WINDOW * 2 * row * sizeof(int16_t) + 2 * blocks_of(width) * sizeof(Sums) +
           4 * row * sizeof(int16_t);
}

static Buffers cut(void *scratch, uint32_t width)
{
    const size_t row = row_samples(width);
    Buffers b;
    b.kernels = scratch;
    for (uint32_t first = 0; first < WINDOW; first++)
        make_kernel(SCALE, first, &b.kernels[first]);
    b.sums = (Sums *)(b.kernels + WINDOW);
    int16_t *samples = (int16_t *)(b.sums + 2 * blocks_of(width));
    for (int signal = 0; signal < 2; signal++) {
        b.pairs[signal] = samples;
        samples += WINDOW * 2 * row;
    }
    for (int i = 0; i < 4; i++)
        b.rows[i / 2][i % 2] = samples + i * row + MARGIN;
    return b;
}

/* Mirrored samples around a row. */
static void extend_row(int16_t *row, uint32_t width, int repeat_end)
{
    for (int32_t k = 1; k <= 2; k++) {
        const int32_t before = -k, behind = (int32_t)width + k - 1;
        row[before] = row[repeat_end ? mirror_repeat_end(before, (int32_t)width) : mirror(before, (int32_t)width)];
        row[behind] = row[repeat_end ? mirror_repeat_end(behind, (int32_t)width) : mirror(behind, (int32_t)width)];
    }
}

static uint64_t lane_sum(V v)
{
    return (uint64_t)(uint32_t)wasm_i32x4_extract_lane(v, 0) + (uint32_t)wasm_i32x4_extract_lane(v, 1) +
           (uint32_t)wasm_i32x4_extract_lane(v, 2) + (uint32_t)wasm_i32x4_extract_lane(v, 3);
}

/* All ones for four outputs, every second from `column` on, that lie inside the picture. */
INLINE V inside(uint32_t column, uint32_t width)
{
    V columns = wasm_i32x4_add(wasm_i32x4_const(0, 2, 4, 6), wasm_i32x4_splat((int32_t)column));
    return wasm_i32x4_lt(columns, wasm_i32x4_splat((int32_t)width));
}

/* (2h + l) >> 16 of the two sums of a split signal; l has the rounding constant in it. */
INLINE V join(V h, V l) { return wasm_i32x4_shr(wasm_i32x4_add(h, wasm_i32x4_shr(l, 1)), 15); }

/* Stores eight vertical results in two parts. */
INLINE void store_split(int16_t *const rows[2], uint32_t j, V v0, V v1)
{
    const V one = wasm_i32x4_const_splat(1);
    wasm_v128_store(rows[0] + j, wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(v0, 1), wasm_i32x4_shr(v1, 1)));
    wasm_v128_store(rows[1] + j, wasm_i16x8_narrow_i32x4(wasm_v128_and(v0, one), wasm_v128_and(v1, one)));
}

/* Sum of a row's magnitudes after the horizontal pass. */
static uint64_t split_row_sad(const Buffers *b, int16_t *const rows[2], uint32_t width)
{
    const uint32_t blocks = blocks_of(width);
    extend_row(rows[0], width, 0);
    extend_row(rows[1], width, 0);
    filter_blocks(&b->kernels[0], rows[0] - 2, 0, rows[1] - 2, 32768, 2, 16, blocks, b->sums);
    V total = wasm_i32x4_const_splat(0);
    for (uint32_t j = 0; j < blocks; j++)
        for (uint32_t parity = 0; parity < 2; parity++)
            for (uint32_t half = 0; half < 2; half++) {
                V d = wasm_i32x4_abs(join(b->sums[j].a[parity][half], b->sums[j].b[parity][half]));
                if (16 * j + 16 > width)
                    d = wasm_v128_and(d, inside(16 * j + 8 * half + parity, width));
                total = wasm_i32x4_add(total, d);
            }
    return lane_sum(total);
}

/* ---- Samples of up to 14 bits ---- */

/* Differences of a row, 14 bits and a sign. */
static void subtract_rows(const void *earlier, const void *current, size_t at, uint32_t width, uint32_t bit_depth,
                          int16_t *out)
{
    const V unit = wasm_i16x8_splat((int16_t)(1 << (NARROW - bit_depth)));
    if (bit_depth == 8) {
        const uint8_t *e = (const uint8_t *)earlier + at, *c = (const uint8_t *)current + at;
        for (uint32_t j = 0; j < width; j += 8)
            wasm_v128_store(out + j, wasm_i16x8_shl(wasm_i16x8_sub(wasm_u16x8_load8x8(e + j), wasm_u16x8_load8x8(c + j)),
                                                    NARROW - 8));
    } else {
        const uint16_t *e = (const uint16_t *)earlier + at, *c = (const uint16_t *)current + at;
        for (uint32_t j = 0; j < width; j += 8)
            wasm_v128_store(out + j, wasm_i16x8_mul(wasm_i16x8_sub(wasm_v128_load(e + j), wasm_v128_load(c + j)), unit));
    }
}

/* Two taps, or a tap and the rounding constant, of a dot product. */
INLINE V two(int32_t first, int32_t second) { return wasm_i32x4_splat((int32_t)((uint32_t)second << 16 | (uint32_t)first)); }

/* Eight vertical results from the rows two away, one away and at the output, the symmetric ones added up. */
INLINE void filter_column(V outer, V inner, V centre, V v[2])
{
    const V one = wasm_i16x8_const_splat(1);
    const V sides = two(motion_filter[0], motion_filter[1]), middle = two(motion_filter[2], 1 << (NARROW - 1));
    v[0] = wasm_i32x4_shr(wasm_i32x4_add(wasm_i32x4_dot_i16x8(pairs_low(outer, inner), sides),
                                         wasm_i32x4_dot_i16x8(pairs_low(centre, one), middle)), NARROW);
    v[1] = wasm_i32x4_shr(wasm_i32x4_add(wasm_i32x4_dot_i16x8(pairs_high(outer, inner), sides),
                                         wasm_i32x4_dot_i16x8(pairs_high(centre, one), middle)), NARROW);
}

/* Vertical pass of two rows from six; gives the largest magnitudes of both, 32767 or more where they need 17 bits. */
static void filter_rows(const int16_t *const d[RING], uint32_t width, int16_t *const out[2], V largest[2])
{
    V top = wasm_i16x8_const_splat(0), bottom = top;
    for (uint32_t j = 0; j < width; j += 8) {
        const V d0 = wasm_v128_load(d[0] + j), d1 = wasm_v128_load(d[1] + j), d2 = wasm_v128_load(d[2] + j);
        const V d3 = wasm_v128_load(d[3] + j), d4 = wasm_v128_load(d[4] + j), d5 = wasm_v128_load(d[5] + j);
        V sums[2];
        filter_column(wasm_i16x8_add(d0, d4), wasm_i16x8_add(d1, d3), d2, sums);
        V v = wasm_i16x8_narrow_i32x4(sums[0], sums[1]);
        wasm_v128_store(out[0] + j, v);
        top = wasm_u16x8_max(top, wasm_i16x8_abs(v));
        filter_column(wasm_i16x8_add(d1, d5), wasm_i16x8_add(d2, d4), d3, sums);
        v = wasm_i16x8_narrow_i32x4(sums[0], sums[1]);
        wasm_v128_store(out[1] + j, v);
        bottom = wasm_u16x8_max(bottom, wasm_i16x8_abs(v));
    }
    largest[0] = top, largest[1] = bottom;
}

/* Vertical pass of a row from five, in two parts. */
static void filter_row_split(const int16_t *const d[5], uint32_t width, int16_t *const out[2])
{
    for (uint32_t j = 0; j < width; j += 8) {
        V sums[2];
        filter_column(wasm_i16x8_add(wasm_v128_load(d[0] + j), wasm_v128_load(d[4] + j)),
                      wasm_i16x8_add(wasm_v128_load(d[1] + j), wasm_v128_load(d[3] + j)), wasm_v128_load(d[2] + j), sums);
        store_split(out, j, sums[0], sums[1]);
    }
}

/* Sum of the magnitudes of a row of 16-bit vertical results after the horizontal pass. */
static uint64_t row_sad(int16_t *row, uint32_t width)
{
    const int32_t *const f = motion_filter;
    const V round = wasm_i32x4_const_splat(32768);
    V total = wasm_i32x4_const_splat(0);
    extend_row(row, width, 0);
    for (uint32_t j = 0; j < width; j += 8) {
        const V a = wasm_v128_load(row + (int32_t)j - 2), b = wasm_v128_load(row + j), c = wasm_v128_load(row + j + 2);
        V even = wasm_i32x4_add(wasm_i32x4_add(wasm_i32x4_dot_i16x8(a, two(f[0], f[1])), round),
                                wasm_i32x4_add(wasm_i32x4_dot_i16x8(b, two(f[2], f[3])), wasm_i32x4_dot_i16x8(c, two(f[4], 0))));
        V odd = wasm_i32x4_add(wasm_i32x4_add(wasm_i32x4_dot_i16x8(a, two(0, f[0])), round),
                               wasm_i32x4_add(wasm_i32x4_dot_i16x8(b, two(f[1], f[2])), wasm_i32x4_dot_i16x8(c, two(f[3], f[4]))));
        even = wasm_i32x4_abs(wasm_i32x4_shr(even, 16));
        odd = wasm_i32x4_abs(wasm_i32x4_shr(odd, 16));
        if (j + 8 > width) {
            even = wasm_v128_and(even, inside(j, width));
            odd = wasm_v128_and(odd, inside(j + 1, width));
        }
        total = wasm_i32x4_add(total, wasm_i32x4_add(even, odd));
    }
    return lane_sum(total);
}

static uint64_t sad_narrow(const Buffers *b, const void *earlier, const void *current, uint32_t width, uint32_t height,
                           uint32_t bit_depth)
{
    const size_t row = row_samples(width);
    uint64_t sad = 0;
    uint32_t loaded = 0; /* rows that have entered the ring; row q is that of the picture's q - 2 */
    for (uint32_t y = 0; y < height; y += 2) {
        for (; loaded < y + RING; loaded++)
            subtract_rows(earlier, current, (size_t)mirror((int32_t)loaded - 2, (int32_t)height) * width, width, bit_depth,
                          b->pairs[0] + loaded % RING * row);
        const int16_t *d[RING];
        for (uint32_t k = 0; k < RING; k++)
            d[k] = b->pairs[0] + (y + k) % RING * row;
        int16_t *const out[2] = {b->rows[0][0], b->rows[1][0]};
        V largest[2];
        filter_rows(d, width, out, largest);
        for (uint32_t r = 0; r < 2 && y + r < height; r++) {
            if (wasm_v128_any_true(wasm_u16x8_ge(largest[r], wasm_i16x8_const_splat(32767)))) {
                filter_row_split(d + r, width, b->rows[r]);
                sad += split_row_sad(b, b->rows[r], width);
            } else {
                sad += row_sad(b->rows[r][0], width);
            }
        }
    }
    return sad;
}

/* ---- Wider samples ---- */

/* Loads 16 columns of rows y0 and y1 of a plane as pairs of 16-bit samples. unit: what a sample is multiplied by. */
INLINE void load_pairs(const void *plane, const size_t at[2], uint32_t j, uint32_t bit_depth, V unit, V out[4])
{
    for (uint32_t half = 0; half < 2; half++) {
        if (bit_depth == 8) {
            const uint8_t *const samples = plane;
            V bytes = byte_pairs(samples + at[0] + j + 8 * half, samples + at[1] + j + 8 * half);
            out[2 * half] = wasm_i16x8_shl(wasm_u16x8_extend_low_u8x16(bytes), 8);
            out[2 * half + 1] = wasm_i16x8_shl(wasm_u16x8_extend_high_u8x16(bytes), 8);
        } else {
            const uint16_t *const samples = plane;
            V r0 = wasm_i16x8_mul(wasm_v128_load(samples + at[0] + j + 8 * half), unit);
            V r1 = wasm_i16x8_mul(wasm_v128_load(samples + at[1] + j + 8 * half), unit);
            out[2 * half] = pairs_low(r0, r1);
            out[2 * half + 1] = pairs_high(r0, r1);
        }
    }
}

/* What brings samples to 16 bits. */
INLINE V unit_of(uint32_t bit_depth) { return wasm_i16x8_splat((int16_t)(1u << (16 - bit_depth))); }

static uint64_t sad_wide(const Buffers *b, const uint16_t *earlier, const uint16_t *current, uint32_t width,
                         uint32_t height, uint32_t bit_depth)
{
    const size_t stride = 2 * row_samples(width);
    const uint32_t blocks = blocks_of(width);
    const V one = wasm_i16x8_const_splat(1), unit = unit_of(bit_depth);
    uint64_t sad = 0;
    uint32_t loaded = 0;
    for (uint32_t y = 0; y < height; y += 2) {
        for (; loaded < y / 2 + WINDOW; loaded++) {
            size_t at[2];
            for (int32_t k = 0; k < 2; k++)
                at[k] = (size_t)mirror((int32_t)(2 * loaded) - 2 + k, (int32_t)height) * width;
            int16_t *const slot[2] = {b->pairs[0] + loaded % WINDOW * stride, b->pairs[1] + loaded % WINDOW * stride};
            for (uint32_t j = 0; j < width; j += 16) {
                V e[4], c[4];
                load_pairs(earlier, at, j, 16, unit, e);
                load_pairs(current, at, j, 16, unit, c);
                for (uint32_t i = 0; i < 4; i++) {
                    /* 17 bits: h = floor(d / 2), as (e + ~c + 1) >> 1 less 2^15; l = d & 1. */
                    const uint32_t to = 2 * j + 8 * i;
                    wasm_v128_store(slot[0] + to, flip16(wasm_u16x8_avgr(e[i], wasm_v128_not(c[i]))));
                    wasm_v128_store(slot[1] + to, wasm_v128_and(wasm_i16x8_sub(e[i], c[i]), one));
                }
            }
        }
        filter_blocks(&b->kernels[y / 2 % WINDOW], b->pairs[0], 0, b->pairs[1], 32768, (uint32_t)stride, 16, 2 * blocks,
                      b->sums);
        for (uint32_t r = 0; r < 2 && y + r < height; r++)
            for (uint32_t j = 0; j < 2 * blocks; j++) {
                const Sums *sums = &b->sums[j];
                store_split(b->rows[r], 8 * j, join(sums->a[r][0], sums->b[r][0]), join(sums->a[r][1], sums->b[r][1]));
            }
        for (uint32_t r = 0; r < 2 && y + r < height; r++)
            sad += split_row_sad(b, b->rows[r], width);
    }
    return sad;
}

uint64_t motion_sad_simd(const void *earlier, const void *current, uint32_t width, uint32_t height,
                         uint32_t bit_depth, void *scratch)
{
    const Buffers b = cut(scratch, width);
    return bit_depth <= NARROW ? sad_narrow(&b, earlier, current, width, height, bit_depth)
                               : sad_wide(&b, earlier, current, width, height, bit_depth);
}

/* ---- libvmaf up to 3.0 ---- */

uint64_t motion_sad_legacy_simd(const void *earlier, const void *current, uint32_t width, uint32_t height,
                                uint32_t bit_depth, void *scratch)
{
    const Buffers b = cut(scratch, width);
    const size_t row = row_samples(width), stride = 2 * row;
    const uint32_t blocks = blocks_of(width);
    const V unit = unit_of(bit_depth);
    uint64_t sad = 0;
    uint32_t loaded = 0;
    for (uint32_t y = 0; y < height; y += 2) {
        for (; loaded < y / 2 + WINDOW; loaded++) {
            size_t at[2];
            for (int32_t k = 0; k < 2; k++)
                at[k] = (size_t)mirror_repeat_end((int32_t)(2 * loaded) - 2 + k, (int32_t)height) * width;
            for (uint32_t side = 0; side < 2; side++) {
                int16_t *slot = b.pairs[side] + loaded % WINDOW * stride;
                for (uint32_t j = 0; j < width; j += 16) {
                    V v[4];
                    load_pairs(side ? current : earlier, at, j, bit_depth, unit, v);
                    for (uint32_t i = 0; i < 4; i++)
                        wasm_v128_store(slot + 2 * j + 8 * i, flip16(v[i]));
                }
            }
        }
        filter_blocks(&b.kernels[y / 2 % WINDOW], b.pairs[0], 32768, b.pairs[1], 32768, (uint32_t)stride, 16, 2 * blocks,
                      b.sums);
        for (uint32_t r = 0; r < 2 && y + r < height; r++)
            for (uint32_t side = 0; side < 2; side++) {
                for (uint32_t j = 0; j < 2 * blocks; j++) {
                    const V *v = side ? b.sums[j].b[r] : b.sums[j].a[r];
                    wasm_v128_store(b.rows[r][side] + 8 * j,
                                    wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(v[0], 16), wasm_i32x4_shr(v[1], 16)));
                }
                extend_row(b.rows[r][side], width, 1);
            }
        for (uint32_t r = 0; r < 2 && y + r < height; r++) {
            filter_blocks(&b.kernels[0], b.rows[r][0] - 2, 32768, b.rows[r][1] - 2, 32768, 2, 16, blocks, b.sums);
            V total = wasm_i32x4_const_splat(0);
            for (uint32_t j = 0; j < blocks; j++)
                for (uint32_t parity = 0; parity < 2; parity++)
                    for (uint32_t half = 0; half < 2; half++) {
                        V before = wasm_i32x4_shr(b.sums[j].a[parity][half], 16);
                        V after = wasm_i32x4_shr(b.sums[j].b[parity][half], 16);
                        V d = wasm_i32x4_abs(wasm_i32x4_sub(before, after));
                        if (16 * j + 16 > width)
                            d = wasm_v128_and(d, inside(16 * j + 8 * half + parity, width));
                        total = wasm_i32x4_add(total, d);
                    }
            sad += lane_sum(total);
        }
    }
    return sad;
}
