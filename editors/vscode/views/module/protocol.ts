// The messages between the page of a module (`page.ts`) and the extension (`src/module/editor.ts`).

import type { Graph, Overview, Profile, RunMap } from "./answers";

export type Tab = "overview" | "graph";

/** What a session of the module does. */
export type SessionState = "begun" | "running" | "stopped" | "ended";

export type FromPage =
  | { readonly kind: "ready" }
  | { readonly kind: "graph" }
  | { readonly kind: "disassembly" }
  | { readonly kind: "start"; readonly name: string; readonly noDebug: boolean }
  | { readonly kind: "abi"; readonly name: string }
  | { readonly kind: "source"; readonly file: string; readonly line: number; readonly keepFocus: boolean }
  | { readonly kind: "break"; readonly file: string; readonly line: number }
  | { readonly kind: "tensor"; readonly expression: string }
  | { readonly kind: "goTo"; readonly command: number }
  | { readonly kind: "profile" }
  | { readonly kind: "visible"; readonly runs: boolean };

/** An answer of the language server, or why there is none. */
type Answer<Name extends string, Content> = { readonly [name in Name]: Content } | { readonly error: string };

export type ToPage =
  | ({ readonly kind: "overview"; readonly file: string } & Answer<"overview", Overview>)
  | ({ readonly kind: "graph" } & Answer<"graph", Graph>)
  | { readonly kind: "tab"; readonly tab: Tab }
  | RunsMessage
  | { readonly kind: "profile"; readonly file: string; readonly profile: Profile };

/** What is told of a session. */
export type RunsMessage =
  | { readonly kind: "session"; readonly state: SessionState }
  | { readonly kind: "runs"; readonly runs: RunMap };
