/*
 * vif_simd.c - VIF in SIMD128, equal to vif.c to the last bit.
 *
 * Samples are scaled to 16 bits first, x << (16 - depth), so that all shifts below are constant: the definition's
 * (sum F*x + 2^(depth-1)) >> depth is (sum F*(x << (16-depth)) + 2^15) >> 16, and likewise for products. (The products of
 * 8-bit samples fit 16 bits as they are and need no rounding.) They are biased, x - 2^15, to fit the signed operands of
 * the dot product; 32-bit signals travel as two biased halves, H and L. For a filter F, (sum F*(2^16 H + L) + 2^15) >> 16 = sum F*H + ((sum F*L + 2^15) >> 16), so no
 * sum needs more than 32 bits, and what the bias takes from a sum, 2^31, comes back by flipping its sign bit.
 *
 * Planes are processed in strips of columns, so that the current rows stay in the nearest cache at any picture width.
 */
#include <string.h>

#include "filter_simd.h"
#include "filters.h"
#include "vif.h"

#define NSQ 131072

#define STRIP 480                     /* output columns of a strip */
#define MARGIN 8                      /* of the widest filter, on either side */
#define ROW (STRIP + 2 * MARGIN + 32) /* samples of a row buffer, with room for vectors past the end */
#define MAX_SIGNALS 8

/* Constants of accumulate, in memory: loading them is cheaper than building them in the loop. */
typedef struct Constants {
    V nsq, index_mask, table; /* 4 x 32 bits */
    V epsilon, nsq_double;    /* 2 x double */
    V limits[VIF_MAX_GAINS];
} Constants;

/* Strip-wide working memory. */
typedef struct Scratch {
    /* A ring of pairs for each signal. */
    int16_t pairs[MAX_SIGNALS][MAX_PAIRS][2 * ROW];
    /* Two rows of: mean of reference and distorted, halves of the three second moments. */
    int16_t columns[2][8][ROW];
    int32_t s1[ROW], s2[ROW], s12[ROW];
    Sums means[ROW / 16];
    Kernel kernels[MAX_PAIRS]; /* for a window that starts at each place of the ring */
    Constants constants;
} Scratch;

enum { R, D, RR, DD, RD, RR_LOW, DD_LOW, RD_LOW };            /* signals of the ring */
enum { M1, M2, XX_HIGH, XX_LOW, YY_HIGH, YY_LOW, XY_HIGH, XY_LOW }; /* signals of a row */

