/*
 * ciede_simd.c - CIEDE2000 in SIMD128, equal to ciede.c: two pixels side by side, in binary64.
 *
 * The definition rounds to binary32 at many places. Between them, operations are exact or may be approximated: here, short
 * series give powers, angles, sines and exponentials. Each has a generous bound of its error, which also covers the
 * library's. If a value is so close to the middle of two binary32 values that the bound does not decide the rounding, the
 * portable code computes the pixel. That happens to one pixel in a thousand.
 *
 * Values that ciede.c holds in binary32 are kept as binary64: sums, products, quotients and roots rounded to 53 and then
 * to 24 bits are as if rounded to 24 bits at once.
 */
#include <math.h>
#include <wasm_simd128.h>

#include "ciede.h"

#define PI 3.14159265358979323846

#define ADD wasm_f64x2_add
#define SUB wasm_f64x2_sub
#define MUL wasm_f64x2_mul
#define DIV wasm_f64x2_div
#define SQRT wasm_f64x2_sqrt
/* Of numbers: without the care for others. */
#define LARGER(x, y) wasm_f64x2_pmax(x, y)
#define SMALLER(x, y) wasm_f64x2_pmin(x, y)
#define OF(x) wasm_f64x2_const(x, x)
#define WHERE(condition, yes, no) wasm_v128_bitselect(yes, no, condition)

/* Bounds of relative errors, before they are rounded. */
static const double POWER_ERROR = 0x1p-40;  /* powers to 2^-49; negative parts of their sums are at most 12 times the sum */
static const double ROOT_ERROR = 0x1p-50;   /* of two operations */
static const double SERIES_ERROR = 0x1p-43; /* 2^-50, and a sum of cosines that cancels down to 1/15 */

/* To binary32. */
static inline v128_t rounded(v128_t x) { return wasm_f64x2_promote_low_f32x4(wasm_f32x4_demote_f64x2_zero(x)); }

/* The same of x with a relative error; adds to `doubt` the lanes where that matters. */
static inline v128_t rounded_within(v128_t x, double error, v128_t *doubt)
{
    const v128_t low = rounded(MUL(x, wasm_f64x2_splat(1 - error)));
    const v128_t high = rounded(MUL(x, wasm_f64x2_splat(1 + error)));
    *doubt = wasm_v128_or(*doubt, wasm_f64x2_ne(low, high));
    return low;
}

/* Sum of c[k] x^(n-1-k). From memory: engines build a vector constant anew, out of several instructions, at each use. */
static inline v128_t series(v128_t x, const double *c, uint32_t n)
{
    v128_t sum = wasm_v128_load64_splat(c);
    for (uint32_t k = 1; k < n; k++)
        sum = ADD(MUL(sum, x), wasm_v128_load64_splat(c + k));
    return sum;
}

/* x^p near tabulated points: their power times a binomial series. */
static inline v128_t power(v128_t x, const CiedePower *table, int first, const double coefficients[6])
{
    /* Exponent and five bits of the mantissa. */
    const v128_t index = wasm_i64x2_sub(wasm_u64x2_shr(x, 47), wasm_i64x2_splat((int64_t)(1023 + first) * CIEDE_INTERVALS));
    const CiedePower *a = table + wasm_i64x2_extract_lane(index, 0), *b = table + wasm_i64x2_extract_lane(index, 1);
    const v128_t lane0 = wasm_v128_load(a), lane1 = wasm_v128_load(b);
    const v128_t inverse = wasm_i64x2_shuffle(lane0, lane1, 0, 2), powers = wasm_i64x2_shuffle(lane0, lane1, 1, 3);
    const v128_t r = SUB(MUL(x, inverse), OF(1));
    return ADD(powers, MUL(powers, MUL(series(r, coefficients, 6), r)));
}

static inline v128_t linear(v128_t c, const CiedeTables *tables)
{
    const v128_t x = LARGER(MUL(ADD(c, OF(0.055)), OF(1 / 1.055)), OF(0.0625));
    const v128_t curved = power(x, tables->linear, CIEDE_LINEAR_FIRST, tables->linear_series);
    return WHERE(wasm_f64x2_gt(c, OF(10.0 / 255)), curved, MUL(c, OF(1 / 12.92)));
}

