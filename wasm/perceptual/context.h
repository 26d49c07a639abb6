/* context.h - the state of a context of perceptual.wasm. */
#ifndef PERCEPTUAL_CONTEXT_H
#define PERCEPTUAL_CONTEXT_H

#include "../include/perceptual.h"
#include "../src/memory.h"
#include "butteraugli.h"
#include "colour.h"
#include "ssimulacra2.h"
#include "cvvdp.h"

/* One column of the functions that metrics are made of; a metric's own table stands in its header. */
typedef struct PerceptualDsp {
    ColourDsp colour;
    Ssim2Dsp ssimulacra2;
    CvvdpDsp cvvdp;
    ButteraugliDsp butteraugli;
} PerceptualDsp;

/* State of metrics between pairs, one slot each. */
typedef enum PerceptualSlot {
    SLOT_COLOUR,
    SLOT_BUTTERAUGLI, /* the differences on one background of pictures with alpha */
    SLOTS,
} PerceptualSlot;

struct AnyvmafContext {
    uint32_t width, height, bit_depth;
    const PerceptualDsp *dsp;
    LinearPicture linear[2]; /* of the reference and of the distorted picture last measured */
    CoreBlock scratch;
    CoreBlock slots[SLOTS];
};

/* At least `bytes` of memory for one call, contents undefined; NULL if memory is short. Divide it with core_cut(). */
static inline void *context_scratch(AnyvmafContext *context, size_t bytes)
{
    return block_reserve(&context->scratch, bytes);
}

/* `bytes` of memory that stay between calls, zeroed at first; NULL if memory is short. */
static inline void *context_slot(AnyvmafContext *context, PerceptualSlot slot, size_t bytes)
{
    return block_keep(&context->slots[slot], bytes);
}

#endif
