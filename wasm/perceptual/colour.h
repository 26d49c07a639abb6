/* colour.h - from stored pictures to linear RGB in binary32, once for all metrics of a pair. */
#ifndef PERCEPTUAL_COLOUR_H
#define PERCEPTUAL_COLOUR_H

#include "../include/perceptual.h"
#include "../src/memory.h"

/* Floats to allocate for a plane of `samples` samples: vectors may read and write past it, and starts stay aligned. */
static inline size_t float_plane(size_t samples) { return ((samples + 3) & ~(size_t)3) + 16; }
static inline size_t float_plane_bytes(size_t samples) { return float_plane(samples) * sizeof(float); }

/* Linear light: packed planes R, G and B, each float_plane(width * height). White is 1, for PQ 10,000 cd/m2. */
typedef struct LinearPicture {
    uint32_t width, height;
    float *planes[3];
    uint32_t serial; /* of the picture it was made of; 0: of none */
    AnyvmafColour colour;
    CoreBlock block; /* holds the planes */
} LinearPicture;

/* The functions of this stage; see dsp.h of the core for how columns work. */
typedef struct ColourDsp {
    /* Linear light of n values of R'G'B' by AnyvmafTransfer, in place. */
    void (*linearise)(float *values, size_t n, uint32_t transfer);
} ColourDsp;

#define COLOUR_DSP(suffix) {.linearise = linearise_##suffix}

void linearise_c(float *values, size_t n, uint32_t transfer);
void linearise_simd(float *values, size_t n, uint32_t transfer);

/*
 * Both pictures of a pair in linear light; they stay in the context until the next pair. Converts each picture once.
 * 0, or ANYVMAF_EINVAL where a plane is missing or a colour is none, ANYVMAF_ENOMEM if memory is short.
 */
int32_t linear_pair(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafColours *colours,
                    const LinearPicture **reference, const LinearPicture **distorted);

/*
 * One picture in linear light, for metrics that look at earlier ones too; nothing is done if `into` holds it already. Leaves
 * the context's scratch memory alone. Returns as linear_pair().
 */
int32_t linear_of(AnyvmafContext *context, const AnyvmafPicture *picture, const AnyvmafColour *colour,
                  LinearPicture *into);

#endif
