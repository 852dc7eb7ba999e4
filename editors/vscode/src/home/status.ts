// The item in the status bar: which iree-compile there is, and whether the language server runs. A click leads to what can
// be done about both.

import { execFile } from "node:child_process";
import { dirname } from "node:path";
import * as vscode from "vscode";
import { type Binary, openSetting, SECTION } from "../binary";
import type { Compiler } from "../compiler";
import type { LanguageServer } from "../languageClient";
import { openWalkthrough } from "./actions";
import { versionOf } from "./version";

interface Action extends vscode.QuickPickItem {
  readonly act?: () => unknown;
}

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("iree-dbg.status", vscode.StatusBarAlignment.Right, 90);
  private readonly registered: vscode.Disposable;
  private compilerPath: string | undefined;
  private version: string | undefined;
  /** Counts the updates: one that is overtaken shows nothing. */
  private updates = 0;

  constructor(
    private readonly binary: Binary,
    private readonly server: LanguageServer,
    private readonly compiler: Compiler,
  ) {
    this.item.name = "IREE";
    this.item.command = "iree-dbg.actions";
    const update = (): void => void this.update();
    this.registered = vscode.Disposable.from(
      this.item,
      vscode.commands.registerCommand("iree-dbg.actions", () => this.ask()),
      vscode.window.onDidChangeActiveTextEditor(update),
      vscode.window.tabGroups.onDidChangeTabs(update),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(SECTION) && update()),
      vscode.workspace.onDidGrantWorkspaceTrust(update),
      vscode.debug.onDidTerminateDebugSession(update),
      server.onDidChangeState(update),
      compiler.onDidChange(update),
    );
    update();
  }

  private async update(): Promise<void> {
    const update = ++this.updates;
    const shown = shownFile();
    if (shown === undefined) {
      this.item.hide();
      return;
    }
    const path = await this.compiler.find(dirname(shown.fsPath), vscode.workspace.getWorkspaceFolder(shown));
    // In an untrusted folder no program of it is started.
    const version = path === undefined || !vscode.workspace.isTrusted ? undefined : await compilerVersion(path);
    if (update === this.updates) {
      this.compilerPath = path;
      this.version = version;
      this.show();
    }
  }

  private show(): void {
    const isMissing = this.compilerPath === undefined;
    const { state } = this.server;
    const label = this.version ?? (isMissing ? "no iree-compile" : "");
    const icon = state === "failed" ? "$(error)" : isMissing ? "$(warning)" : state === "starting" ? "$(loading~spin)" : "$(layers)";
    const server = { starting: "starts", running: "runs", stopped: "does not run", failed: "did not start" }[state];
    this.item.text = `${icon} IREE ${label}`.trimEnd();
    const lines = [
      isMissing
        ? "**iree-compile** was not found. Compiled modules (`.vmfb`) can be debugged without it."
        : `**iree-compile** ${this.version ?? ""}  \n${this.compilerPath ?? ""}`,
      `The language server ${server}.`,
    ];
    this.item.tooltip = new vscode.MarkdownString(lines.join("\n\n"));
    this.item.accessibilityInformation = {
      label: `IREE: ${isMissing ? "no iree-compile" : `iree-compile ${this.version ?? ""}`}; the language server ${server}`,
      role: "button",
    };
    const colour = state === "failed" ? "statusBarItem.errorBackground" : isMissing ? "statusBarItem.warningBackground" : undefined;
    this.item.backgroundColor = colour === undefined ? undefined : new vscode.ThemeColor(colour);
    this.item.show();
  }

  /** The actions, as a list. */
  private async ask(): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0];
    const run = (command: string): (() => unknown) => () => vscode.commands.executeCommand(command);
    const separator = (label: string): Action => ({ label, kind: vscode.QuickPickItemKind.Separator });
    const install: Action[] = folder === undefined
      ? []
      : [{ label: "$(cloud-download) Install iree-compile into .venv", act: () => this.compiler.install(folder) }];
    const actions: Action[] = [
      separator("Compiler"),
      {
        label: "$(folder-opened) Choose iree-compile…", detail: this.compilerPath ?? "none was found",
        ...(this.version === undefined ? {} : { description: this.version }), act: () => this.compiler.choose(),
      },
      ...install,
      separator("Language server"),
      { label: "$(refresh) Restart", detail: this.programPath(), act: () => this.server.restart() },
      { label: "$(output) Show Log", act: () => this.server.showOutput() },
      separator("Help"),
      { label: "$(rocket) Get Started", act: openWalkthrough },
      { label: "$(gear) Settings", act: () => openSetting("ireeCompile") },
      { label: "$(list-unordered) All Commands", act: run("workbench.action.showCommands") },
    ];
    const chosen = await vscode.window.showQuickPick(actions, { title: "IREE" });
    await chosen?.act?.();
  }

  private programPath(): string {
    try {
      return this.binary.path();
    } catch (error) {
      return String(error instanceof Error ? error.message : error);
    }
  }

  dispose(): void {
    this.registered.dispose();
  }
}

/** The file in front, if it is one that this extension is for. */
function shownFile(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const tab = input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom ? input.uri : undefined;
  const uri = tab ?? vscode.window.activeTextEditor?.document.uri;
  return uri !== undefined && /\.(mlir|vmasm|vmfb)$/.test(uri.path) ? uri : undefined;
}

const versions = new Map<string, Promise<string | undefined>>();

/** What `iree-compile --version` says, asked once. */
function compilerVersion(path: string): Promise<string | undefined> {
  const known = versions.get(path);
  if (known !== undefined) {
    return known;
  }
  const asked = new Promise<string | undefined>((resolve) => {
    execFile(path, ["--version"], { timeout: 30_000 }, (_error, stdout) => resolve(versionOf(stdout)));
  });
  versions.set(path, asked);
  return asked;
}
