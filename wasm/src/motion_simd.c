/*
 * motion_simd.c - motion in SIMD128, equal to motion.c to the last bit.
 *
 * The vertical result v of a difference needs 17 bits. With v = 2h + l the horizontal sum splits into two that fit 32:
 * (sum K*v + 2^15) >> 16 = (sum K*h + ((sum K*l + 2^15) >> 1)) >> 15. The same split serves the 17-bit differences of
 * 16-bit video vertically.
 */
#include "motion.h"

#include "filter_simd.h"
#include "filters.h"

#define SCALE 2  /* the blur is the filter of VIF scale 2 */
#define WINDOW 3 /* its pairs */
#define MARGIN 8

/* Samples of a buffered row: margins for the mirror, and what vectors may run over. */
static uint32_t row_samples(uint32_t width) { return ((width + 15) & ~15u) + 2 * MARGIN + 16; }
static uint32_t blocks_of(uint32_t width) { return (width + 15) / 16; }

/* Buffers of one call, cut from the scratch memory. */
typedef struct Buffers {
    Kernel *kernels;     /* for a window that starts at each place of the ring */
    int16_t *pairs[2];   /* rings of WINDOW rows of pairs */
    Sums *sums;          /* a row of them */
    int16_t *rows[2][2]; /* two rows of two signals */
} Buffers;

size_t motion_simd_scratch_bytes(uint32_t width, uint32_t height)
{
    (void)height;
    const size_t row = row_samples(width);
    return WINDOW * sizeof(Kernel) + 2 * WINDOW * 2 * row * sizeof(int16_t) + 2 * blocks_of(width) * sizeof(Sums) +
           4 * row * sizeof(int16_t);
}

static Buffers cut(void *scratch, uint32_t width)
{
    const size_t row = row_samples(width);
    Buffers b;
    b.kernels = scratch;
    for (uint32_t first = 0; first < WINDOW; first++)
        make_kernel(SCALE, first, &b.kernels[first]);
    b.sums = (Sums *)(b.kernels + WINDOW);
    int16_t *samples = (int16_t *)(b.sums + 2 * blocks_of(width));
    for (int signal = 0; signal < 2; signal++) {
        b.pairs[signal] = samples;
        samples += WINDOW * 2 * row;
    }
    for (int i = 0; i < 4; i++)
        b.rows[i / 2][i % 2] = samples + i * row + MARGIN;
    return b;
}

/* Loads 16 columns of rows y0 and y1 of a plane as pairs, unbiased below 16 bits. */
INLINE void load_pairs(const void *plane, const size_t at[2], uint32_t j, uint32_t bit_depth, V out[4])
{
    if (bit_depth == 8) {
        for (int half = 0; half < 2; half++) {
            V bytes = byte_pairs((const uint8_t *)plane + at[0] + j + 8 * half, (const uint8_t *)plane + at[1] + j + 8 * half);
            out[2 * half] = wasm_u16x8_extend_low_u8x16(bytes);
            out[2 * half + 1] = wasm_u16x8_extend_high_u8x16(bytes);
        }
        return;
    }
    for (int half = 0; half < 2; half++) {
        V r0 = wasm_v128_load((const uint16_t *)plane + at[0] + j + 8 * half);
        V r1 = wasm_v128_load((const uint16_t *)plane + at[1] + j + 8 * half);
        out[2 * half] = pairs_low(r0, r1);
        out[2 * half + 1] = pairs_high(r0, r1);
    }
}

/* Mirrored samples around a row. */
static void extend_row(int16_t *row, uint32_t width, int repeat_end)
{
    for (int32_t k = 1; k <= 2; k++) {
        const int32_t before = -k, behind = (int32_t)width + k - 1;
        row[before] = row[repeat_end ? mirror_repeat_end(before, (int32_t)width) : mirror(before, (int32_t)width)];
        row[behind] = row[repeat_end ? mirror_repeat_end(behind, (int32_t)width) : mirror(behind, (int32_t)width)];
    }
}

static uint64_t lane_sum(V v)
{
    return (uint64_t)(uint32_t)wasm_i32x4_extract_lane(v, 0) + (uint32_t)wasm_i32x4_extract_lane(v, 1) +
           (uint32_t)wasm_i32x4_extract_lane(v, 2) + (uint32_t)wasm_i32x4_extract_lane(v, 3);
}

