/**
 * @module training/scenes
 * Many kinds of generated scenes, so that a model that never sees the source learns what pictures may look like; KINDS
 * are for training and choosing, UNSEEN for nothing but the last figures.
 */
import { clouds, leaves, noiseTile, random, wrap } from './content.mjs';

const TILE = 256;

/** Numbers of a scene: uniform ones, and choices. */
function dice(seed) {
  const rand = random(seed);
  const between = (low, high) => low + (high - low) * rand();
  return {
    rand,
    between,
    whole: (low, high) => Math.floor(between(low, high + 1)),
    chance: (p) => rand() < p,
  };
}

/** A tile looked up between its samples. */
function sample(tile, x, y) {
  const [ix, iy] = [Math.floor(x), Math.floor(y)];
  const [fx, fy] = [x - ix, y - iy];
  const row = (iy & 255) << 8;
  const next = ((iy + 1) & 255) << 8;
  const [left, right] = [ix & 255, (ix + 1) & 255];
  return (
    (tile[row | left] * (1 - fx) + tile[row | right] * fx) * (1 - fy) +
    (tile[next | left] * (1 - fx) + tile[next | right] * fx) * fy
  );
}

/** A surface without end, about -1…1, of a kind drawn by lot: noise, ridges, stripes, bricks, dots or nothing. */
function surface(dice_) {
  const { rand, between, whole } = dice_;
  const tile = noiseTile(rand, TILE, between(0.3, 1.6));
  const zoom = between(0.4, 2);
  const period = between(3, 24);
  const turn = between(0, Math.PI);
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  const rough = between(0, 0.5);
  const noise = (x, y) => sample(tile, x * zoom, y * zoom);
  const patterns = [
    noise,
    noise,
    (x, y) => 1 - 2 * Math.abs(noise(x, y)),
    (x, y) => Math.sin(((x * c + y * s) * 2 * Math.PI) / period) + rough * noise(x, y),
    (x, y) => {
      const row = Math.floor(y / period);
      const along = wrap(x + (row & 1) * period, 2 * period);
      const joint = wrap(y, period) < 1.5 || along < 1.5;
      return (joint ? -1 : 0.3) + rough * noise(x, y);
    },
    (x, y) =>
      Math.hypot(wrap(x, period) - period / 2, wrap(y, period) - period / 2) < period / 3 ? 0.7 : -0.3,
    () => 0,
  ];
  return patterns[whole(0, patterns.length - 1)];
}

/** A scene from a value per pixel. */
function shaded(width, height, value) {
  return (index) => {
    const luma = new Float32Array(width * height);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) luma[y * width + x] = value(x, y, index);
    }
    return luma;
  };
}

/** A landscape of heights in slanting light, passed over: rock, sand, cloth. */
function terrain(seed, width, height) {
  const d = dice(seed);
  const tile = noiseTile(d.rand, TILE, d.between(0.9, 1.7));
  const zoom = d.between(0.15, 0.9);
  const steep = d.between(300, 1500);
  const [lx, ly] = [d.between(-1, 1), d.between(-1, 1)];
  const level = d.between(80, 160);
  const [dx, dy] = [d.between(-5, 5), d.between(-3, 3)];
  return shaded(width, height, (x, y, index) => {
    const [u, v] = [(x + dx * index) * zoom, (y + dy * index) * zoom];
    const here = sample(tile, u, v);
    const slope = (sample(tile, u + 0.7, v) - here) * lx + (sample(tile, u, v + 0.7) - here) * ly;
    return level + steep * slope + 25 * here;
  });
}

