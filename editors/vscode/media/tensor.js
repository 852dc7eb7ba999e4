// The page of src/tensors/panel.ts. It asks for the cells that the canvas can show (`iree/tensor`), so a tensor of any size
// costs the same; figures follow in a question of their own.

const code = acquireVsCodeApi();
const main = document.querySelector("main");

/** What is shown. `slice` has an index or null (a shown axis) for each axis. */
const state = {
  title: "", place: "", note: "",
  shape: undefined, type: "", element: "",
  slice: [], view: "picture",
  /** The visible rows and columns: [first, count]. */
  rows: [0, 0], columns: [0, 0],
  cursor: [0, 0],
  cells: undefined, figures: undefined, error: undefined,
  log: false, clamp: true, reduction: "mean", layout: undefined,
};

// ---- Asking ----

let lastId = 0;
const waiting = new Map();

function ask(question) {
  const id = ++lastId;
  code.postMessage({ kind: "ask", id, question });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

/** Asks again at most once at a time; only the newest wish is served. */
function newest(work) {
  let running = false;
  let again = false;
  return async function run() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      await work();
    } while (again);
    running = false;
  };
}

const sliceText = (slice = state.slice) => `[${slice.map((index) => (index === null ? ":" : index)).join(", ")}]`;
const shownAxes = () => state.slice.flatMap((index, axis) => (index === null ? [axis] : []));
const planeSize = () => {
  const sizes = shownAxes().map((axis) => state.shape[axis]);
  return sizes.length === 2 ? sizes : sizes.length === 1 ? [1, sizes[0]] : [1, 1];
};
const isLine = () => planeSize()[0] === 1 && state.shape.length > 0;
const isImage = () => state.view === "image" && state.layout !== undefined;
const windowNow = () => ({ row: state.rows[0], rows: state.rows[1], column: state.columns[0], columns: state.columns[1] });

const refresh = newest(async () => {
  try {
    if (state.shape === undefined) {
      const { shape, type, elementType } = await ask({});
      Object.assign(state, { shape, type, element: elementType, slice: shape.map((_, axis) => (axis + 2 < shape.length ? 0 : null)) });
      state.layout = layoutOf(shape);
      showAll();
      build();
    }
    const { width, height } = stageSize();
    const wanted = { height: Math.max(1, isLine() ? 1 : height), width: Math.max(1, width), reduction: state.reduction };
    const window = windowNow();
    if (state.view === "table") {
      const { texts } = await ask({ slice: sliceText(), window: tableWindow(), texts: true });
      state.texts = { texts, window: tableWindow() };
    } else if (isImage()) {
      state.channels = await Promise.all(channels().map(async (slice) => decode((await ask({ slice: sliceText(slice), window, cells: wanted })).cells)));
      state.cells = state.channels[0];
    } else if (isLine()) {
      // A line shows how far its elements reach, so that no peak is lost.
      const answer = await ask({ slice: sliceText(), window, cells: { ...wanted, reduction: "extreme" } });
      state.cells = decode(answer.cells);
    } else {
      const answer = await ask({ slice: sliceText(), window, cells: wanted });
      state.cells = decode(answer.cells);
    }
    state.error = undefined;
  } catch (error) {
    state.error = String(error.message ?? error);
  }
  draw();
});

const measure = newest(async () => {
  try {
    const { statistics } = await ask({ slice: sliceText(), statistics: 64, ofSlice: state.ofSlice === true });
    state.figures = statistics;
  } catch {
    state.figures = undefined; // The picture says why.
  }
  drawFigures();
  draw();
});

const point = newest(async () => {
  if (state.shape === undefined || state.error !== undefined) {
    return;
  }
  const [row, column] = state.cursor;
  const answer = await ask({ slice: sliceText(), window: { row, column, rows: 1, columns: 1 }, texts: true }).catch(() => undefined);
  const text = answer?.texts?.[0];
  const place = document.getElementById("at");
  if (text !== undefined && place !== null) {
    place.replaceChildren(make("span", {}, `${state.title}${sliceText(indices())} = `, make("b", {}, text)));
  }
});

function decode({ height, width, values, marks, reduction }) {
  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return { height, width, reduction, values: new Float32Array(bytes(values).buffer), marks: marks ? bytes(marks) : undefined };
}

/** The indices of the element at the cursor. */
function indices() {
  const axes = shownAxes();
  const at = axes.length === 2 ? state.cursor : [state.cursor[1]];
  return state.slice.map((index, axis) => index ?? at[axes.indexOf(axis)]);
}

