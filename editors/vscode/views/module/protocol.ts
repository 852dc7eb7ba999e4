// The messages between the page of a module (`page.ts`) and the extension (`src/module/editor.ts`).

import type { Graph, Overview, Profile, RunMap } from "./answers";
import type { Report } from "./report";

export type Tab = "overview" | "graph";

/** What a session of the module does. */
export type SessionState = "begun" | "running" | "stopped" | "ended";

export type FromPage =
  | { readonly kind: "ready" }
  | ({ readonly kind: "graph" } & GraphView)
  | { readonly kind: "disassembly" }
  | { readonly kind: "start"; readonly name: string; readonly noDebug: boolean }
  | { readonly kind: "abi"; readonly name: string }
  | { readonly kind: "source"; readonly file: string; readonly line: number; readonly keepFocus: boolean }
  | { readonly kind: "break"; readonly file: string; readonly line: number }
  | {
      readonly kind: "runTo"; readonly id: string; readonly function: string;
      /** Where the box is in the source. */
      readonly file?: string; readonly line?: number;
    }
  | { readonly kind: "svg"; readonly name: string; readonly text: string }
  | { readonly kind: "tensor"; readonly expression: string }
  | { readonly kind: "constant"; readonly name: string }
  | { readonly kind: "goTo"; readonly command: number }
  | { readonly kind: "profile" }
  | { readonly kind: "compareTensors"; readonly name: string; readonly a: string; readonly b: string }
  | { readonly kind: "compareAgain" }
  | { readonly kind: "stopComparing" }
  | { readonly kind: "visible"; readonly runs: boolean };

/** What of a graph is to be seen; without it, what can be read. */
export interface GraphView {
  /** The groups that are open. */
  readonly open?: "all" | readonly string[] | undefined;
  /** Whether constants, parameters and globals have boxes; the extension remembers it. */
  readonly weights?: boolean | undefined;
}

/** A breakpoint on a line. */
export interface LineBreakpoint {
  readonly path: string;
  readonly line: number;
}

/** An answer of the language server, or why there is none. */
type Answer<Name extends string, Content> = { readonly [name in Name]: Content } | { readonly error: string };

export type ToPage =
  | ({ readonly kind: "overview"; readonly file: string } & Answer<"overview", Overview>)
  | ({ readonly kind: "graph" } & Answer<"graph", Graph>)
  | { readonly kind: "tab"; readonly tab: Tab }
  /** The breakpoints, and the paths of the files that the graph names. */
  | {
    readonly kind: "breakpoints"; readonly at: readonly LineBreakpoint[];
    readonly paths: Readonly<Record<string, string>>;
  }
  | RunsMessage
  | { readonly kind: "profile"; readonly file: string; readonly profile: Profile }
  | ComparisonMessage;

/** A comparison of the module, to lie over its graph; undefined: none any more. */
export interface ComparisonMessage {
  readonly kind: "comparison";
  readonly comparison: Comparison | undefined;
}

export interface Comparison {
  readonly report: Report;
  /** What side B is, in words. */
  readonly other: string;
  /** Whether the module is another one since. */
  readonly isStale: boolean;
}

/** What is told of a session. */
export type RunsMessage =
  | { readonly kind: "session"; readonly state: SessionState }
  | { readonly kind: "runs"; readonly runs: RunMap };
