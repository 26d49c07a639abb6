/*
 * motion_simd.c - motion in SIMD128, equal to motion.c to the last bit.
 *
 * Samples are scaled to one depth first, x << (D - depth), so that all shifts below are constant; only 8 bits have their
 * own constant. The definition's
 * (sum K*x + 2^(depth-1)) >> depth is (sum K*(x << (D - depth)) + 2^(D-1)) >> D.
 *
 * Up to 14 bits a difference and the sum of two fit 16. The vertical result v of a difference rarely needs 17: it is
 * truncated, and affected columns are computed again in two parts, as for wider samples. With
 * v = 2h + l the horizontal sum splits into two that fit 32 bits:
 * (sum K*v + 2^15) >> 16 = (sum K*h + ((sum K*l + 2^15) >> 1)) >> 15. The same split serves the 17-bit differences of
 * 16-bit samples vertically.
 */
#include "motion.h"

#include "filter_simd.h"
#include "filters.h"
#include "memory.h"

#define SCALE 2  /* the blur is the filter of VIF scale 2 */
#define WINDOW 3 /* its pairs */
#define MARGIN 8
#define NARROW 14 /* bits of samples whose differences are filtered unchanged; depths of 9 and more are scaled up to it */
#define BLOCK 32  /* columns that are searched together for results of 17 bits */
#define REACHED 8 /* columns to either side that these may affect: two, and vectors */

/* Not inlined: engines need megabytes to optimise long functions, which count as our memory. */
#define ALONE static __attribute__((noinline))

/* Samples of a buffered row, with margins for the mirror and for vectors past the end. */
static uint32_t row_samples(uint32_t width) { return ((width + 15) & ~15u) + 2 * MARGIN + 16; }
static uint32_t blocks_of(uint32_t width) { return (width + 15) / 16; }

/* Buffers of one call, cut from the scratch memory. */
typedef struct Buffers {
    Kernel *kernels;     /* for a window that starts at each place of the ring */
    int16_t *pairs[2];   /* rings of WINDOW rows of pairs, or four rows of differences */
    Sums *sums;          /* a row of them */
    int16_t *rows[2][2]; /* two rows of two signals */
} Buffers;

size_t motion_simd_scratch_bytes(uint32_t width, uint32_t height)
{
    (void)height;
    const size_t row = row_samples(width) * sizeof(int16_t);
    return area_bytes(WINDOW * sizeof(Kernel)) + area_bytes(2 * blocks_of(width) * sizeof(Sums)) +
           2 * area_bytes(WINDOW * 2 * row) + 4 * area_bytes(row);
}

static Buffers cut(void *scratch, uint32_t width)
{
    const size_t row = row_samples(width) * sizeof(int16_t);
    uint8_t *memory = scratch;
    Buffers b;
    b.kernels = core_cut(&memory, WINDOW * sizeof(Kernel));
    for (uint32_t first = 0; first < WINDOW; first++)
        make_kernel(SCALE, first, &b.kernels[first]);
    b.sums = core_cut(&memory, 2 * blocks_of(width) * sizeof(Sums));
    for (int signal = 0; signal < 2; signal++)
        b.pairs[signal] = core_cut(&memory, WINDOW * 2 * row);
    for (int i = 0; i < 4; i++)
        b.rows[i / 2][i % 2] = (int16_t *)core_cut(&memory, row) + MARGIN;
    return b;
}

/* Mirrored samples around a row. */
ALONE void extend_row(int16_t *row, uint32_t width, int repeat_end)
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

