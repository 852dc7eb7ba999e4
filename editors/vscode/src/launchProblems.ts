// What a launch complains of, where people look: errors of the compiler in the Problems view and under the text, the
// reason of a failed launch in a notification with ways out, and missing debug information with a way to get it.

import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { Breakpoints, type LostBreakpoint, placesText } from "./breakpoints";
import { type CompilerMessage, compilerMessages } from "./compilerMessages";

export function registerLaunchProblems(): vscode.Disposable {
  const problems = vscode.languages.createDiagnosticCollection("iree-compile");
  return vscode.Disposable.from(
    problems,
    vscode.debug.registerDebugAdapterTrackerFactory("iree", {
      createDebugAdapterTracker: (session) => new Launch(session, problems),
    }),
    // What was edited may be right now; the next launch says.
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length > 0) {
        problems.delete(document.uri);
      }
    }),
  );
}

interface Message {
  readonly type: string;
  readonly seq?: number;
  readonly request_seq?: number;
  readonly arguments?: Record<string, unknown>;
  readonly event?: string;
  readonly command?: string;
  readonly success?: boolean;
  readonly message?: string;
  readonly body?: Record<string, unknown>;
}

/** One session, until its program runs. */
class Launch implements vscode.DebugAdapterTracker {
  private lines: string[] = [];
  private isLaunching = true;
  private isIncomplete: Incomplete | undefined;
  private readonly breakpoints = new Breakpoints();
  private isChecked = false;

  constructor(
    private readonly session: vscode.DebugSession,
    private readonly problems: vscode.DiagnosticCollection,
  ) {}

  onDidSendMessage(message: Message): void {
    const { type, event, command, body } = message;
    if (type === "event" && event === "output" && this.isLaunching) {
      this.lines.push(...String(body?.["output"] ?? "").split("\n"));
    } else if (type === "response" && (command === "launch" || command === "restart")) {
      this.isLaunching = false;
      this.publish(message.success === true ? undefined : reasonOf(message));
    } else if (type === "event" && event === "module") {
      this.isIncomplete ??= incompleteness(body?.["module"] as Record<string, unknown>, this.program);
    } else if (type === "response" && command === "configurationDone") {
      // The module is loaded, and the breakpoints are set.
      this.check();
    }
    this.breakpoints.hear(message);
  }

  onWillReceiveMessage(message: Message): void {
    if (message.command === "restart") {
      this.isLaunching = true;
      this.lines = [];
    }
    this.breakpoints.ask(message);
  }

  private get program(): string {
    return String(this.session.configuration["program"] ?? "");
  }

  /** Shows the compiler's messages as problems, and why the launch has failed. */
  private publish(failure: string | undefined): void {
    if (this.session.configuration.request !== "launch") {
      return;
    }
    const messages = compilerMessages(this.lines);
    this.problems.delete(vscode.Uri.file(this.program));
    const byFile = new Map<string, vscode.Diagnostic[]>();
    for (const message of messages) {
      byFile.set(message.file, [...(byFile.get(message.file) ?? []), diagnosticOf(message)]);
    }
    for (const [file, diagnostics] of byFile) {
      this.problems.set(vscode.Uri.file(file), diagnostics);
    }
    if (failure !== undefined) {
      void explain(failure, messages.find(({ severity }) => severity === "error"), this.session);
    }
  }

  /** Says once which breakpoints cannot be hit, and that functions of the program have no debug information. */
  private check(): void {
    if (this.isChecked || this.session.configuration.noDebug === true || this.session.configuration.request !== "launch") {
      return;
    }
    this.isChecked = true;
    const source = this.program.replace(/\.vmfb$/, ".mlir");
    const lost = this.breakpoints.lost(source);
    const incomplete = this.isIncomplete;
    if (incomplete !== undefined) {
      const what = incomplete.without === undefined
        ? `${nameOf(this.program)} has no debug information: it is shown as its disassembly`
        : `${nameOf(this.program)} has no debug information for ${incomplete.without} of its ${incomplete.all} functions`;
      const consequence = lost.length > 0
        ? `. ${placesText(lost)} cannot be hit.`
        : incomplete.without === undefined ? "." : ": breakpoints in them cannot be hit.";
      void offerToCompile(what + consequence, this.program, this.session);
    } else if (lost.length > 0) {
      void showLost(lost);
    }
  }
}

/** A module whose functions are not all known: how many are not, unless none is. */
interface Incomplete {
  readonly without?: number;
  readonly all?: number;
}

