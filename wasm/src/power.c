/*
 * power.c - powers of doubles as libvmaf's machines compute them: exp(exponent * log(base)), the logarithm as a sum of two
 * doubles. Both C libraries take the method and the tables from Arm's optimized routines; they differ in where a processor
 * fuses multiply and add, which is emulated here.
 */
#include "power.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { INTERVALS = 128 };

/* Tables of the C library's pow(), which the toolchain pins. */
extern const struct {
    double ln2_high, ln2_low; /* the first has so few bits that its product with an exponent is exact */
    double terms[7]; /* t: log(1 + r) = r + s + r s (t1 + t2 r + s (t3 + t4 r + s (t5 + t6 r))) with s = t0 r^2 */
    struct {
        double reciprocal, unused, log, log_low;
    } points[INTERVALS];
} __pow_log_data __attribute__((visibility("hidden")));

extern const struct {
    double per_unit;            /* 128 / ln 2 */
    double shift;               /* adding and subtracting it rounds to an integer */
    double unit_high, unit_low; /* -ln 2 / 128 */
    double terms[4];            /* t: exp(r) = 1 + r + r^2 (t0 + t1 r + r^2 (t2 + t3 r)) */
    double of_exp2[6];
    uint64_t powers[2 * INTERVALS]; /* the error of 2^(i/128) as a double, then its bits minus those of i/128 */
} __exp_data __attribute__((visibility("hidden")));

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* a * b + c with one rounding: product and sum with their errors (Dekker, Knuth), which are added last. */
static double fused(double a, double b, double c)
{
    const double split = 0x1p27 + 1;
    const double product = a * b;
    const double a_high = split * a - (split * a - a), a_low = a - a_high;
    const double b_high = split * b - (split * b - b), b_low = b - b_high;
    const double product_error = a_low * b_low - (product - a_high * b_high - a_low * b_high - a_high * b_low);
    const double sum = product + c, added = sum - product;
    return sum + (product - (sum - added) + (c - added) + product_error);
}

/* log(x) as a sum of two doubles, for positive normal x. */
static double log_of(double x, double *low)
{
    /* x = 2^k z with z from 0.7 to 1.4, whose interval has a point 1 / reciprocal. */
    const uint64_t offset = bits_of(x) - 0x3fe6955500000000u;
    const double k = (double)((int64_t)offset >> 52), z = double_of(bits_of(x) - (offset & 0xfff0000000000000u));
    const double *t = __pow_log_data.terms;
    const uint32_t i = (uint32_t)(offset >> 45) % INTERVALS;
    const double r = fused(z, __pow_log_data.points[i].reciprocal, -1);

    const double point = fused(k, __pow_log_data.ln2_high, __pow_log_data.points[i].log);
    const double first = point + r, first_low = point - first + r;
    const double point_low = fused(k, __pow_log_data.ln2_low, __pow_log_data.points[i].log_low);
    const double half = t[0] * r, square = r * half, cube = r * square;
    const double second = first + square;
    const double square_low = fused(half, r, -square), second_low = first - second + square;
    const double high_terms = fused(square, fused(r, t[6], t[5]), fused(r, t[4], t[3]));
    const double terms = fused(square, high_terms, fused(r, t[2], t[1]));
    const double rest = fused(cube, terms, point_low + first_low + square_low + second_low);
    const double log = second + rest;
    *low = second - log + rest;
    return log;
}

/* exp(high + low) for a high of ordinary size. */
static double exp_of(double high, double low)
{
    const double *t = __exp_data.terms;
    const double shifted = fused(__exp_data.per_unit, high, __exp_data.shift), k = shifted - __exp_data.shift;
    const double r = fused(k, __exp_data.unit_low, fused(k, __exp_data.unit_high, high)) + low;
    const uint32_t i = 2 * (uint32_t)(bits_of(shifted) % INTERVALS);
    const double scale = double_of(__exp_data.powers[i + 1] + (bits_of(shifted) << 45)), square = r * r;
    const double first = fused(square, fused(r, t[1], t[0]), double_of(__exp_data.powers[i]) + r);
    return fused(scale, fused(square * square, fused(r, t[3], t[2]), first), scale);
}

double power_fused(double base, double exponent)
{
    if (!(base >= 0x1p-1022 && base < INFINITY))
        return pow(base, exponent);
    double low;
    const double high = log_of(base, &low), product = exponent * high;
    if (!(fabs(product) < 700))
        return pow(base, exponent);
    return exp_of(product, fused(exponent, low, fused(exponent, high, -product)));
}
