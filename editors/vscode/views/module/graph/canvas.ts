// Drawing on canvases: once in a frame, in the size and the resolution of the screen, with texts that fit.

import { penOf } from "../../dom";
import { state } from "../state";

const drawings: (() => void)[] = [];
let isAsked = false;

/** Lets a part of the graph's tab be drawn whenever `draw` asks, after those that were named before. */
export function onDraw(act: () => void): void {
  drawings.push(act);
}

/** Draws the graph's tab in the next frame, if it is shown. */
export function draw(): void {
  if (isAsked || state.tab !== "graph") {
    return;
  }
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    drawings.forEach((act) => act());
  });
}

/** A cleared canvas that is as large as the element around it; its pen draws in the units of the page. */
export function cleared(
  canvas: HTMLCanvasElement, around: HTMLElement,
): { width: number; height: number; pen: CanvasRenderingContext2D } {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [around.clientWidth, around.clientHeight];
  resize(canvas, Math.round(width * ratio), Math.round(height * ratio));
  const pen = penOf(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { width, height, pen };
}

/** Sets the size of a canvas, which would clear it, unless it has that size. */
export function resize(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
}

/** Shortened texts, by font, width and text: to measure them takes longer than to draw them. */
const shortenedTexts = new Map<string, string>();
const MOST_TEXTS = 20_000;

/** A text, or as much of it as fits into a width. */
export function shortened(pen: CanvasRenderingContext2D, text: string, width: number): string {
  const key = `${pen.font} ${width} ${text}`;
  const known = shortenedTexts.get(key);
  if (known !== undefined) {
    return known;
  }
  const fits = (part: string): boolean => pen.measureText(part).width <= width;
  const cut = (length: number): string => `${text.slice(0, length)}…`;
  const result = fits(text) ? text : cut(longest(text.length, (length) => fits(cut(length))));
  if (shortenedTexts.size > MOST_TEXTS) {
    shortenedTexts.clear();
  }
  shortenedTexts.set(key, result);
  return result;
}

/** The greatest length that fits, from 0 to a most: if one fits, so do those below it. */
function longest(most: number, fits: (length: number) => boolean): number {
  let [from, to] = [0, most];
  while (from < to) {
    const middle = (from + to + 1) >> 1;
    if (fits(middle)) {
      from = middle;
    } else {
      to = middle - 1;
    }
  }
  return from;
}
