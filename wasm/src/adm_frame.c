/* adm_frame.c - ADM of a pair of pictures: four wavelet levels at once, row by row, and the scores (spec 4). */
#include <math.h>
#include <string.h>

#include "adm_frame.h"
#include "filters.h"

/* Columns before and after a row that neighbours and vectors may touch. */
#define ROW_PAD 16

static size_t row_bytes(uint32_t width) { return ((size_t)width + 2 * ROW_PAD) * sizeof(int32_t); }

/* The next row of a block of memory, after its front padding. */
static void *take_row(uint8_t **memory, uint32_t width)
{
    return (uint8_t *)core_cut(memory, row_bytes(width)) + ROW_PAD * sizeof(int32_t);
}

void adm_close(AdmState *state)
{
    if (!state)
        return;
    core_free(state->lanes);
    core_free(state->lane_memory);
    core_free(state->row_memory);
    core_free(state);
}

#define LANE_ROWS (2 * 2 * 3 + 2 * 2 * 3 + 2 * 3 + 2 * 2)

static void take_lane(AdmLane *lane, uint8_t **memory, uint32_t width)
{
    for (int slot = 0; slot < 2; slot++)
        for (int band = 0; band < 3; band++) {
            lane->restored[slot][band].s123 = take_row(memory, width);
            lane->additive[slot][band].s123 = take_row(memory, width);
            for (int signal = 0; signal < 2; signal++)
                lane->sizes[signal][slot][band] = take_row(memory, width);
        }
    for (int signal = 0; signal < 2; signal++) {
        for (int slot = 0; slot < 3; slot++)
            lane->neighbour[signal][slot] = take_row(memory, width);
        for (int slot = 0; slot < 2; slot++)
            lane->centre[signal][slot] = take_row(memory, width);
    }
}

