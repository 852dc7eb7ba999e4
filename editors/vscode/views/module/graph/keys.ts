// What keys do in the graph: they follow the tensors, open and collapse groups, move and zoom, and find boxes.

import type { GraphFunction } from "../answers";
import { shown, state } from "../state";
import { search, stage } from "./elements";
import { selectNextDifference, selectPreviousDifference } from "./differenceBar";
import { collapseAround, toggle } from "./groups";
import { fit, moveBy, moveTo, select, zoomBy } from "./movement";
import { badNumbers, currentBox, isBox, isWork, prepared } from "./overlays";
import { breakAt, goToSource, runTo } from "./places";
import { reveal, revealNext, revealPrevious } from "./reveal";

export function listenToKeys(): void {
  stage.addEventListener("keydown", (event) => {
    const has = shown();
    const act = KEYS[event.key];
    if (has !== undefined && act !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      act(has);
      event.preventDefault();
    }
  });
}

const KEYS: Readonly<Record<string, (has: GraphFunction) => void>> = {
  "+": () => zoomBy(1.25),
  "=": () => zoomBy(1.25),
  "-": () => zoomBy(0.8),
  0: () => fit(),
  ArrowDown: () => step([0, -80], (index) => another(prepared.below[index], index)),
  ArrowUp: () => step([0, 80], (index) => another(prepared.above[index], index)),
  ArrowLeft: (has) => step([80, 0], (index) => beside(has, index, -1)),
  ArrowRight: (has) => step([-80, 0], (index) => beside(has, index, 1)),
  Home: (has) => go(works(has)[0]),
  End: (has) => go(works(has).at(-1)),
  PageDown: () => moveBy(0, -stage.clientHeight * 0.8),
  PageUp: () => moveBy(0, stage.clientHeight * 0.8),
  Enter: (has) => atSelected((index) => (has.nodes[index]?.kind === "group" ? toggle(index) : goToSource(index))),
  " ": () => atSelected(toggle),
  u: () => atSelected(collapseAround),
  r: () => atSelected(runTo),
  b: () => atSelected(breakAt),
  c: () => {
    const current = currentBox();
    if (current !== undefined) {
      reveal(current);
    }
  },
  n: (has) => (state.comparison === undefined ? revealNext(badBoxes(has)) : selectNextDifference()),
  p: (has) => (state.comparison === undefined ? revealPrevious(badBoxes(has)) : selectPreviousDifference()),
  "/": () => search.focus(),
  f: () => search.focus(),
  Escape: () => select(undefined),
};

/** The boxes whose dispatches have left NaN or infinities. */
const badBoxes = ({ nodes }: GraphFunction): number[] =>
  prepared.overlays.flatMap((it, at) => (badNumbers(it) > 0 && nodes[at]?.kind !== "group" ? [at] : []));

/** The dispatches and collapsed groups that are seen, from top to bottom. */
const works = ({ nodes }: GraphFunction): number[] =>
  [...nodes.keys()].filter((at) => nodes[at] !== undefined && isWork(nodes[at])).sort(
    (one, other) => (nodes[one]?.y ?? 0) - (nodes[other]?.y ?? 0) || (nodes[one]?.x ?? 0) - (nodes[other]?.x ?? 0),
  );

function go(to: number | undefined): void {
  if (to !== undefined && to >= 0) {
    select(to);
    moveTo(to);
  }
}

/** From a selected box, to another one; without one, the graph moves. */
function step([x, y]: readonly [number, number], next: (index: number) => number | undefined): void {
  if (state.selected === undefined) {
    moveBy(x, y);
  } else {
    go(next(state.selected));
  }
}

function atSelected(act: (index: number) => void): void {
  if (state.selected !== undefined) {
    act(state.selected);
  }
}

/** The first of a box's neighbours that is not the box itself: a loop leads a tensor back. */
function another(all: readonly number[] | undefined, index: number): number | undefined {
  return all?.find((to) => to !== index);
}

/** The box beside another one, in the same layer. */
function beside({ nodes }: GraphFunction, index: number, direction: 1 | -1): number | undefined {
  const middleOf = (at: number): number => (nodes[at]?.y ?? 0) + (nodes[at]?.height ?? 0) / 2;
  const isIn = (at: number): boolean => nodes[at] !== undefined && isBox(nodes[at]);
  const layer = [...nodes.keys()].filter((at) => isIn(at) && Math.abs(middleOf(at) - middleOf(index)) < 1);
  layer.sort((one, other) => (nodes[one]?.x ?? 0) - (nodes[other]?.x ?? 0));
  return layer[layer.indexOf(index) + direction];
}
