// What a comparison says of a box of the graph, and its words. A box stands for all runs of its dispatch, and shows the
// worst of them. What was not compared is never equal.

import type { GraphFunction } from "./answers";
import type { DispatchReport, Far, Report, TensorReport, Verdict } from "./report";

/** What a comparison says of a box. */
export interface Compared {
  readonly verdict: Verdict;
  /** Whether a side has NaN or an infinity where the other has not. */
  readonly isOdd: boolean;
  /** The most floats between two elements; undefined if that is not known, or if they are no floats. */
  readonly ulps: number | undefined;
  /** The runs of its dispatch, in their order; empty if it is not in the report. */
  readonly runs: readonly DispatchReport[];
  /** Of a group, the verdicts of its dispatches. */
  readonly members?: readonly Verdict[];
}

/** What a comparison says of a box that is not in its report. */
export const NOTHING: Compared = { verdict: "not_compared", isOdd: false, ulps: undefined, runs: [] };

/** From the least to the greatest weight. */
const WEIGHTS: readonly Verdict[] = ["equal", "within", "not_compared", "differs"];

/** The boxes of a report by their identities. Runs whose box is not certain have none. */
export function comparedBoxes(report: Report): Map<string, Compared> {
  const runs = new Map<string, DispatchReport[]>();
  for (const run of report.dispatches) {
    if (run.node !== null) {
      const list = runs.get(run.node) ?? [];
      list.push(run);
      runs.set(run.node, list);
    }
  }
  return new Map(Array.from(runs, ([node, list]) => [node, comparedOfRuns(list)]));
}

function comparedOfRuns(runs: readonly DispatchReport[]): Compared {
  const verdict = worstOf(runs.map((it) => it.verdict));
  const figures = runs.flatMap(({ tensors }) => tensors.flatMap(({ differences }) => differences ?? []));
  const isOdd = figures.some((it) => it.nan_on_one_side + it.infinite_on_one_side > 0);
  const ulps = figures.flatMap(({ largest }) => largest.ulps ?? []);
  const isKnown = ulps.length > 0 && ulps.every(({ value }) => value !== null);
  return { verdict, isOdd, ulps: isKnown ? Math.max(...ulps.map(({ value }) => value ?? 0)) : undefined, runs };
}

/** The dispatches of a graph and the groups of them, by their identities. A group has the worst of what is in it. */
export function boxesOf(
  functions: readonly Pick<GraphFunction, "nodes">[], known: ReadonlyMap<string, Compared>,
): Map<string, Compared> {
  const boxes = new Map<string, Compared>();
  for (const { nodes } of functions) {
    const inside: Compared[][] = nodes.map(() => []);
    const into = (group: number | undefined, all: readonly Compared[]): void => {
      if (group !== undefined) {
        all.forEach((it) => inside[group]?.push(it));
      }
    };
    for (const { id, group } of nodes.filter(({ kind }) => kind === "dispatch")) {
      const own = known.get(id) ?? NOTHING;
      boxes.set(id, own);
      into(group, [own]);
    }
    // The groups come last, each after the one around it.
    for (const [index, { id, kind, group }] of [...nodes.entries()].reverse()) {
      const all = inside[index] ?? [];
      if (kind === "group" && all.length > 0) {
        boxes.set(id, comparedOfGroup(all));
        into(group, all);
      }
    }
  }
  return boxes;
}

function comparedOfGroup(all: readonly Compared[]): Compared {
  const members = all.map(({ verdict }) => verdict);
  const ulps = all.flatMap((it) => it.ulps ?? []);
  const most = ulps.length > 0 ? ulps.reduce((one, other) => Math.max(one, other)) : undefined;
  return { verdict: worstOf(members), isOdd: all.some((it) => it.isOdd), ulps: most, runs: [], members };
}

/** The verdict that outweighs the others. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  const weight = verdicts.reduce((most, it) => Math.max(most, WEIGHTS.indexOf(it)), -1);
  return WEIGHTS[weight] ?? "not_compared";
}

/** The run that a box is to show first: its first one with the verdict of the box. */
export const firstOf = ({ runs, verdict }: Compared): number =>
  Math.max(0, runs.findIndex((it) => it.verdict === verdict));

// ---- Words ----

/** `3 of 76 differ, 2 not compared`. */
export function summaryOf(verdicts: readonly Verdict[]): string {
  const count = (wanted: Verdict): number => verdicts.filter((it) => it === wanted).length;
  const [differ, open] = [count("differs"), count("not_compared")];
  const found = `${differ === 0 ? "none" : differ} of ${verdicts.length} ${differ > 1 ? "differ" : "differs"}`;
  return open === 0 ? found : `${found}, ${open} not compared`;
}

/** What stands in a box. */
export function noteOfCompared({ verdict, isOdd, ulps, members }: Compared): string {
  const count = members?.filter((it) => it === verdict).length;
  switch (verdict) {
    case "equal":
      return "equal";
    case "within":
      return ulps === undefined ? "within bound" : `${ulps} ULP`;
    case "not_compared":
      return count === undefined ? "not compared" : `${count} not compared`;
    case "differs":
      return count === undefined ? (isOdd ? "NaN/Inf" : "differs") : `${count} ${count === 1 ? "differs" : "differ"}`;
  }
}

export const VERDICTS: Readonly<Record<Verdict, string>> = {
  equal: "Equal: no element differs",
  within: "Within what is allowed",
  not_compared: "Not compared",
  differs: "Differs by more than is allowed",
};

/** Why a box has no run in the report. */
export const NOT_THERE = "It is not in the report: it did not run, or side B has nothing to compare it with.";

/** The names of a tensor as one text. */
export const nameOfTensor = ({ names }: TensorReport): string => names.join(" = ");

export function numberText(value: number | null): string {
  if (value === null) {
    return "NaN or infinity";
  }
  const rounded = Number.isInteger(value) ? value : Number(value.toPrecision(5));
  return rounded !== 0 && Math.abs(rounded) < 1e-3 ? rounded.toExponential() : String(rounded);
}

export const farText = ({ index, value }: Far): string => `${numberText(value)} at [${index.join(", ")}]`;

/** By how much the worst element may be apart, and why. */
export function allowedText({ tolerance, differences }: TensorReport): string {
  const allowed = differences?.worst.allowed ?? null;
  return [allowed === null ? "" : numberText(allowed), tolerance?.reason ?? ""].filter((it) => it !== "").join(": ");
}
