/*
 * opaque.h - hides a value (a number, a vector or a pointer) from the compiler.
 *
 * When a compiler moves a value out of a loop, it loses the context of its use. It widens a constant factor, and is left
 * with products of 64 by 64 bits, for which there is no instruction. It loses track that all lanes of a copied count are
 * equal, and shifts lane by lane. And it turns constant offsets from one pointer, which are free, into more addresses than
 * there are registers.
 */
#ifndef ANYVMAF_OPAQUE_H
#define ANYVMAF_OPAQUE_H

#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

#endif
