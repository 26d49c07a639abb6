/* speed.c - the covariance of SpEED in portable C: the definition that speed_simd.c must equal (D.17, step 4). */
#include "speed.h"

#include <string.h>

void speed_products_c(const double *deviations, uint32_t count, double products[SPEED_N][SPEED_STRIDE])
{
    memset(products, 0, sizeof(double) * SPEED_N * SPEED_STRIDE);
    for (uint32_t i = 0; i < count; i++, deviations += SPEED_STRIDE)
        for (uint32_t x = 0; x < SPEED_N; x++)
            for (uint32_t y = x; y < SPEED_N; y++)
                products[x][y] += deviations[x] * deviations[y];
}
