// The tab of the graph: its bar, the graph, the selected box, and the time line.

import { make } from "../../dom";
import { shown, state, tell } from "../state";
import { draw, onDraw } from "./canvas";
import { showDetails } from "./details";
import { firstDifference } from "./difference";
import { differenceBar, showDifferenceBar } from "./differenceBar";
import {
  bar, colour, found, functions, none, overlay, search, spoken, stage, timeLine, tip, weights, work,
} from "./elements";
import { collapseAll, openAll, showWeights } from "./groups";
import { listenToKeys } from "./keys";
import { fit, zoomBy } from "./movement";
import { currentBox, prepare, prepared } from "./overlays";
import { drawGraph } from "./picture";
import { listenToPointer } from "./pointer";
import { reveal } from "./reveal";
import { listenToSearch } from "./search";
import { exportSvg } from "./svgOfShown";
import { drawTime, listenToTimeLine } from "./timeLine";

/** A button of the bar; `name` says more than a label that is a sign. */
function button(label: string, title: string, act: () => void, name?: string): HTMLButtonElement {
  return make("button", { title, "aria-label": name, onclick: act }, label);
}

const groupButtons = [
  button("Expand All", "Open all groups", openAll), button("Collapse All", "Collapse all groups", collapseAll),
];
const weightsToggle = make(
  "label", { title: "Show constants, parameters and globals as boxes" }, weights, " Weights",
);

export const graph = make(
  "section", { id: "graph", role: "tabpanel", "aria-label": "Dispatch graph", hidden: true },
  bar, differenceBar, none, work, timeLine, tip, spoken,
);

bar.append(
  search, found, make("span", { class: "spring" }), overlay, functions, colour, weightsToggle, ...groupButtons,
  button("Profile…", "Show the times of a .ireeprof profile on the graph", () => tell({ kind: "profile" })),
  button("Export SVG…", "Save this picture, as large as it is", exportSvg),
  button("Fit", "Show all (0)", () => fit()),
  button("+", "Zoom in (+)", () => zoomBy(1.25), "Zoom in"),
  button("−", "Zoom out (-)", () => zoomBy(0.8), "Zoom out"),
);

export function showGraph(): void {
  const has = shown();
  const reason = state.graph === undefined ? "Reading the graph…" : "This module has no dispatches.";
  none.hidden = has !== undefined;
  none.textContent = state.graphError ?? reason;
  none.className = state.graphError === undefined ? "message" : "message error";
  work.hidden = has === undefined;
  showDifferenceBar();
  bar.hidden = has === undefined;
  if (has === undefined) {
    draw(); // The time line needs no graph.
    return;
  }
  groupButtons.forEach((button) => (button.hidden = has.groupedBy === undefined));
  weights.checked = has.showsWeights;
  weightsToggle.hidden = !has.nodes.some((node) => node.kind === "weight");
  if (!state.isFitted && stage.clientWidth > 0) {
    state.isFitted = true;
    fit(true);
  }
  const current = currentBox();
  if (!state.hasOpened && stage.clientWidth > 0 && state.session === "stopped" && current !== undefined) {
    // It opens where the program stands.
    state.hasOpened = true;
    reveal(current, false);
  }
  showDetails();
  goToFirstDifference();
  draw();
}

/** Shows a function of the graph. */
export function showFunction(index: number): void {
  Object.assign(state, { function: index, selected: undefined, hits: [] });
  found.textContent = "";
  prepare();
  showGraph();
}

/** Lets the boxes have other colours. */
export function showColour(wanted: typeof state.colour): void {
  state.colour = wanted;
  colour.value = wanted;
  prepared.miniature = undefined;
  draw();
}

/** Whether the first difference of a new comparison is still to be shown: the graph may come after it. */
let isFirstWanted = false;

/** Lays a comparison over the graph, and goes to its first difference; or takes it away. */
export function showComparison(comparison: typeof state.comparison): void {
  const isNew = comparison !== undefined && comparison.report !== state.comparison?.report;
  state.comparison = comparison;
  isFirstWanted = isNew;
  prepared.miniature = undefined;
  if (isNew) {
    state.colour = "difference";
  } else if (comparison === undefined && state.colour === "difference") {
    showColour("state");
  }
  showGraph();
}

function goToFirstDifference(): void {
  if (!isFirstWanted || state.graph === undefined || stage.clientWidth === 0) {
    return;
  }
  isFirstWanted = false;
  const first = firstDifference();
  if (first !== undefined) {
    if (first.at !== state.function) {
      showFunction(first.at);
    }
    reveal(first.box);
  }
}

onDraw(drawGraph);
onDraw(drawTime);
listenToPointer();
listenToKeys();
listenToSearch();
listenToTimeLine();
functions.addEventListener("change", () => {
  state.isFitted = false;
  showFunction(Number(functions.value));
});
weights.addEventListener("change", () => showWeights(weights.checked));
colour.addEventListener("change", () => showColour(colour.value as typeof state.colour));
