// Where the boxes of a treemap are.

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Boxes for sizes, the largest first: rows of boxes that are as square as possible fill the given one. */
export function squarified(sizes: readonly number[], within: Box): Box[] {
  const boxes: Box[] = [];
  let { x, y, width, height } = within;
  let rest = sum(sizes);
  let from = 0;
  while (from < sizes.length && rest > 0) {
    const area = (width * height) / rest;
    const row = bestRow(sizes.slice(from), Math.min(width, height), area);
    const isAlongHeight = width >= height;
    const across = isAlongHeight ? height : width;
    const thickness = (sum(row) * area) / across;
    let along = 0;
    for (const size of row) {
      const length = (size / sum(row)) * across;
      boxes.push(
        isAlongHeight
          ? { x, y: y + along, width: thickness, height: length }
          : { x: x + along, y, width: length, height: thickness },
      );
      along += length;
    }
    if (isAlongHeight) {
      x += thickness;
      width -= thickness;
    } else {
      y += thickness;
      height -= thickness;
    }
    rest -= sum(row);
    from += row.length;
  }
  return boxes;
}

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);

/** The first sizes, as many as make the row whose longest box is the least long. */
function bestRow(sizes: readonly number[], across: number, area: number): readonly number[] {
  const [largest = 0] = sizes;
  let [count, total, best] = [0, 0, Infinity];
  for (const smallest of sizes) {
    const thickness = ((total + smallest) * area) / across;
    const worst = Math.max(...[largest, smallest].map((size) => {
      const length = (size * area) / thickness;
      return Math.max(length / thickness, thickness / length);
    }));
    if (worst > best) {
      break;
    }
    [best, total] = [worst, total + smallest];
    count++;
  }
  return sizes.slice(0, count);
}
