// What an image is made of: the numbers that are black and white, and stripes over what is no number.

import { colourOfMark } from "./palette";

/** What the numbers of an image mean as brightness. */
export type Brightness = "auto" | "unit" | "byte" | "data";

/** The choices by what a user reads. */
export const BRIGHTNESS: Readonly<Record<Brightness, string>> = {
  auto: "automatic",
  unit: "0 to 1",
  byte: "0 to 255",
  data: "least to greatest",
};

/** The numbers that are black and white, and how that was found. */
export interface Levels {
  readonly black: number;
  readonly white: number;
  readonly kind: Exclude<Brightness, "auto">;
}

/** What images usually are: numbers from 0 to 1, or bytes. Others go from their least to their greatest. */
export function levelsOf(
  wanted: Brightness,
  elementType: string,
  ends: readonly [number, number],
  data: readonly [number, number],
): Levels {
  const [low, high] = ends;
  const isFloat = /f\d/.test(elementType);
  const isWithin = (white: number): boolean => low >= 0 && high <= white && high > white / 4;
  const usual = isFloat && isWithin(1) ? "unit" : isWithin(255) && (!isFloat || high > 1) ? "byte" : "data";
  const kind = wanted === "auto" ? usual : wanted;
  const [black, white] = { unit: [0, 1] as const, byte: [0, 255] as const, data }[kind];
  return { black, white, kind };
}

/** What is no number in any of an image's channels. */
export function marksOf(channels: readonly { readonly marks: Uint8Array | undefined }[]): Uint8Array | undefined {
  const known = channels.flatMap(({ marks }) => (marks === undefined ? [] : [marks]));
  return known[0]?.map((_, index) => known.reduce((mark, it) => mark | (it[index] ?? 0), 0));
}

/** Pixels, as a canvas has them. */
interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

/** Stripes over what is no number, as an image may have any colour. `place` is the cell of a pixel. */
export function hatch(
  { width, height, data }: Pixels,
  marks: Uint8Array,
  place: (x: number, y: number) => number,
): void {
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = colourOfMark(marks[place(x, y)] ?? 0);
      if (colour !== undefined) {
        const isStripe = (x + y) % 6 < 3;
        data.set(isStripe ? [...colour, 255] : [0, 0, 0, 255], (y * width + x) * 4);
      }
    }
  }
}