/* Biased samples of 16 bits from the first and the last eight of 8-bit samples. */
INLINE V widen_low(V bytes)
{
    return wasm_i8x16_shuffle(wasm_i32x4_const_splat(0), flip8(bytes), 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
INLINE V widen_high(V bytes)
{
    return wasm_i8x16_shuffle(wasm_i32x4_const_splat(0), flip8(bytes), 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                              15, 31);
}

/* Rows 2p and 2p + 1 of 8-bit planes, n columns, as pairs of samples and of biased products. */
static void load_pairs_8(const uint8_t *const ref[2], const uint8_t *const dis[2], uint32_t n,
                         int16_t (*pairs)[MAX_PAIRS][2 * ROW], uint32_t slot)
{
    for (uint32_t j = 0; j < n; j += 8) {
        const uint32_t at = 2 * j;
        V r = byte_pairs(ref[0] + j, ref[1] + j);
        V d = byte_pairs(dis[0] + j, dis[1] + j);
        wasm_v128_store(pairs[R][slot] + at, widen_low(r));
        wasm_v128_store(pairs[R][slot] + at + 8, widen_high(r));
        wasm_v128_store(pairs[D][slot] + at, widen_low(d));
        wasm_v128_store(pairs[D][slot] + at + 8, widen_high(d));
        V rs[2] = {wasm_u16x8_extend_low_u8x16(r), wasm_u16x8_extend_high_u8x16(r)};
        V ds[2] = {wasm_u16x8_extend_low_u8x16(d), wasm_u16x8_extend_high_u8x16(d)};
        for (uint32_t half = 0; half < 2; half++) {
            wasm_v128_store(pairs[RR][slot] + at + 8 * half, flip16(wasm_i16x8_mul(rs[half], rs[half])));
            wasm_v128_store(pairs[DD][slot] + at + 8 * half, flip16(wasm_i16x8_mul(ds[half], ds[half])));
            wasm_v128_store(pairs[RD][slot] + at + 8 * half, flip16(wasm_i16x8_mul(rs[half], ds[half])));
        }
    }
}

/* Biased high halves of the products of unsigned 16-bit samples. */
INLINE V product_high(V a, V b)
{
    V low = wasm_u32x4_shr(wasm_u32x4_extmul_low_u16x8(a, b), 16);
    V high = wasm_u32x4_shr(wasm_u32x4_extmul_high_u16x8(a, b), 16);
    return flip16(wasm_u16x8_narrow_i32x4(low, high));
}

/* The same for wider planes. unit: the factor that scales samples to 16 bits. */
static void load_pairs_16(const uint16_t *const ref[2], const uint16_t *const dis[2], uint32_t n, V unit,
                          int16_t (*pairs)[MAX_PAIRS][2 * ROW], uint32_t slot)
{
    for (uint32_t j = 0; j < n; j += 8) {
        V r0 = wasm_i16x8_mul(wasm_v128_load(ref[0] + j), unit), r1 = wasm_i16x8_mul(wasm_v128_load(ref[1] + j), unit);
        V d0 = wasm_i16x8_mul(wasm_v128_load(dis[0] + j), unit), d1 = wasm_i16x8_mul(wasm_v128_load(dis[1] + j), unit);
        V rs[2] = {pairs_low(r0, r1), pairs_high(r0, r1)};
        V ds[2] = {pairs_low(d0, d1), pairs_high(d0, d1)};
        for (int half = 0; half < 2; half++) {
            uint32_t at = 2 * j + 8 * half;
            V r = rs[half], d = ds[half];
            wasm_v128_store(pairs[R][slot] + at, flip16(r));
            wasm_v128_store(pairs[D][slot] + at, flip16(d));
            wasm_v128_store(pairs[RR][slot] + at, product_high(r, r));
            wasm_v128_store(pairs[DD][slot] + at, product_high(d, d));
            wasm_v128_store(pairs[RD][slot] + at, product_high(r, d));
            wasm_v128_store(pairs[RR_LOW][slot] + at, flip16(wasm_i16x8_mul(r, r)));
            wasm_v128_store(pairs[DD_LOW][slot] + at, flip16(wasm_i16x8_mul(d, d)));
            wasm_v128_store(pairs[RD_LOW][slot] + at, flip16(wasm_i16x8_mul(r, d)));
        }
    }
}

/* Stores eight 32-bit values, 2^31 too small, as biased halves. */
INLINE void store_halves(int16_t *high, int16_t *low, V v0, V v1)
{
    wasm_v128_store(high, wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(v0, 16), wasm_i32x4_shr(v1, 16)));
    wasm_v128_store(low, flip16(wasm_i16x8_shuffle(v0, v1, 0, 2, 4, 6, 8, 10, 12, 14)));
}

/* The factor that scales the samples of a scale to 16 bits. */
static V unit_of(uint32_t bit_depth, uint32_t scale)
{
    return wasm_i16x8_splat(scale ? 1 : (int16_t)(1u << (16 - bit_depth)));
}

/*
 * Vertical passes over `blocks` blocks of eight columns, rows y and y + 1; a and b point into the window of the ring.
 * Every result is stored biased, so unsigned sums need not be corrected by 2^31.
 */
#define STRIDE (2 * ROW)

typedef int16_t (*Columns)[8][ROW];

static void filter_means(const Kernel *kernel, const int16_t *a, const int16_t *b, uint32_t blocks, Columns out, uint32_t to)
{
    for (; blocks; blocks--, a += 16, b += 16, to += 8) {
        FILTER_BLOCK(kernel, a, 32768, b, 32768, STRIDE)
        wasm_v128_store(out[0][M1] + to, wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(a00, 16), wasm_i32x4_shr(a01, 16)));
        wasm_v128_store(out[0][M2] + to, wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(b00, 16), wasm_i32x4_shr(b01, 16)));
        wasm_v128_store(out[1][M1] + to, wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(a10, 16), wasm_i32x4_shr(a11, 16)));
        wasm_v128_store(out[1][M2] + to, wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(b10, 16), wasm_i32x4_shr(b11, 16)));
    }
}

