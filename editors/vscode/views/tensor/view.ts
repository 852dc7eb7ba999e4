// The page: header, sliders of axes, buttons, and the stage. What pointer and keys do on the stage is in `stage.ts`.

import { mainOfPage, make, penOf, select } from "../dom";
import { chooseView, fit, measureIfSliced } from "./actions";
import { drawAlong } from "./along";
import { point, refresh, stageSize } from "./asking";
import { comparisonBars, drawComparison } from "./comparison";
import { drawFigures } from "./figures";
import { type Format, FORMATS } from "./formats";
import { type Brightness, BRIGHTNESS } from "./levels";
import { drawLinks, linkBar } from "./linking";
import { drawCells, drawLegend, drawLine } from "./picture";
import { copyCells, selected, sizeText } from "./selection";
import { elementAt, elementMenu, isImage, isLine, readSlice, showAll, sizes, sliceText } from "./slices";
import { listen } from "./stage";
import { type Layout, redraw, state, subject, tell, type View } from "./state";
import { drawTable } from "./table";
import { drawChart, drawTimes, timesView } from "./timeline";
import { lookBack } from "./times";

const main = mainOfPage();

/** All of the page anew. */
function build(): void {
  if (state.shape === undefined) {
    const text = state.error ?? "Reading …";
    const message = make("p", { class: `message ${state.error ? "error" : ""}`, role: "status" }, text);
    main.replaceChildren(header(), comparisonBars(), message);
    showPlace();
    drawLinks();
    return;
  }
  if (state.view === "time") {
    main.replaceChildren(header(), comparisonBars(), viewBar(), make("div", { class: "body" }, timesView()));
    showPlace();
    drawLinks();
    drawTimes();
    return;
  }
  const hasLegend = state.view === "image" || (state.view === "picture" && !isLine());
  main.replaceChildren(
    header(), comparisonBars(), axesBar(), viewBar(),
    make(
      "div", { class: "body" },
      make("div", { class: "picture" }, stage(), hasLegend && make("div", { class: "legend", id: "legend" }), atBar()),
      make(
        "aside", { "aria-label": "Figures" },
        make("div", { id: "figures" }), make("section", { id: "along-section", "aria-label": "Along an axis" }),
      ),
    ),
  );
  showPlace();
  drawLinks();
  drawFigures();
  drawAlong();
  drawElement();
  void point();
}

function header(): HTMLElement {
  const save = (): void => tell({ kind: "save", question: subject(), name: state.name ?? state.title });
  const copy = (): void => tell({ kind: "copy", question: { ...subject(), slice: sliceText() } });
  const title = "The shown slice as an expression of NumPy's";
  return make(
    "header", {},
    make("h1", {}, state.title),
    make("span", { class: "type" }, state.type),
    make("span", { class: "place", id: "place", role: "status" }),
    make("span", { class: "spring" }),
    linkBar(),
    make("button", { type: "button", id: "save", onclick: save }, "Save .npy…"),
    make("button", { type: "button", id: "copy", title, onclick: copy }, "Copy as NumPy"),
  );
}

/** Where the program stands, or stood. */
function showPlace(): void {
  const place = document.getElementById("place");
  if (place !== null) {
    const then = state.moments.find(({ moment }) => moment === state.moment);
    const at = then ? `as at ${then.place}` : state.place && `at ${state.place}`;
    place.textContent = [at, state.note].filter((text) => text !== "").join(" · ");
  }
}

// ---- Which view ----

const COPY = "Copy the selected cells, with tabs between them (Ctrl+C)";

