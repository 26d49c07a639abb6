/*
 * ssimulacra2_simd.c - SSIMULACRA 2.1 in SIMD128, equal to ssimulacra2.c: four columns side by side with the operations
 * of the loop; the recursion along rows takes four rows instead, whose 4x4 blocks are transposed on the way in and out.
 */
#include <wasm_simd128.h>

#include "ssimulacra2.h"

typedef v128_t V;

#define INLINE static inline __attribute__((always_inline))

#define ADD wasm_f32x4_add
#define SUB wasm_f32x4_sub
#define MUL wasm_f32x4_mul
#define OF(x) wasm_f32x4_splat(x)

INLINE V load(const float *p) { return wasm_v128_load(p); }
INLINE V each(const float *p) { return wasm_v128_load32_splat(p); }
INLINE void store(float *p, V x) { wasm_v128_store(p, x); }
INLINE V larger(V x, V y) { return wasm_f32x4_pmax(x, y); }

INLINE V exact_root_plus(V x, V add)
{
    const V third_of_exponent = wasm_i32x4_mul(wasm_i32x4_shr(x, 23), wasm_i32x4_splat(0x002AAAAA));
    const V guess = wasm_i32x4_sub(wasm_i32x4_splat(0x54800000), third_of_exponent);
    V r = wasm_v128_and(guess, wasm_i32x4_ne(x, wasm_i32x4_const_splat(0)));
    const V third = OF(1.0F / 3), four_thirds = OF(4.0F / 3), x_third = MUL(third, x);
    for (int i = 0; i < 3; i++) {
        const V r2 = MUL(r, r);
        r = SUB(MUL(four_thirds, r), MUL(x_third, MUL(r2, r2)));
    }
    const V r2 = MUL(r, r);
    r = ADD(MUL(third, SUB(r, MUL(x, MUL(r2, r2)))), r);
    return ADD(MUL(MUL(r, r), x), add);
}

INLINE V root_plus(V x, V add)
{
    const V third_of_bits = wasm_i32x4_mul(wasm_i32x4_shr(x, 9), wasm_i32x4_splat(171));
    V r = wasm_i32x4_sub(wasm_i32x4_splat(SSIM2_ROOT_GUESS), third_of_bits);
    V h = SUB(OF(1), MUL(MUL(x, r), MUL(r, r)));
    r = ADD(r, MUL(r, MUL(h, ADD(OF(1.0F / 3), MUL(OF(2.0F / 9), h)))));
    const V root = MUL(x, MUL(r, r));
    h = SUB(OF(1), MUL(root, r));
    return ADD(ADD(root, MUL(root, MUL(h, OF(2.0F / 3)))), add);
}

INLINE V mixed(V r, V g, V b, float of_r, float of_g, float of_b)
{
    const V sum = ADD(MUL(OF(of_r), r), ADD(MUL(OF(of_g), g), ADD(MUL(OF(of_b), b), OF(SSIM2_BIAS))));
    return larger(OF(0), sum);
}

INLINE void to_xyb(const float *const rgb[3], uint32_t n, float *const xyb[3], V (*root)(V, V))
{
    const V bias = OF(-SSIM2_BIAS_ROOT);
    for (uint32_t i = 0; i < n; i += 4) {
        const V r = load(rgb[0] + i), g = load(rgb[1] + i), b = load(rgb[2] + i);
        const V l = root(mixed(r, g, b, SSIM2_M00, SSIM2_M01, SSIM2_M02), bias);
        const V m = root(mixed(r, g, b, SSIM2_M10, SSIM2_M11, SSIM2_M12), bias);
        const V s = root(mixed(r, g, b, SSIM2_M20, SSIM2_M21, SSIM2_M22), bias);
        const V x = MUL(OF(0.5F), SUB(l, m)), y = MUL(OF(0.5F), ADD(l, m));
        store(xyb[0] + i, ADD(MUL(x, OF(14)), OF(0.42F)));
        store(xyb[1] + i, ADD(y, OF(0.01F)));
        store(xyb[2] + i, ADD(SUB(s, y), OF(0.55F)));
    }
}

