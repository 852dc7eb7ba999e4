// The bars of a file's tensors, of comparing and of earlier stops: which tensor is shown, what it is compared with,
// what is shown of both, and a slider over what it was.

import { make, select } from "../dom";
import { compareWith, remember, showMeasure, travel } from "./actions";
import type { Measure, Moment, Other } from "./answers";
import { renew } from "./asking";
import { MEASURES, redraw, request, set, state, textOf } from "./state";

/** All of them. */
export function comparisonBars(): HTMLElement {
  return make("div", { class: "bars", id: "comparison" }, ...bars());
}

/** Draws them again, where they have changed. */
export function drawComparison(): void {
  const place = document.getElementById("comparison");
  if (place === null) {
    return;
  }
  const focused = document.activeElement?.id;
  place.replaceChildren(...bars());
  if (focused) {
    document.getElementById(focused)?.focus();
  }
}

function bars(): HTMLElement[] {
  const comparison = state.other === undefined ? choiceBar() : pairBar(state.other);
  return [...fileBar(), comparison, ...momentsBar()];
}

// ---- Comparing ----

const CHOICES = {
  expression: "another tensor…",
  twin: "its bytecode",
  reference: "its text in float64 (reference)",
  file: "a file (.npy, .safetensors, …)",
} as const;

/** What the tensor can be compared with. */
function choiceBar(): HTMLElement {
  const options = new Map([["", "nothing"]]);
  for (const kind of state.comparisons) {
    if (kind !== "tensor") {
      options.set(kind, CHOICES[kind]);
    }
  }
  for (const moment of [...state.moments].reverse()) {
    options.set(`moment ${moment.moment}`, `as at ${momentText(moment)}`);
  }
  for (const { name, type } of state.tensors ?? []) {
    if (name !== state.name && type !== null) {
      options.set(`tensor ${name}`, `${name}: ${type}`);
    }
  }
  options.set("file", CHOICES.file);
  const onchange = (): void => void choose(choice.value);
  const choice = make("select", { id: "compare", "aria-label": "Compare with", onchange });
  choice.append(...Array.from(options, ([value, text]) => make("option", { value }, text)));
  return make("div", { class: "bar" }, make("label", {}, "Compare with", choice));
}

async function choose(value: string): Promise<void> {
  try {
    const other = await chosen(value);
    if (other !== undefined) {
      return compareWith(other);
    }
    drawComparison();
  } catch (error) {
    state.error = textOf(error);
    redraw.picture();
  }
}

/** The tensor that a choice stands for; undefined for none. */
async function chosen(value: string): Promise<Other | undefined> {
  const [kind, ...rest] = value.split(" ");
  const what = rest.join(" ");
  switch (kind) {
    case "twin":
      return { with: { twin: true }, label: "as bytecode" };
    case "reference":
      return { with: { reference: true }, label: "evaluated in float64 (reference)" };
    case "moment": {
      const moment = state.moments.find((it) => it.moment === Number(what));
      return moment && { with: { moment: moment.moment }, label: `as at ${momentText(moment)}` };
    }
    case "tensor":
      return { with: { name: what }, label: what };
    case "expression":
    case "file":
      return request("choose", { what: kind });
    default:
      return undefined;
  }
}

/** The pair, and what is shown of it. */
function pairBar(other: Other): HTMLElement {
  const isOtherType = state.otherType !== "" && state.otherType !== state.type;
  const measures = Object.keys(MEASURES) as Measure[];
  const known = measures.filter((measure) => measure !== "ulps" || state.hasUlps);
  const buttons = known.map((measure) => make(
    "button",
    {
      type: "button", id: `measure-${measure}`, "aria-pressed": String(state.measure === measure),
      onclick: () => void showMeasure(measure),
    },
    MEASURES[measure],
  ));
  const end = (): void => void compareWith(undefined);
  return make(
    "div", { class: "bar" },
    make(
      "span", { class: "pair" },
      make("b", {}, "A"), ` ${state.title}`, " ", make("b", {}, "B"), ` ${other.label}`,
      isOtherType && `: ${state.otherType}`,
    ),
    make("span", { class: "group", role: "group", "aria-label": "What is shown of A and B" }, ...buttons),
    make("button", { type: "button", id: "compare-end", title: "Stop comparing", onclick: end }, "Stop Comparing"),
  );
}

// ---- Earlier stops ----

const momentText = ({ place, repeated, isPinned }: Moment): string =>
  `${place}${repeated > 0 ? ` and ${repeated} more` : ""}${isPinned ? ", pinned" : ""}`;

function momentsBar(): HTMLElement[] {
  if (!state.hasMoments) {
    return [];
  }
  const title = "Keep this tensor, to compare with later";
  return [make(
    "div", { class: "bar" },
    state.moments.length > 0 && momentsSlider(),
    make("button", { type: "button", id: "pin", title, onclick: () => void remember(true) }, "Pin"),
    state.refused !== null && state.refused !== "" && make("span", { class: "dim" }, state.refused),
  )];
}

function momentsSlider(): HTMLElement {
  const { moments, moment } = state;
  const then = moments.find((it) => it.moment === moment);
  const text = then === undefined ? "now" : `as at ${momentText(then)}`;
  const slider = make("input", {
    type: "range", id: "moments", min: "0", max: String(moments.length),
    "aria-label": "Earlier stops with this tensor", "aria-valuetext": text,
    onchange: () => void travel(moments[Number(slider.value)]?.moment),
  });
  slider.value = String(then === undefined ? moments.length : moments.indexOf(then));
  return make("label", {}, "Stop", slider, make("code", { id: "moment" }, text));
}

// ---- The tensors of a file ----

/** Which tensor of a file, and its type if the file states none. */
function fileBar(): HTMLElement[] {
  const { tensors, name } = state;
  if (tensors === undefined) {
    return [];
  }
  const tensor = tensors.find((it) => it.name === name);
  const parts = [
    ...(tensors.length > 1 ? [tensorChoice(tensors.map((it) => it.name))] : []),
    ...(tensor?.type === null ? [declaredType(), make("span", { class: "dim" }, `${tensor.bytes} bytes`)] : []),
  ];
  return parts.length === 0 ? [] : [make("div", { class: "bar" }, ...parts)];
}

function tensorChoice(names: readonly string[]): HTMLElement {
  const choice = select(names, state.name, (name) => showOther({ name, declared: undefined }));
  choice.id = "tensor";
  choice.setAttribute("aria-label", "Tensor");
  return make("label", {}, "Tensor", choice);
}

function declaredType(): HTMLElement {
  const input = make("input", {
    type: "text", id: "declared", placeholder: "4x8xf32", spellcheck: "false",
    onchange: () => showOther({ declared: input.value.trim() }),
  });
  input.value = state.declared ?? "";
  return make("label", { title: "Not stated in the file" }, "Type", input);
}

/** Another tensor, or the same bytes in another type. */
function showOther(change: Parameters<typeof set>[0]): void {
  set({ shape: undefined, error: undefined, figures: undefined, other: undefined, measure: "a", ...change });
  redraw.page();
  void renew();
}
