/* butteraugli.c - Butteraugli's functions of rows in portable C: the definition that butteraugli_simd.c must equal. */
#include "butteraugli.h"

#include <math.h>
#include <string.h>

#include "butteraugli_constants.h"

/* In these forms because vectors choose the same operand, also among zeros of both signs. */
static inline float smaller(float a, float b) { return b < a ? b : a; }
static inline float larger(float a, float b) { return a < b ? b : a; }
static inline float clamp(float x, float least, float most) { return smaller(larger(x, least), most); }
static inline float within(float x, float limit) { return clamp(x, -limit, limit); }

void butteraugli_blur_row_c(const float *row, const float *taps, uint32_t radius, const float *scale, uint32_t n,
                            float *dst)
{
    for (uint32_t x = 0; x < n; x++) {
        float sum = row[x] * taps[0];
        for (uint32_t k = 1; k <= radius; k++)
            sum += (row[(ptrdiff_t)x - (ptrdiff_t)k] + row[x + k]) * taps[k];
        dst[x] = sum * scale[x];
    }
}

void butteraugli_blur_column_c(const float *const *rows, const float *taps, uint32_t radius, float scale, uint32_t n,
                               float *dst)
{
    for (uint32_t x = 0; x < n; x++) {
        float sum = rows[radius][x] * taps[0];
        for (uint32_t k = 1; k <= radius; k++)
            sum += (rows[radius - k][x] + rows[radius + k][x]) * taps[k];
        dst[x] = sum * scale;
    }
}

/* Base 2, of a positive normal number. */
static inline float logarithm(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int32_t exponent = (bits - BUTTERAUGLI_TWO_THIRDS) >> 23;
    bits -= exponent * (1 << 23);
    float m;
    memcpy(&m, &bits, sizeof m);
    m -= 1;
    const float *p = butteraugli_log_p, *q = butteraugli_log_q;
    return ((p[2] * m + p[1]) * m + p[0]) / ((q[2] * m + q[1]) * m + q[0]) + (float)exponent;
}

static inline float absorb(const float row[4], const float rgb[3])
{
    return row[0] * rgb[0] + (row[1] * rgb[1] + (row[2] * rgb[2] + row[3]));
}

void butteraugli_opsin_c(const float *const rgb[3], const float *const blurred[3], float nits, uint32_t n,
                         float *const xyb[3])
{
    for (uint32_t x = 0; x < n; x++) {
        const float light[3] = {rgb[0][x] * nits, rgb[1][x] * nits, rgb[2][x] * nits};
        const float around[3] = {blurred[0][x] * nits, blurred[1][x] * nits, blurred[2][x] * nits};
        float cones[3];
        for (uint32_t c = 0; c < 3; c++) {
            const float *row = butteraugli_absorbance[c];
            const float v = larger(absorb(row, around), row[3]);
            const float log = logarithm(v + BUTTERAUGLI_GAMMA_BIAS);
            const float gamma = BUTTERAUGLI_GAMMA_SCALE * log - BUTTERAUGLI_GAMMA_OFFSET;
            cones[c] = larger(absorb(row, light) * larger(gamma / v, BUTTERAUGLI_LEAST), row[3]);
        }
        xyb[0][x] = cones[0] - cones[1];
        xyb[1][x] = cones[0] + cones[1];
        xyb[2][x] = cones[2];
    }
}

void butteraugli_subtract_c(float *a, const float *b, uint32_t n)
{
    for (uint32_t x = 0; x < n; x++)
        a[x] -= b[x];
}

void butteraugli_low_c(const float *const reference[2], const float *const distorted[2], const float *b, uint32_t n,
                       float *sum)
{
    for (uint32_t i = 0; i < n; i++) {
        const float dx = reference[0][i] - distorted[0][i], dy = reference[1][i] - distorted[1][i];
        const float x = dx * BUTTERAUGLI_LOW_X, y = dy * BUTTERAUGLI_LOW_Y;
        const float z = (b[i] - dy * BUTTERAUGLI_Y_TO_B) * BUTTERAUGLI_LOW_B;
        sum[i] = x * x * BUTTERAUGLI_LOW_WEIGHT_X + y * y * BUTTERAUGLI_LOW_WEIGHT_Y + z * z * BUTTERAUGLI_LOW_WEIGHT_B;
    }
}

