// Asking for what is shown: the cells or texts of the window, the figures, and the element at the cursor. An answer
// that was asked for under other words is dropped.

import { make } from "../dom";
import type { Cells, Measure } from "./answers";
import { askedAs, formatted } from "./formats";
import { moved } from "./linking";
import { newest } from "./newest";
import { channels, indices, isImage, isLine, layoutOf, showAll, sliceText, tableWindow, windowNow } from "./slices";
import { summariseAgain } from "./summing";
import { ask, type Decoded, MEASURES, redraw, set, short, shown, type Slice, state, tell, textOf } from "./state";

/** How many bars a histogram has. */
const BINS = 64;

/** The size of what is drawn on, in pixels. */
export function stageSize(): { readonly width: number; readonly height: number } {
  const stage = document.getElementById("stage");
  return stage === null
    ? { width: 256, height: 256 }
    : { width: Math.floor(stage.clientWidth), height: Math.floor(stage.clientHeight) };
}

/** Asks for what the picture or the table shows. */
export const refresh = newest(async () => {
  moved();
  const asked = shown();
  try {
    if (state.shape === undefined) {
      await askForShape();
    }
    const found = await (state.view === "table" ? tableOf() : state.view === "time" ? {} : picturesOf());
    if (asked !== shown()) {
      return;
    }
    set({ ...found, error: undefined });
  } catch (error) {
    state.error = textOf(error);
  }
  redraw.picture();
});

async function askForShape(): Promise<void> {
  const { shape, type } = await ask({});
  set({
    shape, type, layout: layoutOf(shape),
    slice: shape.map((_, axis) => (axis + 2 < shape.length ? 0 : null)),
  });
  showAll();
  redraw.page();
}

async function tableOf(): Promise<Pick<typeof state, "texts">> {
  const window = tableWindow();
  const { rows: height, columns: width } = window;
  const cells = { height, width, reduction: "first" } as const;
  const found = await ask({ slice: sliceText(), window, ...askedAs(state.format), cells });
  const values = found.cells && decoded(found.cells);
  return { texts: { texts: found.texts ?? [], window, values } };
}

async function picturesOf(): Promise<Partial<Pick<typeof state, "cells" | "channels">>> {
  if (!isImage()) {
    const cells = await cellsOf(state.slice);
    return cells ? { cells } : {};
  }
  const found = await Promise.all(channels().map(cellsOf));
  const known = found.filter((cells) => cells !== undefined);
  const [cells] = known;
  return { cells, channels: known };
}

async function cellsOf(slice: Slice): Promise<Decoded | undefined> {
  const { width, height } = stageSize();
  const isLong = isLine() && !isImage();
  const wanted = {
    height: isLine() ? 1 : Math.max(1, height), width: Math.max(1, width),
    // A line shows how far its elements reach, so that no peak is lost.
    reduction: isLong ? "extreme" as const : state.reduction,
  };
  const { cells } = await ask({ slice: sliceText(slice), window: windowNow(), cells: wanted });
  return cells && decoded(cells);
}

function decoded({ height, width, values, marks, reduction }: Cells): Decoded {
  const bytes = (text: string): Uint8Array<ArrayBuffer> =>
    Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return {
    height, width, reduction, values: new Float32Array(bytes(values).buffer), marks: marks ? bytes(marks) : undefined,
  };
}

/** Asks for the figures. */
export const measure = newest(async () => {
  const asked = shown();
  try {
    const wanted = { slice: sliceText(), statistics: BINS, ofSlice: state.ofSlice };
    const { statistics, differences, other, evaluated } = await ask(wanted);
    // Both tensors have one scale, so that they can be told apart by their colours.
    const twin = state.measure === "a" ? "b" : state.measure === "b" ? "a" : undefined;
    const hasTwin = other !== undefined && twin !== undefined && asked === shown();
    const otherFigures = hasTwin ? (await ask({ ...wanted, measure: twin })).statistics : undefined;
    if (asked !== shown()) {
      return;
    }
    set({
      figures: statistics, otherFigures, differences: differences && { ...differences, evaluated },
      otherType: other?.type ?? "", hasUlps: other?.hasUlps === true,
    });
    redraw.comparison();
  } catch {
    set({ figures: undefined, otherFigures: undefined, differences: undefined }); // The picture says why.
  }
  redraw.figures();
  redraw.picture();
});

/** Asks for the element at the cursor. */
export const point = newest(async () => {
  if (state.shape === undefined || state.error !== undefined) {
    return;
  }
  moved();
  const [row, column] = state.cursor;
  const { format } = state;
  const at = indices();
  const question = { slice: sliceText(), window: { row, column, rows: 1, columns: 1 }, ...askedAs(format) };
  const asked = shown();
  const textOfMeasure = (measure: Measure | undefined): Promise<string | undefined> =>
    ask(measure === undefined ? question : { ...question, measure }).then(({ texts }) => texts?.[0], () => undefined);
  const others: Measure[] = state.other === undefined ? [] : ["b", "difference", "relative"];
  if (others.length > 0 && state.hasUlps) {
    others.push("ulps");
  }
  const [first, ...texts] = await Promise.all([
    textOfMeasure(others.length > 0 ? "a" : undefined), ...others.map(textOfMeasure),
  ]);
  const place = document.getElementById("at");
  if (first === undefined || place === null || asked !== shown()) {
    return;
  }
  // The numbers are those of the element that was asked for; if the cursor is elsewhere by now, it is asked for next.
  const name = `${state.title}${sliceText(at)}`;
  const { link } = state;
  if (link?.isOn === true) {
    tell({ kind: "pointed", text: `${name} = ${formatted(first, format)}` });
  }
  place.replaceChildren(
    make("span", {}, `${name} = `, make("b", {}, formatted(first, format))),
    ...others.map((measure, index) => {
      const text = texts[index] ?? "–";
      // What is computed of two elements has no digits of its own.
      const isRounded = format === "short" && measure !== "b" && Number.isFinite(Number(text));
      const number = make("b", {}, isRounded ? short(Number(text)) : formatted(text, format));
      return make("span", { class: "dim" }, `${MEASURES[measure]} `, number);
    }),
    make("span", { class: "dim", id: "other-at" }, link?.text ?? ""),
  );
});

/** Everything anew: another tensor, another stop, another measure. */
export async function renew(): Promise<void> {
  await refresh();
  await measure();
  await point();
  summariseAgain();
}
