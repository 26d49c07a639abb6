/*
 * speed_algebra.c - the linear algebra of SpEED, binary32 operation by operation. The order
 * of operations is part of the definition, for the last bits and for the order of eigenvalues.
 */
#include <math.h>
#include <string.h>

#include "speed.h"

enum { N = SPEED_N };

static float sign(float x) { return x < 0 ? -1.0F : 1.0F; }
static float hyp(float a, float b) { return sqrtf(a * a + b * b); }

static float norm(const float *x, uint32_t n, uint32_t stride)
{
    float sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i * stride] * x[i * stride];
    return sqrtf(sum);
}

/* Householder reduction of a symmetric matrix to its diagonal d and the diagonal e below. */
static void tridiagonalise(float a[N][N], float d[N], float e[N])
{
    for (uint32_t i = 0; i + 2 < N; i++) {
        float *c = &a[i + 1][i]; /* a column: elements N apart */
        const uint32_t n = N - 1 - i;
        const float rest = norm(c + N, n - 1, N);
        if (rest == 0)
            continue;
        const float alpha = c[0], beta = -sign(alpha) * hyp(alpha, rest), tau = (beta - alpha) / beta;
        const float scale = alpha - beta;
        if (scale != 0) {
            for (uint32_t k = 0; k < n; k++)
                c[k * N] /= scale;
            c[0] = beta;
        }
        if (tau == 0)
            continue;
        float v[N], x[N], dot = 0;
        v[0] = 1;
        for (uint32_t k = 1; k < n; k++)
            v[k] = c[k * N];
        for (uint32_t r = 0; r < n; r++) {
            x[r] = 0;
            for (uint32_t j = 0; j < n; j++)
                x[r] += tau * a[i + 1 + r][i + 1 + j] * v[j];
        }
        for (uint32_t j = 0; j < n; j++)
            dot += x[j] * v[j];
        const float half = (float)(-0.5 * tau * dot);
        for (uint32_t j = 0; j < n; j++)
            x[j] += half * v[j];
        for (uint32_t r = 0; r < n; r++)
            for (uint32_t q = 0; q < n; q++)
                a[i + 1 + r][i + 1 + q] -= x[r] * v[q] + v[r] * x[q];
    }
    for (uint32_t i = 0; i < N; i++) {
        d[i] = a[i][i];
        if (i + 1 < N)
            e[i] = a[i + 1][i];
    }
}

/* Drops what is negligible below the diagonal of rows first..last. */
static void chop(const float *d, float *e, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++)
        if (fabs((double)e[i]) < 1e-6 * ((double)fabsf(d[i]) + (double)fabsf(d[i + 1])))
            e[i] = 0;
}

/* The rotation (c, s) that turns z of (x, z) to 0. */
static void rotation(float x, float z, float *c, float *s)
{
    if (z == 0) {
        *c = 1;
        *s = 0;
    } else if (fabsf(z) > fabsf(x)) {
        const float r = -x / z;
        *s = (float)(1 / sqrt((double)(1 + r * r)));
        *c = *s * r;
    } else {
        const float r = -z / x;
        *c = (float)(1 / sqrt((double)(1 + r * r)));
        *s = *c * r;
    }
}

/* Wilkinson's shift, from the last two rows of a block. */
static float shift_of(const float *d, const float *e, uint32_t m)
{
    const float p = d[m - 2], q = d[m - 1], t = e[m - 2], delta = (p - q) / 2;
    if (delta > 0)
        return q - t * (t / (delta + hyp(delta, t)));
    if (delta == 0)
        return q - fabsf(t);
    return q + t * (t / (-delta + hyp(delta, t)));
}

