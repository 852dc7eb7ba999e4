// What is asked about a tensor, and what is answered: by the debug adapter (`iree/tensor`, `iree/tensorMoments`), and
// by `iree-dbg view --questions` about a file. The hovers of the extension ask, too.

/** Which of several tensors: one of an earlier stop, or one of a file. */
export interface Subject {
  /** The number of a moment. */
  readonly moment?: number;
  /** Its name in the file, and its type if the file states none. */
  readonly name?: string;
  readonly type?: string;
}

/** A tensor to compare with, as a question names it, and in words. */
export interface Other {
  readonly with: Subject & {
    readonly expression?: string;
    readonly file?: string;
    /** The same tensor as the bytecode of its dispatch has left it, or as its text says, in float64. */
    readonly twin?: true;
    readonly reference?: true;
  };
  readonly label: string;
}

/** What is shown of two tensors: one of them, or a distance. */
export type Measure = "a" | "b" | "difference" | "relative" | "ulps";

/** What a cell that covers several elements shows. */
export type Reduction = "mean" | "extreme" | "first";

/** What can be searched for. */
export type Sought = "nan" | "infinity" | "different";

/** A rectangle of the shown plane. */
export interface Rectangle {
  readonly row: number;
  readonly rows: number;
  readonly column: number;
  readonly columns: number;
}

export interface Question extends Subject {
  readonly with?: Other["with"];
  readonly measure?: Measure;
  /** The part that is shown, as NumPy writes it. */
  readonly slice?: string;
  readonly window?: Rectangle;
  /** The cells that the window becomes. */
  readonly cells?: { readonly height: number; readonly width: number; readonly reduction: Reduction };
  /** Whether the texts of the window's elements are asked for, and whether with all digits. */
  readonly texts?: boolean;
  readonly exact?: boolean;
  /** Whether the texts are the bits of the elements, in hexadecimal. */
  readonly bits?: boolean;
  /** Asks for figures, with a histogram of so many bins; whether of the slice only. */
  readonly statistics?: number;
  readonly ofSlice?: boolean;
  /** Asks for figures at each index of an axis, from one on: the answer has as many as it can. */
  readonly along?: { readonly axis: number; readonly from: number };
  readonly find?: { readonly what: Sought; readonly after: readonly number[] };
}

/** The answer has what the question has asked for. */
export interface Answer {
  readonly type: string;
  readonly elementType: string;
  readonly shape: readonly number[];
  readonly slice: string;
  readonly axes: readonly number[];
  readonly rows: number;
  readonly columns: number;
  /** Of the tensor that it was compared with. */
  readonly other?: { readonly type: string; readonly hasUlps: boolean };
  readonly cells?: Cells;
  readonly texts?: readonly string[];
  readonly statistics?: Statistics;
  readonly differences?: Differences;
  readonly evaluated?: Evaluated;
  readonly along?: Along;
  /** The indices of an element; null if there is none. */
  readonly found?: readonly number[] | null;
}

export interface Cells {
  readonly height: number;
  readonly width: number;
  readonly reduction: Reduction;
  /** Floats of 32 bits, in Base64. */
  readonly values: string;
  /** For each cell, whether it has NaN (1), infinity (2), negative infinity (4); in Base64. */
  readonly marks: string | null;
}

export interface Statistics {
  readonly count: number;
  readonly nans: number;
  readonly positiveInfinities: number;
  readonly negativeInfinities: number;
  readonly zeros: number;
  readonly minimum: Extreme | null;
  readonly maximum: Extreme | null;
  readonly mean: number | null;
  readonly deviation: number | null;
  readonly quantiles: readonly { readonly at: number; readonly value: number }[] | null;
  readonly histogram: readonly number[];
}

export interface Extreme {
  readonly value: number;
  readonly text: string;
  readonly index: readonly number[];
}

/** Figures without a distribution. A text is an integer that no number of JSON is exactly. */
export interface Figures {
  readonly count: number;
  readonly nans: number;
  readonly positiveInfinities: number;
  readonly negativeInfinities: number;
  readonly minimum: number | string | null;
  readonly maximum: number | string | null;
  readonly mean: number | null;
  readonly deviation: number | null;
}

/** Figures at some indices of an axis. */
export interface Along {
  readonly axis: number;
  readonly from: number;
  /** How many indices the axis has. */
  readonly length: number;
  readonly rows: readonly Figures[];
}

/** How two tensors differ. What is no finite number is a text. */
export interface Differences {
  readonly different: number;
  /** Pairs of which one is NaN. */
  readonly nans: number;
  readonly mean: number | string;
  readonly rootMeanSquare: number | string;
  readonly worst: Pair | null;
  readonly worstRelative: Pair | null;
  readonly worstUlps: Pair | null;
}

export interface Pair {
  readonly index: readonly number[];
  readonly a: string;
  readonly b: string;
  readonly difference: number | string;
  readonly relative: number | string;
  readonly ulps: number | null;
}

/** How far a tensor is from what its dispatch should have left. */
export interface Evaluated {
  readonly count: number;
  /** Of how many elements the bound is known, and how many are beyond it. */
  readonly known: number;
  readonly beyond: number;
  /** The first of these. */
  readonly first: readonly number[] | null;
  readonly reason: string;
}

/** What a tensor was at an earlier stop. */
export interface Moment {
  readonly moment: number;
  readonly place: string;
  readonly repeated: number;
  readonly isPinned: boolean;
  readonly type: string;
}

export interface Moments {
  readonly moments: readonly Moment[];
  /** Why this stop was not kept. */
  readonly refused: string | null;
}

/** The tensor each time that its dispatch has run, up to where the program stands (`iree/tensorHistory`). */
export interface Executions {
  readonly dispatch: string;
  /** Whether the dispatch leaves the tensor; else it is the first that reads it. */
  readonly isLeft: boolean;
  /** How many executions are remembered, and how many were too long ago. */
  readonly total: number;
  readonly forgotten: number;
  /** How many commands have run. */
  readonly ran: number;
  readonly isRecorded: boolean;
  readonly from: number;
  readonly executions: readonly Execution[];
}

/** An execution by the number of its command; or why the figures are not known. */
export type Execution =
  | { readonly command: number; readonly figures: Figures }
  | { readonly command: number; readonly lost: string };
