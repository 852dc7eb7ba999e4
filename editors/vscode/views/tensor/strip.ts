// The figures along an axis as a strip: from the least to the greatest of each index, with the mean as a line, and a
// mark where there are NaN or infinities. It lies beside the picture, each index beside its row or column, or is a
// chart of its own.

import { NAN } from "./palette";
import { endsOf, type Step, stepsOf } from "./steps";
import { GAP, STRIP, stripSide } from "./summing";
import { type Place, state } from "./state";
import { themed } from "./theme";

type Pen = CanvasRenderingContext2D;

/** Draws the strip beside the picture. */
export function drawStrip(pen: Pen, place: Place): void {
  const side = stripSide();
  const { summary } = state;
  if (side === undefined || summary === undefined) {
    return;
  }
  const isRows = side === "rows";
  const long = Math.max(1, Math.floor(isRows ? place.height : place.width));
  const steps = stepsOf(summary.rows, isRows ? state.rows : state.columns, long);
  pen.save();
  if (isRows) {
    pen.translate(place.x + place.width + GAP, place.y);
  } else {
    // The same, turned: along the lower side, with the greatest at the top.
    pen.transform(0, -1, 1, 0, place.x, place.y + place.height + GAP + STRIP);
  }
  drawSteps(pen, steps, endsOf(summary.rows), STRIP);
  pen.restore();
}

/** Draws steps downwards, a pixel each, from the least at the left to the greatest at the right. */
export function drawSteps(
  pen: Pen,
  steps: readonly (Step | undefined)[],
  [low, high]: readonly [number, number],
  width: number,
): void {
  const at = (value: number): number => ((value - low) / (high - low || 1)) * (width - 1);
  const band = themed("charts-blue") || "#3794ff";
  steps.forEach((step, pixel) => {
    if (step === undefined) {
      return;
    }
    if (step.low <= step.high) {
      pen.globalAlpha = 0.4;
      pen.fillStyle = band;
      pen.fillRect(at(step.low), pixel, Math.max(1, at(step.high) - at(step.low)), 1);
      pen.globalAlpha = 1;
    }
    if (Number.isFinite(step.mean)) {
      pen.fillStyle = themed("foreground") || "#888";
      pen.fillRect(at(step.mean) - 0.5, pixel, 1.5, 1);
    }
    if (step.isBad) {
      pen.fillStyle = `rgb(${NAN.join()})`;
      pen.fillRect(width - 4, pixel, 4, 1);
    }
  });
  pen.strokeStyle = themed("panel-border") || "#888";
  pen.strokeRect(-0.5, -0.5, width + 1, steps.length + 1);
}
