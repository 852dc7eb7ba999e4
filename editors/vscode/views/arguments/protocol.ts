// The messages between the form for arguments (`page.ts`) and the extension (`src/arguments/form.ts`).

/** What can be proposed for a tensor. */
export type Proposal = "zeros" | "random" | "browse";

export type FromPage =
  | { readonly kind: "ready" }
  | { readonly kind: "choose"; readonly name: string }
  | { readonly kind: "changed"; readonly index: number; readonly text: string }
  | { readonly kind: "propose"; readonly index: number; readonly what: Proposal; readonly text: string }
  | { readonly kind: "start"; readonly texts: readonly string[] }
  | { readonly kind: "cancel" };

/** An argument of the function. */
export interface Field {
  readonly name: string | null;
  readonly type: string;
  readonly value: string;
  /** What is wrong with the value; empty if nothing is. */
  readonly mistake: string;
  readonly isTensor: boolean;
  /** Whether its type is not known to the form. */
  readonly isOther: boolean;
}

/** The form of a function. */
export interface Form {
  readonly program: string;
  readonly signature: string;
  readonly name: string;
  /** All functions of the program. */
  readonly functions: readonly string[];
  /** What the form's button says. */
  readonly verb: "Run" | "Debug" | "Compare";
  readonly fields: readonly Field[];
}

export type ToPage =
  | ({ readonly kind: "show" } & Form)
  | { readonly kind: "checked"; readonly index: number; readonly mistake: string }
  | { readonly kind: "fill"; readonly index: number; readonly text: string }
  | { readonly kind: "focus"; readonly index: number }
  | { readonly kind: "failed"; readonly text: string };
