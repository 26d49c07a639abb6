/* ciede_frame.c - CIEDE2000 of a picture: the mean of its pixels' colour differences. */
#include <math.h>

#include "ciede.h"
#include "context.h"

static void build_powers(int first, uint32_t n, double exponent, CiedePower *powers)
{
    for (uint32_t i = 0; i < n; i++) {
        const double mantissa = 1 + (i % CIEDE_INTERVALS + 0.5) / CIEDE_INTERVALS;
        const double middle = ldexp(mantissa, first + (int)(i / CIEDE_INTERVALS));
        powers[i] = (CiedePower){1 / middle, pow(middle, exponent)};
    }
}

/* (1 + r)^p - 1 over r. */
static void build_binomial(double exponent, double series[6])
{
    double coefficient = 1;
    for (int k = 1; k <= 6; k++) {
        coefficient *= (exponent - k + 1) / k;
        series[6 - k] = coefficient;
    }
}

/* sign^k / (first + step * k)! for k < n. */
static void build_factorials(uint32_t n, double sign, uint32_t first, uint32_t step, double *series)
{
    for (uint32_t k = 0; k < n; k++) {
        double factorial = 1;
        for (uint32_t i = 2; i <= first + step * k; i++)
            factorial *= i;
        series[n - 1 - k] = (k & 1 ? sign : 1) / factorial;
    }
}

void ciede_build_tables(CiedeTables *tables)
{
    build_powers(CIEDE_LINEAR_FIRST, CIEDE_LINEAR_OCTAVES * CIEDE_INTERVALS, 2.4, tables->linear);
    build_powers(CIEDE_LIGHT_FIRST, CIEDE_LIGHT_OCTAVES * CIEDE_INTERVALS, 1.0 / 3, tables->light);
    for (uint32_t i = 0; i <= 32; i++)
        tables->arcs[i] = atan(i / 32.0);
    build_binomial(2.4, tables->linear_series);
    build_binomial(1.0 / 3, tables->light_series);
    for (int k = 1; k <= 4; k++)
        tables->arc_series[4 - k] = (k & 1 ? -1.0 : 1.0) / (2 * k + 1);
    /* What follows x and 1. */
    build_factorials(9, -1, 3, 2, tables->sine_series);
    build_factorials(8, -1, 2, 2, tables->cosine_series);
    for (uint32_t k = 0; k < 9; k++)
        tables->sine_series[k] = -tables->sine_series[k];
    for (uint32_t k = 0; k < 8; k++)
        tables->cosine_series[k] = -tables->cosine_series[k];
    build_factorials(13, 1, 0, 1, tables->decay_series);
}

/* Row y of a picture, chroma repeated to the size of luma. */
static CiedeRow row_of(const AnyvmafPlane planes[3], uint32_t y, size_t bytes)
{
    const uint32_t width = planes[1].width;
    uint32_t chroma = planes[1].height < planes[0].height ? y / 2 : y;
    chroma = chroma < planes[1].height ? chroma : planes[1].height - 1;
    return (CiedeRow){
        .y = (const char *)planes[0].samples + (size_t)y * planes[0].width * bytes,
        .u = (const char *)planes[1].samples + (size_t)chroma * width * bytes,
        .v = (const char *)planes[2].samples + (size_t)chroma * width * bytes,
    };
}

int32_t anyvmaf_ciede(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out)
{
    (void)options;
    const AnyvmafPlane *reference = frames->reference.planes, *distorted = frames->distorted.planes;
    for (uint32_t p = 0; p < 3; p++)
        if (!reference[p].samples || !distorted[p].samples)
            return ANYVMAF_EINVAL;
    const uint32_t w = reference[0].width, h = reference[0].height;
    const CiedeFormat format = {.width = w, .chroma_width = reference[1].width, .bit_depth = context->bit_depth,
                                .halved = reference[1].width < w};
    float *differences = core_scratch(context, ciede_scratch_bytes(w));
    CiedeTables *tables = core_slot(context, SLOT_CIEDE, sizeof *tables);
    if (!differences || !tables)
        return ANYVMAF_ENOMEM;
    if (tables->arcs[32] == 0)
        ciede_build_tables(tables);
    const size_t bytes = context->bit_depth > 8 ? 2 : 1;
    double sum = 0;
    for (uint32_t y = 0; y < h; y++) {
        const CiedeRow r = row_of(reference, y, bytes), d = row_of(distorted, y, bytes);
        context->dsp->ciede_row(&r, &d, &format, tables, differences);
        for (uint32_t x = 0; x < w; x++)
            sum += differences[x];
    }
    *out = sum / ((double)w * h);
    return 0;
}
