// Text that can be read on any colour.

type Rgb = readonly [red: number, green: number, blue: number];

/** Black or white, whichever has more contrast (WCAG's relative luminance). */
export function digitsOn(colour: Rgb): "#000" | "#fff" {
  const [red = 0, green = 0, blue = 0] = colour.map((level) => {
    const part = level / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  // Both have a contrast of 4.58 where this is 0.179.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}
