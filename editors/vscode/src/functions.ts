// The functions of a program that can be called, as the language server knows them. Does not use VS Code.

export interface Parameter {
  /** Its name without a sigil, if it has one. */
  readonly name: string | null;
  readonly type: string;
}

export interface CallableFunction {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** The first and last lines, from 0, of the places in the text that are about it. */
  readonly lines: readonly (readonly [number, number])[];
}

/** The server's answer to `iree-dbg/exports`. */
export interface ExportsAnswer {
  readonly exports: readonly {
    readonly name: string;
    readonly arguments: readonly { readonly name: string | null; readonly type: string }[];
    readonly lines: readonly (readonly [number, number])[];
  }[];
}

export function functionsOf(answer: ExportsAnswer): CallableFunction[] {
  return answer.exports.map(({ name, arguments: parameters, lines }) => ({ name, parameters, lines }));
}

/** The function that a line of the text belongs to. */
export function functionAt(functions: readonly CallableFunction[], line: number): CallableFunction | undefined {
  return functions.find(({ lines }) => lines.some(([first, last]) => first <= line && line <= last));
}

/** The label of a function in a list of choices. */
export function signatureText({ name, parameters }: CallableFunction): string {
  const shown = parameters.map((parameter) => (parameter.name === null ? parameter.type : `%${parameter.name}: ${parameter.type}`));
  return `@${name}(${shown.join(", ")})`;
}
