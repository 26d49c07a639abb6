/* vif_frame.c - VIF of a pair of pictures: the pyramid, and scores from the sums of each scale (spec 3.2, 3.6). */
#include "context.h"
#include "vif.h"

static int vif_prepare(AnyvmafContext *context)
{
    if (!context->vif_planes) {
        size_t bytes = 0;
        for (uint32_t scale = 1; scale < 4; scale++)
            bytes += 2 * area_bytes(anyvmaf_plane_bytes(context->width >> scale, context->height >> scale, 16));
        context->vif_planes = core_alloc(bytes);
    }
    if (!context->vif_scratch)
        context->vif_scratch = core_alloc(vif_scratch_bytes(context->width, context->height));
    if (!context->vif_tables) {
        context->vif_tables = core_alloc(sizeof *context->vif_tables);
        if (context->vif_tables)
            vif_build_tables(context->vif_tables);
    }
    return context->vif_planes && context->vif_scratch && context->vif_tables;
}

int32_t anyvmaf_vif(AnyvmafContext *context, const void *reference, const void *distorted, const double *gain_limits,
                    uint32_t count, uint32_t first_scale, double *out)
{
    if (!context || !reference || !distorted || !gain_limits || !out || count < 1 || count > VIF_MAX_GAINS ||
        first_scale > 1)
        return ANYVMAF_EINVAL;
    if (!vif_prepare(context))
        return ANYVMAF_ENOMEM;

    VifInput level = {reference, distorted, context->width, context->height, context->bit_depth, 0};
    uint8_t *next = context->vif_planes;
    for (uint32_t scale = 0; scale < 4; scale++) {
        if (scale) {
            uint32_t w = level.width / 2, h = level.height / 2;
            const size_t bytes = anyvmaf_plane_bytes(w, h, 16);
            uint16_t *ref = core_cut(&next, bytes), *dis = core_cut(&next, bytes);
            context->dsp->vif_decimate(level.reference, level.width, level.height, level.bit_depth, scale,
                                       context->vif_scratch, ref);
            context->dsp->vif_decimate(level.distorted, level.width, level.height, level.bit_depth, scale,
                                       context->vif_scratch, dis);
            level = (VifInput){ref, dis, w, h, context->bit_depth, scale};
        }
        if (scale < first_scale) {
            for (uint32_t k = 0; k < count; k++) {
                out[8 * k] = 0;
                out[8 * k + 4] = -1;
            }
            continue;
        }
        VifSums sums;
        context->dsp->vif_statistics(&level, context->vif_tables, gain_limits, count, context->vif_scratch, &sums);
        double non_log = (double)sums.den_non_log - ((double)sums.num_non_log / 16384.0) / 65025.0;
        for (uint32_t k = 0; k < count; k++) {
            out[8 * k + scale] = (float)((double)sums.num_log[k] / 2048.0 + non_log);
            out[8 * k + 4 + scale] = (float)((double)sums.den_log / 2048.0 + (double)sums.den_non_log);
        }
    }
    return 0;
}
