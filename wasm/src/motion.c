/* motion.c - motion in portable C: the definition that motion_simd.c must equal (spec 2.1, 2.4). */
#include "motion.h"

#include "filters.h"

size_t motion_scratch_bytes(uint32_t width, uint32_t height)
{
    size_t portable = (size_t)width * (sizeof(int32_t) + sizeof(uint16_t));
    size_t simd = motion_simd_scratch_bytes(width, height);
    return portable > simd ? portable : simd;
}

static inline int32_t sample(const void *plane, size_t i, uint32_t bit_depth)
{
    return bit_depth > 8 ? ((const uint16_t *)plane)[i] : ((const uint8_t *)plane)[i];
}

uint64_t motion_sad_c(const void *earlier, const void *current, uint32_t width, uint32_t height, uint32_t bit_depth,
                      void *scratch)
{
    int32_t *row = scratch;
    uint64_t sad = 0;
    for (uint32_t i = 0; i < height; i++) {
        for (uint32_t j = 0; j < width; j++) {
            int64_t sum = 0;
            for (uint32_t k = 0; k < 5; k++) {
                size_t at = (size_t)mirror((int32_t)(i + k) - 2, (int32_t)height) * width + j;
                sum += (int64_t)motion_filter[k] * (sample(earlier, at, bit_depth) - sample(current, at, bit_depth));
            }
            row[j] = (int32_t)round_shift(sum, bit_depth);
        }
        for (uint32_t j = 0; j < width; j++) {
            int64_t sum = 0;
            for (uint32_t k = 0; k < 5; k++)
                sum += (int64_t)motion_filter[k] * row[mirror((int32_t)(j + k) - 2, (int32_t)width)];
            int64_t d = round_shift(sum, 16);
            sad += (uint64_t)(d < 0 ? -d : d);
        }
    }
    return sad;
}

/* One blurred row of a plane, in 16 bits at every depth. */
static void blur_row(const void *plane, uint32_t i, uint32_t width, uint32_t height, uint32_t bit_depth,
                     uint16_t *columns, uint16_t *blurred)
{
    for (uint32_t j = 0; j < width; j++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < 5; k++) {
            size_t y = mirror_repeat_end((int32_t)(i + k) - 2, (int32_t)height);
            sum += (uint32_t)motion_filter[k] * (uint32_t)sample(plane, y * width + j, bit_depth);
        }
        columns[j] = (uint16_t)round_shift_u(sum, bit_depth);
    }
    for (uint32_t j = 0; j < width; j++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < 5; k++)
            sum += (uint32_t)motion_filter[k] * columns[mirror_repeat_end((int32_t)(j + k) - 2, (int32_t)width)];
        blurred[j] = (uint16_t)round_shift_u(sum, 16);
    }
}

uint64_t motion_sad_legacy_c(const void *earlier, const void *current, uint32_t width, uint32_t height,
                             uint32_t bit_depth, void *scratch)
{
    uint16_t *columns = scratch, *before = columns + width, *after = before + width;
    uint64_t sad = 0;
    for (uint32_t i = 0; i < height; i++) {
        blur_row(earlier, i, width, height, bit_depth, columns, before);
        blur_row(current, i, width, height, bit_depth, columns, after);
        for (uint32_t j = 0; j < width; j++)
            sad += (uint64_t)(before[j] > after[j] ? before[j] - after[j] : after[j] - before[j]);
    }
    return sad;
}
