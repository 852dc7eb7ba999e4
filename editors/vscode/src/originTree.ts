// What the debugger tells of where a number comes from (`iree/why`), as rows of a tree. Nothing of VS Code is used here, so that
// tests run without it.

interface Place {
  readonly path: string | null;
  readonly file: string;
  readonly line: number;
}

interface Tensor {
  readonly names: readonly string[];
  readonly source: Place | null;
  /** The command that has left it. */
  readonly command: number | null;
}

/** An element of a tensor. */
interface Element {
  readonly tensor: Tensor;
  readonly element: readonly number[];
  readonly value: number | null;
  readonly isRecomputed: boolean;
  readonly origin: Origin;
}

interface Term {
  readonly value: number;
  /** From 0 to 1, where all terms have one sign. */
  readonly share: number | null;
  readonly of: readonly Element[];
}

type Origin =
  | { readonly kind: "input" | "constant" | "leftOut" | "told" }
  | { readonly kind: "sum"; readonly terms: number; readonly largest: readonly Term[] }
  | { readonly kind: "elements"; readonly count: number; readonly largest: readonly Element[] }
  | { readonly kind: "notKnown"; readonly reason: string };

/** A tensor on the way back to where a NaN or an infinity began. */
interface Link {
  readonly tensor: Tensor;
  readonly text: string;
}

/** The answer to `iree/why`. */
export interface Why {
  readonly text: string;
  readonly madeOf?: Element;
  readonly links?: readonly Link[];
}

/** A row of the tree. */
export interface OriginRow {
  readonly label: string;
  readonly description: string;
  readonly source?: Place;
  /** The command that has left the tensor: the row leads to before it. */
  readonly command?: number;
  readonly children: readonly OriginRow[];
}

export function rowsOf(why: Why): OriginRow[] {
  const links = why.links ?? [];
  return why.madeOf === undefined ? links.map(rowOfLink) : [rowOfElement(why.madeOf)];
}

function rowOfLink({ tensor, text }: Link): OriginRow {
  const [label] = tensor.names;
  const description = label !== undefined && text.startsWith(label) ? text.slice(label.length).trimStart() : text;
  return { label: label ?? "…", description, ...whereIs(tensor), children: [] };
}

function rowOfElement(of: Element): OriginRow {
  const { tensor, value, isRecomputed, origin } = of;
  const number = value === null ? "" : ` = ${short(value)}`;
  const place = tensor.source && `${tensor.source.file}:${tensor.source.line}`;
  const parts = [words(origin), isRecomputed ? "computed in float64" : undefined, place ?? undefined];
  return {
    label: `${nameOf(of)}${number}`,
    description: parts.filter((it) => it !== undefined).join(" · "),
    ...whereIs(tensor),
    children: childrenOf(origin),
  };
}

function childrenOf(origin: Origin): OriginRow[] {
  switch (origin.kind) {
    case "sum":
      return [...origin.largest.map(rowOfTerm), ...rest(origin.terms - origin.largest.length, "smaller term")];
    case "elements":
      return [...origin.largest.map(rowOfElement), ...rest(origin.count - origin.largest.length, "more element")];
    default:
      return [];
  }
}

function rowOfTerm({ value, share, of }: Term): OriginRow {
  const label = share === null ? short(value) : `${short(value)} (${(share * 100).toFixed(1)} %)`;
  return { label, description: of.map(nameOf).join(", "), children: of.map(rowOfElement) };
}

/** The row for what is not shown. */
function rest(count: number, what: string): OriginRow[] {
  return count > 0 ? [{ label: `… ${count} ${what}${count === 1 ? "" : "s"}`, description: "", children: [] }] : [];
}

function words(origin: Origin): string {
  switch (origin.kind) {
    case "input":
      return "an input";
    case "constant":
      return "a constant of the source";
    case "leftOut":
      return "not followed further";
    case "told":
      return "shown above";
    case "sum":
      return `a sum of ${origin.terms} terms`;
    case "elements":
      return origin.count === 1 ? "made of one element" : `made of ${origin.count} elements`;
    case "notKnown":
      return origin.reason;
  }
}

/** As `%y[0, 3]`; a scalar has no coordinates. */
function nameOf({ tensor, element, origin }: Element): string {
  const unnamed = origin.kind === "constant" ? "a constant" : "a value";
  return (tensor.names[0] ?? unnamed) + (element.length === 0 ? "" : `[${element.join(", ")}]`);
}

function whereIs({ source, command }: Tensor): Pick<OriginRow, "source" | "command"> {
  return { ...(source === null ? {} : { source }), ...(command === null ? {} : { command }) };
}

/** As many digits as an f32 has. */
function short(value: number): string {
  return String(Number(value.toPrecision(8)));
}