/** Houses with windows before a sky, near ones passing faster. */
function city(seed, width, height) {
  const d = dice(seed);
  const wall = surface(d);
  const speed = d.between(0, 6);
  const night = d.chance(0.3);
  const sky = night ? d.between(16, 50) : d.between(140, 225);
  const houses = Array.from({ length: d.whole(14, 40) }, (_, i) => ({
    x: d.rand() * width * 2,
    wide: d.between(0.06, 0.2) * width,
    top: height * d.between(0.1, 0.75),
    tone: night ? d.between(18, 60) : d.between(40, 190),
    rough: d.between(0, 20),
    pitch: [d.between(6, 22), d.between(8, 26)],
    glass: d.between(0.35, 0.7),
    near: 0.4 + i / 30,
    lit: d.whole(0, 999),
  }));
  return (index) => {
    const luma = new Float32Array(width * height);
    for (let i = 0; i < luma.length; i++) luma[i] = sky - (30 * Math.floor(i / width)) / height;
    for (const house of houses) {
      const from = wrap(house.x + speed * index * house.near, width * 2) - width * 0.4;
      for (let y = Math.floor(house.top); y < height; y++) {
        const v = (y - house.top) / house.pitch[1];
        for (let x = Math.max(0, Math.ceil(from)); x < Math.min(width, from + house.wide); x++) {
          const u = (x - from) / house.pitch[0];
          const window = u % 1 > 1 - house.glass && v % 1 > 1 - house.glass;
          const lamp = (Math.floor(u) * 7919 + Math.floor(v) * 104729 + house.lit) % 7;
          const pane = night ? (lamp < 2 ? 170 : -10) : lamp * 8 - 50;
          luma[y * width + x] = house.tone + (window ? pane : house.rough * wall(x - from, y));
        }
      }
    }
    return luma;
  };
}

/** A page of made-up letters with headings and pictures, scrolled: documents, slides, screens. */
function page(seed, width, height) {
  const d = dice(seed);
  const [paper, ink] = d.chance(0.7)
    ? [d.between(200, 235), d.between(16, 70)]
    : [d.between(16, 60), d.between(150, 235)];
  const picture = surface(d);
  const step = d.between(0, 5);
  const letters = Array.from({ length: 64 }, () =>
    Array.from({ length: 35 }, () => (d.chance(0.42) ? 1 : 0)),
  );
  const size = d.between(1, 2.6);
  const pitch = [size * 6.5, size * d.between(10, 14)];
  const pictured = d.between(0, 0.4);
  const hash = (a, b) => random(seed + a * 92821 + b * 68917)();
  const soft = d.chance(0.6);
  const dot = (letter, u, v) => (u < 0 || v < 0 || u > 4 || v > 6 ? 0 : letter[v * 5 + u]);
  const words = new Map();
  const letterAt = (row, column) => {
    const key = row * 4096 + column;
    if (!words.has(key))
      words.set(key, hash(row, column) < 0.16 ? -1 : Math.floor(hash(column, row + 7) * 64));
    return words.get(key);
  };
  return shaded(width, height, (x, y, index) => {
    const down = y + 40 + step * index;
    const block = Math.floor(down / 96);
    if (hash(block, Math.floor(x / 160)) < pictured) return 128 + 80 * picture(x, down);
    const [row, column] = [Math.floor(down / pitch[1]), Math.floor(x / pitch[0])];
    const at = letterAt(row, column);
    if (at < 0) return paper;
    const [u, v] = [(x - column * pitch[0]) / size - 0.5, (down - row * pitch[1]) / size - 0.5];
    const [iu, iv] = [Math.floor(u), Math.floor(v)];
    const letter = letters[at];
    if (!soft) return paper + (ink - paper) * dot(letter, Math.round(u), Math.round(v));
    const [fu, fv] = [u - iu, v - iv];
    const cover =
      (dot(letter, iu, iv) * (1 - fu) + dot(letter, iu + 1, iv) * fu) * (1 - fv) +
      (dot(letter, iu, iv + 1) * (1 - fu) + dot(letter, iu + 1, iv + 1) * fu) * fv;
    return paper + (ink - paper) * cover;
  });
}

