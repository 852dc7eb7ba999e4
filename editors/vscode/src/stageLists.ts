// What the language server says about stages, and the lists that the user chooses from. No part of VS Code.

/** A function of a stage, and how many operations of the chosen function it has. */
export interface Part {
  readonly name: string;
  readonly line: number;
  readonly operations: number | null;
}

/** A stage of a compilation. */
export interface Stage {
  readonly name: string;
  /** What people call it. */
  readonly label: string;
  readonly title: string;
  readonly uri: string;
  readonly lines: number;
  /** Where the chosen function begins. */
  readonly line: number | null;
  readonly parts: readonly Part[];
}

/** The answer to `iree-dbg/stages`. */
export interface Stages {
  readonly key: string;
  readonly source: string;
  readonly function: string | null;
  readonly version: string;
  readonly flags: readonly string[];
  /** Why there is no module, if the compilation failed on its way. */
  readonly problem: string | null;
  readonly notes: readonly string[];
  readonly stages: readonly Stage[];
}

/** The answer to `iree-dbg/passes`. */
export interface Passes {
  readonly function: string;
  readonly printed: number;
  readonly notes: readonly string[];
  readonly passes: readonly { readonly title: string; readonly pass: string; readonly uri: string; readonly changed: number }[];
}

/** A line of a stage in the answer to `iree-dbg/becomes`. */
export interface TracedLine {
  readonly uri: string;
  readonly range: Range;
  readonly text: string;
  readonly kind: "own" | "fused" | "inlined" | "dispatch";
  readonly function: string | null;
  readonly instruction: { readonly function: string; readonly offset: number; readonly bytes: string } | null;
}

export interface Range {
  readonly start: { readonly line: number; readonly character: number };
  readonly end: { readonly line: number; readonly character: number };
}

/** What passes did with an operation. */
export interface Why {
  readonly isGone: boolean;
  /** All of it in a sentence. */
  readonly text: string;
  readonly history: readonly {
    /** As the compiler names it; `null` if it is one of several. */
    readonly pass: string | null;
    readonly text: string;
    readonly detail: string | null;
    readonly into: readonly { readonly uri: string; readonly range: Range }[];
  }[];
}

/** The answer to `iree-dbg/becomes`. */
export interface Becomes {
  readonly key: string;
  readonly isStale: boolean;
  readonly places: readonly { readonly file: string; readonly line: number; readonly column: number }[];
  readonly source: readonly { readonly uri: string; readonly range: Range }[];
  /** If it was asked for. */
  readonly why?: Why;
  readonly stages: readonly {
    readonly name: string;
    readonly label: string;
    readonly title: string;
    readonly uri: string;
    readonly lines: readonly TracedLine[];
    readonly leftOut: number;
  }[];
}

/** The stages that have no line of an operation which the source has. */
export function withoutLines(becomes: Becomes): string[] {
  return becomes.places.length === 0
    ? []
    : becomes.stages.filter(({ lines, leftOut }) => lines.length + leftOut === 0).map(({ label }) => label);
}

/** The class of a pass: `CSEPass`. */
function shortPass(pass: string): string {
  return pass.split(/[\s{]/)[0]?.replace(/:$/, "").split("::").pop() ?? pass;
}

/** What passes did with an operation, the last pass first. */
export function whyItems(why: Why): Item[] {
  return [...why.history].reverse().map(({ pass, text, detail, into: [place] }) => ({
    label: text,
    ...(pass === null ? {} : { description: shortPass(pass) }),
    ...(detail === null ? {} : { detail }),
    ...(place === undefined ? {} : { step: { uri: place.uri, title: "source", line: place.range.start.line } }),
  }));
}

/** A document of a sequence, and the line to begin at. */
export interface Step {
  readonly uri: string;
  readonly title: string;
  readonly line: number;
}

/** An entry of a list. */
export interface Item {
  /** It is the head of those below it. */
  readonly isHead?: boolean;
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  readonly step?: Step;
}

/** The stage of a compilation that stands for one of another: bytecode of dispatches has a name of its own each time. */
export function remade({ stages }: Stages, name: string): Stage | undefined {
  const nested = "bytecode-";
  const isNested = (stage: Stage): boolean => name.startsWith(nested) && stage.name.startsWith(nested);
  return stages.find((stage) => stage.name === name) ?? stages.find(isNested);
}

/** The stages to choose from, each with what the function became there. */
export function stageItems(stages: Stages): Item[] {
  return stages.stages.map((stage) => ({
    label: withoutExtension(stage.title),
    description: description(stages, stage),
    step: { uri: stage.uri, title: stage.title, line: stage.line ?? 0 },
  }));
}

function description(stages: Stages, stage: Stage): string {
  if (stages.function === null) {
    return `${String(stage.lines)} lines`;
  }
  if (stage.parts.length === 0) {
    return "nothing of it";
  }
  const isOwn = (part: Part): boolean => part.name === stages.function;
  const sorted = [...stage.parts.filter(isOwn), ...stage.parts.filter((part) => !isOwn(part))];
  const shown = sorted.slice(0, 3).map((part) => `@${part.name}${part.operations === null ? "" : ` (${String(part.operations)})`}`);
  const more = stage.parts.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${String(more)} more` : "");
}

/** The passes to choose from. */
export function passItems(passes: Passes): Item[] {
  return passes.passes.map((pass) => ({
    label: withoutExtension(pass.title),
    description: pass.changed === 1 ? "1 line" : `${String(pass.changed)} lines`,
    detail: pass.pass,
    step: { uri: pass.uri, title: pass.title, line: 0 },
  }));
}

/** The lines that an operation went to, by stage. */
export function traceItems(becomes: Becomes): Item[] {
  const items: Item[] = [];
  for (const place of becomes.source) {
    items.push({
      label: `source, line ${String(place.range.start.line + 1)}`,
      step: { uri: place.uri, title: "source", line: place.range.start.line },
    });
  }
  for (const stage of becomes.stages) {
    const count = stage.lines.length + stage.leftOut;
    items.push({ isHead: true, label: `${withoutExtension(stage.title)}: ${count === 0 ? "nothing left" : String(count)}` });
    for (const line of stage.lines) {
      items.push({
        label: line.text,
        description: where(line),
        step: { uri: line.uri, title: stage.title, line: line.range.start.line },
      });
    }
  }
  return items;
}

const KINDS = { fused: "one of several", inlined: "inlined here", dispatch: "the dispatch with it" } as const;

function where({ kind, function: name, instruction }: TracedLine): string {
  const parts = name === null ? [] : [`@${name}`];
  if (instruction !== null) {
    const bytes = (instruction.bytes.match(/../g) ?? []).join(" ");
    parts.push(`+0x${instruction.offset.toString(16).toUpperCase()}`, bytes);
  }
  if (kind !== "own") {
    parts.push(KINDS[kind]);
  }
  return parts.join("  ");
}

/** The document before (-1) or after (1) another one of a sequence. */
export function neighbour(steps: readonly Step[], uri: string, way: -1 | 1): Step | undefined {
  const index = steps.findIndex((step) => step.uri === uri);
  return index < 0 ? undefined : steps[index + way];
}

function withoutExtension(title: string): string {
  return title.replace(/\.(mlir|vmasm)$/, "");
}
