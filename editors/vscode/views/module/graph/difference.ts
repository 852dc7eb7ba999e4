// A comparison of models over the graph: which boxes it has, and their colours and strokes (`compared.ts` has the
// words). Each verdict has both, so that no colour has to be told from another.

import type { Graph, GraphNode } from "../answers";
import { type Colours, colours } from "../colours";
import { boxesOf, type Compared, comparedBoxes, summaryOf } from "../compared";
import type { Report } from "../report";
import { shown, state } from "../state";

/** The boxes of the graph and of the report that are there now. */
let laid: { readonly graph?: Graph; readonly report?: Report; readonly boxes: ReadonlyMap<string, Compared> } =
  { boxes: new Map() };

function boxes(graph: Graph, report: Report): ReadonlyMap<string, Compared> {
  if (laid.graph !== graph || laid.report !== report) {
    laid = { graph, report, boxes: boxesOf(graph.functions, comparedBoxes(report)) };
  }
  return laid.boxes;
}

/** What the comparison says of a dispatch, or of a group of them; undefined if there is none, or for another box. */
export function comparedAt({ id }: GraphNode): Compared | undefined {
  const { graph, comparison } = state;
  return graph === undefined || comparison === undefined ? undefined : boxes(graph, comparison.report).get(id);
}

/** The same, if the colours are to tell it. */
export const tinted = (node: GraphNode): Compared | undefined =>
  state.colour === "difference" ? comparedAt(node) : undefined;

/** The dispatches of the shown function that differ, by their indices. */
export const differing = (): number[] =>
  (shown()?.nodes ?? []).flatMap((node, index) => {
    const isBad = node.kind === "dispatch" && comparedAt(node)?.verdict === "differs";
    return isBad ? [index] : [];
  });

/** Where the first run that differs is: the function, and its box in it; undefined if there is none that has a box. */
export function firstDifference(): { readonly at: number; readonly box: number } | undefined {
  const first = state.comparison?.report.dispatches.find(({ node, verdict }) => node !== null && verdict === "differs");
  for (const [at, { nodes }] of (state.graph?.functions ?? []).entries()) {
    const box = nodes.findIndex(({ id }) => id === first?.node);
    if (first !== undefined && box >= 0) {
      return { at, box };
    }
  }
  return undefined;
}

/** `3 of 76 differ, 2 not compared`: boxes of all functions; without a graph, runs. */
export function summary({ dispatches }: Report): string {
  const nodes = (state.graph?.functions ?? []).flatMap((it) => it.nodes.filter(({ kind }) => kind === "dispatch"));
  const all = nodes.flatMap((node) => comparedAt(node) ?? []);
  const list = all.length > 0 ? all : dispatches;
  return summaryOf(list.map(({ verdict }) => verdict));
}

// ---- Colours and strokes ----

/** So many floats apart have the strongest colour of what is within its bound. */
const MOST_ULPS = 1 << 12;

export function colourOfCompared(
  { verdict, isOdd, ulps }: Pick<Compared, "verdict" | "isOdd" | "ulps">, palette: Colours = colours(),
): string {
  const { green, red, purple, dim } = palette;
  switch (verdict) {
    case "equal":
      return green;
    case "within":
      return blueOf(ulps ?? 0);
    case "not_compared":
      return dim;
    case "differs":
      return isOdd ? purple : red;
  }
}

/** From a pale blue, for one float, to a strong one: no colour of another verdict lies between. */
function blueOf(ulps: number): string {
  const part = Math.min(1, Math.log2(1 + ulps) / Math.log2(1 + MOST_ULPS));
  return `hsl(212 ${Math.round(22 + 78 * part)}% 55%)`;
}

/** Fills the box whose outline is the pen's path. */
export function shade(pen: CanvasRenderingContext2D, compared: Compared | undefined): void {
  if (compared !== undefined) {
    pen.globalAlpha = compared.verdict === "not_compared" ? 0.1 : 0.22;
    pen.fillStyle = colourOfCompared(compared);
    pen.fill();
    pen.globalAlpha = 1;
  }
}

/** Prepares the pen for the outline of a box: heavy where it differs, broken where it was not compared. */
export function outline(pen: CanvasRenderingContext2D, compared: Compared | undefined, isChosen: boolean): void {
  if (compared?.verdict === "differs") {
    pen.lineWidth = 3;
  }
  if (compared?.verdict === "not_compared") {
    pen.setLineDash([6, 4]);
  }
  if (compared !== undefined && !isChosen) {
    pen.strokeStyle = colourOfCompared(compared);
  }
}

/** A sign on a box that is too small for words: a cross where it differs, a gap where it was not compared. */
export function drawSign(
  pen: CanvasRenderingContext2D, { x, y, width, height }: GraphNode, compared: Compared | undefined,
): void {
  const { box, text } = colours();
  if (compared?.verdict === "not_compared") {
    pen.fillStyle = box;
    pen.fillRect(x + width * 0.12, y + height * 0.25, width * 0.76, height * 0.5);
  } else if (compared?.verdict === "differs") {
    pen.strokeStyle = text;
    pen.lineWidth = 2 / state.scale;
    pen.setLineDash([]);
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x + width, y + height);
    pen.moveTo(x, y + height);
    pen.lineTo(x + width, y);
    pen.stroke();
  }
}
