// What keys, buttons and sliders do: moving the window and the cursor, jumping to elements, comparing, earlier stops.
// Each asks again (`asking.ts`).

import type { Measure, Other, Sought } from "./answers";
import { measure, point, refresh, renew } from "./asking";
import { channels, indices, planeSize, showAll, shownAxes } from "./slices";
import { ask, type Cursor, type Part, redraw, request, set, state, textOf, type View } from "./state";

const within = (at: number, least: number, most: number): number => Math.max(least, Math.min(most, at));

export function chooseView(view: View): void {
  state.view = view;
  const [first] = channels();
  if (view === "image" && first !== undefined) {
    // The axes of the picture are the image's.
    state.slice = first;
    showAll();
  }
  state.anchor = undefined;
  redraw.page();
  void refresh();
}

/** Shows the whole plane, and asks for it. */
export function fit(): void {
  showAll();
  void refresh();
}

/** Shows fewer or more elements around one. */
export function zoom(factor: number, [row, column]: Cursor = state.cursor): void {
  const scale = ([first, count]: Part, at: number, size: number): Part => {
    const wanted = within(Math.round(count * factor), Math.min(4, size), size);
    const from = Math.round(at - ((at - first) * wanted) / count);
    return [within(from, 0, size - wanted), wanted];
  };
  const [rows, columns] = planeSize();
  set({ rows: scale(state.rows, row, rows), columns: scale(state.columns, column, columns) });
  void refresh();
}

/** Moves the window. */
export function pan(rows: number, columns: number): void {
  const move = ([first, count]: Part, by: number, size: number): Part => [within(first + by, 0, size - count), count];
  const [height, width] = planeSize();
  set({ rows: move(state.rows, rows, height), columns: move(state.columns, columns, width) });
  void refresh();
}

/** Moves the cursor, and the window if it leaves that. Cells are selected on the way, or no longer. */
export function moveCursor(row: number, column: number, selects = false): void {
  const [rows, columns] = planeSize();
  const [atRow, atColumn] = [within(row, 0, rows - 1), within(column, 0, columns - 1)];
  const follow = ([first, count]: Part, at: number): Part =>
    at < first ? [at, count] : at >= first + count ? [at - count + 1, count] : [first, count];
  state.anchor = selects ? (state.anchor ?? state.cursor) : undefined;
  const before = [...state.rows, ...state.columns].join();
  set({ cursor: [atRow, atColumn], rows: follow(state.rows, atRow), columns: follow(state.columns, atColumn) });
  if (before !== [...state.rows, ...state.columns].join() || state.view === "table") {
    void refresh();
  } else {
    redraw.picture();
  }
  void point();
}

/** Shows an element: its slice, and the cursor on it. */
export function jump(to: readonly number[]): void {
  const axes = shownAxes();
  state.slice = state.slice.map((index, axis) => (index === null ? null : (to[axis] ?? 0)));
  redraw.slice();
  const [first, last] = [axes[0], axes.at(-1)];
  const at = (axis: number | undefined): number => (axis === undefined ? 0 : (to[axis] ?? 0));
  moveCursor(axes.length === 2 ? at(first) : 0, at(last));
  void refresh();
}

export async function jumpToNext(what: Sought): Promise<void> {
  const { found } = await ask({ find: { what, after: indices() } });
  if (found !== null && found !== undefined) {
    jump(found);
  }
}

/** Shows the pair that differs most. */
export function jumpToWorst(): void {
  const worst = state.differences?.worst;
  if (worst) {
    jump(worst.index);
  }
}

// ---- Earlier stops ----

/** Lists what the tensor was at earlier stops, and keeps it as it is now. */
export async function remember(pin = false): Promise<void> {
  if (!state.hasMoments) {
    return;
  }
  try {
    const { moments, refused } = await request("moments", { pin });
    set({ moments, refused });
  } catch (error) {
    state.refused = textOf(error);
  }
  if (!state.moments.some(({ moment }) => moment === state.moment)) {
    state.moment = undefined;
  }
  redraw.comparison();
}

/** Shows an earlier stop, or the present one. */
export function travel(moment: number | undefined): Promise<void> {
  set({ moment, figures: undefined, otherFigures: undefined, differences: undefined });
  redraw.comparison();
  redraw.figures();
  redraw.place();
  return renew();
}

/** The moment before or after the one that is shown. */
export async function travelBy(steps: number): Promise<void> {
  const all = [...state.moments.map(({ moment }) => moment), undefined];
  const to = all[within(all.indexOf(state.moment) + steps, 0, all.length - 1)];
  if (to !== state.moment) {
    await travel(to);
  }
}

// ---- Comparing ----

/** Compares with another tensor; undefined ends that. */
export function compareWith(other: Other | undefined): Promise<void> {
  set({
    other,
    // A single pair that differs shows, however many elements a cell covers.
    reduction: other === undefined ? "mean" : "extreme",
    measure: other === undefined ? "a" : "difference",
    error: undefined, figures: undefined, otherFigures: undefined, differences: undefined,
  });
  redraw.page();
  return renew();
}

export function showMeasure(wanted: Measure): Promise<void> {
  const { measure: before, figures, otherFigures } = state;
  const isTwin = (before === "a" && wanted === "b") || (before === "b" && wanted === "a");
  set({ measure: wanted, figures: isTwin ? otherFigures : undefined, otherFigures: isTwin ? figures : undefined });
  redraw.comparison();
  redraw.figures();
  return renew();
}

/** The figures follow the slice, if they are those of the slice only. */
export function measureIfSliced(): void {
  if (state.ofSlice) {
    void measure();
  }
}
