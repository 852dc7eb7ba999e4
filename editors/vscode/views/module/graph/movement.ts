// Where the graph is on its canvas, and which box is selected.

import { noteOfCompared } from "../compared";
import { shown, state } from "../state";
import { bare, groupText, shapeText } from "../texts";
import { draw } from "./canvas";
import { showDetails } from "./details";
import { comparedAt } from "./difference";
import { spoken, stage } from "./elements";
import { currentBox, isBox, isWork, seenAs } from "./overlays";
import { goToSource } from "./places";

/** From this scale on, boxes can be read. */
const READABLE = 0.45;

/** Shows all of the graph; at first, as much of it as can be read. */
export function fit(isFirst = false): void {
  const has = shown();
  const { clientWidth: width, clientHeight: height } = stage;
  if (has === undefined || width === 0) {
    return;
  }
  const whole = Math.min(width / has.width, height / has.height, 1.2);
  // The top of the model is where one begins to read.
  state.scale = isFirst && whole < READABLE ? Math.min(0.8, Math.max(0.5, width / has.width)) : whole;
  state.x = (width - has.width * state.scale) / 2;
  state.y = state.scale > whole ? 0 : (height - has.height * state.scale) / 2;
  const first = has.nodes.find(isWork) ?? has.nodes.find(isBox);
  if (state.scale > whole && first !== undefined) {
    state.x = width / 2 - (first.x + first.width / 2) * state.scale;
  }
  draw();
}

/** Makes it larger or smaller around a point of the stage, by default its middle. */
export function zoomBy(factor: number, at = [stage.clientWidth / 2, stage.clientHeight / 2] as const): void {
  const scale = Math.min(4, Math.max(0.01, state.scale * factor));
  state.x = at[0] - ((at[0] - state.x) * scale) / state.scale;
  state.y = at[1] - ((at[1] - state.y) * scale) / state.scale;
  state.scale = scale;
  draw();
}

export function moveBy(x: number, y: number): void {
  state.x += x;
  state.y += y;
  draw();
}

/** Moves a point of the graph to the middle of the stage. */
export function centre(x: number, y: number): void {
  state.x = stage.clientWidth / 2 - x * state.scale;
  state.y = stage.clientHeight / 2 - y * state.scale;
  draw();
}

/** Moves a box into view; far ones are moved to the middle. */
export function moveTo(index: number, isCentred = false): void {
  const node = shown()?.nodes[index];
  if (node === undefined) {
    return;
  }
  const isFar = state.scale < READABLE;
  if (isFar) {
    state.scale = 0.8;
  }
  if (node.isOpen) {
    // Of a frame, its title is to be seen.
    const [across, down] = [stage.clientWidth / state.scale, stage.clientHeight / state.scale];
    centre(node.x + Math.min(node.width, across) / 2, node.y + down / 3);
    return;
  }
  const [left, top] = [node.x * state.scale + state.x, node.y * state.scale + state.y];
  const [right, bottom] = [left + node.width * state.scale, top + node.height * state.scale];
  const isInView = left >= 8 && top >= 8 && right <= stage.clientWidth - 8 && bottom <= stage.clientHeight - 8;
  if (isCentred || isFar || !isInView) {
    centre(node.x + node.width / 2, node.y + node.height / 2);
  }
  draw();
}

/** Moves to where the program stands, when it stands: to its dispatch, or to the group that hides it. */
export function follow(): void {
  const current = seenAs(currentBox());
  const isShown = state.tab === "graph" && stage.clientWidth > 0 && shown() !== undefined;
  if (current !== undefined && state.session === "stopped" && isShown) {
    moveTo(current);
  }
}

/** Selects a box, or none; `goes` shows its line, too. */
export function select(index: number | undefined, { goes = false } = {}): void {
  state.selected = index;
  const node = index === undefined ? undefined : shown()?.nodes[index];
  if (node !== undefined && index !== undefined) {
    const line = node.line === undefined ? "" : `, line ${node.line}`;
    const compared = comparedAt(node);
    const told = compared === undefined ? "" : `, ${noteOfCompared(compared)}`;
    const group = `group ${node.title}, ${groupText(node)}, ${node.isOpen ? "open" : "collapsed"}${told}`;
    const box = `${node.title}, ${bare(node.operation)}, ${shapeText(node)}${line}${told}`;
    spoken.textContent = node.kind === "group" ? group : box;
    if (goes) {
      goToSource(index, true);
    }
  }
  showDetails();
  draw();
}