// ---- Images ----

/** The layout of a tensor that may be an image: the axis of its channels, rows and columns. */
function layoutOf(shape) {
  const rank = shape.length;
  const isChannels = (axis) => axis >= 0 && (shape[axis] === 3 || shape[axis] === 4 || shape[axis] === 1);
  if (rank < 3) {
    return undefined;
  }
  return isChannels(rank - 1) ? "NHWC" : isChannels(rank - 3) ? "NCHW" : undefined;
}

function channels() {
  const rank = state.shape.length;
  const axis = state.layout === "NHWC" ? rank - 1 : rank - 3;
  const outer = state.slice.map((index, at) => (at < rank - 3 ? index ?? 0 : null));
  const count = Math.min(state.shape[axis], 3);
  return Array.from({ length: count === 2 ? 1 : count }, (_, channel) => outer.map((index, at) => (at === axis ? channel : index)));
}

function chooseView(view) {
  state.view = view;
  if (view === "image") {
    // The axes of the picture are the image's.
    state.slice = channels()[0];
    showAll();
  }
  build();
  void refresh();
}

// ---- The window ----

function showAll() {
  const [rows, columns] = planeSize();
  Object.assign(state, { rows: [0, rows], columns: [0, columns], cursor: [Math.min(state.cursor[0], rows - 1), Math.min(state.cursor[1], columns - 1)] });
}

function zoom(factor, [row, column] = state.cursor) {
  const scale = ([first, count], at, size) => {
    const wanted = Math.min(size, Math.max(Math.min(4, size), Math.round(count * factor)));
    const from = Math.round(at - ((at - first) * wanted) / count);
    return [Math.max(0, Math.min(size - wanted, from)), wanted];
  };
  const [rows, columns] = planeSize();
  state.rows = scale(state.rows, row, rows);
  state.columns = scale(state.columns, column, columns);
  void refresh();
}

function pan(rows, columns) {
  const move = ([first, count], by, size) => [Math.max(0, Math.min(size - count, first + by)), count];
  const size = planeSize();
  state.rows = move(state.rows, rows, size[0]);
  state.columns = move(state.columns, columns, size[1]);
  void refresh();
}

function moveCursor(row, column) {
  const [rows, columns] = planeSize();
  state.cursor = [Math.max(0, Math.min(rows - 1, row)), Math.max(0, Math.min(columns - 1, column))];
  const follow = ([first, count], at) => (at < first ? [at, count] : at >= first + count ? [at - count + 1, count] : [first, count]);
  const before = [...state.rows, ...state.columns].join();
  state.rows = follow(state.rows, state.cursor[0]);
  state.columns = follow(state.columns, state.cursor[1]);
  if (before !== [...state.rows, ...state.columns].join() || state.view === "table") {
    void refresh();
  } else {
    draw();
  }
  void point();
}

/** Shows an element: its slice, and the cursor on it. */
function jump(to) {
  const axes = shownAxes();
  state.slice = state.slice.map((index, axis) => (index === null ? null : to[axis]));
  syncSlice();
  moveCursor(axes.length === 2 ? to[axes[0]] : 0, axes.length > 0 ? to[axes.at(-1)] : 0);
  void refresh();
}

async function jumpToNext(what) {
  const { found } = await ask({ find: { what, after: indices() } });
  if (found !== null && found !== undefined) {
    jump(found);
  }
}

function tableWindow() {
  const [rows, columns] = planeSize();
  const part = (at, size, most) => {
    const count = Math.min(size, most);
    return [Math.max(0, Math.min(size - count, at - Math.floor(count / 2))), count];
  };
  const [row, height] = part(state.cursor[0], rows, 40);
  const [column, width] = part(state.cursor[1], columns, 16);
  return { row, rows: height, column, columns: width };
}

// ---- Colours ----

const VIRIDIS = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]];
const DIVERGING = [[33, 102, 172], [67, 147, 195], [146, 197, 222], [209, 229, 240], [247, 247, 247], [253, 219, 199], [244, 165, 130], [214, 96, 77], [178, 24, 43]];
const NAN = [255, 0, 255];
const INFINITE = [0, 229, 255];
const NEGATIVE_INFINITE = [255, 196, 0];

