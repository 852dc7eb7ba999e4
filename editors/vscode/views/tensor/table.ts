// The numbers around the cursor as a table, each in the colour that it has in the picture.

import { make } from "../dom";
import { moveCursor } from "./actions";
import { type Scale, scale } from "./colours";
import { type Colour, INFINITE, NAN, NEGATIVE_INFINITE } from "./palette";
import { elementMenu, indicesOf } from "./slices";
import { type Cursor, state } from "./state";

export function drawTable(): void {
  const place = document.getElementById("table");
  if (place === null || state.texts === undefined) {
    return;
  }
  const { texts, window } = state.texts;
  const columns = counted(window.columns);
  const colours = scale();
  const head = columns.map((column) => make("th", { scope: "col" }, String(window.column + column)));
  const rows = counted(window.rows).map((row) => {
    const cells = columns.map((column) =>
      cell([window.row + row, window.column + column], texts[row * window.columns + column] ?? "", colours));
    return make("tr", {}, make("th", { scope: "row" }, String(window.row + row)), ...cells);
  });
  const whole = make("thead", {}, make("tr", {}, make("th"), ...head));
  place.replaceChildren(make("table", {}, whole, make("tbody", {}, ...rows)));
  place.querySelector("td.cursor")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

const counted = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function cell(at: Cursor, text: string, colours: Scale): HTMLElement {
  const isCursor = at[0] === state.cursor[0] && at[1] === state.cursor[1];
  const found = make(
    "td",
    {
      class: isCursor ? "cursor" : undefined, "data-vscode-context": elementMenu(indicesOf(at)),
      onclick: () => moveCursor(...at),
    },
    text,
  );
  const colour = colourOf(text, colours);
  if (colour !== undefined) {
    const [red, green, blue] = colour;
    found.style.backgroundColor = `rgb(${red}, ${green}, ${blue})`;
    // What is brighter than grey has dark digits (ITU-R BT.601).
    found.style.color = 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#000" : "#fff";
  }
  return found;
}

/** The colour of an element by its text; none for what is no number. */
function colourOf(text: string, colours: Scale): Colour | undefined {
  switch (text.toLowerCase()) {
    case "nan":
      return NAN;
    case "inf":
      return INFINITE;
    case "-inf":
      return NEGATIVE_INFINITE;
    default: {
      const value = Number(text);
      return text === "" || Number.isNaN(value) ? undefined : colours.of(value);
    }
  }
}
