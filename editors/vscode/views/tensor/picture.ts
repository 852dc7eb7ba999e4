// The picture: cells of a heat map or an image, a line, and the legend of its colours.

import { make, penOf } from "../dom";
import { range, scale } from "./colours";
import { imageLegend, imageShade } from "./image";
import { hatch, marksOf } from "./levels";
import { type Colour, colour, colourOfMark, INFINITE, NAN, NEGATIVE_INFINITE } from "./palette";
import { isImage } from "./slices";
import { type Decoded, type Place, short, state } from "./state";
import { drawStrip } from "./strip";
import { pictureSize } from "./summing";
import { themed } from "./theme";

type Pen = CanvasRenderingContext2D;

const css = (shade: Colour): string => `rgb(${shade.join()})`;

export function drawCells(pen: Pen, cells: Decoded, width: number, height: number): void {
  const image = new ImageData(cells.width, cells.height);
  const channels = state.channels ?? [];
  const shade = isImage() ? imageShade(channels) : heatShade(cells);
  const marks = isImage() ? undefined : cells.marks;
  for (let index = 0; index < cells.values.length; index++) {
    const shown = colourOfMark(marks?.[index] ?? 0) ?? shade(index);
    image.data.set([...shown, 255], index * 4);
  }
  const small = new OffscreenCanvas(cells.width, cells.height);
  small.getContext("2d")?.putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  const place = placement(width, height);
  pen.drawImage(small, place.x, place.y, place.width, place.height);
  const missing = isImage() ? marksOf(channels) : undefined;
  if (missing !== undefined) {
    drawStripes(pen, cells, missing, place);
  }
  drawStrip(pen, place);
  drawCursor(pen, place);
}

/** Stripes over the elements of an image that are no numbers. */
function drawStripes(pen: Pen, cells: Decoded, marks: Uint8Array, place: Place): void {
  const [width, height] = [Math.round(place.width), Math.round(place.height)];
  if (width < 1 || height < 1) {
    return;
  }
  const drawn = pen.getImageData(place.x, place.y, width, height);
  hatch(drawn, marks, (x, y) =>
    Math.floor((y * cells.height) / height) * cells.width + Math.floor((x * cells.width) / width));
  pen.putImageData(drawn, place.x, place.y);
}

function heatShade({ values }: Decoded): (index: number) => Colour {
  const { of } = scale();
  return (index) => of(values[index] ?? 0);
}

function drawCursor(pen: Pen, place: Place): void {
  const [row, column] = state.cursor;
  const [width, height] = [place.width / state.columns[1], place.height / state.rows[1]];
  const [x, y] = [place.x + (column - state.columns[0]) * width, place.y + (row - state.rows[0]) * height];
  pen.strokeStyle = themed("focusBorder") || "#08f";
  pen.lineWidth = 2;
  pen.strokeRect(x - 1, y - 1, Math.max(width, 4) + 2, Math.max(height, 4) + 2);
}

/** Where the picture is: elements are square, unless that would hide a long side. */
export function placement(stageWidth: number, stageHeight: number): Place {
  const [width, height] = pictureSize(stageWidth, stageHeight);
  const [rows, columns] = [state.rows[1], state.columns[1]];
  const side = Math.min(width / columns, height / rows);
  const isLong = Math.max(rows, columns) > 8 * Math.min(rows, columns);
  if (!isLong) {
    return { x: 0, y: 0, width: columns * side, height: rows * side };
  }
  return { x: 0, y: 0, width, height: rows > columns ? height : Math.min(height, Math.max(rows * side, 60)) };
}

export function drawLine(pen: Pen, { values, marks }: Decoded, width: number, height: number): void {
  const [low, high] = range();
  const margin = (high - low || 1) * 0.05;
  const y = (value: number): number => height - ((value - low + margin) / (high - low + 2 * margin || 1)) * height;
  drawLevels(pen, [low, high], y, width);
  const step = width / values.length;
  pen.strokeStyle = themed("charts-blue") || "#3794ff";
  pen.lineWidth = 1.5;
  pen.beginPath();
  let isDown = false;
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      isDown = false;
      return;
    }
    pen[isDown ? "lineTo" : "moveTo"]((index + 0.5) * step, y(value));
    isDown = true;
  });
  pen.stroke();
  marks?.forEach((mark, index) => {
    const shade = colourOfMark(mark);
    if (shade !== undefined) {
      pen.fillStyle = css(shade);
      pen.fillRect(index * step, 0, Math.max(step, 2), height);
    }
  });
  const at = ((state.cursor[1] - state.columns[0] + 0.5) / state.columns[1]) * width;
  pen.strokeStyle = themed("focusBorder");
  pen.beginPath();
  pen.moveTo(at, 0);
  pen.lineTo(at, height);
  pen.stroke();
}

/** Lines at the ends of the range and at 0, with the numbers at the ends. */
function drawLevels(
  pen: Pen, [low, high]: readonly [number, number], y: (value: number) => number, width: number,
): void {
  pen.strokeStyle = themed("panel-border") || "#888";
  pen.beginPath();
  for (const value of [0, low, high].filter((it) => it >= low && it <= high)) {
    pen.moveTo(0, y(value));
    pen.lineTo(width, y(value));
  }
  pen.stroke();
  pen.fillStyle = themed("descriptionForeground");
  pen.font = `11px ${themed("editor-font-family")}`;
  pen.fillText(short(high), 4, y(high) - 3);
  pen.fillText(short(low), 4, y(low) + 12);
}

export function drawLegend({ width, height, reduction }: Decoded): void {
  const legend = document.getElementById("legend");
  if (legend === null) {
    return;
  }
  if (isImage()) {
    legend.replaceChildren(...imageLegend(), ...keys());
    return;
  }
  const { low, high, map } = scale();
  const strip = make("canvas", { width: "256", height: "1", "aria-hidden": "true" });
  const pen = penOf(strip);
  for (let at = 0; at < 256; at++) {
    pen.fillStyle = css(colour(map, at / 255));
    pen.fillRect(at, 0, 1, 1);
  }
  const [rows, columns] = [state.rows[1], state.columns[1]];
  const covered = `${reduction} of ${Math.ceil(rows / height)}×${Math.ceil(columns / width)}`;
  legend.replaceChildren(
    make("code", {}, short(low)), strip, make("code", {}, short(high)),
    ...(height < rows || width < columns ? [make("span", { class: "dim" }, covered)] : []),
    ...keys(),
  );
}

/** What the colours of elements mean that are no numbers. */
function keys(): HTMLElement[] {
  const { nans = 0, positiveInfinities = 0, negativeInfinities = 0 } = state.figures ?? {};
  return [
    ...(nans > 0 ? [key(NAN, "NaN")] : []),
    ...(positiveInfinities > 0 ? [key(INFINITE, "∞")] : []),
    ...(negativeInfinities > 0 ? [key(NEGATIVE_INFINITE, "−∞")] : []),
  ];
}

function key(shade: Colour, text: string): HTMLElement {
  const [colour, isImageNow] = [css(shade), isImage()];
  const background = isImageNow ? `repeating-linear-gradient(45deg, ${colour} 0 2px, #000 2px 4px)` : colour;
  return make("span", { class: "dim" }, make("span", { class: "key", style: `background: ${background}` }), text);
}
