/**
 * @module scripts/seeded-faults/faults
 * Faults of the kinds that people make, one a row: what it is, the file, the text there, the faulty text, and the rooms whose
 * tests ought to notice.
 */
// biome-ignore-all format: a table
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: code as text

const fault = (what, file, from, to, ...rooms) => ({ what, file, from, to, rooms });

export const FAULTS = [
  fault('percentile off by one', 'src/core/percentile.ts', '(percent * (sorted.length - 1)) / 100', '(percent * sorted.length) / 100', 'core', 'report', 'models'),
  fault('edit distance without transposition', 'src/core/nearest.ts', 'if (i > 1 && j > 1 && a[i - 1]', 'if (i > 1 && j > 2 && a[i - 1]', 'core'),
  fault('URL credentials shown', 'src/core/printable.ts', '(?:[^\\s/?#"\'<>]*@)?', '', 'core', 'remote'),
  fault('score is not clipped', 'src/models/predict.ts', 'return range && !this.#disableClip ? clip(range, score) : score;', 'return range && this.#disableClip ? clip(range, score) : score;', 'models', 'accuracy'),
  fault('deviation divides by n - 1', 'src/models/predict.ts', '(score - mean) * (score - mean), 0) / count', '(score - mean) * (score - mean), 0) / (count - 1)', 'models', 'accuracy'),
  fault('motion3 without its cap', 'src/metrics/motion.ts', 'return Math.min(x, this.#maximum);', 'return x;', 'metrics', 'engine', 'accuracy'),
  fault('motion2 looks at the later frame only', 'src/metrics/motion.ts', 'return earlier >= this.#lead ? Math.min(this.#value(earlier), later) : later;', 'return later;', 'metrics', 'engine', 'accuracy'),
  fault('wrong constant in VIF (portable C)', 'wasm/src/vif.c', '#define NSQ 131072', '#define NSQ 131073', 'wasm', 'accuracy'),
  fault('wrong constant in CIEDE2000', 'wasm/src/ciede.c', 'y + 1.28033 * v', 'y + 1.28003 * v', 'wasm', 'accuracy'),
  fault('wrong tap in the motion shader', 'src/engine/backends/webgpu/motion.wgsl', '3571 * (a + e)', '3572 * (a + e)', 'gpu'),
  fault('rounding left out in the motion shader', 'src/engine/backends/webgpu/motion.wgsl', '(low + (1 << (n - 1u)))', '(low)', 'gpu'),
  fault('last chunk ends a frame early', 'src/engine/plan/chunks.ts', 'total === null || first < total;', 'total === null || first < total - 1;', 'engine'),
  fault('short runs get no worker', 'src/engine/plan/chunks.ts', 'if (milliseconds < 2 * WORTH_A_WORKER) return 0;', 'if (milliseconds < 200 * WORTH_A_WORKER) return 0;', 'engine'),
  fault('shards of other plans are merged', 'src/engine/shards/merge.ts', 'if ((await planDigest(plan)) !== first.plan) {', 'if ((await planDigest(plan)) === undefined) {', 'engine'),
  fault('offset limit left out', 'src/core/options.ts', 'Number.isInteger(value) && Math.abs(Number(value)) <= MOST_FRAMES', 'Number.isInteger(value)', 'engine', 'api'),
  fault('empty range accepted', 'src/core/options.ts', 'if (end !== undefined && end <= start) {', 'if (end !== undefined && end < start) {', 'engine', 'api'),
  fault('subsampled frames counted wrong', 'src/engine/results/scoring.ts', 'Math.ceil(this.#finisher.frames / this.#subsample)', 'Math.floor(this.#finisher.frames / this.#subsample)', 'engine'),
  fault('pairs beyond the rate tolerance', 'src/media/pairing/timeline.ts', 'if (Math.abs(ratio - 1) <= EQUAL_RATIO) return 1;', 'if (Math.abs(ratio - 1) <= 10 * EQUAL_RATIO) return 1;', 'media', 'engine'),
  fault('swapped sides in partners', 'src/media/pairing/timeline.ts', 'partners[i] = at + Math.max(0, over) - first.reference;', 'partners[i] = at + Math.max(0, over) - first.distorted;', 'media', 'engine'),
  fault('search for an offset is unbounded', 'src/media/align/search.ts', 'Math.max(-window, Math.min(window, best))', 'best', 'media'),
  fault('truncated RIFF passes', 'src/media/cut-off.ts', "if (text.startsWith('RIFF') && text.startsWith('AVI ', 8)) return riff(reader);", '', 'media'),
  fault('stray bytes of Y4M are not reported', 'src/media/y4m.ts', 'index.strayBytes > 0', 'index.strayBytes > 1e9', 'media', 'engine', 'fuzz'),
  fault('path check skipped for opened files', 'src/files/checked-file.ts', 'if (!liesIn(folders, readlinkSync(`${DESCRIPTORS}/${found}`))) throw outside(path);', '', 'files', 'mcp'),
  fault('folders count as missing when outside', 'src/files/allowed-paths.ts', 'if (!allowed(real)) throw refusal;', 'if (!allowed(real) && !missing) throw refusal;', 'files', 'mcp'),
  fault('target of a link not checked for output', 'src/files/allowed-paths.ts', 'const real = await this.#real(target, path);', 'const real = await realpath(target).catch(() => undefined);', 'files', 'mcp'),
  fault('https may lead to http', 'src/remote/allowed-hosts.ts', "from?.protocol === 'https:' && protocol === 'http:'", "from?.protocol === 'https:' && protocol === 'ftp:'", 'remote'),
  fault('any port of an allowed host', 'src/remote/allowed-hosts.ts', 'named.port === port && isOf(named, host)', 'isOf(named, host)', 'remote'),
  fault('scripts of parts run', 'src/parts/npm.ts', "'--ignore-scripts',", "'--foreground-scripts',", 'parts'),
  fault('an ended parser gets bytes', 'src/parsing/parser.ts', 'if (this.#ended) throw this.#failure;', '', 'parsing'),
  fault('foreign playlists may name protocols', 'src/platform/ffmpeg/access.ts', "if (protocol !== undefined) return { kind: 'protocol', protocol };", '', 'platform', 'mcp'),
  fault('missing await when an encode is begun', 'src/platform/node/encoding/folder.ts', 'if (!own) await refuseSource(request.input, output);', 'if (!own) void refuseSource(request.input, output).catch(() => {});', 'search'),
  fault('BD-rate without conversion to percent', 'src/report/bd-rate.ts', 'value: Math.expm1(mean) * 100', 'value: mean * 100', 'report'),
  fault('bounds of <= read as >=', 'src/report/limits.ts', "=== '<=' ? '<=' : '>='", "=== '=<' ? '<=' : '>='", 'report', 'cli'),
  fault('harmonic mean without its shift', 'src/report/pool.ts', 'count / inverse - 1', 'count / inverse', 'report', 'accuracy'),
  fault('warnings do not make a score untrusted', 'src/report/trust.ts', "severity === 'error' || WRONG_PAIR.includes(code)", "severity === 'error'", 'report', 'cli'),
  fault('overflowing products in correlation', 'src/evaluate/correlation.ts', 'Math.max(-1, Math.min(1, xy / product))', 'xy / product', 'evaluate'),
  fault('colours beyond the end of the palette', 'src/pictures/palette.ts', 'Math.min(1, Math.max(0, share)) || 0', 'Math.max(0, share) || 0', 'pictures'),
  fault('length of a protobuf field not checked', 'src/tiny/onnx/protobuf.ts', 'if (length < 0 || length > this.#end - start) {', 'if (length < 0) {', 'tiny'),
  fault('search accepts what misses by a little', 'src/search/strategy.ts', 'const best = known.filter(({ margin }) => margin >= 0).at(-1);', 'const best = known.filter(({ margin }) => margin >= -1).at(-1);', 'search'),
  fault('curve is extended beyond its end', 'src/search/hull.ts', 'Math.min(curve.high, Math.max(curve.low, at))', 'Math.max(curve.low, at)', 'search'),
  fault('discarded parts are kept', 'src/queue/run-task.ts', 'if (!put.kept || put.settled)', 'if (put.settled)', 'queue'),
  fault('alarm ignores how long', 'src/live/alarms.ts', 'const raised = this.#held >= this.#needed;', 'const raised = this.#held >= 1;', 'live', 'mcp'),
  fault('history keeps too many alarms', 'src/live/history.ts', 'if (this.alarms.length > KEPT_ALARMS) this.alarms.shift();', '', 'live', 'mcp'),
  fault('option --scale-to ignored', 'src/cli/table-options.ts', 'size: sizeValue,', "size: (use) => { sizeValue(use); return 'ref'; },", 'cli'),
  fault('contradicting crops accepted', 'src/cli/table-options.ts', 'if (options.crop && (options.cropReference ?? options.cropDistorted) !== undefined) {', 'if (options.crop && options.cropReference !== undefined) {', 'cli'),
  fault('foreign origins may call', 'src/mcp/guard.ts', "allowed === '*' || allowed === origin", "allowed === '*' || allowed !== origin", 'mcp'),
  fault('a link forgets the range', 'web/src/setup/link.ts', "if (range) pairs.set('range', formatRange(range));", '', 'web', 'browser'),
  fault('frame cache keeps one too few behind', 'web/src/frames/store.ts', 'from: Math.max(0, index - before)', 'from: Math.max(0, index - before + 1)', 'web'),
  fault('wrong constant in the score of SSIMULACRA2', 'wasm/perceptual/ssimulacra2_frame.c', '0.020884521182843837', '0.020844521182843837', 'unit/wasm'),
  fault('swapped terms in a row of the colour matrix', 'wasm/perceptual/colour.c', '(y + cb[i] * matrix->green_cb) + cr[i] * matrix->green_cr', '(y + cb[i] * matrix->green_cr) + cr[i] * matrix->green_cb', 'unit/wasm'),
  fault('cvvdp leaves out the oldest frame', 'wasm/perceptual/cvvdp_frame.c', 'history->count < taps ? history->count : taps', 'history->count < taps ? history->count : taps - 1', 'unit/wasm'),
  fault('option transfer of colour metrics ignored', 'src/metrics/colour.ts', "value === 'auto' ? []", "value === 'auto' || name === 'transfer' ? []", 'unit/metrics'),
];
