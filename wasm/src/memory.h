/* memory.h - the core's memory: blocks, and the areas into which a metric divides a block. */
#ifndef ANYVMAF_MEMORY_H
#define ANYVMAF_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Test builds have a guard zone before and after every block, and after every area: bytes that must not be written, which
 * memory.c checks. The shipped module has none.
 */
#ifdef ANYVMAF_GUARDS
#define CORE_GUARD 256
#else
#define CORE_GUARD 0
#endif

/* 16-byte aligned; NULL if memory is short. */
void *core_alloc(size_t bytes);
void core_free(void *memory);

/* Bytes of a block that an area takes. */
static inline size_t area_bytes(size_t bytes) { return ((bytes + 15) & ~(size_t)15) + CORE_GUARD; }

/* A block that its owner keeps between calls. */
typedef struct CoreBlock {
    void *memory;
    size_t bytes;
} CoreBlock;

/* At least `bytes` for one call, contents undefined; NULL if memory is short. */
void *block_reserve(CoreBlock *block, size_t bytes);
/* Exactly `bytes`, zeroed when first asked for or when the size changes; NULL if memory is short. */
void *block_keep(CoreBlock *block, size_t bytes);

#ifdef ANYVMAF_GUARDS

#define CORE_TEXT_OF(x) #x
#define CORE_TEXT(x) CORE_TEXT_OF(x)
#define core_alloc(bytes) guarded_alloc(bytes, __FILE__ ":" CORE_TEXT(__LINE__))
#define core_cut(next, bytes) guarded_cut(next, bytes, __FILE__ ":" CORE_TEXT(__LINE__))

/* place: the line that allocates, for the report. */
void *guarded_alloc(size_t bytes, const char *place);
void *guarded_cut(uint8_t **next, size_t bytes, const char *place);
/* Removes the zones of a block's areas. */
void guards_forget(const void *block, size_t bytes);

/* Describes writes past an end since the last call; NULL if there were none. */
const char *anyvmaf_guards_broken(void);

#else

/* The next area of a block, 16-byte aligned as the block is; *next moves on by area_bytes(). */
static inline void *core_cut(uint8_t **next, size_t bytes)
{
    void *area = *next;
    *next += area_bytes(bytes);
    return area;
}

static inline void guards_forget(const void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
}

#endif

#endif
