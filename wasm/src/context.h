/* context.h - what a context remembers. Scratch memory belongs to the metric that first needs it. */
#ifndef ANYVMAF_CONTEXT_H
#define ANYVMAF_CONTEXT_H

#include "../include/anyvmaf.h"
#include "dsp.h"
#include "memory.h"

typedef struct AdmState AdmState;

/* What a metric keeps from frame to frame, one slot each. */
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

    /* Of the further metrics: one scratch memory for all, since one runs at a time, and a slot each. */
    void *scratch;
    size_t scratch_bytes;
    void *slots[SLOTS];
    size_t slot_bytes[SLOTS];
};

/*
 * At least `bytes` of memory for the time of one call, contents undefined; NULL when there is none. A metric cuts its areas
 * from it with core_cut().
 */
void *core_scratch(AnyvmafContext *context, size_t bytes);

/*
 * Memory of a metric that stays until the context is closed; zeroed when it is first taken and when another number of
 * bytes is asked for. NULL when there is none.
 */
void *core_slot(AnyvmafContext *context, CoreSlot slot, size_t bytes);

void adm_close(AdmState *state);

#endif
