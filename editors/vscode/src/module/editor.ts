// The editor of a .vmfb: what the module has at a glance, and its dispatches as a graph. The page (`views/module`) shows
// the language server's answers; in a session of the module it also shows what has run (`runs.ts`). Its third tab is the
// disassembly, which is a text of its own, so that breakpoints, hovers and search work there.

import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";
import { textOf } from "../failures";
import { BinaryMissing, explainMissing } from "../binary";
import type { Comparisons } from "../comparison/comparisons";
import type { LanguageServer } from "../languageClient";
import { VIEW_CONSTANT } from "../constants";
import { launchOf } from "../launch";
import { disassemblyUri, MODULE_SCHEME, moduleUri } from "../moduleUri";
import type { FromPage } from "../../views/module/protocol";
import { openPage, type Tell } from "../webviews";
import { LineBreakpoints, placeOf } from "./lineBreakpoints";
import { Runs } from "./runs";

export const VIEW_TYPE = "iree-dbg.module";

export function registerModuleEditor(
  context: vscode.ExtensionContext, server: LanguageServer, comparisons: Comparisons,
): vscode.Disposable {
  const runs = new Runs();
  const breakpoints = new LineBreakpoints();
  const editor = new ModuleEditor(context, server, runs, breakpoints, comparisons);
  const options = { webviewOptions: { retainContextWhenHidden: true, enableFindWidget: false } };
  return vscode.Disposable.from(
    runs,
    breakpoints,
    vscode.window.registerCustomEditorProvider(VIEW_TYPE, editor, options),
    vscode.commands.registerCommand("iree-dbg.moduleOverview", () => showModule(undefined)),
    vscode.commands.registerCommand("iree-dbg.dispatchGraph", (uri?: vscode.Uri) => editor.showGraph(uri)),
  );
}

/** Opens the editor of the module whose disassembly, or whose run, is at hand. */
async function showModule(uri: vscode.Uri | undefined): Promise<vscode.Uri | undefined> {
  const text = vscode.window.activeTextEditor?.document.uri;
  const module = uri ?? (text && moduleUri(text)) ?? programOf(vscode.debug.activeDebugSession);
  if (module === undefined) {
    void vscode.window.showErrorMessage("Open or debug a .vmfb first.");
    return undefined;
  }
  await vscode.commands.executeCommand("vscode.openWith", module, VIEW_TYPE);
  return module;
}

/** The module that a session runs, if it is a file: of a .mlir, the one that was compiled from it. */
function programOf(session: vscode.DebugSession | undefined): vscode.Uri | undefined {
  const program: unknown = session?.type === "iree" ? session.configuration["program"] : undefined;
  return typeof program === "string" && program.endsWith(".vmfb") ? vscode.Uri.file(program) : undefined;
}

/** An editor of a module that is open. */
interface OpenModule {
  readonly uri: vscode.Uri;
  readonly panel: vscode.WebviewPanel;
  readonly tell: Tell<"module">;
}

/** Whether the graphs of this workspace have boxes for weights, if the user has chosen. */
const WEIGHTS = "iree-dbg.graph.weights";

