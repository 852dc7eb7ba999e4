// The graph of module.js. The server has laid it out; this draws the part that is in view on a canvas, so its size does not
// matter.

// ---- The graph: its frame ----

const search = make("input", { type: "search", id: "search", placeholder: "Search names and lines", ariaLabel: "Search the graph" });
const found = make("span", { className: "dim", role: "status", id: "found" });
const functions = make("select", { ariaLabel: "Function", id: "functions" });
const colour = make("select", { ariaLabel: "Colour of the boxes", id: "colour" },
  make("option", { value: "state" }, "Colour: what has run"), make("option", { value: "time" }, "Colour: time"), make("option", { value: "cost" }, "Colour: bytes"));
const overlay = make("span", { className: "dim", id: "overlay" });
const picture = make("canvas", { className: "picture" });
const small = make("canvas", { className: "small", ariaHidden: "true" });
const stage = make("div", { className: "stage", id: "stage", tabIndex: 0, role: "application", ariaRoleDescription: "graph", ariaLabel: "The dispatches of the module. Arrow keys follow the tensors; Enter goes to the line; B sets a breakpoint." }, picture, small);
const details = make("aside", { ariaLabel: "The selected box" });
const spoken = make("div", { className: "visually-hidden", ariaLive: "polite" });
const timePicture = make("canvas", {});
const timeLine = make("div", { className: "time", id: "time", hidden: true, role: "img", ariaLabel: "Time line of the commands that ran" }, timePicture);
const tip = make("div", { className: "tip", id: "tip", hidden: true });
const none = make("div", { className: "message", hidden: true });
graph.append(
  make("div", { className: "bar" }, search, found, make("span", { className: "spring" }), overlay, functions, colour,
    make("button", { onclick: () => code.postMessage({ kind: "profile" }), title: "Lay the times of a .ireeprof over the graph" }, "Profile…"),
    make("button", { onclick: () => fit(), title: "Show all (0)" }, "Fit"),
    make("button", { onclick: () => zoomBy(1.25), title: "Zoom in (+)", ariaLabel: "Zoom in" }, "+"),
    make("button", { onclick: () => zoomBy(0.8), title: "Zoom out (-)", ariaLabel: "Zoom out" }, "−")),
  none, make("div", { className: "work" }, stage, details), timeLine, tip, spoken,
);

const shown = () => state.graph?.functions[state.function];
/** What is known of the boxes of the shown function, by their identity. */
let byId = new Map();
let neighbours = { above: [], below: [] };

function showGraph() {
  const has = shown();
  none.hidden = has !== undefined;
  none.textContent = state.graphError ?? (state.graph === undefined ? "Reading the graph…" : "This module has no dispatches.");
  stage.parentElement.hidden = has === undefined;
  if (has === undefined) {
    draw(); // The time line needs no graph.
    return;
  }
  if (!state.fitted && stage.clientWidth > 0) {
    state.fitted = true;
    fit(true);
  }
  showDetails();
  draw();
}

function prepare() {
  const has = shown();
  byId = new Map(has?.nodes.map((node, index) => [node.id, index]) ?? []);
  neighbours = { above: has?.nodes.map(() => []) ?? [], below: has?.nodes.map(() => []) ?? [] };
  for (const edge of has?.edges ?? []) {
    neighbours.below[edge.from].push(edge.to);
    neighbours.above[edge.to].push(edge.from);
    edge.box = edge.points.reduce(([x0, y0, x1, y1], [x, y]) => [Math.min(x0, x), Math.min(y0, y), Math.max(x1, x), Math.max(y1, y)], [Infinity, Infinity, -Infinity, -Infinity]);
  }
  functions.replaceChildren(...(state.graph?.functions ?? []).map((it, index) => make("option", { value: String(index), selected: index === state.function }, it.name === "" ? "initializer" : `@${it.name}`)));
  functions.hidden = (state.graph?.functions.length ?? 0) < 2;
  state.miniature = undefined;
  overlayRuns();
}

