// Which breakpoints of a session can be hit, read from the messages of the protocol. Does not use VS Code.

export interface LostBreakpoint {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Why it cannot be hit. */
  readonly message: string;
}

interface Known extends LostBreakpoint {
  /** Whether there is a place for it, if only in a function that this launch does not run. */
  readonly hasPlace: boolean;
}

interface Message {
  readonly type: string;
  readonly event?: string;
  readonly command?: string;
  readonly seq?: number;
  readonly request_seq?: number;
  readonly arguments?: Record<string, unknown>;
  readonly body?: Record<string, unknown>;
}

/** The breakpoints of a session, by their file. */
export class Breakpoints {
  private readonly asked = new Map<number, { file: string; lines: readonly number[] }>();
  private readonly files = new Map<string, Map<number, Known>>();
  private readonly sources = new Set<string>();

  /** A message to the adapter. */
  ask({ command, seq, arguments: values }: Message): void {
    const path = (values?.["source"] as { path?: string } | undefined)?.path;
    if (command === "setBreakpoints" && path !== undefined && seq !== undefined) {
      const wanted = values?.["breakpoints"] as readonly { line: number }[] | undefined;
      this.asked.set(seq, { file: path, lines: (wanted ?? []).map(({ line }) => line) });
    }
  }

  /** A message from the adapter. */
  hear({ type, event, command, request_seq, body }: Message): void {
    if (type === "response" && command === "setBreakpoints" && request_seq !== undefined) {
      const asked = this.asked.get(request_seq);
      this.asked.delete(request_seq);
      const answers = body?.["breakpoints"] as readonly Record<string, unknown>[] | undefined;
      if (asked !== undefined && answers !== undefined) {
        const known = answers.map((it, index): [number, Known] => [Number(it["id"] ?? -index), knownOf(it, asked.file, asked.lines[index] ?? 0)]);
        this.files.set(asked.file, new Map(known));
      }
    } else if (type === "event" && event === "breakpoint") {
      this.change(body?.["breakpoint"] as Record<string, unknown> | undefined);
    } else if (type === "event" && event === "loadedSource") {
      const path = (body?.["source"] as { path?: string } | undefined)?.path;
      if (path !== undefined) {
        this.sources.add(path);
      }
    }
  }

  private change(changed: Record<string, unknown> | undefined): void {
    const id = Number(changed?.["id"]);
    for (const known of this.files.values()) {
      const before = known.get(id);
      if (before !== undefined && changed !== undefined) {
        known.set(id, knownOf(changed, before.file, before.line));
      }
    }
  }

  /** Those that cannot be hit, in the sources that were loaded and in `source`. Other files are other programs'. */
  lost(source: string): LostBreakpoint[] {
    const found: LostBreakpoint[] = [];
    for (const [file, known] of this.files) {
      if (file === source || this.sources.has(file)) {
        found.push(...[...known.values()].filter(({ hasPlace }) => !hasPlace));
      }
    }
    return found.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  }
}

function knownOf(answer: Record<string, unknown>, file: string, line: number): Known {
  const message = String(answer["message"] ?? "it has no place in the program");
  return { file, line, message, hasPlace: answer["verified"] === true || answer["instructionReference"] !== undefined };
}

/** "The breakpoint at x.mlir:2", or "The breakpoints at x.mlir:2, 6 and y.mlir:1". */
export function placesText(lost: readonly LostBreakpoint[]): string {
  const byFile = new Map<string, number[]>();
  for (const { file, line } of lost) {
    byFile.set(file, [...(byFile.get(file) ?? []), line]);
  }
  const parts = [...byFile].map(([file, lines]) => `${file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1)}:${lines.join(", ")}`);
  return `The ${lost.length === 1 ? "breakpoint" : "breakpoints"} at ${parts.join(" and ")}`;
}
