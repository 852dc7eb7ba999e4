// What lies over the shown graph: its boxes by their identity, what a session has run of them, and a profile.

import { make } from "../../dom";
import type { DispatchRuns, FunctionTime, GraphFunction } from "../answers";
import { shown, state } from "../state";
import { functions, overlay } from "./elements";

/** What is known of a box. */
export interface Known extends Partial<DispatchRuns> {
  /** The time of one run, in nanoseconds. */
  readonly time?: number | undefined;
  readonly profiled?: FunctionTime;
}

/** A rectangle: its least and its greatest coordinates. */
export type Bounds = readonly [left: number, top: number, right: number, bottom: number];

/** About the shown function, by the indices of its boxes and of its lines. */
interface Prepared {
  byId: ReadonlyMap<string, number>;
  /** The boxes whose tensors a box takes, and those that take its tensors. */
  above: readonly (readonly number[])[];
  below: readonly (readonly number[])[];
  bounds: readonly Bounds[];
  overlays: readonly (Known | undefined)[];
  /** The longest time and the most bytes of a box. */
  slowest: number;
  largest: number;
  /** The picture of the whole graph; undefined if it has to be drawn anew. */
  miniature: HTMLCanvasElement | undefined;
}

export const prepared: Prepared = {
  byId: new Map(), above: [], below: [], bounds: [], overlays: [], slowest: 0, largest: 0, miniature: undefined,
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
  prepared.overlays = overlays;
  prepared.slowest = overlays.reduce((most, known) => Math.max(most, known?.time ?? 0), 0);
  prepared.largest = nodes.reduce((most, node) => Math.max(most, node.bytes ?? 0), 0);
  prepared.miniature = undefined;
  overlay.textContent = [profileText(), ranText()].filter((text) => text !== "").join(" · ");
}

const profileText = (): string => (state.profile === undefined ? "" : `times of ${state.profile.file}`);

function ranText(): string {
  const total = state.runs?.total;
  return total === undefined ? "" : total === 1 ? "1 command has run" : `${total} commands have run`;
}

/** The box that the program stands at. */
export function currentBox(): number | undefined {
  const index = prepared.overlays.findIndex((it) => it?.isCurrent);
  return index < 0 ? undefined : index;
}

/** How many elements of what a dispatch has left are NaN or infinite. */
export const badNumbers = (known: Known | undefined): number => (known?.nans ?? 0) + (known?.infinities ?? 0);
