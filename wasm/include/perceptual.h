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
    ANYVMAF_SMPTE240M = 4,
    ANYVMAF_FCC = 5,
    ANYVMAF_YCGCO = 6,     /* Cb is Cg, Cr is Co */
    ANYVMAF_BT2020_CL = 7, /* constant luminance: of BT.2020's camera curve, so neither PQ nor HLG */
    ANYVMAF_ICTCP = 8,     /* BT.2100, of PQ or HLG: Cb is Ct, Cr is Cp; its primaries are BT.2020's */
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

/* Which colours R, G and B are; white is D65 where nothing else is said, and becomes it by Bradford's adaptation. */
enum AnyvmafPrimaries {
    ANYVMAF_PRIMARIES_BT709 = 0,
    ANYVMAF_PRIMARIES_BT2020 = 1,
    ANYVMAF_PRIMARIES_P3 = 2,        /* Display P3 */
    ANYVMAF_PRIMARIES_DCI_P3 = 3,    /* SMPTE RP 431-2, the white of a projector */
    ANYVMAF_PRIMARIES_BT470M = 4,    /* NTSC of 1953, white C */
    ANYVMAF_PRIMARIES_BT470BG = 5,   /* PAL and SECAM */
    ANYVMAF_PRIMARIES_SMPTE170M = 6, /* SMPTE C: NTSC, SMPTE 240M */
};

/* The colour of a picture. Doubles only, as all options. */
typedef struct AnyvmafColour {
    double matrix;     /* AnyvmafMatrix */
    double full_range; /* non-zero: 0 is black and the largest value white */
    double transfer;   /* AnyvmafTransfer */
    double siting;     /* AnyvmafSiting */
    double upsampling; /* AnyvmafUpsampling */
    double primaries;  /* AnyvmafPrimaries */
} AnyvmafColour;

/* What the options of every metric begin with. */
typedef struct AnyvmafColours {
    AnyvmafColour reference, distorted;
} AnyvmafColours;

typedef struct AnyvmafLinearOptions {
    AnyvmafColours colours;
    double shown; /* non-zero: by the primaries of BT.709, HLG on a display of 1,000 cd/m2; else by the pair's own */
} AnyvmafLinearOptions;

/*
 * Linear light of the pair, for tests. out: six planes of width x height binary32 values, R, G and B of the reference and of
 * the distorted picture.
 */
int32_t anyvmaf_linear(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafLinearOptions *options,
                       float *out);

typedef struct AnyvmafSsimulacra2Options {
    AnyvmafColours colours;
    double exact; /* non-zero: the order of operations of the reference, on a processor without fused multiply-add */
    double opaque_reference; /* non-zero: the reference picture has no alpha, whatever its plane holds */
} AnyvmafSsimulacra2Options;

/*
 * SSIMULACRA 2.1. out: 1: the score, 100 for equal pictures, below 0 for very different ones. Without `exact` the blur
 * is a plain filter, which is faster and closer to infinite precision than the reference. Pictures whose shorter side is
 * below 8, which the reference refuses, are measured at one scale. Pictures with alpha are blended on the greys 0.1 and 0.9
 * of R'G'B', and the lower score counts; if only the distorted one has alpha, on 0.5 alone.
 */
int32_t anyvmaf_ssimulacra2(AnyvmafContext *context, const AnyvmafFrames *frames,
                            const AnyvmafSsimulacra2Options *options, double *out);

/* Pictures of the pair to measure and of those before it, newest first. */
typedef struct AnyvmafHistory {
    uint32_t count; /* from 1 */
    const AnyvmafPicture *reference, *distorted;
} AnyvmafHistory;

/* Shortest side of a picture for anyvmaf_cvvdp(). */
#define ANYVMAF_CVVDP_MIN_SIDE 2

typedef struct AnyvmafCvvdpOptions {
    AnyvmafColours colours;
    double frame_rate;        /* up to 240; 0: stills */
    double peak;              /* luminance of the display's white, cd/m2, up to 10,000 */
    double contrast;          /* of its white to its black, above 1 */
    double ambient;           /* light of the room, lux */
    double reflectivity;      /* of the screen, 0..1 */
    double pixels_per_degree; /* of the visual field, where it is looked at */
} AnyvmafCvvdpOptions;

/*
 * ColorVideoVDP 0.5.6. out: 1: Q, the difference that is seen, from 0. A clip's Q is the norm of its frames', and
 * JOD = 10 - 0.0439569391310215 Q^0.9302042722702026, linear below 0.1.
 *
 * A frame is seen with those of the last quarter of a second, 2 ceil(frame_rate / 8) + 1 with itself. If the history has
 * fewer, its oldest must be the clip's first, which is repeated; if it has more, the others are ignored. A still needs no
 * history. Alpha is not read. EINVAL for sides below 2.
 */
int32_t anyvmaf_cvvdp(AnyvmafContext *context, const AnyvmafFrames *frames, const AnyvmafHistory *history,
                      const AnyvmafCvvdpOptions *options, double *out);

/*
 * Butteraugli of libjxl since 0.8: how visible differences are, 0 for none. out: the maximum over all pixels, and the
 * "3-norm", the mean of the norms with the exponents 3, 6 and 12. Not symmetric: the reference masks differences.
 * HLG is what a display of 1,000 cd/m2 shows. Pictures with a side below 8 are extended to it. Of pictures with alpha, each
 * pixel's difference is the larger one on black and on white. Takes 70 MB for 1920x1080 besides the planes of linear light.
 */
typedef struct AnyvmafButteraugliOptions {
    AnyvmafColours colours;
    double intensity_target; /* cd/m2 of linear light 1; not read for PQ and HLG, which have their own */
} AnyvmafButteraugliOptions;

int32_t anyvmaf_butteraugli(AnyvmafContext *context, const AnyvmafFrames *frames,
                            const AnyvmafButteraugliOptions *options, double *out);
/* The same; map, unless NULL, receives the difference of each pixel, width x height. */
int32_t anyvmaf_butteraugli_map(AnyvmafContext *context, const AnyvmafFrames *frames,
                                const AnyvmafButteraugliOptions *options, float *map, double *out);

#endif
