// The bars of comparing and of earlier stops: what the tensor is compared with, what is shown of both, and a slider over
// what it was.

import { make, select } from "../page.js";
import { compareWith, remember, renew, showMeasure, travel } from "./actions.js";
import { MEASURES, redraw, request, state } from "./state.js";

const momentText = ({ place, repeated, isPinned }) => `${place}${repeated > 0 ? ` and ${repeated} more` : ""}${isPinned ? ", pinned" : ""}`;

/** Both bars. */
export function comparisonBars() {
  return make("div", { class: "bars", id: "comparison" }, ...bars());
}

/** Draws them again, where they have changed. */
export function drawComparison() {
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

function bars() {
  return [...fileBar(), comparisonBar(), ...momentsBar()];
}

const CHOICES = {
  expression: "another tensor…",
  twin: "its bytecode",
  reference: "its text in float64 (reference)",
  file: "a file (.npy, .safetensors, …)",
};

function comparisonBar() {
  const bar = make("div", { class: "bar" });
  if (state.other === undefined) {
    const options = new Map([["", "nothing"]]);
    for (const kind of state.comparisons) {
      if (kind in CHOICES) {
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
    const choice = make("select", { id: "compare", "aria-label": "Compare with", onchange: () => void choose(choice.value) });
    choice.append(...Array.from(options, ([value, text]) => make("option", { value }, text)));
    bar.append(make("label", {}, "Compare with", choice));
    return bar;
  }
  const group = make("span", { class: "group", role: "group", "aria-label": "What is shown of A and B" });
  const measures = Object.entries(MEASURES).filter(([measure]) => measure !== "ulps" || state.hasUlps);
  group.append(...measures.map(([measure, text]) => make("button", { type: "button", id: `measure-${measure}`, "aria-pressed": String(state.measure === measure), onclick: () => void showMeasure(measure) }, text)));
  bar.append(
    make("span", { class: "pair" }, make("b", {}, "A"), ` ${state.title}`, " ", make("b", {}, "B"), ` ${state.other.label}`, state.otherType && state.otherType !== state.type ? `: ${state.otherType}` : ""),
    group,
    make("button", { type: "button", id: "compare-end", title: "Compare with nothing", onclick: () => void compareWith(undefined) }, "End comparing"),
  );
  return bar;
}

async function choose(value) {
  const [kind, ...rest] = value.split(" ");
  const what = rest.join(" ");
  const chosen = {
    twin: () => ({ with: { twin: true }, label: "as bytecode" }),
    reference: () => ({ with: { reference: true }, label: "evaluated in float64 (reference)" }),
    moment: () => ({ with: { moment: Number(what) }, label: `as at ${momentText(state.moments.find(({ moment }) => moment === Number(what)))}` }),
    tensor: () => ({ with: { name: what }, label: what }),
    expression: () => request("choose", { what: "expression" }),
    file: () => request("choose", { what: "file" }),
  }[kind];
  let other;
  try {
    other = await chosen?.();
  } catch (error) {
    state.error = String(error.message ?? error);
    return redraw.picture();
  }
  return other ? compareWith(other) : drawComparison();
}

function momentsBar() {
  if (!state.hasMoments) {
    return [];
  }
  const { moments, moment } = state;
  const bar = make("div", { class: "bar" });
  const at = moment === undefined ? moments.length : moments.findIndex((it) => it.moment === moment);
  if (moments.length > 0) {
    const text = moment === undefined ? "now" : `as at ${momentText(moments[at])}`;
    const slider = make("input", { type: "range", id: "moments", min: "0", max: String(moments.length), "aria-label": "Stops that have seen this tensor", "aria-valuetext": text });
    slider.value = String(at);
    slider.addEventListener("change", () => void travel(moments[Number(slider.value)]?.moment));
    bar.append(make("label", {}, "Stop", slider, make("code", { id: "moment" }, text)));
  }
  bar.append(make("button", { type: "button", id: "pin", title: "Keep the tensor as it is now, to compare with later", onclick: () => void remember(true) }, "Pin"));
  if (state.refused) {
    bar.append(make("span", { class: "dim" }, state.refused));
  }
  return [bar];
}

/** Which tensor of a file, and its type if the file states none. */
function fileBar() {
  if (state.tensors === undefined) {
    return [];
  }
  const bar = make("div", { class: "bar" });
  const show = (change) => {
    Object.assign(state, { shape: undefined, error: undefined, figures: undefined, other: undefined, measure: "a", ...change });
    redraw.page();
    void renew();
  };
  if (state.tensors.length > 1) {
    const choice = select(state.tensors.map(({ name }) => name), state.name, (name) => show({ name, declared: undefined }));
    choice.id = "tensor";
    choice.setAttribute("aria-label", "Tensor");
    bar.append(make("label", {}, "Tensor", choice));
  }
  const tensor = state.tensors.find(({ name }) => name === state.name);
  if (tensor?.type === null) {
    const input = make("input", { type: "text", id: "declared", placeholder: "4x8xf32", spellcheck: "false", onchange: () => show({ declared: input.value.trim() }) });
    input.value = state.declared ?? "";
    bar.append(make("label", { title: "The file does not say it" }, "Type", input), make("span", { class: "dim" }, `${tensor.bytes} bytes`));
  }
  return bar.childElementCount > 0 ? [bar] : [];
}
