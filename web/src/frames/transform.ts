/**
 * @module web/frames/transform
 * Zoom and position of the pictures, shared by all panes.
 */

/** In a picture's samples or a pane's screen pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** `x` and `y`: the sample at the centre of the pane. */
export interface View extends Point {
  /** Screen pixels per sample. */
  readonly zoom: number;
}

/** Levels for keys; at integers every sample is a square of pixels. */
const ZOOMS = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32] as const;
const LARGEST = 32;

export function fitted(picture: Size, pane: Size): View {
  const zoom = Math.min(pane.width / picture.width, pane.height / picture.height);
  return { zoom: Math.max(zoom, 1e-3), x: picture.width / 2, y: picture.height / 2 };
}

/** Limits the zoom, and leaves no gap beside a picture larger than the pane. */
export function bounded(view: View, picture: Size, pane: Size): View {
  const smallest = Math.min(fitted(picture, pane).zoom, 1 / 8);
  const zoom = Math.min(LARGEST, Math.max(smallest, view.zoom));
  const within = (at: number, length: number, room: number) => {
    const half = room / zoom / 2;
    return half * 2 >= length ? length / 2 : Math.min(length - half, Math.max(half, at));
  };
  return {
    zoom,
    x: within(view.x, picture.width, pane.width),
    y: within(view.y, picture.height, pane.height),
  };
}

/** Keeps a point in place. @param point in screen pixels from the pane's centre */
export function zoomedAt(view: View, zoom: number, point: Point): View {
  const factor = 1 / view.zoom - 1 / zoom;
  return { zoom, x: view.x + point.x * factor, y: view.y + point.y * factor };
}

/** Where the picture's first sample lies in the pane, rounded to screen pixels. */
export function originOf({ zoom, x, y }: View, pane: Size): Point {
  const start = (room: number, at: number) => Math.round(room / 2 - at * zoom) + 0;
  return { x: start(pane.width, x), y: start(pane.height, y) };
}

export function nextZoom(zoom: number, direction: 1 | -1): number {
  const near = 1e-6;
  const next =
    direction > 0
      ? ZOOMS.find((step) => step > zoom + near)
      : [...ZOOMS].reverse().find((step) => step < zoom - near);
  return next ?? zoom;
}

export function isSharp(zoom: number): boolean {
  return zoom >= 4 || (zoom >= 1 && Math.abs(zoom - Math.round(zoom)) < 1e-6);
}

/** `2:1`, or percent. */
export function zoomName(zoom: number): string {
  if (zoom >= 1 && Math.abs(zoom - Math.round(zoom)) < 1e-6) return `${Math.round(zoom)}:1`;
  if (zoom < 1 && Math.abs(1 / zoom - Math.round(1 / zoom)) < 1e-6) return `1:${Math.round(1 / zoom)}`;
  return `${Math.round(zoom * 100)} %`;
}
