// What the language server and the debug adapter answer about a module: `iree-dbg/module`, `iree-dbg/dispatchGraph`,
// `iree-dbg/profile` and `iree/runMap`.

/** A module at a glance. */
export interface Overview {
  readonly name: string;
  readonly bytes: number;
  /** When it was written, in milliseconds since 1970. */
  readonly modified: number | null;
  readonly bytecodeVersion: string;
  readonly exports: readonly Export[];
  readonly imports: readonly Import[];
  readonly dependencies: readonly Dependency[];
  readonly sizes: readonly SizePart[];
  readonly debugFile: string | null;
  readonly debugFileProblem: string | null;
  /** What `iree-compile --version` said. */
  readonly compiler: string | null;
  readonly flags: readonly string[];
  readonly sources: readonly Source[];
}

export interface Export {
  readonly name: string;
  readonly arguments: readonly NamedType[];
  readonly results: readonly NamedType[];
  readonly callingConvention: string | null;
  readonly declaration: string | null;
  /** Whether it is the twin for callers with fences of another export. */
  readonly isAsyncTwin: boolean;
}

export interface NamedType {
  readonly name: string | null;
  readonly type: string;
}

export interface Import {
  readonly module: string;
  readonly name: string;
  readonly callingConvention: string | null;
  readonly isOptional: boolean;
}

export interface Dependency {
  readonly name: string;
  readonly minimumVersion: number;
  readonly isOptional: boolean;
}

export type PartKind = "executable" | "constant" | "parameter" | "bytecode" | "tables" | "text";

export interface SizePart {
  readonly kind: PartKind;
  readonly name: string;
  /** null: it is only known when the program runs. */
  readonly bytes: number | null;
  /** The type of a constant of the source, which can be viewed. */
  readonly type?: string;
}

export interface Source {
  readonly name: string;
  /** Where it is now. */
  readonly path: string | null;
  readonly state: "unchanged" | "changed" | "missing";
  readonly modified: number | null;
}

/** The dispatches of a module. */
export interface Graph {
  readonly functions: readonly GraphFunction[];
}

export interface GraphFunction {
  /** Empty for an initializer. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** What its groups are made of; nothing if it has none. */
  readonly groupedBy?: "python" | "names" | "calls";
  /** Whether constants, parameters and globals have boxes. */
  readonly showsWeights: boolean;
  /** The boxes, then the groups, each after the one around it. Their indices are the same whatever is open. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  readonly id: string;
  readonly kind: "argument" | "result" | "dispatch" | "copy" | "call" | "other" | "weight" | "group";
  /** The tensor of the source that it makes, else what it does. */
  readonly title: string;
  /** The export that a dispatch runs, or what else is done. */
  readonly operation: string;
  /** Its name in the model: `/encoder/layer.0/MatMul`. */
  readonly fullName?: string;
  readonly file?: string;
  readonly line?: number;
  readonly inputs: readonly GraphTensor[];
  readonly outputs: readonly GraphTensor[];
  /** How many bytes it reads and writes, if the sizes are known. */
  readonly bytes?: number;
  /** How many arithmetic operations it does, as far as its code says. */
  readonly operations?: number;
  /** How many loops are around it. */
  readonly loops: number;
  /** The index of the group that it is in. */
  readonly group?: number;
  /** Of a group, how many dispatches are in it, at any depth. */
  readonly dispatches?: number;
  /** Of a group, whether its boxes are seen: then it is a frame around them. */
  readonly isOpen?: boolean;
  /** Whether it has no place: a group around it is collapsed, or weights are not shown. */
  readonly isHidden?: boolean;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface GraphTensor {
  readonly name?: string;
  readonly type: string;
  readonly bytes?: number;
  /** What it is if no box makes it: `constant`, `parameter SCOPE::KEY` and others. */
  readonly origin?: string;
}

export type Point = readonly [x: number, y: number];

/** A tensor that leads from one box to another. */
export interface GraphEdge {
  /** The indices of the boxes, or of the collapsed groups that have them. */
  readonly from: number;
  readonly to: number;
  readonly tensor: GraphTensor;
  /** Whether it leads to the next turn of a loop. */
  readonly isBack: boolean;
  /** The points that its line goes through. */
  readonly points: readonly Point[];
}

/** What has run so far. Times are in nanoseconds. */
export interface RunMap {
  /** How many commands have run. */
  readonly total: number;
  /** Whether the program can go back. */
  readonly isRecorded: boolean;
  readonly dispatches: readonly DispatchRuns[];
  /** The last commands that ran, oldest first. */
  readonly commands: readonly Command[];
}

export interface DispatchRuns {
  /** The identity of its box. */
  readonly id: string | null;
  readonly export: string | null;
  readonly path: string | null;
  readonly line: number | null;
  readonly runs: number;
  readonly lastCommand: number | null;
  /** How long all of its runs took. */
  readonly took: number | null;
  /** Whether the program stands at it. */
  readonly isCurrent: boolean;
  /** What its last run left; null if that was overwritten before a stop. */
  readonly nans: number | null;
  readonly infinities: number | null;
}

export interface Command {
  /** From 1. */
  readonly number: number;
  readonly kind: "dispatch" | "fill" | "update" | "copy";
  /** The dispatch, by its index. */
  readonly dispatch: number | null;
  readonly start: number;
  readonly took: number;
  /** Whether the program has stood within it. */
  readonly hasStood: boolean;
}

/** The times of a profile, in nanoseconds. */
export interface Profile {
  readonly functions: readonly FunctionTime[];
}

export interface FunctionTime {
  readonly name: string;
  readonly count: number;
  readonly total: number;
}
