// Starts `iree-dbg lsp` for .mlir and .vmasm documents, the disassembly of a .vmfb included.

import * as vscode from "vscode";
import type { LanguageClient, LanguageClientOptions } from "vscode-languageclient/node.js";
import type { Graph, Overview, Profile } from "../views/module/answers";
import type { GraphView } from "../views/module/protocol";
import { type Binary, BinaryMissing, explainMissing, SECTION } from "./binary";
import { type CallableFunction, type ExportsAnswer, functionsOf } from "./functions";
import { CONTROL_FLOW, isPicture, showPicture } from "./controlFlow";
import { COMMANDS, showAbi } from "./lenses";

/** The client's library, loaded when the server starts: that takes longer than all of this extension. */
let library: typeof import("vscode-languageclient/node.js") | undefined;

/** The server refused a request; `setting` is the way out, if there is one, `fault` what is wrong in the source. */
export class Refused extends Error {
  constructor(message: string, readonly setting: string | undefined, readonly fault?: Fault) {
    super(message);
  }
}

/** What the compiler says of a line (from 0) of a source. */
export interface Fault {
  readonly line: number;
  readonly message: string;
}

export type ServerState = "starting" | "running" | "stopped" | "failed";

export class LanguageServer implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private state_: ServerState = "stopped";
  private readonly stateChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeState = this.stateChanged.event;
  /** Commands that the server announces and this extension does. */
  readonly commands = new Map<string, (...args: unknown[]) => Promise<void>>();
  private requests = 0;
  /** Starts and stops wait for each other: a client that is disposed during its start would keep its listeners. */
  private turn = Promise.resolve();
  private readonly watcher = vscode.workspace.createFileSystemWatcher("**/*.vmfb");
  private readonly settings: vscode.Disposable;
  private readonly trust: vscode.Disposable;

  constructor(private readonly binary: Binary) {
    this.settings = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("iree-dbg.path")) {
        void this.restart();
      }
    });
    this.trust = vscode.workspace.onDidGrantWorkspaceTrust(() => {
      // The workspace's settings count from now on, and the server may start programs.
      void this.client?.sendNotification("workspace/didChangeConfiguration", { settings: { [SECTION]: settings() } });
    });
  }

  start(): Promise<void> {
    return (this.turn = this.turn.then(() => this.startNow()));
  }

  restart(): Promise<void> {
    return (this.turn = this.turn.then(() => this.stopNow()).then(() => this.startNow()));
  }

  get state(): ServerState {
    return this.state_;
  }

  private set state(state: ServerState) {
    this.state_ = state;
    this.stateChanged.fire();
  }

  /** Shows what the server and this extension have logged. */
  showOutput(): void {
    this.client?.outputChannel.show();
  }

  private async startNow(): Promise<void> {
    this.state = "starting";
    try {
      const command = this.binary.path();
      library ??= await import("vscode-languageclient/node.js");
      const { LanguageClient, State } = library;
      const options: LanguageClientOptions = {
        documentSelector: [{ language: "mlir" }, { language: "vmasm" }],
        // Part of the hover of a function comes from the compiled module beside the source.
        synchronize: { fileEvents: this.watcher, configurationSection: SECTION },
        // Lenses are offered for the commands that the client has.
        initializationOptions: { ...settings(), commands: [...COMMANDS, CONTROL_FLOW] },
        // A hover links to the ABI of its function.
        markdown: { isTrusted: { enabledCommands: ["iree-dbg.showAbi"] } },
        middleware: {
          executeCommand: async (command, args: unknown[], next) => {
            const own = this.commands.get(command);
            if (own !== undefined) {
              return own(...args);
            }
            const answer: unknown = await next(command, args);
            if (command === "iree-dbg.showAbi" && isShown(answer)) {
              await showAbi(String(args[1]), answer.markdown);
            }
            if (command === CONTROL_FLOW && isPicture(answer)) {
              showPicture(answer.svg);
            }
            return answer;
          },
        },
      };
      const server = { command, args: ["lsp"] };
      this.client = new LanguageClient(SECTION, "IREE Language Server", server, options);
      this.client.onDidChangeState(({ newState }) => {
        if (newState !== State.Starting) {
          this.state = newState === State.Running ? "running" : "stopped";
        }
      });
      await this.client.start();
    } catch (error) {
      this.state = "failed";
      if (error instanceof BinaryMissing) {
        void explainMissing(error);
      } else {
        void vscode.window.showErrorMessage(`The IREE language server did not start: ${String(error)}`);
      }
    }
  }

  /**
   * A document that the server makes from a file. `opened` means that the user has opened that file; other files are
   * shown only if they belong to the workspace.
   */
  async content(uri: vscode.Uri, opened: boolean, token: vscode.CancellationToken): Promise<string> {
    const answer = await this.request<{ text: string }>("iree-dbg/textDocumentContent", { uri: uri.toString(), opened }, token);
    return answer.text;
  }

  /** The text of a stage for a document that follows its source, from this compilation. */
  async paneText(uri: vscode.Uri, key: string, token: vscode.CancellationToken): Promise<string> {
    const answer = await this.request<{ text: string }>("iree-dbg/textDocumentContent", { uri: uri.toString(), key }, token);
    return answer.text;
  }

  /** Where an operation went, answered from what has been compiled. */
  becomes<Answer>(params: object, token: vscode.CancellationToken): Promise<Answer> {
    return this.request("iree-dbg/becomes", params, token);
  }

  /** The functions of a program that can be called. The user has asked to run it, so it may lie anywhere. */
  async functionsOf(program: vscode.Uri, token?: vscode.CancellationToken): Promise<CallableFunction[]> {
    return functionsOf(await this.request<ExportsAnswer>("iree-dbg/exports", { uri: program.toString(), opened: true }, token));
  }

  /** What a module has, at a glance. */
  moduleOverview(module: vscode.Uri): Promise<Overview> {
    return this.request("iree-dbg/module", { uri: module.toString() });
  }

  /** The dispatches of a module as a graph, with some groups open. */
  dispatchGraph(module: vscode.Uri, view: GraphView): Promise<Graph> {
    return this.request("iree-dbg/dispatchGraph", { uri: module.toString(), ...view });
  }

  /** The times of a profile (.ireeprof), by function. */
  profile(file: vscode.Uri): Promise<Profile> {
    return this.request("iree-dbg/profile", { uri: file.toString() });
  }

  /** The iree-compile that programs of a folder are compiled by, or why there is none. */
  compilerFor(directory: string): Promise<{ path: string } | { path: null; reason: string }> {
    return this.request("iree-dbg/compiler", { directory });
  }

  private async request<T>(method: string, params: object, token?: vscode.CancellationToken): Promise<T> {
    await this.turn;
    // A third parameter that is undefined would be sent, too.
    const answer = await this.client?.sendRequest<T>(method, params, token ?? new vscode.CancellationTokenSource().token);
    if (answer === undefined) {
      throw new Error("the IREE language server does not run");
    }
    return answer;
  }

  /** A request that takes long: `report` gets its progress. */
  async long<Answer>(
    method: string, params: object, token: vscode.CancellationToken, report: (message: string) => void,
  ): Promise<Answer> {
    await this.turn;
    const client = this.client;
    if (client === undefined) {
      throw new Error("the IREE language server does not run");
    }
    const workDoneToken = `iree-dbg/stages/${String(++this.requests)}`;
    const { ResponseError, WorkDoneProgress } = library ?? (await import("vscode-languageclient/node.js"));
    const progress = client.onProgress(WorkDoneProgress.type, workDoneToken, (value) => {
      const message = value.kind === "begin" ? value.title : value.message;
      if (message !== undefined) {
        report(message);
      }
    });
    try {
      return await client.sendRequest<Answer>(method, { ...params, workDoneToken }, token);
    } catch (error) {
      if (error instanceof ResponseError && !token.isCancellationRequested) {
        const data: unknown = error.data;
        const named = typeof data === "object" && data !== null && "setting" in data ? String(data.setting) : undefined;
        throw new Refused(error.message, named, faultOf(data));
      }
      throw isCancelled(error) || token.isCancellationRequested ? new vscode.CancellationError() : error;
    } finally {
      progress.dispose();
    }
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose().catch(() => undefined);
  }

  dispose(): void {
    this.stateChanged.dispose();
    this.settings.dispose();
    this.trust.dispose();
    this.watcher.dispose();
    void this.turn.then(() => this.stopNow());
  }
}

function faultOf(data: unknown): Fault | undefined {
  const fault: unknown = typeof data === "object" && data !== null && "fault" in data ? data.fault : undefined;
  if (typeof fault !== "object" || fault === null || !("line" in fault) || !("message" in fault)) {
    return undefined;
  }
  return { line: Number(fault.line), message: String(fault.message) };
}

function isCancelled(error: unknown): boolean {
  return library !== undefined && error instanceof library.ResponseError && error.code === library.LSPErrorCodes.RequestCancelled;
}

/** The settings, and whether the user trusts the workspace that some of them come from. */
function settings(): object {
  return { ...vscode.workspace.getConfiguration(SECTION), trusted: vscode.workspace.isTrusted };
}

function isShown(answer: unknown): answer is { markdown: string } {
  return typeof answer === "object" && answer !== null && "markdown" in answer && typeof answer.markdown === "string";
}