void ssim2_xyb_simd(const float *const rgb[3], uint32_t n, float *const xyb[3]) { to_xyb(rgb, n, xyb, root_plus); }

void ssim2_exact_xyb_simd(const float *const rgb[3], uint32_t n, float *const xyb[3])
{
    to_xyb(rgb, n, xyb, exact_root_plus);
}

#define EVEN(x, y) wasm_i32x4_shuffle(x, y, 0, 2, 4, 6)
#define ODD(x, y) wasm_i32x4_shuffle(x, y, 1, 3, 5, 7)

void ssim2_halve_simd(const float *upper, const float *lower, uint32_t width, float *dst)
{
    uint32_t x = 0;
    for (; x + 8 <= width; x += 8, dst += 4) {
        const V u0 = load(upper + x), u1 = load(upper + x + 4), l0 = load(lower + x), l1 = load(lower + x + 4);
        const V sum = ADD(ADD(ADD(EVEN(u0, u1), ODD(u0, u1)), EVEN(l0, l1)), ODD(l0, l1));
        store(dst, MUL(sum, OF(0.25F)));
    }
    if (x < width)
        ssim2_halve_c(upper + x, lower + x, width - x, dst);
}

void ssim2_squares_simd(const float *a, const float *b, uint32_t n, float *sum, float *difference)
{
    for (uint32_t i = 0; i < n; i += 4) {
        const V x = load(a + i), y = load(b + i), d = SUB(x, y);
        store(sum + i, ADD(MUL(x, x), MUL(y, y)));
        store(difference + i, MUL(d, d));
    }
}

typedef struct Taps {
    V taps[SSIM2_REACH + 1];
} Taps;

INLINE Taps load_taps(void)
{
    return (Taps){{each(ssim2_taps), each(ssim2_taps + 1), each(ssim2_taps + 2), each(ssim2_taps + 3),
                   each(ssim2_taps + 4)}};
}

INLINE V weigh(const V x[9], const Taps *t)
{
    V sum = MUL(x[4], t->taps[0]);
    sum = ADD(sum, MUL(ADD(x[3], x[5]), t->taps[1]));
    sum = ADD(sum, MUL(ADD(x[2], x[6]), t->taps[2]));
    sum = ADD(sum, MUL(ADD(x[1], x[7]), t->taps[3]));
    return ADD(sum, MUL(ADD(x[0], x[8]), t->taps[4]));
}

void ssim2_columns_simd(const float *const rows[SSIM2_STRIP + 2 * SSIM2_REACH], uint32_t n,
                        float *const dst[SSIM2_STRIP])
{
    const Taps t = load_taps();
    for (uint32_t i = 0; i < n; i += 4) {
        V x[SSIM2_STRIP + 2 * SSIM2_REACH];
        for (uint32_t k = 0; k < SSIM2_STRIP + 2 * SSIM2_REACH; k++)
            x[k] = load(rows[k] + i);
        store(dst[0] + i, weigh(x, &t));
        store(dst[1] + i, weigh(x + 1, &t));
        store(dst[2] + i, weigh(x + 2, &t));
        store(dst[3] + i, weigh(x + 3, &t));
    }
}

INLINE V blurred_at(const float *row, const Taps *t)
{
    const V x[9] = {load(row - 4), load(row - 3), load(row - 2), load(row - 1), load(row),
                    load(row + 1), load(row + 2), load(row + 3), load(row + 4)};
    return weigh(x, t);
}

/* All bits of the lanes below n. */
INLINE V inside(uint32_t n) { return wasm_i32x4_gt(wasm_i32x4_splat((int32_t)n), wasm_i32x4_const(0, 1, 2, 3)); }

INLINE void add_powers(V x, V *sum, V *sum4)
{
    const V square = MUL(x, x);
    *sum = ADD(*sum, x);
    *sum4 = ADD(*sum4, MUL(square, square));
}