void butteraugli_medium_c(float *const xy[2], float *const medium[2], uint32_t n)
{
    for (uint32_t x = 0; x < n; x++) {
        const float mx = medium[0][x], my = medium[1][x];
        const float hy = xy[1][x] - my;
        /* Contrast in Y hides contrast in X. */
        const float share = BUTTERAUGLI_SUPPRESS / (hy * hy + BUTTERAUGLI_SUPPRESS);
        const float visible = share * (1 - BUTTERAUGLI_SUPPRESS_LEAST) + BUTTERAUGLI_SUPPRESS_LEAST;
        xy[0][x] = (xy[0][x] - mx) * visible;
        xy[1][x] = hy;
        medium[0][x] = mx - within(mx, BUTTERAUGLI_MEDIUM_X);
        medium[1][x] = my + within(my, BUTTERAUGLI_MEDIUM_Y);
    }
}

/* Lets less through of what is beyond a limit. */
static inline float soften(float x, float limit)
{
    const float inside = within(x, limit);
    return inside + (x - inside) * BUTTERAUGLI_BEYOND;
}

void butteraugli_high_c(float *const xy[2], float *const high[2], uint32_t n)
{
    for (uint32_t x = 0; x < n; x++) {
        const float hx = high[0][x], ux = xy[0][x] - hx;
        xy[0][x] = ux - within(ux, BUTTERAUGLI_ULTRA_X);
        high[0][x] = hx - within(hx, BUTTERAUGLI_HIGH_X);
        const float hy = soften(high[1][x], BUTTERAUGLI_HIGH_LIMIT), scaled = hy * BUTTERAUGLI_HIGH_SCALE;
        xy[1][x] = soften(xy[1][x] - hy, BUTTERAUGLI_ULTRA_LIMIT) * BUTTERAUGLI_ULTRA_SCALE;
        high[1][x] = scaled + within(scaled, BUTTERAUGLI_HIGH_Y);
    }
}

void butteraugli_square_c(const float *d, float weight, uint32_t n, float *sum)
{
    for (uint32_t x = 0; x < n; x++)
        sum[x] = d[x] * d[x] * weight;
}

void butteraugli_squares_c(const float *p, const float *q, float weight, uint32_t n, float *sum)
{
    for (uint32_t x = 0; x < n; x++) {
        const float d = p[x] - q[x];
        sum[x] += d * d * weight;
    }
}

/* How far q lies outside of low * p .. high * p, whichever the sign. */
static inline float outside(float p, float q, float low, float high)
{
    const float a = p * low, b = p * high;
    return q - clamp(q, smaller(a, b), larger(a, b));
}

void butteraugli_one_sided_c(const float *p, const float *q, float weight, uint32_t n, float *sum)
{
    for (uint32_t x = 0; x < n; x++) {
        const float d = p[x] - q[x], v = outside(p[x], q[x], BUTTERAUGLI_EXPLAINED_LOW, 1);
        sum[x] += (d * d + v * v) * weight;
    }
}

void butteraugli_contrast_c(const float *p, const float *q, const ButteraugliContrast *weights, uint32_t n, float *dst)
{
    for (uint32_t x = 0; x < n; x++) {
        const float mean = (fabsf(p[x]) + fabsf(q[x])) * 0.5F;
        const float beyond = outside(p[x], q[x], BUTTERAUGLI_CONTRAST_LOW, BUTTERAUGLI_CONTRAST_HIGH);
        dst[x] = ((p[x] - q[x]) * weights->two_sided - beyond * weights->one_sided) / (mean + weights->norm);
    }
}

