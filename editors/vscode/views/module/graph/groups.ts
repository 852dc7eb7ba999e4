// Groups are opened and collapsed by asking for another picture of the same graph: the server lays it out. What is done
// when that has come is in `reveal.ts`.

import type { Graph, GraphFunction } from "../answers";
import { shown, state, tell } from "../state";
import { spoken } from "./elements";

/** What is to be done when the next picture is there. */
export type Then =
  /** A group stays where its upper left corner was on the screen. */
  | { readonly kind: "keep"; readonly id: string; readonly x: number; readonly y: number }
  /** A box is selected, and comes to the middle. */
  | { readonly kind: "show"; readonly id: string; readonly isSelected: boolean };

let then: Then | undefined;

/** What was to be done, which is done now. */
export function takeThen(): Then | undefined {
  const taken = then;
  then = undefined;
  return taken;
}

/** The groups of all functions that are open. */
const open = (): string[] =>
  (state.graph?.functions ?? []).flatMap(({ nodes }) => nodes.filter((node) => node.isOpen).map((node) => node.id));

/** Opens a group, or collapses it. */
export function toggle(index: number): void {
  const node = shown()?.nodes[index];
  if (node?.kind !== "group") {
    return;
  }
  const { id, x, y, isOpen, title } = node;
  const others = open().filter((other) => other !== id);
  then = { kind: "keep", id, x: x * state.scale + state.x, y: y * state.scale + state.y };
  spoken.textContent = `${title} ${isOpen ? "collapsed" : "opened"}`;
  tell({ kind: "graph", open: isOpen ? others : [...others, id] });
}

/** Collapses the group around a box, and selects it. */
export function collapseAround(index: number): void {
  const group = shown()?.nodes[index]?.group;
  if (group !== undefined) {
    toggle(group);
    state.selected = group;
  }
}

/** Opens some groups besides those that are open, to show a box. */
export function openToShow(groups: readonly string[], id: string, isSelected: boolean): void {
  then = { kind: "show", id, isSelected };
  tell({ kind: "graph", open: [...new Set([...open(), ...groups])] });
}

export function openAll(): void {
  state.isFitted = false;
  tell({ kind: "graph", open: "all" });
}

export function collapseAll(): void {
  state.isFitted = false;
  tell({ kind: "graph", open: [] });
}

/** Shows or hides the boxes of constants, parameters and globals. */
export function showWeights(weights: boolean): void {
  state.isFitted = false;
  tell({ kind: "graph", open: open(), weights });
}

/** Whether another graph has the same boxes, so that indices mean the same. */
export function isSame(one: Graph | undefined, other: Graph | undefined): boolean {
  const ids = (graph: Graph | undefined): string | undefined =>
    graph && JSON.stringify(graph.functions.map(({ nodes }: GraphFunction) => nodes.map((node) => node.id)));
  return one !== undefined && ids(one) === ids(other);
}
