// The boxes of the graph: a dispatch with its names, its sizes and its place; and smaller ones for all else. The
// farther away they are, the less of them is drawn.

import type { GraphNode } from "../answers";
import { type Colours, colours } from "../colours";
import { state } from "../state";
import { bare, bytesText, countText, fileName, shapeText, timeText } from "../texts";
import { shortened } from "./canvas";
import { badNumbers, type Known, prepared } from "./overlays";

/** From these scales on, boxes have an outline, a title, and all of their texts. */
const OUTLINES_FROM = 0.18;
const TITLES_FROM = 0.3;
const TEXTS_FROM = 0.42;

type Pen = CanvasRenderingContext2D;

interface Mark {
  /** The colour of its side. */
  readonly side: string;
  /** How much of its lower side is filled. */
  readonly part: number;
}

/** How a box is marked: what has happened at it, or what the colours are to tell. */
export function markOf(node: GraphNode, index: number): Mark {
  const { green, yellow, red, blue, border } = colours();
  const known = prepared.overlays[index];
  if (known?.isCurrent) {
    return { side: yellow, part: 0 };
  }
  if (badNumbers(known) > 0) {
    return { side: red, part: 0 };
  }
  const ofSlowest = known?.time === undefined ? undefined : known.time / (prepared.slowest || 1);
  if (state.colour === "time" && ofSlowest !== undefined) {
    return { side: heat(ofSlowest), part: ofSlowest };
  }
  if (state.colour === "cost" && node.bytes !== undefined) {
    const ofLargest = node.bytes / (prepared.largest || 1);
    return { side: heat(ofLargest), part: ofLargest };
  }
  if ((known?.runs ?? 0) > 0) {
    return { side: green, part: ofSlowest ?? 0 };
  }
  if (ofSlowest !== undefined) {
    return { side: blue, part: ofSlowest };
  }
  return { side: node.kind === "dispatch" ? border : colours()[SHADES[node.kind]], part: 0 };
}

const SHADES: Readonly<Record<GraphNode["kind"], keyof Colours>> = {
  argument: "blue", result: "blue", dispatch: "border", copy: "purple", call: "purple", other: "orange",
};

/** From cold to hot. */
const heat = (part: number): string => `hsl(${Math.round(210 - 210 * Math.min(1, Math.sqrt(part)))} 75% 50%)`;

export function drawBox(pen: Pen, node: GraphNode, index: number): void {
  const { box, focus } = colours();
  const known = prepared.overlays[index];
  const mark = markOf(node, index);
  const isChosen = state.selected === index || state.hits.includes(index);
  const { x, y, width, height, kind } = node;
  if (state.scale < OUTLINES_FROM) {
    pen.fillStyle = isChosen ? focus : mark.side;
    pen.fillRect(x, y, width, height);
    return;
  }
  pen.beginPath();
  pen.roundRect(x, y, width, height, kind === "dispatch" ? 4 : height / 2);
  pen.fillStyle = box;
  pen.fill();
  pen.lineWidth = isChosen || known?.isCurrent || badNumbers(known) > 0 ? 2 : 1;
  pen.strokeStyle = isChosen ? focus : outlineOf(node, known, mark);
  pen.stroke();
  if (kind === "dispatch") {
    fillSides(pen, node, mark);
  }
  if (state.scale < TITLES_FROM) {
    return;
  }
  pen.textBaseline = "alphabetic";
  if (kind === "dispatch") {
    drawDispatch(pen, node, known);
  } else {
    drawSmall(pen, node);
  }
}

function outlineOf({ kind }: GraphNode, known: Known | undefined, { side }: Mark): string {
  const { yellow, red, border } = colours();
  if (known?.isCurrent) {
    return yellow;
  }
  return badNumbers(known) > 0 ? red : kind === "dispatch" ? border : side;
}

/** The left side has the colour of the mark, and so has a part of the lower one. */
function fillSides(pen: Pen, { x, y, width, height }: GraphNode, { side, part }: Mark): void {
  pen.save();
  pen.clip();
  pen.fillStyle = side;
  pen.fillRect(x, y, 5, height);
  pen.globalAlpha = 0.8;
  pen.fillRect(x + 5, y + height - 4, (width - 5) * part, 4);
  pen.restore();
}

function drawSmall(pen: Pen, { x, y, width, title, outputs, inputs }: GraphNode): void {
  const { text, dim, mono } = colours();
  const middle = x + width / 2;
  pen.font = `12px ${mono}`;
  pen.textAlign = "center";
  pen.fillStyle = text;
  pen.fillText(shortened(pen, title, width - 20), middle, y + 14);
  pen.font = `10px ${mono}`;
  pen.fillStyle = dim;
  pen.fillText(shortened(pen, (outputs[0] ?? inputs[0])?.type ?? "", width - 20), middle, y + 27);
}

function drawDispatch(pen: Pen, node: GraphNode, known: Known | undefined): void {
  const { text, dim, yellow, red, mono, font } = colours();
  const { x, y, width } = node;
  const [left, right] = [x + 13, x + width - 9];
  const note = noteOf(known);
  const room = note === "" ? 0 : note.length * 7 + 10;
  pen.textAlign = "left";
  pen.font = `600 13px ${mono}`;
  pen.fillStyle = text;
  pen.fillText(shortened(pen, node.title, width - 24 - room), left, y + 18);
  if (note !== "") {
    pen.font = `11px ${font}`;
    pen.textAlign = "right";
    pen.fillStyle = known?.isCurrent ? yellow : badNumbers(known) > 0 ? red : dim;
    pen.fillText(note, right, y + 18);
    pen.textAlign = "left";
  }
  if (state.scale < TEXTS_FROM) {
    return;
  }
  pen.font = `11px ${mono}`;
  pen.fillStyle = dim;
  pen.fillText(shortened(pen, bare(node.operation), width - 24), left, y + 34);
  pen.fillStyle = text;
  pen.fillText(shortened(pen, shapeText(node), width - 24), left, y + 50);
  pen.fillStyle = dim;
  pen.font = `11px ${font}`;
  const cost = costOf(node);
  pen.fillText(shortened(pen, placeText(node), width - 24 - pen.measureText(cost).width - 8), left, y + 67);
  pen.textAlign = "right";
  pen.fillText(cost, right, y + 67);
  if (node.loops > 0) {
    pen.fillText("↻".repeat(Math.min(3, node.loops)), right, y + 34);
  }
}

/** What stands beside the title. */
function noteOf(known: Known | undefined): string {
  if (known?.isCurrent) {
    return "▶";
  }
  if (badNumbers(known) > 0) {
    return (known?.nans ?? 0) > 0 ? "NaN" : "Inf";
  }
  return known?.time === undefined ? "" : timeText(known.time);
}

function costOf({ bytes, operations }: GraphNode): string {
  const parts = [bytes === undefined ? "" : bytesText(bytes), operations ? `${countText(operations)} ops` : ""];
  return parts.filter((part) => part !== "").join(" · ");
}

const placeText = ({ file, line }: GraphNode): string =>
  file === undefined || line === undefined ? "" : `${fileName(file)}:${line}`;
