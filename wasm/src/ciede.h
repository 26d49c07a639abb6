/* ciede.h - the twins of a row of CIEDE2000 colour differences; see dsp.h. */
#ifndef ANYVMAF_CIEDE_H
#define ANYVMAF_CIEDE_H

#include <stddef.h>
#include <stdint.h>

/* A row of a picture: luma, and the row of Cb and Cr that covers it. */
typedef struct CiedeRow {
    const void *y, *u, *v;
} CiedeRow;

/* How samples are laid out. */
typedef struct CiedeFormat {
    uint32_t width, chroma_width, bit_depth;
    uint32_t halved; /* 1: a chroma sample covers two columns, 0: one */
} CiedeFormat;

/* Bytes for the differences of a row. */
static inline size_t ciede_scratch_bytes(uint32_t width) { return ((size_t)width + 16) * sizeof(float); }

/* Powers at the middle of 32 intervals per octave, for the SIMD twin. */
#define CIEDE_INTERVALS 32
/* From 2^-4 to 2^2: what is raised to 2.4. */
#define CIEDE_LINEAR_FIRST (-4)
#define CIEDE_LINEAR_OCTAVES 6
/* From 2^-7 to 2^4: what is raised to 1/3. */
#define CIEDE_LIGHT_FIRST (-7)
#define CIEDE_LIGHT_OCTAVES 11

typedef struct CiedePower {
    double inverse, power; /* 1/x and x^p */
} CiedePower;

typedef struct CiedeTables {
    CiedePower linear[CIEDE_LINEAR_OCTAVES * CIEDE_INTERVALS];
    CiedePower light[CIEDE_LIGHT_OCTAVES * CIEDE_INTERVALS];
    double arcs[33]; /* atan(i / 32) */
    /* Series, highest power first: (1 + r)^p - 1 and the like by r, sines and arcs by the square. */
    double linear_series[6], light_series[6], arc_series[4], sine_series[9], cosine_series[8], decay_series[13];
} CiedeTables;

void ciede_build_tables(CiedeTables *tables);

/* The colour difference of pixel i. */
float ciede_pixel(const CiedeRow *reference, const CiedeRow *distorted, const CiedeFormat *format, uint32_t i);

void ciede_row_c(const CiedeRow *reference, const CiedeRow *distorted, const CiedeFormat *format,
                 const CiedeTables *tables, float *differences);
void ciede_row_simd(const CiedeRow *reference, const CiedeRow *distorted, const CiedeFormat *format,
                    const CiedeTables *tables, float *differences);

#endif
