// The types of arguments, and what can be given for them: whether a text fits, and what to propose. Does not use VS Code.
//
//   i32, f32, index                       one number: 48
//   tensor<4x?xf32>, !torch.vtensor<…>    1x8xf32=…, @file.npy, or random(7)
//   anything else                         any text: the debugger decides

/** What an argument may be. */
export type ArgumentType =
  | { readonly kind: "number"; readonly element: string }
  | { readonly kind: "tensor"; readonly element: string; readonly shape: readonly (number | undefined)[] }
  | { readonly kind: "other" };

/** The element type of `tensor<4x?xf32>`, as `--input=` spells it. */
const ELEMENT = String.raw`(?:[su]?i|f|bf)\d+[A-Z0-9]*|index|i1`;
const DIMENSION = String.raw`(?:\d+|\?)`;

/** Reads a type of MLIR's. */
export function typeOf(text: string): ArgumentType {
  const bare = text.trim();
  if (new RegExp(`^(?:${ELEMENT})$`).test(bare)) {
    return { kind: "number", element: bare };
  }
  const builtin = new RegExp(`^(?:tensor|memref|vector)<((?:${DIMENSION}x)*)(${ELEMENT})\\b[^<>]*(?:<[^<>]*>[^<>]*)*>$`).exec(bare);
  if (builtin !== null) {
    return { kind: "tensor", element: spelled(builtin[2] ?? ""), shape: dimensions((builtin[1] ?? "").split("x")) };
  }
  const torch = new RegExp(`^!torch\\.v?tensor<\\[([\\d?, ]*)\\]\\s*,\\s*(${ELEMENT})>$`).exec(bare);
  if (torch !== null) {
    return { kind: "tensor", element: spelled(torch[2] ?? ""), shape: dimensions((torch[1] ?? "").split(",")) };
  }
  return { kind: "other" };
}

function dimensions(texts: readonly string[]): (number | undefined)[] {
  return texts.map((text) => text.trim()).filter((text) => text !== "").map((text) => (text === "?" ? undefined : Number(text)));
}

/** Signs are not part of buffers, and an index has 64 bits. */
function spelled(element: string): string {
  return element === "index" ? "i64" : element.replace(/^[su](?=i\d)/, "");
}

/** A tensor type as `--input=` has it: `1x8xf32`. Sizes that are not known are 1. */
export function inputType(type: ArgumentType & { kind: "tensor" }): string {
  return [...type.shape.map((size) => String(size ?? 1)), type.element].join("x");
}

/** The value that a field begins with: a number, or zeros of the type. */
export function firstProposal(type: ArgumentType): string {
  switch (type.kind) {
    case "number":
      return isFloat(type.element) ? "0.0" : "0";
    case "tensor":
      return `${inputType(type)}=0`;
    case "other":
      return "";
  }
}

/** The same type, filled with random numbers. */
export function randomProposal(type: ArgumentType & { kind: "tensor" }, seed: number): string {
  return `${inputType(type)}=random(${seed})`;
}

export function isFloat(element: string): boolean {
  return /^b?f\d/.test(element);
}

/** Why a text is no value of a type; undefined if it may be one. */
export function mistake(text: string, type: ArgumentType): string | undefined {
  const value = text.trim();
  if (value === "") {
    return "A value is needed.";
  }
  switch (type.kind) {
    case "number":
      return mistakeOfNumber(value, type.element);
    case "tensor":
      return mistakeOfTensor(value, type);
    case "other":
      return undefined;
  }
}

function mistakeOfNumber(value: string, element: string): string | undefined {
  const bare = value.startsWith(`${element}=`) ? value.slice(element.length + 1) : value;
  if (isFloat(element)) {
    return isNumber(bare) ? undefined : `Expected a number such as 1.5 (${element})`;
  }
  if (!/^[+-]?(?:\d+|0x[\da-f]+)$/i.test(bare)) {
    return `Expected a whole number such as 12 (${element})`;
  }
  const bits = element === "index" ? 64 : Number(/\d+/.exec(element)?.[0]);
  const number = BigInt(bare.replace(/^[+-]/, "")) * (bare.startsWith("-") ? -1n : 1n);
  const end = 1n << BigInt(bits);
  // A number without a sign fits the bits, too.
  return number < end && number >= -(end >> 1n) ? undefined : `${value} does not fit ${element}`;
}

function isNumber(text: string): boolean {
  return /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|0x[\da-f]+|inf(?:inity)?|nan)$/i.test(text);
}

function mistakeOfTensor(value: string, type: ArgumentType & { kind: "tensor" }): string | undefined {
  if (/^@/.test(value)) {
    return value.length > 1 ? undefined : "The name of a .npy file follows the @.";
  }
  const example = `such as ${inputType(type)}=0, or @file.npy`;
  const read = new RegExp(`^((?:\\d+x)*)(${ELEMENT})(?:=(.*))?$`, "s").exec(value);
  if (read === null) {
    return isNumber(value) && type.shape.length === 0 ? undefined : `A tensor is needed here, ${example}`;
  }
  const shape = dimensions((read[1] ?? "").split("x")) as number[];
  if (shape.length !== type.shape.length) {
    return `The tensor has ${axes(type.shape.length)}, not ${shape.length}: ${example}`;
  }
  const wrong = shape.findIndex((size, axis) => type.shape[axis] !== undefined && type.shape[axis] !== size);
  if (wrong >= 0) {
    return `Axis ${wrong} has the size ${type.shape[wrong]}, not ${shape[wrong]}`;
  }
  if (spelled(read[2] ?? "") !== type.element) {
    return `The elements are ${type.element}, not ${read[2]}`;
  }
  return mistakeOfElements(read[3], shape, isFloat(type.element));
}

function mistakeOfElements(text: string | undefined, shape: readonly number[], isOfFloats: boolean): string | undefined {
  const elements = (text ?? "").trim();
  if (elements === "" || /^@./.test(elements) || /^random\(\d+\)$/.test(elements)) {
    return undefined;
  }
  if (/^random/.test(elements)) {
    return "random needs a seed: random(7)";
  }
  const words = elements.split(/[\s,[\]]+/).filter((word) => word !== "");
  const odd = words.find((word) => !isNumber(word) || (!isOfFloats && /[.n]/i.test(word)));
  if (odd !== undefined) {
    return `${odd} is not ${isOfFloats ? "a number" : "a whole number"}`;
  }
  const count = shape.reduce((product, size) => product * size, 1);
  return words.length === 1 || words.length === count ? undefined : `${words.length} elements are given, ${count} are needed (or one for all)`;
}

function axes(count: number): string {
  return count === 1 ? "1 axis" : `${count} axes`;
}
