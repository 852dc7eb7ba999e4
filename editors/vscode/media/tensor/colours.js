// The scale from the values of a tensor to colours.

import { colour, DIVERGING, VIRIDIS } from "./palette.js";
import { state } from "./state.js";

/** The range of the colours: all elements, or without the outer hundredth on each side. */
export function range() {
  const { figures, otherFigures, cells } = state;
  const both = [figures, ...(otherFigures ? [otherFigures] : [])];
  const ends = (of, choose) => {
    const known = both.map(of).filter((value) => value !== undefined);
    return known.length === 0 ? undefined : choose(...known);
  };
  const quantile = (at) => ends((it) => it?.quantiles?.find((it) => it.at === at)?.value, at < 0.5 ? Math.min : Math.max);
  let low = ends((it) => it?.minimum?.value, Math.min);
  let high = ends((it) => it?.maximum?.value, Math.max);
  // Of a few elements, none is an outlier.
  if (state.clamp && figures?.count >= 1000 && quantile(0.01) !== undefined && quantile(0.01) < quantile(0.99)) {
    [low, high] = [quantile(0.01), quantile(0.99)];
  }
  if (low === undefined && cells !== undefined) {
    const finite = cells.values.filter(Number.isFinite);
    low = finite.reduce((least, value) => Math.min(least, value), Infinity);
    high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  }
  return [Number.isFinite(low) ? low : 0, Number.isFinite(high) ? high : 1];
}

/** The colour of values, and the ends of the scale. */
export function scale() {
  const [low, high] = range();
  const isDiverging = low < 0 && high > 0;
  const bent = (value) => (state.log ? Math.sign(value) * Math.log10(1 + Math.abs(value) / unit) : value);
  const unit = Math.max(Math.abs(low), Math.abs(high)) / 1000 || 1;
  const [from, to] = isDiverging ? [-Math.max(-low, high), Math.max(-low, high)] : [low, high];
  const [start, end] = [bent(from), bent(to)];
  const map = isDiverging ? DIVERGING : VIRIDIS;
  return { low: from, high: to, map, of: (value) => colour(map, end > start ? (bent(value) - start) / (end - start) : 0.5) };
}
