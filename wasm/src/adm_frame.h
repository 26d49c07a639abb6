/* adm_frame.h - the state of ADM for one frame, scale by scale; shared by its driver and its map. */
#ifndef ANYVMAF_ADM_FRAME_H
#define ANYVMAF_ADM_FRAME_H

#include "adm.h"
#include "context.h"

/* Coefficients of one row: int16_t at scale 0, int32_t above. */
typedef union Row {
    int16_t *s0;
    int32_t *s123;
} Row;

/* Rows of one parameter set in a scale. Rows of the masking signals are kept in rings of three. */
typedef struct AdmLane {
    Row restored[2][3], additive[2][3];
    int32_t *sizes[2][2][3];  /* of scales 1..3: |C| of the restored and the additive part */
    int32_t *neighbour[2][3]; /* of the additive part (masks the restored one), of the restored part */
    int32_t *centre[2][2];
    int64_t sums[2][3]; /* numerator and AIM accumulators of bands h, v, d */
} AdmLane;

/* Rows of band a that the next level needs at the same time. */
#define ADM_LOW_ROWS 4

struct AdmState {
    uint32_t lane_count;
    AdmLane *lanes; /* lane_count for each scale */
    void *lane_memory;
    void *row_memory;
    int32_t *scratch;
    Row bands[2][4];                /* reference, distorted: a (level 3 only), h, v, d of the current row */
    void *low[2][3][ADM_LOW_ROWS];  /* the last rows of band a of levels 0..2, row i at i % ADM_LOW_ROWS */
};

/* The state of one scale for its steps. */
typedef struct AdmScale {
    const AnyvmafDsp *dsp;
    AdmState *state;
    AdmLane *lanes;
    const AnyvmafAdmVariant *variants;
    uint32_t count;
    uint32_t scale;
    uint32_t bit_depth;
    const void *picture[2];
    uint32_t source_width, source_height; /* of the picture or band a of the level before */
    uint32_t width, height;               /* of the bands */
    AdmRegion region;
    int measured;       /* whether any parameter set measures this scale */
    uint32_t rows;      /* that are done */
    uint64_t totals[3]; /* the denominator's accumulators of bands h, v, d */
} AdmScale;

/* Memory for `count` parameter sets, owned by the context; NULL if memory is short. */
AdmState *adm_prepare(AnyvmafContext *context, uint32_t count);

/* The four scales of a pair of pictures, before their first rows. */
void adm_begin(const AnyvmafContext *context, AdmState *state, const void *reference, const void *distorted,
               const AnyvmafAdmVariant *variants, uint32_t count, AdmScale scales[4]);

/* Processes row i of a scale, whose bands h, v, d are in state->bands. */
typedef void AdmVisitor(AdmScale *s, uint32_t i, void *data);

/*
 * Runs a pair through all scales and calls `visit` for each row of the grown region of measured scales. It computes a row
 * as soon as the rows of band a that it needs exist, so that these are still in the cache and few are stored.
 */
void adm_stream(AdmScale scales[4], AdmVisitor *visit, void *data);

/* The measured part of bands of this size. */
AdmRegion adm_region_of(uint32_t width, uint32_t height);

/* Restored and additive parts and masking signals of the current row, which is row i. */
void adm_decouple_row(const AdmScale *s, AdmLane *lane, const AnyvmafAdmVariant *variant, uint32_t i);

/* Right shifts of the denominator's squares, their products and the sums of rows (spec 4.9). */
typedef struct AdmCubes {
    uint32_t square_shift, column_shift, row_shift;
} AdmCubes;
AdmCubes adm_cubes_of(const AdmScale *s);

/* Scores of a scale from its accumulators of bands h, v, d (spec 4.8, 4.9). */
float adm_numerator(const AdmScale *s, const int64_t sums[3], double noise_weight);
float adm_denominator(const AdmScale *s, const uint64_t totals[3], const AnyvmafAdmVariant *variant);

#endif
