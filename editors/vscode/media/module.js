// The page of src/module/editor.ts: what a module has, and its dispatches as a graph. This script has the frame and the
// overview; moduleGraph.js draws the graph, moduleMoves.js moves in it, and moduleRuns.js shows the selected box and what has
// run, and hears the extension. They are loaded in this order and share their names.

const code = acquireVsCodeApi();
const main = document.querySelector("main");

const state = {
  tab: "overview", file: "", overview: undefined, error: undefined,
  graph: undefined, graphError: undefined, asked: false,
  /** The function that is shown, by its index in the graph. */
  function: 0,
  scale: 1, x: 0, y: 0, fitted: false,
  selected: undefined, hits: [], hit: 0,
  runs: undefined, session: undefined, profile: undefined,
  colour: "state",
  /** The part of the time line that is shown, in nanoseconds. */
  time: undefined,
};

const make = (tag, properties = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (name in element && name !== "list") {
      element[name] = value;
    } else {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
};

const bytesText = (bytes) => {
  if (bytes === undefined || bytes === null) {
    return "size known when it runs";
  }
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let [size, unit] = [bytes, 0];
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return unit === 0 ? `${bytes} ${bytes === 1 ? "byte" : "bytes"}` : `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
};

const countText = (count) => {
  const units = ["", "K", "M", "G", "T", "P"];
  let [size, unit] = [count, 0];
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return unit === 0 ? String(count) : `${size < 10 ? size.toFixed(1) : Math.round(size)}${units[unit]}`;
};

const timeText = (nanoseconds) => {
  if (nanoseconds < 1e3) {
    return `${Math.round(nanoseconds)} ns`;
  }
  const [size, unit] = nanoseconds < 1e6 ? [nanoseconds / 1e3, "µs"] : nanoseconds < 1e9 ? [nanoseconds / 1e6, "ms"] : [nanoseconds / 1e9, "s"];
  return `${size < 10 ? size.toFixed(2) : size < 100 ? size.toFixed(1) : Math.round(size)} ${unit}`;
};

function ageText(milliseconds) {
  const seconds = Math.max(0, (Date.now() - milliseconds) / 1000);
  const steps = [[60, "second"], [60, "minute"], [24, "hour"], [30, "day"], [12, "month"], [Infinity, "year"]];
  let count = seconds;
  for (const [size, name] of steps) {
    if (count < size) {
      const whole = Math.floor(count);
      return `${whole} ${name}${whole === 1 ? "" : "s"} ago`;
    }
    count /= size;
  }
  return "";
}

const colourOf = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();
/** The colours of the theme, looked up once until the theme changes. */
let palette;
const colours = () => (palette ??= {
  text: colourOf("--vscode-foreground") || "#888",
  dim: colourOf("--vscode-descriptionForeground") || "#888",
  back: colourOf("--vscode-editor-background") || "#fff",
  box: colourOf("--vscode-editorWidget-background") || "#eee",
  border: colourOf("--vscode-editorWidget-border") || colourOf("--vscode-widget-border") || "#888",
  line: colourOf("--vscode-editorIndentGuide-activeBackground1") || colourOf("--vscode-descriptionForeground") || "#888",
  focus: colourOf("--vscode-focusBorder") || "#08f",
  green: colourOf("--vscode-charts-green") || "#388a34",
  yellow: colourOf("--vscode-charts-yellow") || "#bf8803",
  red: colourOf("--vscode-charts-red") || "#e51400",
  blue: colourOf("--vscode-charts-blue") || "#1a85ff",
  purple: colourOf("--vscode-charts-purple") || "#652d90",
  orange: colourOf("--vscode-charts-orange") || "#d18616",
  mono: colourOf("--vscode-editor-font-family") || "monospace",
  font: colourOf("--vscode-font-family") || "sans-serif",
});
new MutationObserver(() => {
  palette = undefined;
  draw();
  if (state.tab === "overview") {
    showOverview();
  }
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });

// ---- The frame ----

const tabs = [["overview", "Overview"], ["graph", "Dispatch Graph"], ["disassembly", "Disassembly"]];
const overview = make("section", { id: "overview", role: "tabpanel", ariaLabel: "Overview" });
const graph = make("section", { id: "graph", role: "tabpanel", ariaLabel: "Dispatch graph", hidden: true });
const heading = make("header");
const list = make("nav", { role: "tablist" });
const buttons = tabs.map(([name, title]) => make("button", {
  role: "tab", id: `tab-${name}`, tabIndex: name === "overview" ? 0 : -1,
  title: name === "disassembly" ? "Opens as a text: breakpoints, hovers and search work in it" : "",
  onclick: () => choose(name),
  onkeydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step !== undefined) {
      const at = (tabs.findIndex(([other]) => other === name) + step + tabs.length) % tabs.length;
      buttons[at].focus();
      event.preventDefault();
    }
  },
}, title));
list.append(...buttons);
main.append(heading, list, overview, graph);

function choose(name) {
  if (name === "disassembly") {
    code.postMessage({ kind: "disassembly" });
    return;
  }
  state.tab = name;
  overview.hidden = name !== "overview";
  graph.hidden = name !== "graph";
  buttons.forEach((button, index) => {
    const isOwn = tabs[index][0] === name;
    button.setAttribute("aria-selected", String(isOwn));
    button.tabIndex = isOwn ? 0 : -1;
  });
  code.postMessage({ kind: "visible", runs: name === "graph" });
  if (name === "graph") {
    if (!state.asked) {
      state.asked = true;
      code.postMessage({ kind: "graph" });
    }
    showGraph();
  }
}

function showHeading() {
  const known = state.overview;
  heading.replaceChildren(
    make("h1", {}, state.file),
    ...(known === undefined ? [] : [
      make("span", { className: "dim" }, `module @${known.name} · ${bytesText(known.bytes)} · bytecode ${known.bytecodeVersion}`),
    ]),
  );
}

// ---- Overview ----

const KINDS = [
  ["executable", "Executables", "blue"], ["constant", "Constants", "green"], ["parameter", "Parameters (in other files)", "purple"],
  ["bytecode", "VM bytecode", "orange"], ["tables", "Tables", "yellow"], ["text", "Texts", "dim"],
];

function showOverview() {
  showHeading();
  const known = state.overview;
  if (known === undefined) {
    overview.replaceChildren(make("p", { className: state.error ? "message error" : "message" },
      state.error === undefined ? "Reading the module…" : `This module cannot be shown: ${state.error}`));
    return;
  }
  const offered = known.exports.filter((it) => !it.isAsyncTwin && it.name !== "__init" && it.name !== "__deinit");
  overview.replaceChildren(make("div", { className: "columns" },
    make("div", {}, make("h2", {}, "Exports"), ...offered.map(exportCard), offered.length === 0 && make("p", { className: "dim" }, "It exports no function."), ...imports(known)),
    make("div", {}, make("h2", {}, "Sizes"), ...sizes(known), make("h2", {}, "Made from"), origin(known)),
  ));
  drawMap();
}

function exportCard({ name, arguments: parameters, results, callingConvention, declaration }) {
  const typed = ({ name, type }) => (name ? `%${name}: ${type || "?"}` : type || "?");
  const lines = [...parameters.map((it) => ["takes", typed(it)]), ...results.map((it) => ["gives", typed(it)])];
  if (callingConvention) {
    lines.push(["convention", callingConvention]);
  }
  return make("div", { className: "card", "data-export": name },
    make("div", { className: "head" },
      make("span", { className: "name", title: declaration ?? "" }, `@${name}`), make("span", { className: "spring" }),
      make("button", { className: "primary", onclick: () => code.postMessage({ kind: "start", name, noDebug: false }), ariaLabel: `Debug ${name}` }, "Debug"),
      make("button", { onclick: () => code.postMessage({ kind: "start", name, noDebug: true }), ariaLabel: `Run ${name}` }, "Run"),
      make("button", { onclick: () => code.postMessage({ kind: "abi", name }), ariaLabel: `Show the ABI of ${name}` }, "ABI")),
    make("div", { className: "signature" }, ...lines.flatMap(([what, text]) => [make("span", { className: "dim" }, what), make("span", {}, text)])));
}

function imports(known) {
  const modules = new Map();
  for (const it of known.imports) {
    modules.set(it.module, [...(modules.get(it.module) ?? []), it]);
  }
  const needs = (name) => {
    const found = known.dependencies.find((it) => it.name === name);
    return found === undefined ? "" : `version ${found.minimumVersion} or later${found.isOptional ? ", optional" : ""}`;
  };
  return [
    make("h2", { style: "margin-top: 18px" }, "Imports"),
    ...(modules.size === 0 ? [make("p", { className: "dim" }, "It needs no other module.")] : []),
    ...[...modules].map(([name, functions]) => make("details", {},
      make("summary", {}, make("code", {}, name), ` ${functions.length} ${functions.length === 1 ? "function" : "functions"} `, make("span", { className: "dim" }, needs(name))),
      make("ul", { className: "plain" }, ...functions.map((it) => make("li", {}, make("code", {}, it.name), make("span", { className: "dim" }, ` ${it.callingConvention ?? ""}${it.isOptional ? " optional" : ""}`)))))),
  ];
}

function origin(known) {
  const rows = [];
  const row = (name, ...value) => rows.push(make("dt", {}, name), make("dd", {}, ...value));
  if (known.modified !== null && known.modified !== undefined) {
    row("Module written", make("span", { title: new Date(known.modified).toLocaleString() }, ageText(known.modified)));
  }
  for (const source of known.sources) {
    const place = source.path
      ? make("button", { className: "link", onclick: () => code.postMessage({ kind: "source", file: source.path, line: 1 }) }, source.name)
      : source.name;
    const state = { unchanged: "as it was compiled", changed: "changed since it was compiled", missing: "not found beside the module" }[source.state];
    const age = source.modified && source.state === "changed" ? `, ${ageText(source.modified)}` : "";
    row("Source", place, make("span", { className: source.state === "unchanged" ? "dim" : "warning" }, ` ${state}${age}`));
  }
  const compiler = known.compiler && make("span", { title: known.compiler }, known.compiler.replace(/( @ [0-9a-f]{10})[0-9a-f]+/, "$1…"));
  row("Compiler", compiler || make("span", { className: "dim" }, "not told: only the debug file knows it"));
  if (known.flags.length > 0) {
    row("Flags", make("details", {}, make("summary", {}, `${known.flags.length} flags`), make("ul", { className: "plain" }, ...known.flags.map((it) => make("li", {}, make("code", {}, it))))));
  }
  const file = known.debugFile?.split(/[\\/]/).pop();
  row("Debug file", file ?? make("span", { className: "warning" }, known.debugFileProblem ?? "none: names of tensors and the dispatch graph need one; `iree-dbg compile` makes it, and so does F5 on the source"));
  return make("dl", {}, ...rows);
}

function sizes(known) {
  const total = (kind) => known.sizes.filter((it) => it.kind === kind).reduce((sum, it) => sum + (it.bytes ?? 0), 0);
  const there = KINDS.filter(([kind]) => known.sizes.some((it) => it.kind === kind));
  return [
    make("div", { className: "map", id: "map", role: "img", ariaLabel: there.map(([kind, title]) => `${title}: ${bytesText(total(kind))}`).join("; ") }),
    make("div", { className: "legend" }, ...there.map(([kind, title, colour]) => make("span", {},
      make("span", { className: "key", style: `background: ${colours()[colour]}` }), `${title} `, make("span", { className: "dim" }, bytesText(total(kind)))))),
  ];
}

/** A treemap: rows of boxes that are as square as possible, the largest first. */
function drawMap() {
  const map = document.getElementById("map");
  if (map === null || state.overview === undefined) {
    return;
  }
  const whole = state.overview.sizes.reduce((sum, it) => sum + (it.bytes ?? 0), 0);
  const order = KINDS.map(([kind]) => kind);
  let parts = state.overview.sizes.filter((it) => (it.bytes ?? 0) > 0);
  // Those that are too small to see are one box of their kind.
  const small = parts.filter((it) => it.bytes < whole / 400);
  parts = parts.filter((it) => it.bytes >= whole / 400);
  for (const kind of order) {
    const own = small.filter((it) => it.kind === kind);
    const bytes = own.reduce((sum, it) => sum + it.bytes, 0);
    if (own.length > 0) {
      parts.push({ kind, name: own.length === 1 ? own[0].name : `${own.length} small ones`, bytes });
    }
  }
  parts.sort((one, other) => other.bytes - one.bytes);
  const { width, height } = map.getBoundingClientRect();
  const placed = squarified(parts.map((it) => it.bytes), { x: 0, y: 0, width, height });
  map.replaceChildren(...placed.map((box, index) => {
    const { kind, name, bytes } = parts[index];
    const colour = colours()[KINDS.find(([other]) => other === kind)?.[2] ?? "dim"];
    const isLarge = box.width > 60 && box.height > 30;
    const style = `left: ${box.x}px; top: ${box.y}px; width: ${box.width}px; height: ${box.height}px; background: ${colour}`;
    return make("div", { style, title: `${name}: ${bytesText(bytes)}`, "data-part": kind }, ...(isLarge ? [name, make("br"), bytesText(bytes)] : []));
  }));
}

function squarified(sizes, { x, y, width, height }) {
  const boxes = [];
  let rest = sizes.reduce((sum, size) => sum + size, 0);
  let from = 0;
  while (from < sizes.length && rest > 0) {
    const across = Math.min(width, height);
    const area = (width * height) / rest;
    let [to, sum, best] = [from, 0, Infinity];
    while (to < sizes.length) {
      const more = sum + sizes[to];
      const thickness = (more * area) / across;
      const worst = Math.max(...[sizes[from], sizes[to]].map((size) => {
        const length = (size * area) / thickness;
        return Math.max(length / thickness, thickness / length);
      }));
      if (worst > best) {
        break;
      }
      [best, sum] = [worst, more];
      to++;
    }
    const thickness = (sum * area) / across;
    let along = 0;
    for (const size of sizes.slice(from, to)) {
      const length = (size / sum) * across;
      boxes.push(width >= height
        ? { x, y: y + along, width: thickness, height: length }
        : { x: x + along, y, width: length, height: thickness });
      along += length;
    }
    if (width >= height) {
      x += thickness;
      width -= thickness;
    } else {
      y += thickness;
      height -= thickness;
    }
    rest -= sum;
    from = to;
  }
  return boxes;
}