INLINE void terms(const float *const blurred[SSIM2_FAST_PLANES], const float *const ab[2], uint32_t n, uint32_t parts,
                  double sums[SSIM2_SUMS])
{
    const Taps t = load_taps();
    const V zero = OF(0);
    V lanes[SSIM2_SUMS] = {zero, zero, zero, zero, zero, zero};
    for (uint32_t i = 0; i < n; i += 4) {
        const V mean_a = blurred_at(blurred[0] + i, &t), mean_b = blurred_at(blurred[1] + i, &t);
        const V mask = inside(n - i);
        if (parts & SSIM2_SSIM) {
            const V apart = SUB(mean_a, mean_b), apart2 = MUL(apart, apart);
            const V variance = SUB(blurred_at(blurred[3] + i, &t), apart2);
            const V means = ADD(MUL(mean_a, mean_a), MUL(mean_b, mean_b));
            const V den = ADD(SUB(blurred_at(blurred[2] + i, &t), means), OF(SSIM2_C2));
            const V error = larger(zero, wasm_f32x4_div(ADD(variance, MUL(apart2, SUB(den, variance))), den));
            add_powers(wasm_v128_and(error, mask), &lanes[SSIM2_ERROR], &lanes[SSIM2_ERROR4]);
        }
        if (parts & SSIM2_EDGES) {
            const V edge_a = wasm_f32x4_abs(SUB(load(ab[0] + i), mean_a));
            const V edge_b = wasm_f32x4_abs(SUB(load(ab[1] + i), mean_b));
            const V edge = wasm_f32x4_div(SUB(edge_b, edge_a), ADD(edge_a, OF(1)));
            const V artifact = larger(zero, edge), lost = larger(zero, wasm_f32x4_neg(edge));
            add_powers(wasm_v128_and(artifact, mask), &lanes[SSIM2_ARTIFACT], &lanes[SSIM2_ARTIFACT4]);
            add_powers(wasm_v128_and(lost, mask), &lanes[SSIM2_LOST], &lanes[SSIM2_LOST4]);
        }
    }
    for (uint32_t k = 0; k < SSIM2_SUMS; k++) {
        float l[4];
        store(l, lanes[k]);
        sums[k] += (double)l[0] + (double)l[1] + ((double)l[2] + (double)l[3]);
    }
}

void ssim2_terms_simd(const float *const blurred[SSIM2_FAST_PLANES], const float *const ab[2], uint32_t n,
                      uint32_t parts, double sums[SSIM2_SUMS])
{
    if (parts == SSIM2_EDGES)
        terms(blurred, ab, n, SSIM2_EDGES, sums);
    else if (parts == SSIM2_SSIM)
        terms(blurred, ab, n, SSIM2_SSIM, sums);
    else
        terms(blurred, ab, n, SSIM2_SSIM | SSIM2_EDGES, sums);
}

void ssim2_products_simd(const float *a, const float *b, uint32_t n, float *product)
{
    for (uint32_t i = 0; i < n; i += 4)
        store(product + i, MUL(load(a + i), load(b + i)));
}

/* The last two values of the three recursions, of four rows. */
typedef struct Past {
    V last[3], earlier[3];
} Past;

/* Column x of four rows, or back. */
INLINE V gather(const float *const src[SSIM2_STRIP], int32_t x)
{
    return wasm_f32x4_make(src[0][x], src[1][x], src[2][x], src[3][x]);
}
INLINE void scatter(V v, int32_t x, float *const dst[SSIM2_STRIP])
{
    dst[0][x] = wasm_f32x4_extract_lane(v, 0);
    dst[1][x] = wasm_f32x4_extract_lane(v, 1);
    dst[2][x] = wasm_f32x4_extract_lane(v, 2);
    dst[3][x] = wasm_f32x4_extract_lane(v, 3);
}

INLINE V step(const float *const src[SSIM2_STRIP], int32_t n, Past *past)
{
    const V sum = ADD(gather(src, n - 6), gather(src, n + 4));
    V v[3];
    for (uint32_t k = 0; k < 3; k++) {
        const Ssim2Recursion *r = &ssim2_recursions[k];
        v[k] = MUL(sum, each(r->sums));
        v[k] = ADD(MUL(each(r->earlier), past->earlier[k]), v[k]);
        v[k] = ADD(MUL(each(r->last), past->last[k]), v[k]);
        past->earlier[k] = past->last[k];
        past->last[k] = v[k];
    }
    return ADD(v[0], ADD(v[1], v[2]));
}

