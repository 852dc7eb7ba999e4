// What is written beside the code for a value. VS Code scrolls to the stopped line before it adds these texts, and a text
// that makes a line above wrap pushes the stopped line off the screen. So they are short, and a line has only as many as
// fit.

/** The columns that a line and the texts beside it may take together. */
const WIDTH = 120;
/** The most characters of one value. */
const LONGEST = 36;

/** A tensor as the debugger writes it: `32x64xf32 · 3 NaN · μ -0.1 σ 1.9 · [1, 2, …]`. */
const TENSOR = /^(?<sizes>(?:(?:\d+|\?)x)*)(?<element>[a-z]\w*) · (?<figures>[^[\]]*) · \[.*\]/;

/** A value in few characters: of a tensor its sizes and statistics, of anything else its beginning. */
export function short(value: string): string {
  const tensor = TENSOR.exec(value)?.groups;
  if (tensor !== undefined) {
    const sizes = tensor["sizes"]?.replace(/x$/, "") ?? "";
    return cut(`${sizes === "" ? (tensor["element"] ?? "") : sizes} · ${tensor["figures"] ?? ""}`);
  }
  return cut(value);
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

/** The texts that fit beside a line of code, in their order. */
export function fitting<Text extends { readonly text: string }>(code: string, texts: readonly Text[]): Text[] {
  let free = WIDTH - code.trimEnd().length;
  return texts.filter(({ text }) => {
    // VS Code sets them apart by a blank.
    free -= text.length + 1;
    return free >= 0;
  });
}

/** The row of a tensor without its first elements: `64x64xf32 · μ 0.01 σ 1`. */
export const withoutElements = (row: string): string => row.replace(/(?: ·)? \[.*$/s, "");
