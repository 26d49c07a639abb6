/**
 * @module index
 * The public API of anyvmaf in Node, documented; `index.browser` has the same names for browsers.
 */
import * as api from './api.js';
import { nodePlatform } from './platform/node/platform.js';
import type { EmbeddedServer, EmbeddedServerOptions, ScoreRun, Scorer } from './public.js';

export { formatShard, readShard } from './api.js';
export { configureNode as configure } from './platform/node/platform.js';
export * from './public.js';

/**
 * Scores a distorted video against its reference.
 *
 * Features of libvmaf equal version 3.2.0's to the last bit, whatever the number of threads.
 * @param request two videos: paths, URLs, blobs, bytes, streams or your own frames
 * @param options models, features and how to run; every member has a default
 * @returns frames, pooled values and how the run was done
 * @throws {AnyvmafError} a sentence for the user and a `code` for programs; the signal's reason if aborted
 * @example
 * ```ts
 * const report = await score({ reference: 'reference.y4m', distorted: 'distorted.y4m' });
 * console.log(report.pooled_metrics.vmaf?.mean);
 * ```
 */
export const score = /* @__PURE__ */ api.score(nodePlatform);

/**
 * Prepares a run without starting it, so that it can be handed to {@link createEmbeddedServer} first.
 * @param request and options as for {@link score}
 * @throws {AnyvmafError} `usage` for options that {@link score} refuses
 * @example
 * ```ts
 * const run = await prepareRun({ reference: 'reference.y4m', distorted: 'distorted.y4m' });
 * const server = await createEmbeddedServer(run);
 * const { address } = await server.listen({ transport: 'sse', port: 0 });
 * const report = await run.start();
 * await server.close();
 * ```
 */
export const prepareRun = /* @__PURE__ */ api.prepareRun(nodePlatform);

/**
 * Scores several distorted videos against one reference, which is decoded only once.
 * @param distorted at least one; all are scored at the same time
 * @param options as for {@link score}; callbacks also get the index of their video
 * @returns reports in the order of `distorted`, without those that were passed to `onFailure`
 * @throws {AnyvmafError} as {@link score}, for the first that fails; without `onFailure` the others stop too
 * @example
 * ```ts
 * const reports = await scoreMany('master.mov', ['a.mp4', 'b.mp4']);
 * ```
 */
export const scoreMany = /* @__PURE__ */ api.scoreMany(nodePlatform);

/**
 * Scores many pairs, each with its own options. Pairs of one reference run at the same time and share its
 * decoding; a failed pair becomes a result with its error, and the others continue.
 * @param options as for {@link score}, for all jobs; a job's own override them
 * @returns the result of each job, as it ends
 * @throws {AnyvmafError} `usage` for jobs or options of a wrong type; the signal's reason if aborted
 * @example
 * ```ts
 * const jobs = [{ reference: 'master.mov', distorted: 'a.mp4' }, { reference: 'master.mov', distorted: 'b.mp4' }];
 * for await (const { index, report, error } of scoreBatch(jobs)) {
 *   console.log(jobs[index]?.distorted, report?.pooled_metrics.vmaf?.mean ?? error?.message);
 * }
 * ```
 */
export const scoreBatch = /* @__PURE__ */ api.scoreBatch(nodePlatform);

/**
 * Measures one part of a pair, on any machine; {@link mergeShards} makes the report of all parts. Encoded
 * videos are decoded from the key frame before the part.
 * @param shard which part, such as `{ number: 2, count: 7 }`
 * @param options as for {@link score}; those that affect the result must be the same for all parts
 * @returns the record of the part, which `formatShard` writes and `readShard` reads
 * @throws {AnyvmafError} as {@link score}; `usage` for streams, for installed programs as a backend, and for
 * videos whose length is unknown before decoding
 * @example
 * ```ts
 * const shard = await scoreShard({ reference: 'master.mov', distorted: 'encode.mp4' }, { number: 2, count: 7 });
 * await writeFile('part-2.json', await formatShard(shard));
 * ```
 */
export const scoreShard = /* @__PURE__ */ api.scoreShard(nodePlatform);

/**
 * Makes the report of a run that was measured in parts, equal to the last bit to that of a whole run. Only `fps` and
 * `threads` describe the machines: pairs by the summed seconds of all parts, and the most workers of a part.
 * @param shards all parts of the run, in any order
 * @throws {AnyvmafError} `mismatch` if parts are missing or do not belong together, naming them; `model` or
 * `io` if a model cannot be loaded here
 * @example
 * ```ts
 * const parts = await Promise.all(names.map(async (name) => readShard(await readFile(name, 'utf8'), name)));
 * const report = await mergeShards(parts);
 * ```
 */
