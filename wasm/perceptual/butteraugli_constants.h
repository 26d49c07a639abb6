/* butteraugli_constants.h - numbers that both columns of Butteraugli compute with; of libjxl, BSD-3-Clause. */
#ifndef PERCEPTUAL_BUTTERAUGLI_CONSTANTS_H
#define PERCEPTUAL_BUTTERAUGLI_CONSTANTS_H

/* Constants of opsin dynamics: absorbance of R, G and B and its offset, for three cones. */
static const float butteraugli_absorbance[3][4] = {
    {0.29956550340058319F, 0.63373087833825936F, 0.077705617820981968F, 1.7557483643287353F},
    {0.22158691104574774F, 0.69391388044116142F, 0.0987313588422F, 1.7557483643287353F},
    {0.02F, 0.02F, 0.20480129041026129F, 12.226454707163354F},
};
#define BUTTERAUGLI_GAMMA_SCALE (19.245013259874995F * 0.6931471805599453F) /* of log2 */
#define BUTTERAUGLI_GAMMA_BIAS 9.9710635769299145F
#define BUTTERAUGLI_GAMMA_OFFSET 23.16046239805755F
#define BUTTERAUGLI_LEAST 1e-4F

/* log2(1 + m) as p(m) / q(m) for m in -1/3..1/3, lowest power first: 4e-6 off, as libjxl's, which scores show. */
static const float butteraugli_log_p[3] = {-1.8503833400518310e-06F, 1.4287160470083755F, 7.4245873327820566e-01F};
static const float butteraugli_log_q[3] = {9.9032814277590719e-01F, 1.0096718572241148F, 1.7409343003366853e-01F};
#define BUTTERAUGLI_TWO_THIRDS 0x3f2aaaab /* the bits of 2/3 */

/* Constants of bands. */
#define BUTTERAUGLI_LOW_X 33.832837186260F
#define BUTTERAUGLI_LOW_Y 14.458268100570F
#define BUTTERAUGLI_LOW_B 49.87984651440F
#define BUTTERAUGLI_Y_TO_B 0.362267051518F
#define BUTTERAUGLI_LOW_WEIGHT_X 29.2353797994F
#define BUTTERAUGLI_LOW_WEIGHT_Y 0.844626970982F
#define BUTTERAUGLI_LOW_WEIGHT_B 0.703646627719F
#define BUTTERAUGLI_MEDIUM_X 0.29F
#define BUTTERAUGLI_MEDIUM_Y 0.1F
#define BUTTERAUGLI_SUPPRESS 46.0F
#define BUTTERAUGLI_SUPPRESS_LEAST 0.653020556257F
#define BUTTERAUGLI_ULTRA_X 0.04F
#define BUTTERAUGLI_HIGH_X 1.5F
#define BUTTERAUGLI_HIGH_LIMIT 28.4691806922F
#define BUTTERAUGLI_ULTRA_LIMIT 5.19175294647F
#define BUTTERAUGLI_BEYOND 0.724216145665F
#define BUTTERAUGLI_ULTRA_SCALE 2.69313763794F
#define BUTTERAUGLI_HIGH_SCALE 2.155F
#define BUTTERAUGLI_HIGH_Y 0.132F

/* Where a distorted value is explained by the reference's, as multiples of it. */
#define BUTTERAUGLI_EXPLAINED_LOW 0.4F
#define BUTTERAUGLI_CONTRAST_LOW 0.55F
#define BUTTERAUGLI_CONTRAST_HIGH 1.05F

/* Constants of the mask. */
#define BUTTERAUGLI_ACTIVITY_X 2.5F
#define BUTTERAUGLI_ACTIVITY_Y 0.4F
#define BUTTERAUGLI_ACTIVITY_SCALE 6.19424080439F
#define BUTTERAUGLI_ACTIVITY_BIAS (6.19424080439F * 12.61050594197F)
#define BUTTERAUGLI_FIRST 0.45F
#define BUTTERAUGLI_SECOND 0.3F
#define BUTTERAUGLI_THIRD 0.25F
#define BUTTERAUGLI_GLOBAL (1 / (17.83F * 0.79079917404F))
#define BUTTERAUGLI_AC_MUL 2.5485944793F
#define BUTTERAUGLI_AC_SCALE 0.451936922203F
#define BUTTERAUGLI_AC_OFFSET 0.829591754942F
#define BUTTERAUGLI_DC_MUL 0.505054525019F
#define BUTTERAUGLI_DC_SCALE 3.87449418804F
#define BUTTERAUGLI_DC_OFFSET 0.20025578522F

/* The 16 lines of bands other than UHF as (dy, dx) of two points; each line has their mirrors and the centre too. */
#define BUTTERAUGLI_SPARSE(LINE)                                                                                       \
    LINE(0, 2, 0, 4)                                                                                                   \
    LINE(2, 0, 4, 0)                                                                                                   \
    LINE(2, 2, 3, 3)                                                                                                   \
    LINE(2, -2, 3, -3)                                                                                                 \
    LINE(2, -1, 4, -1)                                                                                                 \
    LINE(2, -1, 3, -2)                                                                                                 \
    LINE(2, -1, 4, -2)                                                                                                 \
    LINE(2, 1, 4, 1)                                                                                                   \
    LINE(2, 1, 3, 2)                                                                                                   \
    LINE(2, 1, 4, 2)                                                                                                   \
    LINE(1, 2, 1, 4)                                                                                                   \
    LINE(1, 2, 2, 3)                                                                                                   \
    LINE(1, 2, 2, 4)                                                                                                   \
    LINE(1, -2, 1, -4)                                                                                                 \
    LINE(1, -2, 2, -3)                                                                                                 \
    LINE(1, -2, 2, -4)

/* The lines of UHF, of four points, four points that count twice, and three points. */
#define BUTTERAUGLI_DENSE(FOUR, TWICE, THREE)                                                                          \
    FOUR(0, 1, 0, 2, 0, 3, 0, 4)                                                                                       \
    TWICE(0, 1, 1, 2, 1, 3, 1, 4)                                                                                      \
    TWICE(0, 1, 1, -2, 1, -3, 1, -4)                                                                                   \
    FOUR(1, 0, 2, 0, 3, 0, 4, 0)                                                                                       \
    TWICE(1, 0, 2, -1, 3, -1, 4, -1)                                                                                   \
    TWICE(1, 0, 2, 1, 3, 1, 4, 1)                                                                                      \
    THREE(1, 1, 2, 2, 3, 3)                                                                                            \
    THREE(1, 1, 2, 1, 3, 2)                                                                                            \
    THREE(1, 1, 1, 2, 2, 3)                                                                                            \
    THREE(1, -1, 2, -2, 3, -3)                                                                                         \
    THREE(1, -1, 2, -1, 3, -2)                                                                                         \
    THREE(1, -1, 1, -2, 2, -3)

#endif
