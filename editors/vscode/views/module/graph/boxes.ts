// The boxes of the graph: a dispatch with its names, its sizes and its place; a collapsed group with what is in it; and
// smaller ones for all else. The farther away they are, the less of them is drawn.

import type { GraphNode } from "../answers";
import { type Colours, colours } from "../colours";
import { state } from "../state";
import { noteOfCompared, summaryOf } from "../compared";
import { bare, bytesText, countText, fileName, shapeText, shortTitle, smallText, timeText } from "../texts";
import { shortened } from "./canvas";
import { colourOfCompared, drawSign, outline, shade, tinted } from "./difference";
import { badNumbers, type Known, prepared, seenAs } from "./overlays";

/** From these scales on, boxes have an outline, a title, and all of their texts. */
const OUTLINES_FROM = 0.18;
const TITLES_FROM = 0.3;
const TEXTS_FROM = 0.42;

type Pen = CanvasRenderingContext2D;

export interface Mark {
  /** The colour of its side. */
  readonly side: string;
  /** How much of its lower side is filled. */
  readonly part: number;
}

/** How a box is marked: what has happened at it, or what the colours are to tell. */
export function markOf(node: GraphNode, index: number, palette: Colours = colours()): Mark {
  const { green, yellow, red, blue, border } = palette;
  const known = prepared.overlays[index];
  const compared = tinted(node);
  if (compared !== undefined) {
    return { side: colourOfCompared(compared, palette), part: 0 };
  }
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
  if (hasRun(node, known)) {
    return { side: green, part: ofSlowest ?? 0 };
  }
  if (ofSlowest !== undefined) {
    return { side: blue, part: ofSlowest };
  }
  return { side: isLarge(node) ? border : palette[SHADES[node.kind]], part: 0 };
}

/** Of a group, whether all of it has run. */
const hasRun = ({ dispatches }: GraphNode, known: Known | undefined): boolean =>
  dispatches === undefined ? (known?.runs ?? 0) > 0 : known?.ran === dispatches;

/** Dispatches and groups of them have several lines of text; all else is a small box. */
export const isLarge = ({ kind }: GraphNode): boolean => kind === "dispatch" || kind === "group";

const SHADES: Readonly<Record<GraphNode["kind"], keyof Colours>> = {
  argument: "blue", result: "blue", dispatch: "border", copy: "purple", call: "purple", other: "orange",
  weight: "dim", group: "border",
};

/** From cold to hot. */
const heat = (part: number): string => `hsl(${Math.round(210 - 210 * Math.min(1, Math.sqrt(part)))} 75% 50%)`;

/** Whether the search has found it, or something in it. */
const isHit = ({ kind }: GraphNode, index: number): boolean =>
  state.hits.includes(index) || (kind === "group" && state.hits.some((hit) => seenAs(hit) === index));

export function drawBox(pen: Pen, node: GraphNode, index: number): void {
  const { box, focus, frame, border } = colours();
  const known = prepared.overlays[index];
  const [mark, compared] = [markOf(node, index), tinted(node)];
  const isChosen = state.selected === index || isHit(node, index);
  const { x, y, width, height, kind } = node;
  if (state.scale < OUTLINES_FROM) {
    pen.fillStyle = isChosen ? focus : mark.side;
    pen.fillRect(x, y, width, height);
    drawSign(pen, node, compared);
    return;
  }
  pen.beginPath();
  if (kind === "group") {
    // More than one box: the edges of another one are seen below it.
    pen.roundRect(x + 5, y + 5, width, height, 4);
    pen.fillStyle = frame;
    pen.fill();
    pen.lineWidth = 1;
    pen.strokeStyle = border;
    pen.stroke();
    pen.beginPath();
  }
  pen.roundRect(x, y, width, height, isLarge(node) ? 4 : kind === "weight" ? 0 : height / 2);
  pen.fillStyle = box;
  pen.fill();
  shade(pen, compared);
  pen.lineWidth = isChosen || known?.isCurrent || badNumbers(known) > 0 ? 2 : 1;
  pen.strokeStyle = isChosen ? focus : outlineOf(node, known, mark);
  outline(pen, compared, isChosen);
  pen.stroke();
  pen.setLineDash([]);
  if (isLarge(node)) {
    fillSides(pen, node, mark);
  }
  if (known?.hasBreakpoint) {
    drawDot(pen, node);
  }
  if (state.scale < TITLES_FROM) {
    return;
  }
  pen.textBaseline = "alphabetic";
  if (isLarge(node)) {
    drawLines(pen, node, known);
  } else {
    drawSmall(pen, node);
  }
}

