// The first tab: what a module offers and needs, where its bytes are, and what it was made from.

import { type Child, digitsOver, make } from "../dom";
import type { Export, Import, NamedType, Overview, PartKind, SizePart, Source } from "./answers";
import { type Colours, colours } from "./colours";
import { state, tell } from "./state";
import { ageText, bytesText, fileName } from "./texts";
import { squarified } from "./treemap";

export const overview = make("section", { id: "overview", role: "tabpanel", "aria-label": "Overview" });
export const heading = make("header");

export function showOverview(): void {
  const known = state.overview;
  showHeading(known);
  if (known === undefined) {
    const text = state.error === undefined ? "Reading the module…" : `This module cannot be shown: ${state.error}`;
    overview.replaceChildren(make("p", { class: state.error ? "message error" : "message" }, text));
    return;
  }
  const offered = known.exports.filter((it) => !it.isAsyncTwin && it.name !== "__init" && it.name !== "__deinit");
  overview.replaceChildren(make(
    "div", { class: "columns" },
    make(
      "div", {},
      make("h2", {}, "Exports"), ...offered.map(exportCard),
      offered.length === 0 && make("p", { class: "dim" }, "It exports no function."),
      ...imports(known),
    ),
    make("div", {}, make("h2", {}, "Sizes"), ...sizes(known.sizes), make("h2", {}, "Made from"), origin(known)),
  ));
  drawMap();
}

function showHeading(known: Overview | undefined): void {
  const parts = known && [`module @${known.name}`, bytesText(known.bytes), `bytecode ${known.bytecodeVersion}`];
  heading.replaceChildren(make("h1", {}, state.file));
  if (parts !== undefined) {
    heading.append(make("span", { class: "dim" }, parts.join(" · ")));
  }
}

// ---- What it offers and needs ----

function exportCard({ name, arguments: parameters, results, callingConvention, declaration }: Export): HTMLElement {
  const typed = ({ name, type }: NamedType): string => (name ? `%${name}: ${type || "?"}` : type || "?");
  const lines = [...parameters.map((it) => ["input", typed(it)]), ...results.map((it) => ["output", typed(it)])];
  if (callingConvention) {
    lines.push(["convention", callingConvention]);
  }
  const start = (noDebug: boolean): void => tell({ kind: "start", name, noDebug });
  return make(
    "div", { class: "card", "data-export": name },
    make(
      "div", { class: "head" },
      make("span", { class: "name", title: declaration ?? "" }, `@${name}`),
      make("span", { class: "spring" }),
      make("button", { class: "primary", "aria-label": `Debug ${name}`, onclick: () => start(false) }, "Debug"),
      make("button", { "aria-label": `Run ${name}`, onclick: () => start(true) }, "Run"),
      make("button", { "aria-label": `Show the ABI of ${name}`, onclick: () => tell({ kind: "abi", name }) }, "ABI"),
    ),
    make(
      "div", { class: "signature" },
      ...lines.flatMap(([what, text]) => [make("span", { class: "dim" }, what), make("span", {}, text)]),
    ),
  );
}

function imports({ imports, dependencies }: Overview): HTMLElement[] {
  const modules = Map.groupBy(imports, (it) => it.module);
  const needs = (name: string): string => {
    const found = dependencies.find((it) => it.name === name);
    return found === undefined ? "" : `version ${found.minimumVersion} or later${found.isOptional ? ", optional" : ""}`;
  };
  return [
    make("h2", { style: "margin-top: 18px" }, "Imports"),
    ...(modules.size === 0 ? [make("p", { class: "dim" }, "It needs no other module.")] : []),
    ...Array.from(modules, ([name, functions]) => importedModule(name, needs(name), functions)),
  ];
}

function importedModule(name: string, needs: string, functions: readonly Import[]): HTMLElement {
  const said = ({ callingConvention, isOptional }: Import): string =>
    ` ${callingConvention ?? ""}${isOptional ? " optional" : ""}`;
  return make(
    "details", {},
    make(
      "summary", {},
      make("code", {}, name), ` ${functions.length} ${functions.length === 1 ? "function" : "functions"} `,
      make("span", { class: "dim" }, needs),
    ),
    make(
      "ul", { class: "plain" },
      ...functions.map((it) => make("li", {}, make("code", {}, it.name), make("span", { class: "dim" }, said(it)))),
    ),
  );
}

// ---- What it was made from ----

const STATES: Readonly<Record<Source["state"], string>> = {
  unchanged: "as it was compiled",
  changed: "changed since it was compiled",
  missing: "not found beside the module",
};
const NO_DEBUG_FILE =
  "none: names of tensors and the dispatch graph need one; `iree-dbg compile` makes it, and so does F5 on the source";

