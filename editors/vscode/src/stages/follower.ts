// Keeps the stages of a source up to date while it is edited. After a rest, the language server compiles the text as
// it stands in the editor; the next edit cancels that. Panes keep the last text that compiled.

import * as vscode from "vscode";
import { textOf } from "../failures";
import { type LanguageServer, Refused } from "../languageClient";
import type { Stages } from "../stageLists";
import { restFor, type Unchanged, unchangedLines } from "./paneNames";

/** What panes show of a source, compared with its text. */
export type State =
  | { readonly kind: "current" }
  | { readonly kind: "stale"; readonly isCompiling: boolean }
  | { readonly kind: "broken"; readonly line: number | undefined; readonly message: string };

class Followed {
  state: State = { kind: "stale", isCompiling: false };
  /** The compilation that panes show. */
  stages: Stages | undefined;
  /** The text that was compiled, by line. */
  text: readonly string[] | undefined;
  lastMillis: number | undefined;
  timer: NodeJS.Timeout | undefined;
  running: { readonly cancel: vscode.CancellationTokenSource; readonly done: Promise<void> } | undefined;
  /** What has been compared last, by the version of the document. */
  compared: { readonly version: number; readonly lines: Unchanged } | undefined;

  constructor(readonly source: vscode.Uri) {}
}

export class Follower implements vscode.Disposable {
  private readonly sources = new Map<string, Followed>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  /** The state of a source has changed, or its stages have. */
  readonly onDidChange = this.changed.event;
  private readonly made = new vscode.EventEmitter<vscode.Uri>();
  /** A source has new stages. */
  readonly onDidMake = this.made.event;
  private readonly edits: vscode.Disposable;

