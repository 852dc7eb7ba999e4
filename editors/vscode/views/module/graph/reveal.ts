// Brings boxes into view that collapsed groups may hide: those groups are opened first.

import { shown, state } from "../state";
import { draw } from "./canvas";
import { openToShow, takeThen } from "./groups";
import { moveTo, select } from "./movement";
import { prepared } from "./overlays";

/** Brings a box into view; the groups that hide it are opened. */
export function reveal(index: number, isSelected = true): void {
  const nodes = shown()?.nodes ?? [];
  const node = nodes[index];
  if (node === undefined) {
    return;
  }
  if (!node.isHidden) {
    show(index, isSelected);
    return;
  }
  const around: string[] = [];
  for (let at = node.group; at !== undefined; at = nodes[at]?.group) {
    around.push(nodes[at]?.id ?? "");
  }
  openToShow(around, node.id, isSelected);
}

/** Brings the next of some boxes into view, in the order of the program. */
export function revealNext(all: readonly number[]): void {
  const next = all.find((at) => at > (state.selected ?? -1)) ?? all[0];
  if (next !== undefined) {
    reveal(next);
  }
}

/** Brings the one before the selected box into view. */
export function revealPrevious(all: readonly number[]): void {
  const before = all.findLast((at) => at < (state.selected ?? Infinity)) ?? all.at(-1);
  if (before !== undefined) {
    reveal(before);
  }
}

/** Does what was to be done with the picture that has come. */
export function settle(): void {
  const then = takeThen();
  const index = then && prepared.byId.get(then.id);
  const node = index === undefined ? undefined : shown()?.nodes[index];
  if (then === undefined || node === undefined || index === undefined) {
    return;
  }
  if (then.kind === "show") {
    show(index, then.isSelected);
    return;
  }
  // What was at hand stays where it was on the screen.
  state.x = then.x - node.x * state.scale;
  state.y = then.y - node.y * state.scale;
  draw();
}

function show(index: number, isSelected: boolean): void {
  if (isSelected) {
    select(index);
  }
  moveTo(index, true);
}
