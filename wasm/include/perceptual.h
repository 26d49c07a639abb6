/*
 * perceptual.h - the interface of perceptual.wasm, the colour metrics in floating point.
 *
 * A module of its own, loaded when one of its metrics is asked for. It has the functions of anyvmaf.h that open a
 * context, with the same conventions, and the metrics below. Pictures are taken as they are stored, in Y'CbCr or RGB,
 * and become linear light once for all metrics (perceptual/colour.h).
 *
 * Metrics measure a pair in one order of operations whatever the number of workers, so that a chunked run equals a
 * whole one to the last bit. Both columns of functions, portable C and SIMD128, give the same bits.
 */
#ifndef ANYVMAF_PERCEPTUAL_H
#define ANYVMAF_PERCEPTUAL_H

#include "anyvmaf.h"

/* Shortest side of a picture. */
#define PERCEPTUAL_MIN_SIDE 1

/* How the three planes of a picture become R'G'B'. */
enum AnyvmafMatrix {
    ANYVMAF_GBR = 0, /* they are G, B and R: the identity of H.273 */
    ANYVMAF_BT709 = 1,
    ANYVMAF_BT601 = 2,
    ANYVMAF_BT2020 = 3, /* non-constant luminance */
};

/*
 * How R'G'B' becomes linear light. Values below 0, which Y'CbCr can give, are no light, but by ANYVMAF_LINEAR they
 * stay. Above 1 the curves continue; PQ is limited to 1.
 */
enum AnyvmafTransfer {
    ANYVMAF_SRGB = 0,   /* IEC 61966-2-1, as libjxl computes it: a rational polynomial, here up to 1.1 */
    ANYVMAF_BT1886 = 1, /* gamma 2.4 */
    ANYVMAF_GAMMA22 = 2,
    ANYVMAF_GAMMA28 = 3,
    ANYVMAF_LINEAR = 4,
    ANYVMAF_BT709_OETF = 5, /* the inverse of BT.709's camera curve */
    ANYVMAF_PQ = 6,         /* 1 is 10,000 cd/m2 */
    ANYVMAF_HLG = 7,        /* light of the scene: no OOTF */
};

/* Where a chroma sample lies among the luma samples that it covers. */
enum AnyvmafSiting {
    ANYVMAF_LEFT = 0,     /* on the left column, between the rows: MPEG-2 and later */
    ANYVMAF_CENTRE = 1,   /* between columns and rows: MPEG-1, JPEG */
    ANYVMAF_TOP_LEFT = 2, /* on the first of the luma samples: BT.2020 */
};

/* How chroma is brought to the size of luma. */
enum AnyvmafUpsampling {
    ANYVMAF_CHROMA_BICUBIC = 0, /* Mitchell-Netravali with b = 0, c = 0.5 */
    ANYVMAF_CHROMA_BILINEAR = 1,
    ANYVMAF_CHROMA_NEAREST = 2, /* the sample that covers the pixel, whatever the siting */
};

/* The colour of a picture. Doubles only, as all options. */
typedef struct AnyvmafColour {
    double matrix;     /* AnyvmafMatrix */
    double full_range; /* non-zero: 0 is black and the largest value white */
    double transfer;   /* AnyvmafTransfer */
    double siting;     /* AnyvmafSiting */
    double upsampling; /* AnyvmafUpsampling */
} AnyvmafColour;

/* What the options of every metric begin with. */
typedef struct AnyvmafColours {
    AnyvmafColour reference, distorted;
} AnyvmafColours;

/*
 * Linear light of the pair, for tests and for pictures that a person looks at. out: six planes of width x height
 * binary32 values, R, G and B of the reference and of the distorted picture.
 */
int32_t anyvmaf_linear(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafColours *options, float *out);

#endif
