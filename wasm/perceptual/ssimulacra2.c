/* ssimulacra2.c - SSIMULACRA 2.1 in portable C: the definition that ssimulacra2_simd.c must equal. */
#include "ssimulacra2.h"

#include <math.h>
#include <string.h>

static inline float larger(float x, float y) { return x < y ? y : x; }

static inline float from_bits(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Cube root of x >= 0 plus `add`: libjxl's Newton steps towards 1 / cbrt(x) from a guess by the exponent. */
static inline float exact_root_plus(float x, float add)
{
    const int32_t bits = bits_of(x);
    const float third = 1.0F / 3, x_third = third * x;
    float r = from_bits(bits ? 0x54800000 - (bits >> 23) * 0x002AAAAA : 0);
    for (int i = 0; i < 3; i++) {
        const float r2 = r * r;
        r = 4.0F / 3 * r - x_third * (r2 * r2);
    }
    const float r2 = r * r;
    r = third * (r - x * (r2 * r2)) + r;
    return r * r * x + add;
}

/*
 * The same with fewer operations, to 4e-7: a guess of 1 / cbrt(x) within 3.6 % by a third of all bits, then steps with
 * the first terms of the series of (1 - h)^(-1/3), and of (1 - h)^(-2/3), where h = 1 - x * r^3.
 */
static inline float root_plus(float x, float add)
{
    float r = from_bits(SSIM2_ROOT_GUESS - (bits_of(x) >> 9) * 171);
    float h = 1 - x * r * (r * r);
    r = r + r * (h * (1.0F / 3 + 2.0F / 9 * h));
    const float root = x * (r * r);
    h = 1 - root * r;
    return root + root * (h * (2.0F / 3)) + add;
}

static inline void to_xyb(const float *const rgb[3], uint32_t n, float *const xyb[3], float (*root)(float, float))
{
    for (uint32_t i = 0; i < n; i++) {
        const float r = rgb[0][i], g = rgb[1][i], b = rgb[2][i];
        const float l = SSIM2_M00 * r + (SSIM2_M01 * g + (SSIM2_M02 * b + SSIM2_BIAS));
        const float m = SSIM2_M10 * r + (SSIM2_M11 * g + (SSIM2_M12 * b + SSIM2_BIAS));
        const float s = SSIM2_M20 * r + (SSIM2_M21 * g + (SSIM2_M22 * b + SSIM2_BIAS));
        const float l3 = root(larger(0, l), -SSIM2_BIAS_ROOT);
        const float m3 = root(larger(0, m), -SSIM2_BIAS_ROOT);
        const float s3 = root(larger(0, s), -SSIM2_BIAS_ROOT);
        const float x = 0.5F * (l3 - m3), y = 0.5F * (l3 + m3);
        /* Shifted so that all values are positive. */
        xyb[0][i] = x * 14 + 0.42F;
        xyb[1][i] = y + 0.01F;
        xyb[2][i] = s3 - y + 0.55F;
    }
}

void ssim2_xyb_c(const float *const rgb[3], uint32_t n, float *const xyb[3]) { to_xyb(rgb, n, xyb, root_plus); }

void ssim2_exact_xyb_c(const float *const rgb[3], uint32_t n, float *const xyb[3])
{
    to_xyb(rgb, n, xyb, exact_root_plus);
}

void ssim2_halve_c(const float *upper, const float *lower, uint32_t width, float *dst)
{
    for (uint32_t x = 0; x < width; x += 2) {
        const uint32_t next = x + 1 < width ? x + 1 : x;
        *dst++ = (upper[x] + upper[next] + lower[x] + lower[next]) * 0.25F;
    }
}

void ssim2_squares_c(const float *a, const float *b, uint32_t n, float *sum, float *difference)
{
    for (uint32_t i = 0; i < n; i++) {
        const float d = a[i] - b[i];
        sum[i] = a[i] * a[i] + b[i] * b[i];
        difference[i] = d * d;
    }
}

void ssim2_columns_c(const float *const rows[SSIM2_STRIP + 2 * SSIM2_REACH], uint32_t n, float *const dst[SSIM2_STRIP])
{
    for (uint32_t row = 0; row < SSIM2_STRIP; row++) {
        const float *const *centre = rows + row + SSIM2_REACH;
        for (uint32_t i = 0; i < n; i++) {
            float sum = centre[0][i] * ssim2_taps[0];
            for (int k = 1; k <= SSIM2_REACH; k++)
                sum += (centre[-k][i] + centre[k][i]) * ssim2_taps[k];
            dst[row][i] = sum;
        }
    }
}

static inline float blurred_at(const float *row)
{
    float sum = row[0] * ssim2_taps[0];
    for (int k = 1; k <= SSIM2_REACH; k++)
        sum += (row[-k] + row[k]) * ssim2_taps[k];
    return sum;
}

void ssim2_terms_c(const float *const blurred[SSIM2_FAST_PLANES], const float *const ab[2], uint32_t n, uint32_t parts,
                   double sums[SSIM2_SUMS])
{
    float lanes[SSIM2_SUMS][4] = {{0}};
    for (uint32_t i = 0; i < n; i++) {
        const float mean_a = blurred_at(blurred[0] + i), mean_b = blurred_at(blurred[1] + i);
        const uint32_t lane = i & 3;
        if (parts & SSIM2_SSIM) {
            /*
             * 1 - num_m * num_s / den without its cancellation: the variance of a - b is den - num_s, and 1 - num_m is
             * the square of the means' difference.
             */
            const float apart = mean_a - mean_b, apart2 = apart * apart;
            const float variance = blurred_at(blurred[3] + i) - apart2;
            const float den = blurred_at(blurred[2] + i) - (mean_a * mean_a + mean_b * mean_b) + SSIM2_C2;
            const float error = larger(0, (variance + apart2 * (den - variance)) / den), square = error * error;
            lanes[SSIM2_ERROR][lane] += error;
            lanes[SSIM2_ERROR4][lane] += square * square;
        }
        if (parts & SSIM2_EDGES) {
            /* (1 + edge_b) / (1 + edge_a) - 1. */
            const float edge_a = fabsf(ab[0][i] - mean_a), edge_b = fabsf(ab[1][i] - mean_b);
            const float edge = (edge_b - edge_a) / (edge_a + 1);
            const float artifact = larger(0, edge), lost = larger(0, -edge);
            const float artifact2 = artifact * artifact, lost2 = lost * lost;
            lanes[SSIM2_ARTIFACT][lane] += artifact;
            lanes[SSIM2_ARTIFACT4][lane] += artifact2 * artifact2;
            lanes[SSIM2_LOST][lane] += lost;
            lanes[SSIM2_LOST4][lane] += lost2 * lost2;
        }
    }
    for (uint32_t k = 0; k < SSIM2_SUMS; k++)
        sums[k] += (double)lanes[k][0] + (double)lanes[k][1] + ((double)lanes[k][2] + (double)lanes[k][3]);
}

void ssim2_products_c(const float *a, const float *b, uint32_t n, float *product)
{
    for (uint32_t i = 0; i < n; i++)
        product[i] = a[i] * b[i];
}

/* The last two values of the three recursions. */
typedef struct Past {
    float last[3], earlier[3];
} Past;

/* One step for column n: reads the samples SSIM2_REACH + 2 before it and SSIM2_REACH after it. */
static inline float step(const float *src, int32_t n, Past *past)
{
    const float sum = src[n - 6] + src[n + 4];
    float v[3];
    for (uint32_t k = 0; k < 3; k++) {
        const Ssim2Recursion *r = &ssim2_recursions[k];
        v[k] = sum * r->sums[0];
        v[k] = r->earlier[0] * past->earlier[k] + v[k];
        v[k] = r->last[0] * past->last[k] + v[k];
        past->earlier[k] = past->last[k];
        past->last[k] = v[k];
    }
    return v[0] + (v[1] + v[2]);
}

static inline void four_steps(const float *src, int32_t n, Past *past, float *dst)
{
    float s[4], v[3][4];
    for (int32_t i = 0; i < 4; i++)
        s[i] = src[n + i - 6] + src[n + i + 4];
    for (uint32_t k = 0; k < 3; k++) {
        const Ssim2Recursion *r = &ssim2_recursions[k];
        for (uint32_t i = 0; i < 4; i++) {
            v[k][i] = s[0] * r->sums[i];
            for (uint32_t j = 1; j <= i; j++)
                v[k][i] = r->sums[i - j] * s[j] + v[k][i];
            v[k][i] = r->earlier[i] * past->earlier[k] + v[k][i];
            v[k][i] = r->last[i] * past->last[k] + v[k][i];
        }
        past->earlier[k] = v[k][2];
        past->last[k] = v[k][3];
    }
    for (uint32_t i = 0; i < 4; i++)
        dst[n + (int32_t)i] = v[0][i] + (v[1][i] + v[2][i]);
}

void ssim2_exact_rows_c(const float *const src[SSIM2_STRIP], uint32_t n, float *const dst[SSIM2_STRIP])
{
    const int32_t width = (int32_t)n;
    for (uint32_t row = 0; row < SSIM2_STRIP; row++) {
        Past past = {{0}, {0}};
        int32_t x = -SSIM2_REACH;
        for (; x < 0; x++)
            step(src[row], x, &past);
        /* The reference unrolls where all its reads are inside. */
        for (; x < width && x < 8; x++)
            dst[row][x] = step(src[row], x, &past);
        for (; x < width - 7; x += 4)
            four_steps(src[row], x, &past, dst[row]);
        for (; x < width; x++)
            dst[row][x] = step(src[row], x, &past);
    }
}

void ssim2_exact_columns_c(const float *const above[SSIM2_STRIP], const float *const below[SSIM2_STRIP], uint32_t n,
                           float *const state[6], float *const dst[SSIM2_STRIP])
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t row = 0; row < SSIM2_STRIP; row++) {
            const float sum = above[row][i] + below[row][i];
            float v[3];
            for (uint32_t k = 0; k < 3; k++) {
                const Ssim2Recursion *r = &ssim2_recursions[k];
                v[k] = r->sums[0] * sum + (r->last[0] * state[2 * k][i] - state[2 * k + 1][i]);
                state[2 * k + 1][i] = state[2 * k][i];
                state[2 * k][i] = v[k];
            }
            dst[row][i] = v[0] + (v[1] + v[2]);
        }
}