/* Sum of the magnitudes of columns `from` to `to` of an extended row in two parts, after the horizontal pass. */
ALONE uint64_t split_sad(const Buffers *b, int16_t *const rows[2], uint32_t from, uint32_t to)
{
    const uint32_t blocks = blocks_of(to - from);
    const int32_t start = (int32_t)from - 2;
    filter_blocks(&b->kernels[0], rows[0] + start, 0, rows[1] + start, 32768, 2, 16, blocks, b->sums);
    V total = wasm_i32x4_const_splat(0);
    for (uint32_t j = 0; j < blocks; j++)
        for (uint32_t parity = 0; parity < 2; parity++)
            for (uint32_t half = 0; half < 2; half++) {
                V d = wasm_i32x4_abs(join(b->sums[j].a[parity][half], b->sums[j].b[parity][half]));
                if (from + 16 * j + 16 > to)
                    d = wasm_v128_and(d, inside(from + 16 * j + 8 * half + parity, to));
                total = wasm_i32x4_add(total, d);
            }
    return lane_sum(total);
}

/* ---- Samples of up to 14 bits ---- */

/* Two pictures whose difference is filtered. */
typedef struct Pair {
    const void *earlier, *current;
    uint32_t width, height;
    uint32_t narrowed; /* bits of the scaled differences: 8 unchanged, otherwise NARROW */
    V unit;            /* the factor for that */
} Pair;

/* Eight differences from sample `at` on. */
INLINE V difference(const Pair *p, size_t at, const uint32_t narrowed)
{
    if (narrowed == 8)
        return wasm_i16x8_sub(wasm_u16x8_load8x8((const uint8_t *)p->earlier + at),
                              wasm_u16x8_load8x8((const uint8_t *)p->current + at));
    return wasm_i16x8_mul(wasm_i16x8_sub(wasm_v128_load((const uint16_t *)p->earlier + at),
                                         wasm_v128_load((const uint16_t *)p->current + at)), p->unit);
}

/* The first sample of a row, mirrored. */
ALONE size_t row_start(const Pair *p, int32_t row) { return (size_t)mirror(row, (int32_t)p->height) * p->width; }

/* Two taps, or a tap and the rounding constant, of a dot product. */
INLINE V two(int32_t first, int32_t second) { return wasm_i32x4_splat((int32_t)((uint32_t)second << 16 | (uint32_t)first)); }

/* Eight vertical results from the rows two away, one away and at the output; symmetric rows are summed first. */
INLINE void filter_column(V outer, V inner, V centre, const uint32_t narrowed, V v[2])
{
    const V one = wasm_i16x8_const_splat(1);
    const V sides = two(motion_filter[0], motion_filter[1]), middle = two(motion_filter[2], 1 << (narrowed - 1));
    v[0] = wasm_i32x4_shr(wasm_i32x4_add(wasm_i32x4_dot_i16x8(pairs_low(outer, inner), sides),
                                         wasm_i32x4_dot_i16x8(pairs_low(centre, one), middle)), narrowed);
    v[1] = wasm_i32x4_shr(wasm_i32x4_add(wasm_i32x4_dot_i16x8(pairs_high(outer, inner), sides),
                                         wasm_i32x4_dot_i16x8(pairs_high(centre, one), middle)), narrowed);
}

/*
 * Vertical pass of two rows. `columns` has of each eight columns the differences of the four rows before, and then of the
 * next four; those of the last two rows, which begin at `next`, are computed here. Returns the largest magnitudes of both
 * results, 32767 or more if they need 17 bits.
 */
INLINE void filter_rows(const Pair *p, V *columns, const size_t next[2], int16_t *const out[2], const uint32_t narrowed,
                        V largest[2])
{
    const Pair pair = *p;
    const size_t next0 = next[0], next1 = next[1];
    int16_t *const out0 = out[0], *const out1 = out[1];
    V top = wasm_i16x8_const_splat(0), bottom = top;
    for (uint32_t j = 0; j < pair.width; j += 8, columns += 4) {
        const V d0 = columns[0], d1 = columns[1], d2 = columns[2], d3 = columns[3];
        const V d4 = difference(&pair, next0 + j, narrowed), d5 = difference(&pair, next1 + j, narrowed);
        columns[0] = d2, columns[1] = d3, columns[2] = d4, columns[3] = d5;
        V sums[2];
        filter_column(wasm_i16x8_add(d0, d4), wasm_i16x8_add(d1, d3), d2, narrowed, sums);
        V v = wasm_i16x8_narrow_i32x4(sums[0], sums[1]);
        wasm_v128_store(out0 + j, v);
        top = wasm_u16x8_max(top, wasm_i16x8_abs(v));
        filter_column(wasm_i16x8_add(d1, d5), wasm_i16x8_add(d2, d4), d3, narrowed, sums);
        v = wasm_i16x8_narrow_i32x4(sums[0], sums[1]);
        wasm_v128_store(out1 + j, v);
        bottom = wasm_u16x8_max(bottom, wasm_i16x8_abs(v));
    }
    largest[0] = top, largest[1] = bottom;
}

