// The page of src/arguments/form.ts: a field for each argument, and two buttons.

import { make } from "./page.js";

const code = acquireVsCodeApi();
const main = document.querySelector("main");
let fields = [];

const say = (kind, more) => code.postMessage({ kind, ...more });

function start() {
  say("start", { texts: fields.map(({ input }) => input.value) });
}

function showMistake({ input, note }, mistake) {
  note.textContent = mistake;
  input.setAttribute("aria-invalid", mistake !== "");
}

function field({ name, type, value, mistake, isTensor, isOther }, index) {
  const id = `argument-${index}`;
  const input = make("input", {
    id, type: "text", spellcheck: "false", autocomplete: "off", "aria-describedby": `${id}-note`,
    placeholder: isOther ? "as for iree-run-module --input=" : undefined,
    oninput: () => say("changed", { index, text: input.value }),
  });
  input.value = value;
  const note = make("p", { id: `${id}-note`, class: "note", role: "status" });
  const propose = (what, label, title) =>
    make("button", { type: "button", class: "small", title, onclick: () => say("propose", { index, what, text: input.value }) }, label);
  const proposals = isTensor
    ? [
        propose("zeros", "Zeros", "All elements are 0"),
        propose("random", "Random", "Floats from -1 to 1, or whole numbers from 0 to 9. The seed gives the same numbers each time."),
        propose("browse", "Browse .npy…", "A file that NumPy has written"),
      ]
    : [];
  const label = make("label", { for: id }, make("span", { class: "name" }, name === null ? `argument ${index}` : `%${name}`), make("span", { class: "type" }, type));
  const made = { input, note };
  showMistake(made, mistake);
  fields.push(made);
  return make("div", { class: "field" }, label, make("div", { class: "row" }, input, ...proposals), note);
}

/** Another function has other arguments: until its form is there, nothing can be typed that would be lost. */
function choose(name) {
  for (const it of main.querySelectorAll("input, button")) {
    it.disabled = true;
  }
  say("choose", { name });
}

function show({ program, signature, name, functions, verb, fields: wanted }) {
  fields = [];
  const choice = make("select", { id: "function", "aria-label": "Function", onchange: () => choose(choice.value) });
  choice.append(...functions.map((it) => make("option", { value: it, selected: it === name }, `@${it}`)));
  const form = make(
    "form",
    { onsubmit: (event) => { event.preventDefault(); start(); }, "aria-label": signature },
    make("header", {}, make("h1", {}, `${verb} `, functions.length > 1 ? choice : make("code", {}, `@${name}`)), make("p", { class: "program" }, program)),
    ...wanted.map(field),
    make(
      "footer",
      {},
      make("button", { type: "submit", class: "primary" }, verb),
      make("button", { type: "button", onclick: () => say("cancel") }, "Cancel"),
      make("p", { class: "failure", role: "alert" }),
    ),
  );
  main.replaceChildren(form);
  focus(0);
}

function focus(index) {
  const input = fields[index]?.input ?? main.querySelector("button.primary");
  input.focus();
  input.select?.();
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    say("cancel");
  }
});

addEventListener("message", ({ data }) => {
  switch (data.kind) {
    case "show":
      return show(data);
    case "checked":
      return fields[data.index] && showMistake(fields[data.index], data.mistake);
    case "fill":
      fields[data.index].input.value = data.text;
      say("changed", { index: data.index, text: data.text });
      return fields[data.index].input.focus();
    case "focus":
      return focus(data.index);
    case "failed":
      main.querySelector(".failure").textContent = data.text;
  }
});

say("ready");
