// What is known of the selected box; without one, of the whole function.

import { type Child, make } from "../../dom";
import type { GraphFunction, GraphNode, GraphTensor } from "../answers";
import { shown, state, tell } from "../state";
import { bytesText, countText, fileName, timeText } from "../texts";
import { details } from "./elements";
import { differenceOf, differenceOfProgram } from "./differenceDetails";
import { collapseAround, toggle } from "./groups";
import { badNumbers, type Known, prepared } from "./overlays";
import { breakAt, canGoTo, canRunTo, goTo, goToSource, hasSession, placeOf, runTo } from "./places";

const HELP =
  "Click a box to see its tensors and its line; right-click to set a breakpoint there. " +
  "Wheel and drag move, Ctrl+wheel zooms. Arrow keys follow the tensors from a selected box.";
const GROUPS_HELP = "Double-click a group, or press Enter, to open it; double-click its title to collapse it.";

/** What the groups of a function are, or why there are none. */
const GROUPED = {
  python: "Groups are the calls in the Python that made the program.",
  names: "Groups come from the names of the model's nodes.",
  calls: "Groups are the calls in the locations of operations.",
  none: "There are no groups: neither names nor calls tell which layers the dispatches are of.",
} as const;

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

function ofFunction({ name, nodes, groupedBy }: GraphFunction): Node[] {
  const dispatches = nodes.filter((node) => node.kind === "dispatch");
  const total = (field: "bytes" | "operations"): number =>
    dispatches.reduce((sum, node) => sum + (node[field] ?? 0), 0);
  const ran = prepared.overlays.filter((it) => (it?.runs ?? 0) > 0).length;
  const bad = prepared.overlays.filter((it, at) => badNumbers(it) > 0 && nodes[at]?.kind !== "group").length;
  return [
    make("h2", { class: "selected" }, name === "" ? "initializer" : `@${name}`),
    make(
      "dl", {},
      ...row("Dispatches", String(dispatches.length)),
      ...row("Read and written", bytesText(total("bytes"))),
      ...(total("operations") > 0 ? row("Arithmetic", `${countText(total("operations"))} operations`) : []),
      ...(state.runs === undefined ? [] : row("Have run", `${ran} of ${dispatches.length}`)),
      ...(bad === 0 ? [] : row("NaN or infinity", `left by ${bad}`, { class: "error" })),
    ),
    ...differenceOfProgram(),
    make("p", { class: "dim", id: "grouped" }, GROUPED[groupedBy ?? "none"]),
    make("p", { class: "dim" }, groupedBy === undefined ? HELP : `${GROUPS_HELP} ${HELP}`),
  ];
}

function ofGroup(node: GraphNode, index: number): Node[] {
  const { title, dispatches = 0, bytes, operations, isOpen } = node;
  const known = prepared.overlays[index];
  const bad = badNumbers(known) > 0;
  return [
    make("h2", { class: "selected" }, title),
    make("div", { class: "dim" }, "A group of dispatches"),
    make(
      "dl", {},
      ...row("Dispatches", String(dispatches)),
      ...row("Read and written", bytesText(bytes)),
      ...(operations ? row("Arithmetic", `${countText(operations)} operations`) : []),
      ...(known?.ran === undefined ? [] : row("Have run", `${known.ran} of ${dispatches}`)),
      ...(known?.isCurrent ? row("Now", "the program stands in it") : []),
      ...(known?.time === undefined ? [] : row("Time", `${timeText(known.time)} for each dispatch once`)),
      ...(bad ? row("NaN or infinity", `${known?.nans} NaN, ${known?.infinities} infinite`, { class: "error" }) : []),
    ),
    make(
      "div", { class: "actions" },
      make("button", { title: "Enter", onclick: () => toggle(index) }, isOpen ? "Collapse" : "Expand"),
    ),
  ];
}