/* Second moments of 8-bit video, whose products fit 16 bits and need no rounding: two signals, or two places of one. */
static void filter_moments_8(const Kernel *kernel, const int16_t *a, const int16_t *b, uint32_t step, uint32_t blocks,
                             int16_t *const high_a[2], int16_t *const low_a[2], uint32_t from_a_to_b, uint32_t to)
{
    const uint32_t advance = step / 2;
    for (; blocks; blocks--, a += step, b += step, to += advance) {
        FILTER_BLOCK(kernel, a, 0, b, 0, STRIDE)
        store_halves(high_a[0] + to, low_a[0] + to, a00, a01);
        store_halves(high_a[1] + to, low_a[1] + to, a10, a11);
        store_halves(high_a[0] + from_a_to_b + to, low_a[0] + from_a_to_b + to, b00, b01);
        store_halves(high_a[1] + from_a_to_b + to, low_a[1] + from_a_to_b + to, b10, b11);
    }
}

/* The sum of the upper half and the rounded one of the lower half's upper bits, 2^31 too small. */
INLINE V join_halves(V high, V low)
{
    return wasm_v128_xor(wasm_i32x4_add(high, wasm_u32x4_shr(low, 16)), wasm_i32x4_const_splat((int32_t)0x80000000));
}

/* Second moments of wider samples: the upper and lower halves of their products are the two signals. */
static void filter_moments_16(const Kernel *kernel, const int16_t *a, const int16_t *b, uint32_t blocks,
                              int16_t *const high[2], int16_t *const low[2], uint32_t to)
{
    for (; blocks; blocks--, a += 16, b += 16, to += 8) {
        FILTER_BLOCK(kernel, a, FROM_BIASED, b, FROM_BIASED + 32768, STRIDE)
        store_halves(high[0] + to, low[0] + to, join_halves(a00, b00), join_halves(a01, b01));
        store_halves(high[1] + to, low[1] + to, join_halves(a10, b10), join_halves(a11, b11));
    }
}

/* Vertical pass over n columns, two rows. kernel: that of the window's place in the ring. */
static void filter_rows(Scratch *s, int wide, const Kernel *kernel, uint32_t n, uint32_t to)
{
    const uint32_t blocks = (n + 7) / 8;
    int16_t *high[2], *low[2];
    filter_means(kernel, s->pairs[R][0], s->pairs[D][0], blocks, s->columns, to);
    for (int moment = 0; moment < 3; moment++) {
        for (int row = 0; row < 2; row++) {
            high[row] = s->columns[row][XX_HIGH + 2 * moment];
            low[row] = s->columns[row][XX_LOW + 2 * moment];
        }
        if (wide)
            filter_moments_16(kernel, s->pairs[RR + moment][0], s->pairs[RR_LOW + moment][0], blocks, high, low, to);
        else if (moment == 0)
            filter_moments_8(kernel, s->pairs[RR][0], s->pairs[DD][0], 16, blocks, high, low, 2 * ROW, to);
        else if (moment == 2)
            /* The cross product has no partner: its next eight columns take the place of a second signal. */
            filter_moments_8(kernel, s->pairs[RD][0], s->pairs[RD][0] + 16, 32, (blocks + 1) / 2, high, low, 8, to);
    }
}

/* ((a * b + 2^31) >> 32) + 2^31 of unsigned values. */
INLINE V product_top(V a, V b)
{
    const V start = wasm_i64x2_const_splat((int64_t)0x8000000080000000ULL);
    V low = wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(a, b), start);
    V high = wasm_i64x2_add(wasm_u64x2_extmul_high_u32x4(a, b), start);
    return wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
}

