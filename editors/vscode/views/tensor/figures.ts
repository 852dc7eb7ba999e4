// Statistics and the histogram, and how two tensors differ.

import { type Child, make, penOf } from "../dom";
import { jump, jumpToNext } from "./actions";
import type { Evaluated, Extreme, Pair, Sought, Statistics } from "./answers";
import { measure } from "./asking";
import { boundText } from "./bound";
import { MEASURES, short, state } from "./state";
import { themed } from "./theme";

const QUANTILES = [[0.01, "1 %"], [0.25, "25 %"], [0.5, "median"], [0.75, "75 %"], [0.99, "99 %"]] as const;

export function drawFigures(): void {
  const aside = document.getElementById("figures");
  if (aside === null || state.shape === undefined) {
    return;
  }
  const { figures } = state;
  if (figures === undefined) {
    aside.replaceChildren(make("p", { class: "dim" }, "Computing …"));
    return;
  }
  const what = state.other === undefined ? "" : ` of ${MEASURES[state.measure]}`;
  const { minimum, maximum } = figures;
  aside.replaceChildren(
    ...differences(),
    make("h2", {}, `Statistics${what}`), statistics(figures),
    make("h2", {}, "Histogram"), histogram(figures.histogram),
    make("div", { class: "ends" }, make("span", {}, short(minimum?.value)), make("span", {}, short(maximum?.value))),
    ...(state.slice.some((index) => index !== null) ? [sliceChoice()] : []),
  );
}

/** A list, and what adds a row to it. */
function rows(id?: string): { list: HTMLElement; row: (name: string, ...value: Child[]) => void } {
  const list = make("dl", { id });
  return { list, row: (name, ...value) => list.append(make("dt", {}, name), make("dd", {}, ...value.filter(isThere))) };
}

const isThere = (child: Child): child is Node | string => child !== undefined && child !== false;

function link(text: string, title: string, act: () => void): HTMLElement {
  return make("button", { type: "button", class: "link", title, onclick: act }, text);
}

/** A number that should be 0. */
const bad = (count: number): HTMLElement => make("span", { class: count > 0 ? "bad" : "" }, String(count));

/** What follows such a number: a way to the next of these elements. */
const next = (count: number, what: Sought, title: string): Child[] =>
  count > 0 ? [" ", link("next ›", title, () => void jumpToNext(what))] : [];

function statistics(figures: Statistics): HTMLElement {
  const { list, row } = rows();
  // What is computed of two tensors has no digits of its own.
  const isComputed = !["a", "b"].includes(state.measure);
  const extreme = (it: Extreme | null): Child => {
    if (it === null) {
      return "–";
    }
    return link(isComputed ? short(it.value) : it.text, `Show [${it.index.join(", ")}]`, () => jump(it.index));
  };
  row("min", extreme(figures.minimum));
  row("max", extreme(figures.maximum));
  row("mean", short(figures.mean));
  row("std", short(figures.deviation));
  for (const [at, name] of QUANTILES) {
    const found = figures.quantiles?.find((it) => it.at === at);
    if (found !== undefined) {
      row(name, short(found.value));
    }
  }
  row("zeros", String(figures.zeros));
  row("NaN", bad(figures.nans), ...next(figures.nans, "nan", "Show the next NaN (n)"));
  const infinities = figures.positiveInfinities + figures.negativeInfinities;
  row("Inf", bad(infinities), ...next(infinities, "infinity", "Show the next infinity (i)"));
  row("elements", String(figures.count));
  return list;
}

function histogram(counts: readonly number[]): HTMLElement {
  const [width, height] = [320, 110];
  const chart = make("canvas", {
    width: String(width), height: String(height), role: "img", "aria-label": "Histogram",
  });
  const pen = penOf(chart);
  const most = Math.max(...counts, 1);
  pen.fillStyle = themed("charts-blue") || "#3794ff";
  counts.forEach((count, bin) => {
    const tall = count === 0 ? 0 : Math.max(2, (count / most) * height);
    pen.fillRect((bin / counts.length) * width, height - tall, width / counts.length - 1, tall);
  });
  return chart;
}

function sliceChoice(): HTMLElement {
  const box = make("input", {
    type: "checkbox", checked: state.ofSlice,
    onchange: () => {
      state.ofSlice = box.checked;
      void measure();
    },
  });
  return make("p", {}, make("label", { class: "dim" }, box, " This slice only"));
}

/** How two tensors differ: the worst elements are links to them. */
function differences(): HTMLElement[] {
  const found = state.differences;
  if (found === undefined) {
    return [];
  }
  const { list, row } = rows("differences");
  const number = (value: number | string): string => (typeof value === "string" ? value : short(value));
  const worst = (pair: Pair | null, text: (pair: Pair) => string): Child => {
    if (pair === null) {
      return "–";
    }
    return link(text(pair), `Show [${pair.index.join(", ")}]: ${pair.a} and ${pair.b}`, () => jump(pair.index));
  };
  row(
    "different", bad(found.different), ...next(found.different, "different", "Show the next pair that differs (d)"),
  );
  if (found.nans > 0) {
    row("NaN in one", bad(found.nans));
  }
  if (found.evaluated !== undefined) {
    row("outside of bound", ...beyondBound(found.evaluated));
  }
  row("max |A−B|", worst(found.worst, (pair) => number(pair.difference)));
  row("max relative", worst(found.worstRelative, (pair) => number(pair.relative)));
  if (state.hasUlps) {
    row("max ULP", worst(found.worstUlps, (pair) => (pair.ulps === null ? "NaN" : String(pair.ulps))));
  }
  row("mean |A−B|", number(found.mean));
  row("RMS", number(found.rootMeanSquare));
  return [make("h2", {}, "A and B"), list];
}

/** How many elements are farther from what they should be than a correct implementation could be. */
function beyondBound(evaluated: Evaluated): Child[] {
  const { beyond, count, first, reason } = evaluated;
  const title = `How far a correct implementation may be away: ${reason}`;
  const said = make("span", { class: beyond > 0 ? "bad" : "", title }, boundText(evaluated, count));
  return first === null
    ? [said]
    : [said, " ", link("first ›", `Show the first, [${first.join(", ")}]`, () => jump(first))];
}
