// The selected box of the graph, the time line, and the messages of the extension to the page of module.js.

// ---- The graph: the selected box ----

function showDetails() {
  const has = shown();
  const index = state.selected;
  if (has === undefined) {
    return;
  }
  if (index === undefined) {
    const dispatches = has.nodes.filter((node) => node.kind === "dispatch");
    const total = (field) => dispatches.reduce((sum, node) => sum + (node[field] ?? 0), 0);
    const ran = overlays.filter((it) => it?.runs > 0).length;
    const bad = overlays.filter((it) => (it?.nans ?? 0) + (it?.infinities ?? 0) > 0).length;
    details.replaceChildren(make("h3", {}, has.name === "" ? "initializer" : `@${has.name}`),
      make("dl", {},
        ...row("Dispatches", String(dispatches.length)), ...row("Read and written", bytesText(total("bytes"))),
        ...(total("operations") > 0 ? row("Arithmetic", `${countText(total("operations"))} operations`) : []),
        ...(state.runs === undefined ? [] : row("Have run", `${ran} of ${dispatches.length}`)),
        ...(bad === 0 ? [] : [make("dt", {}, "NaN or infinity"), make("dd", { className: "error" }, `left by ${bad}`)])),
      make("p", { className: "dim" }, "Click a box to see its tensors and its line; right-click to set a breakpoint there. Wheel and drag move, Ctrl+wheel zooms. Arrow keys follow the tensors from a selected box."));
    return;
  }
  const node = has.nodes[index];
  const known = overlays[index];
  const { file, line } = placeOf(index);
  const place = file ? `${file.split(/[\\/]/).pop()}:${line}` : undefined;
  const tensors = (title, list) => (list.length === 0 ? [] : [make("h2", {}, title), make("table", {}, ...list.map((it) => tensorRow(it, known)))]);
  details.replaceChildren(...[
    make("h3", {}, node.title),
    make("div", { className: "dim mono" }, node.operation),
    make("dl", {},
      ...(place === undefined ? [] : [make("dt", {}, "Line"), make("dd", {}, make("button", { className: "link", onclick: () => goToSource(index) }, place))]),
      ...(node.kind === "dispatch" ? row("Bytes", bytesText(node.bytes)) : []),
      ...(node.operations ? row("Arithmetic", `${countText(node.operations)} operations`) : []),
      ...(node.loops > 0 ? row("Loops around it", String(node.loops)) : []),
      ...runRows(known)),
    node.kind === "dispatch" && file && make("div", { className: "actions" }, make("button", { onclick: () => breakAt(index) }, "Break Here"),
      canGoTo(known?.lastCommand) && make("button", { title: "To before its last run", onclick: () => goTo(known.lastCommand) }, "Go There")),
    ...tensors("Takes", node.inputs), ...tensors("Makes", node.outputs),
  ].filter(Boolean));
}

// A recorded program that stands still goes to any command that has run.
const canGoTo = (command) => state.runs?.isRecorded && state.session === "stopped" && typeof command === "number";
const goTo = (command) => code.postMessage({ kind: "goTo", command });

const row = (name, text) => [make("dt", {}, name), make("dd", {}, text)];

function runRows(known) {
  if (known === undefined) {
    return [];
  }
  const rows = [];
  if (known.runs !== undefined) {
    rows.push(...row("Has run", known.isCurrent ? `the program stands at it; ${known.runs}×` : known.runs === 0 ? "not yet" : known.runs === 1 ? `as command ${known.lastCommand}` : `${known.runs}×, last as command ${known.lastCommand}`));
    if (known.runs > 0) {
      rows.push(...row("Time", known.runs === 1 ? timeText(known.took) : `${timeText(known.took)}, ${timeText(known.took / known.runs)} each`));
      const isKnown = known.nans !== null && known.nans !== undefined;
      rows.push(make("dt", {}, "Numbers"), isKnown
        ? make("dd", { className: known.nans + known.infinities > 0 ? "error" : "" }, known.nans + known.infinities === 0 ? "no NaN, no infinity" : `${known.nans} NaN, ${known.infinities} infinite`)
        : make("dd", { className: "dim" }, "overwritten before a stop"));
    }
  }
  if (known.profiled !== undefined) {
    const { total, count } = known.profiled;
    rows.push(...row("In the profile", `${timeText(total / count)} each, ${count}×`));
  }
  return rows;
}

