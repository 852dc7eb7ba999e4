// The end of a program whose results are wrong: a notification, and the way to where that began. The program stays at its end
// if it is recorded; otherwise it is started again, recorded, and goes there by itself.

import * as vscode from "vscode";
import { tellFailure } from "./failures";
import { tellStory } from "./past";
import { frameOf, tensorAt, topFrame } from "./tensors/session";
import { expressionOf, valuesIn } from "./valueNames";
import { variablesIn } from "./values";

/** The event `iree/verdict`. */
interface Verdict {
  readonly of: "nan" | "infinity" | "difference";
  readonly text: string;
  readonly canGoBack: boolean;
}

interface Message {
  readonly type: string;
  readonly event?: string;
  readonly body?: unknown;
}

/** What a stop says. */
interface Stopped {
  readonly reason: string;
  readonly text?: string;
}

/** The property of a launch that goes to the cause without a question. */
const AT_ONCE = "goToCause";
/** A stop that VS Code has not shown after so many milliseconds is shown all the same. */
const PATIENCE = 5_000;

export function registerVerdicts(): vscode.Disposable {
  const told = new WeakSet<vscode.DebugSession>();
  return vscode.debug.registerDebugAdapterTrackerFactory("iree", {
    createDebugAdapterTracker: (session) => ({
      onDidSendMessage: ({ type, event, body }: Message) => {
        if (type === "event" && event === "stopped") {
          waiting.get(session)?.(body as Stopped);
        } else if (type === "event" && event === "iree/verdict" && !told.has(session)) {
          told.add(session);
          void tellFailure(() => offer(session, body as Verdict));
        }
      },
    }),
  });
}

/** Who waits for the next stop of a session. */
const waiting = new WeakMap<vscode.DebugSession, (stopped: Stopped) => void>();

async function offer(session: vscode.DebugSession, verdict: Verdict): Promise<void> {
  const { text, canGoBack } = verdict;
  if (canGoBack && session.configuration[AT_ONCE] === true) {
    return await goToCause(session, verdict);
  }
  const go = "Go to the Cause";
  if ((await vscode.window.showWarningMessage(text, go)) !== go) {
    return;
  }
  if (canGoBack) {
    return await goToCause(session, verdict);
  }
  const { workspaceFolder, configuration } = session;
  await vscode.debug.startDebugging(workspaceFolder, { ...configuration, record: true, stopOnEntry: false, noDebug: false, [AT_ONCE]: true });
}

/** Goes to the operation or the dispatch, with the tensor that it has used beside it. */
async function goToCause(session: vscode.DebugSession, { of }: Verdict): Promise<void> {
  const next = new Promise<Stopped>((resolve) => waiting.set(session, resolve));
  await session.customRequest("iree/first", { of });
  const { reason, text } = await next;
  waiting.delete(session);
  await shown(session);
  if (reason === "exception") {
    return await showFirst(session, [...namesIn(text ?? ""), ...(await inputsOfDispatch(session))]);
  }
  // No operation of the program has made it: the console says where it comes from.
  if (of !== "difference") {
    return await tellStory(session, of === "nan" ? "nan" : "inf");
  }
  await vscode.commands.executeCommand("workbench.debug.action.focusRepl");
}

/** Waits until VS Code has selected the frame of this stop; until then, one of the stop before is selected. */
async function shown(session: vscode.DebugSession): Promise<void> {
  const top = await topFrame(session);
  if (frameOf(session) === top) {
    return;
  }
  await new Promise<void>((resolve) => {
    const listening = vscode.debug.onDidChangeActiveStackItem(() => frameOf(session) === top && done());
    const timer = setTimeout(done, PATIENCE);
    function done(): void {
      clearTimeout(timer);
      listening.dispose();
      resolve();
    }
  });
}

/** The values that a text names, as expressions. */
function namesIn(text: string): string[] {
  return [...new Set(valuesIn(text, "mlir").map(expressionOf))];
}

/** What the dispatch reads in which the program stands: its rows are called `in %x`. */
async function inputsOfDispatch(session: vscode.DebugSession): Promise<string[]> {
  const frame = frameOf(session);
  const names = frame === undefined ? [] : [...(await variablesIn(session, frame)).keys()];
  return names.filter((name) => name.startsWith("in ")).flatMap(namesIn);
}

/** Opens the first of some values that is a tensor. */
async function showFirst(session: vscode.DebugSession, expressions: readonly string[]): Promise<void> {
  for (const expression of expressions) {
    if (await tensorAt(session, { expression, frameId: frameOf(session) })) {
      return void (await vscode.commands.executeCommand("iree-dbg.viewTensor", { expression }));
    }
  }
}
