/* cambi_simd.c - the passes of CAMBI in SIMD128, equal to cambi.c. */
#include <string.h>
#include <wasm_simd128.h>

#include "cambi.h"
#include "opaque.h"

uint32_t cambi_load_simd(const void *src, uint32_t n, uint32_t bit_depth, uint16_t *dst)
{
    const uint32_t whole = n & ~15U;
    uint32_t i = 0;
    if (bit_depth == 8) {
        const uint8_t *narrow = src;
        for (; i < whole; i += 16) {
            const v128_t v = wasm_v128_load(narrow + i);
            wasm_v128_store(dst + i, wasm_i16x8_shl(wasm_u16x8_extend_low_u8x16(v), 2));
            wasm_v128_store(dst + i + 8, wasm_i16x8_shl(wasm_u16x8_extend_high_u8x16(v), 2));
        }
        return cambi_load_c(narrow + i, n - i, bit_depth, dst + i);
    }
    const uint16_t *wide = src;
    v128_t seen = wasm_i16x8_const_splat(0);
    const v128_t unit = wasm_i16x8_splat((int16_t)(bit_depth <= 10 ? 1 << (10 - bit_depth) : 0));
    for (; i < whole; i += 8) {
        v128_t v = wasm_v128_load(wide + i);
        seen = wasm_v128_or(seen, v);
        if (bit_depth <= 10) {
            v = wasm_i16x8_mul(v, unit);
        } else {
            /* (v + 2^(k-1)) >> k without a carry: half of it first, then the average with 0, which rounds up. */
            uint32_t half = bit_depth - 11;
            OPAQUE(half);
            v = wasm_u16x8_avgr(wasm_u16x8_shr(v, half), wasm_i16x8_const_splat(0));
        }
        wasm_v128_store(dst + i, v);
    }
    const int wrong = bit_depth < 16 && wasm_v128_any_true(wasm_u16x8_shr(seen, bit_depth));
    return (uint32_t)wrong | cambi_load_c(wide + i, n - i, bit_depth, dst + i);
}

void cambi_blur_simd(uint16_t *row, const uint16_t *below, uint32_t n)
{
    uint32_t i = 0;
    for (; i + 9 <= n; i += 8) {
        v128_t sum = wasm_i16x8_add(wasm_v128_load(row + i), wasm_v128_load(row + i + 1));
        if (below)
            sum = wasm_i16x8_add(sum, wasm_i16x8_add(wasm_v128_load(below + i), wasm_v128_load(below + i + 1)));
        wasm_v128_store(row + i, wasm_u16x8_shr(sum, below ? 2 : 1));
    }
    cambi_blur_c(row + i, below ? below + i : NULL, n - i);
}

/* 1 where a sample equals its right neighbour and the one below. */
static void flat_row(const uint16_t *row, const uint16_t *below, uint32_t n, uint8_t *flat)
{
    for (uint32_t i = 0; i < n; i += 16) {
        v128_t equal[2];
        for (uint32_t k = 0; k < 2; k++) {
            const uint16_t *at = row + i + 8 * k;
            const v128_t v = wasm_v128_load(at);
            equal[k] = wasm_v128_and(wasm_i16x8_eq(v, wasm_v128_load(at + 1)),
                                     wasm_i16x8_eq(v, wasm_v128_load(below + i + 8 * k)));
        }
        const v128_t both = wasm_i8x16_narrow_i16x8(equal[0], equal[1]);
        wasm_v128_store(flat + i, wasm_v128_and(both, wasm_i8x16_const_splat(1)));
    }
    flat[n - 1] = row[n - 1] == below[n - 1];
}

/* scratch: seven rows of flat samples, one of their sums; a multiple of 16 each, the sums with room on both sides. */
void cambi_mask_simd(const uint16_t *image, uint32_t width, uint32_t height, uint32_t threshold, void *scratch,
                     uint8_t *mask)
{
    const uint32_t stride = (width + 15) & ~15U;
    uint8_t *flat = scratch, *sums = flat + 7 * (size_t)stride + 16;
    memset(flat, 0, 8 * (size_t)stride + 32);
    for (uint32_t y = 0; y < height + 3; y++) {
        uint8_t *row = flat + y % 7 * (size_t)stride;
        for (uint32_t x = 0; x < stride; x += 16)
            wasm_v128_store(sums + x, wasm_i8x16_sub(wasm_v128_load(sums + x), wasm_v128_load(row + x)));
        if (y < height) {
            const uint16_t *at = image + (size_t)y * width;
            flat_row(at, y + 1 < height ? at + width : at, width, row);
            memset(row + width, 0, stride - width);
        } else {
            memset(row, 0, stride);
        }
        for (uint32_t x = 0; x < stride; x += 16)
            wasm_v128_store(sums + x, wasm_i8x16_add(wasm_v128_load(sums + x), wasm_v128_load(row + x)));
        if (y < 3)
            continue;
        uint8_t *out = mask + (size_t)(y - 3) * width;
        /* The next row overwrites the part past the end. */
        for (uint32_t x = 0; x < width; x += 16) {
            v128_t sum = wasm_v128_load(sums + x);
            for (int32_t k = 1; k <= 3; k++)
                sum = wasm_i8x16_add(sum, wasm_i8x16_add(wasm_v128_load(sums + x + k),
                                                         wasm_v128_load(sums + (ptrdiff_t)x - k)));
            const v128_t high = wasm_i8x16_gt(sum, wasm_i8x16_splat((int8_t)threshold));
            wasm_v128_store(out + x, wasm_v128_and(high, wasm_i8x16_const_splat(1)));
        }
    }
}