function tensorRow(tensor, known) {
  const expression = tensor.name?.split(" = ").pop();
  const canView = state.session === "stopped" && known !== undefined && expression?.startsWith("%");
  return make("tr", {},
    make("td", {}, canView
      ? make("button", { className: "link mono", title: "View this tensor", onclick: () => code.postMessage({ kind: "tensor", expression }) }, tensor.name)
      : tensor.name ?? make("span", { className: "dim" }, tensor.origin ?? "–"),
    ...(tensor.name !== undefined && tensor.origin ? [make("div", { className: "dim" }, tensor.origin)] : [])),
    make("td", {}, tensor.type, make("div", { className: "dim" }, tensor.bytes === undefined ? "" : bytesText(tensor.bytes))));
}

// ---- The time line ----

let timed = [];
function drawTime() {
  const commands = state.runs?.commands ?? [];
  const wasHidden = timeLine.hidden;
  timeLine.hidden = commands.length === 0;
  if (timeLine.hidden !== wasHidden) {
    draw();
  }
  if (timeLine.hidden) {
    return;
  }
  const { width, height, pen } = prepared(timePicture, timeLine);
  const { dim, green, red, yellow, purple, focus, font } = colours();
  const first = commands[0].start;
  const last = commands.reduce((end, it) => Math.max(end, it.start + it.took), first + 1);
  const span = state.time ?? { from: first, to: last };
  const [left, right, top, tall] = [16, width - 16, 24, height - 34];
  const at = (time) => left + ((time - span.from) / (span.to - span.from)) * (right - left);
  pen.font = `11px ${font}`;
  pen.fillStyle = dim;
  pen.textBaseline = "alphabetic";
  const skipped = state.runs.total - commands.length;
  pen.fillText(`${commands.length} ${commands.length === 1 ? "command" : "commands"} in ${timeText(last - first)}${skipped > 0 ? `, ${skipped} before them` : ""}`, left, 15);
  pen.textAlign = "right";
  pen.fillText(state.time === undefined ? "" : `${timeText(span.to - span.from)} shown`, right, 15);
  pen.textAlign = "left";
  timed = [];
  let drawn = -Infinity;
  for (const command of commands) {
    const [x, end] = [at(command.start), at(command.start + command.took)];
    if (end < left || x > right) {
      continue;
    }
    const dispatch = state.runs.dispatches[command.dispatch];
    const isBad = dispatch !== undefined && (dispatch.nans ?? 0) + (dispatch.infinities ?? 0) > 0 && dispatch.lastCommand === command.number;
    const index = dispatch && byId.get(dispatch.id);
    const isSelected = index !== undefined && index === state.selected;
    const box = { x: Math.max(left, x), end: Math.min(right, Math.max(end, x + 1)), command, index };
    timed.push(box);
    // What is narrower than a pixel is drawn once.
    if (box.end - drawn < 0.5 && !isBad && !isSelected) {
      continue;
    }
    drawn = box.end;
    pen.fillStyle = isSelected ? focus : isBad ? red : command.kind === "dispatch" ? green : purple;
    pen.fillRect(box.x, top, Math.max(1, box.end - box.x - (box.end - box.x > 3 ? 1 : 0)), tall);
  }
  const current = state.runs.dispatches.find((it) => it.isCurrent);
  if (current !== undefined) {
    pen.fillStyle = yellow;
    pen.fillRect(Math.min(right, at(last)), top - 4, 2, tall + 8);
  }
}