/* All ones for the outputs of a block of 16 columns that lie inside the picture: [parity][half]. */
INLINE V inside(uint32_t column, int parity, int half, uint32_t width)
{
    V columns = wasm_i32x4_add(wasm_i32x4_const(0, 2, 4, 6), wasm_i32x4_splat((int32_t)column + 8 * half + parity));
    return wasm_i32x4_lt(columns, wasm_i32x4_splat((int32_t)width));
}

/* (2h + l) >> 16 of the two sums of a split signal; l has the rounding constant in it. */
INLINE V join(V h, V l) { return wasm_i32x4_shr(wasm_i32x4_add(h, wasm_i32x4_shr(l, 1)), 15); }

uint64_t motion_sad_simd(const void *earlier, const void *current, uint32_t width, uint32_t height,
                         uint32_t bit_depth, void *scratch)
{
    const Buffers b = cut(scratch, width);
    const size_t row = row_samples(width), stride = 2 * row;
    const uint32_t blocks = blocks_of(width);
    const int split = bit_depth == 16;
    const uint32_t round = 1u << (bit_depth - 1);
    const V one = wasm_i32x4_const_splat(1);
    uint64_t sad = 0;
    uint32_t loaded = 0;
    for (uint32_t y = 0; y < height; y += 2) {
        for (; loaded < y / 2 + WINDOW; loaded++) {
            size_t at[2];
            for (int32_t k = 0; k < 2; k++)
                at[k] = (size_t)mirror((int32_t)(2 * loaded) - 2 + k, (int32_t)height) * width;
            int16_t *const slot[2] = {b.pairs[0] + loaded % WINDOW * stride, b.pairs[1] + loaded % WINDOW * stride};
            for (uint32_t j = 0; j < width; j += 16) {
                V e[4], c[4];
                load_pairs(earlier, at, j, bit_depth, e);
                load_pairs(current, at, j, bit_depth, c);
                for (int i = 0; i < 4; i++) {
                    const uint32_t to = 2 * j + 8 * (uint32_t)i;
                    V d = wasm_i16x8_sub(e[i], c[i]);
                    if (split) {
                        /* 17 bits: h = floor(d / 2), as (e + ~c + 1) >> 1 less 2^15; l = d & 1. */
                        V low = wasm_v128_and(d, wasm_i16x8_const_splat(1));
                        d = flip16(wasm_u16x8_avgr(e[i], wasm_v128_not(c[i])));
                        wasm_v128_store(slot[1] + to, low);
                    }
                    wasm_v128_store(slot[0] + to, d);
                }
            }
        }
        const Kernel *kernel = &b.kernels[y / 2 % WINDOW];
        /* Split differences are two signals of eight columns; whole ones are one signal, sixteen at a time. */
        if (split)
            filter_blocks(kernel, b.pairs[0], 0, b.pairs[1], 32768, (uint32_t)stride, 16, 2 * blocks, b.sums);
        else
            filter_blocks(kernel, b.pairs[0], round, b.pairs[0] + 16, round, (uint32_t)stride, 32, blocks, b.sums);
        for (uint32_t r = 0; r < 2 && y + r < height; r++) {
            int16_t *h = b.rows[r][0], *l = b.rows[r][1];
            for (uint32_t j = 0; j < 2 * blocks; j++) {
                V v[2];
                for (int half = 0; half < 2; half++) {
                    if (split)
                        v[half] = join(b.sums[j].a[r][half], b.sums[j].b[r][half]);
                    else
                        v[half] = wasm_i32x4_shr(j & 1 ? b.sums[j / 2].b[r][half] : b.sums[j / 2].a[r][half], bit_depth);
                }
                wasm_v128_store(h + 8 * j, wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(v[0], 1), wasm_i32x4_shr(v[1], 1)));
                wasm_v128_store(l + 8 * j, wasm_i16x8_narrow_i32x4(wasm_v128_and(v[0], one), wasm_v128_and(v[1], one)));
            }
            extend_row(h, width, 0);
            extend_row(l, width, 0);
        }
        for (uint32_t r = 0; r < 2 && y + r < height; r++) {
            filter_blocks(&b.kernels[0], b.rows[r][0] - 2, 0, b.rows[r][1] - 2, 32768, 2, 16, blocks, b.sums);
            V total = wasm_i32x4_const_splat(0);
            for (uint32_t j = 0; j < blocks; j++)
                for (int parity = 0; parity < 2; parity++)
                    for (int half = 0; half < 2; half++) {
                        V d = wasm_i32x4_abs(join(b.sums[j].a[parity][half], b.sums[j].b[parity][half]));
                        if (16 * j + 16 > width)
                            d = wasm_v128_and(d, inside(16 * j, parity, half, width));
                        total = wasm_i32x4_add(total, d);
                    }
            sad += lane_sum(total);
        }
    }
    return sad;
}