static inline v128_t mode3(v128_t a, v128_t b, v128_t c)
{
    const v128_t least = wasm_u16x8_min(wasm_u16x8_min(a, b), c);
    const v128_t first = wasm_v128_or(wasm_i16x8_eq(a, b), wasm_i16x8_eq(a, c));
    return wasm_v128_bitselect(a, wasm_v128_bitselect(b, least, wasm_i16x8_eq(b, c)), first);
}

/* Modes of n >= 8 samples of three rows; the last vector overlaps the one before. */
static void mode_of(const uint16_t *a, const uint16_t *b, const uint16_t *c, uint32_t n, uint16_t *out)
{
    for (uint32_t i = 0; i < n; i += 8) {
        const uint32_t x = i + 8 <= n ? i : n - 8;
        wasm_v128_store(out + x, mode3(wasm_v128_load(a + x), wasm_v128_load(b + x), wasm_v128_load(c + x)));
    }
}

void cambi_mode_simd(uint16_t *image, uint32_t width, uint32_t height, void *scratch)
{
    if (width < 10) {
        cambi_mode_c(image, width, height, scratch);
        return;
    }
    uint16_t *rows[3] = {scratch, rows[0] + width, rows[1] + width};
    for (uint32_t y = 0; y < height; y++) {
        const uint16_t *in = image + (size_t)y * width;
        uint16_t *out = rows[y % 3];
        out[0] = in[0];
        out[width - 1] = in[width - 1];
        mode_of(in, in + 1, in + 2, width - 2, out + 1);
        if (y >= 2)
            mode_of(rows[(y - 2) % 3], rows[(y - 1) % 3], out, width, image + (size_t)(y - 1) * width);
    }
}

/* End of the run of masked samples of one value that starts at x. */
static uint32_t run_end(const uint16_t *image, const uint8_t *mask, uint32_t x, uint32_t width)
{
    const uint16_t value = image[x];
    while (++x < width && mask[x] && image[x] == value)
        ;
    return x;
}

/* The next masked sample from x on, or width. */
static uint32_t next_masked(const uint8_t *mask, uint32_t x, uint32_t width)
{
    while (x + 16 <= width && !wasm_v128_any_true(wasm_v128_load(mask + x)))
        x += 16;
    while (x < width && !mask[x])
        x++;
    return x;
}

/* Samples outside a narrow picture, which are in all of its windows. Rare, so not inlined. */
static __attribute__((noinline)) void count_beyond(const CambiField *field, uint32_t y, int leaving)
{
    for (uint32_t x = field->width; x < field->beyond.end; x++) {
        const size_t at = (size_t)y * CAMBI_MAX_REACH + x;
        if (!field->beyond.mask[at])
            continue;
        uint16_t *counts = (uint16_t *)field->counts +
                           field->beyond.image[at] * cambi_counts_stride(field->width) + CAMBI_MAX_WINDOW;
        for (uint32_t k = 0; k < field->width; k++)
            counts[k] = (uint16_t)(leaving ? counts[k] - 1 : counts[k] + 1);
    }
}

/*
 * The counts of a value are adjacent, one per column, so that a masked sample counts in a row of neighbouring windows.
 * A run of them counts as a trapezoid: it rises by one with each column, to the length of the run or the window, and
 * falls again.
 */
