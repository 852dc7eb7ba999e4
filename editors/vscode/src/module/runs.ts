// What a session has run, for the pages of its module (`iree/runMap`). A page that is shown hears of every stop; while the
// program runs, it is asked now and then. Pages that are not shown ask for nothing.

import * as vscode from "vscode";
import { textOf } from "../failures";
import type { RunMap } from "../../views/module/answers";
import type { RunsMessage } from "../../views/module/protocol";

/** How often a running program is asked, in milliseconds. */
const PERIOD = 500;

/** Requests after which a program runs until it stops again. */
const RESUMING = /^(?:continue|next|step.*|reverseContinue)$/;

interface Looking {
  readonly module: string;
  readonly tell: (message: RunsMessage) => void;
  isVisible: boolean;
  isWanted: boolean;
}

/** What the adapter sends. */
interface Message {
  readonly type: string;
  readonly event?: string;
  readonly command?: string;
  readonly success?: boolean;
  readonly body?: unknown;
}

/** The body of the event `stopped`. */
interface StoppedEvent {
  readonly reason?: string;
}

/** The body of the event `module`. */
interface ModuleEvent {
  readonly reason?: string;
  readonly module?: { readonly path?: string };
}

export class Runs implements vscode.Disposable {
  private readonly pages = new Set<Looking>();
  /** The files of the modules of each session; those of a .mlir are compiled when it is launched. */
  private readonly modules = new Map<vscode.DebugSession, Set<string>>();
  /** What pages hear that are opened later. */
  private readonly states = new Map<vscode.DebugSession, "running" | "stopped">();
  /** Where the next session of a module is to run when it has stopped at its entry. */
  private wanted: { readonly module: string; readonly id: string } | undefined;
  private readonly timer: NodeJS.Timeout;
  private readonly tracker: vscode.Disposable;

  constructor() {
    this.timer = setInterval(() => this.askRunning(), PERIOD);
    this.tracker = vscode.Disposable.from(
      vscode.debug.registerDebugAdapterTrackerFactory("iree", {
        createDebugAdapterTracker: (session) => ({
          onDidSendMessage: (message: Message) => this.heard(session, message),
        }),
      }),
      vscode.debug.onDidTerminateDebugSession((session) => {
        this.states.delete(session);
        this.tell(session, { kind: "session", state: "ended" });
        if (session.type === "iree") {
          this.wanted = undefined;
        }
        this.modules.delete(session);
      }),
    );
  }

  /** The page of a module looks on. */
  look(module: vscode.Uri, tell: (message: RunsMessage) => void): vscode.Disposable & {
    setVisible: (is: boolean) => void;
    setWanted: (is: boolean) => void;
  } {
    const page: Looking = { module: module.fsPath, tell, isVisible: true, isWanted: false };
    this.pages.add(page);
    const changed = (): void => {
      if (page.isVisible && page.isWanted) {
        for (const session of this.sessionsOf(page.module)) {
          const state = this.states.get(session);
          if (state !== undefined) {
            tell({ kind: "session", state });
          }
          void this.ask(session);
        }
      }
    };
    return {
      setVisible: (is) => {
        page.isVisible = is;
        changed();
      },
      setWanted: (is) => {
        page.isWanted = is;
        changed();
      },
      dispose: () => void this.pages.delete(page),
    };
  }

  /** The file of the module that a session runs. */
  async moduleOf(session: vscode.DebugSession | undefined): Promise<vscode.Uri | undefined> {
    const [first] = (session && this.modules.get(session)) ?? [];
    return first === undefined ? undefined : vscode.Uri.file(first);
  }

  /** The session of a module goes to before a command that has run. */
  async goTo(module: vscode.Uri, command: number): Promise<void> {
    const [session] = this.sessionsOf(module.fsPath);
    await session?.customRequest("iree/goTo", { command });
  }

  /**
   * The stopped session of a module runs to before a dispatch. Whether the module has a session; one that runs has to
   * stop first.
   */
  async runTo(module: vscode.Uri, id: string): Promise<boolean> {
    const [session] = this.sessionsOf(module.fsPath);
    if (session === undefined) {
      return false;
    }
    if (this.states.get(session) !== "stopped") {
      throw new Error("The program is running. Pause it first.");
    }
    await session.customRequest("iree/runTo", { id });
    return true;
  }

  /** Starts a session of a module, which runs from its entry to before a dispatch. */
  async startTo(module: vscode.Uri, id: string, start: () => Thenable<boolean>): Promise<void> {
    this.wanted = { module: module.fsPath, id };
    if (!(await start())) {
      this.wanted = undefined;
    }
  }

  private sessionsOf(module: string): vscode.DebugSession[] {
    return [...this.modules].filter(([, files]) => files.has(module)).map(([session]) => session);
  }

  private watchers(session: vscode.DebugSession): Looking[] {
    const files = this.modules.get(session);
    return files === undefined ? [] : [...this.pages].filter((page) => files.has(page.module) && page.isVisible && page.isWanted);
  }

  private tell(session: vscode.DebugSession, message: RunsMessage): void {
    const files = this.modules.get(session);
    for (const page of this.pages) {
      if (files?.has(page.module)) {
        page.tell(message);
      }
    }
  }

  private heard(session: vscode.DebugSession, message: Message): void {
    if (message.type === "response" && message.success === true && RESUMING.test(message.command ?? "")) {
      this.enter(session, "running");
    }
    if (message.type !== "event") {
      return;
    }
    switch (message.event) {
      case "module": {
        const { reason, module } = (message.body ?? {}) as ModuleEvent;
        const path = module?.path;
        if (path?.endsWith(".vmfb") && reason !== "removed") {
          const files = this.modules.get(session) ?? new Set();
          this.modules.set(session, files.add(path));
          this.tell(session, { kind: "session", state: "begun" });
          if (this.watchers(session).length > 0) {
            void this.ask(session);
          }
        }
        return;
      }
      case "continued":
        return this.enter(session, "running");
      case "stopped":
        this.enter(session, "stopped");
        return this.runOn(session, message.body as StoppedEvent);
      case "iree/runMap":
        this.tell(session, { kind: "runs", runs: message.body as RunMap });
        return;
    }
  }

  private enter(session: vscode.DebugSession, state: "running" | "stopped"): void {
    this.states.set(session, state);
    this.tell(session, { kind: "session", state });
  }

  /** A session that was started to run to a dispatch stands at its entry; a breakpoint would have come first. */
  private runOn(session: vscode.DebugSession, { reason }: StoppedEvent): void {
    const { wanted } = this;
    if (wanted === undefined || !this.modules.get(session)?.has(wanted.module)) {
      return;
    }
    this.wanted = undefined;
    if (reason === "entry") {
      session.customRequest("iree/runTo", { id: wanted.id }).then(undefined, (error: unknown) =>
        void vscode.window.showErrorMessage(textOf(error)));
    }
  }

  private askRunning(): void {
    for (const [session, state] of this.states) {
      if (state === "running" && this.watchers(session).length > 0) {
        void this.ask(session);
      }
    }
  }

  private async ask(session: vscode.DebugSession): Promise<void> {
    try {
      const runs: RunMap = await session.customRequest("iree/runMap", { subscribe: true });
      this.tell(session, { kind: "runs", runs });
    } catch {
      // There is no program yet, or none any more.
    }
  }

  dispose(): void {
    clearInterval(this.timer);
    this.tracker.dispose();
  }
}
