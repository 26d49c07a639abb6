/* cvvdp_model.h - the parts of ColorVideoVDP that are worked out once for a call, in double. */
#ifndef PERCEPTUAL_CVVDP_MODEL_H
#define PERCEPTUAL_CVVDP_MODEL_H

#include "../include/perceptual.h"
#include "cvvdp.h"

/* The display of the options, showing a picture of a colour. */
void cvvdp_display(const AnyvmafCvvdpOptions *options, const AnyvmafColour *colour, CvvdpLight *light);

/*
 * The filters of the channels over time: weights of the frame itself, of the one before it, and so on.
 * frame_rate: above 0, up to CVVDP_MAX_RATE. Returns their number, up to CVVDP_MAX_TAPS.
 */
uint32_t cvvdp_temporal(double frame_rate, float weights[CVVDP_MAX_TAPS][CVVDP_CHANNELS]);

/* Bands of a picture with this shorter side: one below 4. */
uint32_t cvvdp_bands(double pixels_per_degree, uint32_t side);

/* Sensitivities in a band of that many. */
void cvvdp_sensitivity(double pixels_per_degree, uint32_t band, uint32_t bands, CvvdpSensitivity *sensitivity);

/* Sensitivity of a channel for a background, cd/m2. */
double cvvdp_sensitivity_at(const CvvdpSensitivity *sensitivity, uint32_t channel, double background);

/* The blur of masks and a factor; a picture that is too small for it is not blurred. */
void cvvdp_blur(int blurred, double factor, CvvdpBlur *blur);

/* The metric's power: (x + e)^exponent - e^exponent. */
double cvvdp_power(double x, double exponent);

/* Q of a picture from the norms over space of its channels and bands. */
double cvvdp_pooled(const double norms[CVVDP_CHANNELS][CVVDP_MAX_BANDS], uint32_t channels, uint32_t bands);

#endif
