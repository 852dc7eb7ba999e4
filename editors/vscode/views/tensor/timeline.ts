// The view of a tensor over time: curves of its figures over the executions of its dispatch, with axes, and the same
// as a table. A click on a point goes to that execution.

import { make, penOf, select } from "../dom";
import { numberText } from "./along";
import type { Execution } from "./answers";
import { type Curve, extentText, type Times, valuesOf } from "./extent";
import { NAN } from "./palette";
import { roving } from "./roving";
import { short, state, tell } from "./state";
import { themed } from "./theme";
import { lookBack, stopLooking } from "./times";

const PAGE = 100;
/** The colours of the theme, and dashes, so that curves are told apart without colours. */
const STYLES: Readonly<Record<Curve, readonly [colour: string, fallback: string, dash: readonly number[]]>> = {
  max: ["charts-red", "#f14c4c", [6, 3]],
  mean: ["charts-blue", "#3794ff", []],
  min: ["charts-green", "#89d185", [2, 3]],
  std: ["charts-orange", "#d18616", [8, 3, 2, 3]],
};
/** The room for the numbers at the axes, and for the bars of NaN. */
const [LEFT, BOTTOM, BARS] = [72, 36, 34];

const hidden = new Set<Curve>();
let first = 0;
/** The execution that is chosen in the chart, by its place. */
let chosen = 0;

/** The view; `drawTimes` fills it in. */
export const timesView = (): HTMLElement => make("div", { class: "times", id: "times" });

