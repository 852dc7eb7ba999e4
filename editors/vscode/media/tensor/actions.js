// What keys, buttons and sliders do: asking again, moving the window and the cursor, jumping to elements.

import { make } from "../page.js";
import { newest } from "./newest.js";
import { ask, channels, decode, indices, isImage, isLine, layoutOf, MEASURES, planeSize, redraw, request, short, shown, shownAxes, sliceText, stageSize, state, tableWindow, windowNow } from "./state.js";

export const refresh = newest(async () => {
  const asked = shown();
  try {
    if (state.shape === undefined) {
      const { shape, type, elementType } = await ask({});
      Object.assign(state, { shape, type, element: elementType, slice: shape.map((_, axis) => (axis + 2 < shape.length ? 0 : null)) });
      state.layout = layoutOf(shape);
      showAll();
      redraw.page();
    }
    const { width, height } = stageSize();
    const wanted = { height: Math.max(1, isLine() ? 1 : height), width: Math.max(1, width), reduction: state.reduction };
    const window = windowNow();
    const found = {};
    if (state.view === "table") {
      const window = tableWindow();
      const { texts } = await ask({ slice: sliceText(), window, texts: true });
      found.texts = { texts, window };
    } else if (isImage()) {
      found.channels = await Promise.all(channels().map(async (slice) => decode((await ask({ slice: sliceText(slice), window, cells: wanted })).cells)));
      found.cells = found.channels[0];
    } else if (isLine()) {
      // A line shows how far its elements reach, so that no peak is lost.
      const answer = await ask({ slice: sliceText(), window, cells: { ...wanted, reduction: "extreme" } });
      found.cells = decode(answer.cells);
    } else {
      const answer = await ask({ slice: sliceText(), window, cells: wanted });
      found.cells = decode(answer.cells);
    }
    if (asked !== shown()) {
      return;
    }
    Object.assign(state, found, { error: undefined });
  } catch (error) {
    state.error = String(error.message ?? error);
  }
  redraw.picture();
});

export const measure = newest(async () => {
  const asked = shown();
  try {
    const wanted = { slice: sliceText(), statistics: 64, ofSlice: state.ofSlice === true };
    const { statistics, differences: pairs, other, evaluated } = await ask(wanted);
    const differences = pairs && { ...pairs, evaluated };
    // Both tensors have one scale, so that they can be told apart by their colours.
    const twin = { a: "b", b: "a" }[state.measure];
    const otherFigures = other !== undefined && twin !== undefined && asked === shown() ? (await ask({ ...wanted, measure: twin })).statistics : undefined;
    if (asked !== shown()) {
      return;
    }
    Object.assign(state, { figures: statistics, otherFigures, differences, otherType: other?.type ?? "", hasUlps: other?.hasUlps === true });
    redraw.comparison();
  } catch {
    Object.assign(state, { figures: undefined, otherFigures: undefined, differences: undefined }); // The picture says why.
  }
  redraw.figures();
  redraw.picture();
});

export const point = newest(async () => {
  if (state.shape === undefined || state.error !== undefined) {
    return;
  }
  const [row, column] = state.cursor;
  const at = { slice: sliceText(), window: { row, column, rows: 1, columns: 1 }, texts: true };
  const asked = shown();
  const measures = state.other === undefined ? ["a"] : ["a", "b", "difference", "relative", ...(state.hasUlps ? ["ulps"] : [])];
  const texts = await Promise.all(measures.map((measure) => ask(measures.length > 1 ? { ...at, measure } : at).then((answer) => answer.texts?.[0], () => undefined)));
  const place = document.getElementById("at");
  if (texts[0] !== undefined && place !== null && asked === shown()) {
    const [first, ...others] = texts;
    const rounded = (text) => (Number.isFinite(Number(text)) ? short(Number(text)) : text);
    place.replaceChildren(
      make("span", {}, `${state.title}${sliceText(indices())} = `, make("b", {}, first)),
      ...others.map((text, index) => make("span", { class: "dim" }, `${MEASURES[measures[index + 1]]} `, make("b", {}, measures[index + 1] === "b" ? text : rounded(text)))),
    );
  }
});

export function chooseView(view) {
  state.view = view;
  if (view === "image") {
    // The axes of the picture are the image's.
    state.slice = channels()[0];
    showAll();
  }
  redraw.page();
  void refresh();
}