/** Cells around scattered points, each of one surface, some outlined: tiles, leather, drawn pictures. */
function mosaic(seed, width, height) {
  const d = dice(seed);
  const pitch = d.between(14, 90);
  const surfaces = [surface(d), surface(d), surface(d)];
  const rough = d.between(0, 40);
  const outline = d.chance(0.5) ? d.between(1, 4) : 0;
  const [dark, bright] = [d.between(20, 90), d.between(130, 230)];
  const [dx, dy] = [d.between(-4, 4), d.between(-4, 4)];
  const points = new Map();
  const point = (cx, cy) => {
    const key = cx * 65536 + cy;
    if (!points.has(key)) {
      const rand = random(seed + cx * 7349 + cy * 91283);
      points.set(key, {
        x: (cx + rand()) * pitch,
        y: (cy + rand()) * pitch,
        tone: rand(),
        kind: Math.floor(rand() * 3),
      });
    }
    return points.get(key);
  };
  return shaded(width, height, (x, y, index) => {
    const [u, v] = [x + 999 + dx * index, y + 999 + dy * index];
    const [cx, cy] = [Math.floor(u / pitch), Math.floor(v / pitch)];
    let [first, second, nearest] = [1e9, 1e9, undefined];
    for (let j = -1; j <= 1; j++) {
      for (let i = -1; i <= 1; i++) {
        const p = point(cx + i, cy + j);
        const far = Math.hypot(u - p.x, v - p.y);
        if (far < first) [first, second, nearest] = [far, first, p];
        else if (far < second) second = far;
      }
    }
    if (second - first < outline) return dark * 0.6;
    return dark + (bright - dark) * nearest.tone + rough * surfaces[nearest.kind](u, v);
  });
}

/** Waves over each other, some whose length changes across the picture: water, blinds, test patterns. */
function waves(seed, width, height) {
  const d = dice(seed);
  const parts = Array.from({ length: d.whole(2, 9) }, () => {
    const length = 2 ** d.between(1.8, 7);
    const turn = d.between(0, Math.PI);
    const k = (2 * Math.PI) / length;
    return {
      kx: k * Math.cos(turn),
      ky: k * Math.sin(turn),
      bend: d.chance(0.4) ? d.between(-0.4, 0.4) * (k / width) : 0,
      push: d.between(-0.8, 0.8),
      high: Math.min(50, length * d.between(0.6, 3)),
    };
  });
  const cover = surface(d);
  const rough = d.between(0, 12);
  return shaded(width, height, (x, y, index) => {
    let value = 125 + rough * cover(x, y);
    for (const part of parts)
      value += part.high * Math.sin(part.kx * x + part.ky * y + part.bend * x * x + part.push * index);
    return value;
  });
}

/** Soft large shapes with fine strands over them: faces, hair, fur, cloth. */
function portrait(seed, width, height) {
  const d = dice(seed);
  const skin = noiseTile(d.rand, TILE, d.between(0.2, 0.9));
  const rough = d.between(0, 8);
  const back = d.between(30, 180);
  const blobs = Array.from({ length: d.whole(3, 12) }, () => ({
    x: d.rand() * width,
    y: d.rand() * height,
    wide: d.between(0.05, 0.35) * width,
    high: d.between(-90, 90),
    hard: d.between(1, 8),
    vx: d.between(-2, 2),
  }));
  const strands = Array.from({ length: d.whole(0, 260) }, () => ({
    x: d.between(0, width),
    y: d.between(0, height * 0.5),
    lean: d.between(-0.6, 0.6),
    curl: d.between(0, 9),
    long: d.between(0.1, 0.6) * height,
    tone: d.between(-70, 70),
  }));
  return (index) => {
    const luma = shaded(width, height, (x, y) => {
      let value = back + rough * sample(skin, x, y);
      for (const blob of blobs) {
        const far = ((x - blob.x - blob.vx * index) / blob.wide) ** 2 + ((y - blob.y) / blob.wide) ** 2;
        value += blob.high / (1 + far ** blob.hard);
      }
      return value;
    })(0);
    for (const strand of strands) {
      for (let y = Math.floor(strand.y); y < Math.min(height - 1, strand.y + strand.long); y++) {
        const down = y - strand.y;
        const at = strand.x + strand.lean * down + strand.curl * Math.sin(down / 17 + index / 9);
        const x = Math.floor(at);
        if (x < 0 || x > width - 2) continue;
        luma[y * width + x] += strand.tone * (1 - (at - x));
        luma[y * width + x + 1] += strand.tone * (at - x);
      }
    }
    return luma;
  };
}