void ssim2_exact_terms_c(const float *const blurred[SSIM2_EXACT_PLANES], const float *const ab[2], uint32_t n,
                         uint32_t parts, double sums[SSIM2_SUMS])
{
    double lanes[SSIM2_SUMS][2] = {{0}};
    for (uint32_t i = 0; i < n; i++) {
        const float mean_a = blurred[0][i], mean_b = blurred[1][i];
        const uint32_t lane = i & 1;
        if (parts & SSIM2_SSIM) {
            const float aa = mean_a * mean_a, bb = mean_b * mean_b, apart = mean_a - mean_b;
            const float num_m = 1 - apart * apart;
            const float num_s = 2 * (blurred[4][i] - mean_a * mean_b) + SSIM2_C2;
            const float den = blurred[2][i] - aa + (blurred[3][i] - bb) + SSIM2_C2;
            const double d = 1 - (double)(num_m * num_s / den), error = 0 < d ? d : 0, square = error * error;
            lanes[SSIM2_ERROR][lane] += error;
            lanes[SSIM2_ERROR4][lane] += square * square;
        }
        if (parts & SSIM2_EDGES) {
            const double edge_a = (double)fabsf(ab[0][i] - mean_a), edge_b = (double)fabsf(ab[1][i] - mean_b);
            const double edge = (1 + edge_b) / (1 + edge_a) - 1;
            const double artifact = 0 < edge ? edge : 0, lost = 0 < -edge ? -edge : 0;
            const double artifact2 = artifact * artifact, lost2 = lost * lost;
            lanes[SSIM2_ARTIFACT][lane] += artifact;
            lanes[SSIM2_ARTIFACT4][lane] += artifact2 * artifact2;
            lanes[SSIM2_LOST][lane] += lost;
            lanes[SSIM2_LOST4][lane] += lost2 * lost2;
        }
    }
    for (uint32_t k = 0; k < SSIM2_SUMS; k++)
        sums[k] += lanes[k][0] + lanes[k][1];
}
