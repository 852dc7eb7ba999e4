// The programs of the walkthrough: sources with their compiled modules, so that they need no iree-compile. They are copied
// to a folder of the user's, where the sources can be edited; one that was edited is compiled like any other.

import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";

interface Sample {
  readonly file: string;
  readonly callee: string;
  readonly inputs: readonly string[];
  /** A text of the line to stop at. */
  readonly stop?: string;
  /** A command of the debugger before the program runs. */
  readonly first?: string;
}

const SAMPLES = {
  values: { file: "newton.mlir", callee: "main", inputs: ["2.0", "5"], stop: "%quotient = " },
  tensors: { file: "edges.mlir", callee: "edges", inputs: ["20.0"], stop: "return %edges" },
  nan: { file: "classifier.mlir", callee: "classify", inputs: ["1x16xf32=9"], first: "catch nan" },
} as const satisfies Record<string, Sample>;

const SESSION = "Sample";

export class Samples implements vscode.Disposable {
  private readonly bundled: string;
  private readonly folder: string;
  /** The command for the session that begins. */
  private first: string | undefined;
  private readonly registered: vscode.Disposable;

  constructor(context: vscode.ExtensionContext) {
    this.bundled = join(context.extensionPath, "samples");
    this.folder = join(context.globalStorageUri.fsPath, "samples");
    const commands = Object.entries(SAMPLES).map(([name, sample]) =>
      vscode.commands.registerCommand(`iree-dbg.sample.${name}`, () => this.debug(sample)),
    );
    this.registered = vscode.Disposable.from(
      ...commands,
      vscode.debug.registerDebugAdapterTrackerFactory("iree", {
        createDebugAdapterTracker: (session) => this.trackerOf(session),
      }),
    );
  }

  /** The compiled module of a sample's source that is as it came. */
  compiledOf(source: string): string | undefined {
    if (dirname(source) !== this.folder) {
      return undefined;
    }
    const original = join(this.bundled, basename(source));
    const module = source.replace(/\.mlir$/, ".vmfb");
    const isOriginal = existsSync(original) && existsSync(module) && readFileSync(original).equals(readFileSync(source));
    return isOriginal ? module : undefined;
  }

  /** Opens a sample and debugs it. */
  private async debug({ file, callee, inputs, stop, first }: Sample): Promise<void> {
    const source = vscode.Uri.file(this.copy(file));
    const document = await vscode.workspace.openTextDocument(source);
    await vscode.window.showTextDocument(document, { preview: false });
    if (stop !== undefined) {
      const line = document.positionAt(document.getText().indexOf(stop)).line;
      const place = new vscode.Location(source, new vscode.Position(line, 0));
      const isThere = vscode.debug.breakpoints.some((it) =>
        it instanceof vscode.SourceBreakpoint && it.location.uri.toString() === source.toString() && it.location.range.start.line === line);
      if (!isThere) {
        vscode.debug.addBreakpoints([new vscode.SourceBreakpoint(place)]);
      }
    }
    this.first = first;
    await vscode.debug.startDebugging(undefined, {
      type: "iree", request: "launch", name: SESSION, program: source.fsPath, function: callee, inputs,
      stopOnEntry: first !== undefined,
    });
  }

  /** Copies a sample to the user's folder, with its module; a source that is there stays. */
  private copy(file: string): string {
    mkdirSync(this.folder, { recursive: true });
    const source = join(this.folder, file);
    const module = file.replace(/\.mlir$/, ".vmfb");
    for (const name of [module, `${module}.debug`]) {
      copyFileSync(join(this.bundled, name), join(this.folder, name));
    }
    if (!existsSync(source)) {
      copyFileSync(join(this.bundled, file), source);
    }
    return source;
  }

  /** Gives the first command at the first stop, and lets the program go on. */
  private trackerOf(session: vscode.DebugSession): vscode.DebugAdapterTracker | undefined {
    const command = session.name === SESSION ? this.first : undefined;
    this.first = session.name === SESSION ? undefined : this.first;
    if (command === undefined) {
      return undefined;
    }
    let isDone = false;
    return {
      onDidSendMessage: ({ type, event }: { type: string; event?: string }) => {
        if (type === "event" && event === "stopped" && !isDone) {
          isDone = true;
          void session.customRequest("evaluate", { expression: command, context: "repl" })
            .then(() => vscode.commands.executeCommand("workbench.action.debug.continue"));
        }
      },
    };
  }

  dispose(): void {
    this.registered.dispose();
  }
}