/** Sky, hills behind each other and a plain that runs to the horizon. */
function landscape(seed, width, height) {
  const d = dice(seed);
  const sky = noiseTile(d.rand, TILE, d.between(1, 1.6));
  const ground = surface(d);
  const crest = noiseTile(d.rand, TILE, d.between(0.8, 1.3));
  const horizon = height * d.between(0.35, 0.65);
  const bright = d.between(140, 220);
  const cloudy = d.between(5, 60);
  const rough = d.between(10, 60);
  const hills = Array.from({ length: d.whole(1, 5) }, (_, i) => ({
    row: d.whole(0, 255),
    tone: bright - 35 - i * d.between(15, 30),
    high: d.between(0.05, 0.3) * height,
    cover: surface(d),
    rough: d.between(2, 30),
    zoom: d.between(0.1, 0.5),
  }));
  const [turn, walk] = [d.between(-4, 4), d.between(0, 4)];
  const floor = d.between(50, 140);
  return shaded(width, height, (x, y, index) => {
    const u = x + turn * index;
    let value;
    if (y > horizon) {
      const far = 60 / (y - horizon + 2);
      value = floor + rough * ground((u - width / 2) * far, 400 * far + walk * index) * Math.min(1, 3 / far);
    } else value = bright - (40 * y) / height + cloudy * sample(sky, u * 0.3, y * 0.5);
    for (const hill of hills) {
      const top = horizon - hill.high * (0.6 + sample(crest, u * hill.zoom, hill.row));
      if (y > top && y <= horizon) value = hill.tone + hill.rough * hill.cover(u, y);
    }
    return value;
  });
}

/** Slow shades and little else, now and then with shapes: animation, studio backgrounds, dark rooms. */
function shades(seed, width, height) {
  const d = dice(seed);
  const centres = Array.from({ length: d.whole(2, 6) }, () => [
    d.rand() * width,
    d.rand() * height,
    d.between(20, 225),
    d.between(-2, 2),
  ]);
  const dim = d.chance(0.3) ? d.between(0.2, 0.6) : 1;
  const sharp = d.between(1, 3.5);
  return shaded(width, height, (x, y, index) => {
    let [sum, weight] = [0, 0];
    for (const [cx, cy, tone, vx] of centres) {
      const w = (1 + (x - cx - vx * index) ** 2 + (y - cy) ** 2) ** -sharp;
      sum += w * tone;
      weight += w;
    }
    return (dim * sum) / weight;
  });
}

/** Julia sets: detail of every size beside flat regions. */
function julia(seed, width, height) {
  const d = dice(seed);
  const turn = d.between(0, 2 * Math.PI);
  const reach = d.between(0.65, 0.8);
  const [zoom, cx, cy] = [d.between(0.3, 1.2), d.between(-0.5, 0.5), d.between(-0.3, 0.3)];
  const [levels, slow] = [d.between(4, 14), d.between(0.001, 0.01)];
  return shaded(width, height, (x, y, index) => {
    const [a, b] = [reach * Math.cos(turn + slow * index), reach * Math.sin(turn + slow * index)];
    let [u, v] = [(x / width - 0.5) * 3 * zoom + cx, (y / height - 0.5) * 1.7 * zoom + cy];
    let count = 0;
    while (count < 60 && u * u + v * v < 16) {
      [u, v] = [u * u - v * v + a, 2 * u * v + b];
      count++;
    }
    if (count === 60) return 30;
    const smooth = count + 1 - Math.log2(Math.log(u * u + v * v) / 2);
    return 128 + 90 * Math.sin(smooth / levels + turn);
  });
}

