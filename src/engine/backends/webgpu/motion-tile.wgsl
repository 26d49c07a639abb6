// motion-tile.wgsl - what the two kinds of motion share: their bindings, and the tile of a workgroup with its edges. Follows
// samples.wgsl and sum.wgsl.

@group(0) @binding(0) var<storage, read> earlier: array<u32>;
@group(0) @binding(1) var<storage, read> current: array<u32>;
@group(0) @binding(2) var<storage, read_write> partials: array<vec2u>;
@group(0) @binding(3) var<uniform> format: Format;

const TILE_WIDTH = 64u;
const TILE_HEIGHT = 16u;
// Samples that the filter reads to either side.
const REACH = 2u;
// Columns and rows that are read for a tile.
const COLUMNS = TILE_WIDTH + 2u * REACH;
const ROWS = TILE_HEIGHT + 2u * REACH;
