/* power.h - powers of doubles as libvmaf's machines compute them. */
#ifndef ANYVMAF_POWER_H
#define ANYVMAF_POWER_H

/*
 * base to the power of exponent, equal to pow() of glibc on processors with fused multiply-add. pow() here rounds some
 * steps twice that fuse there, which changes the last bit of one result in 2500. If base is not positive and finite, or the
 * result not well within the range of doubles, it calls pow().
 */
double power_fused(double base, double exponent);

#endif
