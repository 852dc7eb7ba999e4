// The numbers around the cursor as a table, each in the colour that it has in the picture. A pointer or keys with Shift
// select cells (`selection.ts`).

import { digitsOn } from "../contrast";
import { make } from "../dom";
import { moveCursor } from "./actions";
import { type Scale, scale } from "./colours";
import { formatted } from "./formats";
import { type Colour, colourOfMark } from "./palette";
import { isSelected } from "./selection";
import { elementMenu, indicesOf } from "./slices";
import { type Cursor, type Decoded, state } from "./state";

/** The cell at the cursor, which the stage names as its active one. */
const CURSOR = "cell";

export function drawTable(): void {
  const place = document.getElementById("table");
  if (place === null || state.texts === undefined) {
    return;
  }
  const { texts, window, values } = state.texts;
  const columns = counted(window.columns);
  const colours = scale();
  const head = columns.map((column) => make("th", { scope: "col" }, String(window.column + column)));
  const rows = counted(window.rows).map((row) => {
    const cells = columns.map((column) => {
      const number = row * window.columns + column;
      return cell(
        [window.row + row, window.column + column],
        texts[number] ?? "",
        values && colourAt(values, number, colours),
      );
    });
    return make("tr", {}, make("th", { scope: "row" }, String(window.row + row)), ...cells);
  });
  const whole = make("thead", {}, make("tr", {}, make("td", { class: "corner" }), ...head));
  const caption = make("caption", { class: "unseen" }, `Elements around the cursor of ${state.title}`);
  place.replaceChildren(make("table", {}, caption, whole, make("tbody", {}, ...rows)));
  const cursor = document.getElementById(CURSOR);
  cursor?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

const counted = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function cell(at: Cursor, text: string, colour: Colour | undefined): HTMLElement {
  const isCursor = at[0] === state.cursor[0] && at[1] === state.cursor[1];
  const shown = formatted(text, state.format);
  const isNan = shown.toLowerCase() === "nan";
  const found = make(
    "td",
    {
      class:
        [isCursor && "cursor", isSelected(...at) && "selected", isNan && "nan"].filter(Boolean).join(" ") ||
        undefined,
      id: isCursor ? CURSOR : undefined,
      "data-vscode-context": elementMenu(indicesOf(at)),
      onpointerdown: (event) => event.button === 0 && moveCursor(...at, event.shiftKey),
      onpointerenter: (event) => event.buttons === 1 && !isCursor && moveCursor(...at, true),
    },
    shown,
  );
  if (colour !== undefined) {
    const [red, green, blue] = colour;
    found.style.backgroundColor = `rgb(${red}, ${green}, ${blue})`;
    found.style.color = digitsOn(colour);
  }
  return found;
}

/** The colour of an element by its value; none while its cells have no colours. */
function colourAt({ values, marks }: Decoded, number: number, colours: Scale): Colour | undefined {
  return state.colours ? (colourOfMark(marks?.[number] ?? 0) ?? colours.of(values[number] ?? 0)) : undefined;
}
