/* motion.h - the twins of the motion functions; see dsp.h for what each does. */
#ifndef ANYVMAF_MOTION_H
#define ANYVMAF_MOTION_H

#include "dsp.h"

#define MOTION_TWINS(suffix)                                                                                           \
    uint64_t motion_sad_##suffix(const void *earlier, const void *current, uint32_t width, uint32_t height,            \
                                 uint32_t bit_depth, void *scratch);                                                  \
    uint64_t motion_sad_legacy_##suffix(const void *earlier, const void *current, uint32_t width, uint32_t height,     \
                                        uint32_t bit_depth, void *scratch);

MOTION_TWINS(c)
MOTION_TWINS(simd)

size_t motion_simd_scratch_bytes(uint32_t width, uint32_t height);

#endif
