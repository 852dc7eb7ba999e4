// The selected cells of the table: a rectangle from where the selection began to the cursor, and copying it.

import type { Rectangle } from "./answers";
import { askedAs, formatted, tabbed } from "./formats";
import { sliceText } from "./slices";
import { ask, state, tell, textOf } from "./state";

/** The most cells that are copied at once: one answer has their texts. */
export const MOST_COPIED = 1 << 14;

/** The selected rectangle; the cell at the cursor, if no more is selected. */
export function selected(): Rectangle {
  const [row, column] = state.cursor;
  const [fromRow, fromColumn] = state.anchor ?? state.cursor;
  return {
    row: Math.min(row, fromRow),
    rows: Math.abs(row - fromRow) + 1,
    column: Math.min(column, fromColumn),
    columns: Math.abs(column - fromColumn) + 1,
  };
}

export const isSelected = (row: number, column: number): boolean => {
  const it = selected();
  return row >= it.row && row < it.row + it.rows && column >= it.column && column < it.column + it.columns;
};

/** How many cells, in words. */
export const sizeText = ({ rows, columns }: Rectangle): string =>
  rows * columns === 1 ? "1 cell" : `${rows} × ${columns} cells`;

/** Copies the selected cells as they are written in the table. */
export async function copyCells(): Promise<void> {
  const window = selected();
  if (window.rows * window.columns > MOST_COPIED) {
    tell({
      kind: "refused",
      text: `${sizeText(window)} are more than the ${MOST_COPIED} that are copied; save the tensor as .npy instead.`,
    });
    return;
  }
  try {
    const { texts = [] } = await ask({ slice: sliceText(), window, ...askedAs(state.format) });
    const text = tabbed(
      texts.map((it) => formatted(it, state.format)),
      window.columns,
    );
    tell({ kind: "copyText", text, what: sizeText(window) });
  } catch (error) {
    tell({ kind: "refused", text: textOf(error) });
  }
}