export function showAll() {
  const [rows, columns] = planeSize();
  Object.assign(state, { rows: [0, rows], columns: [0, columns], cursor: [Math.min(state.cursor[0], rows - 1), Math.min(state.cursor[1], columns - 1)] });
}

export function zoom(factor, [row, column] = state.cursor) {
  const scale = ([first, count], at, size) => {
    const wanted = Math.min(size, Math.max(Math.min(4, size), Math.round(count * factor)));
    const from = Math.round(at - ((at - first) * wanted) / count);
    return [Math.max(0, Math.min(size - wanted, from)), wanted];
  };
  const [rows, columns] = planeSize();
  state.rows = scale(state.rows, row, rows);
  state.columns = scale(state.columns, column, columns);
  void refresh();
}

export function pan(rows, columns) {
  const move = ([first, count], by, size) => [Math.max(0, Math.min(size - count, first + by)), count];
  const size = planeSize();
  state.rows = move(state.rows, rows, size[0]);
  state.columns = move(state.columns, columns, size[1]);
  void refresh();
}

export function moveCursor(row, column) {
  const [rows, columns] = planeSize();
  state.cursor = [Math.max(0, Math.min(rows - 1, row)), Math.max(0, Math.min(columns - 1, column))];
  const follow = ([first, count], at) => (at < first ? [at, count] : at >= first + count ? [at - count + 1, count] : [first, count]);
  const before = [...state.rows, ...state.columns].join();
  state.rows = follow(state.rows, state.cursor[0]);
  state.columns = follow(state.columns, state.cursor[1]);
  if (before !== [...state.rows, ...state.columns].join() || state.view === "table") {
    void refresh();
  } else {
    redraw.picture();
  }
  void point();
}

/** Shows an element: its slice, and the cursor on it. */
export function jump(to) {
  const axes = shownAxes();
  state.slice = state.slice.map((index, axis) => (index === null ? null : to[axis]));
  redraw.slice();
  moveCursor(axes.length === 2 ? to[axes[0]] : 0, axes.length > 0 ? to[axes.at(-1)] : 0);
  void refresh();
}

export async function jumpToNext(what) {
  const { found } = await ask({ find: { what, after: indices() } });
  if (found !== null && found !== undefined) {
    jump(found);
  }
}

/** Everything anew: another tensor, another stop, another measure. */
export async function renew() {
  await refresh();
  await measure();
  await point();
}

/** Lists what the tensor was at earlier stops, and keeps it as it is now. */
export async function remember(pin = false) {
  if (!state.hasMoments) {
    return;
  }
  try {
    const { moments, refused } = await request("moments", { pin });
    Object.assign(state, { moments, refused });
  } catch (error) {
    state.refused = String(error.message ?? error);
  }
  if (!state.moments.some(({ moment }) => moment === state.moment)) {
    state.moment = undefined;
  }
  redraw.comparison();
}

/** Shows an earlier stop, or the present one. */
export function travel(moment) {
  Object.assign(state, { moment, figures: undefined, otherFigures: undefined, differences: undefined });
  redraw.comparison();
  redraw.figures();
  redraw.place();
  return renew();
}

/** The moment before or after the one that is shown. */
export function travelBy(steps) {
  const all = [...state.moments.map(({ moment }) => moment), undefined];
  const at = Math.max(0, Math.min(all.length - 1, all.indexOf(state.moment) + steps));
  return all[at] === state.moment ? undefined : travel(all[at]);
}

/** Compares with another tensor; undefined ends that. */
export function compareWith(other) {
  // A single pair that differs shows, however many elements a cell covers.
  const reduction = other === undefined ? "mean" : "extreme";
  Object.assign(state, { other, reduction, error: undefined, figures: undefined, otherFigures: undefined, differences: undefined, measure: other === undefined ? "a" : "difference" });
  redraw.page();
  return renew();
}

export function showMeasure(measure_) {
  const isOther = { a: "b", b: "a" }[state.measure] === measure_;
  const [figures, otherFigures] = isOther ? [state.otherFigures, state.figures] : [undefined, undefined];
  Object.assign(state, { measure: measure_, figures, otherFigures });
  redraw.comparison();
  redraw.figures();
  return renew();
}

/** Shows the pair that differs most. */
export function jumpToWorst() {
  const worst = state.differences?.worst;
  if (worst) {
    jump(worst.index);
  }
}
