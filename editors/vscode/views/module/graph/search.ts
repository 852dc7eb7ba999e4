// The search in the graph: names, types, operations and lines of its boxes.

import type { GraphNode } from "../answers";
import { shown, state } from "../state";
import { draw } from "./canvas";
import { found, search, stage } from "./elements";
import { moveTo, selectNext } from "./movement";

export function listenToSearch(): void {
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      selectNext(state.hits);
    } else if (event.key === "Escape") {
      search.value = "";
      find();
      stage.focus();
    }
  });
}

function find(): void {
  const wanted = search.value.trim().toLowerCase();
  const nodes = wanted === "" ? [] : (shown()?.nodes ?? []);
  state.hits = nodes.flatMap((node, index) => (textOf(node).includes(wanted) ? [index] : []));
  found.textContent = wanted === "" ? "" : `${state.hits.length} found`;
  const [first] = state.hits;
  if (first !== undefined) {
    moveTo(first, true);
  }
  draw();
}

/** All that is searched of a box. */
function textOf({ title, operation, file, line, inputs, outputs }: GraphNode): string {
  const tensors = [...inputs, ...outputs].flatMap(({ name = "", type, origin = "" }) => [name, type, origin]);
  return [title, operation, `${file ?? ""}:${line ?? ""}`, ...tensors].join("\n").toLowerCase();
}