#define PAIR(y, x) (rows[BUTTERAUGLI_LINE_REACH + (y)][i + (x)] + rows[BUTTERAUGLI_LINE_REACH - (y)][i - (x)])

void butteraugli_sparse_lines_c(const float *const rows[BUTTERAUGLI_LINE_ROWS], uint32_t n, float *sum)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++) {
        const float centre = rows[BUTTERAUGLI_LINE_REACH][i];
        float squares = 0, line;
#define LINE(y1, x1, y2, x2)                                                                                           \
    line = centre + PAIR(y1, x1) + PAIR(y2, x2);                                                                       \
    squares += line * line;
        BUTTERAUGLI_SPARSE(LINE)
        sum[i] += squares;
    }
}

void butteraugli_dense_lines_c(const float *const rows[BUTTERAUGLI_LINE_ROWS], uint32_t n, float *sum)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++) {
        const float centre = rows[BUTTERAUGLI_LINE_REACH][i];
        float squares = 0, twice = 0, line;
#define THREE(y1, x1, y2, x2, y3, x3)                                                                                  \
    line = centre + PAIR(y1, x1) + (PAIR(y2, x2) + PAIR(y3, x3));                                                      \
    squares += line * line;
#define LONG(y1, x1, y2, x2, y3, x3, y4, x4)                                                                           \
    line = centre + PAIR(y1, x1) + (PAIR(y2, x2) + PAIR(y3, x3) + PAIR(y4, x4));
#define FOUR(...) LONG(__VA_ARGS__) squares += line * line;
#define TWICE(...) LONG(__VA_ARGS__) twice += line * line;
        BUTTERAUGLI_DENSE(FOUR, TWICE, THREE)
        sum[i] += squares + twice * 2;
    }
}

void butteraugli_activity_c(const float *const ultra[2], const float *const high[2], uint32_t n, float *dst)
{
    const float dark = sqrtf(BUTTERAUGLI_ACTIVITY_BIAS);
    for (uint32_t i = 0; i < n; i++) {
        const float x = (ultra[0][i] + high[0][i]) * BUTTERAUGLI_ACTIVITY_X;
        const float y = (ultra[1][i] + high[1][i]) * BUTTERAUGLI_ACTIVITY_Y;
        dst[i] = sqrtf(sqrtf(x * x + y * y) * BUTTERAUGLI_ACTIVITY_SCALE + BUTTERAUGLI_ACTIVITY_BIAS) - dark;
    }
}

static inline float sensitivity(float mask, float mul, float scale, float offset)
{
    const float s = (mul / (mask * scale + offset) + 1) * BUTTERAUGLI_GLOBAL;
    return s * s;
}

void butteraugli_difference_c(const float *const activity[3], const float *dc, const float *ac, uint32_t n,
                              float *difference)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++) {
        /* The three smallest in order. */
        float first = activity[1][i], second = first * 2, third = second;
        for (uint32_t row = 0; row < 3; row++)
            for (ptrdiff_t x = i - BUTTERAUGLI_EROSION; x <= i + BUTTERAUGLI_EROSION; x += BUTTERAUGLI_EROSION) {
                if (row == 1 && x == i)
                    continue;
                const float v = activity[row][x];
                third = smaller(third, larger(second, v));
                second = smaller(second, larger(first, v));
                first = smaller(first, v);
            }
        const float mask = first * BUTTERAUGLI_FIRST + second * BUTTERAUGLI_SECOND + third * BUTTERAUGLI_THIRD;
        const float of_ac = sensitivity(mask, BUTTERAUGLI_AC_MUL, BUTTERAUGLI_AC_SCALE, BUTTERAUGLI_AC_OFFSET);
        const float of_dc = sensitivity(mask, BUTTERAUGLI_DC_MUL, BUTTERAUGLI_DC_SCALE, BUTTERAUGLI_DC_OFFSET);
        difference[i] = sqrtf(dc[i] * of_dc + ac[i] * of_ac);
    }
}
