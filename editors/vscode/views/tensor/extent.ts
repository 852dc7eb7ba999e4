// A tensor over the executions of its dispatch: what is known of it, its curves, and how much that is in words.

import type { Execution, Executions } from "./answers";

/** The tensor over the executions of its dispatch, as far as they were looked at. */
export interface Times {
  /** What is known of all of them; undefined at first. */
  readonly of: Omit<Executions, "from" | "executions"> | undefined;
  /** The first that is looked at: of very many, only the last. */
  readonly first: number;
  readonly executions: readonly Execution[];
  readonly isRunning: boolean;
  readonly error?: string;
}

/** The curves, each of what it takes of the figures. */
export const CURVES = { min: "minimum", max: "maximum", mean: "mean", std: "deviation" } as const;

export type Curve = keyof typeof CURVES;

/** The values of a curve, NaN where there is none. */
export function valuesOf(executions: readonly Execution[], curve: Curve): number[] {
  return executions.map((it) => {
    const value = "figures" in it ? it.figures[CURVES[curve]] : null;
    return value === null ? NaN : Number(value);
  });
}

/** What is known of how much there is, in words. */
export function extentText({ of, first, executions, isRunning }: Times): string {
  if (of === undefined) {
    return "Looking …";
  }
  const what = of.isLeft ? `left by @${of.dispatch}` : `as read by @${of.dispatch}`;
  const all = of.total + of.forgotten;
  const left = first + of.forgotten;
  const known = executions.length;
  const count = isRunning ? `${known} of ${of.total - first} …` : `${known} ${known === 1 ? "time" : "times"}`;
  const rest = left > 0 ? `; ${left} earlier ones of ${all} are left out` : "";
  const stopped = !isRunning && first + known < of.total ? `, stopped before ${of.total - first - known} more` : "";
  return `${what}: ${count}${stopped}${rest}. Up to command ${of.ran}, where the program stood.`;
}
