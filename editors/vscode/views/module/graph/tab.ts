// The tab of the graph: its bar, the graph, the selected box, and the time line.

import { make } from "../../dom";
import { shown, state, tell } from "../state";
import { draw, onDraw } from "./canvas";
import { showDetails } from "./details";
import { colour, found, functions, none, overlay, search, spoken, stage, timeLine, tip, work } from "./elements";
import { listenToKeys } from "./keys";
import { fit, zoomBy } from "./movement";
import { prepare, prepared } from "./overlays";
import { drawGraph } from "./picture";
import { listenToPointer } from "./pointer";
import { listenToSearch } from "./search";
import { drawTime, listenToTimeLine } from "./timeLine";

/** A button of the bar; `name` says more than a label that is a sign. */
function button(label: string, title: string, act: () => void, name?: string): HTMLButtonElement {
  return make("button", { title, "aria-label": name, onclick: act }, label);
}

export const graph = make(
  "section", { id: "graph", role: "tabpanel", "aria-label": "Dispatch graph", hidden: true },
  make(
    "div", { class: "bar" },
    search, found, make("span", { class: "spring" }), overlay, functions, colour,
    button("Profile…", "Show the times of a .ireeprof profile on the graph", () => tell({ kind: "profile" })),
    button("Fit", "Show all (0)", () => fit()),
    button("+", "Zoom in (+)", () => zoomBy(1.25), "Zoom in"),
    button("−", "Zoom out (-)", () => zoomBy(0.8), "Zoom out"),
  ),
  none, work, timeLine, tip, spoken,
);

export function showGraph(): void {
  const has = shown();
  const reason = state.graph === undefined ? "Reading the graph…" : "This module has no dispatches.";
  none.hidden = has !== undefined;
  none.textContent = state.graphError ?? reason;
  work.hidden = has === undefined;
  if (has === undefined) {
    draw(); // The time line needs no graph.
    return;
  }
  if (!state.isFitted && stage.clientWidth > 0) {
    state.isFitted = true;
    fit(true);
  }
  showDetails();
  draw();
}

/** Shows a function of the graph. */
export function showFunction(index: number): void {
  Object.assign(state, { function: index, selected: undefined, hits: [] });
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
colour.addEventListener("change", () => showColour(colour.value as typeof state.colour));
