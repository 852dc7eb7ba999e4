// What the page of a tensor shows, and its questions. A tensor of any size costs the same: the page asks for the cells
// that the canvas can show.

import { connect } from "../host";
import type {
  Answer, Differences, Evaluated, Figures, Measure, Moment, Other, Question, Rectangle, Reduction, Statistics, Subject,
} from "./answers";
import type { Times } from "./extent";
import type { Format } from "./formats";
import type { Brightness } from "./levels";
import type { Comparable, FileTensor, FromPage, Requests, ToPage } from "./protocol";

export const { tell, hear } = connect<FromPage, ToPage>();

/** An index, or null (a shown axis) for each axis. */
export type Slice = readonly (number | null)[];
/** The visible rows or columns. */
export type Part = readonly [first: number, count: number];
export type Cursor = readonly [row: number, column: number];
export type Layout = "NHWC" | "NCHW";
export type View = "picture" | "image" | "table" | "time";

/** Where something is on a canvas. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Cells with their numbers. */
export interface Decoded {
  readonly height: number;
  readonly width: number;
  readonly reduction: Reduction;
  readonly values: Float32Array;
  readonly marks: Uint8Array | undefined;
}

/** The elements of the table, as text and as numbers. */
interface Texts {
  readonly texts: readonly string[];
  readonly window: Rectangle;
  readonly values: Decoded | undefined;
}

/** The figures along an axis, as far as they were computed. */
export interface Summary {
  readonly axis: number;
  readonly length: number;
  readonly rows: readonly Figures[];
  readonly isRunning: boolean;
  readonly error?: string;
}

/** The view that follows this one, and is followed. */
interface Link {
  readonly title: string;
  readonly isOn: boolean;
  /** The shape of its tensor, and its element at the cursor; undefined at first. */
  readonly shape: readonly number[] | undefined;
  readonly text: string | undefined;
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
  texts: Texts | undefined;
  figures: Statistics | undefined;
  error: string | undefined;
  log: boolean;
  clamp: boolean;
  reduction: Reduction;
  brightness: Brightness;
  /** How elements are written, and whether those of the table have their colours. */
  format: Format;
  colours: boolean;
  /** Where the selection of cells began; undefined: it is the cell at the cursor. */
  anchor: Cursor | undefined;
  summary: Summary | undefined;
  times: Times | undefined;
  /** Whether the figures are those of the slice only. */
  ofSlice: boolean;
  layout: Layout | undefined;
  link: Link | undefined;
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
  /** Whether it can be looked at over the executions of its dispatch. */
  hasHistory: boolean;
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
  log: false, clamp: true, reduction: "mean", brightness: "auto", format: "short", colours: true, anchor: undefined,
  summary: undefined, times: undefined, link: undefined, ofSlice: false, layout: undefined,
  comparisons: [], other: undefined, otherType: "", otherFigures: undefined, hasUlps: false, measure: "a",
  differences: undefined,
  hasMoments: false, hasHistory: false, moments: [], refused: null, moment: undefined,
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
  summary: nothing, times: nothing, links: nothing,
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
