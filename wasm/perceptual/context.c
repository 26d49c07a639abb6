/* context.c - opens and closes contexts of perceptual.wasm. */
#include "context.h"

#define DSP_COLUMN(suffix)                                                                                             \
    {                                                                                                                  \
        .colour = COLOUR_DSP(suffix),                                                                                  \
        .ssimulacra2 = SSIMULACRA2_DSP(suffix),                                                                        \
        .cvvdp = CVVDP_DSP(suffix),                                                                                    \
        .butteraugli = BUTTERAUGLI_DSP(suffix),                                                                        \
    }

static const PerceptualDsp dsp_table[] = {
    [ANYVMAF_PORTABLE] = DSP_COLUMN(c),
    [ANYVMAF_SIMD128] = DSP_COLUMN(simd),
};

uint32_t anyvmaf_abi_version(void) { return ANYVMAF_ABI_VERSION; }

void *anyvmaf_alloc(size_t bytes) { return core_alloc(bytes); }
void anyvmaf_free(void *memory) { core_free(memory); }

size_t anyvmaf_plane_bytes(uint32_t width, uint32_t height, uint32_t bit_depth)
{
    return (size_t)width * height * (bit_depth > 8 ? 2 : 1) + ANYVMAF_PLANE_SLACK;
}

AnyvmafContext *anyvmaf_open(uint32_t width, uint32_t height, uint32_t bit_depth, uint32_t implementation)
{
    if (implementation > ANYVMAF_SIMD128 || width < PERCEPTUAL_MIN_SIDE || height < PERCEPTUAL_MIN_SIDE ||
        width > ANYVMAF_MAX_SIDE || height > ANYVMAF_MAX_SIDE || bit_depth < 8 || bit_depth > 16)
        return NULL;
    AnyvmafContext *context = core_alloc(sizeof *context);
    if (!context)
        return NULL;
    *context = (AnyvmafContext){
        .width = width, .height = height, .bit_depth = bit_depth, .dsp = &dsp_table[implementation]};
    return context;
}

void anyvmaf_close(AnyvmafContext *context)
{
    if (!context)
        return;
    for (uint32_t side = 0; side < 2; side++)
        core_free(context->linear[side].block.memory);
    core_free(context->scratch.memory);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        core_free(context->slots[slot].memory);
    core_free(context);
}
