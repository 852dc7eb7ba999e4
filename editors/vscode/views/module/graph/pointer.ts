// What the pointer does in the graph: it moves and zooms, selects boxes, opens and collapses groups, and sets
// breakpoints.

import type { GraphNode } from "../answers";
import { shown, state } from "../state";
import { isFrame, TITLE } from "./frames";
import { miniature, stage } from "./elements";
import { toggle } from "./groups";
import { centre, moveBy, select, zoomBy } from "./movement";
import { isBox } from "./overlays";
import { breakAt, goToSource } from "./places";

/** How far the pointer moves before a click is a drag, in pixels. */
const STILL = 4;

interface Drag {
  readonly x: number;
  readonly y: number;
  readonly hasMoved: boolean;
}

export function listenToPointer(): void {
  let drag: Drag | undefined;
  stage.addEventListener("pointerdown", (event) => {
    if (event.target === miniature) {
      jump(event);
      return;
    }
    drag = { x: event.clientX, y: event.clientY, hasMoved: false };
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    if (drag === undefined) {
      return;
    }
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (drag.hasMoved || Math.abs(x) + Math.abs(y) > STILL) {
      moveBy(x, y);
      drag = { x: event.clientX, y: event.clientY, hasMoved: true };
    }
  });
  stage.addEventListener("pointerup", (event) => {
    const wasClick = drag !== undefined && !drag.hasMoved;
    drag = undefined;
    if (wasClick && event.button === 0) {
      select(boxAt(event), { goes: true });
    }
  });
  stage.addEventListener("dblclick", (event) => {
    const index = boxAt(event);
    if (index !== undefined && shown()?.nodes[index]?.kind === "group") {
      toggle(index);
    } else if (index !== undefined) {
      goToSource(index);
    }
  });
  stage.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const index = boxAt(event);
    if (index !== undefined) {
      select(index);
      breakAt(index);
    }
  });
  stage.addEventListener("wheel", turn, { passive: false });
}

/** The box under the pointer, or the open group whose title is there. */
function boxAt(event: MouseEvent): number | undefined {
  const bounds = stage.getBoundingClientRect();
  const x = (event.clientX - bounds.left - state.x) / state.scale;
  const y = (event.clientY - bounds.top - state.y) / state.scale;
  const at = (is: (node: GraphNode) => boolean, heightOf: (node: GraphNode) => number): number =>
    shown()?.nodes.findLastIndex((node) =>
      is(node) && x >= node.x && x <= node.x + node.width && y >= node.y && y <= node.y + heightOf(node)) ?? -1;
  const box = at(isBox, ({ height }) => height);
  // Far away, a title is a few pixels high, and still to be hit.
  const index = box >= 0 ? box : at(isFrame, ({ height }) => Math.min(height, TITLE / Math.min(1, state.scale)));
  return index < 0 ? undefined : index;
}

/** Moves to the place that was pointed at in the small picture. */
function jump(event: MouseEvent): void {
  const bounds = miniature.getBoundingClientRect();
  const { width = 0, height = 0 } = shown() ?? {};
  centre(
    ((event.clientX - bounds.left) / bounds.width) * width,
    ((event.clientY - bounds.top) / bounds.height) * height,
  );
}

function turn(event: WheelEvent): void {
  event.preventDefault();
  const bounds = stage.getBoundingClientRect();
  if (event.ctrlKey || event.metaKey) {
    zoomBy(Math.exp(-event.deltaY / 200), [event.clientX - bounds.left, event.clientY - bounds.top]);
  } else if (event.shiftKey && event.deltaX === 0) {
    moveBy(-event.deltaY, 0);
  } else {
    moveBy(-event.deltaX, -event.deltaY);
  }
}