/** What has run, and a profile, by the index of the box. */
let overlays = [];
function overlayRuns() {
  overlays = shown()?.nodes.map(() => undefined) ?? [];
  for (const dispatch of state.runs?.dispatches ?? []) {
    const index = byId.get(dispatch.id);
    if (index !== undefined) {
      overlays[index] = { ...dispatch, time: dispatch.runs > 0 ? dispatch.took / dispatch.runs : undefined };
    }
  }
  if (state.profile !== undefined) {
    const times = new Map(state.profile.functions.map((it) => [it.name, it]));
    shown()?.nodes.forEach((node, index) => {
      const known = times.get(node.operation);
      if (known !== undefined) {
        overlays[index] = { ...overlays[index], profiled: known, time: known.total / known.count };
      }
    });
  }
  let most = 0;
  for (const known of overlays) {
    most = Math.max(most, known?.time ?? 0);
  }
  state.slowest = most;
  state.largest = (shown()?.nodes ?? []).reduce((most, node) => Math.max(most, node.bytes ?? 0), 0);
  state.miniature = undefined;
  const ran = state.runs === undefined ? "" : state.runs.total === 1 ? "1 command has run" : `${state.runs.total} commands have run`;
  overlay.textContent = [state.profile && `times of ${state.profileFile}`, ran].filter(Boolean).join(" · ");
}

// ---- The graph: drawing ----

let asked = false;
function draw() {
  if (asked || state.tab !== "graph") {
    return;
  }
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    drawNow();
  });
}

const frames = [];
function drawNow() {
  const has = shown();
  if (has === undefined) {
    drawTime();
    return;
  }
  const began = performance.now();
  const { width, height, pen } = prepared(picture, stage);
  const view = { left: -state.x / state.scale, top: -state.y / state.scale };
  view.right = view.left + width / state.scale;
  view.bottom = view.top + height / state.scale;
  pen.save();
  pen.translate(state.x, state.y);
  pen.scale(state.scale, state.scale);
  drawEdges(pen, has, view);
  has.nodes.forEach((node, index) => {
    if (node.x < view.right && node.x + node.width > view.left && node.y < view.bottom && node.y + node.height > view.top) {
      drawNode(pen, node, index);
    }
  });
  pen.restore();
  drawMiniature(has, view);
  drawTime();
  frames.push(performance.now() - began);
  if (frames.length > 240) {
    frames.shift();
  }
  const sorted = [...frames].sort((one, other) => one - other);
  stage.dataset.frames = JSON.stringify({ count: frames.length, median: sorted[sorted.length >> 1], worst: sorted.at(-1) });
  stage.dataset.view = JSON.stringify({ scale: state.scale, x: state.x, y: state.y });
}

function prepared(canvas, around) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [around.clientWidth, around.clientHeight];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { width, height, pen };
}

