// The colours of values: from the least to the greatest, around 0, and of what is no number. Hovers have them, too.

export const VIRIDIS = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]];
export const DIVERGING = [[33, 102, 172], [67, 147, 195], [146, 197, 222], [209, 229, 240], [247, 247, 247], [253, 219, 199], [244, 165, 130], [214, 96, 77], [178, 24, 43]];
export const NAN = [255, 0, 255];
export const INFINITE = [0, 229, 255];
export const NEGATIVE_INFINITE = [255, 196, 0];

/** The colour at a place from 0 to 1. */
export function colour(map, at) {
  const place = Math.max(0, Math.min(1, at)) * (map.length - 1);
  const below = Math.min(Math.floor(place), map.length - 2);
  return map[below].map((part, index) => Math.round(part + (map[below + 1][index] - part) * (place - below)));
}