/** Shapes of one tone with dark outlines, hiding each other: cartoons. */
function toon(seed, width, height) {
  const d = dice(seed);
  const line = d.between(1, 4);
  const back = d.between(60, 230);
  const shapes = Array.from({ length: d.whole(15, 90) }, () => ({
    x: d.rand() * width,
    y: d.rand() * height,
    size: 2 ** d.between(3, 6.5),
    sides: d.whole(2, 7),
    bulge: d.between(0, 0.35),
    turn: d.between(0, 6),
    tone: d.between(25, 230),
    vx: d.between(-4, 4),
    vy: d.between(-2, 2),
  }));
  return (index) => {
    const luma = new Float32Array(width * height).fill(back);
    for (const shape of shapes) {
      const [cx, cy] = [shape.x + shape.vx * index, shape.y + shape.vy * index];
      const most = shape.size * 1.4;
      for (let y = Math.max(0, Math.floor(cy - most)); y < Math.min(height, cy + most); y++) {
        for (let x = Math.max(0, Math.floor(cx - most)); x < Math.min(width, cx + most); x++) {
          const angle = Math.atan2(y - cy, x - cx);
          const edge = shape.size * (1 + shape.bulge * Math.cos(shape.sides * angle + shape.turn));
          const far = edge - Math.hypot(x - cx, y - cy);
          if (far > line) luma[y * width + x] = shape.tone;
          else if (far > 0) luma[y * width + x] = 18;
        }
      }
    }
    return luma;
  };
}

/** Folded noise, veins of stone and smoke. */
function marble(seed, width, height) {
  const d = dice(seed);
  const tiles = [noiseTile(d.rand, TILE, d.between(0.8, 1.2)), noiseTile(d.rand, TILE, d.between(0.9, 1.4))];
  const [fold, zoom, veins] = [d.between(20, 90), d.between(0.2, 0.7), d.between(4, 14)];
  return shaded(width, height, (x, y, index) => {
    const [u, v] = [x * zoom + index, y * zoom];
    const w = sample(tiles[0], u, v);
    const inner = sample(tiles[1], u + fold * w, v - fold * w);
    return 128 + 60 * Math.sin(veins * inner + w * 3) + 30 * inner;
  });
}

/** Fronds that branch, dark against bright or the other way. */
function ferns(seed, width, height) {
  const d = dice(seed);
  const [back, front] = d.chance(0.5)
    ? [d.between(150, 225), d.between(20, 90)]
    : [d.between(20, 70), d.between(120, 220)];
  const sky = noiseTile(d.rand, TILE, 1.4);
  const strokes = [];
  const grow = (x, y, angle, long, thick) => {
    if (long < 3) return;
    strokes.push([x, y, angle, long, thick, d.between(-30, 30)]);
    const [tx, ty] = [x + long * Math.cos(angle), y + long * Math.sin(angle)];
    for (let i = 0; i < 3; i++)
      grow(tx, ty, angle + d.between(-0.8, 0.8), long * d.between(0.45, 0.8), thick * 0.7);
  };
  for (let i = 0; i < 7; i++)
    grow(d.rand() * width, height, -Math.PI / 2 + d.between(-0.4, 0.4), height * 0.2, 4);
  const wind = d.between(0, 2);
  return (index) => {
    const luma = shaded(width, height, (x, y) => back + 15 * sample(sky, x * 0.3, y * 0.3))(0);
    for (const [x, y, angle, long, thick, tone] of strokes) {
      const sway = (wind * index * (height - y)) / height;
      for (let t = 0; t < long; t += 0.7) {
        const [px, py] = [x + sway + t * Math.cos(angle), y + t * Math.sin(angle)];
        for (let k = -thick / 2; k <= thick / 2; k += 0.7) {
          const [ix, iy] = [Math.round(px - k * Math.sin(angle)), Math.round(py + k * Math.cos(angle))];
          if (ix >= 0 && iy >= 0 && ix < width && iy < height) luma[iy * width + ix] = front + tone + 6 * k;
        }
      }
    }
    return luma;
  };
}

