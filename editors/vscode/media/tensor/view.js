// The page: header, sliders of axes, buttons, and what pointer and keys do.

import { make, select } from "../page.js";
import { chooseView, jumpToNext, jumpToWorst, measure, moveCursor, pan, point, refresh, showAll, showMeasure, travelBy, zoom } from "./actions.js";
import { comparisonBars, drawComparison } from "./comparison.js";
import { drawFigures } from "./figures.js";
import { drawCells, drawLegend, drawLine, placement } from "./picture.js";
import { code, elementAt, elementMenu, isImage, isLine, planeSize, readSlice, redraw, short, sliceText, stageSize, state, subject } from "./state.js";
import { drawTable } from "./table.js";

const main = document.querySelector("main");

function build() {
  const header = make(
    "header", {},
    make("h1", {}, state.title),
    make("span", { class: "type" }, state.type),
    make("span", { class: "place", id: "place", role: "status" }),
    make("span", { class: "spring" }),
    make("button", { type: "button", id: "save", onclick: () => code.postMessage({ kind: "save", question: subject(), name: state.name ?? state.title }) }, "Save .npy…"),
    make("button", { type: "button", id: "copy", title: "The shown slice as an expression of NumPy's", onclick: () => code.postMessage({ kind: "copy", question: { ...subject(), slice: sliceText() } }) }, "Copy as NumPy"),
  );
  if (state.shape === undefined) {
    main.replaceChildren(header, comparisonBars(), make("p", { class: `message ${state.error ? "error" : ""}`, role: "status" }, state.error ?? "Reading …"));
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
    header, comparisonBars(), axesBar(), bar,
    make("div", { class: "body" },
      make("div", { class: "picture" }, stage, ...legend, atBar()),
      make("aside", { id: "figures" })),
  );
  showPlace();
  drawFigures();
  drawElement();
  void point();
}

/** The element at the cursor, and what can be asked about it. */
function atBar() {
  const ask = make("button", { type: "button", class: "link", id: "who-wrote", title: "Go back to before the dispatch that has written this element last", onclick: () => code.postMessage({ kind: "whoWrote", element: elementAt() }) }, "Who wrote this?");
  return make("div", { class: "at" }, make("span", { class: "at", id: "at", role: "status" }, " "), ask);
}

/** The menu and the button are about the element at the cursor. */
function drawElement() {
  const [stage, ask] = [document.getElementById("stage"), document.getElementById("who-wrote")];
  if (stage === null || ask === null) {
    return;
  }
  const menu = state.view === "table" ? undefined : elementMenu();
  if (menu === undefined) {
    delete stage.dataset.vscodeContext;
  } else {
    stage.dataset.vscodeContext = menu;
  }
  ask.hidden = elementAt() === undefined;
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

function showPlace() {
  const place = document.getElementById("place");
  if (place !== null) {
    const then = state.moments.find(({ moment }) => moment === state.moment);
    place.textContent = [then ? `as at ${then.place}` : state.place && `at ${state.place}`, state.note].filter(Boolean).join(" · ");
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
      drawComparison();
    }
    return;
  }
  if (main.querySelector(".body #stage") === null) {
    build();
  }
  drawElement();
  if (state.view === "table") {
    return drawTable();
  }
  const canvas = document.getElementById("canvas");
  const isThere = isImage() ? state.channels : state.cells;
  if (canvas === null || isThere === undefined) {
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

function listen(stage) {
  const at = (event) => {
    const bounds = stage.getBoundingClientRect();
    const place = isLine() && state.view === "picture" ? { x: 0, y: 0, width: bounds.width, height: bounds.height } : placement(bounds.width, bounds.height);
    const part = (offset, size, [first, count]) => first + Math.max(0, Math.min(count - 1, Math.floor((offset / size) * count)));
    return [part(event.clientY - bounds.top - place.y, place.height, state.rows), part(event.clientX - bounds.left - place.x, place.width, state.columns), place];
  };
  let grabbed;
  stage.addEventListener("pointerdown", (event) => {
    if (state.view !== "table" && event.button === 0) {
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
      "[": () => void travelBy(-1), "]": () => void travelBy(1),
      ...(state.other === undefined ? {} : {
        d: () => void jumpToNext("different"), w: jumpToWorst,
        b: () => void showMeasure(state.measure === "b" ? "a" : "b"),
      }),
    }[event.key];
    if (act !== undefined && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      act();
    }
  });
}

Object.assign(redraw, { page: build, picture: draw, figures: drawFigures, place: showPlace, slice: syncSlice, comparison: drawComparison });
