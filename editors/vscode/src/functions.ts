// Which functions a program offers to be called, read from text: the .mlir itself, or a module's disassembly.
// Only good enough to ask the right question before a launch; the debug adapter decides from the compiled module.

export interface CallableFunction {
  readonly name: string;
  /** The arguments as written: `%a: i32`. */
  readonly parameters: readonly string[];
}

const SYMBOL = String.raw`@(?:"((?:[^"\\]|\\.)*)"|([\w$.-]+))`;

/** The public functions that a .mlir defines. */
export function functionsOfMlir(text: string): CallableFunction[] {
  const found: CallableFunction[] = [];
  const source = withoutComments(text);
  const header = new RegExp(String.raw`^[ \t]*(func\.func|util\.func)[ \t]+(?:(public|private|nested)[ \t]+)?${SYMBOL}[ \t]*\(`, "gm");
  for (const match of source.matchAll(header)) {
    // func.func is public when nothing is said; util.func must say so.
    const isPublic = match[2] === "public" || (match[2] === undefined && match[1] === "func.func");
    const parameters = parametersAt(source, match.index + match[0].length);
    if (isPublic && parameters !== undefined) {
      found.push({ name: match[3] ?? match[4] ?? "", parameters });
    }
  }
  return found;
}

/**
 * The exports of a module, from its disassembly, where each stands right before its function. (Names do not tell: the
 * functions that are not exported go by names of the debug database, and those repeat.)
 * `f$async` is `f` again for callers that bring fences.
 */
export function functionsOfDisassembly(text: string): CallableFunction[] {
  const found = new Map<string, CallableFunction>();
  let waiting: string[] = [];
  const line = new RegExp(String.raw`^vm\.(export|func)[ ]+${SYMBOL}(\()?`, "gm");
  for (const match of text.matchAll(line)) {
    if (match[1] === "export") {
      const name = match[2] ?? match[3] ?? "";
      found.set(name, { name, parameters: [] });
      waiting.push(name);
    } else {
      const parameters = parametersAt(text, match.index + match[0].length) ?? [];
      waiting.forEach((name) => found.set(name, { name, parameters }));
      waiting = [];
    }
  }
  return [...found.values()].filter(
    ({ name }) => !(name.endsWith("$async") && found.has(name.slice(0, -"$async".length))),
  );
}

/** How a function looks in a list of choices. */
export function signatureText({ name, parameters }: CallableFunction): string {
  return `@${name}(${parameters.join(", ")})`;
}

/** The parameters from `start`, just after the `(`, to its `)`; undefined when the text ends before. */
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

/** The text with comments blanked; strings keep what looks like one. */
function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*/g, (match) => (match.startsWith("//") ? "" : match));
}
