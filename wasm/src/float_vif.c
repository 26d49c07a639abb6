/* float_vif.c - floating-point VIF in portable C: the definition that float_vif_simd.c must equal. */
#include "float_vif.h"

#include <string.h>

void float_vif_columns_c(const float *const *a, const float *const *b, const float *taps, uint32_t n, uint32_t width,
                         float *const out[FLOAT_VIF_SIGNALS])
{
    for (uint32_t j = 0; j < width; j++) {
        float sums[FLOAT_VIF_SIGNALS] = {0};
        for (uint32_t k = 0; k < n; k++) {
            const float x = a[k][j], y = b[k][j], tap = taps[k];
            sums[0] += tap * x;
            sums[1] += tap * y;
            sums[2] += tap * (x * x);
            sums[3] += tap * (y * y);
            sums[4] += tap * (x * y);
        }
        for (uint32_t i = 0; i < FLOAT_VIF_SIGNALS; i++)
            out[i][j] = sums[i];
    }
}

/* log2 of x >= 1: exponent, and a polynomial of the mantissa. */
static float log2_approximate(float x)
{
    static const float coefficients[8] = {-0.012671635276421f, 0.064841182402670f, -0.157048836463065f,
                                          0.257167726303123f,  -0.353800560300520f, 0.480131410397451f,
                                          -0.721314327952201f, 1.442694803896991f};
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const float exponent = (float)((int32_t)(bits >> 23 & 0xff) - 127);
    bits = (bits & 0x7fffff) | 0x3f800000;
    float mantissa, sum = 0;
    memcpy(&mantissa, &bits, sizeof mantissa);
    mantissa -= 1;
    for (uint32_t i = 0; i < 8; i++)
        sum = sum * mantissa + coefficients[i];
    return exponent + sum * mantissa;
}

void float_vif_terms_c(const float *const signals[FLOAT_VIF_SIGNALS], uint32_t n, const FloatVifNoise *noise,
                       float *num, float *den)
{
    const float epsilon = 1.0e-10f;
    const double nsq = noise->sigma_nsq;
    for (uint32_t j = 0; j < n; j++) {
        const float m1 = signals[0][j], m2 = signals[1][j];
        float s1 = signals[2][j] - m1 * m1, s2 = signals[3][j] - m2 * m2;
        const float s12 = signals[4][j] - m1 * m2;
        s1 = s1 > 0 ? s1 : 0;
        s2 = s2 > 0 ? s2 : 0;
        float g = s12 / (s1 + epsilon), v = s2 - g * s12;
        if (s1 < epsilon)
            g = 0, v = s2, s1 = 0;
        if (s2 < epsilon)
            g = 0, v = 0;
        if (g < 0)
            v = s2, g = 0;
        v = v > epsilon ? v : epsilon;
        g = (double)g < noise->gain_limit ? g : (float)noise->gain_limit;
        num[j] = s12 < 0 ? 0 : log2_approximate((float)(1.0 + (double)(g * g * s1) / ((double)v + nsq)));
        den[j] = log2_approximate((float)(1.0 + (double)s1 / nsq));
        if ((double)s1 < nsq) {
            num[j] = 1 - s2 * noise->sigma_max_inv;
            den[j] = 1;
        }
    }
}