function ofWeight({ title, operation, outputs }: GraphNode): Node[] {
  const [tensor] = outputs;
  const view = tensor && viewOf(tensor);
  return [
    make("h2", { class: "selected" }, title),
    make("div", { class: "dim mono" }, operation),
    make(
      "dl", {},
      ...row("Type", tensor?.type),
      ...row("Bytes", bytesText(tensor?.bytes)),
      ...row("Origin", tensor?.origin),
    ),
    view && make("div", { class: "actions" }, make("button", { title: "View this tensor", onclick: view }, "View")),
  ].filter((it) => it !== undefined);
}

/** Shows a tensor in its view, while the program stands; nothing if no expression has it. */
function viewOf({ name, type, origin = "" }: GraphTensor): (() => void) | undefined {
  const own = name?.split(" = ").pop() ?? "";
  // The debugger knows a global as memory.
  const global = origin.startsWith("global @") ? `${globalName(origin.slice("global @".length))} as ${type}` : "";
  const expression = own.startsWith("%") ? own : global;
  const can = state.session === "stopped" && expression !== "";
  return can ? () => tell({ kind: "tensor", expression }) : undefined;
}

/** A global in an expression. */
const globalName = (name: string): string =>
  /^[\w.$-]+$/.test(name) ? `@${name}` : `@"${name.replace(/["\\]/g, "\\$&")}"`;

function ofBox(node: GraphNode, index: number): Node[] {
  if (node.kind === "group") {
    return ofGroup(node, index);
  }
  if (node.kind === "weight") {
    return ofWeight(node);
  }
  const group = node.group === undefined ? undefined : shown()?.nodes[node.group];
  const around = group && make(
    "button", { class: "link", title: "Collapse this group (U)", onclick: () => collapseAround(index) }, group.title,
  );
  const known = prepared.overlays[index];
  const place = placeOf(index);
  const go = (): void => goToSource(index);
  const line = place && make("button", { class: "link", onclick: go }, `${fileName(place.file)}:${place.line}`);
  return [
    make("h2", { class: "selected" }, node.title),
    make("div", { class: "dim mono" }, node.operation),
    make(
      "dl", {},
      ...(line === undefined ? [] : row("Line", line)),
      ...(node.fullName === undefined ? [] : row("Name", node.fullName, { class: "mono" })),
      ...(around === undefined ? [] : row("Group", around)),
      ...(node.kind === "dispatch" ? row("Bytes", bytesText(node.bytes)) : []),
      ...(node.operations ? row("Arithmetic", `${countText(node.operations)} operations`) : []),
      ...(node.loops > 0 ? row("Loops around it", String(node.loops)) : []),
      ...ranRows(known),
    ),
    ...(node.kind === "dispatch" ? [actions(index, place !== undefined)] : []),
    ...differenceOf(node, showDetails),
    ...tensors("Inputs", node.inputs, known),
    ...tensors("Outputs", node.outputs, known),
  ];
}

function actions(index: number, hasPlace: boolean): HTMLElement {
  const { lastCommand: command, hasBreakpoint } = prepared.overlays[index] ?? {};
  const toggles = (): void => breakAt(index);
  return make(
    "div", { class: "actions" },
    canRunTo() && make(
      "button", { title: "Stops before this dispatch runs next (R)", onclick: () => runTo(index) },
      hasSession() ? "Run to Here" : "Debug to Here",
    ),
    hasPlace && make("button", { title: "(B)", onclick: toggles }, hasBreakpoint ? "Remove Breakpoint" : "Break Here"),
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
  const onclick = known === undefined ? undefined : viewOf({ name, type: "" });
  return [
    onclick === undefined ? name : make("button", { class: "link mono", title: "View this tensor", onclick }, name),
    origin !== undefined && make("div", { class: "dim" }, origin),
  ];
}

function typeOf({ type, bytes }: GraphTensor): Child[] {
  return [type, make("div", { class: "dim" }, bytes === undefined ? "" : bytesText(bytes))];
}
