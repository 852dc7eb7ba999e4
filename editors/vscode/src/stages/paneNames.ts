// Names of panes: documents that show one stage and follow their source. Their URIs stay the same from one
// compilation to the next (lsp/server/src/stages/names.rs). No part of VS Code.

/** The scheme of all stages. */
export const SCHEME = "iree-ir";

const LIVE = "live.";

/** What a pane shows. */
export interface PaneName {
  /** The path of its source. */
  readonly source: string;
  /** The stage: `flow`. */
  readonly stage: string;
  /** The function that it was opened for. */
  readonly function: string | undefined;
}

/** The path and the query of a pane's URI. The last part of the path is the title of its tab. */
export function paneUri(name: PaneName, label: string): { path: string; query: string } {
  const title = name.function === undefined ? label : `${label} @${name.function}`;
  const extension = name.stage.startsWith("bytecode") ? "vmasm" : "mlir";
  const query = name.function === undefined ? name.stage : `${name.stage}@${name.function}`;
  return { path: `${name.source}/${title.replace(/[/\\]/g, "_")}.${extension}`, query: LIVE + query };
}

/** What a URI of the scheme shows, if it is a pane's. */
export function paneOf(path: string, query: string): PaneName | undefined {
  if (!query.startsWith(LIVE)) {
    return undefined;
  }
  const [stage = "", ...rest] = query.slice(LIVE.length).split("@");
  const name = rest.join("@");
  const source = path.slice(0, path.lastIndexOf("/"));
  return stage === "" || source === "" ? undefined : { source, stage, function: name === "" ? undefined : name };
}

/** How long a text must rest before it is compiled again, in milliseconds. */
export function restFor(lastCompilation: number | undefined): number {
  return Math.min(5000, Math.max(400, (lastCompilation ?? 0) / 2));
}

/** Lines that two texts have in common at their beginning and at their end. */
export interface Unchanged {
  readonly head: number;
  readonly tail: number;
  readonly before: number;
  readonly after: number;
}

/** What an edit has left of a text, line by line. */
export function unchangedLines(before: readonly string[], after: readonly string[]): Unchanged {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) {
    tail += 1;
  }
  return { head, tail, before: before.length, after: after.length };
}

/** The unchanged lines around a line of the new text, and how much later they stood before. */
export function partAround(lines: Unchanged, line: number): { first: number; last: number; shift: number } | undefined {
  const { head, tail, before, after } = lines;
  if (line < head) {
    return { first: 0, last: head - 1, shift: 0 };
  }
  return line >= after - tail ? { first: after - tail, last: after - 1, shift: before - after } : undefined;
}

/** Where a line of the old text is now, if it is still there. */
export function lineNow({ head, tail, before, after }: Unchanged, line: number): number | undefined {
  if (line < head) {
    return line;
  }
  return line >= before - tail ? line + after - before : undefined;
}
