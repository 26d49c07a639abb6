/*
 * opaque.h - makes a compiler forget what it knows of a value: a number, a vector or a pointer.
 *
 * What it moves out of a loop, it sees alone there and no longer as what it is for. It widens a constant factor, and is
 * left with products of 64 by 64 bits, for which there is no instruction; of a count that it copied to all lanes, it no
 * longer knows that they are equal, and shifts lane by lane; and of constant distances from one pointer, which cost
 * nothing, it makes more addresses than there are registers.
 */
#ifndef ANYVMAF_OPAQUE_H
#define ANYVMAF_OPAQUE_H

#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

#endif