/** What a module of the program lacks, as its event tells. */
function incompleteness(module: Record<string, unknown> | undefined, program: string): Incomplete | undefined {
  const status = String(module?.["symbolStatus"] ?? "");
  if (module?.["path"] !== program) {
    return undefined;
  }
  if (status === "no debug information") {
    return {};
  }
  const counts = /^debug database: (\d+) of (\d+) functions/.exec(status);
  const [mapped, all] = [Number(counts?.[1]), Number(counts?.[2])];
  return counts !== null && mapped < all ? { without: all - mapped, all } : undefined;
}

function nameOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** What the adapter says of a failed launch. */
function reasonOf({ message, body }: Message): string {
  const error = body?.["error"] as { format?: string } | undefined;
  return error?.format ?? message ?? "Could not start the program.";
}

function diagnosticOf({ line, column, severity, text, notes }: CompilerMessage): vscode.Diagnostic {
  const at = new vscode.Position(Math.max(line - 1, 0), Math.max(column - 1, 0));
  const levels = { error: vscode.DiagnosticSeverity.Error, warning: vscode.DiagnosticSeverity.Warning, remark: vscode.DiagnosticSeverity.Information };
  // VS Code widens an empty range to the word.
  const diagnostic = new vscode.Diagnostic(new vscode.Range(at, at), text, levels[severity]);
  diagnostic.source = "iree-compile";
  diagnostic.relatedInformation = notes.map(
    (note) => new vscode.DiagnosticRelatedInformation(
      new vscode.Location(vscode.Uri.file(note.file), new vscode.Position(Math.max(note.line - 1, 0), Math.max(note.column - 1, 0))),
      note.text,
    ),
  );
  return diagnostic;
}

/** A notification with ways out. */
async function explain(failure: string, error: CompilerMessage | undefined, session: vscode.DebugSession): Promise<void> {
  const [goTo, problems, output, configuration] = ["Go to Error", "Show Problems", "Show Output", "Open launch.json"];
  const isNamed = session.configuration["__configurationTarget"] !== undefined;
  const ways = error !== undefined ? [goTo, problems, output] : isNamed ? [output, configuration] : [output];
  const answer = await vscode.window.showErrorMessage(failure, ...ways);
  if (answer === goTo && error !== undefined) {
    const at = new vscode.Position(error.line - 1, Math.max(error.column - 1, 0));
    await vscode.window.showTextDocument(vscode.Uri.file(error.file), { selection: new vscode.Range(at, at) });
  } else if (answer === problems) {
    await vscode.commands.executeCommand("workbench.actions.view.problems");
  } else if (answer === output) {
    await vscode.commands.executeCommand("workbench.debug.action.focusRepl");
  } else if (answer === configuration) {
    await vscode.commands.executeCommand("workbench.action.debug.configure");
  }
}

/** Says which breakpoints cannot be hit, and why. */
async function showLost(lost: readonly LostBreakpoint[]): Promise<void> {
  const [first] = lost;
  const show = lost.length === 1 ? "Show It" : "Show the First";
  const text = `${placesText(lost)} cannot be hit: ${first?.message ?? ""}`.replace(/\.?$/, ".");
  if ((await vscode.window.showWarningMessage(text, show)) === show && first !== undefined) {
    const at = new vscode.Position(Math.max(first.line - 1, 0), 0);
    await vscode.window.showTextDocument(vscode.Uri.file(first.file), { selection: new vscode.Range(at, at) });
  }
}

/** Offers to debug the source of a module, which compiles it with all debug information. */
async function offerToCompile(text: string, module: string, session: vscode.DebugSession): Promise<void> {
  const compile = "Compile for Debugging";
  if ((await vscode.window.showWarningMessage(text, compile)) !== compile) {
    return;
  }
  const beside = module.replace(/\.vmfb$/, ".mlir");
  const choice = existsSync(beside)
    ? vscode.Uri.file(beside)
    : (await vscode.window.showOpenDialog({ title: `The source of ${nameOf(module)}`, openLabel: "Compile and Debug", filters: { MLIR: ["mlir"] } }))?.[0];
  if (choice === undefined) {
    return;
  }
  await vscode.debug.stopDebugging(session);
  const { function: callee, inputs } = session.configuration;
  await vscode.debug.startDebugging(session.workspaceFolder, {
    type: "iree", request: "launch", name: `Debug ${nameOf(choice.fsPath)}`, program: choice.fsPath, function: callee, inputs,
  });
}
