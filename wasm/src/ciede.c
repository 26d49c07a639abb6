/* ciede.c - CIEDE2000 in portable C: the definition that ciede_simd.c must equal. */
#include "ciede.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static inline double sample(const void *row, uint32_t i, uint32_t bit_depth)
{
    return bit_depth > 8 ? ((const uint16_t *)row)[i] : ((const uint8_t *)row)[i];
}

typedef struct Lab {
    float l, a, b;
} Lab;

/* The transfer function of sRGB, undone. */
static double linear(double c) { return c > 10.0 / 255 ? pow((c + 0.055) / 1.055, 2.4) : c / 12.92; }

static float lightness(double t)
{
    return (float)(t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116);
}

/* CIELAB of a BT.709 sample triple in limited range. */
static Lab to_lab(double y, double u, double v, uint32_t bit_depth)
{
    const double s = 1U << (bit_depth - 8);
    y = (y - 16 * s) * (1 / (219 * s));
    u = (u - 128 * s) * (1 / (224 * s));
    v = (v - 128 * s) * (1 / (224 * s));
    const double r = linear(y + 1.28033 * v);
    const double g = linear(y - 0.21482 * u - 0.38059 * v);
    const double b = linear(y + 2.12798 * u);
    const float fx = lightness((0.4124564390896921 * r + 0.357576077643909 * g + 0.18043748326639894 * b) / 0.95047);
    const float fy = lightness(0.21267285140562248 * r + 0.715152155287818 * g + 0.07217499330655958 * b);
    const float fz = lightness((0.019333895582329317 * r + 0.119192025881303 * g + 0.9503040785363677 * b) / 1.08883);
    return (Lab){(float)(116.0 * fy - 16), (float)(500.0 * ((double)fx - fy)), (float)(200.0 * ((double)fy - fz))};
}

static float chroma(float a, float b) { return (float)hypot(a, b); }

static float hue(float a, float b)
{
    if (a == 0 && b == 0)
        return 0;
    const float h = (float)atan2(b, a);
    return h < 0 ? (float)(h + 2 * PI) : h;
}

/* Rounded to binary32 exactly where libvmaf rounds. */
static float difference(Lab x, Lab y)
{
    const float c1 = chroma(x.a, x.b), c2 = chroma(y.a, y.b), c_mean = (c1 + c2) / 2;
    const double c2_mean = (double)c_mean * c_mean, c7 = c2_mean * c2_mean * c2_mean * c_mean;
    const double g = 1 - sqrt(c7 / (c7 + 6103515625.0));
    const float a1 = (float)(x.a + (double)(x.a / 2) * g), a2 = (float)(y.a + (double)(y.a / 2) * g);
    const float chroma1 = chroma(a1, x.b), chroma2 = chroma(a2, y.b);
    const float chroma_mean = (chroma1 + chroma2) / 2, l_mean = (x.l + y.l) / 2;

    const float off = l_mean - 50;
    const double off2 = (double)off * off;
    const float s_l = (float)(1 + 0.015 * off2 / sqrt(20 + off2));
    const float s_c = (float)(1 + 0.045 * chroma_mean);

    const float h1 = hue(a1, x.b), h2 = hue(a2, y.b);
    const float apart = h1 - h2, turn = h2 - h1, sum = h1 + h2;
    const int wraps = fabsf(apart) > PI;
    double dh = 0;
    if (c1 != 0 && c2 != 0)
        dh = !wraps ? turn : (float)(h2 <= h1 ? turn + 2 * PI : turn - 2 * PI);
    const float d_h = (float)(2 * sqrt((double)(chroma1 * chroma2)) * sin(dh / 2));
    const double h = (float)((wraps ? sum + 2 * PI : (double)sum) / 2);

    const float t = (float)(1 - 0.17 * cos(h - PI / 6) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + PI / 30) -
                            0.20 * cos(4 * h - 7 * PI / 20));
    const float s_h = (float)(1 + 0.015 * chroma_mean * t);
    const float degrees = (float)(h * (180 / PI)), around = (degrees - 275) / 25, around2 = around * around;
    const float angle = (float)(60 * exp(-(double)around2)), radians = (float)(angle * (PI / 180));
    const float p = powf(chroma_mean, 7), q = p / (p + 6103515625.0F);
    const float r_t = (float)(-2 * sqrt((double)q) * sin((double)radians));

    const float l = (y.l - x.l) / (0.65F * s_l), c = (chroma2 - chroma1) / s_c, e = d_h / (4 * s_h);
    return (float)sqrt((double)l * l + (double)c * c + (double)e * e + (double)(r_t * c * e));
}

float ciede_pixel(const CiedeRow *reference, const CiedeRow *distorted, const CiedeFormat *format, uint32_t i)
{
    const uint32_t depth = format->bit_depth;
    uint32_t at = i >> format->halved;
    at = at < format->chroma_width ? at : format->chroma_width - 1;
    const Lab r = to_lab(sample(reference->y, i, depth), sample(reference->u, at, depth),
                         sample(reference->v, at, depth), depth);
    const Lab d = to_lab(sample(distorted->y, i, depth), sample(distorted->u, at, depth),
                         sample(distorted->v, at, depth), depth);
    return difference(r, d);
}

void ciede_row_c(const CiedeRow *reference, const CiedeRow *distorted, const CiedeFormat *format,
                 const CiedeTables *tables, float *differences)
{
    (void)tables;
    for (uint32_t i = 0; i < format->width; i++)
        differences[i] = ciede_pixel(reference, distorted, format, i);
}
