// Statistics and the histogram.

import { make } from "../page.js";
import { boundText } from "./bound.js";
import { jump, jumpToNext, measure } from "./actions.js";
import { MEASURES, short, state } from "./state.js";

export function drawFigures() {
  const aside = document.getElementById("figures");
  if (aside === null || state.shape === undefined) {
    return;
  }
  const figures = state.figures;
  if (figures === undefined) {
    aside.replaceChildren(make("p", { class: "dim" }, "Computing …"));
    return;
  }
  const list = make("dl");
  const row = (name, ...value) => list.append(make("dt", {}, name), make("dd", {}, ...value));
  // What is computed of two tensors has no digits of its own.
  const isComputed = !["a", "b"].includes(state.measure);
  const extreme = (it) => (it ? make("button", { type: "button", class: "link", title: `Show [${it.index.join(", ")}]`, onclick: () => jump(it.index) }, isComputed ? short(it.value) : it.text) : "–");
  row("min", extreme(figures.minimum));
  row("max", extreme(figures.maximum));
  row("mean", short(figures.mean));
  row("std", short(figures.deviation));
  for (const [at, name] of [[0.01, "1 %"], [0.25, "25 %"], [0.5, "median"], [0.75, "75 %"], [0.99, "99 %"]]) {
    const found = figures.quantiles?.find((it) => it.at === at);
    if (found !== undefined) {
      row(name, short(found.value));
    }
  }
  row("zeros", `${figures.zeros}`);
  const next = (what, title) => make("button", { type: "button", class: "link", title, onclick: () => void jumpToNext(what) }, "next ›");
  const bad = (count) => make("span", { class: count > 0 ? "bad" : "" }, String(count));
  row("NaN", bad(figures.nans), ...(figures.nans > 0 ? [" ", next("nan", "Show the next NaN (n)")] : []));
  const infinities = figures.positiveInfinities + figures.negativeInfinities;
  row("Inf", bad(infinities), ...(infinities > 0 ? [" ", next("infinity", "Show the next infinity (i)")] : []));
  row("elements", String(figures.count));
  const ofSlice = make("input", { type: "checkbox", checked: state.ofSlice, onchange: () => { state.ofSlice = ofSlice.checked; void measure(); } });
  const chart = make("canvas", { width: "320", height: "110", role: "img", "aria-label": "Histogram" });
  const context = chart.getContext("2d");
  const most = Math.max(...figures.histogram, 1);
  context.fillStyle = getComputedStyle(document.body).getPropertyValue("--vscode-charts-blue") || "#3794ff";
  figures.histogram.forEach((count, bin) => {
    const height = count === 0 ? 0 : Math.max(2, (count / most) * 110);
    context.fillRect((bin / figures.histogram.length) * 320, 110 - height, 320 / figures.histogram.length - 1, height);
  });
  const what = state.other === undefined ? "" : ` of ${MEASURES[state.measure]}`;
  aside.replaceChildren(
    ...differences(), make("h2", {}, `Statistics${what}`), list, make("h2", {}, "Histogram"), chart,
    make("div", { class: "ends" }, make("span", {}, short(figures.minimum?.value)), make("span", {}, short(figures.maximum?.value))),
    ...(state.slice.some((index) => index !== null) ? [make("p", {}, make("label", { class: "dim" }, ofSlice, " of this slice only"))] : []),
  );
}

/** How two tensors differ: the worst elements are links to them. */
function differences() {
  const found = state.differences;
  if (found === undefined) {
    return [];
  }
  const list = make("dl", { id: "differences" });
  const row = (name, ...value) => list.append(make("dt", {}, name), make("dd", {}, ...value));
  const number = (value) => (typeof value === "string" ? value : short(value));
  const link = (pair, text) => (pair ? make("button", { type: "button", class: "link", title: `Show [${pair.index.join(", ")}]: ${pair.a} and ${pair.b}`, onclick: () => jump(pair.index) }, text(pair)) : "–");
  const next = make("button", { type: "button", class: "link", title: "Show the next pair that differs (d)", onclick: () => void jumpToNext("different") }, "next ›");
  row("different", make("span", { class: found.different > 0 ? "bad" : "" }, String(found.different)), ...(found.different > 0 ? [" ", next] : []));
  if (found.nans > 0) {
    row("NaN in one", make("span", { class: "bad" }, String(found.nans)));
  }
  const { evaluated } = found;
  if (evaluated) {
    const said = make("span", { class: evaluated.beyond > 0 ? "bad" : "", title: `How far a correct implementation may be away: ${evaluated.reason}` }, boundText(evaluated, evaluated.count));
    const first = () => make("button", { type: "button", class: "link", title: `Show the first, [${evaluated.first.join(", ")}]`, onclick: () => jump(evaluated.first) }, "first ›");
    row("outside of bound", said, ...(evaluated.first ? [" ", first()] : []));
  }
  row("max |A−B|", link(found.worst, (pair) => number(pair.difference)));
  row("max relative", link(found.worstRelative, (pair) => number(pair.relative)));
  if (state.hasUlps) {
    row("max ULP", link(found.worstUlps, (pair) => (pair.ulps === null ? "NaN" : String(pair.ulps))));
  }
  row("mean |A−B|", number(found.mean));
  row("RMS", number(found.rootMeanSquare));
  return [make("h2", {}, "A and B"), list];
}