export function drawTimes(): void {
  const place = document.getElementById("times");
  const { times } = state;
  if (place === null || times === undefined) {
    return;
  }
  const focused = document.activeElement?.id;
  const count = times.executions.length;
  first = Math.min(first, Math.max(0, count - 1));
  chosen = Math.min(chosen, Math.max(0, count - 1));
  place.replaceChildren(progress(times), ...advice(times));
  if (count > 0) {
    place.append(curves(), chart(times), at(times), ...pager(count), table(times));
    drawChart();
  }
  if (focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

function progress(times: Times): HTMLElement {
  const { error, isRunning } = times;
  return make(
    "div",
    { class: "bar" },
    make(
      "span",
      { class: error === undefined ? "" : "error", role: "status", id: "times-extent" },
      error ?? extentText(times),
    ),
    isRunning
      ? make("button", { type: "button", id: "times-stop", onclick: stopLooking }, "Stop")
      : make("button", { type: "button", id: "times-again", onclick: () => void lookBack() }, "Look Again"),
  );
}

/** How what is lost could be known. */
function advice({ of, executions }: Times): HTMLElement[] {
  const lost = executions.find((it) => "lost" in it);
  if (of === undefined || lost === undefined || of.isRecorded) {
    return [];
  }
  const text =
    'The program is not recorded, so what was overwritten or released is not known. Launch it with "record": true,' +
    " or choose Record from Here and run on, to have all executions from there on.";
  return [make("p", { class: "dim", id: "times-advice" }, text)];
}

/** Which curves are drawn; each box has the dash of its curve. */
function curves(): HTMLElement {
  const boxes = (Object.keys(STYLES) as Curve[]).map((curve) => {
    const box = make("input", {
      type: "checkbox",
      id: `curve-${curve}`,
      checked: !hidden.has(curve),
      onchange: () => {
        hidden[box.checked ? "delete" : "add"](curve);
        drawChart();
      },
    });
    return make("label", {}, box, sample(curve), NAMES[curve]);
  });
  const bars = make(
    "span",
    { class: "dim" },
    make("span", { class: "key", style: `background: rgb(${NAN.join()})` }),
    "NaN and Inf, counted",
  );
  return make("div", { class: "bar", role: "group", "aria-label": "Curves" }, ...boxes, bars);
}

const NAMES: Readonly<Record<Curve, string>> = { min: "min", max: "max", mean: "mean μ", std: "deviation σ" };

function sample(curve: Curve): HTMLElement {
  const drawn = make("canvas", { width: "28", height: "10", "aria-hidden": "true" });
  const pen = penOf(drawn);
  style(pen, curve);
  pen.moveTo(0, 5);
  pen.lineTo(28, 5);
  pen.stroke();
  return drawn;
}

function style(pen: CanvasRenderingContext2D, curve: Curve): void {
  const [colour, fallback, dash] = STYLES[curve];
  pen.strokeStyle = themed(colour) || fallback;
  pen.lineWidth = 1.75;
  pen.setLineDash([...dash]);
}

function chart({ executions }: Times): HTMLElement {
  const drawn = make("canvas", { id: "times-canvas" });
  const place = make(
    "div",
    {
      class: "stage",
      id: "times-chart",
      tabindex: "0",
      role: "img",
      "aria-describedby": "times-at",
      "aria-label": `Figures of ${state.title} over ${executions.length} executions; the table has the same numbers`,
      title: "Arrow keys choose an execution, Enter goes to it",
      onkeydown: (event) => {
        const steps: Readonly<Record<string, number>> = {
          ArrowLeft: -1,
          ArrowRight: 1,
          PageUp: -10,
          PageDown: 10,
          Home: -Infinity,
          End: Infinity,
        };
        const step = steps[event.key];
        if (step !== undefined) {
          event.preventDefault();
          choose(chosen + step);
        } else if (event.key === "Enter") {
          goTo(executions[chosen]);
        }
      },
      onpointermove: ({ offsetX }) => choose(pointed(offsetX, drawn.clientWidth, executions.length)),
      onclick: () => goTo(executions[chosen]),
    },
    drawn,
  );
  return place;
}

const pointed = (x: number, width: number, count: number): number =>
  Math.round(((x - LEFT) / Math.max(1, width - LEFT - 8)) * (count - 1));

function choose(place: number): void {
  const count = state.times?.executions.length ?? 0;
  chosen = Math.max(0, Math.min(count - 1, place));
  const words = document.getElementById("times-at");
  if (words !== null && state.times !== undefined) {
    words.textContent = atText(state.times);
  }
  drawChart();
}

function at(times: Times): HTMLElement {
  return make("div", { class: "at", id: "times-at", role: "status" }, atText(times));
}

/** The chosen execution in words. */
function atText({ executions, first: left, of }: Times): string {
  const it = executions[chosen];
  if (it === undefined) {
    return "";
  }
  const number = left + chosen + 1 + (of?.forgotten ?? 0);
  const begin = `execution ${number}, command ${it.command}: `;
  if ("lost" in it) {
    return `${begin}${it.lost}`;
  }
  const { minimum, maximum, mean, deviation, nans, positiveInfinities, negativeInfinities } = it.figures;
  return (
    `${begin}min ${numberText(minimum)}, max ${numberText(maximum)}, μ ${short(mean)}, σ ${short(deviation)}, ` +
    `${nans} NaN, ${positiveInfinities + negativeInfinities} Inf`
  );
}

/** Goes to before the command that has left the tensor so. */
function goTo(it: Execution | undefined): void {
  if (it !== undefined) {
    tell({ kind: "goTo", command: it.command });
  }
}

export function drawChart(): void {
  const canvas = document.querySelector<HTMLCanvasElement>("#times-canvas");
  const { times } = state;
  if (canvas === null || times === undefined) {
    return;
  }
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  Object.assign(canvas, { width, height });
  const pen = penOf(canvas);
  const { executions } = times;
  const shown = (Object.keys(STYLES) as Curve[]).filter((curve) => !hidden.has(curve));
  const values = new Map(shown.map((curve) => [curve, valuesOf(executions, curve)]));
  const all = [...values.values()].flat().filter(Number.isFinite);
  const low = all.reduce((least, it) => Math.min(least, it), Infinity);
  const high = all.reduce((most, it) => Math.max(most, it), -Infinity);
  const [from, to] = low < high ? [low, high] : low === high ? [low - 0.5, high + 0.5] : [0, 1];
  const lower = height - BOTTOM - BARS - 8;
  const x = (place: number): number =>
    LEFT + (executions.length < 2 ? 0.5 : place / (executions.length - 1)) * (width - LEFT - 8);
  const y = (value: number): number => 8 + (1 - (value - from) / (to - from)) * (lower - 8);
  drawAxes(pen, [from, to], times, { width, height, lower, x, y });
  for (const [curve, numbers] of values) {
    style(pen, curve);
    pen.beginPath();
    let isDown = false;
    numbers.forEach((value, place) => {
      if (Number.isFinite(value)) {
        pen[isDown ? "lineTo" : "moveTo"](x(place), y(value));
      }
      isDown = Number.isFinite(value);
    });
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = pen.strokeStyle;
    // Points, where they have room; one alone has no line.
    if (executions.length <= (width - LEFT) / 8) {
      numbers.forEach((value, place) => Number.isFinite(value) && pen.fillRect(x(place) - 2, y(value) - 2, 4, 4));
    }
  }
  drawBars(pen, executions, { height, x });
  pen.strokeStyle = themed("focusBorder") || "#08f";
  pen.lineWidth = 1;
  pen.strokeRect(x(chosen), 4, 0.01, height - BOTTOM - 4);
}

interface Axes {
  readonly width: number;
  readonly height: number;
  /** Where the curves end. */
  readonly lower: number;
  readonly x: (place: number) => number;
  readonly y: (value: number) => number;
}

function drawAxes(
  pen: CanvasRenderingContext2D,
  [from, to]: readonly [number, number],
  times: Times,
  { width, height, lower, x, y }: Axes,
): void {
  pen.strokeStyle = themed("panel-border") || "#888";
  pen.fillStyle = themed("foreground") || "#888";
  pen.font = `11px ${themed("editor-font-family") || "monospace"}`;
  pen.textAlign = "right";
  const levels = [from, (from + to) / 2, to, ...(from < 0 && to > 0 ? [0] : [])];
  for (const level of levels) {
    pen.beginPath();
    pen.moveTo(LEFT, y(level));
    pen.lineTo(width - 8, y(level));
    pen.stroke();
    pen.fillText(shorter(level), LEFT - 5, y(level) + 4);
  }
  pen.fillText("NaN, Inf", LEFT - 5, lower + BARS);
  pen.textAlign = "center";
  const before = times.first + (times.of?.forgotten ?? 0) + 1;
  const last = times.executions.length - 1;
  for (const place of new Set([0, Math.floor(last / 2), last])) {
    pen.fillText(String(before + place), Math.min(x(place), width - 16), height - BOTTOM + 14);
  }
  pen.fillText("execution", (LEFT + width) / 2, height - 6);
}

/** A number that has room at an axis. */
const shorter = (value: number): string => short(Number(value.toPrecision(4)));

/** How many elements are no numbers, as bars of their own scale. */
function drawBars(
  pen: CanvasRenderingContext2D,
  executions: readonly Execution[],
  { height, x }: Pick<Axes, "height" | "x">,
): void {
  const counts = executions.map((it) =>
    "figures" in it ? it.figures.nans + it.figures.positiveInfinities + it.figures.negativeInfinities : 0,
  );
  const most = Math.max(...counts, 1);
  pen.fillStyle = `rgb(${NAN.join()})`;
  const wide = Math.max(1.5, Math.min(10, (x(1) - x(0)) * 0.6 || 10));
  counts.forEach((count, place) => {
    const tall = count === 0 ? 0 : Math.max(2, (count / most) * (BARS - 4));
    pen.fillRect(x(place) - wide / 2, height - BOTTOM - tall, wide, tall);
  });
}

function pager(count: number): HTMLElement[] {
  if (count <= PAGE) {
    return [];
  }
  const pages = Array.from(
    { length: Math.ceil(count / PAGE) },
    (_, page) => `${page * PAGE + 1} to ${Math.min(count, (page + 1) * PAGE)}`,
  );
  const choice = select(pages, pages[Math.floor(first / PAGE)], (text) => {
    first = pages.indexOf(text) * PAGE;
    drawTimes();
  });
  choice.id = "times-page";
  return [make("label", { class: "dim" }, "Rows ", choice)];
}

function table(times: Times): HTMLElement {
  const heads = ["execution", "command", "min", "max", "mean", "std", "NaN", "Inf", ""];
  const before = times.first + (times.of?.forgotten ?? 0) + 1;
  const rows = times.executions.slice(first, first + PAGE).map((it, at) => row(it, before + first + at));
  const head = make(
    "tr",
    {},
    ...heads.slice(0, -1).map((name) => make("th", { scope: "col" }, name)),
    make("td", { class: "corner" }),
  );
  const caption = make("caption", { class: "unseen" }, `Figures of ${state.title} at each execution`);
  const whole = make("table", { id: "times-table" }, caption, make("thead", {}, head), make("tbody", {}, ...rows));
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Executions" }, roving(whole));
}

function row(it: Execution, number: number): HTMLElement {
  const title = "Go to just before this execution";
  const go = make(
    "td",
    {},
    make(
      "button",
      { type: "button", class: "link", title, "aria-label": `Go to execution ${number}`, onclick: () => goTo(it) },
      "Go To",
    ),
  );
  const head = [make("th", { scope: "row" }, String(number)), make("td", {}, String(it.command))];
  if ("lost" in it) {
    return make("tr", {}, ...head, make("td", { colspan: "6", class: "lost" }, it.lost), go);
  }
  const { minimum, maximum, mean, deviation, nans, positiveInfinities, negativeInfinities } = it.figures;
  const count = (of: number): HTMLElement => make("td", { class: of > 0 ? "bad" : undefined }, String(of));
  const numbers = [minimum, maximum, mean, deviation].map((figure) => make("td", {}, numberText(figure)));
  return make("tr", {}, ...head, ...numbers, count(nans), count(positiveInfinities + negativeInfinities), go);
}