  /** `isShown` says whether stages of a source are in view. */
  constructor(private readonly server: LanguageServer, private readonly isShown: (source: vscode.Uri) => boolean) {
    this.edits = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) {
          this.edited(document.uri);
        }
      }),
      vscode.workspace.onDidOpenTextDocument((document) => this.opened(document)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.catchUp()),
      // Other flags, another compiler, or the user's trust.
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("iree-dbg.compilerFlags") || event.affectsConfiguration("iree-dbg.ireeCompile")) {
          this.sources.forEach(({ source }) => this.edited(source));
        }
      }),
    );
  }

  /** The stages that panes show of a source, if there are any yet. */
  stagesOf(source: vscode.Uri): Stages | undefined {
    return this.sources.get(source.toString())?.stages;
  }

  stateOf(source: vscode.Uri): State | undefined {
    return this.sources.get(source.toString())?.state;
  }

  /** The lines of a source that are as they were compiled; all of them if `undefined`. */
  unchanged(source: vscode.Uri): Unchanged | undefined {
    const followed = this.sources.get(source.toString());
    const document = openDocument(source);
    if (followed?.text === undefined || document === undefined || followed.state.kind === "current") {
      return undefined;
    }
    if (followed.compared?.version !== document.version) {
      followed.compared = { version: document.version, lines: unchangedLines(followed.text, linesOf(document)) };
    }
    return followed.compared.lines;
  }

  /** Stages of a source for a pane that opens: those that are there, or the first ones. */
  async first(source: vscode.Uri, token?: vscode.CancellationToken): Promise<Stages> {
    const followed = this.follow(source);
    if (followed.stages !== undefined) {
      return followed.stages;
    }
    // Several panes ask at once when a window opens.
    followed.running ??= this.begin(followed);
    await followed.running.done;
    if (token?.isCancellationRequested === true) {
      throw new vscode.CancellationError();
    }
    if (followed.stages === undefined) {
      const { state } = followed;
      throw new Error(state.kind === "broken" ? said(state) : "the compilation was cancelled");
    }
    return followed.stages;
  }

  /** Stages that were asked for elsewhere, of this text. */
  take(source: vscode.Uri, stages: Stages, text: readonly string[] | undefined): void {
    const followed = this.follow(source);
    this.stop(followed);
    this.keep(followed, stages, text);
    const document = openDocument(source);
    if (document !== undefined) {
      this.opened(document);
    }
  }

  private follow(source: vscode.Uri): Followed {
    const key = source.toString();
    const followed = this.sources.get(key) ?? new Followed(source);
    this.sources.set(key, followed);
    return followed;
  }

  private edited(uri: vscode.Uri): void {
    const followed = this.sources.get(uri.toString());
    if (followed === undefined) {
      return;
    }
    this.stop(followed);
    this.become(followed, { kind: "stale", isCompiling: false });
    this.schedule(followed);
  }

  /** A source that was closed may have another text when it is opened again. */
  private opened(document: vscode.TextDocument): void {
    const followed = this.sources.get(document.uri.toString());
    if (followed?.stages !== undefined && followed.state.kind === "current" && !isSame(followed.text, linesOf(document))) {
      this.edited(document.uri);
    }
  }

  /** Panes that come into view are made up to date. */
  private catchUp(): void {
    for (const followed of this.sources.values()) {
      if (followed.state.kind === "stale" && followed.timer === undefined && followed.running === undefined) {
        this.schedule(followed);
      }
    }
  }

  private schedule(followed: Followed): void {
    const isLive = vscode.workspace.getConfiguration("iree-dbg").get("liveStages", true);
    if (!isLive || !this.isShown(followed.source)) {
      return;
    }
    followed.timer = setTimeout(() => {
      followed.timer = undefined;
      followed.running = this.begin(followed);
    }, restFor(followed.lastMillis));
  }

  private stop(followed: Followed): void {
    clearTimeout(followed.timer);
    followed.timer = undefined;
    followed.running?.cancel.cancel();
    followed.running = undefined;
  }

  private begin(followed: Followed): NonNullable<Followed["running"]> {
    const cancel = new vscode.CancellationTokenSource();
    this.become(followed, { kind: "stale", isCompiling: true });
    return { cancel, done: this.compile(followed, cancel.token) };
  }

  private async compile(followed: Followed, token: vscode.CancellationToken): Promise<void> {
    const begun = Date.now();
    const { source } = followed;
    const params = { textDocument: { uri: source.toString() } };
    const document = openDocument(source);
    const text = document && linesOf(document);
    try {
      const stages = await this.server.long<Stages>("iree-dbg/stages", params, token, () => undefined);
      if (token.isCancellationRequested) {
        return;
      }
      followed.running = undefined;
      followed.lastMillis = Date.now() - begun;
      // What fails on the way has the first stages only; the others are worth more.
      if (stages.problem !== null && followed.stages !== undefined) {
        this.become(followed, { kind: "broken", line: undefined, message: stages.problem });
        return;
      }
      this.keep(followed, stages, text);
    } catch (error) {
      if (token.isCancellationRequested || error instanceof vscode.CancellationError) {
        return;
      }
      followed.running = undefined;
      followed.lastMillis = Date.now() - begun;
      const fault = error instanceof Refused ? error.fault : undefined;
      this.become(followed, { kind: "broken", line: fault?.line, message: fault?.message ?? textOf(error) });
    }
  }

  private keep(followed: Followed, stages: Stages, text: readonly string[] | undefined): void {
    const isNew = followed.stages?.key !== stages.key;
    followed.stages = stages;
    followed.text = text;
    followed.compared = undefined;
    this.become(followed, { kind: "current" });
    if (isNew) {
      this.made.fire(followed.source);
    }
  }

  private become(followed: Followed, state: State): void {
    followed.state = state;
    this.changed.fire(followed.source);
  }

  dispose(): void {
    this.sources.forEach((followed) => this.stop(followed));
    this.edits.dispose();
    this.changed.dispose();
    this.made.dispose();
  }
}

/** Why there are no new stages, in a sentence. */
export function said({ line, message }: State & { kind: "broken" }): string {
  return line === undefined ? message : `does not compile: line ${String(line + 1)}: ${message}`;
}

function openDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
}

function isSame(one: readonly string[] | undefined, other: readonly string[]): boolean {
  return one?.length === other.length && other.every((line, index) => line === one[index]);
}

export function linesOf(document: vscode.TextDocument): string[] {
  return document.getText().split(/\r?\n/);
}