function drawEdges(pen, has, view) {
  const { line, focus, dim, mono } = colours();
  const near = state.selected;
  const isNear = (edge) => near !== undefined && (edge.from === near || edge.to === near);
  const path = (edge) => {
    const points = edge.points;
    pen.moveTo(points[0][0], points[0][1]);
    for (let at = 1; at < points.length; at++) {
      const [[x0, y0], [x, y]] = [points[at - 1], points[at]];
      if (state.scale < 0.25) {
        pen.lineTo(x, y);
      } else {
        const middle = (y0 + y) / 2;
        pen.bezierCurveTo(x0, middle, x, middle, x, y);
      }
    }
  };
  const inView = ({ box }) => box[0] < view.right && box[2] > view.left && box[1] < view.bottom && box[3] > view.top;
  const visible = has.edges.filter(inView);
  pen.lineWidth = Math.max(1.2, 0.7 / state.scale);
  pen.strokeStyle = line;
  for (const dashed of [false, true]) {
    pen.beginPath();
    pen.setLineDash(dashed ? [5, 4] : []);
    visible.filter((edge) => edge.isBack === dashed && !isNear(edge)).forEach(path);
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.strokeStyle = focus;
  pen.lineWidth = Math.max(2, 1.4 / state.scale);
  pen.beginPath();
  visible.filter(isNear).forEach(path);
  pen.stroke();
  if (state.scale < 0.45) {
    return;
  }
  // Arrow heads, and names where there is room.
  pen.fillStyle = line;
  pen.beginPath();
  for (const edge of visible) {
    const [x, y] = edge.points.at(-1);
    pen.moveTo(x, y);
    pen.lineTo(x - 4, y - 8);
    pen.lineTo(x + 4, y - 8);
  }
  pen.fill();
  if (state.scale < 0.7) {
    return;
  }
  pen.font = `10px ${mono}`;
  pen.textAlign = "left";
  const named = new Set();
  for (const edge of visible) {
    const label = edge.tensor.name ?? edge.tensor.type;
    const key = `${edge.from} ${label}`;
    if (named.has(key)) {
      continue; // All lines of a tensor begin at one place.
    }
    named.add(key);
    const [x, y] = edge.points[0];
    pen.fillStyle = isNear(edge) ? focus : dim;
    pen.fillText(shortened(pen, label, 150), x + 6, y + 13);
  }
}

const shades = () => ({ argument: colours().blue, result: colours().blue, dispatch: colours().border, copy: colours().purple, call: colours().purple, other: colours().orange });

/** The colour of a box's side, and how much of its lower side is filled. */
function markOf(node, index) {
  const { green, yellow, red, blue, border } = colours();
  const known = overlays[index];
  if (known?.isCurrent) {
    return { side: yellow, part: 0 };
  }
  if ((known?.nans ?? 0) > 0 || (known?.infinities ?? 0) > 0) {
    return { side: red, part: 0 };
  }
  if (state.colour === "time" && known?.time !== undefined) {
    return { side: heat(known.time / (state.slowest || 1)), part: known.time / (state.slowest || 1) };
  }
  if (state.colour === "cost" && node.bytes !== undefined) {
    return { side: heat(node.bytes / (state.largest || 1)), part: node.bytes / (state.largest || 1) };
  }
  if (known?.runs > 0) {
    return { side: green, part: known.time === undefined ? 0 : known.time / (state.slowest || 1) };
  }
  if (known?.time !== undefined) {
    return { side: blue, part: known.time / (state.slowest || 1) };
  }
  return { side: node.kind === "dispatch" ? border : shades()[node.kind], part: 0 };
}

/** From cold to hot. */
const heat = (part) => `hsl(${Math.round(210 - 210 * Math.min(1, Math.sqrt(part)))} 75% 50%)`;

const shapeText = (node) => {
  const types = (list) => list.map((it) => it.type).join(", ");
  const own = node.inputs.filter((it) => it.origin === undefined || it.origin === null);
  return `${types(own.length > 0 ? own : node.inputs)} → ${types(node.outputs)}`;
};

const shortenedTexts = new Map();
function shortened(pen, text, width) {
  const key = `${pen.font} ${width} ${text}`;
  const known = shortenedTexts.get(key);
  if (known !== undefined) {
    return known;
  }
  let result = text;
  if (pen.measureText(text).width > width) {
    let [from, to] = [0, text.length];
    while (from < to) {
      const middle = (from + to + 1) >> 1;
      if (pen.measureText(`${text.slice(0, middle)}…`).width <= width) {
        from = middle;
      } else {
        to = middle - 1;
      }
    }
    result = `${text.slice(0, from)}…`;
  }
  if (shortenedTexts.size > 20_000) {
    shortenedTexts.clear();
  }
  shortenedTexts.set(key, result);
  return result;
}

function drawNode(pen, node, index) {
  const { text, dim, box, border, focus, yellow, red, mono, font } = colours();
  const known = overlays[index];
  const { side, part } = markOf(node, index);
  const isHit = state.hits.includes(index);
  const { x, y, width, height } = node;
  if (state.scale < 0.18) {
    pen.fillStyle = state.selected === index || isHit ? focus : side;
    pen.fillRect(x, y, width, height);
    return;
  }
  const round = node.kind === "dispatch" ? 4 : height / 2;
  pen.beginPath();
  pen.roundRect(x, y, width, height, round);
  pen.fillStyle = box;
  pen.fill();
  const isBad = (known?.nans ?? 0) > 0 || (known?.infinities ?? 0) > 0;
  pen.lineWidth = state.selected === index || isHit || known?.isCurrent || isBad ? 2 : 1;
  pen.strokeStyle = state.selected === index || isHit ? focus : known?.isCurrent ? yellow : isBad ? red : node.kind === "dispatch" ? border : side;
  pen.stroke();
  if (node.kind === "dispatch") {
    pen.save();
    pen.clip();
    pen.fillStyle = side;
    pen.fillRect(x, y, 5, height);
    pen.globalAlpha = 0.8;
    pen.fillRect(x + 5, y + height - 4, (width - 5) * part, 4);
    pen.restore();
  }
  if (state.scale < 0.3) {
    return;
  }
  pen.textBaseline = "alphabetic";
  if (node.kind !== "dispatch") {
    pen.font = `12px ${mono}`;
    pen.textAlign = "center";
    pen.fillStyle = text;
    const type = (node.outputs[0] ?? node.inputs[0])?.type ?? "";
    pen.fillText(shortened(pen, node.title, width - 20), x + width / 2, y + 14);
    pen.font = `10px ${mono}`;
    pen.fillStyle = dim;
    pen.fillText(shortened(pen, type, width - 20), x + width / 2, y + 27);
    return;
  }
  pen.textAlign = "left";
  const left = x + 13;
  pen.font = `600 13px ${mono}`;
  pen.fillStyle = text;
  const right = known?.isCurrent ? "▶" : known?.nans > 0 ? "NaN" : known?.infinities > 0 ? "Inf" : known?.time === undefined ? "" : timeText(known.time);
  const room = right === "" ? 0 : right.length * 7 + 10;
  pen.fillText(shortened(pen, node.title, width - 24 - room), left, y + 18);
  if (right !== "") {
    pen.font = `11px ${font}`;
    pen.textAlign = "right";
    pen.fillStyle = known?.isCurrent ? yellow : isBad ? red : dim;
    pen.fillText(right, x + width - 9, y + 18);
    pen.textAlign = "left";
  }
  if (state.scale < 0.42) {
    return;
  }
  pen.font = `11px ${mono}`;
  pen.fillStyle = dim;
  pen.fillText(shortened(pen, bare(node.operation), width - 24), left, y + 34);
  pen.fillStyle = text;
  pen.fillText(shortened(pen, shapeText(node), width - 24), left, y + 50);
  pen.fillStyle = dim;
  pen.font = `11px ${font}`;
  const cost = [node.bytes === undefined ? undefined : bytesText(node.bytes), node.operations ? `${countText(node.operations)} ops` : undefined].filter(Boolean).join(" · ");
  const place = node.line === undefined ? "" : `${node.file.split(/[\\/]/).pop()}:${node.line}`;
  pen.fillText(shortened(pen, place, width - 24 - pen.measureText(cost).width - 8), left, y + 67);
  pen.textAlign = "right";
  pen.fillText(cost, x + width - 9, y + 67);
  if (node.loops > 0) {
    pen.fillText("↻".repeat(Math.min(3, node.loops)), x + width - 9, y + 34);
  }
}

const bare = (operation) => operation.replace(/^.*_dispatch_(\d+)_/, "$1 ");

function drawMiniature(has, view) {
  const most = 150;
  const scale = Math.min(110 / has.width, most / has.height);
  const isNeeded = state.scale * has.width > stage.clientWidth * 1.05 || state.scale * has.height > stage.clientHeight * 1.05;
  small.hidden = !isNeeded;
  if (!isNeeded) {
    return;
  }
  const [width, height] = [Math.max(14, Math.ceil(has.width * scale)), Math.max(14, Math.ceil(has.height * scale))];
  if (state.miniature === undefined) {
    state.miniature = document.createElement("canvas");
    state.miniature.width = width;
    state.miniature.height = height;
    const pen = state.miniature.getContext("2d");
    has.nodes.forEach((node, index) => {
      pen.fillStyle = markOf(node, index).side;
      pen.fillRect(node.x * scale, node.y * scale, Math.max(1, node.width * scale), Math.max(1, node.height * scale));
    });
  }
  if (small.width !== width || small.height !== height) {
    small.width = width;
    small.height = height;
  }
  const pen = small.getContext("2d");
  pen.clearRect(0, 0, width, height);
  pen.drawImage(state.miniature, 0, 0);
  pen.strokeStyle = colours().focus;
  pen.lineWidth = 1.5;
  pen.strokeRect(view.left * scale, view.top * scale, (view.right - view.left) * scale, (view.bottom - view.top) * scale);
}