/* The same of 16-bit vertical results. */
ALONE uint64_t row_sad(const int16_t *row, uint32_t from, uint32_t to)
{
    const int32_t *const f = motion_filter;
    const V round = wasm_i32x4_const_splat(32768);
    const int16_t *window = row + (int32_t)from - 2;
    V total = wasm_i32x4_const_splat(0);
    for (uint32_t j = from; j < to; j += 8, window += 8) {
        const V a = wasm_v128_load(window), b = wasm_v128_load(window + 2), c = wasm_v128_load(window + 4);
        V even = wasm_i32x4_add(wasm_i32x4_dot_i16x8(a, two(f[0], f[1])), round);
        even = wasm_i32x4_add(even, wasm_i32x4_add(wasm_i32x4_dot_i16x8(b, two(f[2], f[3])),
                                                   wasm_i32x4_dot_i16x8(c, two(f[4], 0))));
        V odd = wasm_i32x4_add(wasm_i32x4_dot_i16x8(a, two(0, f[0])), round);
        odd = wasm_i32x4_add(odd, wasm_i32x4_add(wasm_i32x4_dot_i16x8(b, two(f[1], f[2])),
                                                 wasm_i32x4_dot_i16x8(c, two(f[3], f[4]))));
        even = wasm_i32x4_abs(wasm_i32x4_shr(even, 16));
        odd = wasm_i32x4_abs(wasm_i32x4_shr(odd, 16));
        if (j + 8 > to) {
            even = wasm_v128_and(even, inside(j, to));
            odd = wasm_v128_and(odd, inside(j + 1, to));
        }
        total = wasm_i32x4_add(total, wasm_i32x4_add(even, odd));
    }
    return lane_sum(total);
}

/* Whether a magnitude of these needs 17 bits. */
INLINE int is_wide(V largest) { return wasm_v128_any_true(wasm_u16x8_ge(largest, wasm_i16x8_const_splat(32767))); }

/* Vertical pass of columns `from` to `to` of row y, in two parts. */
INLINE void filter_split(const Pair *p, int32_t y, uint32_t from, uint32_t to, const uint32_t narrowed,
                         int16_t *const out[2])
{
    size_t at[5];
    for (int32_t k = 0; k < 5; k++)
        at[k] = row_start(p, y + k - 2);
    for (uint32_t j = from; j < to; j += 8) {
        V d[5], v[2];
        for (uint32_t k = 0; k < 5; k++)
            d[k] = difference(p, at[k] + j, narrowed);
        filter_column(wasm_i16x8_add(d[0], d[4]), wasm_i16x8_add(d[1], d[3]), d[2], narrowed, v);
        store_split(out, j, v[0], v[1]);
    }
}

/* The same as row_sad of columns `from` to `to` of row y, from vertical results in two parts. */
ALONE uint64_t wide_sad(const Buffers *b, const Pair *p, int32_t y, uint32_t from, uint32_t to)
{
    int16_t *const parts[2] = {b->rows[0][1], b->rows[1][1]};
    const uint32_t width = p->width;
    const uint32_t first = from ? from - REACHED : 0, end = to + REACHED < width ? to + REACHED : width;
    if (p->narrowed == 8)
        filter_split(p, y, first, end, 8, parts);
    else
        filter_split(p, y, first, end, NARROW, parts);
    if (first == 0 || end == width) {
        extend_row(parts[0], width, 0);
        extend_row(parts[1], width, 0);
    }
    return split_sad(b, parts, from, to);
}

