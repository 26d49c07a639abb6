/*
 * butteraugli_simd.c - Butteraugli's functions of rows in SIMD128, equal to butteraugli.c: lanes are columns, and each
 * does what the loop does, in its order. Rows are written up to the next multiple of BUTTERAUGLI_LANES.
 */
#include <wasm_simd128.h>

#include "butteraugli.h"
#include "butteraugli_constants.h"

typedef v128_t V;

#define INLINE static inline __attribute__((always_inline))

INLINE V load(const float *p) { return wasm_v128_load(p); }
INLINE void store(float *p, V x) { wasm_v128_store(p, x); }
INLINE V all(float x) { return wasm_f32x4_splat(x); }
INLINE V add(V a, V b) { return wasm_f32x4_add(a, b); }
INLINE V sub(V a, V b) { return wasm_f32x4_sub(a, b); }
INLINE V mul(V a, V b) { return wasm_f32x4_mul(a, b); }
INLINE V over(V a, V b) { return wasm_f32x4_div(a, b); }
INLINE V smaller(V a, V b) { return wasm_f32x4_pmin(a, b); }
INLINE V larger(V a, V b) { return wasm_f32x4_pmax(a, b); }
INLINE V clamp(V x, V least, V most) { return smaller(larger(x, least), most); }
INLINE V within(V x, float limit) { return clamp(x, all(-limit), all(limit)); }

/* Four vectors at a time: sums that do not wait for each other. */
#define EACH_VECTOR(STEP) STEP(0) STEP(1) STEP(2) STEP(3)

void butteraugli_blur_row_simd(const float *row, const float *taps, uint32_t radius, const float *scale, uint32_t n,
                               float *dst)
{
    for (uint32_t x = 0; x < n; x += 16) {
        const float *left = row + x, *right = left;
        V tap = all(taps[0]);
#define BEGIN(i) V sum##i = mul(load(left + 4 * i), tap);
#define STEP(i) sum##i = add(sum##i, mul(add(load(left + 4 * i), load(right + 4 * i)), tap));
#define END(i) store(dst + x + 4 * i, mul(sum##i, load(scale + x + 4 * i)));
        EACH_VECTOR(BEGIN)
        for (uint32_t k = 1; k <= radius; k++) {
            left--;
            right++;
            tap = all(taps[k]);
            EACH_VECTOR(STEP)
        }
        EACH_VECTOR(END)
#undef END
    }
}

void butteraugli_blur_column_simd(const float *const *rows, const float *taps, uint32_t radius, float scale, uint32_t n,
                                  float *dst)
{
    for (uint32_t x = 0; x < n; x += 16) {
        const float *left = rows[radius] + x, *right;
        V tap = all(taps[0]);
        EACH_VECTOR(BEGIN)
        for (uint32_t k = 1; k <= radius; k++) {
            left = rows[radius - k] + x;
            right = rows[radius + k] + x;
            tap = all(taps[k]);
            EACH_VECTOR(STEP)
        }
#define END(i) store(dst + x + 4 * i, mul(sum##i, all(scale)));
        EACH_VECTOR(END)
    }
}

/* a2 * m^2 + a1 * m + a0. */
INLINE V polynomial(const float a[3], V m) { return add(mul(add(mul(all(a[2]), m), all(a[1])), m), all(a[0])); }

INLINE V logarithm(V x)
{
    const V exponent = wasm_i32x4_shr(wasm_i32x4_sub(x, wasm_i32x4_splat(BUTTERAUGLI_TWO_THIRDS)), 23);
    const V m = sub(wasm_i32x4_sub(x, wasm_i32x4_shl(exponent, 23)), all(1));
    return add(over(polynomial(butteraugli_log_p, m), polynomial(butteraugli_log_q, m)),
               wasm_f32x4_convert_i32x4(exponent));
}

INLINE V absorb(const float row[4], const V rgb[3])
{
    return add(mul(all(row[0]), rgb[0]), add(mul(all(row[1]), rgb[1]), add(mul(all(row[2]), rgb[2]), all(row[3]))));
}

