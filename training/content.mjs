/**
 * @module training/content
 * Generated scenes for training: overlapping textured discs and drifting noise whose statistics are those of natural
 * pictures (dead leaves, 1/f spectra), from a seed, as Y4M.
 */

/** Mulberry32: uniform numbers in 0…1 from a 32-bit seed. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A square tile of noise with a spectrum of 1/f^slope, wrapping around, about -1…1. */
export function noiseTile(rand, size, slope) {
  const tile = new Float32Array(size * size);
  for (let cells = 2; cells <= size; cells *= 2) {
    const grid = Float32Array.from({ length: cells * cells }, () => rand() * 2 - 1);
    const amplitude = cells ** -slope;
    const step = size / cells;
    for (let y = 0; y < size; y++) {
      const gy = Math.floor(y / step);
      const fy = smooth(y / step - gy);
      const rows = [(gy % cells) * cells, ((gy + 1) % cells) * cells];
      for (let x = 0; x < size; x++) {
        const gx = Math.floor(x / step);
        const fx = smooth(x / step - gx);
        const [left, right] = [gx % cells, (gx + 1) % cells];
        const top = grid[rows[0] + left] * (1 - fx) + grid[rows[0] + right] * fx;
        const bottom = grid[rows[1] + left] * (1 - fx) + grid[rows[1] + right] * fx;
        tile[y * size + x] += amplitude * (top * (1 - fy) + bottom * fy);
      }
    }
  }
  const most = tile.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-9);
  return tile.map((value) => value / most);
}

const smooth = (t) => t * t * (3 - 2 * t);
/** Enough to hide most of the backdrop. */
const DISCS = 7000;

/** A number brought into 0…size, as a torus does. */
export const wrap = (value, size) => ((value % size) + size) % size;

/**
 * Discs of a power-law size distribution that hide each other, each with its own tone, shading and texture, seen by a
 * moving camera: near ones move faster.
 */
export function leaves(seed, width, height) {
  const rand = random(seed);
  const between = (low, high) => low + (high - low) * rand();
  const tiles = [between(0.4, 0.8), between(0.8, 1.2), between(1.2, 1.8)].map((slope) =>
    noiseTile(rand, 256, slope),
  );
  const [smallest, largest] = [between(2, 8), between(60, 200)];
  const [dark, bright] = [between(16, 60), between(150, 235)];
  const texture = between(4, 40);
  const speed = rand() < 0.2 ? 0 : between(0.3, 8);
  const heading = between(0, 2 * Math.PI);
  const grain = rand() < 0.4 ? between(1, 5) : 0;
  const span = { x: width * 1.8, y: height * 1.8 };
  // Far to near; radii follow p(r) ~ r^-3 between the two bounds.
  const discs = Array.from({ length: DISCS }, (_, i) => {
    const radius = (smallest ** -2 + rand() * (largest ** -2 - smallest ** -2)) ** -0.5;
    return {
      x: rand() * span.x,
      y: rand() * span.y,
      radius,
      squeeze: between(0.4, 1),
      tone: between(dark, bright),
      tilt: between(-30, 30),
      tile: tiles[Math.floor(rand() * tiles.length)],
      texture: texture * rand(),
      shift: Math.floor(rand() * 65536),
      nearness: 0.5 + i / DISCS,
    };
  });
  const grainTile = Float32Array.from({ length: 1 << 16 }, () => rand() + rand() + rand() - 1.5);
  return (index) => {
    const luma = new Float32Array(width * height);
    const back = speed * index * 0.4;
    for (let y = 0; y < height; y++) {
      const row = (Math.floor((y + back * Math.sin(heading)) / 2) & 255) << 8;
      for (let x = 0; x < width; x++) {
        const column = Math.floor((x + back * Math.cos(heading)) / 2) & 255;
        luma[y * width + x] = (dark + bright) / 2 + texture * 1.5 * tiles[2][row | column];
      }
    }
    for (const disc of discs) {
      const move = speed * index * disc.nearness;
      const cx = wrap(disc.x + move * Math.cos(heading), span.x) - 0.4 * width;
      const cy = wrap(disc.y + move * Math.sin(heading), span.y) - 0.4 * height;
      const [rx, ry] = [disc.radius, disc.radius * disc.squeeze];
      const top = Math.max(0, Math.ceil(cy - ry));
      const bottom = Math.min(height - 1, Math.floor(cy + ry));
      for (let y = top; y <= bottom; y++) {
        const v = (y - cy) / ry;
        const half = rx * Math.sqrt(1 - v * v);
        const first = Math.max(0, Math.ceil(cx - half));
        const last = Math.min(width - 1, Math.floor(cx + half));
        const row = (Math.floor(y - cy + 512) & 255) << 8;
        for (let x = first; x <= last; x++) {
          const u = (x - cx) / rx;
          const grainy = disc.tile[((row | (Math.floor(x - cx + 512) & 255)) + disc.shift) & 65535];
          luma[y * width + x] = disc.tone + disc.tilt * (u + v) + disc.texture * grainy;
        }
      }
    }
    if (grain > 0) {
      const from = Math.floor(random(seed + index)() * 65536);
      for (let i = 0; i < luma.length; i++) luma[i] += grain * grainTile[(from + i * 7) & 65535];
    }
    return luma;
  };
}

