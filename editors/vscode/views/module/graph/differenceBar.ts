// The bar of a comparison: what was compared with what, how much of it differs, what the colours mean, and the way from
// one difference to the next. It is there while a comparison lies over the graph.

import { make } from "../../dom";
import { onNewTheme } from "../colours";
import type { Compared } from "../compared";
import type { Comparison } from "../protocol";
import { state, tell } from "../state";
import { colourOfCompared, differing, summary } from "./difference";
import { colour } from "./elements";
import { revealNext, revealPrevious } from "./reveal";

export const differenceBar = make(
  "div", { class: "bar", id: "difference", hidden: true, role: "region", "aria-label": "Comparison" },
);

const option = make("option", { value: "difference" }, "Colour: difference");

/** What a swatch stands for. */
const LEGEND: readonly (readonly [like: Omit<Compared, "runs">, text: string])[] = [
  [{ verdict: "equal", isOdd: false, ulps: undefined }, "equal"],
  [{ verdict: "within", isOdd: false, ulps: 1 }, "within bound, 1 ULP"],
  [{ verdict: "within", isOdd: false, ulps: 4096 }, "within bound, 4096 ULP or more"],
  [{ verdict: "differs", isOdd: false, ulps: undefined }, "differs"],
  [{ verdict: "differs", isOdd: true, ulps: undefined }, "differs, NaN or infinity on one side"],
  [{ verdict: "not_compared", isOdd: false, ulps: undefined }, "not compared"],
];

/** The same strokes as those of the boxes. */
const STROKES = { equal: "1px solid", within: "1px solid", not_compared: "2px dashed", differs: "3px solid" } as const;

/** What the bar shows: it stays as it is, with its focus, until that is another. */
let drawn: readonly unknown[] = [];

/** Shows what the comparison has found, or hides the bar. */
export function showDifferenceBar(): void {
  const { comparison } = state;
  const now = [comparison, state.graph, state.function, document.body.className];
  if (now.every((it, at) => it === drawn[at])) {
    return;
  }
  drawn = now;
  differenceBar.hidden = comparison === undefined;
  if (comparison === undefined) {
    option.remove();
    return;
  }
  colour.append(option);
  colour.value = state.colour;
  differenceBar.replaceChildren(...parts(comparison));
}

function parts({ report, other, isStale }: Comparison): Node[] {
  const count = differing().length;
  const lost = report.dispatches.filter(({ node }) => node === null).length;
  const results = report.results.filter(({ verdict }) => verdict === "differs").length;
  const differ = results === 1 ? "differs" : "differ";
  const bad = results === 0 ? [] : [`${results} of ${report.results.length} results ${differ}`];
  const wrong = report.failures.map(({ side, message }) => `side ${side} failed: ${message}`);
  const unplaced = lost === 0 ? [] : [`${lost} ${lost === 1 ? "run has" : "runs have"} no certain box, and no colour`];
  const stale = isStale ? ["the module has changed since"] : [];
  return [
    make(
      "span", { role: "status", id: "difference-summary" },
      make("b", {}, summary(report)), ` · compared with ${other}`,
    ),
    ...[...stale, ...bad, ...wrong, ...unplaced].map((text) => make("span", { class: "error" }, text)),
    make("span", { class: "spring" }),
    button("Previous Difference", "The difference before the selected box (p)", selectPreviousDifference, count === 0),
    button("Next Difference", "The difference after the selected box (n)", selectNextDifference, count === 0),
    button("Compare Again", "Compare again, with the same inputs", () => tell({ kind: "compareAgain" })),
    button("Stop Comparing", "Take the comparison off the graph", () => tell({ kind: "stopComparing" })),
    make("span", { class: "legend", id: "difference-legend" }, ...LEGEND.map(([like, text]) => swatch(like, text))),
  ];
}

function button(label: string, title: string, act: () => void, isOff = false): HTMLButtonElement {
  const element = make("button", { title, onclick: act }, label);
  element.disabled = isOff;
  return element;
}

function swatch(like: Omit<Compared, "runs">, text: string): HTMLElement {
  const shown = colourOfCompared(like);
  const fill = like.verdict === "not_compared" ? "transparent" : shown;
  const style = `border: ${STROKES[like.verdict]} ${shown}; background: color-mix(in srgb, ${fill} 30%, transparent)`;
  return make("span", {}, make("span", { class: "key", style }), text);
}

onNewTheme(showDifferenceBar);

export const selectNextDifference = (): void => revealNext(differing());
export const selectPreviousDifference = (): void => revealPrevious(differing());
