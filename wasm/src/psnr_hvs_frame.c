/* psnr_hvs_frame.c - PSNR-HVS: contrast sensitivities and the mean over a plane. */
#include "psnr_hvs.h"

#include "context.h"

/* Upper triangles of the symmetric tables, row by row. */
static const float triangles[3][36] = {
    {1.6193873005F,   2.2901594831F,   2.08509755623F,  1.48366094411F,  1.00227514334F,  0.678296995242F,
     0.466224900598F, 0.3265091542F,   1.94321815382F,  2.04793073064F,  1.68731108984F,  1.2305666963F,
     0.868920337363F, 0.61280991668F,  0.436405793551F, 1.34329019223F,  1.09205635862F,  0.875748795257F,
     0.670882927016F, 0.501731932449F, 0.372504254596F, 0.772819797575F, 0.605636379554F, 0.48309405692F,
     0.380429446972F, 0.295774038565F, 0.448996256676F, 0.352889268808F, 0.283006984131F, 0.226951348204F,
     0.27032073436F,  0.215017739696F, 0.17408067321F,  0.168869545842F, 0.136153931001F, 0.109083846276F},
    {1.91113096927F,  2.46074210438F,  1.18284184739F,  1.14982565193F,  1.05017074788F,  0.898018824055F,
     0.74725392039F,  0.615105596242F, 1.58529308355F,  1.21363250036F,  1.38190029285F,  1.33100189972F,
     1.17428548929F,  0.996404342439F, 0.830890433625F, 0.978712413627F, 1.02624506078F,  1.03145147362F,
     0.960060382087F, 0.849823426169F, 0.731221236837F, 0.861317501629F, 0.801821139099F, 0.751437590932F,
     0.685398513368F, 0.608694761374F, 0.676555426187F, 0.605503172737F, 0.55002013668F,  0.495804539034F,
     0.514674450957F, 0.454353482512F, 0.407050308965F, 0.389234902883F, 0.342353999733F, 0.295530605237F},
    {2.03871978502F,  2.62502345193F,  1.26180942886F,  1.11019789803F,  1.01397751469F,  0.867069376285F,
     0.721500455585F, 0.593906509971F, 1.69112867013F,  1.17180569821F,  1.3342742857F,   1.28513006198F,
     1.13381474809F,  0.962064122248F, 0.802254508198F, 0.944981930573F, 0.990876405848F, 0.995903384143F,
     0.926972725286F, 0.820534991409F, 0.706020324706F, 0.831632933426F, 0.77418706195F,  0.725539939514F,
     0.661776842059F, 0.587716619023F, 0.653238524286F, 0.584635025748F, 0.531064164893F, 0.478717061273F,
     0.496936637883F, 0.438694579826F, 0.393021669543F, 0.375820256136F, 0.330555063063F, 0.285345396658F},
};

void hvs_build_tables(uint32_t plane, HvsTables *tables)
{
    const float *next = triangles[plane];
    for (uint32_t i = 0; i < HVS_SIDE; i++)
        for (uint32_t j = i; j < HVS_SIDE; j++) {
            float csf = *next++;
            double weighted = (double)csf * 0.3885746225901003;
            tables->csf[i * HVS_SIDE + j] = tables->csf[j * HVS_SIDE + i] = csf;
            tables->mask[i * HVS_SIDE + j] = tables->mask[j * HVS_SIDE + i] = (float)(weighted * weighted);
        }
}

int32_t anyvmaf_psnr_hvs(AnyvmafContext *context, const AnyvmafFrames *frames, const void *options, double *out)
{
    (void)options;
    if (context->bit_depth > 12)
        return ANYVMAF_EINVAL;
    for (uint32_t p = 0; p < 3; p++) {
        const AnyvmafPlane *reference = &frames->reference.planes[p], *distorted = &frames->distorted.planes[p];
        const uint32_t w = reference->width, h = reference->height;
        if (!reference->samples || !distorted->samples || w < HVS_SIDE || h < HVS_SIDE)
            return ANYVMAF_EINVAL;
        HvsTables tables;
        hvs_build_tables(p, &tables);
        const float peak = (float)((1U << context->bit_depth) - 1);
        const float sum =
            context->dsp->hvs_sum(reference->samples, distorted->samples, w, h, context->bit_depth, &tables);
        out[p] = sum / (float)(hvs_blocks(w) * hvs_blocks(h) * HVS_SIDE * HVS_SIDE) / (peak * peak);
    }
    return 0;
}
