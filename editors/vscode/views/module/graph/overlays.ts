// What lies over the shown graph: its boxes by their identity, what a session has run of them, and a profile.

import { make } from "../../dom";
import type { DispatchRuns, FunctionTime, GraphFunction, GraphNode } from "../answers";
import { shown, state } from "../state";
import { functions, overlay } from "./elements";

/** What is known of a box. */
export interface Known extends Partial<DispatchRuns> {
  /** The time of one run, in nanoseconds. */
  readonly time?: number | undefined;
  readonly profiled?: FunctionTime;
  /** Of a group: how many of its dispatches have run. */
  readonly ran?: number;
  /** Whether a breakpoint is on its line; of a group, on that of any of its boxes. */
  readonly hasBreakpoint?: boolean;
}

/** A rectangle: its least and its greatest coordinates. */
export type Bounds = readonly [left: number, top: number, right: number, bottom: number];

/** About the shown function, by the indices of its boxes and of its lines. */
interface Prepared {
  byId: ReadonlyMap<string, number>;
  /** The boxes whose tensors a box takes, and those that take its tensors. */
  above: readonly (readonly number[])[];
  below: readonly (readonly number[])[];
  /** What is in each group, without what is in groups of it. */
  inside: number[][];
  bounds: readonly Bounds[];
  overlays: readonly (Known | undefined)[];
  /** The longest time and the most bytes of a box. */
  slowest: number;
  largest: number;
  /** The picture of the whole graph; undefined if it has to be drawn anew. */
  miniature: HTMLCanvasElement | undefined;
}

export const prepared: Prepared = {
  byId: new Map(), above: [], below: [], inside: [], bounds: [], overlays: [], slowest: 0, largest: 0,
  miniature: undefined,
};

/** Looks at the shown function, which is another one than before. */
export function prepare(): void {
  const has = shown();
  const { nodes = [], edges = [] } = has ?? {};
  prepared.byId = new Map(nodes.map((node, index) => [node.id, index]));
  prepared.above = neighbours(has, "to", "from");
  prepared.below = neighbours(has, "from", "to");
  prepared.bounds = edges.map(({ points }) => {
    const [across, down] = [points.map(([x]) => x), points.map(([, y]) => y)];
    return [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
  });
  prepared.inside = nodes.map(() => []);
  nodes.forEach(({ group }, index) => group !== undefined && prepared.inside[group]?.push(index));
  const all = state.graph?.functions ?? [];
  functions.replaceChildren(...all.map(({ name }, index) => {
    const [value, selected] = [String(index), index === state.function];
    return make("option", { value, selected }, name === "" ? "initializer" : `@${name}`);
  }));
  functions.hidden = all.length < 2;
  lay();
}

function neighbours(has: GraphFunction | undefined, of: "from" | "to", other: "from" | "to"): number[][] {
  const lists: number[][] = has?.nodes.map(() => []) ?? [];
  for (const edge of has?.edges ?? []) {
    lists[edge[of]]?.push(edge[other]);
  }
  return lists;
}

/** Lays what has run, and the profile, over the shown function. */
export function lay(): void {
  const nodes = shown()?.nodes ?? [];
  const overlays: (Known | undefined)[] = nodes.map(() => undefined);
  for (const dispatch of state.runs?.dispatches ?? []) {
    const index = dispatch.id === null ? undefined : prepared.byId.get(dispatch.id);
    if (index !== undefined) {
      overlays[index] = { ...dispatch, time: dispatch.runs > 0 ? (dispatch.took ?? 0) / dispatch.runs : undefined };
    }
  }
  const times = new Map(state.profile?.times.functions.map((it) => [it.name, it]));
  nodes.forEach((node, index) => {
    const profiled = times.get(node.operation);
    if (profiled !== undefined) {
      overlays[index] = { ...overlays[index], profiled, time: profiled.total / profiled.count };
    }
  });
  nodes.forEach((node, index) => {
    if (hasBreakpoint(node, overlays[index])) {
      overlays[index] = { ...overlays[index], hasBreakpoint: true };
    }
  });
  // The groups come last, each after the one around it.
  for (let index = nodes.length - 1; index >= 0 && nodes[index]?.kind === "group"; index--) {
    overlays[index] = ofGroup((prepared.inside[index] ?? []).map((at) => overlays[at]));
  }
  prepared.overlays = overlays;
  const seen = nodes.filter(isBox);
  const most = (of: (index: number, node: GraphNode) => number | undefined): number =>
    seen.reduce((most, node) => Math.max(most, of(prepared.byId.get(node.id) ?? -1, node) ?? 0), 0);
  prepared.slowest = most((index) => overlays[index]?.time);
  prepared.largest = most((_, node) => node.bytes);
  prepared.miniature = undefined;
  overlay.textContent = [profileText(), ranText()].filter((text) => text !== "").join(" · ");
}

/** What is known of a group: the worst that is known of what is in it, and the sum of its times. */
function ofGroup(all: readonly (Known | undefined)[]): Known | undefined {
  const known = all.filter((it) => it !== undefined);
  const sum = (of: (it: Known) => number | null | undefined): number =>
    known.reduce((total, it) => total + (of(it) ?? 0), 0);
  const isTold = (of: (it: Known) => unknown): boolean => known.some((it) => of(it) !== undefined);
  return known.length === 0 ? undefined : {
    isCurrent: known.some((it) => it.isCurrent),
    nans: sum((it) => it.nans),
    infinities: sum((it) => it.infinities),
    hasBreakpoint: known.some((it) => it.hasBreakpoint),
    time: isTold((it) => it.time) ? sum((it) => it.time) : undefined,
    ...(isTold((it) => it.runs ?? it.ran) && { ran: sum((it) => it.ran ?? ((it.runs ?? 0) > 0 ? 1 : 0)) }),
  };
}

/** Whether VS Code has a breakpoint on the line of a box; in a session, on that of its level, too. */
function hasBreakpoint(node: GraphNode, known: Known | undefined): boolean {
  const path = node.file === undefined ? undefined : state.paths[node.file];
  return node.kind === "dispatch" && state.breakpoints.some((it) =>
    (it.path === path && it.line === node.line) || (it.path === known?.path && it.line === known.line));
}

/** Whether a node is drawn as a box, not as a frame around boxes, nor not at all. */
export const isBox = ({ isHidden, isOpen }: GraphNode): boolean => !isHidden && !isOpen;

/** Whether a node is a dispatch, or a collapsed group of them, that is to be seen. */
export const isWork = (node: GraphNode): boolean => isBox(node) && (node.kind === "dispatch" || node.kind === "group");

/** The box itself, or the outermost collapsed group that has it; nothing for weights that are not shown. */
export function seenAs(index: number | undefined): number | undefined {
  const nodes = shown()?.nodes;
  let at = index;
  while (at !== undefined && nodes?.[at]?.isHidden) {
    at = nodes[at]?.group;
  }
  return at;
}

const profileText = (): string => (state.profile === undefined ? "" : `times of ${state.profile.file}`);

function ranText(): string {
  const total = state.runs?.total;
  return total === undefined ? "" : total === 1 ? "1 command has run" : `${total} commands have run`;
}

/** The dispatch that the program stands at, which a collapsed group may hide. */
export function currentBox(): number | undefined {
  const index = prepared.overlays.findIndex((it, at) => it?.isCurrent && shown()?.nodes[at]?.kind === "dispatch");
  return index < 0 ? undefined : index;
}

/** How many elements of what a dispatch has left are NaN or infinite. */
export const badNumbers = (known: Known | undefined): number => (known?.nans ?? 0) + (known?.infinities ?? 0);