class ModuleEditor implements vscode.CustomReadonlyEditorProvider {
  private readonly open = new Map<string, OpenModule>();
  /** Modules whose graph is to be shown as soon as their page is there. */
  private readonly wanted = new Set<string>();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly server: LanguageServer,
    private readonly runs: Runs,
    private readonly breakpoints: LineBreakpoints,
    private readonly comparisons: Comparisons,
  ) {}

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async showGraph(uri: vscode.Uri | undefined): Promise<void> {
    const found = uri ?? (await this.runs.moduleOf(vscode.debug.activeDebugSession));
    const key = (found ?? programOf(vscode.debug.activeDebugSession))?.toString();
    if (key !== undefined) {
      this.wanted.add(key);
    }
    const module = await showModule(found);
    const open = module && this.open.get(module.toString());
    open?.tell({ kind: "tab", tab: "graph" });
  }

  resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): void {
    const key = uri.toString();
    const tell = openPage(panel.webview, this.context.extensionUri, { name: "module", title: "IREE module" }, (message) => {
      if (message.kind === "visible") {
        looking.setWanted(message.runs);
        return;
      }
      void this.hear(open, message).catch((error: unknown) => void vscode.window.showErrorMessage(textOf(error)));
    });
    const open: OpenModule = { uri, panel, tell };
    this.open.set(key, open);
    const watcher = watchFile(uri, () => {
      this.comparisons.moduleChanged(uri);
      void this.send(open);
    });
    const comparing = this.comparisons.onDidChange((module) => module === uri.fsPath && this.compare(open));
    const looking = this.runs.look(uri, tell);
    const marking = this.breakpoints.mark(uri, tell);
    panel.onDidChangeViewState(() => looking.setVisible(panel.visible));
    panel.onDidDispose(() => {
      watcher?.close();
      comparing.dispose();
      looking.dispose();
      marking.dispose();
      if (this.open.get(key) === open) {
        this.open.delete(key);
      }
    });
  }

  private async hear(open: OpenModule, message: Exclude<FromPage, { kind: "visible" }>): Promise<void> {
    const { uri, panel, tell } = open;
    switch (message.kind) {
      case "ready":
        if (this.wanted.delete(uri.toString())) {
          tell({ kind: "tab", tab: "graph" });
        }
        this.compare(open);
        return this.send(open);
      case "graph": {
        if (message.weights !== undefined) {
          await this.context.workspaceState.update(WEIGHTS, message.weights);
        }
        const weights = this.context.workspaceState.get<boolean>(WEIGHTS);
        const answer = await this.server.dispatchGraph(uri, { open: message.open, weights }).then(
          (graph) => ({ graph }),
          (error: unknown) => ({ error: textOf(error) }),
        );
        tell({ kind: "graph", ...answer });
        if ("graph" in answer) {
          this.breakpoints.learn(uri, answer.graph);
        }
        return;
      }
      case "disassembly": {
        const text = await vscode.workspace.openTextDocument(disassemblyUri(uri));
        const viewColumn = panel.viewColumn ?? vscode.ViewColumn.Active;
        await vscode.window.showTextDocument(text, { viewColumn, preview: false });
        return;
      }
      case "start": {
        const launch = launchOf(uri);
        if (launch !== undefined) {
          const folder = vscode.workspace.getWorkspaceFolder(uri);
          await vscode.debug.startDebugging(folder, { ...launch, function: message.name }, { noDebug: message.noDebug });
        }
        return;
      }
      case "abi":
        await vscode.commands.executeCommand("iree-dbg.showAbi", disassemblyUri(uri).toString(), message.name);
        return;
      case "source":
        return reveal(placeOf(uri, message.file), message.line, panel, message.keepFocus);
      case "break":
        return toggleBreakpoint(placeOf(uri, message.file), message.line);
      case "runTo":
        if (message.file !== undefined && message.line !== undefined) {
          // The stop is shown where its file already is: beside the graph, not over it.
          await reveal(placeOf(uri, message.file), message.line, panel, true).catch(() => undefined);
        }
        return this.runTo(uri, message.id, message.function);
      case "svg":
        return saveSvg(uri, message.name, message.text);
      case "tensor":
        await vscode.commands.executeCommand("iree-dbg.viewTensor", { expression: message.expression });
        return;
      case "constant":
        await vscode.commands.executeCommand(VIEW_CONSTANT, uri, message.name);
        return;
      case "goTo":
        return this.runs.goTo(uri, message.command);
      case "profile":
        return this.openProfile(open);
      case "compareTensors":
        return this.comparisons.showPair(uri, message.name, message);
      case "compareAgain":
        return this.comparisons.again(uri);
      case "stopComparing":
        return this.comparisons.stop(uri.fsPath);
    }
  }

  /** Sends the comparison that lies over the graph. */
  private compare({ uri, tell }: OpenModule): void {
    tell({ kind: "comparison", comparison: this.comparisons.of(uri) });
  }

  /** The session of a module runs to before a dispatch; without one, a new session does. */
  private async runTo(uri: vscode.Uri, id: string, of: string): Promise<void> {
    if (await this.runs.runTo(uri, id)) {
      return;
    }
    const launch = launchOf(uri);
    if (launch !== undefined) {
      // The program that runs is the export, whose twin for callers with fences is compiled.
      const name = of.replace(/\$async$/, "");
      const folder = vscode.workspace.getWorkspaceFolder(uri);
      const configuration = { ...launch, ...(name !== "" && { function: name }), stopOnEntry: true };
      await this.runs.startTo(uri, id, () => vscode.debug.startDebugging(folder, configuration));
    }
  }

  /** Sends what the module has; the page asks for its graph when that is shown. */
  private async send({ uri, tell }: OpenModule): Promise<void> {
    try {
      const overview = await this.server.moduleOverview(uri);
      tell({ kind: "overview", file: basename(uri.fsPath), overview });
    } catch (error) {
      tell({ kind: "overview", file: basename(uri.fsPath), error: textOf(error) });
      if (error instanceof BinaryMissing) {
        void explainMissing(error);
      }
    }
  }

  /** Lays a profile of iree-run-module, or of `iree-dbg run`, over the graph. */
  private async openProfile({ uri, tell }: OpenModule): Promise<void> {
    const [file] = (await vscode.window.showOpenDialog({
      title: "A profile of this module",
      defaultUri: vscode.Uri.file(dirname(uri.fsPath)),
      filters: { "IREE profile": ["ireeprof"] },
    })) ?? [];
    if (file !== undefined) {
      const profile = await this.server.profile(file);
      tell({ kind: "profile", file: basename(file.fsPath), profile });
    }
  }
}