function colour(map, at) {
  const place = Math.max(0, Math.min(1, at)) * (map.length - 1);
  const below = Math.min(Math.floor(place), map.length - 2);
  return map[below].map((part, index) => Math.round(part + (map[below + 1][index] - part) * (place - below)));
}

/** The range of the colours: all elements, or without the outer hundredth on each side. */
function range() {
  const { figures, cells } = state;
  const quantile = (at) => figures?.quantiles?.find((it) => it.at === at)?.value;
  let low = figures?.minimum?.value;
  let high = figures?.maximum?.value;
  // Of a few elements, none is an outlier.
  if (state.clamp && figures?.count >= 1000 && quantile(0.01) !== undefined && quantile(0.01) < quantile(0.99)) {
    [low, high] = [quantile(0.01), quantile(0.99)];
  }
  if (low === undefined && cells !== undefined) {
    const finite = cells.values.filter(Number.isFinite);
    low = finite.reduce((least, value) => Math.min(least, value), Infinity);
    high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  }
  return [Number.isFinite(low) ? low : 0, Number.isFinite(high) ? high : 1];
}

/** The colour of values, and the ends of the scale. */
function scale() {
  const [low, high] = range();
  const isDiverging = low < 0 && high > 0;
  const bent = (value) => (state.log ? Math.sign(value) * Math.log10(1 + Math.abs(value) / unit) : value);
  const unit = Math.max(Math.abs(low), Math.abs(high)) / 1000 || 1;
  const [from, to] = isDiverging ? [-Math.max(-low, high), Math.max(-low, high)] : [low, high];
  const [start, end] = [bent(from), bent(to)];
  const map = isDiverging ? DIVERGING : VIRIDIS;
  return { low: from, high: to, map, of: (value) => colour(map, end > start ? (bent(value) - start) / (end - start) : 0.5) };
}

// ---- Drawing ----

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children);
  return element;
}

const short = (value) => {
  if (value === null || value === undefined) {
    return "–";
  }
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e6 || size < 1e-4) ? value.toExponential(3) : String(Number(value.toPrecision(6)));
};

function stageSize() {
  const stage = document.getElementById("stage");
  return stage === null ? { width: 256, height: 256 } : { width: Math.floor(stage.clientWidth), height: Math.floor(stage.clientHeight) };
}

function build() {
  const header = make(
    "header", {},
    make("h1", {}, state.title),
    make("span", { class: "type" }, state.type),
    make("span", { class: "place", id: "place", role: "status" }),
    make("span", { class: "spring" }),
    make("button", { type: "button", onclick: () => code.postMessage({ kind: "save" }) }, "Save .npy…"),
    make("button", { type: "button", title: "The shown slice as an expression of NumPy's", onclick: () => code.postMessage({ kind: "copy", slice: sliceText(), element: state.element }) }, "Copy as NumPy"),
  );
  if (state.shape === undefined) {
    main.replaceChildren(header, make("p", { class: `message ${state.error ? "error" : ""}`, role: "status" }, state.error ?? "Reading …"));
    return showPlace();
  }
  const views = [["picture", isLine() ? "Plot" : "Heat map"], ...(state.layout ? [["image", "Image"]] : []), ["table", "Table"]];
  const group = make("span", { class: "group", role: "group", "aria-label": "View" });
  group.append(...views.map(([view, label]) => make("button", { type: "button", "aria-pressed": String(state.view === view), onclick: () => chooseView(view) }, label)));
  const box = (name, label, title, after) =>
    make("label", { title }, make("input", { type: "checkbox", checked: state[name], onchange: (event) => { state[name] = event.target.checked; after(); } }), label);
  const picture = state.view === "picture";
  const bar = make(
    "div", { class: "bar" }, group,
    ...(state.layout && state.view === "image"
      ? [make("label", {}, "Layout", select(["NHWC", "NCHW"], state.layout, (layout) => { state.layout = layout; chooseView("image"); }))] : []),
    ...(picture && !isLine() ? [
      make("label", { title: "What a cell shows that covers several elements" }, "Cells", select(["mean", "extreme", "first"], state.reduction, (it) => { state.reduction = it; void refresh(); })),
      box("log", "log", "Colours by the logarithm of the magnitude", draw),
    ] : []),
    ...(state.view !== "table" ? [box("clamp", "clamp outliers", "The outer hundredths on both sides have the outer colours", draw)] : []),
    ...(state.view === "table" ? [] : [make("button", { type: "button", title: "Show all (0)", onclick: () => { showAll(); void refresh(); } }, "Fit")]),
  );
  const stage = make("div", { class: "stage", id: "stage", tabindex: "0", role: "img", "aria-label": `${state.title}, ${state.type}`, "aria-describedby": "at" });
  stage.append(state.view === "table" ? make("div", { class: "scroll", id: "table" }) : make("canvas", { id: "canvas" }));
  listen(stage);
  const legend = state.view === "picture" && !isLine() ? [make("div", { class: "legend", id: "legend" })] : [];
  main.replaceChildren(
    header, axesBar(), bar,
    make("div", { class: "body" },
      make("div", { class: "picture" }, stage, ...legend, make("div", { class: "at", id: "at", role: "status" }, " ")),
      make("aside", { id: "figures" })),
  );
  showPlace();
  drawFigures();
  void point();
}