static inline v128_t lightness(v128_t t, const CiedeTables *tables, v128_t *doubt)
{
    const v128_t curved = power(LARGER(t, OF(0.0078125)), tables->light, CIEDE_LIGHT_FIRST, tables->light_series);
    const v128_t straight = MUL(ADD(MUL(OF(24389.0 / 27), t), OF(16)), OF(1.0 / 116));
    const v128_t value = WHERE(wasm_f64x2_gt(t, OF(216.0 / 24389)), curved, straight);
    /* A relative bound is useless near 0, which only impossible colours reach. */
    *doubt = wasm_v128_or(*doubt, wasm_f64x2_lt(wasm_f64x2_abs(value), OF(0x1p-10)));
    return rounded_within(value, POWER_ERROR, doubt);
}

typedef struct Lab {
    v128_t l, a, b;
} Lab;

static inline v128_t weighted(v128_t r, v128_t g, v128_t b, double wr, double wg, double wb)
{
    return ADD(ADD(MUL(wasm_f64x2_splat(wr), r), MUL(wasm_f64x2_splat(wg), g)), MUL(wasm_f64x2_splat(wb), b));
}

static inline Lab to_lab(v128_t y, v128_t u, v128_t v, double s, const CiedeTables *tables, v128_t *doubt)
{
    y = MUL(SUB(y, wasm_f64x2_splat(16 * s)), wasm_f64x2_splat(1 / (219 * s)));
    u = MUL(SUB(u, wasm_f64x2_splat(128 * s)), wasm_f64x2_splat(1 / (224 * s)));
    v = MUL(SUB(v, wasm_f64x2_splat(128 * s)), wasm_f64x2_splat(1 / (224 * s)));
    const v128_t r = linear(ADD(y, MUL(OF(1.28033), v)), tables);
    const v128_t g = linear(SUB(SUB(y, MUL(OF(0.21482), u)), MUL(OF(0.38059), v)), tables);
    const v128_t b = linear(ADD(y, MUL(OF(2.12798), u)), tables);
    const v128_t x = weighted(r, g, b, 0.4124564390896921, 0.357576077643909, 0.18043748326639894);
    const v128_t z = weighted(r, g, b, 0.019333895582329317, 0.119192025881303, 0.9503040785363677);
    const v128_t fx = lightness(MUL(x, OF(1 / 0.95047)), tables, doubt);
    const v128_t luminance = weighted(r, g, b, 0.21267285140562248, 0.715152155287818, 0.07217499330655958);
    const v128_t fy = lightness(luminance, tables, doubt);
    const v128_t fz = lightness(MUL(z, OF(1 / 1.08883)), tables, doubt);
    return (Lab){rounded(SUB(MUL(OF(116), fy), OF(16))), rounded(MUL(OF(500), SUB(fx, fy))),
                 rounded(MUL(OF(200), SUB(fy, fz)))};
}

static inline v128_t chroma(v128_t a, v128_t b, v128_t *doubt)
{
    return rounded_within(SQRT(ADD(MUL(a, a), MUL(b, b))), ROOT_ERROR, doubt);
}

/* atan2(b, a) from 0 to 2 pi; 0 where both are 0. */
static inline v128_t hue(v128_t a, v128_t b, const CiedeTables *tables, v128_t *doubt)
{
    const v128_t size_a = wasm_f64x2_abs(a), size_b = wasm_f64x2_abs(b);
    const v128_t larger = LARGER(size_a, size_b), smaller = SMALLER(size_a, size_b);
    const v128_t none = wasm_f64x2_eq(larger, OF(0));
    const v128_t safe = WHERE(none, OF(1), larger);
    /* atan(t) = atan(t0) + atan((t - t0) / (1 + t t0)) for t0 the nearest of 33. */
    const v128_t near = wasm_f64x2_nearest(MUL(DIV(smaller, safe), OF(32)));
    const v128_t arcs = wasm_f64x2_make(tables->arcs[(int32_t)wasm_f64x2_extract_lane(near, 0)],
                                        tables->arcs[(int32_t)wasm_f64x2_extract_lane(near, 1)]);
    const v128_t t0 = MUL(near, OF(0.03125));
    const v128_t u = DIV(SUB(smaller, MUL(t0, safe)), ADD(safe, MUL(t0, smaller))), u2 = MUL(u, u);
    v128_t angle = ADD(arcs, ADD(u, MUL(MUL(series(u2, tables->arc_series, 4), u2), u)));
    angle = WHERE(wasm_f64x2_gt(size_b, size_a), SUB(OF(PI / 2), angle), angle);
    angle = WHERE(wasm_f64x2_lt(a, OF(0)), SUB(OF(PI), angle), angle);
    angle = rounded_within(wasm_v128_andnot(angle, none), SERIES_ERROR, doubt);
    return WHERE(wasm_f64x2_lt(b, OF(0)), rounded(SUB(OF(2 * PI), angle)), angle);
}

