/* cvvdp.c - ColorVideoVDP row by row in portable C: the definition that cvvdp_simd.c must equal. */
#include "cvvdp.h"

#include "powers.h"

static inline float larger(float a, float b) { return a < b ? b : a; }
static inline float smaller(float a, float b) { return b < a ? b : a; }
static inline float size_of(float a) { return float_of_bits(bits_of_float(a) & 0x7fffffff); }

void cvvdp_light_c(const float *const rgb[3], size_t n, const CvvdpLight *light, const float weights[CVVDP_CHANNELS],
                   uint32_t channels, float *const out[CVVDP_CHANNELS])
{
    const float *const luminance = cvvdp_luminance_2020;
    for (size_t i = 0; i < n; i++) {
        float v[3], dkl[CVVDP_CHANNELS];
        for (uint32_t p = 0; p < 3; p++)
            v[p] = smaller(larger(rgb[p][i], light->low), light->high);
        if (light->ootf != 0) {
            const float scene = v[0] * luminance[0] + v[1] * luminance[1] + v[2] * luminance[2];
            const float gain = exp2_of(log2_of(larger(scene, DARKEST_SCENE)) * light->ootf);
            for (uint32_t p = 0; p < 3; p++)
                v[p] = v[p] * gain;
        }
        for (uint32_t c = 0; c < 3; c++) {
            const float *const row = light->matrix[c];
            dkl[c] = row[0] * v[0] + row[1] * v[1] + row[2] * v[2] + light->offset[c];
        }
        dkl[3] = dkl[0];
        for (uint32_t c = 0; c < channels; c++)
            out[c][i] += dkl[c] * weights[c];
    }
}

/* Both kernels are .05 .25 .4 .25 .05; the expanding one has only every second tap, doubled. */
static inline float reduce(float a, float b, float c, float d, float e)
{
    return (a + e) * 0.05F + (b + d) * 0.25F + c * 0.4F;
}

void cvvdp_reduce_rows_c(const float *const rows[5], uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = reduce(rows[0][i], rows[1][i], rows[2][i], rows[3][i], rows[4][i]);
}

void cvvdp_reduce_columns_c(const float *row, uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i++, row += 2)
        out[i] = reduce(row[-2], row[-1], row[0], row[1], row[2]);
}

void cvvdp_expand_rows_c(const float *const rows[3], const float weights[3], uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = rows[0][i] * weights[0] + rows[1][i] * weights[1] + rows[2][i] * weights[2];
}

void cvvdp_expand_columns_c(const float *row, uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i++) {
        const float left = row[(int32_t)i - 1], here = row[i], right = row[i + 1];
        out[2 * i] = (left + right) * 0.1F + here * 0.8F;
        out[2 * i + 1] = (here + right) * 0.5F;
    }
}

void cvvdp_contrast_c(const float *const fine[CVVDP_PLANES], const float *const coarse[CVVDP_PLANES], uint32_t n,
                      const CvvdpSensitivity *sensitivity, uint32_t channels,
                      float *const difference[CVVDP_CHANNELS], float *const common[CVVDP_CHANNELS])
{
    for (uint32_t i = 0; i < n; i++) {
        const float dark = larger(coarse[CVVDP_REFERENCE][i], DARKEST);
        const float of_d = 1 / larger(coarse[0][i], DARKEST), of_r = 1 / dark;
        const float at = log2_of(dark) * sensitivity->scale + sensitivity->offset;
        const float place = smaller(larger(at, 0), CSF_NODES - 1);
        const int32_t node = (int32_t)smaller(place, CSF_NODES - 2);
        const float beyond = place - (float)node;
        for (uint32_t c = 0; c < channels; c++) {
            const float s = exp2_of(sensitivity->node[node][c] + beyond * sensitivity->step[node][c]);
            const uint32_t r = CVVDP_REFERENCE + c;
            const float d = smaller((fine[c][i] - coarse[c][i]) * of_d, MOST_CONTRAST) * s;
            const float e = smaller((fine[r][i] - coarse[r][i]) * of_r, MOST_CONTRAST) * s;
            difference[c][i] = size_of(d - e);
            common[c][i] = smaller(size_of(d), size_of(e));
        }
    }
}

void cvvdp_blur_columns_c(const float *row, const CvvdpBlur *blur, uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i++, row++) {
        float sum = row[0] * blur->taps[0];
        for (int32_t k = 1; k <= BLUR_REACH; k++)
            sum += (row[-k] + row[k]) * blur->taps[k];
        out[i] = sum;
    }
}

void cvvdp_blur_rows_c(const float *const rows[BLUR_TAPS], const CvvdpBlur *blur, uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i++) {
        float sum = rows[BLUR_REACH][i] * blur->taps[0];
        for (uint32_t k = 1; k <= BLUR_REACH; k++)
            sum += (rows[BLUR_REACH - k][i] + rows[BLUR_REACH + k][i]) * blur->taps[k];
        out[i] = sum;
    }
}

void cvvdp_power_c(float *values, uint32_t n, float exponent)
{
    /* Of the same operations, so that the power of 0 is 0. */
    const float start = exp2_of(log2_of(POWER_START) * exponent);
    for (uint32_t i = 0; i < n; i++)
        values[i] = exp2_of(log2_of(values[i] + POWER_START) * exponent) - start;
}

void cvvdp_pool_c(const float *const difference[CVVDP_CHANNELS], const float *const mask[CVVDP_CHANNELS], uint32_t n,
                  uint32_t channels, double sums[CVVDP_CHANNELS][4])
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < channels; c++) {
            float masking = 1;
            for (uint32_t k = 0; k < channels; k++)
                masking += mask[k][i] * cvvdp_cross_masking[k][c];
            const float d = difference[c][i];
            /* x = d / masking, saturated: most * x / (most + x). */
            const float x = MOST_DIFFERENCE * d / (MOST_DIFFERENCE * masking + d);
            sums[c][i % 4] += (double)(x * (x + 2 * POWER_START));
        }
}