/* A second moment less the product of two means. The upper half's sum is 2^31 short, and so much too large is the product. */
INLINE V subtract_means(V high, V low, V mean_a, V mean_b)
{
    return wasm_i32x4_sub(wasm_i32x4_add(high, wasm_u32x4_shr(low, 16)), product_top(mean_a, mean_b));
}

/* Variance or covariance of sixteen outputs a block; even columns of each eight come before odd ones. */
static void filter_moment(const Kernel *kernel, const int16_t *high, const int16_t *low, uint32_t blocks,
                          const V (*mean_a)[2], const V (*mean_b)[2], int32_t *out)
{
    for (; blocks; blocks--, high += 16, low += 16, out += 16, mean_a += 4, mean_b += 4) {
        FILTER_BLOCK(kernel, high, 0, low, FROM_BIASED + 32768, 2)
        wasm_v128_store(out, subtract_means(a00, b00, mean_a[0][0], mean_b[0][0]));
        wasm_v128_store(out + 4, subtract_means(a10, b10, mean_a[1][0], mean_b[1][0]));
        wasm_v128_store(out + 8, subtract_means(a01, b01, mean_a[0][1], mean_b[0][1]));
        wasm_v128_store(out + 12, subtract_means(a11, b11, mean_a[1][1], mean_b[1][1]));
    }
}

/* Horizontal pass over n outputs. */
static void filter_columns(Scratch *s, uint32_t scale, int16_t (*row)[ROW], uint32_t n)
{
    const uint32_t from = MARGIN - REACH(scale), blocks = (n + 15) / 16;
    const Kernel *kernel = &s->kernels[0];
    filter_blocks(kernel, row[M1] + from, FROM_BIASED, row[M2] + from, FROM_BIASED, 2, 16, blocks, s->means);
    const V(*a)[2] = s->means[0].a, (*b)[2] = s->means[0].b;
    filter_moment(kernel, row[XX_HIGH] + from, row[XX_LOW] + from, blocks, a, a, s->s1);
    filter_moment(kernel, row[YY_HIGH] + from, row[YY_LOW] + from, blocks, b, b, s->s2);
    filter_moment(kernel, row[XY_HIGH] + from, row[XY_LOW] + from, blocks, a, b, s->s12);
}

/* Index of column c in the order that filter_columns leaves. */
static uint32_t place_of(uint32_t c) { return (c & ~7u) + ((c & 1) << 2) + ((c & 7) >> 1); }

INLINE int32_t lane_sum(V v)
{
    return wasm_i32x4_extract_lane(v, 0) + wasm_i32x4_extract_lane(v, 1) + wasm_i32x4_extract_lane(v, 2) +
           wasm_i32x4_extract_lane(v, 3);
}

/* Sum of the bytes that four addresses point at. Two at a time: extracting a lane costs the same at any size. */
INLINE int32_t lookup(V at)
{
    const uint64_t low = (uint64_t)wasm_i64x2_extract_lane(at, 0), high = (uint64_t)wasm_i64x2_extract_lane(at, 1);
    return *(const uint8_t *)(uintptr_t)(uint32_t)low + *(const uint8_t *)(uintptr_t)(low >> 32) +
           *(const uint8_t *)(uintptr_t)(uint32_t)high + *(const uint8_t *)(uintptr_t)(high >> 32);
}

/* Doubles from lanes 0 and 1, and from lanes 2 and 3. */
INLINE V low_doubles(V v) { return wasm_f64x2_convert_low_i32x4(v); }
INLINE V high_doubles(V v) { return wasm_f64x2_convert_low_i32x4(wasm_i32x4_shuffle(v, v, 2, 3, 2, 3)); }

/* The numerator's argument p of two pixels. */
INLINE V argument(V g, V s1, V q) { return wasm_f64x2_add(wasm_f64x2_trunc(wasm_f64x2_mul(wasm_f64x2_mul(g, g), s1)), q); }

/* Upper words of four doubles. */
INLINE V upper_words(V a, V b) { return wasm_i32x4_shuffle(a, b, 1, 3, 5, 7); }

