/* memory.c - the core's memory, and the guard zones that test builds put between its areas. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#ifndef ANYVMAF_GUARDS

void *core_alloc(size_t bytes) { return aligned_alloc(16, (bytes + 15) & ~(size_t)15); }
void core_free(void *memory) { free(memory); }

#else

#include <stdio.h>

/* Neither a small number nor a likely sum of a picture. */
enum { FILL = 0xa5, MOST_ZONES = 1 << 14, MOST_BLOCKS = 256 };

typedef struct Zone {
    uint8_t *start, *end;
    const char *place;
    size_t bytes; /* of the area that the zone follows, 0 for one in front of a block */
} Zone;

typedef struct Block {
    void *memory;
    size_t bytes;
} Block;

/* Only in test builds, whose instances have one thread. */
static Zone zones[MOST_ZONES];
static uint32_t zone_count;
static Block blocks[MOST_BLOCKS];
static char report[200];

static void check(const Zone *zone)
{
    for (uint8_t *at = zone->start; at < zone->end; at++) {
        if (*at != FILL && !report[0])
            snprintf(report, sizeof report, "%s: byte %d %s %zu bytes is overwritten", zone->place,
                     zone->bytes ? (int)(at - zone->start) : (int)(zone->end - at),
                     zone->bytes ? "behind an area of" : "in front of a block of", zone->bytes);
        *at = FILL;
    }
}

static void add_zone(uint8_t *start, uint8_t *end, const char *place, size_t bytes)
{
    if (zone_count == MOST_ZONES) {
        snprintf(report, sizeof report, "%s: there are too many guard zones", place);
        return;
    }
    memset(start, FILL, (size_t)(end - start));
    zones[zone_count++] = (Zone){start, end, place, bytes};
}

/* Checks the zones that overlap a range a last time, and removes them. */
static void drop_zones(const uint8_t *start, const uint8_t *end)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < zone_count; i++) {
        if (zones[i].start < end && zones[i].end > start)
            check(&zones[i]);
        else
            zones[kept++] = zones[i];
    }
    zone_count = kept;
}

void *guarded_alloc(size_t bytes, const char *place)
{
    uint32_t i = 0;
    while (i < MOST_BLOCKS && blocks[i].memory)
        i++;
    uint8_t *start = i < MOST_BLOCKS ? aligned_alloc(16, area_bytes(bytes) + CORE_GUARD) : NULL;
    if (!start)
        return NULL;
    uint8_t *memory = start + CORE_GUARD;
    blocks[i] = (Block){memory, bytes};
    memset(memory, FILL, bytes);
    add_zone(start, memory, place, 0);
    add_zone(memory + bytes, start + area_bytes(bytes) + CORE_GUARD, place, bytes);
    return memory;
}

void core_free(void *memory)
{
    for (uint32_t i = 0; memory && i < MOST_BLOCKS; i++) {
        if (blocks[i].memory != memory)
            continue;
        uint8_t *start = (uint8_t *)memory - CORE_GUARD;
        drop_zones(start, start + area_bytes(blocks[i].bytes) + CORE_GUARD);
        blocks[i] = (Block){0};
        free(start);
        return;
    }
}

void *guarded_cut(uint8_t **next, size_t bytes, const char *place)
{
    uint8_t *area = *next;
    *next += area_bytes(bytes);
    drop_zones(area, *next);
    add_zone(area + bytes, *next, place, bytes);
    return area;
}

void guards_forget(const void *block, size_t bytes) { drop_zones(block, (const uint8_t *)block + bytes); }

const char *anyvmaf_guards_broken(void)
{
    static char told[sizeof report];
    for (uint32_t i = 0; i < zone_count; i++)
        check(&zones[i]);
    memcpy(told, report, sizeof told);
    report[0] = 0;
    return told[0] ? told : NULL;
}

#endif

void *block_reserve(CoreBlock *block, size_t bytes)
{
    if (block->bytes < bytes) {
        core_free(block->memory);
        block->memory = core_alloc(bytes);
        block->bytes = block->memory ? bytes : 0;
    }
    guards_forget(block->memory, block->bytes);
    return block->memory;
}

void *block_keep(CoreBlock *block, size_t bytes)
{
    if (block->bytes != bytes) {
        core_free(block->memory);
        block->memory = core_alloc(bytes);
        block->bytes = block->memory ? bytes : 0;
        if (block->memory)
            memset(block->memory, 0, bytes);
    }
    return block->memory;
}