export const mergeShards = /* @__PURE__ */ api.mergeShards(nodePlatform);

/**
 * Checks a pair without scoring it: what both videos declare, what their first seconds show, and which
 * problems would make the score wrong.
 * @throws {AnyvmafError} if a video cannot be read, or cannot be paired as asked
 */
export const inspect = /* @__PURE__ */ api.inspect(nodePlatform);

/**
 * Describes what one video declares: container, codec, size, rate and length. Decodes no picture and reads no
 * frame times.
 * @throws {AnyvmafError} if it cannot be read
 */
export const describeVideo = /* @__PURE__ */ api.describeVideo(nodePlatform);

/**
 * Finds the offset between two videos: distorted frame n shows what reference frame n + offset shows. Shifts
 * nothing; pass the offset to {@link score}.
 * @throws {AnyvmafError} if a video cannot be read, or opened a second time, as streams and own sources
 */
export const align = /* @__PURE__ */ api.align(nodePlatform);

/**
 * Yields single pairs of frames as they are scored: paired, scaled, in one format. Each has its pictures, a
 * difference map and measured facts. One pair is in memory at a time.
 * @param frames numbers of pairs, as `frameNum` in a report of the same request and options, yielded in ascending
 * order, each once; or an async iterable, whose pairs come in its order from files that stay open until it ends
 * @param options how frames are paired, the same as when scoring; pass the report's `pairing.frames.offset`
 * instead of `auto`
 * @throws {AnyvmafError} `usage` for a number beyond the last pair and for a video that can be read only
 * once; as {@link score} for videos that cannot be read or paired
 * @example
 * ```ts
 * for await (const pair of extractFrames({ reference: 'a.mp4', distorted: 'b.mp4' }, [12, 250])) {
 *   await writeFile(`worst_${pair.index}.png`, await pair.distorted.png());
 *   console.log(pair.facts().blockiness.level);
 * }
 * ```
 */
export const extractFrames = /* @__PURE__ */ api.extractFrames(nodePlatform);

/**
 * Maps where single frames lose quality: what each place takes from VIF and ADM, the features of VMAF, per
 * scale and in total, as numbers and as a picture. Runs in the calling thread.
 * @param frames numbers of pairs, as `frameNum` in a report of the same request and options, yielded in
 * ascending order, each once
 * @param options how frames are paired, as for {@link extractFrames}, and how to cut the picture
 * @throws {AnyvmafError} as {@link extractFrames}; `usage` if the block size or gain limit is invalid
 * @example
 * ```ts
 * for await (const maps of qualityMaps({ reference: 'a.mp4', distorted: 'b.mp4' }, [12, 250])) {
 *   await writeFile(`lost_${maps.index}.png`, await maps.render().png());
 * }
 * ```
 */
export const qualityMaps = /* @__PURE__ */ api.qualityMaps(nodePlatform);

/**
 * Maps a pair of frames from {@link extractFrames}, as {@link qualityMaps} does.
 * @throws {AnyvmafError} `usage` if the block size or gain limit is invalid
 */
export const mapQuality = /* @__PURE__ */ api.mapQuality(nodePlatform);

/**
 * Finds the setting with which an encoder of the installed ffmpeg makes the smallest file that reaches a
 * quality. It encodes and scores short samples of the source, chooses each next encode from all points so
 * far, and keeps the points, so that another target needs few encodes or none.
 * @param source a file that ffmpeg reads
 * @throws {AnyvmafError} `usage` for an encoder, option or pixel format that ffmpeg lacks; `media` if the
 * source cannot be decoded or the encoder fails; `io` if the disk is full or ffmpeg is missing
 * @example
 * ```ts
 * const { value, predicted } = await searchQuality('master.mov', {
 *   encoder: 'libx264',
 *   targets: [{ atLeast: 95 }, { statistic: 'p5', atLeast: 90 }],
 * });
 * ```
 */
export const searchQuality = /* @__PURE__ */ api.searchQuality(nodePlatform);

/**
 * Finds the shots of a video by hard cuts: changes that neither motion nor the histogram of small pictures
 * explains. Fades, dissolves and flashes are not cuts.
 * @param source a file that ffmpeg reads
 * @throws {AnyvmafError} `usage` if an option is invalid; `media` if the source cannot be decoded; `io` if
 * ffmpeg is missing
 * @example
 * ```ts
 * const { shots } = await detectShots('master.mov');
 * for (const { first, count, start } of shots) console.log(first, count, start);
 * ```
 */
export const detectShots = /* @__PURE__ */ api.detectShots(nodePlatform);

