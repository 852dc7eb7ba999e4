// Asking for the figures along an axis, a part at a time, so that it is seen how far that has come and it can be
// stopped; and where they are drawn beside the picture.

import { ask, redraw, set, shown, state, type Summary, textOf } from "./state";
import { isLine, planeSize, shownAxes, sizes } from "./slices";

/** The most indices whose figures are kept. */
export const MOST_INDICES = 1 << 16;

/** Counts what was asked for: an answer to an earlier wish is dropped. */
let turn = 0;

/** Begins to ask for the figures along an axis; undefined: for none. */
export async function summarise(axis: number | undefined): Promise<void> {
  const length = axis === undefined ? undefined : sizes()[axis];
  const mine = ++turn;
  if (axis === undefined || length === undefined) {
    set({ summary: undefined });
    redraw.summary();
    return;
  }
  const asked = shown();
  const isStale = (): boolean => mine !== turn || asked !== shown();
  let summary: Summary = { axis, length, rows: [], isRunning: true };
  const show = (change: Partial<Summary>): void => {
    summary = { ...summary, ...change };
    set({ summary });
    redraw.summary();
  };
  show({});
  try {
    while (summary.rows.length < Math.min(length, MOST_INDICES)) {
      const { along } = await ask({ along: { axis, from: summary.rows.length } });
      if (isStale()) {
        return;
      }
      if (along === undefined || along.rows.length === 0) {
        break;
      }
      show({ rows: [...summary.rows, ...along.rows] });
    }
    show({ isRunning: false });
  } catch (error) {
    if (!isStale()) {
      show({ isRunning: false, error: textOf(error) });
    }
  }
}

/** Asks no further. */
export function stopSumming(): void {
  turn++;
  set({ summary: state.summary && { ...state.summary, isRunning: false } });
  redraw.summary();
}

/** Asks again, of another tensor, another stop or another measure. */
export function summariseAgain(): void {
  const { summary } = state;
  if (summary !== undefined) {
    void summarise(summary.axis < sizes().length ? summary.axis : undefined);
  }
}

/** Beside which side of the picture the figures are drawn: they are those of its rows, or of its columns. */
export function stripSide(): "rows" | "columns" | undefined {
  const [rows, columns] = shownAxes();
  if (
    state.summary === undefined ||
    state.view !== "picture" ||
    isLine() ||
    columns === undefined ||
    planeSize()[0] === 0
  ) {
    return undefined;
  }
  return state.summary.axis === rows ? "rows" : state.summary.axis === columns ? "columns" : undefined;
}

/** How wide the strip is, and how far from the picture, in pixels. */
export const [STRIP, GAP] = [64, 6];

/** What is left of the stage for the picture. */
export function pictureSize(width: number, height: number): readonly [width: number, height: number] {
  const side = stripSide();
  return [
    side === "rows" ? Math.max(40, width - STRIP - GAP) : width,
    side === "columns" ? Math.max(40, height - STRIP - GAP) : height,
  ];
}
