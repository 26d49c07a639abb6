/**
 * @module index.browser
 * The public API of anyvmaf in browser pages and workers; documented in `index`, which has the same names.
 */
import * as api from './api.js';
import { browserPlatform } from './platform/browser/platform.js';

export { formatShard, readShard } from './api.js';
export { configureBrowser as configure } from './platform/browser/platform.js';
export * from './public.js';

export const score = /* @__PURE__ */ api.score(browserPlatform);
export const prepareRun = /* @__PURE__ */ api.prepareRun(browserPlatform);
export const scoreMany = /* @__PURE__ */ api.scoreMany(browserPlatform);
export const scoreBatch = /* @__PURE__ */ api.scoreBatch(browserPlatform);
export const scoreShard = /* @__PURE__ */ api.scoreShard(browserPlatform);
export const mergeShards = /* @__PURE__ */ api.mergeShards(browserPlatform);
export const inspect = /* @__PURE__ */ api.inspect(browserPlatform);
export const describeVideo = /* @__PURE__ */ api.describeVideo(browserPlatform);
export const align = /* @__PURE__ */ api.align(browserPlatform);
export const extractFrames = /* @__PURE__ */ api.extractFrames(browserPlatform);
export const qualityMaps = /* @__PURE__ */ api.qualityMaps(browserPlatform);
export const mapQuality = /* @__PURE__ */ api.mapQuality(browserPlatform);
export const searchQuality = /* @__PURE__ */ api.searchQuality(browserPlatform);
export const detectShots = /* @__PURE__ */ api.detectShots(browserPlatform);
export const tuneShots = /* @__PURE__ */ api.tuneShots(browserPlatform);
export const buildLadder = /* @__PURE__ */ api.buildLadder(browserPlatform);
export const compareEncoders = /* @__PURE__ */ api.compareEncoders(browserPlatform);
export const forgetSearches = /* @__PURE__ */ api.forgetSearches(browserPlatform);
export const createScorer = /* @__PURE__ */ api.createScorer(browserPlatform);
export const listModels = /* @__PURE__ */ api.listModels(browserPlatform);
export const describeModel = /* @__PURE__ */ api.describeModel(browserPlatform);
export const pullModel = /* @__PURE__ */ api.pullModel(browserPlatform);
export const openModel = /* @__PURE__ */ api.openModel(browserPlatform);
export const evaluateModel = /* @__PURE__ */ api.evaluateModel(browserPlatform);
export const compareModels = /* @__PURE__ */ api.compareModels(browserPlatform);
export const writeFeatures = /* @__PURE__ */ api.writeFeatures(browserPlatform);
export const formatFrames = /* @__PURE__ */ api.formatFrames();
export const listTinyModels = /* @__PURE__ */ api.listTinyModels(browserPlatform);
export const describeTinyModel = /* @__PURE__ */ api.describeTinyModel(browserPlatform);
export const listTinyDevices = /* @__PURE__ */ api.listTinyDevices(browserPlatform);
export const listBackends = /* @__PURE__ */ api.listBackends(browserPlatform);
export const probeBackend = /* @__PURE__ */ api.probeBackend(browserPlatform);
export const describeNative = /* @__PURE__ */ api.describeNative(browserPlatform);
export const diagnose = /* @__PURE__ */ api.diagnose(browserPlatform);

/** Needs threads and sockets of Node. @throws {AnyvmafError} `backend` */
export const createEmbeddedServer = api.refuseEmbeddedServer;