static void count_row(const CambiField *field, uint32_t y, int leaving)
{
    const uint16_t *image = field->image + (size_t)y * field->width;
    const uint8_t *mask = field->mask + (size_t)y * field->width;
    const size_t stride = cambi_counts_stride(field->width);
    const uint32_t half = field->window / 2;
    const v128_t iota = wasm_i16x8_const(0, 1, 2, 3, 4, 5, 6, 7), zero = wasm_i16x8_const_splat(0);
    for (uint32_t x = next_masked(mask, 0, field->width); x < field->width;) {
        const uint32_t end = run_end(image, mask, x, field->width), length = end - x, n = length + 2 * half;
        uint16_t *counts = (uint16_t *)field->counts + image[x] * stride + CAMBI_MAX_WINDOW + x - half;
        const v128_t top = wasm_i16x8_splat((int16_t)(length < field->window ? length : field->window));
        v128_t up = wasm_i16x8_add(iota, wasm_i16x8_const_splat(1));
        v128_t down = wasm_i16x8_sub(wasm_i16x8_splat((int16_t)n), iota);
        for (uint32_t k = 0; k < n; k += 8) {
            const v128_t by = wasm_i16x8_max(wasm_i16x8_min(wasm_i16x8_min(up, down), top), zero);
            const v128_t now = wasm_v128_load(counts + k);
            wasm_v128_store(counts + k, leaving ? wasm_i16x8_sub(now, by) : wasm_i16x8_add(now, by));
            up = wasm_i16x8_add(up, wasm_i16x8_const_splat(8));
            down = wasm_i16x8_sub(down, wasm_i16x8_const_splat(8));
        }
        x = next_masked(mask, end, field->width);
    }
    if (field->width < field->beyond.end)
        count_beyond(field, y, leaving);
}

/* reciprocals[v] of four lanes of 16 bits from lane `first` on. */
#define RECIPROCALS(table, v, first)                                                                                   \
    wasm_f32x4_make((table)[wasm_u16x8_extract_lane(v, first)], (table)[wasm_u16x8_extract_lane(v, (first) + 1)],      \
                    (table)[wasm_u16x8_extract_lane(v, (first) + 2)], (table)[wasm_u16x8_extract_lane(v, (first) + 3)])

/* The contrasts of eight samples of one value, whose counts start at `counts`. */
static void contrast_of_8(const CambiSight *sight, uint32_t sample, const uint16_t *counts, size_t stride, float out[8])
{
    const v128_t own = wasm_v128_load(counts);
    v128_t low = wasm_f32x4_const_splat(0), high = low;
    for (uint32_t i = 0; i < sight->contrasts; i++) {
        const uint32_t step = i + 1;
        if ((int32_t)sample > sight->limits[i] || (int32_t)(sample + sight->contrasts + step) <= sight->floor)
            continue;
        v128_t other = wasm_v128_load(counts + step * stride);
        if (sample >= step)
            other = wasm_u16x8_max(other, wasm_v128_load(counts - step * stride));
        if (!wasm_v128_any_true(other))
            continue;
        /* 9 * 4225 * 4225 / 4 needs 26 bits. */
        const v128_t weight = wasm_i32x4_splat(cambi_weights[i]), sum = wasm_i16x8_add(own, other);
        const v128_t a = wasm_i32x4_mul(wasm_u32x4_extmul_low_u16x8(own, other), weight);
        const v128_t b = wasm_i32x4_mul(wasm_u32x4_extmul_high_u16x8(own, other), weight);
        low = wasm_f32x4_max(low, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(a), RECIPROCALS(sight->reciprocals, sum, 0)));
        high = wasm_f32x4_max(high, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(b), RECIPROCALS(sight->reciprocals, sum, 4)));
    }
    wasm_v128_store(out, low);
    wasm_v128_store(out + 4, high);
}

uint32_t cambi_contrast_simd(const CambiField *field, const CambiSight *sight, uint32_t y, float *contrast)
{
    const uint32_t width = field->width, half = field->window / 2;
    const size_t stride = cambi_counts_stride(width);
    if (y == 0) {
        memset(field->counts, 0, cambi_counts_bytes(width));
        for (uint32_t i = 0; i < half && i < field->height; i++)
            count_row(field, i, 0);
    }
    if (y + half < field->height)
        count_row(field, y + half, 0);
    if (y > half)
        count_row(field, y - half - 1, 1);

    const uint16_t *image = field->image + (size_t)y * width;
    const uint8_t *mask = field->mask + (size_t)y * width;
    uint32_t masked = 0;
    memset(contrast, 0, width * sizeof *contrast);
    for (uint32_t x = next_masked(mask, 0, width); x < width;) {
        const uint32_t end = run_end(image, mask, x, width), sample = image[x];
        const uint16_t *counts = (const uint16_t *)field->counts + CAMBI_MAX_WINDOW;
        masked += end - x;
        for (; end - x >= 3; x += end - x < 8 ? end - x : 8) {
            float values[8];
            contrast_of_8(sight, sample, counts + sample * stride + x, stride, values);
            memcpy(contrast + x, values, (end - x < 8 ? end - x : 8) * sizeof *values);
        }
        for (; x < end; x++)
            contrast[x] = cambi_contrast_at(sight, sample, counts + x, stride);
        x = next_masked(mask, end, width);
    }
    return masked;
}