/** A walk through passages with patterned walls, as games draw them. */
function maze(seed, width, height) {
  const d = dice(seed);
  const walls = [surface(d), surface(d), surface(d)];
  const solid = (x, y) =>
    ((x | y) & 1) === 1 && ((x & y & 1) === 1 || random(seed + (x & 63) * 131 + (y & 63) * 7)() < 0.5);
  const [x0, y0, heading, rough] = [
    d.between(4, 30) * 2,
    d.between(4, 30) * 2,
    d.between(0, 6),
    d.between(15, 45),
  ];
  return (index) => {
    const luma = new Float32Array(width * height);
    const turn = heading + index * 0.02;
    for (let x = 0; x < width; x++) {
      const ray = turn + ((x / width - 0.5) * Math.PI) / 3;
      const [c, s] = [Math.cos(ray), Math.sin(ray)];
      let far = 0.05;
      while (far < 14 && !solid(Math.floor(x0 + 0.5 + c * far), Math.floor(y0 + 0.5 + s * far))) far += 0.01;
      const half = (height * 0.5) / (far * Math.cos(ray - turn));
      const along = (x0 + c * far + y0 + s * far) * 60;
      const kind = walls[(Math.floor(x0 + c * far) + Math.floor(y0 + s * far)) % 3];
      for (let y = 0; y < height; y++) {
        const down = y - height / 2;
        const wall = Math.abs(down) < half;
        const light = wall ? 1 / (1 + far * 0.25) : Math.abs(down) / height + 0.25;
        const cover = wall
          ? kind(along, (down / half) * 60)
          : walls[0]((c * height * 30) / down, (s * height * 30) / down);
        luma[y * width + x] = 16 + light * (130 + rough * cover);
      }
    }
    return luma;
  };
}

/** Threads over and under each other. */
function weave(seed, width, height) {
  const d = dice(seed);
  const pitch = d.between(4, 16);
  const twill = d.whole(1, 3);
  const fibre = noiseTile(d.rand, TILE, d.between(0.1, 0.6));
  const folds = noiseTile(d.rand, TILE, 1.5);
  const [turn, drift, tones] = [d.between(0, 1), d.between(-3, 3), [d.between(60, 110), d.between(130, 200)]];
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  return shaded(width, height, (x, y, index) => {
    const depth = sample(folds, (x + drift * index) * 0.3, y * 0.3);
    const [u, v] = [x * c + y * s + 14 * depth + drift * index, y * c - x * s + 9 * depth];
    const over = (Math.floor(u / pitch) + Math.floor(v / pitch) * twill) % (twill + 1) === 0;
    const across = over ? wrap(u, pitch) : wrap(v, pitch);
    const round = Math.sin((Math.PI * across) / pitch);
    return (
      (tones[over ? 0 : 1] + 14 * sample(fibre, over ? u * 2 : u / 3, over ? v / 3 : v * 2)) *
        (0.45 + 0.55 * round) +
      40 * depth
    );
  });
}

/** Lamps out of focus over each other in the dark, and a few sharp ones. */
function lamps(seed, width, height) {
  const d = dice(seed);
  const dark = d.between(16, 40);
  const lights = Array.from({ length: d.whole(40, 160) }, () => ({
    x: d.rand() * width,
    y: d.rand() * height,
    size: d.chance(0.3) ? d.between(0.8, 3) : d.between(6, 40),
    high: d.between(10, 90),
    rim: d.between(0, 0.6),
    vx: d.between(-3, 3),
  }));
  return (index) => {
    const luma = new Float32Array(width * height).fill(dark);
    for (const { x: x0, y: cy, size, high, rim, vx } of lights) {
      const cx = x0 + vx * index;
      for (let y = Math.max(0, Math.floor(cy - size)); y < Math.min(height, cy + size + 1); y++) {
        for (let x = Math.max(0, Math.floor(cx - size)); x < Math.min(width, cx + size + 1); x++) {
          const far = Math.hypot(x - cx, y - cy) / size;
          if (far < 1) luma[y * width + x] += high * (1 - rim + rim * far ** 4);
        }
      }
    }
    return luma;
  };
}

