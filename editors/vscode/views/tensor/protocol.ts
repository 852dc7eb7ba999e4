// The messages between the page of a tensor (`page.ts`) and the extension (`src/tensors/page.ts`).

import type { Answer, Executions, Moments, Other, Question, Subject } from "./answers";
import type { Position } from "./link";

/** What a tensor can be compared with, besides files. */
export type Comparable = "expression" | "twin" | "reference" | "tensor";

/** A tensor of a file. */
export interface FileTensor {
  readonly name: string;
  /** null: the file states no type. */
  readonly type: string | null;
  readonly bytes: number;
  /** The line of a source that writes it, from 1. */
  readonly line: number | null;
}

/** Where a tensor comes from: a file, or a stopped program. */
export type Origin =
  | { readonly tensors: readonly FileTensor[]; readonly first?: string }
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
  /** From one execution on; without it they are counted. */
  readonly history: { readonly asks: { readonly from?: number }; readonly gets: Executions };
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
  /** The user wants to see another tensor beside this one, linked. */
  | { readonly kind: "link" }
  /** What the linked view is told: where this one is, and its element at the cursor. */
  | { readonly kind: "moved"; readonly at: Position }
  | { readonly kind: "pointed"; readonly text: string }
  /** Whether both follow one another. */
  | { readonly kind: "following"; readonly isOn: boolean }
  | { readonly kind: "copyText"; readonly text: string; readonly what: string }
  /** What the user is told that the page has not done. */
  | { readonly kind: "refused"; readonly text: string }
  /** To before a command of the recorded run. */
  | { readonly kind: "goTo"; readonly command: number }
  | { readonly kind: "whoWrote"; readonly element: Element };

export type ToPage =
  | ({ readonly kind: "show" } & Shown)
  | { readonly kind: "failed"; readonly title: string; readonly error: string }
  | { readonly kind: "answer"; readonly id: number; readonly body: unknown }
  | { readonly kind: "answer"; readonly id: number; readonly error: string }
  /** The view that is linked with this one; null: none. */
  | { readonly kind: "linked"; readonly title: string | null }
  | { readonly kind: "follow"; readonly at: Position }
  | { readonly kind: "otherPointed"; readonly text: string }
  | { readonly kind: "following"; readonly isOn: boolean }
  | SessionMessage;

/** What the page begins with. */
export interface Shown {
  readonly title: string;
  readonly origin: Origin;
  /** Whether what it was at earlier stops is kept. */
  readonly hasMoments: boolean;
  /** Whether it can be looked at over the executions of its dispatch. */
  readonly hasHistory: boolean;
  readonly comparisons: readonly Comparable[];
  /** What it is compared with from the beginning. */
  readonly comparedWith?: Other;
}

/** What is told of the session that a tensor is of. */
export type SessionMessage =
  | { readonly kind: "stopped"; readonly place: string }
  | { readonly kind: "running" }
  | { readonly kind: "ended" };