INLINE V cone(const float row[4], const V light[3], const V around[3])
{
    const V v = larger(absorb(row, around), all(row[3]));
    const V gamma = sub(mul(all(BUTTERAUGLI_GAMMA_SCALE), logarithm(add(v, all(BUTTERAUGLI_GAMMA_BIAS)))),
                        all(BUTTERAUGLI_GAMMA_OFFSET));
    return larger(mul(absorb(row, light), larger(over(gamma, v), all(BUTTERAUGLI_LEAST))), all(row[3]));
}

void butteraugli_opsin_simd(const float *const rgb[3], const float *const blurred[3], float nits, uint32_t n,
                            float *const xyb[3])
{
    const V scale = all(nits);
    for (uint32_t x = 0; x < n; x += 4) {
        const V light[3] = {mul(load(rgb[0] + x), scale), mul(load(rgb[1] + x), scale), mul(load(rgb[2] + x), scale)};
        const V around[3] = {mul(load(blurred[0] + x), scale), mul(load(blurred[1] + x), scale),
                             mul(load(blurred[2] + x), scale)};
        const V a = cone(butteraugli_absorbance[0], light, around), b = cone(butteraugli_absorbance[1], light, around);
        store(xyb[0] + x, sub(a, b));
        store(xyb[1] + x, add(a, b));
        store(xyb[2] + x, cone(butteraugli_absorbance[2], light, around));
    }
}

void butteraugli_subtract_simd(float *a, const float *b, uint32_t n)
{
    for (uint32_t x = 0; x < n; x += 4)
        store(a + x, sub(load(a + x), load(b + x)));
}

void butteraugli_low_simd(const float *const reference[2], const float *const distorted[2], const float *b, uint32_t n,
                          float *sum)
{
    for (uint32_t i = 0; i < n; i += 4) {
        const V dx = sub(load(reference[0] + i), load(distorted[0] + i));
        const V dy = sub(load(reference[1] + i), load(distorted[1] + i));
        const V x = mul(dx, all(BUTTERAUGLI_LOW_X)), y = mul(dy, all(BUTTERAUGLI_LOW_Y));
        const V z = mul(sub(load(b + i), mul(dy, all(BUTTERAUGLI_Y_TO_B))), all(BUTTERAUGLI_LOW_B));
        const V xx = mul(mul(x, x), all(BUTTERAUGLI_LOW_WEIGHT_X)), yy = mul(mul(y, y), all(BUTTERAUGLI_LOW_WEIGHT_Y));
        store(sum + i, add(add(xx, yy), mul(mul(z, z), all(BUTTERAUGLI_LOW_WEIGHT_B))));
    }
}

void butteraugli_medium_simd(float *const xy[2], float *const medium[2], uint32_t n)
{
    const V suppress = all(BUTTERAUGLI_SUPPRESS), least = all(BUTTERAUGLI_SUPPRESS_LEAST);
    for (uint32_t x = 0; x < n; x += 4) {
        const V mx = load(medium[0] + x), my = load(medium[1] + x);
        const V hy = sub(load(xy[1] + x), my);
        const V share = over(suppress, add(mul(hy, hy), suppress));
        const V visible = add(mul(share, all(1 - BUTTERAUGLI_SUPPRESS_LEAST)), least);
        store(xy[0] + x, mul(sub(load(xy[0] + x), mx), visible));
        store(xy[1] + x, hy);
        store(medium[0] + x, sub(mx, within(mx, BUTTERAUGLI_MEDIUM_X)));
        store(medium[1] + x, add(my, within(my, BUTTERAUGLI_MEDIUM_Y)));
    }
}

INLINE V soften(V x, float limit)
{
    const V inside = within(x, limit);
    return add(inside, mul(sub(x, inside), all(BUTTERAUGLI_BEYOND)));
}

void butteraugli_high_simd(float *const xy[2], float *const high[2], uint32_t n)
{
    for (uint32_t x = 0; x < n; x += 4) {
        const V hx = load(high[0] + x), ux = sub(load(xy[0] + x), hx);
        store(xy[0] + x, sub(ux, within(ux, BUTTERAUGLI_ULTRA_X)));
        store(high[0] + x, sub(hx, within(hx, BUTTERAUGLI_HIGH_X)));
        const V hy = soften(load(high[1] + x), BUTTERAUGLI_HIGH_LIMIT), scaled = mul(hy, all(BUTTERAUGLI_HIGH_SCALE));
        const V uy = soften(sub(load(xy[1] + x), hy), BUTTERAUGLI_ULTRA_LIMIT);
        store(xy[1] + x, mul(uy, all(BUTTERAUGLI_ULTRA_SCALE)));
        store(high[1] + x, add(scaled, within(scaled, BUTTERAUGLI_HIGH_Y)));
    }
}

