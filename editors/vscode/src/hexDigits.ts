// Where a line has so many digits in hexadecimal that they are better out of sight.

/** How many digits are left in sight. */
const SEEN = 8;
/** Shorter constants are shown. */
const LONGEST_SEEN = 64;

/** Where the digits of long constants are in a line, without the first few. */
export function digitsIn(text: string): [from: number, to: number][] {
  const found: [number, number][] = [];
  for (let at = text.indexOf('"0x'); at >= 0; at = text.indexOf('"0x', at)) {
    const start = at + '"0x'.length;
    const end = text.indexOf('"', start);
    const stop = end < 0 ? text.length : end;
    if (stop - start > LONGEST_SEEN) {
      found.push([start + SEEN, stop]);
    }
    at = stop + 1;
  }
  return found;
}