const commandAt = (event) => {
  const x = event.clientX - timeLine.getBoundingClientRect().left;
  return timed.find((box) => x >= box.x - 1 && x <= box.end + 1);
};
timeLine.addEventListener("pointermove", (event) => {
  const box = commandAt(event);
  tip.hidden = box === undefined;
  if (box !== undefined) {
    const { command, index } = box;
    const node = index === undefined ? undefined : shown()?.nodes[index];
    const dispatch = state.runs.dispatches[command.dispatch];
    const name = node?.title ?? dispatch?.export ?? command.kind;
    tip.textContent = `command ${command.number}: ${name}${node ? ` (${bare(node.operation)})` : ""}, ${timeText(command.took)}${command.hasStood ? ", with stops in it" : ""}${canGoTo(command.number) ? "; double click goes there" : ""}`;
    const width = tip.offsetWidth;
    tip.style.left = `${Math.min(window.innerWidth - width - 6, Math.max(6, event.clientX - width / 2))}px`;
    tip.style.top = `${timeLine.getBoundingClientRect().top - tip.offsetHeight - 4}px`;
  }
});
timeLine.addEventListener("pointerleave", () => (tip.hidden = true));
timeLine.addEventListener("click", (event) => {
  const index = commandAt(event)?.index;
  if (index !== undefined) {
    select(index, { goes: true });
    moveTo(index);
  }
});
// A double click on a command goes there, if the program is recorded; elsewhere it shows all again.
timeLine.addEventListener("dblclick", (event) => {
  const number = commandAt(event)?.command.number;
  if (canGoTo(number)) {
    goTo(number);
    return;
  }
  state.time = undefined;
  draw();
});
timeLine.addEventListener("wheel", (event) => {
  event.preventDefault();
  const commands = state.runs?.commands ?? [];
  if (commands.length === 0) {
    return;
  }
  const first = commands[0].start;
  const last = commands.reduce((end, it) => Math.max(end, it.start + it.took), first + 1);
  const span = state.time ?? { from: first, to: last };
  const part = (event.clientX - 16) / Math.max(1, timeLine.clientWidth - 32);
  const isMove = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  const length = span.to - span.from;
  const longer = Math.max(200, length * (isMove ? 1 : Math.exp(event.deltaY / 300)));
  const from = isMove ? span.from + ((event.deltaX || event.deltaY) / 600) * length : span.from + (length - longer) * part;
  state.time = longer >= last - first ? undefined : { from: Math.max(first, Math.min(from, last - longer)), to: 0 };
  if (state.time !== undefined) {
    state.time.to = state.time.from + longer;
  }
  draw();
}, { passive: false });

/** Moves to where the program stands, when it stands. */
function follow() {
  const current = overlays.findIndex((it) => it?.isCurrent);
  if (current >= 0 && state.session === "stopped" && state.tab === "graph" && stage.clientWidth > 0 && shown() !== undefined) {
    moveTo(current);
  }
}

// ---- Messages ----

window.addEventListener("message", ({ data }) => {
  switch (data.kind) {
    case "overview":
      Object.assign(state, { file: data.file, overview: data.overview, error: data.error });
      showOverview();
      // The module may be another one now.
      if (state.asked) {
        code.postMessage({ kind: "graph" });
      }
      break;
    case "graph":
      Object.assign(state, { graph: data.graph, graphError: data.error, selected: undefined, hits: [] });
      state.function = Math.max(0, data.graph?.functions.findIndex((it) => it.name !== "") ?? 0);
      prepare();
      showGraph();
      break;
    case "tab":
      choose(data.tab);
      break;
    case "session":
      state.session = data.state;
      if (data.state === "begun") {
        state.runs = undefined;
        overlayRuns();
      }
      if (data.state === "ended" || data.state === "running") {
        state.runs?.dispatches.forEach((it) => (it.isCurrent = false));
        overlayRuns();
      }
      showGraph();
      follow();
      break;
    case "runs":
      state.runs = data.runs;
      overlayRuns();
      showGraph();
      follow();
      break;
    case "profile":
      Object.assign(state, { profile: data.profile, profileFile: data.file, colour: "time" });
      colour.value = "time";
      overlayRuns();
      showGraph();
      break;
  }
});

choose("overview");
showOverview();
code.postMessage({ kind: "ready" });