/**
 * Finds a setting of an encoder for every shot, so that each shot, or all together, reach a quality with the
 * fewest bytes. With `output` it joins the encodes without encoding again, and scores the whole.
 * @param source a file that ffmpeg reads
 * @throws {AnyvmafError} as {@link searchQuality}; `media` if the shots cannot be joined frame by frame
 * @example
 * ```ts
 * const { shots, saving } = await tuneShots('master.mov', {
 *   encoder: 'libx264',
 *   targets: [{ atLeast: 93 }],
 *   goal: 'whole',
 *   output: 'encode.mp4',
 * });
 * ```
 */
export const tuneShots = /* @__PURE__ */ api.tuneShots(nodePlatform);

/**
 * Measures the rate and quality of a source in several sizes, and chooses the rungs of a ladder on the convex
 * hull of the curves. Smaller sizes are scored at the source's size, as they are watched.
 * @param source a file that ffmpeg reads
 * @throws {AnyvmafError} as {@link searchQuality}; `usage` for sizes larger than the source, and for rungs
 * between unmeasured qualities
 * @example
 * ```ts
 * const { rungs, takeovers } = await buildLadder('master.mov', { encoder: 'libx264', sizes: [1080, 720, 540, 360], rungs: 6 });
 * ```
 */
export const buildLadder = /* @__PURE__ */ api.buildLadder(nodePlatform);

/**
 * Compares encoders, or settings of one, on a source: their curves, what each needs for a quality, and
 * BD-rates against the first.
 * @param source a file that ffmpeg reads
 * @throws {AnyvmafError} as {@link searchQuality}
 * @example
 * ```ts
 * const { deltas } = await compareEncoders('master.mov', {
 *   encoders: [{ encoder: 'libx264' }, { encoder: 'libsvtav1', encoderOptions: { preset: '6' } }],
 * });
 * console.log(deltas[0]?.rate?.value); // such as -41.5: 41.5 % less for equal quality
 * ```
 */
export const compareEncoders = /* @__PURE__ */ api.compareEncoders(nodePlatform);

/**
 * Removes the points that searches keep.
 * @param folder as `cache` of the searches; default: the user's cache
 * @returns the number of searches that had points
 */
export const forgetSearches = /* @__PURE__ */ api.forgetSearches(nodePlatform);

/**
 * Opens a scorer for frames that you push pair by pair.
 * @param format of every frame, reference and distorted; metrics of colour need `colours`, metrics of time `frameRate`
 * @throws {AnyvmafError} `usage`, `model` or `feature` if an option is invalid
 * @example
 * ```ts
 * const scorer = await createScorer({ width: 64, height: 64, bitDepth: 8, chroma: '420' });
 * for (const frame of await scorer.push(referencePlanes, distortedPlanes)) console.log(frame.metrics.vmaf);
 * const report = await scorer.finish();
 * ```
 */
export const createScorer = /* @__PURE__ */ api.createScorer(nodePlatform);

/** Lists the models that ship with the package, and those that {@link pullModel} fetches. */
export const listModels = /* @__PURE__ */ api.listModels(nodePlatform);

/**
 * Describes one model.
 * @throws {AnyvmafError} `model` if no model has that name, or it has to be pulled first
 */
export const describeModel = /* @__PURE__ */ api.describeModel(nodePlatform);

/**
 * Fetches models that do not ship with the package, such as `vmaf_v1.0.16_3d0h`, checks them and stores them
 * in the user's cache (`ANYVMAF_CACHE`, else the system's cache folder; in browsers their own), so that
 * `version=NAME` works offline. A cached model is not fetched again.
 * @param name version of a model, or `all`
 * @returns the models now in the cache; empty for a model that ships with the package
 * @throws {AnyvmafError} `io` if a model cannot be fetched or stored, `model` if its name is unknown or its
 * checksum is wrong, `usage` if the URL is invalid; the signal's reason if aborted
 * @example
 * ```ts
 * await pullModel('vmaf_v1.0.16_3d0h');
 * const report = await score(request, { models: ['version=vmaf_v1.0.16_3d0h'] });
 * ```
 */
export const pullModel = /* @__PURE__ */ api.pullModel(nodePlatform);

/**
 * Opens a model to predict scores from feature values, for example those of a stored report.
 * @param model a model string in libvmaf's grammar
 * @throws {AnyvmafError} `usage`, `model`, `feature` or `io` if it cannot be loaded
 * @example
 * ```ts
 * const model = await openModel('version=vmaf_v0.6.1');
 * for (const { frameNum, metrics } of report.frames) console.log(frameNum, model.predict(metrics));
 * ```
 */
export const openModel = /* @__PURE__ */ api.openModel(nodePlatform);