/* Rows become columns. */
INLINE void transpose(V x[4])
{
    const V a = wasm_i32x4_shuffle(x[0], x[1], 0, 4, 1, 5), b = wasm_i32x4_shuffle(x[2], x[3], 0, 4, 1, 5);
    const V c = wasm_i32x4_shuffle(x[0], x[1], 2, 6, 3, 7), d = wasm_i32x4_shuffle(x[2], x[3], 2, 6, 3, 7);
    x[0] = wasm_i64x2_shuffle(a, b, 0, 2);
    x[1] = wasm_i64x2_shuffle(a, b, 1, 3);
    x[2] = wasm_i64x2_shuffle(c, d, 0, 2);
    x[3] = wasm_i64x2_shuffle(c, d, 1, 3);
}

INLINE void four_steps(const float *const src[SSIM2_STRIP], int32_t n, Past *past, float *const dst[SSIM2_STRIP])
{
    V s[4], v[3][4];
    for (uint32_t row = 0; row < 4; row++)
        s[row] = ADD(load(src[row] + n - 6), load(src[row] + n + 4));
    transpose(s);
    for (uint32_t k = 0; k < 3; k++) {
        const Ssim2Recursion *r = &ssim2_recursions[k];
        for (uint32_t i = 0; i < 4; i++) {
            v[k][i] = MUL(s[0], each(r->sums + i));
            for (uint32_t j = 1; j <= i; j++)
                v[k][i] = ADD(MUL(each(r->sums + i - j), s[j]), v[k][i]);
            v[k][i] = ADD(MUL(each(r->earlier + i), past->earlier[k]), v[k][i]);
            v[k][i] = ADD(MUL(each(r->last + i), past->last[k]), v[k][i]);
        }
        past->earlier[k] = v[k][2];
        past->last[k] = v[k][3];
    }
    for (uint32_t i = 0; i < 4; i++)
        s[i] = ADD(v[0][i], ADD(v[1][i], v[2][i]));
    transpose(s);
    for (uint32_t row = 0; row < 4; row++)
        store(dst[row] + n, s[row]);
}

void ssim2_exact_rows_simd(const float *const src[SSIM2_STRIP], uint32_t n, float *const dst[SSIM2_STRIP])
{
    const int32_t width = (int32_t)n;
    const V zero = OF(0);
    Past past = {{zero, zero, zero}, {zero, zero, zero}};
    int32_t x = -SSIM2_REACH;
    for (; x < 0; x++)
        step(src, x, &past);
    for (; x < width && x < 8; x++)
        scatter(step(src, x, &past), x, dst);
    for (; x < width - 7; x += 4)
        four_steps(src, x, &past, dst);
    for (; x < width; x++)
        scatter(step(src, x, &past), x, dst);
}

void ssim2_exact_columns_simd(const float *const above[SSIM2_STRIP], const float *const below[SSIM2_STRIP], uint32_t n,
                              float *const state[6], float *const dst[SSIM2_STRIP])
{
    for (uint32_t i = 0; i < n; i += 4) {
        Past past;
        for (uint32_t k = 0; k < 3; k++) {
            past.last[k] = load(state[2 * k] + i);
            past.earlier[k] = load(state[2 * k + 1] + i);
        }
        for (uint32_t row = 0; row < SSIM2_STRIP; row++) {
            const V sum = ADD(load(above[row] + i), load(below[row] + i));
            V v[3];
            for (uint32_t k = 0; k < 3; k++) {
                const Ssim2Recursion *r = &ssim2_recursions[k];
                v[k] = ADD(MUL(each(r->sums), sum), SUB(MUL(each(r->last), past.last[k]), past.earlier[k]));
                past.earlier[k] = past.last[k];
                past.last[k] = v[k];
            }
            store(dst[row] + i, ADD(v[0], ADD(v[1], v[2])));
        }
        for (uint32_t k = 0; k < 3; k++) {
            store(state[2 * k] + i, past.last[k]);
            store(state[2 * k + 1] + i, past.earlier[k]);
        }
    }
}

#define WIDE_LOW(x) wasm_f64x2_promote_low_f32x4(x)
#define WIDE_HIGH(x) wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(x, x, 2, 3, 2, 3))