function origin({ modified, sources, compiler, flags, debugFile, debugFileProblem }: Overview): HTMLElement {
  const list = make("dl");
  const row = (name: string, ...value: Child[]): void => list.append(make("dt", {}, name), make("dd", {}, ...value));
  if (modified !== null) {
    row("Module written", make("span", { title: new Date(modified).toLocaleString() }, ageText(modified, Date.now())));
  }
  for (const source of sources) {
    row("Source", ...sourceState(source));
  }
  const release = compiler?.replace(/( @ [0-9a-f]{10})[0-9a-f]+/, "$1…");
  const unknown = make("span", { class: "dim" }, "not told: only the debug file knows it");
  row("Compiler", compiler ? make("span", { title: compiler }, release) : unknown);
  if (flags.length > 0) {
    const lines = flags.map((it) => make("li", {}, make("code", {}, it)));
    const summary = make("summary", {}, `${flags.length} flags`);
    row("Flags", make("details", {}, summary, make("ul", { class: "plain" }, ...lines)));
  }
  const problem = (): HTMLElement => make("span", { class: "warning" }, debugFileProblem ?? NO_DEBUG_FILE);
  row("Debug file", debugFile === null ? problem() : fileName(debugFile));
  return list;
}

function sourceState({ name, path, state, modified }: Source): Child[] {
  const open = (file: string): void => tell({ kind: "source", file, line: 1, keepFocus: false });
  const place = path ? make("button", { class: "link", onclick: () => open(path) }, name) : name;
  const age = modified && state === "changed" ? `, ${ageText(modified, Date.now())}` : "";
  return [place, make("span", { class: state === "unchanged" ? "dim" : "warning" }, ` ${STATES[state]}${age}`)];
}

// ---- Where its bytes are ----

const KINDS: readonly (readonly [kind: PartKind, title: string, colour: keyof Colours])[] = [
  ["executable", "Executables", "blue"],
  ["constant", "Constants", "green"],
  ["parameter", "Parameters (in other files)", "purple"],
  ["bytecode", "VM bytecode", "orange"],
  ["tables", "Tables", "yellow"],
  ["text", "Texts", "dim"],
];

const bytesOf = (parts: readonly SizePart[]): number => parts.reduce((sum, it) => sum + (it.bytes ?? 0), 0);

/** The map, which `drawMap` fills, and what its colours mean. */
function sizes(all: readonly SizePart[]): HTMLElement[] {
  const ofKind = (kind: PartKind): SizePart[] => all.filter((it) => it.kind === kind);
  const total = (kind: PartKind): string => bytesText(bytesOf(ofKind(kind)));
  const there = KINDS.filter(([kind]) => ofKind(kind).length > 0);
  const spoken = there.map(([kind, title]) => `${title}: ${total(kind)}`).join("; ");
  const key = (colour: keyof Colours): HTMLElement =>
    make("span", { class: "key", style: `background: ${colours()[colour]}` });
  return [
    make("div", { class: "map", id: "map", role: "group", "aria-label": spoken }),
    make("div", { class: "legend" }, ...there.map(([kind, title, colour]) =>
      make("span", {}, key(colour), `${title} `, make("span", { class: "dim" }, total(kind))))),
  ];
}

/** A treemap of the parts. */
export function drawMap(): void {
  const map = document.getElementById("map");
  if (map === null || state.overview === undefined) {
    return;
  }
  const parts = visibleParts(state.overview.sizes);
  const { width, height } = map.getBoundingClientRect();
  const boxes = squarified(parts.map((it) => it.bytes), { x: 0, y: 0, width, height });
  map.replaceChildren(...parts.slice(0, boxes.length).map(({ kind, name, bytes, type }, index) => {
    const { x, y, width, height } = boxes[index] ?? { x: 0, y: 0, width: 0, height: 0 };
    const colour = colours()[KINDS.find(([other]) => other === kind)?.[2] ?? "dim"];
    const place = `left: ${x}px; top: ${y}px; width: ${width}px; height: ${height}px`;
    const size = type === undefined ? bytesText(bytes) : `${type} · ${bytesText(bytes)}`;
    const texts = width > 60 && height > 30 ? [name, make("br"), size] : [];
    const [style, title] = [`${place}; background: ${colour}`, `${name}: ${size}`];
    if (type === undefined) {
      return make("div", { style, title, "data-part": kind }, ...texts);
    }
    const onclick = (): void => tell({ kind: "constant", name });
    const label = `View ${name}, ${size}`;
    return make("button", { style, title: `View ${title}`, "data-part": kind, "aria-label": label, onclick }, ...texts);
  }));
  for (const box of map.querySelectorAll<HTMLElement>("[data-part]")) {
    box.style.color = digitsOver(box);
  }
}

/** The parts that have bytes, the largest first. Those that are too small to see are one of their kind. */
function visibleParts(all: readonly SizePart[]): (SizePart & { bytes: number })[] {
  const known = all.map((it) => ({ ...it, bytes: it.bytes ?? 0 })).filter((it) => it.bytes > 0);
  const least = bytesOf(all) / 400;
  const small = KINDS.flatMap(([kind]) => {
    const own = known.filter((it) => it.kind === kind && it.bytes < least);
    const whole = { kind, name: `${own.length} small ones`, bytes: bytesOf(own) };
    return own.length > 1 ? [whole] : own;
  });
  return [...known.filter((it) => it.bytes >= least), ...small].sort((one, other) => other.bytes - one.bytes);
}