function select(options, chosen, act) {
  const element = make("select", { onchange: () => act(element.value) });
  element.append(...options.map((option) => make("option", { value: option, selected: option === chosen }, option)));
  return element;
}

/** The slice as text, and a slider for each axis that is not shown. */
function axesBar() {
  const input = make("input", { type: "text", id: "slice", "aria-label": "Slice", spellcheck: "false" });
  input.value = sliceText();
  input.addEventListener("input", () => input.setAttribute("aria-invalid", String(readSlice(input.value) === undefined)));
  input.addEventListener("change", () => {
    const slice = readSlice(input.value);
    if (slice !== undefined) {
      state.slice = slice;
      showAll();
      build();
      void refresh();
      void measureIfSliced();
    }
  });
  const bar = make("div", { class: "bar" }, make("label", {}, "Slice", input));
  state.slice.forEach((index, axis) => {
    if (index === null || state.shape[axis] < 2) {
      return;
    }
    const slider = make("input", { type: "range", min: "0", max: String(state.shape[axis] - 1), "aria-label": `Index of axis ${axis}`, "data-axis": String(axis) });
    slider.value = String(index);
    const shown = make("code", { "data-index": String(axis) }, `${index} of ${state.shape[axis]}`);
    slider.addEventListener("input", () => {
      state.slice[axis] = Number(slider.value);
      syncSlice();
      void refresh();
      void point();
      void measureIfSliced();
    });
    bar.append(make("label", {}, `axis ${axis}`, slider, shown));
  });
  return bar;
}

function measureIfSliced() {
  return state.ofSlice ? measure() : undefined;
}

/** Sliders and text follow the slice. */
function syncSlice() {
  const input = document.getElementById("slice");
  if (input !== null) {
    input.value = sliceText();
    input.setAttribute("aria-invalid", "false");
  }
  for (const slider of document.querySelectorAll("input[data-axis]")) {
    const axis = Number(slider.dataset.axis);
    slider.value = String(state.slice[axis]);
    document.querySelector(`[data-index="${axis}"]`).textContent = `${state.slice[axis]} of ${state.shape[axis]}`;
  }
}

/** `[3, :, :, 0]`: an index or a colon for each axis, and at most two colons. */
function readSlice(text) {
  const parts = text.trim().replace(/^\[|\]$/g, "").split(",").map((part) => part.trim()).filter((part) => part !== "");
  const slice = state.shape.map((size, axis) => {
    const part = parts[axis] ?? ":";
    const index = Number(part) < 0 ? Number(part) + size : Number(part);
    return part === ":" ? null : Number.isInteger(index) && index >= 0 && index < size ? index : undefined;
  });
  const isWrong = parts.length > state.shape.length || slice.includes(undefined) || slice.filter((index) => index === null).length > 2;
  return isWrong ? undefined : slice;
}

function showPlace() {
  const place = document.getElementById("place");
  if (place !== null) {
    place.textContent = [state.place && `at ${state.place}`, state.note].filter(Boolean).join(" · ");
  }
}

function draw() {
  if (state.error !== undefined) {
    const body = main.querySelector(".body");
    const message = make("p", { class: "message error", role: "alert" }, state.error);
    if (body === null) {
      build();
    } else {
      body.replaceChildren(message);
    }
    return;
  }
  if (main.querySelector(".body #stage") === null) {
    build();
  }
  if (state.view === "table") {
    return drawTable();
  }
  const canvas = document.getElementById("canvas");
  if (canvas === null || state.cells === undefined) {
    return;
  }
  const { width, height } = stageSize();
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  if (isLine() && state.view === "picture") {
    return drawLine(context, width, height);
  }
  drawCells(context, width, height);
  drawLegend();
}