/** How the elements are shown. */
function viewBar(): HTMLElement {
  const { view, layout } = state;
  const views: (readonly [View, string])[] = [
    ["picture", isLine() ? "Plot" : "Heat map"], ...(layout ? [["image", "Image"] as const] : []), ["table", "Table"],
    ...(state.hasHistory ? [["time", "Over Time"] as const] : []),
  ];
  const buttons = views.map(([name, label]) => make(
    "button", { type: "button", "aria-pressed": String(view === name), onclick: () => show(name) }, label,
  ));
  return make(
    "div", { class: "bar" },
    make("span", { class: "group", role: "group", "aria-label": "View" }, ...buttons),
    ...(view === "image" && layout !== undefined ? [layoutChoice(layout), brightnessChoice()] : []),
    ...(view === "picture" && !isLine() ? [
      reductionChoice(), box("log", "log", "Colours by the logarithm of the magnitude"),
    ] : []),
    ...(view === "table" ? [
      box("colours", "colours", "Cells have the colours of the picture"),
      make("button", { type: "button", id: "copy-cells", title: COPY, onclick: () => void copyCells() }, "Copy Cells"),
      make("span", { class: "dim", id: "selected" }),
    ] : []),
    ...(view === "time" ? [] : [formatChoice()]),
    ...(view === "table" || view === "time" ? [] : [
      box("clamp", "clamp outliers", "Clip the colours at the 1st and 99th percentiles"),
      make("button", { type: "button", title: "Show all (0)", onclick: fit }, "Fit"),
    ]),
  );
}

/** Shows the tensor in another way. */
function show(view: View): void {
  chooseView(view);
  if (view === "time") {
    void lookBack();
  }
}

/** How elements are written, in the table and at the cursor. */
function formatChoice(): HTMLElement {
  const names = Object.values(FORMATS);
  const choose = (chosen: string): void => {
    state.format = (Object.keys(FORMATS) as Format[]).find((it) => FORMATS[it] === chosen) ?? "short";
    void refresh();
    void point();
  };
  const choice = select(names, FORMATS[state.format], choose);
  choice.id = "format";
  return make("label", { title: "How elements are written" }, "Format", choice);
}

/** Which numbers are black and white. */
function brightnessChoice(): HTMLElement {
  const choose = (chosen: string): void => {
    state.brightness = (Object.keys(BRIGHTNESS) as Brightness[]).find((it) => BRIGHTNESS[it] === chosen) ?? "auto";
    draw();
  };
  const choice = select(Object.values(BRIGHTNESS), BRIGHTNESS[state.brightness], choose);
  choice.id = "brightness";
  return make("label", { title: "The numbers that are black and white" }, "Black to white", choice);
}

function layoutChoice(layout: Layout): HTMLElement {
  const choose = (chosen: string): void => {
    state.layout = chosen === "NHWC" ? "NHWC" : "NCHW";
    chooseView("image");
  };
  return make("label", {}, "Layout", select(["NHWC", "NCHW"], layout, choose));
}

function reductionChoice(): HTMLElement {
  const reductions = ["mean", "extreme", "first"] as const;
  const choose = (chosen: string): void => {
    state.reduction = reductions.find((it) => it === chosen) ?? "mean";
    void refresh();
  };
  const title = "What a cell that covers several elements shows";
  return make("label", { title }, "Cells", select(reductions, state.reduction, choose));
}

/** A box that changes the colours. */
function box(name: "log" | "clamp" | "colours", label: string, title: string): HTMLElement {
  const input = make("input", {
    type: "checkbox", checked: state[name],
    onchange: () => {
      state[name] = input.checked;
      draw();
    },
  });
  return make("label", { title }, input, label);
}

// ---- Which slice ----

/** The slice as text, and a slider for each axis that is not shown. */
function axesBar(): HTMLElement {
  const sliders = state.slice.map((index, axis) => {
    const size = sizes()[axis] ?? 1;
    return index !== null && size > 1 && axisSlider(axis, index, size);
  });
  return make("div", { class: "bar" }, make("label", {}, "Slice", sliceInput()), ...sliders);
}

function sliceInput(): HTMLElement {
  const input = make("input", {
    type: "text", id: "slice", "aria-label": "Slice", spellcheck: "false",
    oninput: () => input.setAttribute("aria-invalid", String(readSlice(input.value) === undefined)),
    onchange: () => {
      const slice = readSlice(input.value);
      if (slice !== undefined) {
        state.slice = slice;
        showAll();
        build();
        void refresh();
        measureIfSliced();
      }
    },
  });
  input.value = sliceText();
  return input;
}

function axisSlider(axis: number, index: number, size: number): HTMLElement {
  const slider = make("input", {
    type: "range", min: "0", max: String(size - 1), "aria-label": `Index of axis ${axis}`, "data-axis": String(axis),
    oninput: () => {
      state.slice = state.slice.with(axis, Number(slider.value));
      syncSlice();
      void refresh();
      void point();
      measureIfSliced();
    },
  });
  slider.value = String(index);
  const shown = make("code", { "data-index": String(axis) }, `${index} of ${size}`);
  return make("label", {}, `axis ${axis}`, slider, shown);
}

