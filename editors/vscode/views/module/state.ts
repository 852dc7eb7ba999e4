// What the page of a module knows and shows.

import { connect } from "../host";
import type { Graph, GraphFunction, Overview, Profile, RunMap } from "./answers";
import type { Comparison, FromPage, LineBreakpoint, SessionState, Tab, ToPage } from "./protocol";

export const { tell, hear } = connect<FromPage, ToPage>();

interface State {
  tab: Tab;
  file: string;
  overview: Overview | undefined;
  /** Why there is no overview. */
  error: string | undefined;
  graph: Graph | undefined;
  graphError: string | undefined;
  /** Whether the extension was asked for the graph. */
  isGraphAsked: boolean;
  /** The function that is shown, by its index in the graph. */
  function: number;
  /** Where the graph is on its canvas; and whether it was put there once. */
  scale: number;
  x: number;
  y: number;
  isFitted: boolean;
  /** Whether it was shown where the program stands, in this session. */
  hasOpened: boolean;
  /** The selected box, and those that the search has found, by their indices. */
  selected: number | undefined;
  hits: readonly number[];
  runs: RunMap | undefined;
  session: SessionState | undefined;
  /** The breakpoints of VS Code, and the paths of the files that the graph names. */
  breakpoints: readonly LineBreakpoint[];
  paths: Readonly<Record<string, string>>;
  profile: { readonly times: Profile; readonly file: string } | undefined;
  /** What the colours of the boxes tell. */
  colour: "state" | "time" | "cost" | "difference";
  comparison: Comparison | undefined;
  /** The part of the time line that is shown, in nanoseconds; undefined: all of it. */
  time: Span | undefined;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

export const state: State = {
  tab: "overview", file: "", overview: undefined, error: undefined,
  graph: undefined, graphError: undefined, isGraphAsked: false, function: 0,
  scale: 1, x: 0, y: 0, isFitted: false, hasOpened: false, selected: undefined, hits: [],
  runs: undefined, session: undefined, breakpoints: [], paths: {}, profile: undefined, colour: "state",
  comparison: undefined, time: undefined,
};

/** The function whose graph is shown. */
export const shown = (): GraphFunction | undefined => state.graph?.functions[state.function];
