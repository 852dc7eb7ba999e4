// The numbers around the cursor as a table.

import { make } from "../dom";
import { moveCursor } from "./actions";
import { elementMenu, indicesOf } from "./slices";
import { type Cursor, state } from "./state";

export function drawTable(): void {
  const place = document.getElementById("table");
  if (place === null || state.texts === undefined) {
    return;
  }
  const { texts, window } = state.texts;
  const columns = counted(window.columns);
  const head = columns.map((column) => make("th", { scope: "col" }, String(window.column + column)));
  const rows = counted(window.rows).map((row) => {
    const cells = columns.map((column) =>
      cell([window.row + row, window.column + column], texts[row * window.columns + column] ?? ""));
    return make("tr", {}, make("th", { scope: "row" }, String(window.row + row)), ...cells);
  });
  const whole = make("thead", {}, make("tr", {}, make("th"), ...head));
  place.replaceChildren(make("table", {}, whole, make("tbody", {}, ...rows)));
  place.querySelector("td.cursor")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

const counted = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function cell(at: Cursor, text: string): HTMLElement {
  const isCursor = at[0] === state.cursor[0] && at[1] === state.cursor[1];
  return make(
    "td",
    {
      class: isCursor ? "cursor" : undefined, "data-vscode-context": elementMenu(indicesOf(at)),
      onclick: () => moveCursor(...at),
    },
    text,
  );
}
