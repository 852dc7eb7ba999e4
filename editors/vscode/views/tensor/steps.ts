// The figures along an axis as steps of a strip: as many as it has pixels.

import type { Figures } from "./answers";

/** A number of figures; NaN for none. */
const number = (value: number | string | null | undefined): number =>
  value === null || value === undefined ? NaN : Number(value);

/** Some indices that share a pixel. */
export interface Step {
  readonly low: number;
  readonly high: number;
  readonly mean: number;
  readonly isBad: boolean;
}

/** The figures of some indices as so many steps, each of the indices that lie in it; undefined where none is known. */
export function stepsOf(
  rows: readonly Figures[],
  [first, count]: readonly [number, number],
  steps: number,
): (Step | undefined)[] {
  return Array.from({ length: steps }, (_, step) => {
    const from = first + Math.floor((step * count) / steps);
    const to = Math.max(from + 1, first + Math.floor(((step + 1) * count) / steps));
    const all = rows.slice(from, to);
    if (all.length === 0) {
      return undefined;
    }
    const means = all.map(({ mean }) => number(mean)).filter(Number.isFinite);
    const ends = (of: (it: Figures) => number | string | null): number[] =>
      all.map((it) => number(of(it))).filter(Number.isFinite);
    return {
      low: Math.min(...ends(({ minimum }) => minimum)),
      high: Math.max(...ends(({ maximum }) => maximum)),
      mean: means.reduce((sum, it) => sum + it, 0) / means.length,
      isBad: all.some(
        ({ nans, positiveInfinities, negativeInfinities }) => nans + positiveInfinities + negativeInfinities > 0,
      ),
    };
  });
}

/** The least and the greatest of all that is known. */
export function endsOf(rows: readonly Figures[]): readonly [number, number] {
  const [low, high] = rows.reduce(
    ([low, high], { minimum, maximum }) => [
      Math.min(low, minimum === null ? Infinity : number(minimum)),
      Math.max(high, maximum === null ? -Infinity : number(maximum)),
    ],
    [Infinity, -Infinity],
  );
  return low <= high ? [low, high] : [0, 1];
}