uint64_t motion_sad_legacy_simd(const void *earlier, const void *current, uint32_t width, uint32_t height,
                                uint32_t bit_depth, void *scratch)
{
    const Buffers b = cut(scratch, width);
    const size_t row = row_samples(width), stride = 2 * row;
    const uint32_t blocks = blocks_of(width);
    /* Samples of 16 bits are biased; the others become so after the vertical pass. */
    const V bias = wasm_i16x8_splat(bit_depth == 16 ? (int16_t)0x8000 : 0);
    const uint32_t round = (1u << (bit_depth - 1)) - (bit_depth == 16 ? 0 : 1u << (bit_depth + 15));
    uint64_t sad = 0;
    uint32_t loaded = 0;
    for (uint32_t y = 0; y < height; y += 2) {
        for (; loaded < y / 2 + WINDOW; loaded++) {
            size_t at[2];
            for (int32_t k = 0; k < 2; k++)
                at[k] = (size_t)mirror_repeat_end((int32_t)(2 * loaded) - 2 + k, (int32_t)height) * width;
            for (int side = 0; side < 2; side++) {
                int16_t *slot = b.pairs[side] + loaded % WINDOW * stride;
                for (uint32_t j = 0; j < width; j += 16) {
                    V v[4];
                    load_pairs(side ? current : earlier, at, j, bit_depth, v);
                    for (int i = 0; i < 4; i++) {
                        const V biased = wasm_v128_xor(v[i], bias);
                        wasm_v128_store(slot + 2 * j + 8 * i, biased);
                    }
                }
            }
        }
        const Kernel *kernel = &b.kernels[y / 2 % WINDOW];
        filter_blocks(kernel, b.pairs[0], round, b.pairs[1], round, (uint32_t)stride, 16,
                     2 * blocks, b.sums);
        for (uint32_t r = 0; r < 2 && y + r < height; r++)
            for (int side = 0; side < 2; side++) {
                for (uint32_t j = 0; j < 2 * blocks; j++) {
                    V v[2];
                    for (int half = 0; half < 2; half++)
                        v[half] = wasm_i32x4_shr(side ? b.sums[j].b[r][half] : b.sums[j].a[r][half], bit_depth);
                    wasm_v128_store(b.rows[r][side] + 8 * j, wasm_i16x8_narrow_i32x4(v[0], v[1]));
                }
                extend_row(b.rows[r][side], width, 1);
            }
        for (uint32_t r = 0; r < 2 && y + r < height; r++) {
            filter_blocks(&b.kernels[0], b.rows[r][0] - 2, 32768, b.rows[r][1] - 2, 32768, 2, 16, blocks, b.sums);
            V total = wasm_i32x4_const_splat(0);
            for (uint32_t j = 0; j < blocks; j++)
                for (int parity = 0; parity < 2; parity++)
                    for (int half = 0; half < 2; half++) {
                        V before = wasm_i32x4_shr(b.sums[j].a[parity][half], 16);
                        V after = wasm_i32x4_shr(b.sums[j].b[parity][half], 16);
                        V d = wasm_i32x4_abs(wasm_i32x4_sub(before, after));
                        if (16 * j + 16 > width)
                            d = wasm_v128_and(d, inside(16 * j, parity, half, width));
                        total = wasm_i32x4_add(total, d);
                    }
            sad += lane_sum(total);
        }
    }
    return sad;
}
