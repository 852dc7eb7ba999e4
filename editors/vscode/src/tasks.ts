// Tasks that compile the .mlir in front: with iree-compile as it is, or for debugging. What the compiler says becomes
// problems (`$iree-compile`).

import { basename, dirname, isAbsolute, join } from "node:path";
import * as vscode from "vscode";
import { type Binary, SECTION } from "./binary";
import type { Compiler } from "./compiler";

const TYPE = "iree-compile";
/** Machine code for this machine, if the settings name no flags. */
const FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"];

interface Definition extends vscode.TaskDefinition {
  readonly source: string;
  readonly output?: string;
  readonly flags?: readonly string[];
  readonly forDebugging?: boolean;
}

export function registerTasks(binary: Binary, compiler: Compiler): vscode.Disposable {
  return vscode.tasks.registerTaskProvider(TYPE, new Tasks(binary, compiler));
}

class Tasks implements vscode.TaskProvider {
  constructor(private readonly binary: Binary, private readonly compiler: Compiler) {}

  async provideTasks(): Promise<vscode.Task[]> {
    const shown = vscode.window.visibleTextEditors.map(({ document }) => document.uri);
    const sources = new Map(shown.filter(({ scheme, path }) => scheme === "file" && path.endsWith(".mlir")).map((uri) => [uri.toString(), uri]));
    const tasks: vscode.Task[] = [];
    for (const uri of sources.values()) {
      const folder = vscode.workspace.getWorkspaceFolder(uri);
      const source = folder === undefined ? uri.fsPath : vscode.workspace.asRelativePath(uri, false);
      for (const forDebugging of [false, true]) {
        const task = await this.taskOf({ type: TYPE, source, ...(forDebugging ? { forDebugging } : {}) }, folder);
        tasks.push(...(task === undefined ? [] : [task]));
      }
    }
    return tasks;
  }

  /** Completes a task of tasks.json. */
  resolveTask({ definition, scope }: vscode.Task): Promise<vscode.Task | undefined> {
    const folder = typeof scope === "object" ? scope : vscode.workspace.workspaceFolders?.[0];
    return this.taskOf(definition as Definition, folder);
  }

  private async taskOf(definition: Definition, folder: vscode.WorkspaceFolder | undefined): Promise<vscode.Task | undefined> {
    const base = folder?.uri.fsPath;
    const cwd = base ?? dirname(definition.source);
    const whole = isAbsolute(definition.source) ? definition.source : join(cwd, definition.source);
    const output = definition.output ?? definition.source.replace(/\.mlir$/, "") + ".vmfb";
    const named = definition.flags ?? vscode.workspace.getConfiguration(SECTION, folder?.uri).get<string[]>("compilerFlags", []);
    const found = await this.compiler.find(dirname(whole), folder);
    const flags = named.length === 0 && definition.forDebugging !== true ? FLAGS : named;
    const execution = definition.forDebugging === true
      ? new vscode.ProcessExecution(this.binary.path(), [
        "compile", definition.source, "-o", output, ...(found === undefined ? [] : [`--iree-compile=${found}`]), "--", ...flags,
      ], { cwd })
      : new vscode.ProcessExecution(found ?? "iree-compile", [definition.source, "-o", output, ...flags], { cwd });
    const name = `compile ${basename(whole)}${definition.forDebugging === true ? " for debugging" : ""}`;
    const task = new vscode.Task(definition, folder ?? vscode.TaskScope.Workspace, name, "IREE", execution, ["$iree-compile"]);
    task.group = vscode.TaskGroup.Build;
    task.detail = `${output}${flags.length === 0 ? "" : `, ${flags.join(" ")}`}`;
    return task;
  }
}
