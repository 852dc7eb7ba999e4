// The search in the graph: names, types, operations and lines of its boxes, and names of groups. A hit in a collapsed
// group marks that group; Enter opens what hides the hit.

import type { GraphNode } from "../answers";
import { shown, state } from "../state";
import { draw } from "./canvas";
import { found, search, stage } from "./elements";
import { moveTo } from "./movement";
import { seenAs } from "./overlays";
import { reveal, revealNext } from "./reveal";

export function listenToSearch(): void {
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      next();
    } else if (event.key === "Escape") {
      search.value = "";
      find();
      stage.focus();
    }
  });
}

/** Whether none of the hits was gone to. */
let isNew = true;

/** Goes to the first hit, and then from one to the next. */
function next(): void {
  const [first] = state.hits;
  if (isNew && first !== undefined) {
    reveal(first);
  } else {
    revealNext(state.hits);
  }
  isNew = false;
}

function find(): void {
  isNew = true;
  lookUp();
  const first = seenAs(state.hits[0]);
  if (first !== undefined) {
    moveTo(first, true);
  }
  draw();
}

/** Looks for what is asked for in the boxes that are there now. */
export function lookUp(): void {
  const wanted = search.value.trim().toLowerCase();
  const nodes = wanted === "" ? [] : (shown()?.nodes ?? []);
  // The tensors of weights that have no box are found at what takes them.
  const isThere = (node: GraphNode): boolean => node.kind !== "weight" || (shown()?.showsWeights ?? false);
  const isHit = (node: GraphNode): boolean => isThere(node) && textOf(node).includes(wanted);
  state.hits = nodes.flatMap((node, index) => (isHit(node) ? [index] : []));
  found.textContent = wanted === "" ? "" : `${state.hits.length} found`;
}

/** All that is searched of a box. */
function textOf({ title, operation, fullName = "", file, line, inputs, outputs }: GraphNode): string {
  const tensors = [...inputs, ...outputs].flatMap(({ name = "", type, origin = "" }) => [name, type, origin]);
  return [title, operation, fullName, `${file ?? ""}:${line ?? ""}`, ...tensors].join("\n").toLowerCase();
}