function drawCells(context, width, height) {
  const { cells } = state;
  const { of } = scale();
  const image = new ImageData(cells.width, cells.height);
  const [low, high] = range();
  for (let index = 0; index < cells.values.length; index++) {
    const mark = cells.marks?.[index] ?? 0;
    let shown = mark & 1 ? NAN : mark & 2 ? INFINITE : mark & 4 ? NEGATIVE_INFINITE : undefined;
    if (shown === undefined && isImage()) {
      const level = (channel) => Math.round((255 * (channel.values[index] - low)) / (high - low || 1));
      shown = state.channels.length === 3 ? state.channels.map(level) : Array(3).fill(level(state.channels[0]));
    }
    image.data.set([...(shown ?? of(cells.values[index])), 255], index * 4);
  }
  const small = new OffscreenCanvas(cells.width, cells.height);
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  const place = placement(width, height);
  context.drawImage(small, place.x, place.y, place.width, place.height);
  // The cursor.
  const [row, column] = state.cursor;
  const [cellWidth, cellHeight] = [place.width / state.columns[1], place.height / state.rows[1]];
  const style = getComputedStyle(document.body);
  context.strokeStyle = style.getPropertyValue("--vscode-focusBorder") || "#08f";
  context.lineWidth = 2;
  const x = place.x + (column - state.columns[0]) * cellWidth;
  const y = place.y + (row - state.rows[0]) * cellHeight;
  context.strokeRect(x - 1, y - 1, Math.max(cellWidth, 4) + 2, Math.max(cellHeight, 4) + 2);
}

/** Where the picture is: elements are square, unless that would hide a long side. */
function placement(width, height) {
  const [rows, columns] = [state.rows[1], state.columns[1]];
  const side = Math.min(width / columns, height / rows);
  const isLong = Math.max(rows, columns) > 8 * Math.min(rows, columns);
  const [w, h] = isLong ? [width, Math.min(height, Math.max(rows * side, 60))] : [columns * side, rows * side];
  return { x: 0, y: 0, width: w, height: isLong && rows > columns ? height : h };
}

function drawLine(context, width, height) {
  const { values, marks } = state.cells;
  const style = getComputedStyle(document.body);
  const [low, high] = range();
  const margin = (high - low || 1) * 0.05;
  const y = (value) => height - ((value - low + margin) / (high - low + 2 * margin || 1)) * height;
  context.strokeStyle = style.getPropertyValue("--vscode-panel-border") || "#888";
  context.beginPath();
  for (const value of [0, low, high].filter((it) => it >= low && it <= high)) {
    context.moveTo(0, y(value));
    context.lineTo(width, y(value));
  }
  context.stroke();
  context.fillStyle = style.getPropertyValue("--vscode-descriptionForeground");
  context.font = `11px ${style.getPropertyValue("--vscode-editor-font-family")}`;
  context.fillText(short(high), 4, y(high) - 3);
  context.fillText(short(low), 4, y(low) + 12);
  context.strokeStyle = style.getPropertyValue("--vscode-charts-blue") || "#3794ff";
  context.lineWidth = 1.5;
  context.beginPath();
  let isDown = false;
  const step = width / values.length;
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      isDown = false;
      return;
    }
    context[isDown ? "lineTo" : "moveTo"]((index + 0.5) * step, y(value));
    isDown = true;
  });
  context.stroke();
  marks?.forEach((mark, index) => {
    if (mark !== 0) {
      context.fillStyle = `rgb(${mark & 1 ? NAN : mark & 2 ? INFINITE : NEGATIVE_INFINITE})`;
      context.fillRect(index * step, 0, Math.max(step, 2), height);
    }
  });
  const at = ((state.cursor[1] - state.columns[0] + 0.5) / state.columns[1]) * width;
  context.strokeStyle = style.getPropertyValue("--vscode-focusBorder");
  context.beginPath();
  context.moveTo(at, 0);
  context.lineTo(at, height);
  context.stroke();
}

