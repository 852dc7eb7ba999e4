// Saves the shown function as an SVG, with the colours that its boxes have now.

import { PAPER } from "../paper";
import { shown, state, tell } from "../state";
import { shortTitle, smallText } from "../texts";
import { isLarge, linesOf, markOf } from "./boxes";
import { prepared } from "./overlays";
import { svgOf } from "./svg";

export function exportSvg(): void {
  const has = shown();
  if (has === undefined) {
    return;
  }
  const text = svgOf(has, (node, index) => {
    const small = { title: shortTitle(node), note: "", lines: [[smallText(node), ""]] as const };
    return { ...markOf(node, index, PAPER), ...(isLarge(node) ? linesOf(node, prepared.overlays[index]) : small) };
  });
  const name = `${state.file.replace(/\.vmfb$/, "")}${has.name === "" ? "" : `.${has.name}`}.svg`;
  tell({ kind: "svg", name: name.replace(/[^\w.$-]+/g, "_"), text });
}
