// Pictures of a window, one after another, as a GIF for the extension's README.

import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** The colours of a GIF. */
const COLOURS = 256;

/**
 * @param {string} extension the folder whose packages encode it
 * @param {string} file
 * @param {readonly {png: Buffer, seconds: number}[]} frames
 */
export function writeAnimation(extension, file, frames) {
  const load = createRequire(join(extension, "package.json"));
  const { PNG } = load("pngjs");
  const { GIFEncoder, quantize, applyPalette } = load("gifenc");
  const gif = GIFEncoder();
  for (const { png, seconds } of frames) {
    const { width, height, data } = PNG.sync.read(png);
    const palette = quantize(data, COLOURS);
    gif.writeFrame(applyPalette(data, palette), width, height, { palette, delay: seconds * 1000 });
  }
  gif.finish();
  writeFileSync(file, gif.bytes());
}