/** Sliders and text follow the slice. */
function syncSlice(): void {
  const input = document.querySelector<HTMLInputElement>("#slice");
  if (input !== null) {
    input.value = sliceText();
    input.setAttribute("aria-invalid", "false");
  }
  for (const slider of document.querySelectorAll<HTMLInputElement>("input[data-axis]")) {
    const axis = Number(slider.dataset["axis"]);
    slider.value = String(state.slice[axis]);
    const shown = document.querySelector(`[data-index="${axis}"]`);
    if (shown !== null) {
      shown.textContent = `${state.slice[axis]} of ${sizes()[axis]}`;
    }
  }
}

// ---- The elements ----

function stage(): HTMLElement {
  const label = `${state.title}, ${state.type}`;
  const place = make(
    "div",
    {
      class: "stage", id: "stage", tabindex: "0", "aria-label": label, "aria-describedby": "at",
      ...(state.view === "table" ? { role: "group", "aria-activedescendant": "cell" } : { role: "img" }),
    },
    state.view === "table" ? make("div", { id: "table" }) : make("canvas", { id: "canvas" }),
  );
  listen(place, draw);
  return place;
}

/** The element at the cursor, and what can be asked about it. */
function atBar(): HTMLElement {
  const ask = make(
    "button",
    {
      type: "button", class: "link", id: "who-wrote",
      title: "Go back to just before the dispatch that last wrote this element",
      onclick: () => {
        const element = elementAt();
        if (element !== undefined) {
          tell({ kind: "whoWrote", element });
        }
      },
    },
    "Who wrote this?",
  );
  return make("div", { class: "at" }, make("span", { class: "at", id: "at", role: "status" }, " "), ask);
}

/** The menu and the button are about the element at the cursor. */
function drawElement(): void {
  const [stage, ask] = [document.getElementById("stage"), document.getElementById("who-wrote")];
  if (stage === null || ask === null) {
    return;
  }
  const menu = state.view === "table" ? undefined : elementMenu();
  if (menu === undefined) {
    delete stage.dataset["vscodeContext"];
  } else {
    stage.dataset["vscodeContext"] = menu;
  }
  ask.hidden = elementAt() === undefined;
}

function draw(): void {
  if (state.view === "time") {
    return; // What the tensor was does not need what it is.
  }
  if (state.error !== undefined) {
    showError(state.error);
    return;
  }
  if (main.querySelector(".body #stage") === null) {
    build();
  }
  drawElement();
  if (state.view === "table") {
    drawTable();
    showSelected();
  } else {
    drawPicture();
  }
}

/** How much is selected. */
function showSelected(): void {
  const place = document.getElementById("selected");
  if (place !== null) {
    place.textContent = state.anchor === undefined ? "" : sizeText(selected());
  }
}

function showError(text: string): void {
  const body = main.querySelector(".body");
  if (body === null) {
    build();
  } else {
    body.replaceChildren(make("p", { class: "message error", role: "alert" }, text));
    drawComparison();
  }
}

function drawPicture(): void {
  const canvas = document.querySelector<HTMLCanvasElement>("#canvas");
  const { cells } = state;
  if (canvas === null || cells === undefined || (isImage() && state.channels === undefined)) {
    return;
  }
  const { width, height } = stageSize();
  Object.assign(canvas, { width, height });
  const pen = penOf(canvas);
  if (isLine() && state.view === "picture") {
    drawLine(pen, cells, width, height);
    return;
  }
  drawCells(pen, cells, width, height);
  drawLegend(cells);
}

/** The figures along an axis, in their section and beside the picture. */
function drawSummary(): void {
  drawAlong();
  if (state.view === "picture") {
    drawPicture();
  }
}

addEventListener("resize", () => state.view === "time" && drawChart());

// What is drawn has the colours of the theme.
new MutationObserver(() => {
  redraw.figures();
  redraw.picture();
  redraw.summary();
  redraw.times();
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });

Object.assign(redraw, {
  page: build, picture: draw, figures: drawFigures, place: showPlace, slice: syncSlice, comparison: drawComparison,
  summary: drawSummary, times: drawTimes, links: drawLinks,
});