function drawLegend() {
  const legend = document.getElementById("legend");
  if (legend === null) {
    return;
  }
  const { low, high, map } = scale();
  const strip = make("canvas", { width: "256", height: "1", "aria-hidden": "true" });
  const context = strip.getContext("2d");
  for (let at = 0; at < 256; at++) {
    context.fillStyle = `rgb(${colour(map, at / 255)})`;
    context.fillRect(at, 0, 1, 1);
  }
  const key = (shade, text) => {
    const square = make("span", { class: "key" });
    square.style.background = `rgb(${shade})`;
    return make("span", { class: "dim" }, square, text);
  };
  const figures = state.figures;
  const how = state.cells.height < state.rows[1] || state.cells.width < state.columns[1] ? [make("span", { class: "dim" }, `${state.cells.reduction} of ${Math.ceil(state.rows[1] / state.cells.height)}×${Math.ceil(state.columns[1] / state.cells.width)}`)] : [];
  legend.replaceChildren(
    make("code", {}, short(low)), strip, make("code", {}, short(high)), ...how,
    ...(figures?.nans ? [key(NAN, "NaN")] : []), ...(figures?.positiveInfinities ? [key(INFINITE, "∞")] : []), ...(figures?.negativeInfinities ? [key(NEGATIVE_INFINITE, "−∞")] : []),
  );
}