/* Up to pi / 2. */
static inline v128_t sine(v128_t x, const CiedeTables *tables)
{
    const v128_t x2 = MUL(x, x);
    return ADD(x, MUL(MUL(series(x2, tables->sine_series, 9), x2), x));
}

/* Up to pi / 4. */
static inline v128_t cosine(v128_t x, const CiedeTables *tables)
{
    const v128_t x2 = MUL(x, x);
    return ADD(MUL(series(x2, tables->cosine_series, 8), x2), OF(1));
}

/* T, 1 - 0.17 cos(h - pi/6) + 0.24 cos 2h + 0.32 cos(3h + pi/30) - 0.20 cos(4h - 7 pi/20), of one sine and cosine. */
static inline v128_t hue_weight(v128_t h, const CiedeTables *tables)
{
    const v128_t quarter = wasm_f64x2_nearest(MUL(h, OF(2 / PI)));
    /* pi / 2 in two parts: products with the first are exact. */
    const v128_t x = SUB(SUB(h, MUL(quarter, OF(1.57079632673412561417e+00))), MUL(quarter, OF(6.07710050650619224932e-11)));
    const v128_t s0 = sine(x, tables), c0 = cosine(x, tables);
    /* Quarters of a turn: 1 swaps, 1 and 2 change the sign of the cosine, 2 and 3 that of the sine. */
    const v128_t turns = ADD(quarter, OF(6755399441055744.0)), one = wasm_i64x2_const_splat(1);
    const v128_t swap = wasm_i64x2_eq(wasm_v128_and(turns, one), one);
    const v128_t s_sign = wasm_i64x2_shl(wasm_u64x2_shr(turns, 1), 63);
    const v128_t c_sign = wasm_i64x2_shl(wasm_u64x2_shr(wasm_i64x2_add(turns, one), 1), 63);
    const v128_t s = wasm_v128_xor(WHERE(swap, c0, s0), s_sign), c = wasm_v128_xor(WHERE(swap, s0, c0), c_sign);
    const v128_t c2 = SUB(MUL(c, c), MUL(s, s)), s2 = MUL(OF(2), MUL(s, c));
    const v128_t c3 = SUB(MUL(c2, c), MUL(s2, s)), s3 = ADD(MUL(s2, c), MUL(c2, s));
    const v128_t c4 = SUB(MUL(c2, c2), MUL(s2, s2)), s4 = MUL(OF(2), MUL(s2, c2));
    /* Cosines and sines of pi/6, pi/30 and 7 pi/20. */
    v128_t t = SUB(OF(1), ADD(MUL(OF(0.17 * 0.86602540378443864676), c), MUL(OF(0.17 * 0.5), s)));
    t = ADD(t, MUL(OF(0.24), c2));
    t = ADD(t, SUB(MUL(OF(0.32 * 0.99452189536827333692), c3), MUL(OF(0.32 * 0.10452846326765347140), s3)));
    return SUB(t, ADD(MUL(OF(0.20 * 0.45399049973954679156), c4), MUL(OF(0.20 * 0.89100652418836786236), s4)));
}

/* exp(-x) for x from 0 to 60. */
static inline v128_t decay(v128_t x, const CiedeTables *tables)
{
    const v128_t shift = OF(6755399441055744.0), turns = SUB(shift, MUL(x, OF(1.44269504088896340736))), k = SUB(turns, shift);
    /* ln 2 in two parts: products with the first are exact. */
    const v128_t r = SUB(SUB(SUB(OF(0), x), MUL(k, OF(6.93147180369123816490e-01))), MUL(k, OF(1.90821492927058770002e-10)));
    return wasm_i64x2_add(series(r, tables->decay_series, 13), wasm_i64x2_shl(turns, 52));
}

