/* context.c - opens and closes contexts; memory; metrics without a driver of their own. */
#include "context.h"

#include "adm.h"
#include "cambi.h"
#include "ciede.h"
#include "float_adm.h"
#include "float_filter.h"
#include "float_vif.h"
#include "motion.h"
#include "psnr_hvs.h"
#include "speed.h"
#include "sse.h"
#include "ssim.h"
#include "vif.h"
#include "xpsnr.h"

#define DSP_COLUMN(suffix)                                                                                             \
    {                                                                                                                  \
        .vif_statistics = vif_statistics_##suffix, .vif_decimate = vif_decimate_##suffix,                              \
        .adm_wavelet_s0 = adm_wavelet_s0_##suffix, .adm_wavelet_s1 = adm_wavelet_s1_##suffix,                          \
        .adm_wavelet_s23 = adm_wavelet_s23_##suffix, .adm_decouple_s0 = adm_decouple_s0_##suffix,                      \
        .adm_decouple_s123 = adm_decouple_s123_##suffix, .adm_mask_s0 = adm_mask_s0_##suffix,                          \
        .adm_mask_s123 = adm_mask_s123_##suffix, .adm_contrast_s0 = adm_contrast_s0_##suffix,                          \
        .adm_contrast_s123 = adm_contrast_s123_##suffix, .adm_cubes_s0 = adm_cubes_s0_##suffix,                        \
        .adm_cubes_s123 = adm_cubes_s123_##suffix, .motion_sad = motion_sad_##suffix,                                  \
        .motion_sad_legacy = motion_sad_legacy_##suffix, .sse = sse_##suffix,                                          \
        .float_columns = float_columns_##suffix, .float_row = float_row_##suffix,                                      \
        .float_vif_columns = float_vif_columns_##suffix, .float_vif_terms = float_vif_terms_##suffix,                  \
        .float_adm_wavelet = float_adm_wavelet_##suffix, .float_adm_decouple = float_adm_decouple_##suffix,            \
        .float_adm_mask = float_adm_mask_##suffix, .float_adm_contrast = float_adm_contrast_##suffix,                  \
        .float_adm_powers = float_adm_powers_##suffix, .ssim_rows = ssim_rows_##suffix,                                \
        .ssim_terms = ssim_terms_##suffix, .ssim_halve = ssim_halve_##suffix,                                          \
        .hvs_sum = hvs_sum_##suffix, .cambi_load = cambi_load_##suffix,                                                \
        .cambi_blur = cambi_blur_##suffix, .cambi_mask = cambi_mask_##suffix,                                          \
        .cambi_mode = cambi_mode_##suffix, .cambi_contrast = cambi_contrast_##suffix,                                  \
        .ciede_row = ciede_row_##suffix, .speed_products = speed_products_##suffix,                                    \
        .xpsnr_sse = xpsnr_sse_##suffix, .xpsnr_spatial = xpsnr_spatial_##suffix,                                      \
        .xpsnr_spatial_big = xpsnr_spatial_big_##suffix, .xpsnr_temporal = xpsnr_temporal_##suffix,                    \
        .xpsnr_temporal_big = xpsnr_temporal_big_##suffix,                                                             \
    }

static const AnyvmafDsp dsp_table[] = {
    [ANYVMAF_PORTABLE] = DSP_COLUMN(c),
    [ANYVMAF_SIMD128] = DSP_COLUMN(simd),
};

const AnyvmafDsp *anyvmaf_dsp(uint32_t implementation)
{
    return implementation <= ANYVMAF_SIMD128 ? &dsp_table[implementation] : NULL;
}

uint32_t anyvmaf_abi_version(void) { return ANYVMAF_ABI_VERSION; }

void *anyvmaf_alloc(size_t bytes) { return core_alloc(bytes); }
void anyvmaf_free(void *memory) { core_free(memory); }

size_t anyvmaf_plane_bytes(uint32_t width, uint32_t height, uint32_t bit_depth)
{
    return (size_t)width * height * (bit_depth > 8 ? 2 : 1) + ANYVMAF_PLANE_SLACK;
}

AnyvmafContext *anyvmaf_open(uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t implementation)
{
    const AnyvmafDsp *dsp = anyvmaf_dsp(implementation);
    if (!dsp || width < ANYVMAF_MIN_SIDE || height < ANYVMAF_MIN_SIDE || width > ANYVMAF_MAX_SIDE ||
        height > ANYVMAF_MAX_SIDE || bit_depth < 8 || bit_depth > 16)
        return NULL;
    AnyvmafContext *context = core_alloc(sizeof *context);
    if (!context)
        return NULL;
    *context = (AnyvmafContext){.width = width, .height = height, .bit_depth = bit_depth, .dsp = dsp};
    return context;
}

void anyvmaf_close(AnyvmafContext *context)
{
    if (!context)
        return;
    core_free(context->vif_tables);
    core_free(context->vif_scratch);
    core_free(context->vif_planes);
    adm_close(context->adm);
    core_free(context->motion_scratch);
    core_free(context->scratch.memory);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        core_free(context->slots[slot].memory);
    core_free(context);
}

void *core_scratch(AnyvmafContext *context, size_t bytes) { return block_reserve(&context->scratch, bytes); }

void *core_slot(AnyvmafContext *context, CoreSlot slot, size_t bytes)
{
    return block_keep(&context->slots[slot], bytes);
}

static int32_t motion(AnyvmafContext *context, const void *earlier, const void *current, double *out, int legacy)
{
    if (!context || !earlier || !current || !out)
        return ANYVMAF_EINVAL;
    if (!context->motion_scratch)
        context->motion_scratch = core_alloc(motion_scratch_bytes(context->width, context->height));
    if (!context->motion_scratch)
        return ANYVMAF_ENOMEM;
    uint64_t (*sad)(const void *, const void *, uint32_t, uint32_t, uint32_t, void *) =
        legacy ? context->dsp->motion_sad_legacy : context->dsp->motion_sad;
    *out = (double)sad(earlier, current, context->width, context->height, context->bit_depth, context->motion_scratch);
    return 0;
}

int32_t anyvmaf_motion(AnyvmafContext *context, const void *earlier, const void *current, double *out)
{
    return motion(context, earlier, current, out, 0);
}

int32_t anyvmaf_motion_legacy(AnyvmafContext *context, const void *earlier, const void *current, double *out)
{
    return motion(context, earlier, current, out, 1);
}

int32_t anyvmaf_sse(AnyvmafContext *context, const void *a, const void *b, uint32_t samples, double *out)
{
    if (!context || !a || !b || !out)
        return ANYVMAF_EINVAL;
    uint64_t sum = context->dsp->sse(a, b, samples, context->bit_depth);
    out[0] = (double)(uint32_t)(sum >> 32);
    out[1] = (double)(uint32_t)sum;
    return 0;
}
