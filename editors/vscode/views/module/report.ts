// What `iree-dbg diff --json` says (`runtime/cli/schemas/diff.schema.json`), as far as the graph shows it.

export type Verdict = "equal" | "within" | "not_compared" | "differs";

export interface Report {
  readonly schema_version: number;
  readonly verdict: Verdict;
  readonly function: string;
  /** What each side is. */
  readonly sides: readonly [a: string, b: string];
  readonly dispatches: readonly DispatchReport[];
  readonly results: readonly TensorReport[];
  /** The programs' own tensors that differ, as weights, each with the command that reads it first. */
  readonly own: readonly { readonly reader: number; readonly tensor: TensorReport }[];
  readonly failures: readonly { readonly side: string; readonly message: string }[];
  readonly notes: readonly string[];
}

/** One run of a dispatch. */
export interface DispatchReport {
  /** The number of its command on side A. */
  readonly number: number;
  readonly name: string;
  /** Its name on side B, if that is another one. */
  readonly name_b: string | null;
  /** The identity of its box; null: it is not certain which one that is. */
  readonly node: string | null;
  readonly verdict: Verdict;
  /** Why it, or a part of it, was not compared. */
  readonly reason: string | null;
  readonly tensors: readonly TensorReport[];
  /** What it reads of the programs' own that differs already. */
  readonly inputs: readonly TensorReport[];
  /** What it was compared with, where that is not side B. */
  readonly compared_with: string | null;
  readonly judged: { readonly sentence: string } | null;
}

export interface TensorReport {
  readonly names: readonly string[];
  readonly type: string;
  readonly verdict: Verdict;
  readonly reason: string | null;
  readonly tolerance: { readonly absolute: number | null; readonly relative: number; readonly reason: string } | null;
  readonly differences: Differences | null;
  readonly kept: Kept | null;
}

/** Numbers that JSON has no notation for are null: NaN and infinities. */
export interface Differences {
  readonly elements: number;
  readonly different: number;
  /** How many are apart by more than what is allowed. */
  readonly beyond: number;
  readonly nan_on_one_side: number;
  readonly infinite_on_one_side: number;
  /** The element that is farthest beyond what is allowed. */
  readonly worst: {
    readonly index: readonly number[];
    readonly a: string;
    readonly b: string;
    readonly difference: number | null;
    readonly ulps: number | null;
    readonly allowed: number | null;
  };
  readonly largest: { readonly absolute: Far; readonly relative: Far; readonly ulps: Far | null };
  readonly pattern: string | null;
}

/** How far an element of both sides is apart. */
export interface Far {
  readonly index: readonly number[];
  readonly value: number | null;
}

/** The files of both sides, or why there are none. */
export type Kept = { readonly a: string; readonly b: string } | { readonly left_out: string };