/* The term of blue hues, R_T: 0 where it is too small to change a sum of binary64. */
static inline v128_t rotation(v128_t h, v128_t chroma_mean, const CiedeTables *tables, v128_t *doubt)
{
    const v128_t degrees = rounded(MUL(h, OF(180 / PI))), around = rounded(DIV(rounded(SUB(degrees, OF(275))), OF(25)));
    const v128_t distance = rounded(MUL(around, around));
    const v128_t blue = wasm_v128_and(wasm_f64x2_le(distance, OF(60)), wasm_f64x2_gt(chroma_mean, OF(0x1p-12)));
    if (!wasm_v128_any_true(blue))
        return OF(0);
    v128_t unsure = OF(0);
    const v128_t angle = rounded_within(MUL(OF(60), decay(SMALLER(distance, OF(60)), tables)), SERIES_ERROR, &unsure);
    const v128_t radians = rounded(MUL(angle, OF(PI / 180)));
    /* The errors of the library's powf are part of the definition. */
    const v128_t p = wasm_f64x2_make((double)powf((float)wasm_f64x2_extract_lane(chroma_mean, 0), 7),
                                     (double)powf((float)wasm_f64x2_extract_lane(chroma_mean, 1), 7));
    const v128_t q = rounded(DIV(p, rounded(ADD(p, OF(6103515648.0)))));
    const v128_t turn = rounded_within(MUL(MUL(OF(-2), SQRT(q)), sine(radians, tables)), SERIES_ERROR, &unsure);
    *doubt = wasm_v128_or(*doubt, wasm_v128_and(unsure, blue));
    return wasm_v128_and(turn, blue);
}

/*
 * The state of two pixels. The steps of difference() in ciede.c are long chains, so many pairs take one step before the
 * next: the processor then works on several pairs at a time.
 */
typedef struct Pair {
    uint32_t at; /* the first of the two */
    v128_t doubt;
    v128_t y[2], u[2], v[2]; /* samples of reference and distorted */
    Lab colour[2];
    v128_t turns; /* where there is a hue to turn: neither is grey */
    v128_t a[2], chroma[2], hue[2];
    v128_t chroma_mean, hue_mean, d_h, t, r_t;
} Pair;

static void find_colours(Pair *p, double s, const CiedeTables *tables)
{
    p->doubt = wasm_i64x2_const_splat(0);
    for (uint32_t i = 0; i < 2; i++)
        p->colour[i] = to_lab(p->y[i], p->u[i], p->v[i], s, tables, &p->doubt);
}

static void find_chroma(Pair *p)
{
    const Lab x = p->colour[0], y = p->colour[1];
    const v128_t c1 = chroma(x.a, x.b, &p->doubt), c2 = chroma(y.a, y.b, &p->doubt);
    const v128_t c_mean = MUL(rounded(ADD(c1, c2)), OF(0.5)), square = MUL(c_mean, c_mean);
    const v128_t c7 = MUL(MUL(MUL(square, square), square), c_mean);
    const v128_t g = SUB(OF(1), SQRT(DIV(c7, ADD(c7, OF(6103515625.0)))));
    p->turns = wasm_v128_and(wasm_f64x2_ne(c1, OF(0)), wasm_f64x2_ne(c2, OF(0)));
    for (uint32_t i = 0; i < 2; i++) {
        const Lab colour = p->colour[i];
        p->a[i] = rounded(ADD(colour.a, MUL(MUL(colour.a, OF(0.5)), g)));
        p->chroma[i] = chroma(p->a[i], colour.b, &p->doubt);
    }
    p->chroma_mean = MUL(rounded(ADD(p->chroma[0], p->chroma[1])), OF(0.5));
}

static void find_hue(Pair *p, uint32_t i, const CiedeTables *tables)
{
    p->hue[i] = hue(p->a[i], p->colour[i].b, tables, &p->doubt);
}

static void find_turn(Pair *p, const CiedeTables *tables)
{
    const v128_t h1 = p->hue[0], h2 = p->hue[1];
    const v128_t turn = rounded(SUB(h2, h1)), sum = rounded(ADD(h1, h2));
    const v128_t wraps = wasm_f64x2_gt(wasm_f64x2_abs(turn), OF(PI));
    const v128_t around = WHERE(wasm_f64x2_le(h2, h1), OF(2 * PI), OF(-2 * PI));
    const v128_t dh = wasm_v128_and(WHERE(wraps, rounded(ADD(turn, around)), turn), p->turns);
    const v128_t length = MUL(OF(2), SQRT(rounded(MUL(p->chroma[0], p->chroma[1]))));
    p->d_h = rounded_within(MUL(length, sine(MUL(dh, OF(0.5)), tables)), SERIES_ERROR, &p->doubt);
    p->hue_mean = rounded(MUL(ADD(sum, wasm_v128_and(wraps, OF(2 * PI))), OF(0.5)));
}

