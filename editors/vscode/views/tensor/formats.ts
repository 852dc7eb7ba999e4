// How elements are written: as they are, with three digits after the point, with an exponent, or as their bits; and
// many of them as text that spreadsheets take.

export type Format = "short" | "fixed" | "scientific" | "bits";

/** The formats by what a user chooses. */
export const FORMATS: Readonly<Record<Format, string>> = {
  short: "shortest",
  fixed: "%.3f",
  scientific: "%.6e",
  bits: "hex bits",
};

/** What the texts of a format are asked for with: digits that were left out cannot be written. */
export function askedAs(format: Format): { readonly texts: true; readonly exact?: true; readonly bits?: true } {
  return { texts: true, ...(format === "bits" ? { bits: true } : format !== "short" && { exact: true }) };
}

/** An element's exact text in a format. What is no number stays as it is, and so do integers without an exponent. */
export function formatted(text: string, format: Format): string {
  const isFinite = text.trim() !== "" && Number.isFinite(Number(text));
  if (format === "short" || format === "bits" || !isFinite) {
    return text;
  }
  if (format === "scientific") {
    return withExponent(text);
  }
  // Larger numbers have no digits after the point that a float of 64 bits could tell.
  return /^-?\d+$/.test(text) || Math.abs(Number(text)) >= 1e21 ? text : Number(text).toFixed(3);
}

/** `1.500000e+03`, as C and Python write it: with two digits in the exponent at least. */
function withExponent(text: string): string {
  return Number(text)
    .toExponential(6)
    .replace(/e([+-])(\d)$/, "e$10$2");
}

/** Rows of texts with tabs between their columns. */
export function tabbed(texts: readonly string[], columns: number): string {
  const rows = Array.from({ length: columns === 0 ? 0 : Math.ceil(texts.length / columns) }, (_, row) =>
    texts.slice(row * columns, (row + 1) * columns).join("\t"),
  );
  return rows.join("\n");
}
