// iree-compile: whether there is one for a launch, and what the user can do if there is none.

import { dirname, resolve, sep } from "node:path";
import * as vscode from "vscode";
import { isSource } from "./launch";
import { isExecutable, openSetting, SECTION, settingPath } from "./binary";
import type { LanguageServer } from "./languageClient";
import { candidates } from "./paths";

/** The compiler whose phases the debugger knows. */
const PACKAGE = "iree-base-compiler==3.13.*";

export class Compiler {
  private readonly changed = new vscode.EventEmitter<void>();
  /** There may be another one now. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: LanguageServer) {}

  /** The iree-compile for the programs of a directory: the setting's, else the one that the debugger finds. */
  async find(directory: string, folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
    const named = settingPath("ireeCompile", folder);
    if (named !== undefined) {
      return canBeRun(named, directory) ? named : undefined;
    }
    const found = await this.server.compilerFor(directory).catch(() => undefined);
    return found?.path ?? undefined;
  }

  /** Lets the user name the program. Returns its path. */
  async choose(): Promise<string | undefined> {
    const [file] = (await vscode.window.showOpenDialog({ title: "The iree-compile program", openLabel: "Use This" })) ?? [];
    if (file === undefined) {
      return undefined;
    }
    await vscode.workspace.getConfiguration(SECTION).update("ireeCompile", file.fsPath, vscode.ConfigurationTarget.Global);
    this.changed.fire();
    return file.fsPath;
  }

  /** Installs it for the folder of the file in front, or for the one that the user chooses. */
  async installHere(): Promise<void> {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const folder = (uri && vscode.workspace.getWorkspaceFolder(uri)) ?? (await theFolder());
    if (folder === undefined) {
      void vscode.window.showErrorMessage("Open the folder of your model first: iree-compile is installed into its .venv.");
    } else {
      await this.install(folder);
    }
  }

  /** Whether the program of a launch can be compiled, if it has to be; otherwise the user is told. */
  async isReadyFor(launch: vscode.DebugConfiguration, folder: vscode.WorkspaceFolder | undefined): Promise<boolean> {
    const program = String(launch["program"]);
    if (!isSource(program)) {
      return true;
    }
    const directory = String(launch["cwd"] ?? dirname(program));
    const named: unknown = launch["ireeCompile"];
    if (typeof named === "string" && named !== "") {
      if (canBeRun(named, directory)) {
        return true;
      }
      const origin = settingPath("ireeCompile", folder) === named ? 'The setting "Iree Compile"' : 'The launch configuration\'s "ireeCompile"';
      void this.explain(`${origin} names ${named}, which is not a program that can be run.`, launch, folder);
      return false;
    }
    const found = await this.server.compilerFor(directory).catch(() => undefined);
    // Without the server, the adapter looks for itself.
    if (found === undefined || found.path !== null) {
      return true;
    }
    const name = program.slice(program.lastIndexOf("/") + 1);
    void this.explain(`iree-compile is needed to compile ${name}, and was not found on the PATH or in the project's .venv.`, launch, folder);
    return false;
  }

  /** Tells what is missing. Once there is a compiler, the launch begins again. */
  private async explain(text: string, launch: vscode.DebugConfiguration, folder: vscode.WorkspaceFolder | undefined): Promise<void> {
    if (await this.provide(text, launch, folder)) {
      await vscode.debug.startDebugging(folder, launch, { noDebug: launch["noDebug"] === true });
    }
  }

  /** Tells what is missing. Returns whether the user has provided a compiler. */
  private async provide(
    text: string,
    launch: vscode.DebugConfiguration,
    folder: vscode.WorkspaceFolder | undefined,
  ): Promise<boolean> {
    const [choose, install, settings] = ["Choose…", "Install into .venv", "Settings"];
    // A wrong name is no reason to install another one.
    const canInstall = folder !== undefined && launch["ireeCompile"] === undefined;
    // VS Code makes the first button the primary one, and a newcomer has nothing to choose.
    const ways = !canInstall ? [choose, settings] : [install, choose, settings];
    const answer = await vscode.window.showErrorMessage(text, ...ways);
    if (answer === settings) {
      await openSetting("ireeCompile");
    } else if (answer === choose) {
      const chosen = await this.choose();
      if (chosen !== undefined) {
        launch["ireeCompile"] = chosen;
        return true;
      }
    } else if (answer === install && folder !== undefined) {
      return this.install(folder);
    }
    return false;
  }

  /** Installs iree-compile into the folder's .venv, in a terminal that the user sees. */
  async install(folder: vscode.WorkspaceFolder): Promise<boolean> {
    const isWindows = process.platform === "win32";
    const python = isWindows ? "py -3" : "python3";
    const inside = isWindows ? ".venv\\Scripts\\python" : ".venv/bin/python";
    const line = `${python} -m venv .venv && ${inside} -m pip install "${PACKAGE}"`;
    const execution = new vscode.ShellExecution(line, { cwd: folder.uri.fsPath });
    const task = new vscode.Task({ type: "shell" }, folder, "Install iree-compile", "IREE", execution);
    task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Dedicated };
    const started = await vscode.tasks.executeTask(task);
    const code = await new Promise<number | undefined>((resolve) => {
      const ended = vscode.tasks.onDidEndTaskProcess((event) => {
        if (event.execution === started) {
          ended.dispose();
          resolve(event.exitCode);
        }
      });
    });
    if (code === 0) {
      this.changed.fire();
      return true;
    }
    void vscode.window.showErrorMessage("iree-compile was not installed; the terminal says why.");
    return false;
  }
}

/** The only folder of the workspace, or the user's choice. */
async function theFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.length > 1 ? vscode.window.showWorkspaceFolderPick() : folders[0];
}

/** Whether a program that is named can be run: a path, or a name on the PATH. */
function canBeRun(named: string, cwd: string): boolean {
  const isPath = named.includes("/") || named.includes(sep);
  const places = isPath ? [resolve(cwd, named)] : candidates(named, process.env, process.platform);
  return places.some(isExecutable);
}
