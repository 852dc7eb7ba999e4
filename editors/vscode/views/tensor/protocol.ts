// The messages between the page of a tensor (`page.ts`) and the extension (`src/tensors/page.ts`).

import type { Answer, Moments, Other, Question, Subject } from "./answers";

/** What a tensor can be compared with, besides files. */
export type Comparable = "expression" | "twin" | "reference" | "tensor";

/** A tensor of a file. */
export interface FileTensor {
  readonly name: string;
  /** null: the file states no type. */
  readonly type: string | null;
  readonly bytes: number;
}

/** Where a tensor comes from: a file, or a stopped program. */
export type Origin =
  | { readonly tensors: readonly FileTensor[] }
  | { readonly place: string; readonly expression?: string; readonly session: string };

/** An element, as an expression of a session. */
export interface Element {
  readonly expression: string;
  readonly session: string;
}

/** What the page asks the extension for, and what it gets. */
export interface Requests {
  readonly ask: { readonly asks: { readonly question: Question }; readonly gets: Answer };
  readonly moments: { readonly asks: { readonly pin: boolean }; readonly gets: Moments };
  /** undefined: the user has changed their mind. */
  readonly choose: { readonly asks: { readonly what: "expression" | "file" }; readonly gets: Other | undefined };
}

/** A request has a number, which its answer has, too. */
type RequestMessage = {
  [Kind in keyof Requests]: { readonly kind: Kind; readonly id: number } & Requests[Kind]["asks"];
}[keyof Requests];

export type FromPage =
  | RequestMessage
  | { readonly kind: "ready" }
  | { readonly kind: "save"; readonly question: Subject; readonly name: string }
  | { readonly kind: "copy"; readonly question: Question }
  | { readonly kind: "whoWrote"; readonly element: Element };

export type ToPage =
  | ({ readonly kind: "show" } & Shown)
  | { readonly kind: "failed"; readonly title: string; readonly error: string }
  | { readonly kind: "answer"; readonly id: number; readonly body: unknown }
  | { readonly kind: "answer"; readonly id: number; readonly error: string }
  | SessionMessage;

/** What the page begins with. */
export interface Shown {
  readonly title: string;
  readonly origin: Origin;
  /** Whether what it was at earlier stops is kept. */
  readonly hasMoments: boolean;
  readonly comparisons: readonly Comparable[];
}

/** What is told of the session that a tensor is of. */
export type SessionMessage =
  | { readonly kind: "stopped"; readonly place: string }
  | { readonly kind: "running" }
  | { readonly kind: "ended" };
