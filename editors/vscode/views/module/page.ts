// The page of src/module/editor.ts: what a module has (`overview.ts`), and its dispatches as a graph with what has run
// (`graph/`). This is its frame, and what it does with the messages of the extension.

import { mainOfPage, make } from "../dom";
import { onNewTheme } from "./colours";
import { draw } from "./graph/canvas";
import { follow } from "./graph/movement";
import { isSame } from "./graph/groups";
import { lay, prepare } from "./graph/overlays";
import { settle } from "./graph/reveal";
import { lookUp } from "./graph/search";
import { graph, showColour, showComparison, showFunction, showGraph } from "./graph/tab";
import { drawMap, heading, overview, showOverview } from "./overview";
import type { SessionState, Tab, ToPage } from "./protocol";
import { hear, state, tell } from "./state";

type Message<Kind> = Extract<ToPage, { readonly kind: Kind }>;

// ---- The tabs ----

const TABS: readonly (readonly [tab: Tab | "disassembly", label: string, title: string])[] = [
  ["overview", "Overview", ""],
  ["graph", "Dispatch Graph", ""],
  ["disassembly", "Disassembly", "Opens as a text: breakpoints, hovers and search work in it"],
];

const buttons = TABS.map(([tab, label, title], index) => make(
  "button",
  {
    role: "tab", id: `tab-${tab}`, title,
    onclick: () => (tab === "disassembly" ? tell({ kind: "disassembly" }) : choose(tab)),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: TABS.length - 1 }[event.key];
      if (step !== undefined) {
        buttons[(index + step) % TABS.length]?.focus();
        event.preventDefault();
      }
    },
  },
  label,
));

function choose(tab: Tab): void {
  state.tab = tab;
  overview.hidden = tab !== "overview";
  graph.hidden = tab !== "graph";
  buttons.forEach((button, index) => {
    const isOwn = TABS[index]?.[0] === tab;
    button.setAttribute("aria-selected", String(isOwn));
    button.tabIndex = isOwn ? 0 : -1;
  });
  tell({ kind: "visible", runs: tab === "graph" });
  if (tab === "graph") {
    if (!state.isGraphAsked) {
      state.isGraphAsked = true;
      tell({ kind: "graph" });
    }
    showGraph();
  }
}

// ---- Messages ----

function takeOverview(message: Message<"overview">): void {
  state.file = message.file;
  [state.overview, state.error] = "error" in message ? [undefined, message.error] : [message.overview, undefined];
  showOverview();
  // The module may be another one now.
  if (state.isGraphAsked) {
    tell({ kind: "graph" });
  }
}

function takeGraph(message: Message<"graph">): void {
  const before = state.graph;
  [state.graph, state.graphError] = "error" in message ? [undefined, message.error] : [message.graph, undefined];
  if (isSame(before, state.graph)) {
    // Another picture of the same.
    prepare();
    lookUp();
    settle();
    return showGraph();
  }
  const functions = state.graph?.functions ?? [];
  const ids = new Set(state.runs?.dispatches.filter((it) => it.isCurrent).map((it) => it.id));
  const current = functions.findIndex(({ nodes }) => nodes.some(({ id }) => ids.has(id)));
  const first = functions.findIndex((it) => it.name !== "");
  [state.isFitted, state.hasOpened] = [false, false];
  showFunction(Math.max(0, current >= 0 ? current : first));
}

function takeSession(session: SessionState): void {
  state.session = session;
  if (session === "begun") {
    state.runs = undefined;
    state.hasOpened = false;
  } else if (session !== "stopped" && state.runs !== undefined) {
    // It stands nowhere.
    const dispatches = state.runs.dispatches.map((it) => ({ ...it, isCurrent: false }));
    state.runs = { ...state.runs, dispatches };
  }
  takeRuns();
}

/** Shows what is known of the runs, and where the program stands. */
function takeRuns(): void {
  lay();
  showGraph();
  follow();
}

hear((message) => {
  switch (message.kind) {
    case "overview":
      return takeOverview(message);
    case "graph":
      return takeGraph(message);
    case "tab":
      return choose(message.tab);
    case "session":
      return takeSession(message.state);
    case "runs":
      state.runs = message.runs;
      return takeRuns();
    case "comparison":
      return showComparison(message.comparison);
    case "breakpoints":
      [state.breakpoints, state.paths] = [message.at, message.paths];
      lay();
      return showGraph();
    case "profile":
      state.profile = { times: message.profile, file: message.file };
      lay();
      showColour("time");
      return showGraph();
  }
});

mainOfPage().append(heading, make("nav", { role: "tablist" }, ...buttons), overview, graph);
onNewTheme(() => {
  draw();
  if (state.tab === "overview") {
    showOverview();
  }
});
new ResizeObserver(() => (state.tab === "graph" ? showGraph() : drawMap())).observe(mainOfPage());
choose("overview");
showOverview();
tell({ kind: "ready" });
