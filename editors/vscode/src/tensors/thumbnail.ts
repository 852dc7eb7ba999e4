// A small picture of a tensor as text that a hover can show.

import type { Cells } from "../../views/tensor/answers";
import { type Colour, colour, colourOfMark, DIVERGING, VIRIDIS } from "../../views/tensor/palette";

/** The longer side of the picture, in pixels. VS Code cuts hovers at 100,000 characters; this is 58,000. */
const SIDE = 120;

/** The size of a picture, in pixels. */
interface Size {
  readonly height: number;
  readonly width: number;
}

/** The cells as a bitmap, in the colours of the tensor view: as large as a hover has room for, or of a size. */
export function thumbnail({ height, width, values, marks }: Cells, size?: Size): string {
  const bytes = Buffer.from(values, "base64");
  const numbers = Array.from({ length: height * width }, (_, index) => bytes.readFloatLE(index * 4));
  const marked = marks === null ? undefined : Buffer.from(marks, "base64");
  const finite = numbers.filter(Number.isFinite);
  const low = finite.reduce((least, value) => Math.min(least, value), Infinity);
  const high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  const isDiverging = low < 0 && high > 0;
  const far = Math.max(-low, high);
  const [from, to] = isDiverging ? [-far, far] : [low, high];
  const shade = (index: number): Colour => {
    const place = to > from ? ((numbers[index] ?? 0) - from) / (to - from) : 0.5;
    return colourOfMark(marked?.[index] ?? 0) ?? colour(isDiverging ? DIVERGING : VIRIDIS, place);
  };
  const scale = Math.max(1, Math.floor(SIDE / Math.max(height, width)));
  // A single row is drawn higher, so that it can be seen.
  const { height: rows, width: columns } = size ?? { height: height === 1 ? Math.max(scale, 12) : height * scale, width: width * scale };
  return bitmap(rows, columns, (row, column) => shade(Math.floor((row * height) / rows) * width + Math.floor((column * width) / columns)));
}

/** A Windows bitmap, which needs no compression. */
function bitmap(height: number, width: number, pixel: (row: number, column: number) => Colour): string {
  const stride = Math.ceil((width * 3) / 4) * 4;
  const file = Buffer.alloc(54 + stride * height);
  file.write("BM");
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(54, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  // Its rows go from the top down.
  file.writeInt32LE(-height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [red, green, blue] = pixel(row, column);
      file.set([blue, green, red], 54 + row * stride + column * 3);
    }
  }
  return `data:image/bmp;base64,${file.toString("base64")}`;
}