/* Zeroed memory: vectors read past the written part of a row, where values are ignored but must be defined. */
static void *zeroed(size_t bytes)
{
    void *memory = core_alloc(bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

static int prepare_lanes(AdmState *state, uint32_t count, const uint32_t widths[4])
{
    if (count <= state->lane_count)
        return 1;
    core_free(state->lanes);
    core_free(state->lane_memory);
    state->lane_count = 0;
    size_t bytes = 0;
    for (int scale = 0; scale < 4; scale++)
        bytes += count * LANE_ROWS * area_bytes(row_bytes(widths[scale]));
    state->lanes = core_alloc(4 * count * sizeof *state->lanes);
    state->lane_memory = zeroed(bytes);
    if (!state->lanes || !state->lane_memory)
        return 0;
    uint8_t *memory = state->lane_memory;
    for (uint32_t i = 0; i < 4 * count; i++)
        take_lane(&state->lanes[i], &memory, widths[i / count]);
    state->lane_count = count;
    return 1;
}

static int prepare_rows(AdmState *state, uint32_t picture_width, const uint32_t widths[4])
{
    if (state->row_memory)
        return 1;
    /* Eight band rows, the scratch rows, and the rows of band a. */
    const size_t front = ROW_PAD * sizeof(int32_t), scratch = front + adm_scratch_bytes(picture_width);
    size_t bytes = 8 * area_bytes(row_bytes(widths[0])) + area_bytes(scratch);
    for (int level = 0; level < 3; level++)
        bytes += 2 * ADM_LOW_ROWS * area_bytes(row_bytes(widths[level]));
    uint8_t *memory = state->row_memory = zeroed(bytes);
    if (!memory)
        return 0;
    for (int side = 0; side < 2; side++) {
        for (int band = 0; band < 4; band++)
            state->bands[side][band].s123 = take_row(&memory, widths[0]);
        for (int level = 0; level < 3; level++)
            for (int row = 0; row < ADM_LOW_ROWS; row++)
                state->low[side][level][row] = take_row(&memory, widths[level]);
    }
    state->scratch = (int32_t *)((uint8_t *)core_cut(&memory, scratch) + front);
    return 1;
}

AdmState *adm_prepare(AnyvmafContext *context, uint32_t count)
{
    AdmState *state = context->adm;
    if (!state) {
        state = context->adm = zeroed(sizeof *state);
        if (!state)
            return NULL;
    }
    uint32_t widths[4], width = context->width;
    for (int scale = 0; scale < 4; scale++)
        widths[scale] = width = (width + 1) / 2;
    return prepare_rows(state, context->width, widths) && prepare_lanes(state, count, widths) ? state : NULL;
}

/* 0.1 of a side lies outside the measured region; the grown region adds what neighbours need (spec 4.4). */
static void region_side(uint32_t n, uint32_t *from, uint32_t *to, uint32_t *grown_from, uint32_t *grown_to)
{
    *from = n < 5 ? 0 : (n - 5) / 10;
    *to = n - *from;
    *grown_from = *from ? *from - 1 : 0;
    *grown_to = *to + 3 < n ? *to + 3 : n;
}

AdmRegion adm_region_of(uint32_t width, uint32_t height)
{
    AdmRegion r;
    region_side(width, &r.left, &r.right, &r.grown_left, &r.grown_right);
    region_side(height, &r.top, &r.bottom, &r.grown_top, &r.grown_bottom);
    return r;
}

static int measures(const AnyvmafAdmVariant *variant, uint32_t scale) { return scale > 0 || !variant->skip_scale0; }

void adm_begin(const AnyvmafContext *context, AdmState *state, const void *reference, const void *distorted,
               const AnyvmafAdmVariant *variants, uint32_t count, AdmScale scales[4])
{
    uint32_t width = context->width, height = context->height;
    for (uint32_t scale = 0; scale < 4; scale++) {
        AdmScale *s = &scales[scale];
        *s = (AdmScale){.dsp = context->dsp,
                        .state = state,
                        .lanes = state->lanes + scale * state->lane_count,
                        .variants = variants,
                        .count = count,
                        .scale = scale,
                        .bit_depth = context->bit_depth,
                        .picture = {reference, distorted},
                        .source_width = width,
                        .source_height = height,
                        .width = (width + 1) / 2,
                        .height = (height + 1) / 2};
        width = s->width, height = s->height;
        s->region = adm_region_of(width, height);
        for (uint32_t k = 0; k < count; k++) {
            memset(s->lanes[k].sums, 0, sizeof s->lanes[k].sums);
            s->measured |= measures(&variants[k], scale);
        }
    }
}

/* Bands of row i of one side: a goes to its ring, the others from column `from` to `to` to the current row. */
static void wavelet_row(const AdmScale *s, int side, uint32_t i, uint32_t from, uint32_t to)
{
    const AdmState *state = s->state;
    const Row *bands = state->bands[side];
    uint32_t y[4];
    for (uint32_t k = 0; k < 4; k++)
        y[k] = mirror_repeat_end((int32_t)(2 * i + k) - 1, (int32_t)s->source_height);

    if (s->scale == 0) {
        const size_t stride = (size_t)s->source_width * (s->bit_depth > 8 ? 2 : 1);
        const void *rows[4];
        for (int k = 0; k < 4; k++)
            rows[k] = (const uint8_t *)s->picture[side] + y[k] * stride;
        int16_t *const out[4] = {state->low[side][0][i % ADM_LOW_ROWS], bands[1].s0, bands[2].s0, bands[3].s0};
        s->dsp->adm_wavelet_s0(rows, s->source_width, s->bit_depth, from, to, (int16_t *)state->scratch, out);
        return;
    }
    void *const *source = state->low[side][s->scale - 1];
    int32_t *low = s->scale < 3 ? state->low[side][s->scale][i % ADM_LOW_ROWS] : bands[0].s123;
    int32_t *const out[4] = {low, bands[1].s123, bands[2].s123, bands[3].s123};
    if (s->scale == 1) {
        const int16_t *rows[4];
        for (int k = 0; k < 4; k++)
            rows[k] = source[y[k] % ADM_LOW_ROWS];
        s->dsp->adm_wavelet_s1(rows, s->source_width, from, to, state->scratch, out);
    } else {
        const int32_t *rows[4];
        for (int k = 0; k < 4; k++)
            rows[k] = source[y[k] % ADM_LOW_ROWS];
        s->dsp->adm_wavelet_s23(rows, s->source_width, s->scale, from, to, state->scratch, out);
    }
}

static void next_row(AdmScale *s, AdmVisitor *visit, void *data)
{
    const AdmRegion *g = &s->region;
    const uint32_t i = s->rows++;
    const int inside = s->measured && i >= g->grown_top && i < g->grown_bottom;
    for (int side = 0; side < 2; side++)
        wavelet_row(s, side, i, inside ? g->grown_left : 0, inside ? g->grown_right : 0);
    if (inside)
        visit(s, i, data);
    if (s->scale == 3)
        return;
    /* Row k of the next level ends with row 2k + 2 of this one, or its last. */
    for (AdmScale *next = s + 1; next->rows < next->height && (2 * next->rows + 2 <= i || i + 1 == s->height);)
        next_row(next, visit, data);
}

void adm_stream(AdmScale scales[4], AdmVisitor *visit, void *data)
{
    while (scales->rows < scales->height)
        next_row(scales, visit, data);
}

void adm_decouple_row(const AdmScale *s, AdmLane *lane, const AnyvmafAdmVariant *variant, uint32_t i)
{
    const AdmRegion *g = &s->region;
    const uint32_t from = g->grown_left, n = g->grown_right - from;
    int32_t *neighbour[2], *centre[2];
    for (int signal = 0; signal < 2; signal++) {
        neighbour[signal] = lane->neighbour[signal][i % 3];
        centre[signal] = lane->centre[signal][i & 1];
    }
    Row *ref = s->state->bands[0] + 1, *dis = s->state->bands[1] + 1;
    Row *restored = lane->restored[i & 1], *additive = lane->additive[i & 1];
    if (s->scale == 0) {
        const int16_t *const o[3] = {ref[0].s0 + from, ref[1].s0 + from, ref[2].s0 + from};
        const int16_t *const t[3] = {dis[0].s0 + from, dis[1].s0 + from, dis[2].s0 + from};
        int16_t *const r[3] = {restored[0].s0 + from, restored[1].s0 + from, restored[2].s0 + from};
        int16_t *const a[3] = {additive[0].s0 + from, additive[1].s0 + from, additive[2].s0 + from};
        s->dsp->adm_decouple_s0(o, t, n, variant->gain_limit, r, a);
        s->dsp->adm_mask_s0((const int16_t *const *)a, n, variant->fi[0], neighbour[0] + from, centre[0] + from);
        if (!variant->skip_aim)
            s->dsp->adm_mask_s0((const int16_t *const *)r, n, variant->fi[0], neighbour[1] + from, centre[1] + from);
    } else {
        const int32_t *const o[3] = {ref[0].s123 + from, ref[1].s123 + from, ref[2].s123 + from};
        const int32_t *const t[3] = {dis[0].s123 + from, dis[1].s123 + from, dis[2].s123 + from};
        int32_t *const r[3] = {restored[0].s123 + from, restored[1].s123 + from, restored[2].s123 + from};
        int32_t *const a[3] = {additive[0].s123 + from, additive[1].s123 + from, additive[2].s123 + from};
        const uint32_t *fi = variant->fi[s->scale];
        s->dsp->adm_decouple_s123(o, t, n, variant->gain_limit, r, a);
        int32_t **const size_r = lane->sizes[0][i & 1], **const size_a = lane->sizes[1][i & 1];
        int32_t *const to_r[3] = {size_r[0] + from, size_r[1] + from, size_r[2] + from};
        int32_t *const to_a[3] = {size_a[0] + from, size_a[1] + from, size_a[2] + from};
        s->dsp->adm_mask_s123((const int32_t *const *)a, n, fi, to_a, neighbour[0] + from, centre[0] + from);
        s->dsp->adm_mask_s123((const int32_t *const *)r, n, fi, to_r, neighbour[1] + from, centre[1] + from);
    }
    /* Neighbours of the outermost columns: mirrored on the left, repeated on the right (spec 4.8). */
    for (int signal = 0; signal < 2; signal++) {
        if (g->left == 0)
            neighbour[signal][-1] = neighbour[signal][1];
        if (g->right == s->width)
            neighbour[signal][s->width] = neighbour[signal][s->width - 1];
    }
}

/* Contrast of row i, once the rows around it are decoupled. */
static void contrast_row(const AdmScale *s, AdmLane *lane, const AnyvmafAdmVariant *variant, uint32_t i)
{
    const uint32_t from = s->region.left, n = s->region.right - from;
    const uint32_t above = i ? i - 1 : 1, below = i + 1 < s->height ? i + 1 : i;
    const uint32_t row_shift = ceil_log2(s->height), column_shift = ceil_log2(s->width);
    const uint32_t shift_s0[2] = {column_shift - 4, column_shift - 3};
    for (int signal = 0; signal < (variant->skip_aim ? 1 : 2); signal++) {
        int32_t *const *ring = lane->neighbour[signal];
        const int32_t *const rows[3] = {ring[above % 3] + from, ring[i % 3] + from, ring[below % 3] + from};
        const int32_t *centre = lane->centre[signal][i & 1] + from;
        int64_t sums[3];
        if (s->scale == 0) {
            const Row *x = signal ? lane->additive[i & 1] : lane->restored[i & 1];
            const int16_t *const bands[3] = {x[0].s0 + from, x[1].s0 + from, x[2].s0 + from};
            s->dsp->adm_contrast_s0(bands, n, variant->fi[0], rows, centre, shift_s0, sums);
        } else {
            int32_t *const *x = lane->sizes[signal][i & 1];
            const int32_t *const sizes[3] = {x[0] + from, x[1] + from, x[2] + from};
            s->dsp->adm_contrast_s123(sizes, n, rows, centre, column_shift, sums);
        }
        for (int band = 0; band < 3; band++)
            lane->sums[signal][band] += round_shift(sums[band], row_shift);
    }
}

AdmCubes adm_cubes_of(const AdmScale *s)
{
    static const uint32_t square_shift[4] = {0, 31, 30, 31};
    const uint32_t columns = s->region.right - s->region.left, rows = s->region.bottom - s->region.top;
    if (s->scale > 0)
        return (AdmCubes){square_shift[s->scale], ceil_log2(columns), ceil_log2(rows)};
    const uint32_t area_bits = ceil_log2(columns * rows);
    return (AdmCubes){0, 0, area_bits > 20 ? area_bits - 20 : 0};
}

/* Adds a row of the reference bands to the denominator's accumulators. */
static void denominator_row(const AdmScale *s, uint64_t totals[3])
{
    const AdmRegion *g = &s->region;
    const uint32_t from = g->left, n = g->right - from;
    const AdmCubes cubes = adm_cubes_of(s);
    Row *ref = s->state->bands[0] + 1;
    uint64_t sums[3];
    if (s->scale == 0) {
        const int16_t *const bands[3] = {ref[0].s0 + from, ref[1].s0 + from, ref[2].s0 + from};
        s->dsp->adm_cubes_s0(bands, n, sums);
    } else {
        const int32_t *const bands[3] = {ref[0].s123 + from, ref[1].s123 + from, ref[2].s123 + from};
        s->dsp->adm_cubes_s123(bands, n, cubes.square_shift, cubes.column_shift, sums);
    }
    for (int band = 0; band < 3; band++)
        totals[band] += round_shift_u(sums[band], cubes.row_shift);
}

/* The exponent of the Minkowski sum: not a cube root, but the power 1/3 in single precision. */
static float cube_root(double x) { return powf((float)x, 1.0f / 3.0f); }

float adm_numerator(const AdmScale *s, const int64_t sums[3], double noise_weight)
{
    static const int exponent[4] = {0, 45, 39, 36};
    const AdmRegion *g = &s->region;
    const int area = (int)((g->bottom - g->top) * (g->right - g->left));
    const int c = (int)ceil_log2(s->width), e = (int)ceil_log2(s->height);
    const float noise = cube_root((double)area * noise_weight);
    float term[3];
    for (int band = 0; band < 3; band++) {
        float f;
        if (s->scale == 0)
            f = (float)ldexp((double)sums[band], band < 2 ? c - 4 + e - 52 : c - 3 + e - 57);
        else
            f = (float)ldexp((double)(float)sums[band], c + e - exponent[s->scale]);
        term[band] = cube_root(f) + noise;
    }
    return (term[0] + term[1]) + term[2];
}

float adm_denominator(const AdmScale *s, const uint64_t totals[3], const AnyvmafAdmVariant *variant)
{
    static const int exponent[4] = {18, 32, 27, 23};
    const AdmRegion *g = &s->region;
    const uint32_t columns = g->right - g->left, rows = g->bottom - g->top;
    const int area = (int)(rows * columns);
    int shifted;
    if (s->scale == 0) {
        uint32_t area_bits = ceil_log2((uint32_t)area);
        shifted = area_bits > 20 ? (int)area_bits - 20 : 0;
    } else {
        shifted = (int)(ceil_log2(columns) + ceil_log2(rows));
    }
    const float noise = cube_root((double)area * variant->noise_weight);
    float term[3];
    for (int band = 0; band < 3; band++) {
        double r = variant->rf[s->scale][band == 2];
        double sum = ldexp((double)totals[band], shifted - exponent[s->scale]);
        term[band] = cube_root(sum * ((r * r) * r)) + noise;
    }
    return (term[0] + term[1]) + term[2];
}

/* Adds row i to the denominator, and row i - 1, whose neighbours are now complete, to the numerators. */
static void measure_row(AdmScale *s, uint32_t i, void *unused)
{
    (void)unused;
    const AdmRegion *g = &s->region;
    if (i >= g->top && i < g->bottom)
        denominator_row(s, s->totals);
    for (uint32_t k = 0; k < s->count; k++) {
        const AnyvmafAdmVariant *variant = &s->variants[k];
        if (!measures(variant, s->scale))
            continue;
        adm_decouple_row(s, &s->lanes[k], variant, i);
        if (i > g->top && i <= g->bottom)
            contrast_row(s, &s->lanes[k], variant, i - 1);
        /* The last row is its own neighbour below. */
        if (i + 1 == s->height && g->bottom == s->height)
            contrast_row(s, &s->lanes[k], variant, i);
    }
}

/* Numerator, denominator and AIM numerator of a scale for a parameter set. */
static void scores_of(const AdmScale *s, uint32_t k, double *record)
{
    const AnyvmafAdmVariant *variant = &s->variants[k];
    const int measured = measures(variant, s->scale);
    record[0] = measured ? adm_numerator(s, s->lanes[k].sums[0], variant->noise_weight) : 0;
    record[4] = measured ? adm_denominator(s, s->totals, variant) : 1e-10f;
    record[8] = measured && !variant->skip_aim ? adm_numerator(s, s->lanes[k].sums[1], 0) : 0;
}

int32_t anyvmaf_adm(AnyvmafContext *context, const void *reference, const void *distorted,
                    const AnyvmafAdmVariant *variants, uint32_t count, double *out)
{
    if (!context || !reference || !distorted || !variants || !out || count < 1 || count > 64)
        return ANYVMAF_EINVAL;
    AdmState *state = adm_prepare(context, count);
    if (!state)
        return ANYVMAF_ENOMEM;
    AdmScale scales[4];
    adm_begin(context, state, reference, distorted, variants, count, scales);
    adm_stream(scales, measure_row, NULL);
    for (uint32_t k = 0; k < count; k++)
        for (int scale = 0; scale < 4; scale++)
            scores_of(&scales[scale], k, out + 12 * k + scale);
    return 0;
}