/**
 * Evaluates a tiny ONNX model: compares its predictions for the rows of a feature table with the table's opinion
 * scores (column `mos`). By default it takes the `test` split, chosen by the SHA-256 of each row's key.
 * @param model id of a registered model, or path of an ONNX file
 * @param features a Parquet file, as {@link writeFeatures} writes it
 * @returns correlations and error with 95 % intervals, over rows, over clips and per key
 * @throws {AnyvmafError} `model` if the model cannot be loaded or takes no features, `usage` if the table lacks a
 * column or the split has fewer than two rows, `io` if a file cannot be read, `backend` if the device is unavailable
 * @example
 * ```ts
 * const { plcc, intervals } = await evaluateModel('model.onnx', 'features.parquet', { split: 'test' });
 * ```
 */
export const evaluateModel = /* @__PURE__ */ api.evaluateModel(nodePlatform);

/**
 * Evaluates several tiny models on the same rows and ranks them by PLCC. One that fails is listed with its reason.
 * @throws {AnyvmafError} `usage` and `io` if the table fits no model
 */
export const compareModels = /* @__PURE__ */ api.compareModels(nodePlatform);

/**
 * Writes a table of features to train and evaluate models: a Parquet file with a row per frame of every pair.
 * @param pairs scored one after the other
 * @returns the file in pieces, in order; at the end, a summary
 * @throws {AnyvmafError} as {@link score}; `usage` for pairs that cannot share a table
 * @example
 * ```ts
 * const pairs = [{ reference: 'source.y4m', distorted: 'encode.mp4', key: 'source', mos: 3.8 }];
 * await writeFile('features.parquet', writeFeatures(pairs, { teacher: 'version=vmaf_v0.6.1' }));
 * ```
 */
export const writeFeatures = /* @__PURE__ */ api.writeFeatures(nodePlatform);

/**
 * Writes the values per frame of a report as a Parquet file: the column `frame`, and one of doubles for each metric.
 * Loads hyparquet-writer when called.
 * @throws {AnyvmafError} `usage` if it is not a report
 */
export const formatFrames = /* @__PURE__ */ api.formatFrames();

/** Lists the tiny ONNX models that ship with the package. */
export const listTinyModels = /* @__PURE__ */ api.listTinyModels(nodePlatform);

/**
 * Describes one tiny model, which is read and checked but not run.
 * @param model an id of the registry, the path of an ONNX file, or the name of one of `options.files`
 * @throws {AnyvmafError} `model` if it does not exist or breaks the contract; `io` if it cannot be read
 */
export const describeTinyModel = /* @__PURE__ */ api.describeTinyModel(nodePlatform);

/** Lists the devices that can run tiny models here; broken drivers show only when a session starts. */
export const listTinyDevices = /* @__PURE__ */ api.listTinyDevices(nodePlatform);

/**
 * Lists the backends: this package's core, and those that an installed `vmaf` was built with. Does not check
 * drivers; {@link probeBackend} does.
 */
export const listBackends = /* @__PURE__ */ api.listBackends(nodePlatform);

/**
 * Checks that a backend works by scoring one small grey frame against itself. A failure of the backend is
 * returned, not thrown.
 * @throws {AnyvmafError} `usage` if no backend has that name
 */
export const probeBackend = /* @__PURE__ */ api.probeBackend(nodePlatform);

/** Describes the installed program that native backends run: path, version and build flags. */
export const describeNative = /* @__PURE__ */ api.describeNative(nodePlatform);

/** Checks what is installed here: the core, decoders and native backends. */
export const diagnose = /* @__PURE__ */ api.diagnose(nodePlatform);

/**
 * Makes a server with which agents and dashboards watch and steer a running measurement over a Unix socket,
 * HTTP or a pair of descriptors. It has its own thread, does not slow the measurement down, and is loaded
 * only here. Close it after the measurement: its thread keeps the process alive.
 * @param measurement a scorer of {@link createScorer}, or a run of {@link prepareRun} that has not started
 * @throws {AnyvmafError} `usage` for invalid options or a measurement that already has a server
 * @example
 * ```ts
 * const scorer = await createScorer({ width: 1920, height: 1080, bitDepth: 8, chroma: '420' });
 * const server = await createEmbeddedServer(scorer, { queueDepth: 64, maxDrainPerFrame: 4 });
 * console.log(await server.listen({ transport: 'sse', port: 0, dashboard: true }));
 * ```
 */
export async function createEmbeddedServer(
  measurement: Scorer | ScoreRun,
  options: EmbeddedServerOptions = {},
): Promise<EmbeddedServer> {
  const { openEmbeddedServer } = await import('./live/embedded.js');
  return openEmbeddedServer(measurement, options);
}
