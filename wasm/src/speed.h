/* speed.h - the parts of SpEED: the steps of a plane, its linear algebra and their twins; see dsp.h. */
#ifndef ANYVMAF_SPEED_H
#define ANYVMAF_SPEED_H

#include <stddef.h>
#include <stdint.h>

/* Side of a block, and its samples: the variables of the covariance. */
#define SPEED_BLOCK 5
#define SPEED_N 25
/* A row of 25 doubles, padded for vectors. */
#define SPEED_STRIDE 28
/* The filtered picture keeps every 16th row and column. */
#define SPEED_STEP 16

/* Eigenvalues, in the order in which the iteration leaves them. */
void speed_eigenvalues(const float covariance[SPEED_N][SPEED_N], float values[SPEED_N]);

/*
 * Solves covariance * Z = Y for `blocks` columns of Y (row after row, `blocks` values each) into Z. Returns 0, or -1
 * if the covariance is singular.
 * scratch: SPEED_N * blocks floats.
 */
int32_t speed_solve(const float covariance[SPEED_N][SPEED_N], const float *y, uint32_t blocks, float *scratch, float *z);

/* Sums over `count` rows of 25 deviations (padded with zeros to SPEED_STRIDE) of the products of each two. */
void speed_products_c(const double *deviations, uint32_t count, double products[SPEED_N][SPEED_STRIDE]);
void speed_products_simd(const double *deviations, uint32_t count, double products[SPEED_N][SPEED_STRIDE]);

#endif
