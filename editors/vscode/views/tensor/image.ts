// A tensor as an image: the colours of its cells, and what is said of black and white (`levels.ts`).

import { make } from "../dom";
import { range } from "./colours";
import { type Levels, levelsOf } from "./levels";
import type { Colour } from "./palette";
import { type Decoded, short, state } from "./state";

/** The numbers that are black and white. */
function levels(): Levels {
  const { minimum, maximum } = state.figures ?? {};
  const data = range();
  const ends = [minimum?.value ?? data[0], maximum?.value ?? data[1]] as const;
  return levelsOf(state.brightness, state.type.split("x").at(-1) ?? "", ends, data);
}

/** Red, green and blue of a cell, or one for all of them. */
export function imageShade(all: readonly Decoded[]): (index: number) => Colour {
  const { black, white } = levels();
  const [red, green, blue] = all.length === 3 ? all : [all[0], all[0], all[0]];
  const level = (channel: Decoded | undefined, index: number): number => {
    const part = ((channel?.values[index] ?? 0) - black) / (white - black || 1);
    return Math.round(255 * Math.max(0, Math.min(1, part)));
  };
  return (index) => [level(red, index), level(green, index), level(blue, index)];
}

/** What black and white mean. */
export function imageLegend(): HTMLElement[] {
  const { black, white, kind } = levels();
  const { minimum, maximum } = state.figures ?? {};
  const isCut = (minimum && minimum.value < black) || (maximum && maximum.value > white);
  const why =
    kind === "data"
      ? isCut
        ? "the middle 98 % of the elements"
        : "the least and the greatest element"
      : `numbers from ${short(black)} to ${short(white)}`;
  return [
    make(
      "span",
      { class: "dim" },
      "black ",
      make("code", {}, short(black)),
      ", white ",
      make("code", {}, short(white)),
      `: ${why}`,
    ),
    ...(isCut ? [make("span", { class: "dim" }, "numbers beyond are cut off")] : []),
  ];
}