static void make_constants(const VifTables *tables, const double *gain_limits, uint32_t count, Constants *c)
{
    c->nsq = wasm_i32x4_splat(NSQ);
    c->index_mask = wasm_i32x4_splat(VIF_LOG_ENTRIES - 1);
    c->table = wasm_i32x4_splat((int32_t)(uintptr_t)tables->offsets);
    c->epsilon = wasm_f64x2_splat(65536 * 1.0e-10);
    c->nsq_double = wasm_f64x2_splat(NSQ);
    for (uint32_t k = 0; k < count; k++)
        c->limits[k] = wasm_f64x2_splat(gain_limits[k]);
}

/* Addresses of the table entries of four logarithms, from 15-bit mantissas above other bits. */
INLINE V entries(const Constants *c, V mantissas) { return wasm_i32x4_add(wasm_v128_and(mantissas, c->index_mask), c->table); }

/*
 * Adds n pixels (a multiple of four) to the sums. In doubles, as in the definition: p < 2^44 and q < 2^32 are exact
 * there. With x = 2^e * 1.m the fixed-point logarithm is 2048 e + (m of 11 bits) + offsets[m of 15 bits]: the upper bits
 * of a double are the first two terms. A pixel without a numerator gets g = 0, hence p = q, hence a difference of 0.
 */
static __attribute__((noinline)) void accumulate(Constants *c, const int32_t *s1_row, const int32_t *s2_row,
                                                 const int32_t *s12_row, uint32_t n, uint32_t count, VifSums *sums)
{
    const V zero = wasm_i32x4_const_splat(0);
    V textured = zero, den = zero, num = zero, flat_energy = zero;
    int32_t den_offset = 0, num_offset = 0;
    for (uint32_t j = 0; j < n; j += 4) {
        V s1 = wasm_v128_load(s1_row + j), s2 = wasm_i32x4_max(wasm_v128_load(s2_row + j), zero);
        V busy = wasm_i32x4_ge(s1, c->nsq);
        if (!wasm_i32x4_all_true(busy)) {
            V flat = wasm_v128_andnot(s2, busy);
            flat_energy = wasm_i64x2_add(flat_energy, wasm_i64x2_add(wasm_u64x2_extend_low_u32x4(flat),
                                                                     wasm_u64x2_extend_high_u32x4(flat)));
            if (!wasm_v128_any_true(busy))
                continue;
        }
        textured = wasm_i32x4_sub(textured, busy);

        /* Single precision holds 24 bits: the mask keeps a carry of its rounding from reaching the upper 16. */
        V x = wasm_i32x4_add(s1, c->nsq);
        x = wasm_v128_and(wasm_f32x4_convert_i32x4(wasm_v128_andnot(x, wasm_u32x4_shr(x, 17))), busy);
        den = wasm_i32x4_add(den, wasm_u32x4_shr(x, 12));
        den_offset += lookup(entries(c, wasm_u32x4_shr(x, 8)));

        V s12 = wasm_v128_load(s12_row + j);
        s12 = wasm_v128_and(wasm_v128_and(wasm_i32x4_max(s12, zero), busy), wasm_i32x4_gt(s2, zero));
        V s1_low = low_doubles(s1), s1_high = high_doubles(s1);
        V s12_low = low_doubles(s12), s12_high = high_doubles(s12);
        V g_low = wasm_f64x2_div(s12_low, wasm_f64x2_add(s1_low, c->epsilon));
        V g_high = wasm_f64x2_div(s12_high, wasm_f64x2_add(s1_high, c->epsilon));
        V sv_low = wasm_f64x2_sub(low_doubles(s2), wasm_f64x2_mul(g_low, s12_low));
        V sv_high = wasm_f64x2_sub(high_doubles(s2), wasm_f64x2_mul(g_high, s12_high));
        V q_low = wasm_f64x2_add(wasm_f64x2_trunc(wasm_f64x2_pmax(zero, sv_low)), c->nsq_double);
        V q_high = wasm_f64x2_add(wasm_f64x2_trunc(wasm_f64x2_pmax(zero, sv_high)), c->nsq_double);
        V q = upper_words(q_low, q_high), q_line = wasm_u32x4_shr(q, 9);
        int32_t q_offset = lookup(entries(c, wasm_u32x4_shr(q, 5)));

        V p = upper_words(argument(wasm_f64x2_pmin(c->limits[0], g_low), s1_low, q_low),
                          argument(wasm_f64x2_pmin(c->limits[0], g_high), s1_high, q_high));
        num = wasm_i32x4_add(num, wasm_i32x4_sub(wasm_u32x4_shr(p, 9), q_line));
        num_offset += lookup(entries(c, wasm_u32x4_shr(p, 5))) - q_offset;

        for (uint32_t k = 1; k < count; k++) {
            p = upper_words(argument(wasm_f64x2_pmin(c->limits[k], g_low), s1_low, q_low),
                            argument(wasm_f64x2_pmin(c->limits[k], g_high), s1_high, q_high));
            sums->num_log[k] += lane_sum(wasm_i32x4_sub(wasm_u32x4_shr(p, 9), q_line)) +
                                lookup(entries(c, wasm_u32x4_shr(p, 5))) - q_offset;
        }
    }
    const int32_t busy_pixels = lane_sum(textured);
    sums->num_log[0] += lane_sum(num) + num_offset;
    /* 127 is the bias of single precision, 17 the logarithm of the noise variance. */
    sums->den_log += (int64_t)lane_sum(den) + den_offset - (int64_t)busy_pixels * 2048 * (127 + 17);
    sums->num_non_log += wasm_i64x2_extract_lane(flat_energy, 0) + wasm_i64x2_extract_lane(flat_energy, 1);
    sums->den_non_log += (int64_t)n - busy_pixels;
}

