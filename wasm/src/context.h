/* context.h - the state of a context. Scratch memory belongs to the metric that first needs it. */
#ifndef ANYVMAF_CONTEXT_H
#define ANYVMAF_CONTEXT_H

#include "../include/anyvmaf.h"
#include "dsp.h"
#include "memory.h"

typedef struct AdmState AdmState;

/* State of metrics between frames, one slot each. */
typedef enum CoreSlot {
    SLOT_FLOAT_MOTION,
    SLOT_CAMBI,
    SLOT_CIEDE,
    SLOTS,
} CoreSlot;

struct AnyvmafContext {
    uint32_t width, height, bit_depth;
    const AnyvmafDsp *dsp;

    VifTables *vif_tables;
    void *vif_scratch;
    void *vif_planes; /* reference and distorted of scales 1..3 */

    AdmState *adm;
    void *motion_scratch;

    /* For the other metrics: one shared scratch memory, since one runs at a time, and a slot each. */
    CoreBlock scratch;
    CoreBlock slots[SLOTS];
};

/*
 * At least `bytes` of memory for one call, contents undefined; NULL if memory is short. A metric divides it with core_cut().
 */
void *core_scratch(AnyvmafContext *context, size_t bytes);

/*
 * Memory of a metric that stays until the context is closed; zeroed on first use and whenever its size changes. NULL if
 * memory is short.
 */
void *core_slot(AnyvmafContext *context, CoreSlot slot, size_t bytes);

void adm_close(AdmState *state);

#endif
