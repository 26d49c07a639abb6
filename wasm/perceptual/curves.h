/*
 * curves.h - the constants of the transfer curves, for both twins.
 *
 * R'G'B' below 0 is no light, as in zimg: limited range and colours outside of the cube give such values. Above 1 the
 * curves continue; PQ is limited to 1, 10,000 cd/m2.
 */
#ifndef PERCEPTUAL_CURVES_H
#define PERCEPTUAL_CURVES_H

#include "powers.h"

#define SRGB_TERMS 5

/* In memory for the reason that PowerNumbers is. */
typedef struct CurveNumbers {
    PowerNumbers powers;
    struct {
        /* The curve above its linear part, p(x) / q(x), lowest power first; of libjxl, BSD-3-Clause. */
        float p[SRGB_TERMS], q[SRGB_TERMS];
        float knee, slope;
        /* The quotient errs by 1e-6 at `last` and ever more beyond it, where only colours outside of the cube get. */
        float last, excess, base;
        Power power;
    } srgb;
    Power bt1886, gamma22, gamma28;
    /* The inverse of BT.709's camera curve: (x + excess) base to a power. BT.2020 has its constants to more digits. */
    struct {
        float knee, slope, excess, base;
        Power power;
    } bt709;
    /*
     * SMPTE ST 2084. Its quotient cancels near white, so it is computed of t = x^(1/m2) - 1:
     * (x^(1/m2) - c1) / (c2 - c3 x^(1/m2)) = (rest + t) / (rest - c3 t), as c2 - c3 = 1 - c1 = rest.
     * Below `least` there is no light, and t stays in the interval of exp2_minus_1().
     */
    struct {
        float least, first_power, rest, c3;
        Power power;
    } pq;
    /* ARIB STD-B67: x^2 / 3 up to 1/2, then (e^((x - c) / a) + b) / 12. */
    struct {
        float knee, square, c, rate, b, scale;
    } hlg;
} CurveNumbers;

static const CurveNumbers curve_numbers = {
    .powers = POWER_NUMBERS,
    .srgb = {.p = {2.200248328e-04F, 1.043637593e-02F, 1.624820318e-01F, 7.961564959e-01F, 8.210152774e-01F},
             .q = {2.631846970e-01F, 1.076976492e+00F, 4.987528350e-01F, -5.512498495e-02F, 6.521209011e-03F},
             .knee = 0.04045F, .slope = 1 / 12.92F, .last = 1.1F, .excess = 0.055F, .base = 1 / 1.055F,
             .power = POWER_PARTS(2.4, 1229)},
    .bt1886 = POWER_PARTS(2.4, 1229),
    .gamma22 = POWER_PARTS(2.2, 1126),
    .gamma28 = POWER_PARTS(2.8, 1434),
    .bt709 = {.knee = (float)(4.5 * 0.018053968510807), .slope = 1 / 4.5F, .excess = 0.09929682680944F,
              .base = (float)(1 / 1.09929682680944), .power = POWER_PARTS(1 / 0.45, 1138)},
    .pq = {.least = 0x1p-21F, .first_power = 1 / 78.84375F, .rest = 0.1640625F, .c3 = 18.6875F,
           .power = POWER_PARTS(16384 / 2610.0, 3214)},
    .hlg = {.knee = 0.5F, .square = 1 / 3.0F, .c = 0.55991073F, .rate = (float)(1.44269504088896340736 / 0.17883277),
            .b = 0.28466892F, .scale = 1 / 12.0F},
};

#endif