function outlineOf({ kind }: GraphNode, known: Known | undefined, { side }: Mark): string {
  const { yellow, red, border } = colours();
  if (known?.isCurrent) {
    return yellow;
  }
  return badNumbers(known) > 0 ? red : kind === "dispatch" || kind === "group" ? border : side;
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

/** The dot of a breakpoint, on the upper left corner. */
function drawDot(pen: Pen, { x, y }: GraphNode): void {
  pen.beginPath();
  pen.arc(x, y, Math.max(5, 4 / state.scale), 0, 2 * Math.PI);
  pen.fillStyle = colours().breakpoint;
  pen.fill();
}

function drawSmall(pen: Pen, node: GraphNode): void {
  const { x, y, width } = node;
  const { text, dim, mono } = colours();
  const middle = x + width / 2;
  pen.font = `12px ${mono}`;
  pen.textAlign = "center";
  pen.fillStyle = text;
  pen.fillText(shortened(pen, shortTitle(node), width - 20), middle, y + 14);
  pen.font = `10px ${mono}`;
  pen.fillStyle = dim;
  pen.fillText(shortened(pen, smallText(node), width - 20), middle, y + 27);
}

/** The lines of a large box: its title with a note, then three more, each with what is at its right. */
export interface BoxLines {
  readonly title: string;
  readonly note: string;
  readonly lines: readonly (readonly [left: string, right: string])[];
}

export function linesOf(node: GraphNode, known: Known | undefined): BoxLines {
  if (node.kind === "group") {
    const { title, dispatches = 0, bytes, operations } = node;
    const members = tinted(node)?.members;
    const ran = known?.ran === undefined ? "" : `ran ${known.ran} of ${dispatches}`;
    const told = members === undefined ? ran : summaryOf(members);
    return {
      title: `▸ ${title}`,
      note: noteOf(node, known),
      lines: [
        [`${dispatches} ${dispatches === 1 ? "dispatch" : "dispatches"}`, ""],
        [bytesText(bytes), ""],
        [told, operations ? `${countText(operations)} ops` : ""],
      ],
    };
  }
  return {
    title: shortTitle(node),
    note: noteOf(node, known),
    lines: [
      [bare(node.operation), "↻".repeat(Math.min(3, node.loops))],
      [shapeText(node), ""],
      [placeText(node), costOf(node)],
    ],
  };
}

/** How far below the upper side of a box its lines are. */
export const BASELINES = { title: 18, lines: [34, 50, 67] } as const;

function drawLines(pen: Pen, node: GraphNode, known: Known | undefined): void {
  const { text, dim, yellow, red, mono, font } = colours();
  const { x, y, width } = node;
  const { title, note, lines } = linesOf(node, known);
  const [left, right] = [x + 13, x + width - 9];
  const room = note === "" ? 0 : note.length * 7 + 10;
  pen.textAlign = "left";
  pen.font = `600 13px ${mono}`;
  pen.fillStyle = text;
  pen.fillText(shortened(pen, title, width - 24 - room), left, y + BASELINES.title);
  if (note !== "") {
    pen.font = `11px ${font}`;
    pen.textAlign = "right";
    pen.fillStyle = tinted(node) !== undefined ? text : known?.isCurrent ? yellow : badNumbers(known) > 0 ? red : dim;
    pen.fillText(note, right, y + BASELINES.title);
  }
  if (state.scale < TEXTS_FROM) {
    return;
  }
  lines.forEach(([start, end], at) => {
    const line = y + (BASELINES.lines[at] ?? 0);
    pen.font = `11px ${at === 2 ? font : mono}`;
    pen.fillStyle = at === 1 ? text : dim;
    pen.textAlign = "left";
    const taken = end === "" ? 0 : pen.measureText(end).width + 8;
    pen.fillText(shortened(pen, start, width - 24 - taken), left, line);
    pen.textAlign = "right";
    pen.fillText(end, right, line);
  });
}

/** What stands beside the title. */
function noteOf(node: GraphNode, known: Known | undefined): string {
  const compared = tinted(node);
  if (compared !== undefined) {
    return noteOfCompared(compared);
  }
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
