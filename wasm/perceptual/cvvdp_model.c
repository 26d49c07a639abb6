/* cvvdp_model.c - display, filters over time, sensitivity and pooling of ColorVideoVDP; see cvvdp.h for the source. */
#include "cvvdp_model.h"

#include <math.h>

#include "colour.h"
#include "cvvdp_csf.h"

#define PI 3.14159265358979323846

typedef double Matrix[3][3];

/* By primaries; of others by way of BT.709's. */
static const Matrix XYZ_OF[] = {
    [ANYVMAF_PRIMARIES_BT709] = {{0.4124564, 0.3575761, 0.1804375},
                                 {0.2126729, 0.7151522, 0.0721750},
                                 {0.0193339, 0.1191920, 0.9503041}},
    [ANYVMAF_PRIMARIES_BT2020] = {{0.6370, 0.1446, 0.1689}, {0.2627, 0.6780, 0.0593}, {0.0000, 0.0281, 1.0610}},
    [ANYVMAF_PRIMARIES_P3] = {{0.4866, 0.2657, 0.1982}, {0.2290, 0.6917, 0.0793}, {0.0000, 0.0451, 1.0437}},
};
/* Cones, CIE 2006. */
static const Matrix LMS_OF_XYZ = {
    {0.187596268556126, 0.585168649077728, -0.026384263306304},
    {-0.133397430663221, 0.405505777260049, 0.034502127690364},
    {0.000244379021663, -0.000542995890619, 0.019406849066323},
};
/* Opponent colours around D65. */
static const Matrix DKL_OF_LMS = {
    {1, 1, 0},
    {1, -2.311130179947035, 0},
    {-1, -1, 50.977571328718781},
};

static void multiply(const Matrix a, const Matrix b, Matrix product)
{
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 3; j++)
            product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

/* BT.2100's exponent of the OOTF less 1; BBC White Paper 369 has the part of the surroundings. */
static double ootf_of(const AnyvmafCvvdpOptions *options)
{
    if (options->peak <= 1000)
        return 0.2;
    const double ambient = options->ambient > 0 ? 0.07623 * log10(options->ambient / 5) : 0;
    return 0.2 + 0.42 * log10(options->peak / 1000) - ambient;
}

void cvvdp_display(const AnyvmafCvvdpOptions *options, const AnyvmafColour *colour, CvvdpLight *light)
{
    const int pq = colour->transfer == ANYVMAF_PQ, hlg = colour->transfer == ANYVMAF_HLG;
    const double peak = options->peak, black = peak / options->contrast;
    const double dark = black + options->ambient / PI * options->reflectivity;
    /* PQ gives absolute luminances, of which the display shows what it can. */
    const double gain = pq ? 10000 : peak - black;
    light->low = pq ? (float)(0.005 / gain) : 0;
    light->high = pq ? (float)(peak / gain) : 1;
    light->ootf = hlg ? (float)ootf_of(options) : 0;
    Matrix dkl_of_xyz, dkl;
    multiply(DKL_OF_LMS, LMS_OF_XYZ, dkl_of_xyz);
    const uint32_t primaries = (uint32_t)colour->primaries;
    if (primaries <= ANYVMAF_PRIMARIES_P3) {
        multiply(dkl_of_xyz, XYZ_OF[primaries], dkl);
    } else {
        Matrix to_709, dkl_of_709;
        for (uint32_t i = 0; i < 9; i++)
            to_709[i / 3][i % 3] = colour_to_709[primaries][i / 3][i % 3];
        multiply(dkl_of_xyz, XYZ_OF[ANYVMAF_PRIMARIES_BT709], dkl_of_709);
        multiply(dkl_of_709, to_709, dkl);
    }
    for (uint32_t c = 0; c < 3; c++) {
        light->offset[c] = (float)((dkl[c][0] + dkl[c][1] + dkl[c][2]) * dark);
        for (uint32_t p = 0; p < 3; p++)
            light->matrix[c][p] = (float)(dkl[c][p] * gain);
    }
}

/* How much of a frequency in hertz a channel passes. */
static double passes(uint32_t channel, double hertz)
{
    static const double SIGMA[CVVDP_CHANNELS] = {5.79336, 14.1255, 6.63661, 0.12314};
    static const double BETA[CVVDP_CHANNELS] = {1.3314, 1.1196, 0.947901, 0.1898};
    const double w = pow(hertz, BETA[channel]);
    if (channel < 3)
        return exp(-w / SIGMA[channel]);
    /* The transient channel is most sensitive at 5 Hz. */
    const double off = w - pow(5, BETA[channel]);
    return exp(-off * off / SIGMA[channel]);
}

