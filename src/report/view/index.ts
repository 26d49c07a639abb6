/**
 * @module report/view/index
 * Shared by the HTML report and the web page: rows and columns, number formats, scales, curves and their words.
 * Only the frame charts, which draw on a canvas, access a document.
 */
export { csvLine, findingValues, flawsOf, writeTableCsv } from '../brief.js';
export type { ListedEncode, PageLimits, PagePictures, PictureTry } from '../picture-room.js';
export {
  listedFrames,
  noPictures,
  PAGE_MEGABYTES,
  PAGE_MEGABYTES_RANGE,
  pagePicturesOf,
} from '../picture-room.js';
export { harmonicMean } from '../pool.js';
export { type MapsOfMetric, mapsOfMetric } from '../quality-metrics.js';
export { baselineFrom, reportTexts } from '../read/index.js';
export { namedCause, remarks, TRUST_OUTLOOK, trustOf } from '../trust.js';
export { type Baseline, type Change, changeOf } from '../verdict.js';
export * from './bd.js';
export * from './chart.js';
export { drawAxes, drawLine, type Pen, Scale } from './chart-drawing.js';
export * from './chart-state.js';
export * from './encodes.js';
export * from './gestures.js';
export * from './headline.js';
export * from './numbers.js';
export * from './rates.js';
export * from './scales.js';
export { htmlSections } from './sections.js';
export * from './tables.js';
