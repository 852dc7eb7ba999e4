// The numbers around the cursor as a table.

import { make } from "../page.js";
import { moveCursor } from "./actions.js";
import { elementMenu, indicesOf, state } from "./state.js";

export function drawTable() {
  const place = document.getElementById("table");
  if (place === null || state.texts === undefined) {
    return;
  }
  const { texts, window } = state.texts;
  const head = make("tr", {}, make("th", {}), ...Array.from({ length: window.columns }, (_, column) => make("th", { scope: "col" }, String(window.column + column))));
  const rows = Array.from({ length: window.rows }, (_, row) => {
    const cells = Array.from({ length: window.columns }, (_, column) => {
      const [at, isCursor] = [[window.row + row, window.column + column], window.row + row === state.cursor[0] && window.column + column === state.cursor[1]];
      return make("td", { class: isCursor ? "cursor" : undefined, "data-vscode-context": elementMenu(indicesOf(at)), onclick: () => moveCursor(...at) }, texts[row * window.columns + column] ?? "");
    });
    return make("tr", {}, make("th", { scope: "row" }, String(window.row + row)), ...cells);
  });
  place.replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
  place.querySelector("td.cursor")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}
