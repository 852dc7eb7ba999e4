// What is shown, and the questions about it (`iree/tensor`). A tensor of any size costs the same: the page asks for the
// cells that the canvas can show.

export const code = acquireVsCodeApi();

/** What is shown. `slice` has an index or null (a shown axis) for each axis. */
export const state = {
  title: "", place: "", note: "",
  /** The expression of a tensor of a session, and the session. */
  expression: undefined, session: undefined,
  shape: undefined, type: "", element: "",
  slice: [], view: "picture",
  /** The visible rows and columns: [first, count]. */
  rows: [0, 0], columns: [0, 0],
  cursor: [0, 0],
  cells: undefined, figures: undefined, error: undefined,
  log: false, clamp: true, reduction: "mean", layout: undefined,
  /** What it can be compared with; what it is compared with ({ with, label }); and what is shown of both. */
  comparisons: [], other: undefined, otherType: "", hasUlps: false, measure: "a",
  /** What it was at earlier stops, and the one that is shown; undefined: as it is now. */
  hasMoments: false, moments: [], refused: undefined, moment: undefined,
  /** The tensors of a file, which of them is shown, and its type if the file states none. */
  tensors: undefined, name: undefined, declared: undefined,
};

/** What draws; `view.js` fills it in. */
export const redraw = { page() {}, picture() {}, figures() {}, place() {}, slice() {}, comparison() {} };

/** The names of what is shown of two tensors. */
export const MEASURES = { a: "A", b: "B", difference: "|A−B|", relative: "relative", ulps: "ULP" };

let lastId = 0;
/** The questions without an answer. */
export const waiting = new Map();

/** Which tensor a question is about. */
export function subject() {
  const { moment, name, declared } = state;
  return { ...(moment !== undefined && { moment }), ...(name !== undefined && { name }), ...(declared && { type: declared }) };
}

function compared() {
  return state.other === undefined ? {} : { with: state.other.with, measure: state.measure };
}

/** What the page says that it shows. An answer that was asked for under other words must not stand under these. */
export const shown = () => JSON.stringify([subject(), compared()]);

/** Asks about the tensor, and about the one that it is compared with. */
export function ask(question) {
  return request("ask", { question: { ...subject(), ...compared(), ...question } });
}

/** Asks the extension. */
export function request(kind, message) {
  const id = ++lastId;
  code.postMessage({ kind, id, ...message });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

export const sliceText = (slice = state.slice) => `[${slice.map((index) => (index === null ? ":" : index)).join(", ")}]`;
export const shownAxes = () => state.slice.flatMap((index, axis) => (index === null ? [axis] : []));
export const planeSize = () => {
  const sizes = shownAxes().map((axis) => state.shape[axis]);
  return sizes.length === 2 ? sizes : sizes.length === 1 ? [1, sizes[0]] : [1, 1];
};
export const isLine = () => planeSize()[0] === 1 && state.shape.length > 0;
export const isImage = () => state.view === "image" && state.layout !== undefined;
export const windowNow = () => ({ row: state.rows[0], rows: state.rows[1], column: state.columns[0], columns: state.columns[1] });

export function decode({ height, width, values, marks, reduction }) {
  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return { height, width, reduction, values: new Float32Array(bytes(values).buffer), marks: marks ? bytes(marks) : undefined };
}

/** The indices of the element at a row and a column of the shown plane. */
export function indicesOf([row, column]) {
  const axes = shownAxes();
  const at = axes.length === 2 ? [row, column] : [column];
  return state.slice.map((index, axis) => index ?? at[axes.indexOf(axis)]);
}

/** The indices of the element at the cursor. */
export const indices = () => indicesOf(state.cursor);

/** An element as an expression of the session; undefined where it is none: in a file, at an earlier stop, after the end. */
export function elementAt(at = indices()) {
  const { expression, session, moment } = state;
  if (expression === undefined || session === undefined || moment !== undefined) {
    return undefined;
  }
  const isName = /^[%@]?("[^"]*"|[\w$.]+)(\[[^\]]*\])?$/.test(expression);
  const whole = isName ? expression : `(${expression})`;
  return { expression: at.length === 0 ? whole : `${whole}${sliceText(at)}`, session };
}

/** What VS Code passes to commands of the menu over an element. */
export function elementMenu(at) {
  const element = elementAt(at);
  return element && JSON.stringify({ webviewSection: "element", preventDefaultContextMenuItems: true, ...element });
}

/** The layout of a tensor that may be an image: the axis of its channels, rows and columns. */
export function layoutOf(shape) {
  const rank = shape.length;
  const isChannels = (axis) => axis >= 0 && (shape[axis] === 3 || shape[axis] === 4 || shape[axis] === 1);
  if (rank < 3) {
    return undefined;
  }
  return isChannels(rank - 1) ? "NHWC" : isChannels(rank - 3) ? "NCHW" : undefined;
}

export function channels() {
  const rank = state.shape.length;
  const axis = state.layout === "NHWC" ? rank - 1 : rank - 3;
  const outer = state.slice.map((index, at) => (at < rank - 3 ? index ?? 0 : null));
  const count = Math.min(state.shape[axis], 3);
  return Array.from({ length: count === 2 ? 1 : count }, (_, channel) => outer.map((index, at) => (at === axis ? channel : index)));
}

export function tableWindow() {
  const [rows, columns] = planeSize();
  const part = (at, size, most) => {
    const count = Math.min(size, most);
    return [Math.max(0, Math.min(size - count, at - Math.floor(count / 2))), count];
  };
  const [row, height] = part(state.cursor[0], rows, 40);
  const [column, width] = part(state.cursor[1], columns, 16);
  return { row, rows: height, column, columns: width };
}

/** `[3, :, :, 0]`: an index or a colon for each axis, and at most two colons. */
export function readSlice(text) {
  const parts = text.trim().replace(/^\[|\]$/g, "").split(",").map((part) => part.trim()).filter((part) => part !== "");
  const slice = state.shape.map((size, axis) => {
    const part = parts[axis] ?? ":";
    const index = Number(part) < 0 ? Number(part) + size : Number(part);
    return part === ":" ? null : Number.isInteger(index) && index >= 0 && index < size ? index : undefined;
  });
  const isWrong = parts.length > state.shape.length || slice.includes(undefined) || slice.filter((index) => index === null).length > 2;
  return isWrong ? undefined : slice;
}

export function stageSize() {
  const stage = document.getElementById("stage");
  return stage === null ? { width: 256, height: 256 } : { width: Math.floor(stage.clientWidth), height: Math.floor(stage.clientHeight) };
}

export const short = (value) => {
  if (value === null || value === undefined) {
    return "–";
  }
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e6 || size < 1e-4) ? value.toExponential(3) : String(Number(value.toPrecision(6)));
};