void butteraugli_square_simd(const float *d, float weight, uint32_t n, float *sum)
{
    for (uint32_t x = 0; x < n; x += 4)
        store(sum + x, mul(mul(load(d + x), load(d + x)), all(weight)));
}

void butteraugli_squares_simd(const float *p, const float *q, float weight, uint32_t n, float *sum)
{
    for (uint32_t x = 0; x < n; x += 4) {
        const V d = sub(load(p + x), load(q + x));
        store(sum + x, add(load(sum + x), mul(mul(d, d), all(weight))));
    }
}

INLINE V outside(V p, V q, float low, float high)
{
    const V a = mul(p, all(low)), b = mul(p, all(high));
    return sub(q, clamp(q, smaller(a, b), larger(a, b)));
}

void butteraugli_one_sided_simd(const float *p, const float *q, float weight, uint32_t n, float *sum)
{
    for (uint32_t x = 0; x < n; x += 4) {
        const V a = load(p + x), b = load(q + x), d = sub(a, b), v = outside(a, b, BUTTERAUGLI_EXPLAINED_LOW, 1);
        store(sum + x, add(load(sum + x), mul(add(mul(d, d), mul(v, v)), all(weight))));
    }
}

void butteraugli_contrast_simd(const float *p, const float *q, const ButteraugliContrast *weights, uint32_t n,
                               float *dst)
{
    const V two_sided = all(weights->two_sided), one_sided = all(weights->one_sided), norm = all(weights->norm);
    for (uint32_t x = 0; x < n; x += 4) {
        const V a = load(p + x), b = load(q + x);
        const V mean = mul(add(wasm_f32x4_abs(a), wasm_f32x4_abs(b)), all(0.5F));
        const V beyond = outside(a, b, BUTTERAUGLI_CONTRAST_LOW, BUTTERAUGLI_CONTRAST_HIGH);
        store(dst + x, over(sub(mul(sub(a, b), two_sided), mul(beyond, one_sided)), add(mean, norm)));
    }
}

/* at[]: each row from BUTTERAUGLI_LINE_REACH columns before the lanes, so that all offsets are constants above zero. */
#define AT(y, x) load(at[BUTTERAUGLI_LINE_REACH + (y)] + BUTTERAUGLI_LINE_REACH + (x))
#define PAIR(y, x) add(AT(y, x), AT(-(y), -(x)))
#define SQUARE(total) total = add(total, mul(line, line));

INLINE void begin_rows(const float *const rows[BUTTERAUGLI_LINE_ROWS], uint32_t x,
                       const float *at[BUTTERAUGLI_LINE_ROWS])
{
    for (uint32_t y = 0; y < BUTTERAUGLI_LINE_ROWS; y++)
        at[y] = rows[y] + x - BUTTERAUGLI_LINE_REACH;
}

void butteraugli_sparse_lines_simd(const float *const rows[BUTTERAUGLI_LINE_ROWS], uint32_t n, float *sum)
{
    for (uint32_t x = 0; x < n; x += 4) {
        const float *at[BUTTERAUGLI_LINE_ROWS];
        begin_rows(rows, x, at);
        const V centre = AT(0, 0);
        V squares = wasm_f32x4_const_splat(0), line;
#define LINE(y1, x1, y2, x2)                                                                                           \
    line = add(add(centre, PAIR(y1, x1)), PAIR(y2, x2));                                                               \
    SQUARE(squares)
        BUTTERAUGLI_SPARSE(LINE)
        store(sum + x, add(load(sum + x), squares));
    }
}

