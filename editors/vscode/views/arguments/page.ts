// The page of src/arguments/form.ts: a field for each argument, and two buttons.

import { mainOfPage, make } from "../dom";
import { connect } from "../host";
import type { Field, Form, FromPage, Proposal, ToPage } from "./protocol";

interface MadeField {
  readonly input: HTMLInputElement;
  readonly note: HTMLElement;
}

const { tell, hear } = connect<FromPage, ToPage>();
const main = mainOfPage();
let fields: MadeField[] = [];

function start(): void {
  tell({ kind: "start", texts: fields.map(({ input }) => input.value) });
}

function showMistake({ input, note }: MadeField, mistake: string): void {
  note.textContent = mistake;
  input.setAttribute("aria-invalid", String(mistake !== ""));
}

const PROPOSALS: readonly (readonly [what: Proposal, label: string, title: string])[] = [
  ["zeros", "Zeros", "All elements are 0"],
  [
    "random", "Random",
    "Floats from -1 to 1, or whole numbers from 0 to 9. The seed gives the same numbers each time.",
  ],
  ["browse", "Browse .npy…", "A file that NumPy has written"],
];

function field({ name, type, value, mistake, isTensor, isOther }: Field, index: number): HTMLElement {
  const id = `argument-${index}`;
  const input = make("input", {
    id, type: "text", spellcheck: "false", autocomplete: "off", "aria-describedby": `${id}-note`,
    placeholder: isOther ? "as for iree-run-module --input=" : undefined,
    oninput: () => tell({ kind: "changed", index, text: input.value }),
  });
  input.value = value;
  const note = make("p", { id: `${id}-note`, class: "note", role: "status" });
  const proposals = PROPOSALS.map(([what, label, title]) => {
    const onclick = (): void => tell({ kind: "propose", index, what, text: input.value });
    return make("button", { type: "button", class: "small", title, onclick }, label);
  });
  const label = make(
    "label", { for: id },
    make("span", { class: "name" }, name === null ? `argument ${index}` : `%${name}`),
    make("span", { class: "type" }, type),
  );
  const made = { input, note };
  showMistake(made, mistake);
  fields.push(made);
  const row = make("div", { class: "row" }, input, ...(isTensor ? proposals : []));
  return make("div", { class: "field" }, label, row, note);
}

/** Another function has other arguments: until its form is there, nothing can be typed that would be lost. */
function choose(name: string): void {
  for (const it of main.querySelectorAll<HTMLInputElement | HTMLButtonElement>("input, button")) {
    it.disabled = true;
  }
  tell({ kind: "choose", name });
}

function show({ program, signature, name, functions, verb, fields: wanted }: Form): void {
  fields = [];
  const choice = make("select", { id: "function", "aria-label": "Function", onchange: () => choose(choice.value) });
  choice.append(...functions.map((it) => make("option", { value: it, selected: it === name }, `@${it}`)));
  const onsubmit = (event: Event): void => {
    event.preventDefault();
    start();
  };
  const form = make(
    "form", { onsubmit, "aria-label": signature },
    make(
      "header", {},
      make("h1", {}, `${verb} `, functions.length > 1 ? choice : make("code", {}, `@${name}`)),
      make("p", { class: "program" }, program),
    ),
    ...wanted.map(field),
    make(
      "footer", {},
      make("button", { type: "submit", class: "primary" }, verb),
      make("button", { type: "button", onclick: () => tell({ kind: "cancel" }) }, "Cancel"),
      make("p", { class: "failure", role: "alert" }),
    ),
  );
  main.replaceChildren(form);
  focus(0);
}

/** Puts the cursor into a field, or onto the button that starts if there is none. */
function focus(index: number): void {
  const input = fields[index]?.input;
  (input ?? main.querySelector<HTMLElement>("button.primary"))?.focus();
  input?.select();
}

function fill(index: number, text: string): void {
  const input = fields[index]?.input;
  if (input !== undefined) {
    input.value = text;
    tell({ kind: "changed", index, text });
    input.focus();
  }
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    tell({ kind: "cancel" });
  }
});

hear((message) => {
  switch (message.kind) {
    case "show":
      return show(message);
    case "checked": {
      const made = fields[message.index];
      return made && showMistake(made, message.mistake);
    }
    case "fill":
      return fill(message.index, message.text);
    case "focus":
      return focus(message.index);
    case "failed": {
      const failure = main.querySelector(".failure");
      if (failure !== null) {
        failure.textContent = message.text;
      }
    }
  }
});

tell({ kind: "ready" });
