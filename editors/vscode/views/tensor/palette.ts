// The colours of values: from the least to the greatest, around 0, and of what is no number. Hovers have them, too.

export type Colour = readonly [red: number, green: number, blue: number];

/** From the least to the greatest. */
export const VIRIDIS: readonly Colour[] = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37],
];
/** Around 0. */
export const DIVERGING: readonly Colour[] = [
  [33, 102, 172], [67, 147, 195], [146, 197, 222], [209, 229, 240], [247, 247, 247],
  [253, 219, 199], [244, 165, 130], [214, 96, 77], [178, 24, 43],
];
export const NAN: Colour = [255, 0, 255];
export const INFINITE: Colour = [0, 229, 255];
export const NEGATIVE_INFINITE: Colour = [255, 196, 0];

/** The colour at a place from 0 to 1. */
export function colour(map: readonly Colour[], at: number): Colour {
  const place = Math.max(0, Math.min(1, at)) * (map.length - 1);
  const below = Math.min(Math.floor(place), map.length - 2);
  const [from, to] = [map[below] ?? NAN, map[below + 1] ?? NAN];
  const part = (index: 0 | 1 | 2): number => Math.round(from[index] + (to[index] - from[index]) * (place - below));
  return [part(0), part(1), part(2)];
}

/** The colour of a cell that has what is no number: NaN (1), infinity (2), negative infinity (4). */
export function colourOfMark(mark: number): Colour | undefined {
  if (mark & 1) {
    return NAN;
  }
  return mark & 2 ? INFINITE : mark & 4 ? NEGATIVE_INFINITE : undefined;
}