/* The error of a row's sum from truncated vertical results of row y that need 17 bits. */
ALONE int64_t cut_off(const Buffers *b, const Pair *p, int32_t y, const int16_t *row)
{
    const uint32_t width = p->width;
    int64_t lack = 0;
    uint32_t done = 0;
    for (uint32_t j = 0; j < width; j += BLOCK) {
        V largest = wasm_i16x8_abs(wasm_v128_load(row + j));
        for (uint32_t k = 8; k < BLOCK; k += 8)
            largest = wasm_u16x8_max(largest, wasm_i16x8_abs(wasm_v128_load(row + j + k)));
        if (!is_wide(largest))
            continue;
        /* They affect neighbouring columns too. */
        const uint32_t from = j > done + REACHED ? j - REACHED : done;
        const uint32_t to = j + BLOCK + REACHED < width ? j + BLOCK + REACHED : width;
        lack += (int64_t)wide_sad(b, p, y, from, to) - (int64_t)row_sad(row, from, to);
        done = to;
    }
    return lack;
}

ALONE void filter_rows_8(const Pair *p, V *columns, const size_t next[2], int16_t *const out[2], V largest[2])
{
    filter_rows(p, columns, next, out, 8, largest);
}

ALONE void filter_rows_14(const Pair *p, V *columns, const size_t next[2], int16_t *const out[2], V largest[2])
{
    filter_rows(p, columns, next, out, NARROW, largest);
}

ALONE uint64_t sad_narrow(const Buffers *b, const Pair *p)
{
    V *const columns = (V *)b->pairs[0];
    int16_t *const out[2] = {b->rows[0][0], b->rows[1][0]};
    uint64_t sad = 0;
    for (int32_t k = 0; k < 4; k++) {
        const size_t at = row_start(p, k - 2);
        for (uint32_t j = 0; j < p->width; j += 8)
            columns[j / 2 + k] = difference(p, at + j, p->narrowed);
    }
    for (int32_t y = 0; y < (int32_t)p->height; y += 2) {
        const size_t next[2] = {row_start(p, y + 2), row_start(p, y + 3)};
        V largest[2];
        if (p->narrowed == 8)
            filter_rows_8(p, columns, next, out, largest);
        else
            filter_rows_14(p, columns, next, out, largest);
        for (int32_t r = 0; r < 2 && y + r < (int32_t)p->height; r++) {
            extend_row(out[r], p->width, 0);
            sad += row_sad(out[r], 0, p->width);
            if (is_wide(largest[r]))
                sad += (uint64_t)cut_off(b, p, y + r, out[r]);
        }
    }
    return sad;
}

/* ---- Wider samples ---- */

/* Loads 16 columns of rows y0 and y1 of a plane as pairs of 16-bit samples. unit: factor of a sample. */
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

/* The factor that scales samples to 16 bits. */
INLINE V unit_of(uint32_t bit_depth) { return wasm_i16x8_splat((int16_t)(1u << (16 - bit_depth))); }

ALONE uint64_t sad_wide(const Buffers *b, const uint16_t *earlier, const uint16_t *current, uint32_t width,
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
        for (uint32_t r = 0; r < 2 && y + r < height; r++) {
            extend_row(b->rows[r][0], width, 0);
            extend_row(b->rows[r][1], width, 0);
            sad += split_sad(b, b->rows[r], 0, width);
        }
    }
    return sad;
}

uint64_t motion_sad_simd(const void *earlier, const void *current, uint32_t width, uint32_t height,
                         uint32_t bit_depth, void *scratch)
{
    const Buffers b = cut(scratch, width);
    if (bit_depth > NARROW)
        return sad_wide(&b, earlier, current, width, height, bit_depth);
    Pair pair = {.earlier = earlier, .current = current, .width = width, .height = height};
    pair.narrowed = bit_depth == 8 ? 8 : NARROW;
    pair.unit = wasm_i16x8_splat((int16_t)(1 << (NARROW - bit_depth)));
    return sad_narrow(&b, &pair);
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
