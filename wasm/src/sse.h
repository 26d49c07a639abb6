/* sse.h - the twins of the squared-error sum; see dsp.h. */
#ifndef ANYVMAF_SSE_H
#define ANYVMAF_SSE_H

#include <stdint.h>

uint64_t sse_c(const void *a, const void *b, uint32_t n, uint32_t bit_depth);
uint64_t sse_simd(const void *a, const void *b, uint32_t n, uint32_t bit_depth);

#endif
