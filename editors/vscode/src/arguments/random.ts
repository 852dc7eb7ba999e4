// Tensors of random numbers, as .npy files. A seed gives the same numbers on every machine. Does not use VS Code.

import { isFloat } from "./types";

/** `1x8xf32=random(7)`, read. */
export interface RandomTensor {
  readonly shape: readonly number[];
  readonly element: string;
  readonly seed: number;
}

/** The largest tensor that is made: its file would have half a gigabyte. */
const MOST_ELEMENTS = 1 << 27;

/** The random tensor that a text asks for; undefined if it asks for none. */
export function randomTensor(text: string): RandomTensor | undefined {
  const read = /^((?:\d+x)*)([a-z]+\d+)=random\((\d+)\)$/.exec(text.trim());
  if (read === null) {
    return undefined;
  }
  const shape = (read[1] ?? "").split("x").filter((size) => size !== "").map(Number);
  return { shape, element: read[2] ?? "", seed: Number(read[3]) };
}

interface Kind {
  readonly descriptor: string;
  readonly bytes: number;
  readonly write: (view: DataView, at: number, number: number) => void;
}

const KINDS: Readonly<Record<string, Kind>> = {
  f64: { descriptor: "<f8", bytes: 8, write: (view, at, number) => view.setFloat64(at, number, true) },
  f32: { descriptor: "<f4", bytes: 4, write: (view, at, number) => view.setFloat32(at, number, true) },
  f16: { descriptor: "<f2", bytes: 2, write: (view, at, number) => view.setUint16(at, half(number), true) },
  i64: { descriptor: "<i8", bytes: 8, write: (view, at, number) => view.setBigInt64(at, BigInt(number), true) },
  i32: { descriptor: "<i4", bytes: 4, write: (view, at, number) => view.setInt32(at, number, true) },
  i16: { descriptor: "<i2", bytes: 2, write: (view, at, number) => view.setInt16(at, number, true) },
  i8: { descriptor: "|i1", bytes: 1, write: (view, at, number) => view.setInt8(at, number) },
  i1: { descriptor: "|b1", bytes: 1, write: (view, at, number) => view.setUint8(at, number & 1) },
};

/** The .npy file of a random tensor: floats from -1 to 1, whole numbers from 0 to 9. */
export function randomFile({ shape, element, seed }: RandomTensor): Uint8Array {
  const kind = KINDS[element];
  const count = shape.reduce((product, size) => product * size, 1);
  if (kind === undefined) {
    throw new Error(`There are no random tensors of ${element}; give a .npy file.`);
  }
  if (count > MOST_ELEMENTS) {
    throw new Error(`${count} random elements are too many; give a .npy file.`);
  }
  const sizes = shape.map((size) => `${size},`).join(" ");
  const head = `{'descr': '${kind.descriptor}', 'fortran_order': False, 'shape': (${sizes}), }`;
  // The header, with its ten bytes before, ends at a multiple of 64.
  const padded = `${head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11)}\n`;
  const file = new Uint8Array(10 + padded.length + count * kind.bytes);
  file.set([0x93, ...Buffer.from("NUMPY"), 1, 0, padded.length & 0xff, padded.length >> 8]);
  file.set(Buffer.from(padded, "latin1"), 10);
  const view = new DataView(file.buffer, 10 + padded.length);
  const next = generator(seed);
  for (let index = 0; index < count; index++) {
    const number = next();
    kind.write(view, index * kind.bytes, isFloat(element) ? number * 2 - 1 : Math.floor(number * 10));
  }
  return file;
}

/** Numbers from 0 to 1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The bits of a number from -1 to 1 in 16 bits, rounded towards zero. */
function half(number: number): number {
  const sign = number < 0 ? 0x8000 : 0;
  const size = Math.abs(number);
  if (size < 2 ** -14) {
    return sign | Math.floor(size * 2 ** 24);
  }
  const exponent = Math.floor(Math.log2(size));
  return sign | ((exponent + 15) << 10) | Math.floor((size / 2 ** exponent - 1) * 1024);
}
