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
  const code = bare(line);
  return Array.from(code.matchAll(pattern), (match) => ({
    name: languageId === "vmasm" ? match[0].slice(1).toLowerCase() : match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** A line with blanks instead of strings and comments. */
function bare(line: string): string {
  return line.replace(/"(?:[^"\\]|\\.)*"|\/\/.*/g, (hidden) => " ".repeat(hidden.length));
}

/** The expression for a value. Names may contain characters that are operators in expressions: `%c-1`, `%a.b`. */
export function expressionOf({ name }: ValueName): string {
  return /^%[^"]*[-.]/.test(name) ? `%"${name.slice(1)}"` : name;
}

/** The SSA values that a line of MLIR defines: results, arguments of functions and blocks, loop variables. */
export function definitionsIn(line: string): ValueName[] {
  const isTyped = (start: number, end: number): boolean => {
    // Before the types of operands there is a blank, too: `yield %x : i32`.
    const typed = isInParentheses(line, start) ? /^\s*:(?!:)/ : /^:(?!:)/;
    return typed.test(line.slice(end)) || /^\s*=(?!=)/.test(line.slice(end));
  };
  return valuesIn(line, "mlir").filter(({ start, end }) => start < endOfResults(line) || isTyped(start, end));
}

/**
 * The values that are in scope at a line, with the line that defines each: those of the function's lines before it whose
 * region still holds the line. An operation's results exist once its region has ended.
 */
export function definedBefore(lineAt: (line: number) => string, first: number, stopped: number): [number, ValueName][] {
  interface Region {
    readonly values: [number, ValueName][];
    /** Results of the operation that the region belongs to. */
    readonly results: [number, ValueName][];
  }
  const regions: Region[] = [{ values: [], results: [] }];
  for (let line = first; line < stopped; line++) {
    const text = lineAt(line);
    const end = endOfResults(text);
    const all = definitionsIn(text);
    const results = all.filter(({ start }) => start < end).map((value): [number, ValueName] => [line, value]);
    const others = all.filter(({ start }) => start >= end).map((value): [number, ValueName] => [line, value]);
    const opened: Region[] = [];
    // After `} else {`, the operation goes on.
    let pending: [number, ValueName][] = results;
    for (const [character] of bare(text).matchAll(/[{}]/g)) {
      if (character === "{") {
        opened.push({ values: [], results: [] });
      } else if (opened.pop() === undefined && regions.length > 1) {
        pending = [...(regions.pop()?.results ?? []), ...pending];
      }
    }
    const innermost = opened.at(-1);
    if (innermost === undefined) {
      regions.at(-1)?.values.push(...pending, ...others);
    } else {
      innermost.values.push(...others);
      opened[0]?.results.push(...pending);
      regions.push(...opened);
    }
  }
  return regions.flatMap(({ values }) => values);
}

function isInParentheses(line: string, column: number): boolean {
  const before = bare(line).slice(0, column);
  return before.split("(").length > before.split(")").length;
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