function drawTable() {
  const place = document.getElementById("table");
  if (place === null || state.texts === undefined) {
    return;
  }
  const { texts, window } = state.texts;
  const head = make("tr", {}, make("th", {}), ...Array.from({ length: window.columns }, (_, column) => make("th", { scope: "col" }, String(window.column + column))));
  const rows = Array.from({ length: window.rows }, (_, row) => {
    const cells = Array.from({ length: window.columns }, (_, column) => {
      const [at, isCursor] = [[window.row + row, window.column + column], window.row + row === state.cursor[0] && window.column + column === state.cursor[1]];
      return make("td", { class: isCursor ? "cursor" : undefined, onclick: () => moveCursor(...at) }, texts[row * window.columns + column] ?? "");
    });
    return make("tr", {}, make("th", { scope: "row" }, String(window.row + row)), ...cells);
  });
  place.replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
  place.querySelector("td.cursor")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function drawFigures() {
  const aside = document.getElementById("figures");
  if (aside === null || state.shape === undefined) {
    return;
  }
  const figures = state.figures;
  if (figures === undefined) {
    aside.replaceChildren(make("p", { class: "dim" }, "Computing …"));
    return;
  }
  const list = make("dl");
  const row = (name, ...value) => list.append(make("dt", {}, name), make("dd", {}, ...value));
  const extreme = (it) => (it ? make("button", { type: "button", class: "link", title: `Show [${it.index.join(", ")}]`, onclick: () => jump(it.index) }, it.text) : "–");
  row("min", extreme(figures.minimum));
  row("max", extreme(figures.maximum));
  row("mean", short(figures.mean));
  row("std", short(figures.deviation));
  for (const [at, name] of [[0.01, "1 %"], [0.25, "25 %"], [0.5, "median"], [0.75, "75 %"], [0.99, "99 %"]]) {
    const found = figures.quantiles?.find((it) => it.at === at);
    if (found !== undefined) {
      row(name, short(found.value));
    }
  }
  row("zeros", `${figures.zeros}`);
  const next = (what, title) => make("button", { type: "button", class: "link", title, onclick: () => void jumpToNext(what) }, "next ›");
  const bad = (count) => make("span", { class: count > 0 ? "bad" : "" }, String(count));
  row("NaN", bad(figures.nans), ...(figures.nans > 0 ? [" ", next("nan", "Show the next NaN (n)")] : []));
  const infinities = figures.positiveInfinities + figures.negativeInfinities;
  row("Inf", bad(infinities), ...(infinities > 0 ? [" ", next("infinity", "Show the next infinity (i)")] : []));
  row("elements", String(figures.count));
  const ofSlice = make("input", { type: "checkbox", checked: state.ofSlice, onchange: () => { state.ofSlice = ofSlice.checked; void measure(); } });
  const chart = make("canvas", { width: "320", height: "110", role: "img", "aria-label": "Histogram" });
  const context = chart.getContext("2d");
  const most = Math.max(...figures.histogram, 1);
  context.fillStyle = getComputedStyle(document.body).getPropertyValue("--vscode-charts-blue") || "#3794ff";
  figures.histogram.forEach((count, bin) => {
    const height = count === 0 ? 0 : Math.max(2, (count / most) * 110);
    context.fillRect((bin / figures.histogram.length) * 320, 110 - height, 320 / figures.histogram.length - 1, height);
  });
  aside.replaceChildren(
    make("h2", {}, "Statistics"), list, make("h2", {}, "Histogram"), chart,
    make("div", { class: "ends" }, make("span", {}, short(figures.minimum?.value)), make("span", {}, short(figures.maximum?.value))),
    ...(state.slice.some((index) => index !== null) ? [make("p", {}, make("label", { class: "dim" }, ofSlice, " of this slice only"))] : []),
  );
}

// ---- Pointer and keys ----

function listen(stage) {
  const at = (event) => {
    const bounds = stage.getBoundingClientRect();
    const place = isLine() && state.view === "picture" ? { x: 0, y: 0, width: bounds.width, height: bounds.height } : placement(bounds.width, bounds.height);
    const part = (offset, size, [first, count]) => first + Math.max(0, Math.min(count - 1, Math.floor((offset / size) * count)));
    return [part(event.clientY - bounds.top - place.y, place.height, state.rows), part(event.clientX - bounds.left - place.x, place.width, state.columns), place];
  };
  let grabbed;
  stage.addEventListener("pointerdown", (event) => {
    if (state.view !== "table") {
      grabbed = { x: event.clientX, y: event.clientY, rows: state.rows, columns: state.columns };
      stage.setPointerCapture(event.pointerId);
    }
  });
  stage.addEventListener("pointerup", () => (grabbed = undefined));
  stage.addEventListener("pointermove", (event) => {
    if (state.view === "table" || state.shape === undefined) {
      return;
    }
    const [row, column, place] = at(event);
    if (grabbed !== undefined && event.buttons === 1) {
      const rows = Math.round(((grabbed.y - event.clientY) / place.height) * grabbed.rows[1]);
      const columns = Math.round(((grabbed.x - event.clientX) / place.width) * grabbed.columns[1]);
      state.rows = grabbed.rows;
      state.columns = grabbed.columns;
      pan(rows, columns);
      return;
    }
    if (row !== state.cursor[0] || column !== state.cursor[1]) {
      state.cursor = [row, column];
      draw();
      void point();
    }
  });
  stage.addEventListener("wheel", (event) => {
    if (state.view !== "table") {
      event.preventDefault();
      const [row, column] = at(event);
      zoom(event.deltaY > 0 ? 1.25 : 0.8, [row, column]);
    }
  }, { passive: false });
  stage.addEventListener("dblclick", () => { showAll(); void refresh(); });
  stage.addEventListener("keydown", (event) => {
    const [row, column] = state.cursor;
    const act = {
      ArrowUp: () => moveCursor(row - 1, column), ArrowDown: () => moveCursor(row + 1, column),
      ArrowLeft: () => moveCursor(row, column - 1), ArrowRight: () => moveCursor(row, column + 1),
      PageUp: () => moveCursor(row - 20, column), PageDown: () => moveCursor(row + 20, column),
      Home: () => moveCursor(row, 0), End: () => moveCursor(row, Infinity),
      "+": () => zoom(0.8), "-": () => zoom(1.25), 0: () => { showAll(); void refresh(); },
      n: () => void jumpToNext("nan"), i: () => void jumpToNext("infinity"),
    }[event.key];
    if (act !== undefined && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      act();
    }
  });
}

let resized;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => state.shape && void refresh(), 80);
});

addEventListener("message", ({ data }) => {
  switch (data.kind) {
    case "show":
      Object.assign(state, { title: data.title, place: data.place });
      build();
      void refresh().then(measure);
      return;
    case "answer": {
      const { resolve, reject } = waiting.get(data.id) ?? {};
      waiting.delete(data.id);
      return data.error === undefined ? resolve?.(data.body) : reject?.(new Error(data.error));
    }
    case "stopped":
      Object.assign(state, { place: data.place, note: "" });
      return void again();
    case "running":
      state.note = "running …";
      return showPlace();
    case "ended":
      state.note = "the session has ended";
      return showPlace();
  }
});

/** The program has stopped elsewhere: the same view of what the tensor is now, in another shape perhaps. */
async function again() {
  try {
    const { shape, type, elementType } = await ask({});
    if (JSON.stringify(shape) !== JSON.stringify(state.shape)) {
      state.shape = undefined;
    }
    Object.assign(state, { type, element: elementType, error: undefined });
    showPlace();
    await refresh();
    await measure();
    await point();
  } catch (error) {
    state.error = String(error.message ?? error);
    showPlace();
    draw();
  }
}

code.postMessage({ kind: "ready" });