/* One implicit QR step on a block of m >= 2 rows. */
static void qr_step(float *d, float *e, uint32_t m)
{
    float mu = shift_of(d, e, m);
    if (1e-6 * (double)fabsf(mu) > (double)(fabsf(d[0]) + fabsf(e[0])))
        mu = 0;
    float x = d[0] - mu, z = e[0], ap = d[0], bp = e[0], aq = d[1], bk = 0, zk = 0, c, s;
    if (m == 2) {
        rotation(x, z, &c, &s);
        d[0] = c * (c * ap - s * bp) + s * (s * aq - c * bp);
        e[0] = c * (s * ap + c * bp) - s * (s * bp + c * aq);
        d[1] = s * (s * ap + c * bp) + c * (s * bp + c * aq);
        return;
    }
    float bq = e[1];
    for (uint32_t k = 0; k + 1 < m; k++) {
        rotation(x, z, &c, &s);
        if (k > 0)
            e[k - 1] = c * bk - s * zk;
        const float a1 = c * (c * ap - s * bp) + s * (s * aq - c * bp);
        const float b1 = c * (s * ap + c * bp) - s * (s * bp + c * aq);
        const float q1 = s * (s * ap + c * bp) + c * (s * bp + c * aq);
        const float z1 = -s * bq, b2 = c * bq;
        d[k] = a1;
        bk = b1;
        zk = z1;
        ap = q1;
        bp = b2;
        if (k + 2 < m) {
            aq = d[k + 2];
            if (k + 3 < m)
                bq = e[k + 2];
            e[k + 1] = bp;
            x = bk;
            z = zk;
        }
    }
    d[m - 1] = ap;
    e[m - 2] = bk;
}

void speed_eigenvalues(const float covariance[N][N], float values[N])
{
    float a[N][N], e[N] = {0};
    memcpy(a, covariance, sizeof a);
    tridiagonalise(a, values, e);
    chop(values, e, 0, N - 1);
    uint32_t last = N - 1;
    for (uint32_t steps = 0; last > 0 && steps < 500;) {
        if (e[last - 1] == 0) {
            last--;
            continue;
        }
        uint32_t first = last - 1;
        while (first > 0 && e[first - 1] != 0)
            first--;
        qr_step(values + first, e + first, last - first + 1);
        chop(values, e, first, last);
        steps++;
    }
}

/* to = h * from for rows and inner indices from `first` on; the columns before stay what they are. */
static void apply(const float h[N][N], uint32_t first, const float *from, uint32_t columns, float *to)
{
    for (uint32_t i = first; i < N; i++) {
        float *row = to + (size_t)i * columns;
        for (uint32_t j = 0; j < columns; j++)
            row[j] = 0;
        for (uint32_t k = first; k < N; k++)
            for (uint32_t j = 0; j < columns; j++)
                row[j] += h[i][k] * from[(size_t)k * columns + j];
    }
}

int32_t speed_solve(const float covariance[N][N], const float *y, uint32_t blocks, float *scratch, float *z)
{
    float q[N][N] = {{0}}, r[N][N], h[N][N], product[N][N];
    memcpy(r, covariance, sizeof r);
    for (uint32_t i = 0; i < N; i++)
        q[i][i] = 1;
    for (uint32_t k = 0; k + 1 < N; k++) {
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t j = 0; j < N; j++)
                r[i][j] = r[j][i] = i == j;
        float v[N];
        for (uint32_t i = 0; i < N; i++)
            v[i] = r[i][k];
        v[k] += sign(covariance[k][k]) * norm(v, N, 1);
        const float length = norm(v, N, 1);
        for (uint32_t i = 0; i < N; i++)
            v[i] /= length;
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t j = 0; j < N; j++)
                h[i][j] = -2 * v[i] * v[j] + (i == j ? 1.0F : 0.0F);
        /* The reflection leaves rows before k alone. */
        apply(h, k, &r[0][0], N, &product[0][0]);
        memcpy(r[k], product[k], (N - k) * sizeof r[0]);
        apply(h, k, &q[0][0], N, &product[0][0]);
        memcpy(q[k], product[k], (N - k) * sizeof q[0]);
    }
    apply(q, 0, &covariance[0][0], N, &r[0][0]);
    apply(q, 0, y, blocks, scratch);
    for (uint32_t i = N; i-- > 0;) {
        if (fabs((double)r[i][i]) < 1e-6)
            return -1;
        float *row = z + (size_t)i * blocks;
        memcpy(row, scratch + (size_t)i * blocks, blocks * sizeof *row);
        for (uint32_t k = i + 1; k < N; k++)
            for (uint32_t b = 0; b < blocks; b++)
                row[b] -= r[i][k] * z[(size_t)k * blocks + b];
        for (uint32_t b = 0; b < blocks; b++)
            row[b] /= r[i][i];
    }
    return 0;
}
