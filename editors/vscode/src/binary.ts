// Finds the iree-dbg program, and tells the user if there is none. All other files use this, so that the debugger, the
// language server and the disassembly always run the same program.

import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { candidates, expandSetting, inEnvironments } from "./paths";

export const SECTION = "iree-dbg";

/** There is no iree-dbg; the text says what to do. */
export class BinaryMissing extends Error {}

export class Binary {
  constructor(private readonly extensionPath: string) {}

  /**
   * The path of iree-dbg: the setting, else the one in the extension, else the one on the PATH, else the one that pip
   * installed into the Python environment of a folder, if the user trusts the workspace.
   */
  path(): string {
    const setting = settingPath("path");
    if (setting !== undefined) {
      if (isExecutable(setting)) {
        return setting;
      }
      throw new BinaryMissing(`The setting "iree-dbg.path" names ${setting}, which is not a program that can be run.`);
    }
    const bundled = join(this.extensionPath, "bin", process.platform === "win32" ? "iree-dbg.exe" : "iree-dbg");
    const folders = vscode.workspace.isTrusted ? vscode.workspace.workspaceFolders ?? [] : [];
    const installed = folders.flatMap(({ uri }) => inEnvironments("iree-dbg", uri.fsPath, process.platform));
    const onPath = candidates("iree-dbg", process.env, process.platform);
    const found = [bundled, ...onPath, ...installed].find(isExecutable);
    if (found === undefined) {
      throw new BinaryMissing(
        `The program "iree-dbg" was not found on the PATH or in the project's .venv. Build it (cargo build --release) and set "iree-dbg.path" to it.`,
      );
    }
    return found;
  }

  /** Runs iree-dbg and returns its output. Its standard error becomes the error's text. */
  async run(args: readonly string[], token?: vscode.CancellationToken): Promise<string> {
    const { code, stdout, stderr } = await this.outcome(args, token);
    if (code !== 0) {
      throw new Error(stderr.trim() || `iree-dbg ended with the status ${code}`);
    }
    return stdout;
  }

  /** Runs iree-dbg to its end, which may be a failure. */
  outcome(args: readonly string[], token?: vscode.CancellationToken): Promise<{ code: number; stdout: string; stderr: string }> {
    const path = this.path();
    return new Promise((resolve) => {
      const child = execFile(path, [...args], { maxBuffer: 512 * 1024 * 1024 }, (error, stdout, stderr) => {
        cancelled?.dispose();
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, stdout, stderr: stderr || (error?.message ?? "") });
      });
      const cancelled = token?.onCancellationRequested(() => child.kill());
    });
  }
}

/** A setting that names a file, with variables expanded; undefined if it is empty. */
export function settingPath(name: "path" | "ireeCompile", scope?: vscode.WorkspaceFolder): string | undefined {
  const value = vscode.workspace.getConfiguration(SECTION, scope?.uri).get<string>(name, "").trim();
  if (value === "") {
    return undefined;
  }
  const folder = scope ?? vscode.workspace.workspaceFolders?.[0];
  return expandSetting(value, folder?.uri.fsPath, process.env["HOME"] ?? process.env["USERPROFILE"]);
}

/** Shows why iree-dbg cannot run, with remedies as buttons. */
export async function explainMissing(error: BinaryMissing): Promise<void> {
  const choose = "Choose iree-dbg…";
  const settings = "Open Settings";
  const answer = await vscode.window.showErrorMessage(error.message, choose, settings);
  if (answer === settings) {
    await openSetting("path");
  } else if (answer === choose) {
    const [file] = (await vscode.window.showOpenDialog({ title: "The iree-dbg program", openLabel: "Use This" })) ?? [];
    if (file !== undefined) {
      await vscode.workspace
        .getConfiguration(SECTION)
        .update("path", file.fsPath, vscode.ConfigurationTarget.Global);
    }
  }
}

/** Opens a setting that names a program. On another machine, such settings are that machine's. */
export async function openSetting(name: "path" | "ireeCompile"): Promise<void> {
  const query = `${SECTION}.${name}`;
  const command = vscode.env.remoteName === undefined ? "openSettings" : "openRemoteSettings";
  await vscode.commands.executeCommand(`workbench.action.${command}`, { query });
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
