// The names of values in a line of MLIR or .vmasm. The debugger calls an SSA value as the text does (`%x`), and a
// register without the percent sign (`i0`, `i6:7`, `r3`; an upper-case `%R3` is the same register, moved from).

export interface ValueName {
  /** What the debugger calls it. */
  readonly name: string;
  /** Its place in the line. */
  readonly start: number;
  readonly end: number;
}

const VALUES: Readonly<Record<string, RegExp>> = {
  mlir: /%[\w$.]+(?:-[\w$.]+)*(?:#\d+)?/g,
  vmasm: /%[irR]\d+(?::\d+)?/g,
};

const FUNCTION_HEAD = /^\s*(?:func\.func|util\.func|util\.initializer|vm\.func|vm\.initializer)\b/;

/** The values that a line names, outside comments and strings. */
export function valuesIn(line: string, languageId: string): ValueName[] {
  const pattern = VALUES[languageId];
  if (pattern === undefined) {
    return [];
  }
  const code = line.replace(/"(?:[^"\\]|\\.)*"|\/\/.*/g, (hidden) => " ".repeat(hidden.length));
  return Array.from(code.matchAll(pattern), (match) => ({
    name: languageId === "vmasm" ? match[0].slice(1).toLowerCase() : match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** The expression for a value. Names may contain characters that are operators in expressions: `%c-1`, `%a.b`. */
export function expressionOf({ name }: ValueName): string {
  return /^%[^"]*[-.]/.test(name) ? `%"${name.slice(1)}"` : name;
}

/** The SSA values that a line of MLIR defines: results, arguments of functions and blocks, loop variables. */
export function definitionsIn(line: string): ValueName[] {
  return valuesIn(line, "mlir").filter(
    ({ start, end }) => start < endOfResults(line) || /^(?::(?!:)|\s*=(?!=))/.test(line.slice(end)),
  );
}

/** The values that a line uses, without its results, which do not exist yet when the program stops before it. */
export function usesIn(line: string, languageId: string): ValueName[] {
  return valuesIn(line, languageId).filter(({ start }) => start >= endOfResults(line));
}

/** The end of `%a, %b = `, after the offset at the beginning of a listing's line. */
function endOfResults(line: string): number {
  return /^(?:\[[0-9A-F]+\])?\s*%[^=]*=/.exec(line)?.[0].length ?? 0;
}

/** The value at a column of a line. */
export function valueAt(line: string, column: number, languageId: string): ValueName | undefined {
  return valuesIn(line, languageId).find(({ start, end }) => start <= column && column <= end);
}

/** The first line of the function around `line`; `line` itself outside of functions. */
export function firstLineOfFunction(lineAt: (line: number) => string, line: number): number {
  for (let at = line; at >= 0; at--) {
    if (FUNCTION_HEAD.test(lineAt(at))) {
      return at;
    }
  }
  return line;
}