/** Noise of two scales that drifts one over the other, with a slow change of brightness: sky, water, smoke. */
export function clouds(seed, width, height) {
  const rand = random(seed);
  const between = (low, high) => low + (high - low) * rand();
  const layers = [noiseTile(rand, 512, between(1, 1.6)), noiseTile(rand, 512, between(0.5, 1))];
  const zoom = [between(1, 4), between(0.5, 2)];
  const drift = layers.map(() => [between(-4, 4), between(-3, 3)]);
  const weight = [between(30, 80), between(3, 30)];
  const level = between(70, 170);
  return (index) => {
    const luma = new Float32Array(width * height);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        let value = level + 20 * (y / height - 0.5);
        layers.forEach((tile, i) => {
          const tx = wrap(x / zoom[i] + drift[i][0] * index, 512);
          const ty = wrap(y / zoom[i] + drift[i][1] * index, 512);
          const [ix, iy] = [Math.floor(tx), Math.floor(ty)];
          const [fx, fy] = [tx - ix, ty - iy];
          const at = (dx, dy) => tile[((iy + dy) & 511) * 512 + ((ix + dx) & 511)];
          value +=
            weight[i] *
            ((at(0, 0) * (1 - fx) + at(1, 0) * fx) * (1 - fy) + (at(0, 1) * (1 - fx) + at(1, 1) * fx) * fy);
        });
        luma[y * width + x] = value;
      }
    }
    return luma;
  };
}

/**
 * Chroma for a scene, from 16 to 240: two scenes of half its size, each drawn towards the middle by its own share, so
 * that colour is as strong as pictures have it. Rows are those of 4:2:0.
 */
export function paint(make, seed, width, height) {
  const rand = random(seed * 31 + 5);
  const half = [Math.ceil(width / 2), Math.ceil(height / 2)];
  const planes = [1, 2].map((k) => ({ scene: make(seed * 7 + k, ...half), share: 0.15 + 0.45 * rand() }));
  return (index) => planes.map(({ scene, share }) => scene(index).map((v) => 128 + share * (v - 128)));
}

const bytes = (plane, most) =>
  Buffer.from(Uint8Array.from(plane, (v) => Math.min(most, Math.max(16, Math.round(v)))));

/**
 * A scene as the bytes of a Y4M file, 8-bit 4:2:0, 25 frames a second.
 * @param colours what {@link paint} gives; without it the scene is grey
 */
export function y4m(scene, width, height, frames, colours) {
  const grey = Buffer.alloc(2 * Math.ceil(width / 2) * Math.ceil(height / 2), 128);
  const parts = [Buffer.from(`YUV4MPEG2 W${width} H${height} F25:1 Ip A1:1 C420jpeg\n`)];
  for (let index = 0; index < frames; index++) {
    const chroma = colours === undefined ? [grey] : colours(index).map((plane) => bytes(plane, 240));
    parts.push(Buffer.from('FRAME\n'), bytes(scene(index), 235), ...chroma);
  }
  return Buffer.concat(parts);
}
