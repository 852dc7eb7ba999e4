// The picture: cells of a heat map or an image, a line, and the legend of its colours.

import { make } from "../page.js";
import { range, scale } from "./colours.js";
import { colour, INFINITE, NAN, NEGATIVE_INFINITE } from "./palette.js";
import { isImage, short, state } from "./state.js";

export function drawCells(context, width, height) {
  const { cells } = state;
  const { of } = scale();
  const image = new ImageData(cells.width, cells.height);
  const [low, high] = range();
  for (let index = 0; index < cells.values.length; index++) {
    const mark = cells.marks?.[index] ?? 0;
    let shown = mark & 1 ? NAN : mark & 2 ? INFINITE : mark & 4 ? NEGATIVE_INFINITE : undefined;
    if (shown === undefined && isImage()) {
      const level = (channel) => Math.round((255 * (channel.values[index] - low)) / (high - low || 1));
      shown = state.channels.length === 3 ? state.channels.map(level) : Array(3).fill(level(state.channels[0]));
    }
    image.data.set([...(shown ?? of(cells.values[index])), 255], index * 4);
  }
  const small = new OffscreenCanvas(cells.width, cells.height);
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  const place = placement(width, height);
  context.drawImage(small, place.x, place.y, place.width, place.height);
  // The cursor.
  const [row, column] = state.cursor;
  const [cellWidth, cellHeight] = [place.width / state.columns[1], place.height / state.rows[1]];
  const style = getComputedStyle(document.body);
  context.strokeStyle = style.getPropertyValue("--vscode-focusBorder") || "#08f";
  context.lineWidth = 2;
  const x = place.x + (column - state.columns[0]) * cellWidth;
  const y = place.y + (row - state.rows[0]) * cellHeight;
  context.strokeRect(x - 1, y - 1, Math.max(cellWidth, 4) + 2, Math.max(cellHeight, 4) + 2);
}

/** Where the picture is: elements are square, unless that would hide a long side. */
export function placement(width, height) {
  const [rows, columns] = [state.rows[1], state.columns[1]];
  const side = Math.min(width / columns, height / rows);
  const isLong = Math.max(rows, columns) > 8 * Math.min(rows, columns);
  const [w, h] = isLong ? [width, Math.min(height, Math.max(rows * side, 60))] : [columns * side, rows * side];
  return { x: 0, y: 0, width: w, height: isLong && rows > columns ? height : h };
}

export function drawLine(context, width, height) {
  const { values, marks } = state.cells;
  const style = getComputedStyle(document.body);
  const [low, high] = range();
  const margin = (high - low || 1) * 0.05;
  const y = (value) => height - ((value - low + margin) / (high - low + 2 * margin || 1)) * height;
  context.strokeStyle = style.getPropertyValue("--vscode-panel-border") || "#888";
  context.beginPath();
  for (const value of [0, low, high].filter((it) => it >= low && it <= high)) {
    context.moveTo(0, y(value));
    context.lineTo(width, y(value));
  }
  context.stroke();
  context.fillStyle = style.getPropertyValue("--vscode-descriptionForeground");
  context.font = `11px ${style.getPropertyValue("--vscode-editor-font-family")}`;
  context.fillText(short(high), 4, y(high) - 3);
  context.fillText(short(low), 4, y(low) + 12);
  context.strokeStyle = style.getPropertyValue("--vscode-charts-blue") || "#3794ff";
  context.lineWidth = 1.5;
  context.beginPath();
  let isDown = false;
  const step = width / values.length;
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      isDown = false;
      return;
    }
    context[isDown ? "lineTo" : "moveTo"]((index + 0.5) * step, y(value));
    isDown = true;
  });
  context.stroke();
  marks?.forEach((mark, index) => {
    if (mark !== 0) {
      context.fillStyle = `rgb(${mark & 1 ? NAN : mark & 2 ? INFINITE : NEGATIVE_INFINITE})`;
      context.fillRect(index * step, 0, Math.max(step, 2), height);
    }
  });
  const at = ((state.cursor[1] - state.columns[0] + 0.5) / state.columns[1]) * width;
  context.strokeStyle = style.getPropertyValue("--vscode-focusBorder");
  context.beginPath();
  context.moveTo(at, 0);
  context.lineTo(at, height);
  context.stroke();
}

export function drawLegend() {
  const legend = document.getElementById("legend");
  if (legend === null) {
    return;
  }
  const { low, high, map } = scale();
  const strip = make("canvas", { width: "256", height: "1", "aria-hidden": "true" });
  const context = strip.getContext("2d");
  for (let at = 0; at < 256; at++) {
    context.fillStyle = `rgb(${colour(map, at / 255)})`;
    context.fillRect(at, 0, 1, 1);
  }
  const key = (shade, text) => {
    const square = make("span", { class: "key" });
    square.style.background = `rgb(${shade})`;
    return make("span", { class: "dim" }, square, text);
  };
  const figures = state.figures;
  const how = state.cells.height < state.rows[1] || state.cells.width < state.columns[1] ? [make("span", { class: "dim" }, `${state.cells.reduction} of ${Math.ceil(state.rows[1] / state.cells.height)}×${Math.ceil(state.columns[1] / state.cells.width)}`)] : [];
  legend.replaceChildren(
    make("code", {}, short(low)), strip, make("code", {}, short(high)), ...how,
    ...(figures?.nans ? [key(NAN, "NaN")] : []), ...(figures?.positiveInfinities ? [key(INFINITE, "∞")] : []), ...(figures?.negativeInfinities ? [key(NEGATIVE_INFINITE, "−∞")] : []),
  );
}
