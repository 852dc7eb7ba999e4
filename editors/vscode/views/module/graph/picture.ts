// The picture of the graph. The server has laid it out; this draws the part that is in view on a canvas, so its size
// does not matter. The boxes are drawn by `boxes.ts`.

import { penOf } from "../../dom";
import type { GraphEdge, GraphFunction, GraphNode } from "../answers";
import { colours } from "../colours";
import { shown, state } from "../state";
import { shortName } from "../texts";
import { drawBox, markOf } from "./boxes";
import { cleared, resize, shortened } from "./canvas";
import { miniature, picture, stage } from "./elements";
import { drawFrame, isFrame } from "./frames";
import { type Bounds, isBox, prepared } from "./overlays";

/** Below these scales, parts of the picture would be too small to see. */
const CURVES_FROM = 0.25;
const ARROWS_FROM = 0.45;
const NAMES_FROM = 0.7;

export function drawGraph(): void {
  const has = shown();
  if (has === undefined) {
    return;
  }
  const { width, height, pen } = cleared(picture, stage);
  const [left, top] = [-state.x / state.scale, -state.y / state.scale];
  const view: Bounds = [left, top, left + width / state.scale, top + height / state.scale];
  pen.save();
  pen.translate(state.x, state.y);
  pen.scale(state.scale, state.scale);
  const drawAll = (is: (node: GraphNode) => boolean, drawOne: typeof drawBox): void =>
    has.nodes.forEach((node, index) => {
      if (is(node) && meet([node.x, node.y, node.x + node.width, node.y + node.height], view)) {
        drawOne(pen, node, index);
      }
    });
  drawAll(isFrame, drawFrame);
  drawEdges(pen, has, view);
  drawAll(isBox, drawBox);
  pen.restore();
  drawMiniature(has, view);
}

/** Whether two rectangles have a part in common. */
const meet = (one: Bounds, other: Bounds): boolean =>
  one[0] < other[2] && one[2] > other[0] && one[1] < other[3] && one[3] > other[1];

const isNear = ({ from, to }: GraphEdge): boolean =>
  state.selected !== undefined && (from === state.selected || to === state.selected);

function drawEdges(pen: CanvasRenderingContext2D, has: GraphFunction, view: Bounds): void {
  const { line, focus } = colours();
  const visible = has.edges.filter((_, index) => {
    const bounds = prepared.bounds[index];
    return bounds !== undefined && meet(bounds, view);
  });
  pen.lineWidth = Math.max(1.2, 0.7 / state.scale);
  pen.strokeStyle = line;
  for (const isDashed of [false, true]) {
    pen.setLineDash(isDashed ? [5, 4] : []);
    stroke(pen, visible.filter((edge) => edge.isBack === isDashed && !isNear(edge)));
  }
  pen.setLineDash([]);
  pen.strokeStyle = focus;
  pen.lineWidth = Math.max(2, 1.4 / state.scale);
  stroke(pen, visible.filter(isNear));
  if (state.scale >= ARROWS_FROM) {
    drawArrows(pen, visible);
  }
  if (state.scale >= NAMES_FROM) {
    drawNames(pen, visible);
  }
}

function stroke(pen: CanvasRenderingContext2D, edges: readonly GraphEdge[]): void {
  pen.beginPath();
  for (const { points } of edges) {
    points.forEach(([x, y], at) => {
      const before = points[at - 1];
      if (before === undefined) {
        pen.moveTo(x, y);
      } else if (state.scale < CURVES_FROM) {
        pen.lineTo(x, y);
      } else {
        const middle = (before[1] + y) / 2;
        pen.bezierCurveTo(before[0], middle, x, middle, x, y);
      }
    });
  }
  pen.stroke();
}

function drawArrows(pen: CanvasRenderingContext2D, edges: readonly GraphEdge[]): void {
  pen.fillStyle = colours().line;
  pen.beginPath();
  for (const { points } of edges) {
    const [x, y] = points.at(-1) ?? [0, 0];
    pen.moveTo(x, y);
    pen.lineTo(x - 4, y - 8);
    pen.lineTo(x + 4, y - 8);
  }
  pen.fill();
}

function drawNames(pen: CanvasRenderingContext2D, edges: readonly GraphEdge[]): void {
  const { focus, dim, mono } = colours();
  pen.font = `10px ${mono}`;
  pen.textAlign = "left";
  // All lines of a tensor begin at one place. A collapsed group has several tensors there, which have no names then.
  for (const [first, ...others] of Map.groupBy(edges, ({ points: [point] }) => String(point)).values()) {
    const label = first && labelOf(first);
    if (first === undefined || label === undefined || others.some((edge) => labelOf(edge) !== label)) {
      continue;
    }
    const [x, y] = first.points[0] ?? [0, 0];
    pen.fillStyle = [first, ...others].some(isNear) ? focus : dim;
    pen.fillText(shortened(pen, label, 150), x + 6, y + 13);
  }
}

const labelOf = ({ tensor: { name, type } }: GraphEdge): string => (name === undefined ? type : shortName(name));

/** The whole graph, with a frame around the part that is in view. */
function drawMiniature(has: GraphFunction, [left, top, right, bottom]: Bounds): void {
  const room = { width: stage.clientWidth * 1.05, height: stage.clientHeight * 1.05 };
  miniature.hidden = state.scale * has.width <= room.width && state.scale * has.height <= room.height;
  if (miniature.hidden) {
    return;
  }
  const [width, height] = sizeOfMiniature(has);
  const [across, down] = [width / has.width, height / has.height];
  if (prepared.miniature?.width !== width || prepared.miniature.height !== height) {
    prepared.miniature = wholePicture(has, width, height);
  }
  resize(miniature, width, height);
  const pen = penOf(miniature);
  pen.clearRect(0, 0, width, height);
  pen.drawImage(prepared.miniature, 0, 0);
  pen.strokeStyle = colours().focus;
  pen.lineWidth = 1.5;
  // However small a part is in view, its frame is to be seen.
  const frame = Math.max(3, (bottom - top) * down);
  pen.strokeRect(left * across, top * down, Math.max(3, (right - left) * across), frame);
}

/**
 * It keeps the proportions of the graph, if it can be read so. One of a few columns and many rows is as high as the
 * stage, and wider than its proportions: a strip of colours with the places of what has run.
 */
function sizeOfMiniature(has: GraphFunction): [width: number, height: number] {
  const scale = Math.min(140 / has.width, 180 / has.height);
  if (has.width * scale >= NARROWEST) {
    return [Math.ceil(has.width * scale), Math.max(14, Math.ceil(has.height * scale))];
  }
  return [NARROWEST, Math.max(120, Math.min(has.height, stage.clientHeight - 24))];
}

/** A small picture that is less wide tells nothing. */
const NARROWEST = 48;

function wholePicture(
  { width: wide, height: high, nodes }: GraphFunction, width: number, height: number,
): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  resize(canvas, width, height);
  const pen = penOf(canvas);
  const [across, down] = [width / wide, height / high];
  nodes.forEach((node) => {
    if (isFrame(node)) {
      pen.fillStyle = colours().frame;
      pen.fillRect(node.x * across, node.y * down, node.width * across, node.height * down);
    }
  });
  nodes.forEach((node, index) => {
    if (isBox(node)) {
      pen.fillStyle = markOf(node, index).side;
      pen.fillRect(node.x * across, node.y * down, Math.max(1, node.width * across), Math.max(1, node.height * down));
    }
  });
  return canvas;
}
