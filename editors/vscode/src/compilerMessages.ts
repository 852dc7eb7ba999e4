// The messages of iree-compile, read from its output. Does not use VS Code.

export interface Place {
  readonly file: string;
  /** From 1, as the compiler counts. */
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

export interface CompilerMessage extends Place {
  readonly severity: "error" | "warning" | "remark";
  readonly notes: readonly Place[];
}

const MESSAGE = /^(.+?):(\d+):(\d+): (error|warning|remark|note): (.*)$/;

/** The messages with a place. Lines of other kinds (the text that is quoted, `^`) are left out. */
export function compilerMessages(lines: readonly string[]): CompilerMessage[] {
  const found: (CompilerMessage & { notes: Place[] })[] = [];
  const seen = new Set<string>();
  for (const line of lines) {
    const read = MESSAGE.exec(line);
    if (read === null) {
      continue;
    }
    const place = { file: read[1] ?? "", line: Number(read[2]), column: Number(read[3]), text: read[5] ?? "" };
    const severity = read[4];
    if (severity === "note") {
      found.at(-1)?.notes.push(place);
    } else if (!seen.has(line) && (severity === "error" || severity === "warning" || severity === "remark")) {
      seen.add(line);
      found.push({ ...place, severity, notes: [] });
    }
  }
  return found;
}
