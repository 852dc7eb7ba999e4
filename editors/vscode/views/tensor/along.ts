// The section of the figures along an axis: which axis, how far it has come, a row for each index, and a chart where
// the picture has none beside it.

import { make, penOf } from "../dom";
import { jump } from "./actions";
import type { Figures } from "./answers";
import { roving } from "./roving";
import { indices, sizes } from "./slices";
import { MEASURES, redraw, short, state, type Summary } from "./state";
import { endsOf, stepsOf } from "./steps";
import { drawSteps } from "./strip";
import { MOST_INDICES, stopSumming, stripSide, summarise } from "./summing";

/** The most rows of the table at once. */
const PAGE = 100;

/** The first row of the table that is shown. */
let first = 0;

/** Draws the section; it keeps the focus. */
export function drawAlong(): void {
  const place = document.getElementById("along-section");
  if (place === null || state.shape === undefined) {
    return;
  }
  const focused = document.activeElement?.id;
  const { summary } = state;
  first = Math.min(first, Math.max(0, (summary?.rows.length ?? 0) - 1));
  place.replaceChildren(
    make("h2", {}, `Along an Axis${state.other === undefined ? "" : ` of ${MEASURES[state.measure]}`}`),
    make("p", {}, make("label", { class: "dim" }, "Axis ", axisChoice(summary))),
    ...(summary === undefined ? [] : [progress(summary), ...chart(summary), ...pager(summary), table(summary)]),
  );
  if (focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

function axisChoice(summary: Summary | undefined): HTMLElement {
  const choose = (): void => {
    first = 0;
    void summarise(choice.value === "" ? undefined : Number(choice.value));
    redraw.picture();
  };
  const title = "A row of figures for each index of an axis, of the whole tensor";
  const choice = make("select", { id: "along", title, onchange: choose });
  choice.append(
    make("option", { value: "" }, "none"),
    ...sizes().map((size, axis) =>
      make("option", { value: String(axis), selected: summary?.axis === axis }, `${axis} (${size})`),
    ),
  );
  return choice;
}

/** How far it has come, and why no further. */
function progress({ rows, length, isRunning, error }: Summary): HTMLElement {
  const count = `${rows.length} of ${length}`;
  const isCut = !isRunning && rows.length < length;
  const text =
    error ??
    (isRunning
      ? `Computing: ${count}`
      : rows.length >= MOST_INDICES && isCut
        ? `the first ${count}`
        : isCut
          ? `stopped: ${count}`
          : "");
  return make(
    "p",
    { class: error === undefined ? "dim" : "error", role: "status", id: "along-progress" },
    text,
    isRunning && make("button", { type: "button", id: "along-stop", onclick: stopSumming }, "Stop"),
  );
}

/** The chart, if there is none beside the picture. */
function chart({ rows, axis }: Summary): HTMLElement[] {
  const legend = make(
    "p",
    { class: "dim" },
    "band: least to greatest; line: mean",
    rows.some(isBad) && "; magenta: NaN or infinity",
  );
  if (stripSide() !== undefined) {
    return [legend];
  }
  const [width, height] = [320, 64];
  const title = `Least, greatest and mean at each index of axis ${axis}`;
  const drawn = make("canvas", { width: String(width), height: String(height), role: "img", "aria-label": title });
  drawn.addEventListener("click", ({ offsetX }) =>
    goTo(axis, Math.min(rows.length - 1, Math.floor((offsetX / drawn.clientWidth) * rows.length))),
  );
  const pen = penOf(drawn);
  pen.transform(0, -1, 1, 0, 0, height - 1);
  drawSteps(pen, stepsOf(rows, [0, Math.max(1, rows.length)], width), endsOf(rows), height - 2);
  return [drawn, legend];
}

const isBad = ({ nans, positiveInfinities, negativeInfinities }: Figures): boolean =>
  nans + positiveInfinities + negativeInfinities > 0;

/** Ways to other rows, if the table does not have all. */
function pager({ rows }: Summary): HTMLElement[] {
  if (rows.length <= PAGE) {
    return [];
  }
  const last = Math.min(rows.length, first + PAGE) - 1;
  const turn = (by: number) => () => {
    first = Math.max(0, Math.min(rows.length - 1, first + by));
    drawAlong();
  };
  return [
    make(
      "div",
      { class: "bar" },
      make(
        "button",
        { type: "button", id: "along-before", "aria-label": "Indices before", onclick: turn(-PAGE) },
        "‹",
      ),
      make("span", {}, `${first} to ${last} of ${rows.length}`),
      make(
        "button",
        { type: "button", id: "along-after", "aria-label": "Indices after", onclick: turn(PAGE) },
        "›",
      ),
    ),
  ];
}

function table({ rows, axis }: Summary): HTMLElement {
  const heads = ["index", "min", "max", "mean", "std", "NaN", "Inf"].map((name) =>
    make("th", { scope: "col" }, name),
  );
  const shown = rows.slice(first, first + PAGE).map((figures, at) => row(axis, first + at, figures));
  const caption = make("caption", { class: "unseen" }, `Figures at each index of axis ${axis}`);
  const whole = make(
    "table",
    { id: "along-table" },
    caption,
    make("thead", {}, make("tr", {}, ...heads)),
    make("tbody", {}, ...shown),
  );
  return make(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": `Figures along axis ${axis}` },
    roving(whole),
  );
}

function row(
  axis: number,
  index: number,
  { minimum, maximum, mean, deviation, nans, positiveInfinities, negativeInfinities }: Figures,
): HTMLElement {
  const infinities = positiveInfinities + negativeInfinities;
  const count = (of: number): HTMLElement => make("td", { class: of > 0 ? "bad" : undefined }, String(of));
  const numbers = [minimum, maximum, mean, deviation].map((it) => make("td", {}, numberText(it)));
  const title = `Show index ${index} of axis ${axis}`;
  const link = make(
    "button",
    { type: "button", class: "link", title, onclick: () => goTo(axis, index) },
    String(index),
  );
  return make("tr", {}, make("th", { scope: "row" }, link), ...numbers, count(nans), count(infinities));
}

/** A figure; integers that are texts have all their digits. */
export const numberText = (value: number | string | null): string =>
  typeof value === "string" ? value : short(value);

/** Shows an index of an axis: that slice, or that row or column. */
export function goTo(axis: number, index: number): void {
  jump(indices().with(axis, index));
}