INLINE void add_wide_powers(V x, V mask, V *sum, V *sum4)
{
    x = wasm_v128_and(wasm_f64x2_pmax(wasm_f64x2_const_splat(0), x), mask);
    const V square = wasm_f64x2_mul(x, x);
    *sum = wasm_f64x2_add(*sum, x);
    *sum4 = wasm_f64x2_add(*sum4, wasm_f64x2_mul(square, square));
}

INLINE void add_error(V quotient, V mask, V lanes[SSIM2_SUMS])
{
    add_wide_powers(wasm_f64x2_sub(wasm_f64x2_const_splat(1), quotient), mask, &lanes[SSIM2_ERROR],
                    &lanes[SSIM2_ERROR4]);
}

INLINE void add_edges(V edge_a, V edge_b, V mask, V lanes[SSIM2_SUMS])
{
    const V one = wasm_f64x2_const_splat(1);
    const V edge = wasm_f64x2_sub(wasm_f64x2_div(wasm_f64x2_add(one, edge_b), wasm_f64x2_add(one, edge_a)), one);
    add_wide_powers(edge, mask, &lanes[SSIM2_ARTIFACT], &lanes[SSIM2_ARTIFACT4]);
    add_wide_powers(wasm_f64x2_neg(edge), mask, &lanes[SSIM2_LOST], &lanes[SSIM2_LOST4]);
}

INLINE void exact_terms(const float *const blurred[SSIM2_EXACT_PLANES], const float *const ab[2], uint32_t n,
                        uint32_t parts, double sums[SSIM2_SUMS])
{
    const V zero = OF(0);
    V lanes[SSIM2_SUMS] = {zero, zero, zero, zero, zero, zero};
    for (uint32_t i = 0; i < n; i += 4) {
        const V mean_a = load(blurred[0] + i), mean_b = load(blurred[1] + i), mask = inside(n - i);
        const V low = wasm_i32x4_shuffle(mask, mask, 0, 0, 1, 1), high = wasm_i32x4_shuffle(mask, mask, 2, 2, 3, 3);
        if (parts & SSIM2_SSIM) {
            const V aa = MUL(mean_a, mean_a), bb = MUL(mean_b, mean_b), apart = SUB(mean_a, mean_b);
            const V num_m = SUB(OF(1), MUL(apart, apart));
            const V covariance = SUB(load(blurred[4] + i), MUL(mean_a, mean_b));
            const V num_s = ADD(MUL(OF(2), covariance), OF(SSIM2_C2));
            const V variances = ADD(SUB(load(blurred[2] + i), aa), SUB(load(blurred[3] + i), bb));
            const V quotient = wasm_f32x4_div(MUL(num_m, num_s), ADD(variances, OF(SSIM2_C2)));
            add_error(WIDE_LOW(quotient), low, lanes);
            add_error(WIDE_HIGH(quotient), high, lanes);
        }
        if (parts & SSIM2_EDGES) {
            const V edge_a = wasm_f32x4_abs(SUB(load(ab[0] + i), mean_a));
            const V edge_b = wasm_f32x4_abs(SUB(load(ab[1] + i), mean_b));
            add_edges(WIDE_LOW(edge_a), WIDE_LOW(edge_b), low, lanes);
            add_edges(WIDE_HIGH(edge_a), WIDE_HIGH(edge_b), high, lanes);
        }
    }
    for (uint32_t k = 0; k < SSIM2_SUMS; k++)
        sums[k] += wasm_f64x2_extract_lane(lanes[k], 0) + wasm_f64x2_extract_lane(lanes[k], 1);
}

void ssim2_exact_terms_simd(const float *const blurred[SSIM2_EXACT_PLANES], const float *const ab[2], uint32_t n,
                            uint32_t parts, double sums[SSIM2_SUMS])
{
    if (parts == SSIM2_EDGES)
        exact_terms(blurred, ab, n, SSIM2_EDGES, sums);
    else if (parts == SSIM2_SSIM)
        exact_terms(blurred, ab, n, SSIM2_SSIM, sums);
    else
        exact_terms(blurred, ab, n, SSIM2_SSIM | SSIM2_EDGES, sums);
}
