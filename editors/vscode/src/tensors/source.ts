// Where a view's tensor comes from: a stopped program, or a file. Both answer the same questions (`iree/tensor`), and never
// send a whole tensor.

import type * as vscode from "vscode";
import type { Answer, Executions, Moments, Other, Question, Subject } from "../../views/tensor/answers";
import type { Comparable, Origin } from "../../views/tensor/protocol";

export interface TensorSource {
  readonly title: string;
  /** What the page begins with. */
  origin(): Promise<Origin>;
  ask(question: Question): Promise<Answer>;
  /** Keeps the tensor as it is now, and lists what it was. */
  moments?(pin: boolean): Promise<Moments>;
  /** The tensor at the executions of its dispatch, from one on. */
  history?(from: number | undefined): Promise<Executions>;
  /** To before a command that has run. */
  goTo?(command: number): Promise<void>;
  /** What it can be compared with, besides files. */
  readonly comparisons: readonly Comparable[];
  /** What it is compared with from the beginning. */
  readonly comparedWith?: Other;
  /** Writes the tensor that a question names. */
  save(question: Subject, file: vscode.Uri): Promise<void>;
}

/** The most elements of a copy. */
const MOST_COPIED = 1 << 14;

/** A slice as an expression of NumPy's, with all digits. */
export async function numpyText(source: TensorSource, question: Question): Promise<string> {
  const answer = await source.ask({ ...question, measure: "a", texts: true, exact: true });
  const { texts = [], elementType, rows, columns, axes } = answer;
  if (rows * columns > MOST_COPIED) {
    throw new Error("The slice is too large for the clipboard; save it as .npy.");
  }
  return `np.array(${nested(texts, axes.length, columns)}, dtype=${dtype(elementType)})`;
}

/** The texts of a plane's elements in as many brackets as it has axes. */
export function nested(texts: readonly string[], axes: number, columns: number): string {
  const numbers = texts.map((text) => text.replace(/\bnan\b/gi, "np.nan").replace(/\binf\b/gi, "np.inf"));
  if (axes === 0) {
    return numbers[0] ?? "0";
  }
  if (axes === 1) {
    return `[${numbers.join(", ")}]`;
  }
  const rows = Array.from({ length: columns === 0 ? 0 : numbers.length / columns }, (_, row) => numbers.slice(row * columns, (row + 1) * columns));
  return `[${rows.map((row) => `[${row.join(", ")}]`).join(", ")}]`;
}

export function dtype(element: string): string {
  const read = /^([su]?i|f)(\d+)$/.exec(element);
  if (read === null || element === "i1") {
    return element === "i1" ? "bool" : "np.float32";
  }
  const kind = { i: "int", si: "int", ui: "uint", f: "float" }[read[1] ?? ""] ?? "float";
  // What NumPy cannot hold in its own type, such as i4, is in the next wider one.
  const bits = Math.max(8, Number(read[2]));
  return `np.${kind}${kind === "float" && bits < 16 ? 32 : bits}`;
}