size_t vif_simd_scratch_bytes(uint32_t width, uint32_t height)
{
    (void)height;
    size_t decimation = ((size_t)width + 2 * MARGIN + 32) * sizeof(int16_t) + sizeof(Kernel);
    return decimation > sizeof(Scratch) ? decimation : sizeof(Scratch);
}

/* Samples beyond the sides of the picture: mirrored. */
static void mirror_columns(int16_t (*row)[ROW], uint32_t x0, uint32_t x1, uint32_t width, int32_t reach)
{
    for (int signal = 0; signal < 8; signal++) {
        int16_t *at = row[signal] + MARGIN - (int32_t)x0;
        if (x0 == 0)
            for (int32_t k = 1; k <= reach; k++)
                at[-k] = at[mirror(-k, (int32_t)width)];
        for (int32_t k = (int32_t)width; k < (int32_t)x1 + reach; k++)
            at[k] = at[mirror(k, (int32_t)width)];
    }
}

static void statistics(uint32_t scale, int wide, const VifInput *input, uint32_t count, Scratch *s, VifSums *sums)
{
    const uint32_t w = input->width, h = input->height;
    const int32_t reach = REACH(scale);
    const size_t sample = wide ? 2 : 1;
    const V unit = unit_of(input->bit_depth, scale);

    for (uint32_t x0 = 0; x0 < w; x0 += STRIP) {
        const uint32_t x1 = x0 + STRIP < w ? x0 + STRIP : w;
        const uint32_t c0 = x0 > (uint32_t)reach ? x0 - (uint32_t)reach : 0;
        const uint32_t c1 = x1 + (uint32_t)reach < w ? x1 + (uint32_t)reach : w;
        uint32_t loaded = 0; /* pairs that have entered the ring; pair q holds rows 2q - reach and the next */
        for (uint32_t y = 0; y < h; y += 2) {
            for (; loaded < y / 2 + PAIRS(scale); loaded++) {
                const void *rows[2][2];
                for (int k = 0; k < 2; k++) {
                    size_t at = (size_t)mirror((int32_t)(2 * loaded) - reach + k, (int32_t)h) * w + c0;
                    rows[0][k] = (const uint8_t *)input->reference + at * sample;
                    rows[1][k] = (const uint8_t *)input->distorted + at * sample;
                }
                const uint32_t slot = loaded % PAIRS(scale);
                if (wide)
                    load_pairs_16((const uint16_t *const *)rows[0], (const uint16_t *const *)rows[1], c1 - c0, unit,
                                  s->pairs, slot);
                else
                    load_pairs_8((const uint8_t *const *)rows[0], (const uint8_t *const *)rows[1], c1 - c0, s->pairs,
                                 slot);
            }
            filter_rows(s, wide, &s->kernels[y / 2 % PAIRS(scale)], c1 - c0, MARGIN + c0 - x0);
            for (uint32_t row = 0; row < 2 && y + row < h; row++) {
                mirror_columns(s->columns[row], x0, x1, w, reach);
                filter_columns(s, scale, s->columns[row], x1 - x0);
                /* Columns that pad the last vector become flat pixels without energy; their count is subtracted below. */
                const uint32_t padded = (x1 - x0 + 15) & ~15u;
                for (uint32_t c = x1 - x0; c < padded; c++)
                    s->s1[place_of(c)] = s->s2[place_of(c)] = s->s12[place_of(c)] = 0;
                accumulate(&s->constants, s->s1, s->s2, s->s12, padded, count, sums);
                sums->den_non_log -= padded - (x1 - x0);
            }
        }
    }
}

