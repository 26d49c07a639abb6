/* context.h - what a context remembers. Scratch memory belongs to the metric that first needs it. */
#ifndef ANYVMAF_CONTEXT_H
#define ANYVMAF_CONTEXT_H

#include "../include/anyvmaf.h"
#include "dsp.h"

typedef struct AdmState AdmState;

struct AnyvmafContext {
    uint32_t width, height, bit_depth;
    const AnyvmafDsp *dsp;

    VifTables *vif_tables;
    void *vif_scratch;
    uint16_t *vif_planes; /* reference and distorted of scales 1..3 */

    AdmState *adm;
    void *motion_scratch;
};

/* 16-byte aligned, NULL when there is none. */
void *core_alloc(size_t bytes);
void core_free(void *memory);

void adm_close(AdmState *state);

#endif
