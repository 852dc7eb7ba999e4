// Axes and slices: which part of the tensor is shown, and which element is at the cursor.

import type { Rectangle } from "./answers";
import type { Element } from "./protocol";
import { type Cursor, type Layout, set, type Slice, state } from "./state";

/** The sizes of the axes; none while they are not known. */
export const sizes = (): readonly number[] => state.shape ?? [];

export const sliceText = (slice: Slice = state.slice): string =>
  `[${slice.map((index) => (index === null ? ":" : index)).join(", ")}]`;

export const shownAxes = (): number[] => state.slice.flatMap((index, axis) => (index === null ? [axis] : []));

/** The rows and columns of the shown part. */
export function planeSize(): readonly [rows: number, columns: number] {
  const [first, second] = shownAxes().map((axis) => sizes()[axis] ?? 1);
  if (first === undefined) {
    return [1, 1];
  }
  return second === undefined ? [1, first] : [first, second];
}

export const isLine = (): boolean => planeSize()[0] === 1 && sizes().length > 0;
export const isImage = (): boolean => state.view === "image" && state.layout !== undefined;

export const windowNow = (): Rectangle => ({
  row: state.rows[0], rows: state.rows[1], column: state.columns[0], columns: state.columns[1],
});

/** Moves the window to the whole plane, and the cursor into it. */
export function showAll(): void {
  const [rows, columns] = planeSize();
  const [row, column] = state.cursor;
  set({ rows: [0, rows], columns: [0, columns], cursor: [Math.min(row, rows - 1), Math.min(column, columns - 1)] });
}

/** The indices of the element at a row and a column of the shown plane. */
export function indicesOf([row, column]: Cursor): number[] {
  const axes = shownAxes();
  const at = axes.length === 2 ? [row, column] : [column];
  return state.slice.map((index, axis) => index ?? at[axes.indexOf(axis)] ?? 0);
}

/** The indices of the element at the cursor. */
export const indices = (): number[] => indicesOf(state.cursor);

/** An element as an expression; undefined where it is none: in a file, at an earlier stop, after the session. */
export function elementAt(at: readonly number[] = indices()): Element | undefined {
  const { expression, session, moment } = state;
  if (expression === undefined || session === undefined || moment !== undefined) {
    return undefined;
  }
  const isName = /^[%@]?("[^"]*"|[\w$.]+)(\[[^\]]*\])?$/.test(expression);
  const whole = isName ? expression : `(${expression})`;
  return { expression: at.length === 0 ? whole : `${whole}${sliceText(at)}`, session };
}

/** What VS Code passes to commands of the menu over an element. */
export function elementMenu(at?: readonly number[]): string | undefined {
  const element = elementAt(at);
  return element && JSON.stringify({ webviewSection: "element", preventDefaultContextMenuItems: true, ...element });
}

/** The layout of a tensor that may be an image: the axis of its channels, rows and columns. */
export function layoutOf(shape: readonly number[]): Layout | undefined {
  const isChannels = (size: number | undefined): boolean => size === 3 || size === 4 || size === 1;
  if (shape.length < 3) {
    return undefined;
  }
  return isChannels(shape.at(-1)) ? "NHWC" : isChannels(shape.at(-3)) ? "NCHW" : undefined;
}

/** The slices of an image's colours. */
export function channels(): Slice[] {
  const rank = sizes().length;
  const axis = state.layout === "NHWC" ? rank - 1 : rank - 3;
  const outer = state.slice.map((index, at) => (at < rank - 3 ? (index ?? 0) : null));
  const count = Math.min(sizes()[axis] ?? 1, 3);
  return Array.from({ length: count === 2 ? 1 : count }, (_, channel) =>
    outer.map((index, at) => (at === axis ? channel : index)));
}

/** The numbers of a table: those around the cursor. */
export function tableWindow(): Rectangle {
  const before = state.texts?.window;
  const part = (at: number, size: number, most: number, first?: number): [number, number] => {
    const count = Math.min(size, most);
    // It stays while the cursor is in it, so that cells do not move under the pointer.
    if (first !== undefined && first + count <= size && at >= first && at < first + count) {
      return [first, count];
    }
    return [Math.max(0, Math.min(size - count, at - Math.floor(count / 2))), count];
  };
  const [height, width] = planeSize();
  const [row, rows] = part(state.cursor[0], height, 40, before?.row);
  const [column, columns] = part(state.cursor[1], width, 16, before?.column);
  return { row, rows, column, columns };
}

/** `[3, :, :, 0]`: an index or a colon for each axis, and at most two colons; undefined if it is none. */
export function readSlice(text: string): Slice | undefined {
  const bare = text.trim().replace(/^\[|\]$/g, "");
  const parts = bare.split(",").map((part) => part.trim()).filter((part) => part !== "");
  const slice = sizes().map((size, axis) => {
    const part = parts[axis] ?? ":";
    const index = Number(part) < 0 ? Number(part) + size : Number(part);
    return part === ":" ? null : Number.isInteger(index) && index >= 0 && index < size ? index : undefined;
  });
  const isPlane = slice.filter((index) => index === null).length <= 2;
  const known = slice.filter((index) => index !== undefined);
  return parts.length <= sizes().length && known.length === slice.length && isPlane ? known : undefined;
}
