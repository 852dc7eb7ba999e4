// The elements of the graph's tab. `tab.ts` puts them together.

import { make } from "../../dom";

/** What the canvas says to readers of screens. */
const KEYS = "Arrow keys follow the tensors; Enter goes to the line, or opens a group; B sets a breakpoint.";

export const search = make("input", {
  type: "search", id: "search", placeholder: "Search names and lines", "aria-label": "Search the graph",
});
export const bar = make("div", { class: "bar" });
export const found = make("span", { class: "dim", role: "status", id: "found" });
export const functions = make("select", { id: "functions", "aria-label": "Function" });
export const colour = make(
  "select", { id: "colour", "aria-label": "Colour of the boxes" },
  make("option", { value: "state" }, "Colour: what has run"),
  make("option", { value: "time" }, "Colour: time"),
  make("option", { value: "cost" }, "Colour: bytes"),
);
export const weights = make("input", { type: "checkbox", id: "weights" });
/** What lies over the graph. */
export const overlay = make("span", { class: "dim", id: "overlay" });

export const picture = make("canvas", { class: "picture" });
/** The whole graph, where only a part is in view. */
export const miniature = make("canvas", { class: "small", "aria-hidden": "true" });
export const stage = make(
  "div",
  {
    class: "stage", id: "stage", tabindex: "0", role: "application", "aria-roledescription": "graph",
    "aria-label": `The dispatches of the module. ${KEYS}`,
  },
  picture, miniature,
);
export const details = make("aside", { "aria-label": "The selected box" });
export const work = make("div", { class: "work" }, stage, details);
/** Says what was selected. */
export const spoken = make("div", { class: "visually-hidden", "aria-live": "polite" });
/** Stands in the place of a graph that is not there. */
export const none = make("div", { class: "message", hidden: true });

export const timePicture = make("canvas");
export const timeLine = make(
  "div",
  { class: "time", id: "time", hidden: true, role: "img", "aria-label": "Time line of the commands that ran" },
  timePicture,
);
export const tip = make("div", { class: "tip", id: "tip", hidden: true });
