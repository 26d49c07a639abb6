/* cambi.c - the passes of CAMBI in portable C: the definition that cambi_simd.c must equal (D.9). */
#include "cambi.h"

#include <string.h>

/* Converts n samples to ten bits; returns non-zero if one needs more bits than bit_depth. */
uint32_t cambi_load_c(const void *src, uint32_t n, uint32_t bit_depth, uint16_t *dst)
{
    const uint8_t *narrow = src;
    const uint16_t *wide = src;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = bit_depth > 8 ? wide[i] : narrow[i];
        seen |= v;
        dst[i] = (uint16_t)(bit_depth <= 10 ? v << (10 - bit_depth)
                                            : (v + (1U << (bit_depth - 11))) >> (bit_depth - 10));
    }
    return seen >> bit_depth;
}

/* Averages each sample with its right and lower neighbours, if any. below: NULL for the last row. */
void cambi_blur_c(uint16_t *row, const uint16_t *below, uint32_t n)
{
    for (uint32_t i = 0; i + 1 < n; i++)
        row[i] = (uint16_t)(below ? (row[i] + row[i + 1] + below[i] + below[i + 1]) >> 2 : (row[i] + row[i + 1]) >> 1);
    if (below)
        row[n - 1] = (uint16_t)((row[n - 1] + below[n - 1]) >> 1);
}

static uint32_t is_flat(const uint16_t *image, uint32_t width, uint32_t height, uint32_t x, uint32_t y)
{
    const uint16_t *at = image + (size_t)y * width + x;
    return (x + 1 == width || at[0] == at[1]) && (y + 1 == height || at[0] == at[width]);
}

/* 1 where more than threshold samples of the 7x7 around equal their right and lower neighbours. */
void cambi_mask_c(const uint16_t *image, uint32_t width, uint32_t height, uint32_t threshold, void *scratch,
                  uint8_t *mask)
{
    uint8_t *columns = scratch;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            columns[x] = 0;
            for (uint32_t i = y < 3 ? 0 : y - 3; i < height && i <= y + 3; i++)
                columns[x] += (uint8_t)is_flat(image, width, height, x, i);
        }
        for (uint32_t x = 0; x < width; x++) {
            uint32_t sum = 0;
            for (uint32_t i = x < 3 ? 0 : x - 3; i < width && i <= x + 3; i++)
                sum += columns[i];
            mask[(size_t)y * width + x] = sum > threshold;
        }
    }
}

/* Mode of three in rows, then of these in columns; first and last row stay as they are. scratch: three rows. */
void cambi_mode_c(uint16_t *image, uint32_t width, uint32_t height, void *scratch)
{
    uint16_t *rows[3] = {scratch, rows[0] + width, rows[1] + width};
    for (uint32_t y = 0; y < height; y++) {
        const uint16_t *in = image + (size_t)y * width;
        uint16_t *out = rows[y % 3];
        out[0] = in[0];
        out[width - 1] = in[width - 1];
        for (uint32_t x = 1; x + 1 < width; x++)
            out[x] = cambi_mode3(in[x - 1], in[x], in[x + 1]);
        /* The row above the newest is complete now, and the image no longer needs it as it was. */
        if (y >= 2)
            for (uint32_t x = 0; x < width; x++)
                image[(size_t)(y - 1) * width + x] = cambi_mode3(rows[(y - 2) % 3][x], rows[(y - 1) % 3][x], out[x]);
    }
}

static void count_column(const CambiField *field, uint32_t x, uint32_t top, uint32_t bottom, uint16_t by,
                         uint16_t *counts)
{
    for (uint32_t i = top; i < bottom; i++)
        if (field->mask[(size_t)i * field->width + x])
            counts[field->image[(size_t)i * field->width + x]] += by;
}

static void count_beyond(const CambiField *field, uint32_t top, uint32_t bottom, uint16_t *counts)
{
    for (uint32_t x = field->width; x < field->beyond.end; x++)
        for (uint32_t i = top; i < bottom; i++)
            if (field->beyond.mask[(size_t)i * CAMBI_MAX_REACH + x])
                counts[field->beyond.image[(size_t)i * CAMBI_MAX_REACH + x]]++;
}

/* The contrast of row y, 0 where the mask is; to be called for one row after the other. Gives the masked samples. */
uint32_t cambi_contrast_c(const CambiField *field, const CambiSight *sight, uint32_t y, float *contrast)
{
    const uint32_t half = field->window / 2;
    const uint32_t top = y < half ? 0 : y - half, end = y + half + 1;
    const uint32_t bottom = end < field->height ? end : field->height;
    uint16_t *counts = field->counts; /* of the masked samples in the window, by value */
    uint32_t masked = 0;
    memset(counts, 0, CAMBI_COUNTED * sizeof *counts);
    count_beyond(field, top, bottom, counts);
    for (uint32_t x = 0; x < half && x < field->width; x++)
        count_column(field, x, top, bottom, 1, counts);
    for (uint32_t x = 0; x < field->width; x++) {
        if (x + half < field->width)
            count_column(field, x + half, top, bottom, 1, counts);
        if (x > half)
            count_column(field, x - half - 1, top, bottom, (uint16_t)-1, counts);
        const size_t at = (size_t)y * field->width + x;
        contrast[x] = field->mask[at] ? cambi_contrast_at(sight, field->image[at], counts, 1) : 0;
        masked += field->mask[at];
    }
    return masked;
}
