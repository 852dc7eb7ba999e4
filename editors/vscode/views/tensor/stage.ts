// What pointer and keys do on the picture of a tensor: the cursor, the window, and ways to elements.

import { fit, jumpToNext, jumpToWorst, moveCursor, pan, showMeasure, travelBy, zoom } from "./actions";
import { point } from "./asking";
import { placement } from "./picture";
import { isLine } from "./slices";
import { copyCells } from "./selection";
import { type Part, state } from "./state";

/** Lets a stage follow pointer and keys; `draw` draws the cursor. */
export function listen(stage: HTMLElement, draw: () => void): void {
  listenToPointer(stage, draw);
  stage.addEventListener("keydown", (event) => {
    if (state.view === "table" && event.key === "c" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void copyCells();
      return;
    }
    if (event.key === "Escape") {
      // Keys go to the next control; Tab leaves the picture, too.
      state.anchor = undefined;
      stage.blur();
      draw();
      return;
    }
    const act = KEYS[event.key] ?? (state.other === undefined ? undefined : KEYS_OF_TWO[event.key]);
    if (act !== undefined && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      act(...state.cursor, event.shiftKey && state.view === "table");
    }
  });
}

type Keys = Readonly<Record<string, (row: number, column: number, selects: boolean) => unknown>>;

const KEYS: Keys = {
  ArrowUp: (row, column, selects) => moveCursor(row - 1, column, selects),
  ArrowDown: (row, column, selects) => moveCursor(row + 1, column, selects),
  ArrowLeft: (row, column, selects) => moveCursor(row, column - 1, selects),
  ArrowRight: (row, column, selects) => moveCursor(row, column + 1, selects),
  PageUp: (row, column, selects) => moveCursor(row - 20, column, selects),
  PageDown: (row, column, selects) => moveCursor(row + 20, column, selects),
  Home: (row, _, selects) => moveCursor(row, 0, selects),
  End: (row, _, selects) => moveCursor(row, Infinity, selects),
  "+": () => zoom(0.8),
  "-": () => zoom(1.25),
  0: () => fit(),
  n: () => jumpToNext("nan"),
  i: () => jumpToNext("infinity"),
  "[": () => travelBy(-1),
  "]": () => travelBy(1),
};

/** While two tensors are compared. */
const KEYS_OF_TWO: Keys = {
  d: () => jumpToNext("different"),
  w: () => jumpToWorst(),
  b: () => showMeasure(state.measure === "b" ? "a" : "b"),
};

interface Grabbed {
  readonly x: number;
  readonly y: number;
  readonly rows: Part;
  readonly columns: Part;
}

function listenToPointer(stage: HTMLElement, draw: () => void): void {
  let grabbed: Grabbed | undefined;
  stage.addEventListener("pointerdown", (event) => {
    if (state.view !== "table" && event.button === 0) {
      grabbed = { x: event.clientX, y: event.clientY, rows: state.rows, columns: state.columns };
      stage.setPointerCapture(event.pointerId);
    }
  });
  stage.addEventListener("pointerup", () => (grabbed = undefined));
  stage.addEventListener("pointermove", (event) => {
    if (state.view === "table" || state.shape === undefined) {
      return;
    }
    if (grabbed !== undefined && event.buttons === 1) {
      drag(stage, grabbed, event);
      return;
    }
    const [row, column] = pointed(stage, event);
    if (row !== state.cursor[0] || column !== state.cursor[1]) {
      state.cursor = [row, column];
      draw();
      void point();
    }
  });
  stage.addEventListener("wheel", (event) => {
    if (state.view !== "table") {
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, pointed(stage, event));
    }
  }, { passive: false });
  stage.addEventListener("dblclick", fit);
}

/** Where the elements are on the stage. */
function placeOn(bounds: DOMRect): { x: number; y: number; width: number; height: number } {
  const { width, height } = bounds;
  return isLine() && state.view === "picture" ? { x: 0, y: 0, width, height } : placement(width, height);
}

/** The row and the column under the pointer. */
function pointed(stage: HTMLElement, event: MouseEvent): readonly [row: number, column: number] {
  const bounds = stage.getBoundingClientRect();
  const place = placeOn(bounds);
  const part = (offset: number, size: number, [first, count]: Part): number =>
    first + Math.max(0, Math.min(count - 1, Math.floor((offset / size) * count)));
  return [
    part(event.clientY - bounds.top - place.y, place.height, state.rows),
    part(event.clientX - bounds.left - place.x, place.width, state.columns),
  ];
}

/** Moves the window by as far as the pointer has moved since it grabbed the picture. */
function drag(stage: HTMLElement, { x, y, rows, columns }: Grabbed, event: MouseEvent): void {
  const place = placeOn(stage.getBoundingClientRect());
  state.rows = rows;
  state.columns = columns;
  pan(
    Math.round(((y - event.clientY) / place.height) * rows[1]),
    Math.round(((x - event.clientX) / place.width) * columns[1]),
  );
}
