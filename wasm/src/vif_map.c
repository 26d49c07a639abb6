/* vif_map.c - VIF of a pair of pictures by cells: where its sums come from (spec 3.5). */
#include "context.h"
#include "filters.h"
#include "vif.h"

/* Writes the sums of one scale by cells as integers. Returns the start of the next scale's; NULL if memory is short. */
static int64_t *map_scale(const AnyvmafContext *context, const VifInput *level, double gain_limit, uint32_t block,
                          int64_t *cells)
{
    const uint32_t side = block >> level->scale ? block >> level->scale : 1;
    const uint32_t cell_bits = bits32(side) - 1;
    const size_t columns = ((level->width - 1) >> cell_bits) + 1, rows = ((level->height - 1) >> cell_bits) + 1;
    VifSums *sums = core_alloc(columns * rows * sizeof *sums);
    if (!sums)
        return NULL;
    vif_cells(level, context->vif_tables, &gain_limit, 1, context->vif_scratch, cell_bits, sums);
    for (size_t k = 0; k < columns * rows; k++) {
        *cells++ = sums[k].num_log[0];
        *cells++ = sums[k].den_log;
        *cells++ = sums[k].num_non_log;
        *cells++ = sums[k].den_non_log;
    }
    core_free(sums);
    return cells;
}

int32_t anyvmaf_vif_map(AnyvmafContext *context, const void *reference, const void *distorted, double gain_limit,
                        uint32_t block, int64_t *cells)
{
    if (!cells || block < 1 || block > ANYVMAF_MAX_BLOCK || block & (block - 1))
        return ANYVMAF_EINVAL;
    /* Measuring the frame allocates the memory for the map too, and fills the tables. */
    double scores[8];
    const int32_t status = anyvmaf_vif(context, reference, distorted, &gain_limit, 1, 0, scores);
    if (status)
        return status;
    VifInput level = {reference, distorted, context->width, context->height, context->bit_depth, 0};
    void *planes = NULL;
    for (uint32_t scale = 0; scale < 4 && cells; scale++) {
        if (scale) {
            const uint32_t w = level.width / 2, h = level.height / 2;
            const size_t bytes = anyvmaf_plane_bytes(w, h, 16);
            uint8_t *next = core_alloc(2 * area_bytes(bytes)), *start = next;
            uint16_t *ref = NULL, *dis = NULL;
            if (start) {
                ref = core_cut(&next, bytes);
                dis = core_cut(&next, bytes);
                context->dsp->vif_decimate(level.reference, level.width, level.height, level.bit_depth, scale,
                                           context->vif_scratch, ref);
                context->dsp->vif_decimate(level.distorted, level.width, level.height, level.bit_depth, scale,
                                           context->vif_scratch, dis);
            }
            core_free(planes);
            planes = start;
            if (!start)
                return ANYVMAF_ENOMEM;
            level = (VifInput){ref, dis, w, h, context->bit_depth, scale};
        }
        cells = map_scale(context, &level, gain_limit, block, cells);
    }
    core_free(planes);
    return cells ? 0 : ANYVMAF_ENOMEM;
}
