// The functions of a program that can be called, from the text of a .mlir or from `iree-dbg dump --output=json` of a
// module. Good enough for the question before a launch; the debug adapter decides from the compiled module.

export interface CallableFunction {
  readonly name: string;
  /** The arguments as in the text: `%a: i32`. */
  readonly parameters: readonly string[];
}

const SYMBOL = String.raw`@(?:"((?:[^"\\]|\\.)*)"|([\w$.-]+))`;

/** The public functions that a .mlir defines. */
export function functionsOfMlir(text: string): CallableFunction[] {
  const found: CallableFunction[] = [];
  const source = withoutComments(text);
  const header = new RegExp(String.raw`^[ \t]*(func\.func|util\.func)[ \t]+(?:(public|private|nested)[ \t]+)?${SYMBOL}[ \t]*\(`, "gm");
  for (const match of source.matchAll(header)) {
    // func.func is public by default; util.func has to be marked `public`.
    const isPublic = match[2] === "public" || (match[2] === undefined && match[1] === "func.func");
    const parameters = parametersAt(source, match.index + match[0].length);
    if (isPublic && parameters !== undefined) {
      found.push({ name: match[3] ?? match[4] ?? "", parameters });
    }
  }
  return found;
}

/** The part of the JSON that is used here. */
interface ModuleJson {
  readonly exports: readonly { readonly name: string; readonly function: number }[];
  readonly functions: readonly {
    readonly ordinal: number;
    readonly signature: {
      readonly calling_convention: string;
      readonly attributes: readonly { readonly key: string; readonly value: string }[];
    };
  }[];
}

/** The exports of a module, without `f$async`, which is `f` for callers with fences. */
export function functionsOfModule(json: string): CallableFunction[] {
  const { exports, functions } = JSON.parse(json) as ModuleJson;
  const names = new Set(exports.map(({ name }) => name));
  return exports
    .filter(({ name }) => !(name.endsWith("$async") && names.has(name.slice(0, -"$async".length))))
    .map(({ name, function: ordinal }) => {
      const signature = functions.find((candidate) => candidate.ordinal === ordinal)?.signature;
      const declaration = signature?.attributes.find(({ key }) => key === "iree.abi.declaration")?.value;
      return { name, parameters: declared(declaration) ?? conventional(signature?.calling_convention ?? "") };
    });
}

/** The parameters of `sync func @f(%input0: tensor<4xf32>) -> (...)`. */
function declared(declaration: string | undefined): string[] | undefined {
  const open = new RegExp(String.raw`${SYMBOL}\(`).exec(declaration ?? "");
  return open === null || declaration === undefined ? undefined : parametersAt(declaration, open.index + open[0].length);
}

const CONVENTIONS: Readonly<Record<string, string>> = { i: "i32", I: "i64", f: "f32", F: "f64", r: "ref" };

/** The parameters of `0iIr_v`, for functions without a declaration. */
function conventional(convention: string): string[] {
  const [parameters = ""] = convention.replace(/^0/, "").split("_");
  return [...parameters].flatMap((letter) => CONVENTIONS[letter] ?? []);
}

/** The label of a function in a list of choices. */
export function signatureText({ name, parameters }: CallableFunction): string {
  return `@${name}(${parameters.join(", ")})`;
}

/** The parameters from `start`, just after the `(`, to its `)`; undefined if the text ends before that. */
function parametersAt(text: string, start: number): string[] | undefined {
  const parameters: string[] = [];
  let depth = 0;
  let begin = start;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
    } else if ("([{<".includes(character ?? "")) {
      depth++;
    } else if (character === ">" && text[at - 1] === "-") {
      continue; // the arrow of a function type
    } else if (depth > 0 && ")]}>".includes(character ?? "")) {
      depth--;
    } else if (depth === 0 && (character === "," || character === ")")) {
      const parameter = text.slice(begin, at).replace(/\s+/g, " ").trim();
      if (parameter !== "") {
        parameters.push(parameter);
      }
      if (character === ")") {
        return parameters;
      }
      begin = at + 1;
    }
  }
  return undefined;
}

/** The index of the quote that closes the string opened at `open`. */
function endOfString(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length && text[at] !== '"') {
    at += text[at] === "\\" ? 2 : 1;
  }
  return at;
}

/** The text with comments replaced by blanks, except in strings. */
function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*/g, (match) => (match.startsWith("//") ? "" : match));
}
