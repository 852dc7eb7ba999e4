// The scale from the values of a tensor to colours.

import type { Statistics } from "./answers";
import { type Colour, colour, DIVERGING, VIRIDIS } from "./palette";
import { state } from "./state";

/** Of fewer elements, none is an outlier. */
const FEWEST = 1000;

/** The range of the colours: all elements, or without the outer hundredth on each side. */
export function range(): readonly [low: number, high: number] {
  const { figures, otherFigures, cells } = state;
  // Two tensors that are compared have one range.
  const both = [figures, otherFigures].filter((it) => it !== undefined);
  const end = (of: (it: Statistics) => number | undefined, choose: typeof Math.min): number | undefined => {
    const known = both.map(of).filter((value) => value !== undefined);
    return known.length === 0 ? undefined : choose(...known);
  };
  const quantile = (at: number) => (it: Statistics) => it.quantiles?.find((it) => it.at === at)?.value;
  let low = end((it) => it.minimum?.value, Math.min);
  let high = end((it) => it.maximum?.value, Math.max);
  const [lower, upper] = [end(quantile(0.01), Math.min), end(quantile(0.99), Math.max)];
  const isLarge = (figures?.count ?? 0) >= FEWEST;
  if (state.clamp && isLarge && lower !== undefined && upper !== undefined && lower < upper) {
    [low, high] = [lower, upper];
  }
  if (low === undefined && cells !== undefined) {
    const finite = cells.values.filter(Number.isFinite);
    low = finite.reduce((least, value) => Math.min(least, value), Infinity);
    high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  }
  const orElse = (value: number | undefined, instead: number): number =>
    value !== undefined && Number.isFinite(value) ? value : instead;
  return [orElse(low, 0), orElse(high, 1)];
}

export interface Scale {
  readonly low: number;
  readonly high: number;
  readonly map: readonly Colour[];
  /** The colour of a value. */
  of(value: number): Colour;
}

/** The colour of values, and the ends of the scale. */
export function scale(): Scale {
  const [low, high] = range();
  const isDiverging = low < 0 && high > 0;
  const unit = Math.max(Math.abs(low), Math.abs(high)) / 1000 || 1;
  const bent = (value: number): number =>
    state.log ? Math.sign(value) * Math.log10(1 + Math.abs(value) / unit) : value;
  const far = Math.max(-low, high);
  const [from, to] = isDiverging ? [-far, far] : [low, high];
  const [start, end] = [bent(from), bent(to)];
  const map = isDiverging ? DIVERGING : VIRIDIS;
  const of = (value: number): Colour => colour(map, end > start ? (bent(value) - start) / (end - start) : 0.5);
  return { low: from, high: to, map, of };
}
