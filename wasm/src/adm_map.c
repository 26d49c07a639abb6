/* adm_map.c - ADM of a pair of pictures by cells: where its sums come from (spec 4.8, 4.9). */
#include <string.h>

#include "adm_frame.h"
#include "filters.h"

/* Sums of one cell: cubes of the numerator's and of the denominator's bands h, v, d. */
typedef struct AdmCell {
    int64_t numerator[3];
    int64_t denominator[3];
} AdmCell;

/* The cells of one scale. */
typedef struct AdmCells {
    AdmCell *cells;
    uint32_t columns, rows;
    uint32_t bits; /* a cell has a side of 2^bits coefficients */
} AdmCells;

static AdmCells cells_of(const AdmScale *s, uint32_t block, AdmCell *cells)
{
    const uint32_t side = block >> (s->scale + 1) ? block >> (s->scale + 1) : 1;
    const uint32_t bits = bits32(side) - 1;
    return (AdmCells){cells, ((s->width - 1) >> bits) + 1, ((s->height - 1) >> bits) + 1, bits};
}

/*
 * A frame rounds the sum of each row once. Cells get differences of rounded sums from the row's start, so that they add up
 * to the rounded row, and each is off by at most 1.
 */
static int64_t share(int64_t *upto, int64_t part, uint32_t shift)
{
    const int64_t before = round_shift(*upto, shift);
    *upto += part;
    return round_shift(*upto, shift) - before;
}

static void numerator_cells(const AdmScale *s, const AdmLane *lane, uint32_t i, const AdmCells *map)
{
    const AdmRegion *g = &s->region;
    const uint32_t above = i ? i - 1 : 1, below = i + 1 < s->height ? i + 1 : i;
    const uint32_t row_shift = ceil_log2(s->height), column_shift = ceil_log2(s->width);
    const uint32_t shift_s0[2] = {column_shift - 4, column_shift - 3};
    const uint32_t *fi = s->variants->fi[s->scale];
    int32_t *const *ring = lane->neighbour[0];
    int64_t upto[3] = {0};
    for (uint32_t from = g->left, to; from < g->right; from = to) {
        to = ((from >> map->bits) + 1) << map->bits;
        to = to < g->right ? to : g->right;
        const int32_t *const rows[3] = {ring[above % 3] + from, ring[i % 3] + from, ring[below % 3] + from};
        const int32_t *centre = lane->centre[0][i & 1] + from;
        int64_t sums[3];
        if (s->scale == 0) {
            const Row *x = lane->restored[i & 1];
            const int16_t *const bands[3] = {x[0].s0 + from, x[1].s0 + from, x[2].s0 + from};
            adm_contrast_s0_c(bands, to - from, fi, rows, centre, shift_s0, sums);
        } else {
            int32_t *const *x = lane->sizes[0][i & 1];
            const int32_t *const sizes[3] = {x[0] + from, x[1] + from, x[2] + from};
            adm_contrast_s123_c(sizes, to - from, rows, centre, column_shift, sums);
        }
        AdmCell *cell = map->cells + (size_t)(i >> map->bits) * map->columns + (from >> map->bits);
        for (int band = 0; band < 3; band++)
            cell->numerator[band] += share(&upto[band], sums[band], row_shift);
    }
}

static void denominator_cells(const AdmScale *s, uint32_t i, const AdmCells *map)
{
    const AdmRegion *g = &s->region;
    const AdmCubes cubes = adm_cubes_of(s);
    const Row *ref = s->state->bands[0] + 1;
    int64_t upto[3] = {0};
    for (uint32_t from = g->left, to; from < g->right; from = to) {
        to = ((from >> map->bits) + 1) << map->bits;
        to = to < g->right ? to : g->right;
        uint64_t sums[3];
        if (s->scale == 0) {
            const int16_t *const bands[3] = {ref[0].s0 + from, ref[1].s0 + from, ref[2].s0 + from};
            adm_cubes_s0_c(bands, to - from, sums);
        } else {
            const int32_t *const bands[3] = {ref[0].s123 + from, ref[1].s123 + from, ref[2].s123 + from};
            adm_cubes_s123_c(bands, to - from, cubes.square_shift, cubes.column_shift, sums);
        }
        AdmCell *cell = map->cells + (size_t)(i >> map->bits) * map->columns + (from >> map->bits);
        for (int band = 0; band < 3; band++)
            cell->denominator[band] += share(&upto[band], (int64_t)sums[band], cubes.row_shift);
    }
}

/* Adds row i to the cells' denominators, and row i - 1 to their numerators. data: the cells of all scales. */
static void map_row(AdmScale *s, uint32_t i, void *data)
{
    const AdmRegion *g = &s->region;
    const AdmCells *map = (const AdmCells *)data + s->scale;
    if (i >= g->top && i < g->bottom)
        denominator_cells(s, i, map);
    adm_decouple_row(s, s->lanes, s->variants, i);
    /* As in a frame: a row needs the one below it, and the last row repeats itself. */
    if (i > g->top && i <= g->bottom)
        numerator_cells(s, s->lanes, i - 1, map);
    if (i + 1 == s->height && g->bottom == s->height)
        numerator_cells(s, s->lanes, i, map);
}

/* The frame's scores of a scale, from the sums of its cells. */
static void scores_of(const AdmScale *s, const AdmCells *map, double *out)
{
    int64_t sums[3] = {0};
    uint64_t totals[3] = {0};
    for (size_t k = 0; k < (size_t)map->columns * map->rows; k++)
        for (int band = 0; band < 3; band++) {
            sums[band] += map->cells[k].numerator[band];
            totals[band] += (uint64_t)map->cells[k].denominator[band];
        }
    out[s->scale] = adm_numerator(s, sums, s->variants->noise_weight);
    out[4 + s->scale] = adm_denominator(s, totals, s->variants);
}

int32_t anyvmaf_adm_map(AnyvmafContext *context, const void *reference, const void *distorted,
                        const AnyvmafAdmVariant *variant, uint32_t block, int64_t *cells, double *out)
{
    if (!context || !reference || !distorted || !variant || !cells || !out || block < 1 ||
        block > ANYVMAF_MAX_BLOCK || block & (block - 1))
        return ANYVMAF_EINVAL;
    AdmState *state = adm_prepare(context, 1);
    if (!state)
        return ANYVMAF_ENOMEM;
    AnyvmafAdmVariant detail = *variant;
    detail.skip_aim = 1;
    detail.skip_scale0 = 0;
    AdmScale scales[4];
    AdmCells maps[4];
    adm_begin(context, state, reference, distorted, &detail, 1, scales);
    AdmCell *next = (AdmCell *)cells;
    for (int scale = 0; scale < 4; scale++) {
        maps[scale] = cells_of(&scales[scale], block, next);
        next += (size_t)maps[scale].columns * maps[scale].rows;
    }
    memset(cells, 0, (size_t)((uint8_t *)next - (uint8_t *)cells));
    adm_stream(scales, map_row, maps);
    for (int scale = 0; scale < 4; scale++)
        scores_of(&scales[scale], &maps[scale], out);
    return 0;
}