void vif_statistics_simd(const VifInput *input, const VifTables *tables, const double *gain_limits, uint32_t count,
                         void *scratch, VifSums *sums)
{
    Scratch *s = scratch;
    *sums = (VifSums){0};
    for (uint32_t first = 0; first < PAIRS(input->scale); first++)
        make_kernel(input->scale, first, &s->kernels[first]);
    make_constants(tables, gain_limits, count, &s->constants);
    statistics(input->scale, input->scale || input->bit_depth > 8, input, count, s, sums);
}

/* Vertical pass of the decimation: even rows only, so only the even taps. */
INLINE void decimate_rows(const int scale, const Kernel *kernel, const uint16_t *const rows[10], uint32_t width, V unit,
                          int16_t *out)
{
    for (uint32_t j = 0; j < width; j += 8) {
        V low = wasm_i32x4_const_splat(32768), high = low;
#pragma clang loop unroll(full)
        for (int k = 0; k < PAIRS(scale); k++) {
            const V a = flip16(wasm_i16x8_mul(wasm_v128_load(rows[2 * k] + j), unit));
            const V b = flip16(wasm_i16x8_mul(wasm_v128_load(rows[2 * k + 1] + j), unit));
            const V first = pairs_low(a, b), second = pairs_high(a, b);
            low = wasm_i32x4_add(low, wasm_i32x4_dot_i16x8(first, kernel->pair[k].even));
            high = wasm_i32x4_add(high, wasm_i32x4_dot_i16x8(second, kernel->pair[k].even));
            if (scale == 3 && k == 1) {
                low = wasm_i32x4_add(low, wasm_i32x4_shl(first, 16));
                high = wasm_i32x4_add(high, wasm_i32x4_shl(second, 16));
            }
        }
        wasm_v128_store(out + j, wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(low, 16), wasm_i32x4_shr(high, 16)));
    }
}

/*
 * The same of 8-bit samples for scale 1, whose sums of two fit: the nine rows are folded around the middle one. 2^23 less is
 * the bias after the shift.
 */
static void decimate_rows_8(const uint8_t *const rows[10], uint32_t width, int16_t *out)
{
    const uint16_t *const f = vif_filter[1];
    const V outer = wasm_i32x4_splat(f[1] << 16 | f[0]), inner = wasm_i32x4_splat(f[3] << 16 | f[2]);
    const V middle = wasm_i32x4_splat(f[4]), start = wasm_i32x4_const_splat(128 - (1 << 23));
    for (uint32_t j = 0; j < width; j += 8) {
        V pair[4];
        for (int k = 0; k < 4; k++)
            pair[k] = wasm_i16x8_add(wasm_u16x8_load8x8(rows[k] + j), wasm_u16x8_load8x8(rows[8 - k] + j));
        const V centre = wasm_u16x8_load8x8(rows[4] + j);
        V low = wasm_i32x4_add(start, wasm_i32x4_dot_i16x8(pairs_low(centre, centre), middle));
        V high = wasm_i32x4_add(start, wasm_i32x4_dot_i16x8(pairs_high(centre, centre), middle));
        low = wasm_i32x4_add(low, wasm_i32x4_add(wasm_i32x4_dot_i16x8(pairs_low(pair[0], pair[1]), outer),
                                                 wasm_i32x4_dot_i16x8(pairs_low(pair[2], pair[3]), inner)));
        high = wasm_i32x4_add(high, wasm_i32x4_add(wasm_i32x4_dot_i16x8(pairs_high(pair[0], pair[1]), outer),
                                                   wasm_i32x4_dot_i16x8(pairs_high(pair[2], pair[3]), inner)));
        wasm_v128_store(out + j, wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(low, 8), wasm_i32x4_shr(high, 8)));
    }
}

