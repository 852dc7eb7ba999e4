// What is known of the selected box; without one, of the whole function.

import { type Child, make } from "../../dom";
import type { GraphFunction, GraphNode, GraphTensor } from "../answers";
import { shown, state, tell } from "../state";
import { bytesText, countText, fileName, timeText } from "../texts";
import { details } from "./elements";
import { badNumbers, type Known, prepared } from "./overlays";
import { breakAt, canGoTo, goTo, goToSource, placeOf } from "./places";

const HELP =
  "Click a box to see its tensors and its line; right-click to set a breakpoint there. " +
  "Wheel and drag move, Ctrl+wheel zooms. Arrow keys follow the tensors from a selected box.";

export function showDetails(): void {
  const has = shown();
  if (has === undefined) {
    return;
  }
  const node = state.selected === undefined ? undefined : has.nodes[state.selected];
  details.replaceChildren(...(node === undefined ? ofFunction(has) : ofBox(node, state.selected ?? 0)));
}

/** A row of a list: a name, and what it has. */
const row = (name: string, value: Child, attributes = {}): HTMLElement[] =>
  [make("dt", {}, name), make("dd", attributes, value)];

function ofFunction({ name, nodes }: GraphFunction): Node[] {
  const dispatches = nodes.filter((node) => node.kind === "dispatch");
  const total = (field: "bytes" | "operations"): number =>
    dispatches.reduce((sum, node) => sum + (node[field] ?? 0), 0);
  const ran = prepared.overlays.filter((it) => (it?.runs ?? 0) > 0).length;
  const bad = prepared.overlays.filter((it) => badNumbers(it) > 0).length;
  return [
    make("h3", {}, name === "" ? "initializer" : `@${name}`),
    make(
      "dl", {},
      ...row("Dispatches", String(dispatches.length)),
      ...row("Read and written", bytesText(total("bytes"))),
      ...(total("operations") > 0 ? row("Arithmetic", `${countText(total("operations"))} operations`) : []),
      ...(state.runs === undefined ? [] : row("Have run", `${ran} of ${dispatches.length}`)),
      ...(bad === 0 ? [] : row("NaN or infinity", `left by ${bad}`, { class: "error" })),
    ),
    make("p", { class: "dim" }, HELP),
  ];
}

function ofBox(node: GraphNode, index: number): Node[] {
  const known = prepared.overlays[index];
  const place = placeOf(index);
  const go = (): void => goToSource(index);
  const line = place && make("button", { class: "link", onclick: go }, `${fileName(place.file)}:${place.line}`);
  return [
    make("h3", {}, node.title),
    make("div", { class: "dim mono" }, node.operation),
    make(
      "dl", {},
      ...(line === undefined ? [] : row("Line", line)),
      ...(node.kind === "dispatch" ? row("Bytes", bytesText(node.bytes)) : []),
      ...(node.operations ? row("Arithmetic", `${countText(node.operations)} operations`) : []),
      ...(node.loops > 0 ? row("Loops around it", String(node.loops)) : []),
      ...ranRows(known),
    ),
    ...(node.kind === "dispatch" && place !== undefined ? [actions(index, known?.lastCommand)] : []),
    ...tensors("Inputs", node.inputs, known),
    ...tensors("Outputs", node.outputs, known),
  ];
}

function actions(index: number, command: number | null | undefined): HTMLElement {
  return make(
    "div", { class: "actions" },
    make("button", { onclick: () => breakAt(index) }, "Break Here"),
    canGoTo(command) && make("button", { title: "To before its last run", onclick: () => goTo(command) }, "Go There"),
  );
}

/** What a session and a profile know of a box. */
function ranRows(known: Known | undefined): HTMLElement[] {
  const { runs, took, profiled } = known ?? {};
  const rows = runs === undefined ? [] : row("Has run", ranText(known, runs));
  if (known !== undefined && runs !== undefined && runs > 0) {
    const all = timeText(took ?? 0);
    rows.push(...row("Time", runs === 1 ? all : `${all}, ${timeText((took ?? 0) / runs)} each`), ...numbersRow(known));
  }
  if (profiled !== undefined) {
    const { total, count } = profiled;
    rows.push(...row("In the profile", `${timeText(total / count)} each, ${count}×`));
  }
  return rows;
}

function ranText(known: Known | undefined, runs: number): string {
  if (known?.isCurrent) {
    return runs === 0 ? "running now" : `running now, after ${runs}×`;
  }
  if (runs === 0) {
    return "not yet";
  }
  return runs === 1 ? `as command ${known?.lastCommand}` : `${runs}×, last as command ${known?.lastCommand}`;
}

function numbersRow(known: Known): HTMLElement[] {
  const { nans, infinities } = known;
  if (nans === undefined || nans === null) {
    return row("Numbers", "overwritten before a stop", { class: "dim" });
  }
  const isBad = badNumbers(known) > 0;
  const text = isBad ? `${nans} NaN, ${infinities} infinite` : "no NaN, no infinity";
  return row("Numbers", text, { class: isBad ? "error" : "" });
}

function tensors(title: string, list: readonly GraphTensor[], known: Known | undefined): HTMLElement[] {
  const rows = list.map((it) => make("tr", {}, make("td", {}, ...nameOf(it, known)), make("td", {}, ...typeOf(it))));
  return rows.length === 0 ? [] : [make("h2", {}, title), make("table", {}, ...rows)];
}

/** Its name, which leads to its view while the program stands. */
function nameOf({ name, origin }: GraphTensor, known: Known | undefined): Child[] {
  if (name === undefined) {
    return [make("span", { class: "dim" }, origin ?? "–")];
  }
  const expression = name.split(" = ").pop() ?? name;
  const canView = state.session === "stopped" && known !== undefined && expression.startsWith("%");
  const onclick = (): void => tell({ kind: "tensor", expression });
  return [
    canView ? make("button", { class: "link mono", title: "View this tensor", onclick }, name) : name,
    origin !== undefined && make("div", { class: "dim" }, origin),
  ];
}

function typeOf({ type, bytes }: GraphTensor): Child[] {
  return [type, make("div", { class: "dim" }, bytes === undefined ? "" : bytesText(bytes))];
}