void butteraugli_dense_lines_simd(const float *const rows[BUTTERAUGLI_LINE_ROWS], uint32_t n, float *sum)
{
    for (uint32_t x = 0; x < n; x += 4) {
        const float *at[BUTTERAUGLI_LINE_ROWS];
        begin_rows(rows, x, at);
        const V centre = AT(0, 0);
        V squares = wasm_f32x4_const_splat(0), twice = squares, line;
#define THREE(y1, x1, y2, x2, y3, x3)                                                                                  \
    line = add(add(centre, PAIR(y1, x1)), add(PAIR(y2, x2), PAIR(y3, x3)));                                            \
    SQUARE(squares)
#define LONG(y1, x1, y2, x2, y3, x3, y4, x4)                                                                           \
    line = add(add(centre, PAIR(y1, x1)), add(add(PAIR(y2, x2), PAIR(y3, x3)), PAIR(y4, x4)));
#define FOUR(...) LONG(__VA_ARGS__) SQUARE(squares)
#define TWICE(...) LONG(__VA_ARGS__) SQUARE(twice)
        BUTTERAUGLI_DENSE(FOUR, TWICE, THREE)
        store(sum + x, add(load(sum + x), add(squares, mul(twice, all(2)))));
    }
}

void butteraugli_activity_simd(const float *const ultra[2], const float *const high[2], uint32_t n, float *dst)
{
    const V bias = all(BUTTERAUGLI_ACTIVITY_BIAS), dark = wasm_f32x4_sqrt(bias);
    for (uint32_t i = 0; i < n; i += 4) {
        const V x = mul(add(load(ultra[0] + i), load(high[0] + i)), all(BUTTERAUGLI_ACTIVITY_X));
        const V y = mul(add(load(ultra[1] + i), load(high[1] + i)), all(BUTTERAUGLI_ACTIVITY_Y));
        const V size = wasm_f32x4_sqrt(add(mul(x, x), mul(y, y)));
        store(dst + i, sub(wasm_f32x4_sqrt(add(mul(size, all(BUTTERAUGLI_ACTIVITY_SCALE)), bias)), dark));
    }
}

INLINE V sensitivity(V mask, float factor, float scale, float offset)
{
    const V below = add(mul(mask, all(scale)), all(offset));
    const V s = mul(add(over(all(factor), below), all(1)), all(BUTTERAUGLI_GLOBAL));
    return mul(s, s);
}

/* The three smallest of values, in order. */
typedef struct Smallest {
    V first, second, third;
} Smallest;

INLINE void take(Smallest *smallest, const float *at)
{
    const V v = load(at);
    smallest->third = smaller(smallest->third, larger(smallest->second, v));
    smallest->second = smaller(smallest->second, larger(smallest->first, v));
    smallest->first = smaller(smallest->first, v);
}

void butteraugli_difference_simd(const float *const activity[3], const float *dc, const float *ac, uint32_t n,
                                 float *difference)
{
    for (uint32_t i = 0; i < n; i += 4) {
        const float *above = activity[0] + i, *row = activity[1] + i, *below = activity[2] + i;
        const V centre = load(row), twice = mul(centre, all(2));
        Smallest m = {centre, twice, twice};
        take(&m, above - BUTTERAUGLI_EROSION);
        take(&m, above);
        take(&m, above + BUTTERAUGLI_EROSION);
        take(&m, row - BUTTERAUGLI_EROSION);
        take(&m, row + BUTTERAUGLI_EROSION);
        take(&m, below - BUTTERAUGLI_EROSION);
        take(&m, below);
        take(&m, below + BUTTERAUGLI_EROSION);
        const V mask = add(add(mul(m.first, all(BUTTERAUGLI_FIRST)), mul(m.second, all(BUTTERAUGLI_SECOND))),
                           mul(m.third, all(BUTTERAUGLI_THIRD)));
        const V of_ac = sensitivity(mask, BUTTERAUGLI_AC_MUL, BUTTERAUGLI_AC_SCALE, BUTTERAUGLI_AC_OFFSET);
        const V of_dc = sensitivity(mask, BUTTERAUGLI_DC_MUL, BUTTERAUGLI_DC_SCALE, BUTTERAUGLI_DC_OFFSET);
        store(difference + i, wasm_f32x4_sqrt(add(mul(load(dc + i), of_dc), mul(load(ac + i), of_ac))));
    }
}