/* Four outputs of the decimation's horizontal pass, biased, as 32-bit values. */
INLINE V decimate_columns(const int scale, const Kernel *kernel, const int16_t *row)
{
    V sum = wasm_i32x4_const_splat(32768);
#pragma clang loop unroll(full)
    for (int k = 0; k < PAIRS(scale); k++)
        sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(wasm_v128_load(row + 2 * k), kernel->pair[k].even));
    if (scale == 3)
        sum = wasm_i32x4_add(sum, wasm_i32x4_shl(wasm_v128_load(row + 2), 16));
    return wasm_i32x4_shr(sum, 16);
}

INLINE void decimate(const int scale, const int wide, const void *src, uint32_t width, uint32_t height,
                     V unit, void *scratch, uint16_t *dst)
{
    Kernel *kernel = scratch;
    int16_t *row = (int16_t *)(kernel + 1) + MARGIN;
    const int32_t reach = REACH(scale);
    const size_t stride = (size_t)width * (wide ? 2 : 1);
    make_kernel((uint32_t)scale, 0, kernel);
    for (uint32_t i = 0; i < height / 2; i++) {
        const void *rows[10];
        for (int32_t k = 0; k < 2 * PAIRS(scale); k++)
            rows[k] = (const uint8_t *)src + mirror((int32_t)(2 * i) - reach + k, (int32_t)height) * stride;
        if (wide)
            decimate_rows(scale, kernel, (const uint16_t *const *)rows, width, unit, row);
        else
            decimate_rows_8((const uint8_t *const *)rows, width, row);
        for (int32_t k = 1; k <= reach; k++) {
            row[-k] = row[mirror(-k, (int32_t)width)];
            row[(int32_t)width + k - 1] = row[mirror((int32_t)width + k - 1, (int32_t)width)];
        }
        uint32_t j = 0;
        for (; j + 8 <= width / 2; j += 8) {
            V low = decimate_columns(scale, kernel, row + 2 * j - reach);
            V high = decimate_columns(scale, kernel, row + 2 * j + 8 - reach);
            wasm_v128_store(dst + j, flip16(wasm_i16x8_narrow_i32x4(low, high)));
        }
        if (j < width / 2) {
            V low = decimate_columns(scale, kernel, row + 2 * j - reach);
            V high = decimate_columns(scale, kernel, row + 2 * j + 8 - reach);
            uint16_t rest[8];
            wasm_v128_store(rest, flip16(wasm_i16x8_narrow_i32x4(low, high)));
            memcpy(dst + j, rest, (width / 2 - j) * sizeof *rest);
        }
        dst += width / 2;
    }
}

void vif_decimate_simd(const void *src, uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t scale,
                       void *scratch, uint16_t *dst)
{
    /* The plane is that of the scale above: samples of the video only when this is scale 1. */
    const V unit = unit_of(bit_depth, scale - 1);
    if (scale == 1 && bit_depth == 8)
        decimate(1, 0, src, width, height, unit, scratch, dst);
    else if (scale == 1)
        decimate(1, 1, src, width, height, unit, scratch, dst);
    else if (scale == 2)
        decimate(2, 1, src, width, height, unit, scratch, dst);
    else
        decimate(3, 1, src, width, height, unit, scratch, dst);
}
