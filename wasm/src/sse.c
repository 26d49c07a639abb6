/* sse.c - squared error in portable C. */
#include "sse.h"

uint64_t sse_c(const void *a, const void *b, uint32_t n, uint32_t bit_depth)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t e = bit_depth > 8 ? (int64_t)((const uint16_t *)a)[i] - ((const uint16_t *)b)[i]
                                  : (int64_t)((const uint8_t *)a)[i] - ((const uint8_t *)b)[i];
        sum += (uint64_t)(e * e);
    }
    return sum;
}