uint32_t cvvdp_temporal(double frame_rate, float weights[CVVDP_MAX_TAPS][CVVDP_CHANNELS])
{
    /* A quarter of a second. The last of `half` frequencies above 0 is that of the frame rate's Nyquist. */
    const uint32_t half = (uint32_t)ceil(0.25 * frame_rate / 2), taps = 2 * half + 1;
    for (uint32_t c = 0; c < CVVDP_CHANNELS; c++)
        for (uint32_t i = 0; i < taps; i++) {
            /* The inverse Fourier transform, with the largest weight in the middle. */
            const double t = (double)i - half;
            double sum = passes(c, 0);
            for (uint32_t k = 1; k <= half; k++)
                sum += 2 * passes(c, frame_rate / 2 * k / half) * cos(2 * PI * k * t / taps);
            weights[i][c] = (float)(sum / taps);
        }
    return taps;
}

/* Cycles per degree of a band but the last. */
static double frequency_of(double pixels_per_degree, uint32_t band)
{
    return (band == 0 ? 1 : 0.3228 * ldexp(1, 1 - (int)band)) * pixels_per_degree / 2;
}

uint32_t cvvdp_bands(double pixels_per_degree, uint32_t side)
{
    uint32_t most = 0;
    while (side >> (most + 2))
        most++;
    uint32_t band = 0;
    while (band < most && frequency_of(pixels_per_degree, band) > 0.2)
        band++;
    return (band < most ? band + 1 : most) + 1;
}

/* log10 of the sensitivity at the luminance of a node, between the nodes of frequency around it and on beyond them. */
static double sensitivity_by(const float row[CSF_NODES], double frequency)
{
    const double place = (log10(frequency) + 1) / (log10(640) / (CSF_NODES - 1));
    const double node = fmin(fmax(ceil(place) - 1, 0), CSF_NODES - 2);
    const float *const at = row + (uint32_t)node;
    return at[0] + ((double)at[1] - at[0]) * (place - node);
}

void cvvdp_sensitivity(double pixels_per_degree, uint32_t band, uint32_t bands, CvvdpSensitivity *sensitivity)
{
    const int base = band == bands - 1;
    const double frequency = base ? 0.1 : frequency_of(pixels_per_degree, band);
    /* The table is corrected by decibels. The pyramid halves contrast in all bands but the first. */
    const double correction = -0.2797423303127289 / 20 + (base || band == 0 ? 0 : log10(2));
    for (uint32_t c = 0; c < CVVDP_CHANNELS; c++) {
        const double gain = correction + (c == 1 && !base ? log10(1.45) : 0);
        double values[CSF_NODES];
        for (uint32_t i = 0; i < CSF_NODES; i++)
            values[i] = (sensitivity_by(cvvdp_csf[c][i], frequency) + gain) * log2(10);
        for (uint32_t i = 0; i < CSF_NODES; i++) {
            sensitivity->node[i][c] = (float)values[i];
            sensitivity->step[i][c] = i + 1 < CSF_NODES ? (float)(values[i + 1] - values[i]) : 0;
        }
    }
    /* Luminances of the nodes: 0.005 to 10,000 cd/m2 in equal steps of their logarithm. */
    const double scale = (CSF_NODES - 1) / log2(10000 / 0.005);
    sensitivity->scale = (float)scale;
    sensitivity->offset = (float)(-log2(0.005) * scale);
}

double cvvdp_sensitivity_at(const CvvdpSensitivity *sensitivity, uint32_t channel, double background)
{
    const double at = log2(background) * sensitivity->scale + sensitivity->offset;
    const double place = fmin(fmax(at, 0), CSF_NODES - 1);
    const uint32_t node = (uint32_t)place;
    return exp2(sensitivity->node[node][channel] + sensitivity->step[node][channel] * (place - node));
}

void cvvdp_blur(int blurred, double factor, CvvdpBlur *blur)
{
    double taps[BLUR_REACH + 1], sum = 0;
    for (int32_t k = 0; k <= BLUR_REACH; k++) {
        taps[k] = k == 0 ? 1 : blurred ? exp(-0.5 * (k / 3.0) * (k / 3.0)) : 0;
        sum += k == 0 ? taps[k] : 2 * taps[k];
    }
    for (int32_t k = 0; k <= BLUR_REACH; k++)
        blur->taps[k] = (float)(taps[k] * factor / sum);
}

double cvvdp_power(double x, double exponent)
{
    const double start = 1e-5;
    return pow(x + start, exponent) - pow(start, exponent);
}

double cvvdp_pooled(const double norms[CVVDP_CHANNELS][CVVDP_MAX_BANDS], uint32_t channels, uint32_t bands)
{
    static const double CHANNEL[CVVDP_CHANNELS] = {1, 1, 1, 0.8081134557723999};
    static const double BASE[CVVDP_CHANNELS] = {0.0036334486212581396, 1.6627724170684814, 4.11874532699585,
                                                25.25969886779785};
    double total = 0;
    for (uint32_t c = 0; c < channels; c++) {
        double sum = 0;
        for (uint32_t b = 0; b < bands; b++)
            sum += cvvdp_power(norms[c][b] * CHANNEL[c] * (b == bands - 1 ? BASE[c] : 1), 4);
        total += cvvdp_power(cvvdp_power(sum, 0.25), 4);
    }
    return cvvdp_power(total, 0.25);
}