static v128_t difference(const Pair *p)
{
    const Lab x = p->colour[0], y = p->colour[1];
    const v128_t l_mean = MUL(rounded(ADD(x.l, y.l)), OF(0.5));
    const v128_t off = rounded(SUB(l_mean, OF(50))), off2 = MUL(off, off);
    const v128_t s_l = rounded(ADD(OF(1), DIV(MUL(OF(0.015), off2), SQRT(ADD(OF(20), off2)))));
    const v128_t s_c = rounded(ADD(OF(1), MUL(OF(0.045), p->chroma_mean)));
    const v128_t s_h = rounded(ADD(OF(1), MUL(MUL(OF(0.015), p->chroma_mean), p->t)));
    const v128_t l = rounded(DIV(rounded(SUB(y.l, x.l)), rounded(MUL(OF((double)0.65F), s_l))));
    const v128_t c = rounded(DIV(rounded(SUB(p->chroma[1], p->chroma[0])), s_c));
    const v128_t e = rounded(DIV(p->d_h, rounded(MUL(OF(4), s_h))));
    const v128_t squares = ADD(ADD(MUL(l, l), MUL(c, c)), MUL(e, e));
    return SQRT(ADD(squares, rounded(MUL(rounded(MUL(p->r_t, c)), e))));
}

static inline double sample(const void *row, uint32_t i, uint32_t bit_depth)
{
    return bit_depth > 8 ? ((const uint16_t *)row)[i] : ((const uint8_t *)row)[i];
}

static inline v128_t two(const void *row, const uint32_t at[2], uint32_t bit_depth)
{
    return wasm_f64x2_make(sample(row, at[0], bit_depth), sample(row, at[1], bit_depth));
}

/* Pairs processed together, few enough to stay in the cache. */
enum { TOGETHER = 16 };

/* Takes pairs through all steps. */
static void measure(Pair *pairs, uint32_t count, double s, const CiedeTables *tables, float *differences)
{
    Pair *const end = pairs + count;
    for (Pair *p = pairs; p < end; p++)
        find_colours(p, s, tables);
    for (Pair *p = pairs; p < end; p++)
        find_chroma(p);
    for (uint32_t i = 0; i < 2; i++)
        for (Pair *p = pairs; p < end; p++)
            find_hue(p, i, tables);
    for (Pair *p = pairs; p < end; p++)
        find_turn(p, tables);
    for (Pair *p = pairs; p < end; p++)
        p->t = rounded_within(hue_weight(p->hue_mean, tables), SERIES_ERROR, &p->doubt);
    for (Pair *p = pairs; p < end; p++)
        p->r_t = rotation(p->hue_mean, p->chroma_mean, tables, &p->doubt);
    for (Pair *p = pairs; p < end; p++)
        wasm_v128_store64_lane(differences + p->at, wasm_f32x4_demote_f64x2_zero(difference(p)), 0);
}

void ciede_row_simd(const CiedeRow *reference, const CiedeRow *distorted, const CiedeFormat *format,
                    const CiedeTables *tables, float *differences)
{
    const uint32_t depth = format->bit_depth, whole = format->width & ~1U;
    const double s = 1U << (depth - 8);
    const CiedeRow *const rows[2] = {reference, distorted};
    Pair pairs[TOGETHER];
    uint32_t count = 0;
    for (uint32_t i = 0; i < whole;) {
        for (; i < whole && count < TOGETHER; i += 2) {
            uint32_t at[2] = {i, i + 1}, chroma_at[2];
            for (uint32_t k = 0; k < 2; k++) {
                const uint32_t column = at[k] >> format->halved;
                chroma_at[k] = column < format->chroma_width ? column : format->chroma_width - 1;
            }
            Pair *const p = &pairs[count];
            p->at = i;
            for (uint32_t k = 0; k < 2; k++) {
                p->y[k] = two(rows[k]->y, at, depth);
                p->u[k] = two(rows[k]->u, chroma_at, depth);
                p->v[k] = two(rows[k]->v, chroma_at, depth);
            }
            const v128_t y = wasm_v128_xor(p->y[0], p->y[1]), u = wasm_v128_xor(p->u[0], p->u[1]);
            const v128_t other = wasm_v128_or(wasm_v128_or(y, u), wasm_v128_xor(p->v[0], p->v[1]));
            differences[i] = differences[i + 1] = 0;
            count += wasm_v128_any_true(other);
        }
        measure(pairs, count, s, tables, differences);
        for (; count > 0; count--) {
            const Pair *p = &pairs[count - 1];
            for (uint32_t lanes = wasm_i64x2_bitmask(p->doubt); lanes; lanes &= lanes - 1) {
                const uint32_t k = p->at + (uint32_t)__builtin_ctz(lanes);
                differences[k] = ciede_pixel(reference, distorted, format, k);
            }
        }
    }
    if (whole < format->width)
        differences[whole] = ciede_pixel(reference, distorted, format, whole);
}
