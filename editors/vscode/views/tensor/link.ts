// Two views whose cursor, slice and window follow one another: what of one is also there in the other.

/** Where a view is, by the axes of its tensor. */
export interface Position {
  readonly shape: readonly number[];
  /** An index for each axis, or null for one that is shown. */
  readonly slice: readonly (number | null)[];
  /** The element at the cursor. */
  readonly at: readonly number[];
  /** The visible part of each axis that is shown: its first index, and how many. */
  readonly windows: readonly (readonly [number, number] | null)[];
}

/** How many axes two shapes have in common, from the last one on. */
export function sharedAxes(one: readonly number[], other: readonly number[]): number {
  let count = 0;
  while (count < Math.min(one.length, other.length) && one.at(-1 - count) === other.at(-1 - count)) {
    count++;
  }
  return count;
}

/** Where a view goes that follows another one; undefined if they have no axis in common. Other axes stay. */
export function followed(own: Position, other: Position): Position | undefined {
  const shared = sharedAxes(own.shape, other.shape);
  if (shared === 0 && own.shape.length + other.shape.length > 0) {
    return undefined;
  }
  const [first, offset] = [own.shape.length - shared, own.shape.length - other.shape.length];
  const takes = <Of>(mine: readonly Of[], theirs: readonly Of[]): Of[] =>
    mine.map((it, axis) => (axis < first ? it : (theirs[axis - offset] as Of)));
  const at = takes(own.at, other.at);
  const slice = takes(own.slice, other.slice);
  // Two axes can be shown: those in common.
  for (let axis = 0; axis < first && slice.filter((index) => index === null).length > 2; axis++) {
    slice[axis] ??= at[axis] ?? 0;
  }
  return { shape: own.shape, slice, at, windows: takes(own.windows, other.windows) };
}

/** Why two views cannot follow one another, or what of them does. */
export function linkText(one: readonly number[], other: readonly number[]): string {
  const text = (shape: readonly number[]): string => (shape.length === 0 ? "a single element" : shape.join("x"));
  const shared = sharedAxes(one, other);
  if (shared === 0 && one.length + other.length > 0) {
    return `${text(one)} and ${text(other)} have no last axis in common, so they cannot be linked`;
  }
  const isAll = shared === one.length && shared === other.length;
  return isAll ? "" : `only the last ${shared === 1 ? "axis" : `${shared} axes`} of both`;
}