async function saveSvg(module: vscode.Uri, name: string, text: string): Promise<void> {
  const file = await vscode.window.showSaveDialog({
    title: "Export the Dispatch Graph as SVG",
    defaultUri: vscode.Uri.file(join(dirname(module.fsPath), name)),
    filters: { SVG: ["svg"] },
  });
  if (file !== undefined) {
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(text));
    vscode.window.setStatusBarMessage(`$(check) ${basename(file.fsPath)}`, 4000);
  }
}

/** Shows a line beside the graph, in the column where its file already is, if it is open. */
async function reveal(file: vscode.Uri, line: number, panel: vscode.WebviewPanel, preserveFocus: boolean): Promise<void> {
  const open = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.fsPath === file.fsPath);
  const groups = vscode.window.tabGroups.all.filter((group) => group.viewColumn !== panel.viewColumn);
  const viewColumn = open?.viewColumn ?? groups[0]?.viewColumn ?? vscode.ViewColumn.Beside;
  const at = new vscode.Position(Math.max(0, line - 1), 0);
  const document = await vscode.workspace.openTextDocument(file);
  const editor = await vscode.window.showTextDocument(document, { viewColumn, preserveFocus, preview: true, selection: new vscode.Range(at, at) });
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** Sets a breakpoint on a line, or takes it away. */
async function toggleBreakpoint(file: vscode.Uri, line: number): Promise<void> {
  // VS Code would take a breakpoint in a file that is not there.
  await vscode.workspace.fs.stat(file);
  const at = new vscode.Position(Math.max(0, line - 1), 0);
  const isThere = (it: vscode.Breakpoint): boolean =>
    it instanceof vscode.SourceBreakpoint && it.location.uri.fsPath === file.fsPath && it.location.range.start.line === at.line;
  const there = vscode.debug.breakpoints.filter(isThere);
  if (there.length > 0) {
    vscode.debug.removeBreakpoints(there);
    return;
  }
  vscode.debug.addBreakpoints([new vscode.SourceBreakpoint(new vscode.Location(file, at))]);
  vscode.window.setStatusBarMessage(`$(debug-breakpoint) ${basename(file.fsPath)}:${line}`, 4000);
}

/** Watches the folder: compilers replace a module by renaming, which would end a watch on the file. */
function watchFile(uri: vscode.Uri, changed: () => void): FSWatcher | undefined {
  if (uri.scheme !== "file" && uri.scheme !== MODULE_SCHEME) {
    return undefined;
  }
  const names = [basename(uri.fsPath), `${basename(uri.fsPath)}.debug`];
  let settled: NodeJS.Timeout | undefined;
  try {
    return watch(dirname(uri.fsPath), (_event, file) => {
      if (file !== null && names.includes(file)) {
        clearTimeout(settled);
        settled = setTimeout(changed, 300);
      }
    });
  } catch {
    return undefined; // Without a watch (the system's limit, a network drive) the page stays as it is.
  }
}
