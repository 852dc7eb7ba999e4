// What the page of a tensor shows, and its questions. A tensor of any size costs the same: the page asks for the cells
// that the canvas can show.

import { connect } from "../host";
import type {
  Answer, Differences, Evaluated, Measure, Moment, Other, Question, Rectangle, Reduction, Statistics, Subject,
} from "./answers";
import type { Comparable, FileTensor, FromPage, Requests, ToPage } from "./protocol";

export const { tell, hear } = connect<FromPage, ToPage>();

/** An index, or null (a shown axis) for each axis. */
export type Slice = readonly (number | null)[];
/** The visible rows or columns. */
export type Part = readonly [first: number, count: number];
export type Cursor = readonly [row: number, column: number];
export type Layout = "NHWC" | "NCHW";
export type View = "picture" | "image" | "table";

/** Cells with their numbers. */
export interface Decoded {
  readonly height: number;
  readonly width: number;
  readonly reduction: Reduction;
  readonly values: Float32Array;
  readonly marks: Uint8Array | undefined;
}

interface State {
  title: string;
  place: string;
  note: string;
  /** The expression of a tensor of a session, and the session. */
  expression: string | undefined;
  session: string | undefined;
  /** undefined: not known yet. */
  shape: readonly number[] | undefined;
  type: string;
  slice: Slice;
  view: View;
  rows: Part;
  columns: Part;
  cursor: Cursor;
  cells: Decoded | undefined;
  /** Those of the colours of an image. */
  channels: readonly Decoded[] | undefined;
  texts: { readonly texts: readonly string[]; readonly window: Rectangle } | undefined;
  figures: Statistics | undefined;
  error: string | undefined;
  log: boolean;
  clamp: boolean;
  reduction: Reduction;
  /** Whether the figures are those of the slice only. */
  ofSlice: boolean;
  layout: Layout | undefined;
  /** What it can be compared with; what it is compared with; and what is shown of both. */
  comparisons: readonly Comparable[];
  other: Other | undefined;
  otherType: string;
  otherFigures: Statistics | undefined;
  hasUlps: boolean;
  measure: Measure;
  differences: (Differences & { readonly evaluated: Evaluated | undefined }) | undefined;
  /** What it was at earlier stops, and the one that is shown; undefined: as it is now. */
  hasMoments: boolean;
  moments: readonly Moment[];
  refused: string | null;
  moment: number | undefined;
  /** The tensors of a file, which of them is shown, and its type if the file states none. */
  tensors: readonly FileTensor[] | undefined;
  name: string | undefined;
  declared: string | undefined;
}

export const state: State = {
  title: "", place: "", note: "", expression: undefined, session: undefined,
  shape: undefined, type: "", slice: [], view: "picture", rows: [0, 0], columns: [0, 0], cursor: [0, 0],
  cells: undefined, channels: undefined, texts: undefined, figures: undefined, error: undefined,
  log: false, clamp: true, reduction: "mean", ofSlice: false, layout: undefined,
  comparisons: [], other: undefined, otherType: "", otherFigures: undefined, hasUlps: false, measure: "a",
  differences: undefined,
  hasMoments: false, moments: [], refused: null, moment: undefined,
  tensors: undefined, name: undefined, declared: undefined,
};

/** Changes what is shown. */
export function set(change: Partial<State>): void {
  Object.assign(state, change);
}

const nothing = (): void => undefined;

/** What draws; `view.ts` fills it in. */
export const redraw = {
  page: nothing, picture: nothing, figures: nothing, place: nothing, slice: nothing, comparison: nothing,
};

/** The names of what is shown of two tensors. */
export const MEASURES: Readonly<Record<Measure, string>> = {
  a: "A", b: "B", difference: "|A−B|", relative: "relative", ulps: "ULP",
};

// ---- Questions ----

/** Which tensor a question is about. */
export function subject(): Subject {
  const { moment, name, declared } = state;
  return {
    ...(moment !== undefined && { moment }), ...(name !== undefined && { name }), ...(declared && { type: declared }),
  };
}

function compared(): Question {
  return state.other === undefined ? {} : { with: state.other.with, measure: state.measure };
}

/** What the page says that it shows. An answer that was asked for under other words must not stand under these. */
export const shown = (): string => JSON.stringify([subject(), compared()]);

/** Asks about the tensor, and about the one that it is compared with. */
export function ask(question: Question): Promise<Answer> {
  return request("ask", { question: { ...subject(), ...compared(), ...question } });
}

let lastId = 0;

interface Waiting {
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The requests without an answer. */
const waiting = new Map<number, Waiting>();

/** Asks the extension. */
export async function request<Kind extends keyof Requests>(
  kind: Kind, asks: Requests[Kind]["asks"],
): Promise<Requests[Kind]["gets"]> {
  const id = ++lastId;
  const answer = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
  tell({ kind, id, ...asks } as FromPage);
  // The extension answers a request by what its kind gets.
  return (await answer) as Requests[Kind]["gets"];
}

export function takeAnswer(message: Extract<ToPage, { readonly kind: "answer" }>): void {
  const waits = waiting.get(message.id);
  waiting.delete(message.id);
  if ("error" in message) {
    waits?.reject(new Error(message.error));
  } else {
    waits?.resolve(message.body);
  }
}

// ---- Texts ----

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A number in six digits. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) {
    return "–";
  }
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e6 || size < 1e-4) ? value.toExponential(3) : String(Number(value.toPrecision(6)));
}