/** Lines of equal height with roads and signs: maps, plans, drawings. */
function chart(seed, width, height) {
  const d = dice(seed);
  const tile = noiseTile(d.rand, TILE, d.between(1.1, 1.5));
  const [zoom, lines, thin] = [d.between(0.15, 0.5), d.between(8, 25), d.between(0.05, 0.25)];
  const paper = d.between(170, 230);
  const [dx, dy] = [d.between(-3, 3), d.between(-3, 3)];
  const signs = random(seed + 5);
  const marks = Array.from({ length: 400 }, () => signs() < 0.3);
  return shaded(width, height, (x, y, index) => {
    const [u, v] = [x + dx * index, y + dy * index];
    const high = sample(tile, u * zoom, v * zoom) * lines;
    if (marks[(Math.floor(wrap(u, 800) / 40) + 20 * Math.floor(wrap(v, 800) / 40)) % 400]) {
      if (wrap(u, 40) < 9 && wrap(v, 40) < 9 && (Math.floor(u / 2) ^ Math.floor(v / 3)) & 1) return 30;
    }
    return wrap(high, 1) < thin ? 60 : paper + 8 * Math.floor(high) - (high < -lines / 3 ? 60 : 0);
  });
}

export const KINDS = {
  leaves,
  clouds,
  terrain,
  city,
  page,
  mosaic,
  waves,
  portrait,
  landscape,
  shades,
  julia,
  toon,
};
export const UNSEEN = { marble, ferns, maze, weave, lamps, chart };

/** Gaussian blur, or with a negative sigma the sharpening that subtracts it. */
function focus(luma, width, height, sigma) {
  const reach = Math.ceil(3 * Math.abs(sigma));
  const kernel = Array.from({ length: 2 * reach + 1 }, (_, i) =>
    Math.exp(-((i - reach) ** 2) / (2 * sigma * sigma)),
  );
  const sum = kernel.reduce((a, b) => a + b);
  const pass = (from, along, length, step) => {
    const to = new Float32Array(from.length);
    for (let i = 0; i < from.length; i++) {
      const at = along(i);
      let value = 0;
      for (let k = -reach; k <= reach; k++) {
        const place = Math.min(length - 1, Math.max(0, at + k));
        value += kernel[k + reach] * from[i + (place - at) * step];
      }
      to[i] = value / sum;
    }
    return to;
  };
  const rows = pass(luma, (i) => i % width, width, 1);
  const blurred = pass(rows, (i) => Math.floor(i / width), height, width);
  return sigma > 0 ? blurred : luma.map((value, i) => value + 0.6 * (value - blurred[i]));
}

/** A scene as a camera gives it: more or less in focus, sharpened, grainy, flat or contrasty, perhaps with bars. */
export function filmed(kind, seed, width, height) {
  const d = dice(seed ^ 0x5bd1e995);
  const scene = kind(seed, width, height);
  const lens = d.rand();
  const sigma = lens < 0.35 ? 0 : lens < 0.8 ? d.between(0.4, 1) : lens < 0.9 ? d.between(1, 2.5) : -1;
  const grain = d.chance(0.45) ? 2 ** d.between(-1, 3.2) : 0;
  const coarse = d.chance(0.4);
  const [contrast, level, gamma] = [d.between(0.6, 1.1), d.between(-25, 20), d.between(0.75, 1.3)];
  const bars = d.chance(0.1) ? Math.floor(height * d.between(0.05, 0.13)) : 0;
  return (index) => {
    let luma = scene(index);
    if (sigma !== 0) luma = focus(luma, width, height, sigma);
    const rand = random(seed * 31 + index);
    let grains = Float32Array.from(luma, () =>
      grain > 0 ? grain * (rand() + rand() + rand() - 1.5) * 2 : 0,
    );
    if (grain > 0 && coarse) grains = focus(grains, width, height, 0.7).map((value) => value * 2);
    return luma.map((value, i) => {
      const row = Math.floor(i / width);
      if (row < bars || row >= height - bars) return 16;
      const light = Math.min(1, Math.max(0, (128 + (value - 128) * contrast + level - 16) / 219));
      return 16 + 219 * light ** gamma + grains[i];
    });
  };
}
